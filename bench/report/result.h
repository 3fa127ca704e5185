/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A result: what a run of the lab measured, on what machine, and what it
 * could not measure. Meters build one, the result file stores one, and
 * comparisons read one. docs/result.schema.json is its form on disk.
 *
 * A meter uses it so:
 *
 *	result_create(&result);
 *	result_set_environment(result, &environment);	(strings are copied)
 *	result_add_series(result, &(struct bench_series_name){ ... }, &series);
 *	series_set_param_integer(series, "workers", 3);
 *	series_add_sample(series, &(struct bench_sample){ .block = 0, ... });
 *	result_add_skipped(result, "kernel disabled", "needs a boot of its own");
 *	result_write(result, "result.json", &error);
 *	result_destroy(result);
 *
 * Nothing here is safe against concurrent use of one result. Every function
 * returns 0 or a negative errno and changes nothing on failure.
 */
#ifndef UMEMCG_BENCH_REPORT_RESULT_H
#define UMEMCG_BENCH_REPORT_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The version of the file format that is written; every earlier one is read. */
#define BENCH_RESULT_VERSION 1

/* Series that a result can hold. */
#define BENCH_MAX_SERIES 10000

/* The time of a sample (user_s, system_s, elapsed_s) that was not measured. */
#define BENCH_NOT_MEASURED (-1.0)

/* One line that names the input and what would be accepted, without a newline. */
struct report_error {
	char text[1024];
};

enum bench_better {
	BENCH_LOWER,  /* times, bytes: the arithmetic mean is reported */
	BENCH_HIGHER, /* rates: the harmonic mean is reported */
};

/*
 * The machine and its state at the start. NULL strings are stored as "" and
 * mean "not known".
 */
struct bench_environment {
	const char *kernel;         /* release, as uname -r prints it */
	const char *command_line;   /* of the kernel */
	const char *config_memcg;   /* CONFIG_MEMCG of the running kernel: "y" or "n" */
	const char *cpu;            /* model name */
	uint32_t cpus;              /* online, usable by this process */
	uint64_t memory_bytes;      /* at most INT64_MAX, as every integer here */
	const char *thp;            /* "always", "madvise", "never" */
	const char *cgroup;         /* "v1", "v2", "none" */
	const char *compiler;       /* that built the library */
	const char *umemcg_version; /* "0.1.0" */
	uint64_t seed;              /* of the order of blocks, and of the bootstrap */
	const char *started;        /* RFC 3339: "2026-01-31T12:00:00Z" */
	double load;                /* load average of the minute before the start */
	const char *aslr;           /* the next four are optional in the file */
	const char *governor;
	const char *pinning;
	const char *warm_up;
	bool busy; /* other programs took noticeable time during the run */
};

/* A parameter of a workload, as the number of workers: an integer, or text. */
struct bench_param {
	char *name;
	char *text; /* NULL for an integer */
	int64_t integer;
};

/* One measured run of one configuration within one block. */
struct bench_sample {
	uint32_t block;  /* the interleaved block it was run in, from 0 */
	double value;    /* in the unit of its series; finite, not negative */
	double user_s;   /* CPU and wall-clock seconds of this run: all three, or */
	double system_s; /* BENCH_NOT_MEASURED in all three, for all of a series */
	double elapsed_s;
	/* That were counted in this run. The file keeps only their sum over the
	 * series, so this is 0 in a result that was read. */
	uint64_t operations;
};

/* What names a series; strings are copied, all but title are required. */
struct bench_series_name {
	const char *workload; /* "pft" */
	const char *target;   /* "lib" or "kernel" */
	const char *meter;    /* "time" or "exact" */
	const char *config;   /* "base-NotCompiled", "Set", "AA" */
	const char *metric;   /* "elapsed time", "faults/cpu"; without the workers */
	const char *unit;     /* "s", "us", "ns", "faults/sec", "bytes", "instructions" */
	enum bench_better better;
	/* Heads the tables in place of the workload's name, as in "fork intensive
	 * workload"; says where an interim meaning holds. NULL for none. */
	const char *title;
};

/*
 * One metric of one workload in one configuration. Two series of a result
 * differ in their name or their parameters.
 */
struct bench_series {
	char *workload;
	char *target;
	char *meter;
	char *config;
	char *metric;
	char *unit;
	char *title; /* NULL for none */
	enum bench_better better;
	struct bench_param *params; /* sorted by name */
	size_t nr_params;
	struct bench_sample *samples;
	size_t nr_samples;
	uint64_t operations; /* the sum over the samples */
	bool has_times;
};

struct bench_symbol {
	char *name;
	uint64_t count;
};

struct bench_file {
	char *path;
	uint64_t count; /* the sum of its symbols; checked where it is printed */
	struct bench_symbol *symbols;
	size_t nr_symbols;
};

/* Calls from one symbol to another. */
struct bench_call {
	char *caller;
	char *callee;
	uint64_t nr_calls;
	uint64_t count; /* of the callee and all it called */
};

/* What a profile is of: the operations, or the part of a workload that is counted apart. */
enum bench_part {
	BENCH_PART_RUN,
	BENCH_PART_APART,
};

/* Where the instructions (or samples) between the marks went. */
struct bench_profile {
	char *workload;
	char *target;
	char *meter; /* NULL: not known */
	char *config;
	enum bench_part part;
	struct bench_param *params; /* as a series has them; sorted by name, often none */
	size_t nr_params;
	uint64_t operations; /* that it is of; 0 if not known */
	uint64_t total;      /* of everything, also outside the files listed */
	struct bench_file *files;
	size_t nr_files;
	struct bench_call *calls; /* none where they were not counted */
	size_t nr_calls;
};

struct bench_skipped {
	char *what;
	char *why;
};

struct bench_result {
	struct bench_environment environment;
	char **notes;
	size_t nr_notes;
	struct bench_series **series; /* each stays where it is until destroy */
	size_t nr_series;
	struct bench_profile **profiles;
	size_t nr_profiles;
	struct bench_skipped *skipped;
	size_t nr_skipped;
};

/**
 * result_create - an empty result
 * @ret_result: the result, for result_destroy()
 *
 * Return: 0; -ENOMEM.
 */
int result_create(struct bench_result **ret_result);

/**
 * result_destroy - free a result and all that hangs on it
 * @result: may be NULL
 */
void result_destroy(struct bench_result *result);

/**
 * result_set_environment - record the machine; replaces an earlier record
 * @result:      live result
 * @environment: copied with its strings
 *
 * Return: 0; -EINVAL for control characters or text that is not UTF-8 in a
 * string, an integer above INT64_MAX, a load that is no number; -ENOMEM.
 */
int result_set_environment(struct bench_result *result,
			   const struct bench_environment *environment);

/**
 * result_set_busy - flag the run: the machine did other work meanwhile
 * @result: live result
 */
void result_set_busy(struct bench_result *result);

/**
 * result_add_note - append a remark to the environment's notes
 * @result: live result
 * @note:   one line, copied
 *
 * Return: 0; -EINVAL for what result_set_environment() refuses; -ENOMEM.
 */
int result_add_note(struct bench_result *result, const char *note);

/**
 * result_add_series - start a series without samples
 * @result:     live result
 * @name:       copied
 * @ret_series: owned by @result, valid until result_destroy()
 *
 * Series are kept in the order they are added: the first configuration of a
 * workload is the base of comparisons unless one is called base-NotCompiled.
 *
 * Return: 0; -EINVAL for a missing, empty, too long (TEXT_NAME_MAX) or
 * unprintable name, or an unknown target or meter; -E2BIG beyond
 * BENCH_MAX_SERIES; -ENOMEM.
 */
int result_add_series(struct bench_result *result, const struct bench_series_name *name,
		      struct bench_series **ret_series);

/**
 * series_set_param_integer - set a parameter of the workload; also replaces one
 * @series: live series
 * @name:   copied; "workers" is the one that tables append to the metric
 * @value:  as it was used
 *
 * Return: 0; -EINVAL for an empty or unprintable name; -ENOMEM.
 */
int series_set_param_integer(struct bench_series *series, const char *name, int64_t value);

/** series_set_param_text - as series_set_param_integer(), for a text */
int series_set_param_text(struct bench_series *series, const char *name, const char *value);

/**
 * series_add_sample - append one measured run
 * @series: live series
 * @sample: copied
 *
 * Return: 0; -EINVAL for a value or time that is negative or not finite, or
 * when the times are missing here and not in earlier samples; -ENOMEM.
 */
int series_add_sample(struct bench_series *series, const struct bench_sample *sample);

/**
 * result_find_series - the series of that name and configuration
 * @result:  live result
 * @pattern: its NULL members match everything; title and better are not looked at
 *
 * Return: the first that matches, or NULL.
 */
struct bench_series *result_find_series(const struct bench_result *result,
					const struct bench_series_name *pattern);

/**
 * result_add_profile - start a profile without files
 * @result:      live result
 * @workload:    copied, as are the next two
 * @target:      whose accounting
 * @config:      in which state
 * @total:       instructions or samples of everything between the marks
 * @ret_profile: owned by @result, valid until result_destroy()
 *
 * Return: 0; -EINVAL; -ENOMEM.
 */
int result_add_profile(struct bench_result *result, const char *workload, const char *target,
		       const char *config, uint64_t total, struct bench_profile **ret_profile);

/** profile_set_param_integer - as series_set_param_integer(), of what was profiled */
int profile_set_param_integer(struct bench_profile *profile, const char *name, int64_t value);

/** profile_set_param_text - as series_set_param_integer(), for a text */
int profile_set_param_text(struct bench_profile *profile, const char *name, const char *value);

/** profile_set_meter - record what counted: "time" or "exact"; 0, -EINVAL or -ENOMEM */
int profile_set_meter(struct bench_profile *profile, const char *meter);

/** profile_set_part - record what it is of; BENCH_PART_RUN unless it was called */
void profile_set_part(struct bench_profile *profile, enum bench_part part);

/**
 * profile_set_operations - record how many operations a profile is of
 * @profile:    live profile
 * @operations: at most INT64_MAX
 *
 * Return: 0; -EINVAL.
 */
int profile_set_operations(struct bench_profile *profile, uint64_t operations);

/**
 * profile_add_file - append a file without symbols
 * @profile:  live profile
 * @path:     copied; new to the profile
 * @ret_file: valid until the next call for @profile
 *
 * Return: 0; -EINVAL; -ENOMEM.
 */
int profile_add_file(struct bench_profile *profile, const char *path, struct bench_file **ret_file);

/**
 * file_add_symbol - append a symbol; leaves the file's own count alone
 * @file:  of a live profile
 * @name:  copied; new to the file
 * @count: instructions or samples
 *
 * Return: 0; -EINVAL; -ENOMEM.
 */
int file_add_symbol(struct bench_file *file, const char *name, uint64_t count);

/**
 * profile_add_symbol - add a symbol's count to its file, which is made if new
 * @profile: live profile
 * @path:    source file, copied
 * @symbol:  copied; need not be new: counts of one symbol add up
 * @count:   instructions or samples
 *
 * Return: 0; -EINVAL; -ERANGE when the file's sum passes INT64_MAX; -ENOMEM.
 */
int profile_add_symbol(struct bench_profile *profile, const char *path, const char *symbol,
		       uint64_t count);

/**
 * profile_add_call - append the calls from one symbol to another
 * @profile:  live profile
 * @caller:   copied
 * @callee:   copied; new to the profile with this caller
 * @nr_calls: how many
 * @count:    instructions of the callee and all it called
 *
 * Return: 0; -EINVAL; -ENOMEM.
 */
int profile_add_call(struct bench_profile *profile, const char *caller, const char *callee,
		     uint64_t nr_calls, uint64_t count);

/**
 * result_add_skipped - record what could not be measured
 * @result: live result
 * @what:   "kernel base-NotCompiled", one line, copied
 * @why:    "needs a kernel built with CONFIG_MEMCG=n", one line, copied
 *
 * Return: 0; -EINVAL; -ENOMEM.
 */
int result_add_skipped(struct bench_result *result, const char *what, const char *why);

/**
 * result_read - read a result file
 * @path:       file to read
 * @ret_result: the result, for result_destroy(); untouched on failure
 * @error:      on failure one line that names the file, what is wrong in it and
 *              what would be accepted; untouched on success
 *
 * The file is not trusted: every field is checked, its size and the number of
 * its values are bounded, and text that could steer a terminal is refused.
 *
 * Return: 0; -EINVAL for what is not a result of this or an earlier version;
 * -EFBIG; -ENOMEM; the errno of opening or reading it.
 */
int result_read(const char *path, struct bench_result **ret_result, struct report_error *error);

/**
 * result_parse - as result_read(), from memory
 * @text:       the file's content
 * @nr_bytes:   its length
 * @name:       what to call it in @error
 * @ret_result: as for result_read()
 * @error:      as for result_read()
 *
 * Return: as result_read().
 */
int result_parse(const char *text, size_t nr_bytes, const char *name,
		 struct bench_result **ret_result, struct report_error *error);

/**
 * result_write - write a result file, whole or not at all
 * @result: live result
 * @path:   file to make or replace
 * @error:  on failure one line that names the file and the reason
 *
 * Written beside its place and renamed into it, so that whoever looks finds
 * the old file or the new one, and no other file stays in the directory. What
 * is there and is no regular file (a pipe, a terminal) is written to directly.
 *
 * Return: 0; -ENOMEM; the errno of the step that failed.
 */
int result_write(const struct bench_result *result, const char *path, struct report_error *error);

#endif
