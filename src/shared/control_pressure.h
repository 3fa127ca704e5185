/* SPDX-License-Identifier: MIT */
/*
 * Control files of shared groups that say what happens before and at the limit: protection, high,
 * the policy.
 *
 * Setting them freezes nobody: who charges meanwhile meets the old value or the new one.
 */
#ifndef UMEMCG_SHARED_CONTROL_PRESSURE_H
#define UMEMCG_SHARED_CONTROL_PRESSURE_H

#include <stdbool.h>
#include <stdint.h>

#include "control/text.h"
#include "shared/segment.h"

void control_show_min(const struct segment *segment, uint32_t group, struct text *text);
void control_show_low(const struct segment *segment, uint32_t group, struct text *text);
void control_show_high(const struct segment *segment, uint32_t group, struct text *text);
void control_show_pressure(const struct segment *segment, uint32_t group, struct text *text);
void control_show_oom_group(const struct segment *segment, uint32_t group, struct text *text);
void control_show_oom_policy(const struct segment *segment, uint32_t group, struct text *text);

/* 0; -EINVAL, also for the root; -ERANGE. */
int control_write_min(struct segment *segment, uint32_t group, const char *value);
int control_write_low(struct segment *segment, uint32_t group, const char *value);
int control_write_high(struct segment *segment, uint32_t group, const char *value);
/** control_write_reclaim - also -EAGAIN, if less was given back */
int control_write_reclaim(struct segment *segment, uint32_t group, const char *value);
int control_write_oom_group(struct segment *segment, uint32_t group, const char *value);
int control_write_oom_policy(struct segment *segment, uint32_t group, const char *value);

#endif
