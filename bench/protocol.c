/* SPDX-License-Identifier: MIT */
/* What a worker says to the driver, in lines on a pipe, when its block is over. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "protocol.h"

#define GREETING "umemcg-block 1"

__attribute__((format(printf, 2, 3))) static void append(char *text, const char *format, ...)
{
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + length, PROTOCOL_SIZE - length, format, arguments);
	va_end(arguments);
}

size_t protocol_format(const struct protocol_block *block, char *text)
{
	text[0] = '\0';
	append(text, GREETING "\n");
	if (block->error[0])
		append(text, "error %s\n", block->error);
	if (block->nr_calibrated)
		append(text, "calibrated %" PRIu64 "\n", block->nr_calibrated);
	if (block->nr_operations)
		append(text, "operations %" PRIu64 "\n", block->nr_operations);
	for (unsigned int i = 0; i < WORKLOAD_NR_METRICS; i++) {
		if (block->has_metric[i])
			append(text, "metric %u %.17g\n", i, block->metrics[i]);
	}
	if (block->has_times)
		append(text, "times %.9f %.9f %.9f\n", block->user_s, block->system_s,
		       block->elapsed_s);
	if (block->nr_bytes_peak)
		append(text, "peak %" PRIu64 "\n", block->nr_bytes_peak);
	append(text, "end\n");
	return strlen(text);
}

static bool is_measure(double value)
{
	return isfinite(value) && value >= 0;
}

static int parse_line(const char *line, struct protocol_block *block)
{
	unsigned int index;
	double value;

	if (sscanf(line, "operations %" SCNu64, &block->nr_operations) == 1 ||
	    sscanf(line, "calibrated %" SCNu64, &block->nr_calibrated) == 1 ||
	    sscanf(line, "peak %" SCNu64, &block->nr_bytes_peak) == 1)
		return 0;
	if (sscanf(line, "metric %u %lf", &index, &value) == 2) {
		if (index >= WORKLOAD_NR_METRICS || !is_measure(value))
			return -EPROTO;
		block->has_metric[index] = true;
		block->metrics[index] = value;
		return 0;
	}
	if (sscanf(line, "times %lf %lf %lf", &block->user_s, &block->system_s,
		   &block->elapsed_s) == 3) {
		block->has_times = is_measure(block->user_s) && is_measure(block->system_s) &&
				   is_measure(block->elapsed_s);
		return block->has_times ? 0 : -EPROTO;
	}
	if (!strncmp(line, "error ", 6)) {
		snprintf(block->error, sizeof(block->error), "%s", line + 6);
		return 0;
	}
	return -EPROTO;
}

int protocol_parse(char *text, struct protocol_block *ret_block)
{
	struct protocol_block block = { 0 };
	char *position = NULL, *line = strtok_r(text, "\n", &position);

	if (!line)
		return -ENODATA;
	if (strcmp(line, GREETING))
		return -EPROTO;
	while ((line = strtok_r(NULL, "\n", &position))) {
		int error;

		if (!strcmp(line, "end")) {
			*ret_block = block;
			return 0;
		}
		error = parse_line(line, &block);
		if (error)
			return error;
	}
	return -ENODATA;
}
