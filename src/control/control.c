/* SPDX-License-Identifier: MIT */
#include "control/control.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/compiler.h"
#include "control/files.h"

struct control_file {
	const char *name;
	void (*show)(struct umemcg *group, struct text *text); /* NULL: only written */
	int (*write)(struct umemcg *group, const char *value); /* NULL: only read */
};

/* Files of cgroup v2 that are not here are absent: nothing stands behind them. */
static const struct control_file files[] = {
	{ "cgroup.events", cgroup_events_show, NULL },
	{ "cgroup.max.depth", cgroup_max_depth_show, cgroup_max_depth_write },
	{ "cgroup.max.descendants", cgroup_max_descendants_show, cgroup_max_descendants_write },
	{ "cgroup.procs", cgroup_procs_show, NULL },
	{ "cgroup.stat", cgroup_stat_show, NULL },
	{ "cgroup.threads", cgroup_threads_show, NULL },
	{ "memory.consumers", memory_consumers_show, NULL },
	{ "memory.current", memory_current_show, NULL },
	{ "memory.events", memory_events_show, NULL },
	{ "memory.events.local", memory_events_local_show, NULL },
	{ "memory.high", memory_high_show, memory_high_write },
	{ "memory.low", memory_low_show, memory_low_write },
	{ "memory.max", memory_max_show, memory_max_write },
	{ "memory.min", memory_min_show, memory_min_write },
	{ "memory.oom.group", memory_oom_group_show, memory_oom_group_write },
	{ "memory.oom.policy", memory_oom_policy_show, memory_oom_policy_write },
	{ "memory.peak", memory_peak_show, NULL },
	{ "memory.pressure", memory_pressure_show, memory_pressure_write },
	{ "memory.reclaim", NULL, memory_reclaim_write },
	{ "memory.reserve", memory_reserve_show, memory_reserve_write },
	{ "memory.stat", memory_stat_show, NULL },
	{ "memory.swap.current", memory_swap_current_show, NULL },
	{ "memory.swap.events", memory_swap_events_show, NULL },
	{ "memory.swap.max", memory_swap_max_show, memory_swap_max_write },
	{ "memory.swap.peak", memory_swap_peak_show, NULL },
	{ "memory.zswap.current", memory_zswap_current_show, NULL },
};

static const struct control_file *find(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(files); i++)
		if (!strcmp(files[i].name, name))
			return &files[i];
	return NULL;
}

const char *control_file_name(unsigned int index)
{
	return index < ARRAY_SIZE(files) ? files[index].name : NULL;
}

int control_read(struct umemcg *group, const char *file, char *buffer, size_t size)
{
	const struct control_file *found = find(file);
	struct text text = { .buffer = buffer, .size = size };

	if (!found)
		return -ENOENT;
	if (!found->show)
		return -EACCES;
	found->show(group, &text);
	/* No group has threads enough for a longer text. */
	return (int)min(text_end(&text), (size_t)INT_MAX);
}

int control_write(struct umemcg *group, const char *file, const char *value)
{
	const struct control_file *found = find(file);

	if (!found)
		return -ENOENT;
	return found->write ? found->write(group, value) : -EACCES;
}
