/* SPDX-License-Identifier: MIT */
#include "shared/control_files.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/size.h"
#include "control/text.h"
#include "shared/control_pressure.h"
#include "shared/decide.h"
#include "shared/event.h"
#include "shared/largest.h"
#include "shared/slot.h"
#include "shared/tree.h"

/* Each number stands alone; relaxed, for it orders nothing else. */
#define read_relaxed(word) atomic_load_explicit(&(word), memory_order_relaxed)

static bool is_leaf_below(const struct segment *segment, uint32_t row, uint32_t group)
{
	return slot_is_leaf(segment, row) &&
	       tree_is_below(segment, read_relaxed(segment_process(segment, row)->group), group);
}

void control_files_get_stat(const struct segment *segment, uint32_t group,
			    struct umemcg_tree_stat *ret)
{
	const struct shared_group *row = segment_group(segment, group);

	*ret = (struct umemcg_tree_stat){
		.nr_bytes_current = read_relaxed(row->counter.usage),
		.nr_bytes_peak = read_relaxed(row->counter.peak),
		.nr_bytes_max = read_relaxed(row->counter.max),
		.nr_bytes_high = read_relaxed(row->high),
		.nr_bytes_low = read_relaxed(row->low),
		.nr_bytes_min = read_relaxed(row->min),
		.nr_bytes_reserve = read_relaxed(row->reserve),
		.nr_processes_ever = read_relaxed(row->nr_processes_ever),
		.nr_refused = read_relaxed(row->events_local[SHARED_EVENT_OOM]),
		.nr_stalled = read_relaxed(row->events_local[SHARED_EVENT_STALLED]),
	};
	for_each_process_row(segment, process)
	{
		if (!is_leaf_below(segment, process, group))
			continue;
		ret->nr_processes++;
		ret->nr_bytes_stack +=
			read_relaxed(segment_process(segment, process)->nr_bytes_stack);
		ret->nr_bytes_anon +=
			read_relaxed(segment_process(segment, process)->nr_bytes_anon);
	}
	for_each_row(segment, REGION_IMAGES, image)
	{
		const struct shared_image *its = segment_image(segment, image);

		/* Acquire pairs with who made it. */
		if (atomic_load_explicit(&its->state, memory_order_acquire) == ROW_LIVE &&
		    !read_relaxed(its->merged) &&
		    tree_is_below(segment, read_relaxed(its->group), group))
			ret->nr_bytes_image += read_relaxed(its->nr_bytes);
	}
}

/* ---- cgroup.* ---- */

static void show_cgroup_events(const struct segment *segment, uint32_t group, struct text *text)
{
	bool is_populated = false;

	for_each_process_row(segment, row) is_populated =
		is_populated || is_leaf_below(segment, row, group);
	text_put_pair(text, "populated", is_populated);
}

static void show_procs(const struct segment *segment, uint32_t group, struct text *text)
{
	for_each_process_row(segment, row)
	{
		if (!slot_is_leaf(segment, row) ||
		    read_relaxed(segment_process(segment, row)->group) != group)
			continue;
		text_put_number(text, (uint32_t)slot_pid(segment, row));
		text_put_bytes(text, "\n", 1);
	}
}

static void show_cgroup_stat(const struct segment *segment, uint32_t group, struct text *text)
{
	uint64_t nr_descendants = 0;

	for_each_group_row(segment, other) nr_descendants += other != group &&
							     tree_is_live(segment, other) &&
							     tree_is_below(segment, other, group);
	text_put_pair(text, "nr_descendants", nr_descendants);
}

/* ---- memory.* ---- */

/* The number is what follows the last blank: a command may hold some. */
static void show_consumers(const struct segment *segment, uint32_t group, struct text *text)
{
	struct largest largest[UMEMCG_NR_CONSUMERS];
	unsigned int nr = largest_find(segment, group, largest);

	for (unsigned int i = 0; i < nr; i++) {
		char command[16];

		largest_command(segment, largest[i].process, command);
		text_put_number(text, (uint32_t)slot_pid(segment, largest[i].process));
		text_put_bytes(text, " ", 1);
		text_put_pair(text, command, largest[i].nr_bytes);
	}
}

static void show_current(const struct segment *segment, uint32_t group, struct text *text)
{
	text_put_size(text, read_relaxed(segment_group(segment, group)->counter.usage));
}

static void put_events(const _Atomic uint32_t events[NR_SHARED_EVENTS], struct text *text)
{
	for (unsigned int i = 0; i < NR_SHARED_EVENTS; i++)
		text_put_pair(text, event_name(i), read_relaxed(events[i]));
}

static void show_events(const struct segment *segment, uint32_t group, struct text *text)
{
	put_events(segment_group(segment, group)->events, text);
}

static void show_events_local(const struct segment *segment, uint32_t group, struct text *text)
{
	put_events(segment_group(segment, group)->events_local, text);
}

static void show_fork(const struct segment *segment, uint32_t group, struct text *text)
{
	bool copies = read_relaxed(segment_group(segment, group)->copies_on_fork);

	text_put(text, copies ? "copy\n" : "share\n");
}

static int write_fork(struct segment *segment, uint32_t group, const char *value)
{
	bool copies = text_is_word(value, "copy");

	if (!copies && !text_is_word(value, "share"))
		return -EINVAL;
	atomic_store_explicit(&segment_group(segment, group)->copies_on_fork, copies,
			      memory_order_relaxed);
	return 0;
}

static void show_max(const struct segment *segment, uint32_t group, struct text *text)
{
	text_put_size(text, read_relaxed(segment_group(segment, group)->counter.max));
}

static int write_max(struct segment *segment, uint32_t group, const char *value)
{
	uint64_t max;
	int r = size_parse(value, &max);

	if (r)
		return r;
	return group == SHARED_ROOT ? -EINVAL : decide_set_max(segment, group, max);
}

static void show_peak(const struct segment *segment, uint32_t group, struct text *text)
{
	text_put_size(text, read_relaxed(segment_group(segment, group)->counter.peak));
}

static void show_reserve(const struct segment *segment, uint32_t group, struct text *text)
{
	text_put_size(text, read_relaxed(segment_group(segment, group)->reserve));
}

static int write_reserve(struct segment *segment, uint32_t group, const char *value)
{
	uint64_t nr_bytes;
	int r = size_parse(value, &nr_bytes);

	if (r)
		return r;
	return group == SHARED_ROOT ? -EINVAL : decide_set_reserve(segment, group, nr_bytes);
}

/* What other processes know of a process's memory; the rest is objects and what is charged ahead.
 */
static void show_stat(const struct segment *segment, uint32_t group, struct text *text)
{
	struct umemcg_tree_stat stat;

	control_files_get_stat(segment, group, &stat);
	text_put_pair(text, "anon", stat.nr_bytes_anon);
	text_put_pair(text, "stack", stat.nr_bytes_stack);
	text_put_pair(text, "image", stat.nr_bytes_image);
}

/* ---- the table ---- */

struct shared_file {
	const char *name;
	/* NULL: only written. */
	void (*show)(const struct segment *segment, uint32_t group, struct text *text);
	/* NULL: only read. */
	int (*write)(struct segment *segment, uint32_t group, const char *value);
};

static const struct shared_file files[] = {
	{ "cgroup.events", show_cgroup_events, NULL },
	{ "cgroup.procs", show_procs, NULL },
	{ "cgroup.stat", show_cgroup_stat, NULL },
	{ "memory.consumers", show_consumers, NULL },
	{ "memory.current", show_current, NULL },
	{ "memory.events", show_events, NULL },
	{ "memory.events.local", show_events_local, NULL },
	{ "memory.fork", show_fork, write_fork },
	{ "memory.high", control_show_high, control_write_high },
	{ "memory.low", control_show_low, control_write_low },
	{ "memory.max", show_max, write_max },
	{ "memory.min", control_show_min, control_write_min },
	{ "memory.oom.group", control_show_oom_group, control_write_oom_group },
	{ "memory.oom.policy", control_show_oom_policy, control_write_oom_policy },
	{ "memory.peak", show_peak, NULL },
	{ "memory.pressure", control_show_pressure, NULL },
	{ "memory.reclaim", NULL, control_write_reclaim },
	{ "memory.reserve", show_reserve, write_reserve },
	{ "memory.stat", show_stat, NULL },
};

const char *control_files_name(unsigned int index)
{
	return index < ARRAY_SIZE(files) ? files[index].name : NULL;
}

static const struct shared_file *find(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(files); i++)
		if (!strcmp(files[i].name, name))
			return &files[i];
	return NULL;
}

int control_files_read(struct segment *segment, uint32_t group, const char *file, char *buffer,
		       size_t size)
{
	const struct shared_file *found = find(file);
	struct text text = { .buffer = buffer, .size = size };

	if (!found)
		return -ENOENT;
	if (!found->show)
		return -EACCES;
	found->show(segment, group, &text);
	/* No tree has processes enough for a longer text. */
	return (int)min(text_end(&text), (size_t)INT_MAX);
}

int control_files_write(struct segment *segment, uint32_t group, const char *file,
			const char *value)
{
	const struct shared_file *found = find(file);

	if (!found)
		return -ENOENT;
	return found->write ? found->write(segment, group, value) : -EACCES;
}
