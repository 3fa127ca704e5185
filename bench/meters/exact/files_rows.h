/* SPDX-License-Identifier: MIT */
/* Where the ranges of files in a kernel's text start and end, and how to tell a wrong one. */
#ifndef BENCH_METERS_EXACT_FILES_ROWS_H
#define BENCH_METERS_EXACT_FILES_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#define FILE_ROW_NR_CHECKED 6

enum file_anchor_place {
	FILE_ANCHOR_AT,     /* the symbol of that name; as an end, before it */
	FILE_ANCHOR_BEHIND, /* the last symbol whose name starts so */
};

struct file_anchor {
	enum file_anchor_place place;
	const char *name;
};

struct file_row {
	const char *path;
	bool memcg; /* compiled only with the memory controller */
	struct file_anchor start;
	struct file_anchor end;
	/* Bounds on the number of functions: what the two kernels have, and room for others. */
	size_t min;
	size_t max;
	const char *inside[FILE_ROW_NR_CHECKED];
	const char *outside[FILE_ROW_NR_CHECKED]; /* of the files before and behind it */
};

/* Rows of one file stand together; the first that fits a kernel is the one for it. */
extern const struct file_row file_rows[];
extern const size_t nr_file_rows;

/* Releases whose rows were compared with their debug information. */
extern const char *const file_rows_compared[];
extern const size_t nr_file_rows_compared;

#endif
