/* SPDX-License-Identifier: MIT */
/* What the driver asks of a guest, as lines of text. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "meters/exact/job.h"
#include "meters/exact/words.h"
#include "umemcg-marks.h"

static const char *const target_names[] = { [WORKLOAD_LIB] = "lib", [WORKLOAD_KERNEL] = "kernel" };
static const char *const cgroup_names[] = {
	[JOB_CGROUP_NONE] = "none", [JOB_CGROUP_V1] = "v1", [JOB_CGROUP_V2] = "v2"
};
static const char *const limit_names[] = {
	[LIMIT_NONE] = "none", [LIMIT_FAR] = "far", [LIMIT_NEAR] = "near"
};

unsigned int job_part_id(unsigned int index, enum job_part part)
{
	return UMEMCG_MARK_MAX + 1 + index * JOB_NR_PARTS + part;
}

_Static_assert(UMEMCG_MARK_MAX + JOB_NR_BLOCKS * JOB_NR_PARTS < UMEMCG_MARK_ITERATION_ID,
	       "a part's id is that of iterations");

/* A word of a line: what would end it is written in hexadecimal, and nothing at all as "%". */
static void put_encoded(FILE *file, const char *text)
{
	fputs(*text ? " " : " %", file);
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (isgraph(byte) && byte != '%')
			fputc(byte, file);
		else
			fprintf(file, "%%%02x", byte);
	}
}

static void put_block(FILE *file, const struct job_block *block)
{
	if (block->argv) {
		fprintf(file, "program %u %" PRIu64 " %u", block->index, block->nr_operations,
			block->layout);
		for (char **argument = block->argv; *argument; argument++)
			put_encoded(file, *argument);
		fputc('\n', file);
		return;
	}
	fprintf(file, "block %u %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %u\n", block->index,
		block->workload, block->value, block->nr_operations, block->nr_warm_up,
		block->layout);
}

char *job_format(const struct guest_job *job)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	bool failed;

	if (!file)
		return NULL;
	fprintf(file, JOB_FIRST_LINE "\n");
	if (job->symbols) {
		fprintf(file, "symbols\n");
	} else {
		fprintf(file, "target %s\ncgroup %s\ndepth %u\nmax %s\n", target_names[job->target],
			cgroup_names[job->cgroup], job->depth, limit_names[job->limit]);
		for (char **entry = job->environment; entry && *entry; entry++)
			fprintf(file, "environment %s\n", *entry);
		for (size_t i = 0; i < job->nr_blocks; i++)
			put_block(file, &job->blocks[i]);
	}
	fprintf(file, "end\n");
	failed = ferror(file);
	if (fclose(file) || failed) {
		free(text);
		return NULL;
	}
	return text;
}

static int hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Undoes put_encoded() in place; false for what it never writes. */
static bool decode(char *word)
{
	char *out = word;

	if (!strcmp(word, "%"))
		word++;
	for (; *word; word++) {
		int high, low;

		if (*word != '%') {
			*out++ = *word;
			continue;
		}
		high = hex_digit(word[1]);
		low = high < 0 ? -1 : hex_digit(word[2]);
		if (low < 0 || (high == 0 && low == 0))
			return false;
		*out++ = (char)(high << 4 | low);
		word += 2;
	}
	*out = '\0';
	return true;
}

/* Appends a copy of @text to a list that NULL ends. */
static int append_text(char ***list, const char *text)
{
	size_t length = 0;
	char **longer;

	while (*list && (*list)[length])
		length++;
	longer = realloc(*list, (length + 2) * sizeof(*longer));
	if (!longer)
		return -ENOMEM;
	*list = longer;
	longer[length + 1] = NULL;
	longer[length] = strdup(text);
	return longer[length] ? 0 : -ENOMEM;
}

static int append_block(struct guest_job *job, const struct job_block *block)
{
	struct job_block *blocks;

	if (job->nr_blocks == JOB_NR_BLOCKS)
		return -EPROTO;
	blocks = array_grown(job->blocks, job->nr_blocks, sizeof(*blocks));
	if (!blocks)
		return -ENOMEM;
	job->blocks = blocks;
	blocks[job->nr_blocks++] = *block;
	return 0;
}

static bool block_in_bounds(const struct job_block *block)
{
	return block->index < JOB_NR_BLOCKS && block->layout < JOB_NR_LAYOUTS &&
	       block->nr_operations > 0;
}

static int parse_block(char *line, struct guest_job *job)
{
	struct job_block block = { 0 };
	const char *workload;

	if (!words_take_unsigned(&line, &block.index))
		return -EPROTO;
	workload = words_take(&line);
	if (!workload || !*workload || strlen(workload) >= sizeof(block.workload))
		return -EPROTO;
	strcpy(block.workload, workload);
	if (!words_take_u64(&line, &block.value) || !words_take_u64(&line, &block.nr_operations) ||
	    !words_take_u64(&line, &block.nr_warm_up) ||
	    !words_take_unsigned(&line, &block.layout) || words_take(&line) ||
	    !block_in_bounds(&block))
		return -EPROTO;
	return append_block(job, &block);
}

static int parse_program(char *line, struct guest_job *job)
{
	struct job_block block = { 0 };
	char *argument;
	int error = 0;

	if (!words_take_unsigned(&line, &block.index) ||
	    !words_take_u64(&line, &block.nr_operations) ||
	    !words_take_unsigned(&line, &block.layout) || !block_in_bounds(&block))
		return -EPROTO;
	while (!error && (argument = words_take(&line)))
		error = decode(argument) ? append_text(&block.argv, argument) : -EPROTO;
	if (!error && !block.argv)
		error = -EPROTO;
	if (!error)
		error = append_block(job, &block);
	if (error)
		words_free(block.argv);
	return error;
}

/* The whole rest of a line is the name of one of @names; returns its index. */
static int parse_name(const char *text, const char *const *names, unsigned int nr_names)
{
	for (unsigned int i = 0; i < nr_names; i++) {
		if (!strcmp(text, names[i]))
			return (int)i;
	}
	return -EPROTO;
}

static int parse_line(char *line, void *data)
{
	struct guest_job *job = data;
	const char *key = words_take(&line);
	int value = 0;

	if (!key)
		return -EPROTO;
	if (!strcmp(key, "block"))
		return parse_block(line, job);
	if (!strcmp(key, "program"))
		return parse_program(line, job);
	if (!strcmp(key, "environment"))
		return strchr(line, '=') ? append_text(&job->environment, line) : -EPROTO;
	if (!strcmp(key, "depth"))
		return words_take_unsigned(&line, &job->depth) && !words_take(&line) ? 0 : -EPROTO;
	if (!strcmp(key, "symbols") && !*line)
		job->symbols = true;
	else if (!strcmp(key, "target") && (value = parse_name(line, target_names, 2)) >= 0)
		job->target = (enum workload_target)value;
	else if (!strcmp(key, "cgroup") && (value = parse_name(line, cgroup_names, 3)) >= 0)
		job->cgroup = (enum job_cgroup)value;
	else if (!strcmp(key, "max") && (value = parse_name(line, limit_names, 3)) >= 0)
		job->limit = (enum configuration_limit)value;
	else
		return -EPROTO;
	return 0;
}

int job_parse(char *text, struct guest_job **ret_job)
{
	struct guest_job *job = calloc(1, sizeof(*job));
	int error;

	if (!job)
		return -ENOMEM;
	error = words_parse_lines(text, JOB_FIRST_LINE, parse_line, job);
	if (error)
		job_destroy(job);
	else
		*ret_job = job;
	return error;
}

void job_destroy(struct guest_job *job)
{
	if (!job)
		return;
	words_free(job->environment);
	for (size_t i = 0; i < job->nr_blocks; i++)
		words_free(job->blocks[i].argv);
	free(job->blocks);
	free(job);
}
