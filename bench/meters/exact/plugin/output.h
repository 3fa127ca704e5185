/* SPDX-License-Identifier: MIT */
/* The file of counts, in the form that counts.h describes. */
#ifndef EXACT_PLUGIN_OUTPUT_H
#define EXACT_PLUGIN_OUTPUT_H

#include <stdbool.h>

/** output_open - create or empty the file now, so that no guest is run for nothing; complains */
bool output_open(const char *path);

/**
 * output_write - write all parts, and the last line if all was written and no part is open
 *
 * Uses the sums of counters.h for its own ends: nothing can be counted after it.
 */
void output_write(void);

#endif
