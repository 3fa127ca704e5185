/* SPDX-License-Identifier: MIT */
/* One report of a tree in words, or as JSON. */
#ifndef UMEMCG_CMD_REPORT_H
#define UMEMCG_CMD_REPORT_H

#include <jansson.h>
#include <stddef.h>

#include "umemcg-tree.h"

/** Room for any line of report_format(). */
#define REPORT_LINE_BYTES 512

/** report_format - "python3[1234] was refused 1.0M by /web (max 300M); largest: ..." */
void report_format(const struct umemcg_report *report, char line[REPORT_LINE_BYTES]);

/** report_json - the same, in bytes; NULL without memory */
json_t *report_json(const struct umemcg_report *report);

#endif
