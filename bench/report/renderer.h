/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The formats of a report: each is a renderer over the same comparison. */
#ifndef UMEMCG_BENCH_REPORT_RENDERER_H
#define UMEMCG_BENCH_REPORT_RENDERER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/comparison.h"

struct render_options {
	bool plain;        /* the tables alone, as the mailing list knows them */
	size_t nr_columns; /* that text should keep to; 0 for 80 */
};

struct renderer {
	const char *name;
	const char *description; /* for --help, one line */

	/*
	 * Prints the whole report. Returns 0, -ENOMEM, or -EINVAL with @error
	 * filled in for a result that contradicts itself; errors of @out are for
	 * its owner to see with ferror().
	 */
	int (*render)(const struct comparison *comparison, const struct render_options *options,
		      FILE *out, struct report_error *error);
};

/* Ends with NULL. */
extern const struct renderer *const renderers[];

/** renderer_find - the renderer of that name, or NULL */
const struct renderer *renderer_find(const char *name);

/** renderer_accepted - all names, for a message: "perf, mmtests, lkp" */
const char *renderer_accepted(void);

extern const struct renderer render_perf;
extern const struct renderer render_mmtests;
extern const struct renderer render_lkp;
extern const struct renderer render_markdown;
extern const struct renderer render_json;
extern const struct renderer render_csv;
extern const struct renderer render_html;
extern const struct renderer render_exact;

#endif
