/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results made for a purpose, and what renderers make of them. */
#ifndef UMEMCG_TESTS_REPORT_MADE_H
#define UMEMCG_TESTS_REPORT_MADE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/renderer.h"

/** made_result - an empty result of a plausible machine with that kernel */
struct bench_result *made_result(const char *kernel);

/** made_series - a series of the lib target and the time meter, samples in blocks 0, 1, ... */
struct bench_series *made_series(struct bench_result *result, const char *workload,
				 const char *config, const char *metric, const char *unit,
				 const double *samples, size_t nr_samples);

/** made_times - the same for seconds of "elapsed time" of the workload fork */
struct bench_series *made_times(struct bench_result *result, const char *config,
				const double *samples, size_t nr_samples);

/** made_comparison - one that must succeed, with the default effect */
struct comparison *made_comparison(const struct run *runs, size_t nr_runs);

/** rendered - the report as text, for free() */
char *rendered(const struct renderer *renderer, const struct comparison *comparison, bool plain,
	       size_t nr_columns);

/** rendered_lines - those of a text's lines that start with @start, for free() */
char *rendered_lines(const char *text, const char *start);

/** cell_of - the cell of a configuration in a row of the first table */
struct cell *cell_of(const struct comparison *comparison, size_t row, const char *config);

#define NR(array) (sizeof(array) / sizeof((array)[0]))

#endif
