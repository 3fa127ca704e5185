/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of an exact table that belong together: the figures of one operation. */
#ifndef UMEMCG_BENCH_REPORT_EXACT_OPERATION_H
#define UMEMCG_BENCH_REPORT_EXACT_OPERATION_H

#include "report/comparison.h"

/* The parameter of the kernel's series that says which cgroups: "v1" or "v2". */
#define PARAM_CGROUP "cgroup"

struct exact_operation {
	const char *name; /* "fault" */
	const struct row *mean;
	/* These are NULL where there are none. */
	const struct row *mode;
	const struct row *put_off;
	const struct row *in_kernel; /* of the library's tasks */
};

/**
 * exact_operation_at - the operation whose mean is at a row
 * @table:         of the exact meter
 * @index:         of the row
 * @ret_operation: found
 *
 * Return: false if that row is another figure.
 */
bool exact_operation_at(const struct table *table, size_t index,
			struct exact_operation *ret_operation);

/**
 * exact_operation_of_first_kernel - the same operation in the kernel that was named first
 *
 * Return: false if there is none, or it is the operation itself.
 */
bool exact_operation_of_first_kernel(const struct comparison *comparison, const struct table *table,
				     const struct exact_operation *operation,
				     struct exact_operation *ret_older);

#endif
