/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles as text: a row for each file, below it a row for each symbol. */
#ifndef UMEMCG_BENCH_REPORT_PROFILE_TABLE_H
#define UMEMCG_BENCH_REPORT_PROFILE_TABLE_H

#include "report/comparison.h"

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

/** profile_tables_print - every profile of every result under a heading; as the above */
int profile_tables_print(const struct comparison *comparison, FILE *out,
			 struct report_error *error);

#endif
