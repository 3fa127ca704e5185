/* SPDX-License-Identifier: MIT */
/* What the entries of the table of control files call: one show, and one write where there is one.
 */
#ifndef UMEMCG_CONTROL_FILES_H
#define UMEMCG_CONTROL_FILES_H

#include "control/text.h"
#include "group/group.h"

/* Of groups and threads (control/cgroup.c). */
void cgroup_procs_show(struct umemcg *group, struct text *text);
void cgroup_threads_show(struct umemcg *group, struct text *text);
void cgroup_stat_show(struct umemcg *group, struct text *text);
void cgroup_events_show(struct umemcg *group, struct text *text);
void cgroup_max_depth_show(struct umemcg *group, struct text *text);
int cgroup_max_depth_write(struct umemcg *group, const char *value);
void cgroup_max_descendants_show(struct umemcg *group, struct text *text);
int cgroup_max_descendants_write(struct umemcg *group, const char *value);

/* Of memory (control/memory.c). */
void memory_current_show(struct umemcg *group, struct text *text);
void memory_peak_show(struct umemcg *group, struct text *text);
void memory_max_show(struct umemcg *group, struct text *text);
int memory_max_write(struct umemcg *group, const char *value);
void memory_min_show(struct umemcg *group, struct text *text);
int memory_min_write(struct umemcg *group, const char *value);
void memory_low_show(struct umemcg *group, struct text *text);
int memory_low_write(struct umemcg *group, const char *value);
void memory_high_show(struct umemcg *group, struct text *text);
int memory_high_write(struct umemcg *group, const char *value);
void memory_pressure_show(struct umemcg *group, struct text *text);
int memory_pressure_write(struct umemcg *group, const char *value);
void memory_reserve_show(struct umemcg *group, struct text *text);
int memory_reserve_write(struct umemcg *group, const char *value);
int memory_reclaim_write(struct umemcg *group, const char *value);
void memory_events_show(struct umemcg *group, struct text *text);
void memory_events_local_show(struct umemcg *group, struct text *text);
void memory_stat_show(struct umemcg *group, struct text *text);
void memory_consumers_show(struct umemcg *group, struct text *text);

/* Of what follows a charge that does not fit (control/oom.c). */
void memory_oom_group_show(struct umemcg *group, struct text *text);
int memory_oom_group_write(struct umemcg *group, const char *value);
void memory_oom_policy_show(struct umemcg *group, struct text *text);
int memory_oom_policy_write(struct umemcg *group, const char *value);

/* Of pages that are stored elsewhere (control/swap.c). */
void memory_swap_current_show(struct umemcg *group, struct text *text);
void memory_swap_peak_show(struct umemcg *group, struct text *text);
void memory_swap_max_show(struct umemcg *group, struct text *text);
int memory_swap_max_write(struct umemcg *group, const char *value);
void memory_swap_events_show(struct umemcg *group, struct text *text);
void memory_zswap_current_show(struct umemcg *group, struct text *text);
/** swap_stat_show - the lines of memory.stat about them */
void swap_stat_show(struct umemcg *group, struct text *text);

#endif
