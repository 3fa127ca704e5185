/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Results side by side: one table for each workload, target and meter; in it a
 * row for each metric and parameters, a column for each configuration of each
 * result. Renderers print tables and add nothing to them.
 */
#ifndef UMEMCG_BENCH_REPORT_COMPARISON_H
#define UMEMCG_BENCH_REPORT_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>

#include "report/bootstrap.h"
#include "report/result.h"
#include "report/statistics.h"
#include "report/verdict.h"

/* The configuration that is the base a second time; never a base, and not counted. */
#define COMPARISON_CONTROL "AA"

struct comparison_options {
	double effect_percent; /* the smallest effect of interest */
	bool adjust_holm;
	const char *base; /* the configuration to compare with; NULL: see comparison_create() */
	bool across;      /* compare each configuration with itself in the first result */
};

/* A result and what to call it; both outlive the comparison. */
struct run {
	const char *label;
	const struct bench_result *result;
};

/* Seconds of one run of the workload, over all its parameters. */
struct cpu_time {
	double mean_s;
	double error_percent; /* relative standard error of the mean; NAN for one run */
};

enum cpu_time_kind { CPU_USER, CPU_SYSTEM, CPU_ELAPSED, NR_CPU_TIMES };

struct column {
	size_t run; /* index of its result */
	const char *config;
	bool is_base;    /* its run's base in this table */
	bool is_control; /* COMPARISON_CONTROL */
	bool has_times;
	struct cpu_time times[NR_CPU_TIMES];
};

/* One configuration's value of one metric. */
struct cell {
	const struct bench_series *series; /* NULL: not measured */
	struct statistics statistics;
	const struct cell *base;    /* what it is compared with; NULL for nothing, or itself */
	struct bootstrap bootstrap; /* of base and cell; only with a base */
	double p_adjusted;
	enum verdict verdict;
	size_t runs_needed;   /* blocks, if unclear */
	double noise_percent; /* the furthest end of the A/A control's interval; NAN without */
};

struct row {
	char *name;                        /* "faults/cpu-3" */
	const struct bench_series *series; /* of any cell: metric, unit, better, parameters */
	size_t kernel;                     /* place of its parameter's value: as first met */
	struct cell *cells;                /* one a column */
};

struct table {
	const char *workload;
	const char *target;
	const char *meter;
	const char *title; /* the workload's name if it gave none */
	struct column *columns;
	size_t nr_columns;
	struct row *rows;
	size_t nr_rows;
};

struct comparison {
	const struct run *runs;
	size_t nr_runs;
	struct comparison_options options;
	struct table *tables;
	size_t nr_tables;
	size_t nr_comparisons; /* with an interval, controls not among them */
	double false_verdicts; /* how many chance alone would give */
	char **warnings;       /* lines about the results: busy, not the same machine */
	size_t nr_warnings;
};

/**
 * comparison_create - lay results side by side and judge them
 * @runs:           at least one
 * @nr_runs:        how many
 * @options:        copied; its base outlives the comparison
 * @ret_comparison: for comparison_destroy(); untouched on failure
 * @error:          on failure one line that says what does not fit
 *
 * The base of a table is, for each result, the configuration asked for, else
 * base-NotCompiled, else disabled, else the first that was measured. A result
 * that lacks the first is compared with the first result that has it; one that
 * lacks base-NotCompiled with the first result of the same machine that has it.
 *
 * Return: 0; -EINVAL for a base that nobody measured, the same series twice,
 * a table too large for anybody, or results of one workload that differ in
 * meter, unit or parameters; -ENOMEM.
 */
int comparison_create(const struct run *runs, size_t nr_runs,
		      const struct comparison_options *options, struct comparison **ret_comparison,
		      struct report_error *error);

/**
 * comparison_destroy - free a comparison, not its results
 * @comparison: may be NULL
 */
void comparison_destroy(struct comparison *comparison);

#endif
