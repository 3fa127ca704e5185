/* SPDX-License-Identifier: MIT */
#include "shared/attach.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/report.h"
#include "base/size.h"
#include "charge/counter.h"
#include "charge/flight.h"
#include "charge/stock.h"
#include "charge/switch.h"
#include "charge/window.h"
#include "shared/child.h"
#include "shared/leaf.h"
#include "shared/leave.h"
#include "shared/recovery.h"
#include "shared/serve.h"
#include "shared/slot.h"
#include "shared/thread.h"
#include "shared/tree.h"

static struct segment own;
static bool is_attached;
static uint32_t own_group;

struct segment *attach_segment(void)
{
	return is_attached ? &own : NULL;
}

uint32_t attach_process(void)
{
	return own.process;
}

/* Rows of the dead are in the way of the living: those that only look have some of their own. */
static int recover_for_room(struct segment *segment)
{
	uint32_t process;
	int r = slot_claim(segment, 0, getpid(), PROCESS_LOOKS, &process);

	if (r)
		return r;
	segment->process = process;
	slot_set_live(segment, process);
	r = recovery_run(segment, true);
	slot_free(segment, process);
	segment->process = 0;
	return r;
}

static int claim_row(struct segment *segment)
{
	uint32_t process;
	int r = slot_claim(segment, 0, getpid(), 0, &process);

	if (r == -ENOSPC && !recover_for_room(segment))
		r = slot_claim(segment, 0, getpid(), 0, &process);
	if (r)
		return r;
	segment->process = process;
	slot_set_live(segment, process);
	return 0;
}

/* The group of a path, made with its parents if need be; 0 with the reason in *ret_error. */
static uint32_t find_or_make(struct segment *segment, const char *path, int *ret_error)
{
	char prefix[UMEMCG_PATH_MAX];
	uint32_t group = tree_find(segment, path);

	*ret_error = 0;
	if (group)
		return group;
	if (strlen(path) >= sizeof(prefix)) {
		*ret_error = -ENAMETOOLONG;
		return 0;
	}
	for (size_t i = 1; i <= strlen(path); i++) {
		if (path[i] != '/' && path[i])
			continue;
		memcpy(prefix, path, i);
		prefix[i] = '\0';
		group = tree_find(segment, prefix);
		if (group)
			continue;
		*ret_error = tree_create(segment, prefix, &group);
		if (*ret_error == -EEXIST)
			group = tree_find(segment, prefix);
		else if (*ret_error)
			return 0;
	}
	return group;
}

/* $UMEMCG_PROCESS_MAX, and what a limit needs; COUNTER_MAX if it is not set. */
static int read_own_max(const char *text, uint64_t *ret_max)
{
	int r;

	*ret_max = COUNTER_MAX;
	if (!text || !*text)
		return 0;
	r = size_parse(text, ret_max);
	return r ? r : counter_make_limit(ROOT_COUNTER);
}

static void set_own_max(uint64_t max)
{
	/* relaxed: for show. What refuses is the root's. */
	atomic_store_explicit(&segment_process(&own, own.process)->max, max, memory_order_relaxed);
	if (max != COUNTER_MAX)
		counter_set_max(ROOT_COUNTER, max);
}

static int become_leaf(const char *name, const char *path)
{
	uint32_t group;
	int r = segment_open(&own, name, false);

	if (r)
		return r;
	r = claim_row(&own);
	if (r)
		goto close;
	group = find_or_make(&own, path, &r);
	if (!group) {
		slot_free(&own, own.process);
		goto close;
	}
	own_group = group;
	/* Before the former program's row goes: in between a group of one would be empty, and
	 * removed. */
	r = tree_join(&own, own.process, group);
	leave_former(&own);
	if (!r)
		return 0;
	thread_free_all(&own, own.process);
	slot_free(&own, own.process);
close:
	segment_close(&own);
	return r;
}

static void before_fork(void)
{
	if (!is_attached)
		return;
	if (window_shared)
		stock_note_external();
	child_prepare(&own);
}

static void after_fork(void)
{
	if (is_attached)
		child_release(&own);
}

static void after_fork_in_child(void)
{
	bool has_windows = window_shared;

	serve_forget();
	if (!is_attached)
		return;
	if (child_begin(&own, own_group)) {
		/* Nobody knows of it any more: it counts alone from here on. */
		leaf_end();
		is_attached = false;
	}
	if (has_windows)
		stock_renew_windows();
	flight_renew_rows();
}

/* All that can fail comes before the first charge climbs, so that a process is a leaf or is none.
 */
static int attach(const char *name, const char *path)
{
	uint64_t max;
	int r = read_own_max(secure_getenv("UMEMCG_PROCESS_MAX"), &max);

	if (!r)
		r = -pthread_atfork(before_fork, after_fork, after_fork_in_child);
	if (!r)
		r = become_leaf(name, path);
	if (r)
		return r;
	set_own_max(max);
	leaf_begin(&own, own_group);
	is_attached = true;
	return 0;
}

void attach_init(void)
{
	const char *name = secure_getenv("UMEMCG_TREE");
	const char *path = secure_getenv("UMEMCG_GROUP");
	int r;

	if (!name || !*name || !switch_is_on())
		return;
	path = path && *path ? path : "/";
	r = attach(name, path);
	if (r)
		report("tree \"%s\", group \"%s\": %s: this process is not counted there", name,
		       path, strerror(-r));
}

uint64_t attach_limit(void)
{
	uint64_t limit =
		atomic_load_explicit(&counter_row(ROOT_COUNTER)->max, memory_order_relaxed);
	uint32_t group = is_attached ? own_group : 0;

	for (unsigned int level = 0; group && level <= SEGMENT_MAX_DEPTH; level++) {
		const struct shared_group *row = segment_group(&own, group);

		/* relaxed: a limit that is changed meanwhile is the old one or the new one. */
		limit = min(limit, (uint64_t)atomic_load_explicit(&row->counter.max,
								  memory_order_relaxed));
		group = tree_parent(&own, group);
	}
	return limit;
}

int attach_before_fork(void)
{
	return is_attached ? child_charge_copy(&own) : 0;
}

void attach_fork_made(pid_t pid)
{
	if (is_attached)
		child_made(&own, pid);
}

void attach_fork_failed(void)
{
	if (is_attached)
		child_forget(&own);
}
