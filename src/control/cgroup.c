/* SPDX-License-Identifier: MIT */
/* The files cgroup.*: which threads are in a group, and what may be made below it. */
#include "control/files.h"

#include <errno.h>
#include <unistd.h>

#include "base/size.h"
#include "charge/counter.h"
#include "group/rare.h"
#include "kmem/heap.h"

struct thread_list {
	const struct umemcg *group;
	struct text *text;
	bool is_populated; /* a thread is in the group or below it */
	bool has_thread;   /* a thread is in the group itself */
};

static void look_at_thread(pid_t tid, const struct umemcg *group, void *arg)
{
	struct thread_list *list = arg;

	if (group == list->group) {
		list->has_thread = true;
		if (list->text) {
			text_put_number(list->text, (uint64_t)tid);
			text_put_bytes(list->text, "\n", 1);
		}
	}
	if (counter_is_below(group->id, list->group->id))
		list->is_populated = true;
}

void cgroup_threads_show(struct umemcg *group, struct text *text)
{
	struct thread_list list = { .group = group, .text = text };

	heap_walk_threads(look_at_thread, &list);
}

/* A tree is one process's: that process is in each group that one of its threads is in. */
void cgroup_procs_show(struct umemcg *group, struct text *text)
{
	struct thread_list list = { .group = group };

	heap_walk_threads(look_at_thread, &list);
	if (list.has_thread) {
		text_put_number(text, (uint64_t)getpid());
		text_put_bytes(text, "\n", 1);
	}
}

void cgroup_events_show(struct umemcg *group, struct text *text)
{
	struct thread_list list = { .group = group };

	heap_walk_threads(look_at_thread, &list);
	text_put_pair(text, "populated", list.is_populated);
}

void cgroup_stat_show(struct umemcg *group, struct text *text)
{
	uint32_t nr_descendants;

	group_lock();
	nr_descendants = group->nr_descendants;
	group_unlock();
	text_put_pair(text, "nr_descendants", nr_descendants);
}

/* A count in a control file: UINT32_MAX is "max", as UINT64_MAX is in the grammar. */
static void show_limit(uint32_t value, struct text *text)
{
	text_put_size(text, value == UINT32_MAX ? UINT64_MAX : value);
}

/* Reads the number, and makes sure that the group has a place for it. */
static int prepare_limit(struct umemcg *group, const char *value, uint32_t *ret_limit)
{
	uint64_t number;
	int r = size_parse(value, &number);

	if (r)
		return r;
	if (number >= UINT32_MAX && number != UINT64_MAX)
		return -ERANGE;
	*ret_limit = (uint32_t)number;
	return rare_make(group);
}

void cgroup_max_depth_show(struct umemcg *group, struct text *text)
{
	group_lock();
	show_limit(rare_of(group)->max_depth, text);
	group_unlock();
}

int cgroup_max_depth_write(struct umemcg *group, const char *value)
{
	uint32_t limit;
	int r = prepare_limit(group, value, &limit);

	if (r)
		return r;
	group_lock();
	rare_of(group)->max_depth = limit;
	group_unlock();
	return 0;
}

void cgroup_max_descendants_show(struct umemcg *group, struct text *text)
{
	group_lock();
	show_limit(rare_of(group)->max_descendants, text);
	group_unlock();
}

int cgroup_max_descendants_write(struct umemcg *group, const char *value)
{
	uint32_t limit;
	int r = prepare_limit(group, value, &limit);

	if (r)
		return r;
	group_lock();
	rare_of(group)->max_descendants = limit;
	group_unlock();
	return 0;
}
