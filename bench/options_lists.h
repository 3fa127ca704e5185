/* SPDX-License-Identifier: MIT */
/* Lists with commas, and what is asked of names of files, on the command line of `umemcg bench`. */
#ifndef BENCH_OPTIONS_LISTS_H
#define BENCH_OPTIONS_LISTS_H

#include "options.h"

#define OPTIONS_WORKERS_MAX 1024
/* Room for the part of a list that is not accepted. */
#define OPTIONS_BAD 64

/* Items of a list, at most. */
#define OPTIONS_NR_ITEMS OPTIONS_NR_CONFIGURATIONS
_Static_assert(OPTIONS_NR_WORKLOADS == OPTIONS_NR_ITEMS && OPTIONS_NR_WORKERS == OPTIONS_NR_ITEMS,
	       "one message for all lists");

/*
 * Each reads a list into the options. Return: 0; -EINVAL for an item that is not accepted or empty,
 * -EEXIST for one that is there twice, by itself or in all, -E2BIG for more than fit. That item
 * is copied to ret_bad.
 */
int options_parse_targets(const char *list, struct bench_options *options, char *ret_bad);
int options_parse_workloads(const char *list, struct bench_options *options, char *ret_bad);
int options_parse_workers(const char *list, struct bench_options *options, char *ret_bad);

/** options_parse_configurations - as the others; the time meter's control is added if missing */
int options_parse_configurations(const char *list, struct bench_options *options, char *ret_bad);

/** options_accepted_workloads - their names, as a message would list them */
const char *options_accepted_workloads(void);

/** options_can_write - can a file of that name be made or replaced? */
bool options_can_write(const char *path);

/** options_can_make - is there nothing of that name, and can a directory be made so? */
bool options_can_make(const char *path);

/** options_find_command - a program, by its path or in $PATH; false if there is none; PATH_MAX
 * bytes */
bool options_find_command(const char *name, char *ret_path);

#endif
