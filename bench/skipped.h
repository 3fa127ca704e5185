/* SPDX-License-Identifier: MIT */
/* What a run could not measure, and why. */
#ifndef BENCH_SKIPPED_H
#define BENCH_SKIPPED_H

#include <stddef.h>

struct skipped {
	char what[160];
	char why[512];
};

struct skipped_list {
	struct skipped *items;
	size_t nr_items;
};

/** skipped_add - add a reason, cut at its first newline; the same @what twice counts once */
int skipped_add(struct skipped_list *list, const char *what, const char *why);

void skipped_fini(struct skipped_list *list);

#endif
