/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles as text: a row for each file, below it a row for each symbol. */
#ifndef UMEMCG_BENCH_REPORT_PROFILE_TABLE_H
#define UMEMCG_BENCH_REPORT_PROFILE_TABLE_H

#include "report/comparison.h"

/**
 * profile_check_sums - do a profile's counts add up?
 *
 * Return: 0; -EINVAL, with a line, if a file's count is not the sum of its symbols', or the total
 * less than the files'.
 */
int profile_check_sums(const struct bench_profile *profile, struct report_error *error);

/**
 * profile_table_print - the rows of one profile, the largest files and symbols first
 * @profile: live profile
 * @out:     where to
 * @error:   on -EINVAL one line
 *
 * Percentages are of the profile's total: all that was counted between the
 * marks, user space and interrupts included.
 *
 * Return: 0; -EINVAL if a file's count is not the sum of its symbols', or a
 * profile's total less than its files', with nothing printed; -ENOMEM.
 */
int profile_table_print(const struct bench_profile *profile, FILE *out, struct report_error *error);

/** profile_print_state - "Set, kernel new, apart": what tells it from others of its workload */
void profile_print_state(const struct bench_profile *profile, FILE *out);

/**
 * profile_print_heading - "old.json: profile of pft (kernel), Set: percent of all 400", in 80
 * columns
 * @label: of its result, or NULL
 * @after: put behind it in the same line
 */
void profile_print_heading(const char *label, const struct bench_profile *profile,
			   const char *after, FILE *out);

/**
 * profile_tables_print - every profile of every result under a heading, and below it the difference
 * to the profile of its base, and to that of the first kernel if there are several; as the above
 */
int profile_tables_print(const struct comparison *comparison, FILE *out,
			 struct report_error *error);

#endif
