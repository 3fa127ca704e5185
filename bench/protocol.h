/* SPDX-License-Identifier: MIT */
/*
 * What a worker says to the driver, in lines on a pipe, when its block is over:
 *
 *	umemcg-block 1
 *	operations NR		of all workers, as counted
 *	metric INDEX VALUE	one for each that could be had
 *	times USER SYSTEM ELAPSED
 *	peak BYTES		of the lib group it ran in
 *	calibrated NR		in place of the above: operations for the time asked for
 *	error TEXT		in place of the above
 *	end			without it, the worker died
 */
#ifndef BENCH_PROTOCOL_H
#define BENCH_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/workload.h"

#define PROTOCOL_ERROR 192
#define PROTOCOL_SIZE  2048

struct protocol_block {
	uint64_t nr_operations;
	bool has_metric[WORKLOAD_NR_METRICS];
	double metrics[WORKLOAD_NR_METRICS];
	bool has_times;
	double user_s;
	double system_s;
	double elapsed_s;
	uint64_t nr_bytes_peak;
	uint64_t nr_calibrated;
	char error[PROTOCOL_ERROR]; /* empty if there was none */
};

/** protocol_format - @block as lines; returns their length, below PROTOCOL_SIZE */
size_t protocol_format(const struct protocol_block *block, char *text);

/**
 * protocol_parse - read what protocol_format() wrote
 * @text:      NUL-terminated; is changed
 * @ret_block: the block
 *
 * Return: 0; -ENODATA if the last line is missing; -EPROTO for a line of another form.
 */
int protocol_parse(char *text, struct protocol_block *ret_block);

#endif
