/* SPDX-License-Identifier: MIT */
#include "shared/tree.h"

#include <errno.h>
#include <string.h>

#include "group/name.h"
#include "shared/slot.h"
#include "shared/tree_lock.h"

static enum row_state state_of(const struct shared_group *group)
{
	/* Acquire pairs with set_state(): what the row holds was written before. */
	return atomic_load_explicit(&group->state, memory_order_acquire);
}

static void set_state(const struct segment *segment, uint32_t group, enum row_state state)
{
	struct shared_group *row = segment_group(segment, group);

	/* Seq_cst: a release, and part of the order in which tree_join() and removals stand. */
	if (row)
		atomic_store_explicit(&row->state, state, memory_order_seq_cst);
}

/* The row of a group that charges may climb through: it may yet turn out to be in use. */
static struct shared_group *standing(const struct segment *segment, uint32_t group)
{
	struct shared_group *row = group < segment_nr_used(segment, REGION_GROUPS)
					   ? segment_group(segment, group)
					   : NULL;
	enum row_state state = row ? state_of(row) : ROW_FREE;

	return state == ROW_LIVE || state == ROW_DYING ? row : NULL;
}

bool tree_is_live(const struct segment *segment, uint32_t group)
{
	const struct shared_group *row = standing(segment, group);

	return row && state_of(row) == ROW_LIVE;
}

/* Relaxed: it never changes while the group lives. */
static uint32_t parent_of(const struct shared_group *row)
{
	return atomic_load_explicit(&row->counter.parent, memory_order_relaxed);
}

uint32_t tree_parent(const struct segment *segment, uint32_t group)
{
	const struct shared_group *row = standing(segment, group);
	uint32_t parent = row && group != SHARED_ROOT ? parent_of(row) : 0;

	return standing(segment, parent) ? parent : 0;
}

bool tree_is_below(const struct segment *segment, uint32_t group, uint32_t top)
{
	for (unsigned int level = 0; group && level < SEGMENT_MAX_DEPTH; level++) {
		if (group == top)
			return true;
		group = tree_parent(segment, group);
	}
	return false;
}

/* ---- names ---- */

size_t tree_copy_name(const struct segment *segment, uint32_t group, char name[UMEMCG_NAME_MAX + 1])
{
	const struct group_place *place = segment_place(segment, group);
	size_t length = 0;

	if (place && group < segment_nr_used(segment, REGION_PLACES))
		for (; length < UMEMCG_NAME_MAX && place->name[length]; length++)
			name[length] = place->name[length];
	name[length] = '\0';
	return length;
}

static uint32_t find_child(const struct segment *segment, uint32_t parent, const char *name,
			   size_t length)
{
	char its[UMEMCG_NAME_MAX + 1];

	for_each_group_row(segment, group)
	{
		if (group != SHARED_ROOT && tree_is_live(segment, group) &&
		    parent_of(segment_group(segment, group)) == parent &&
		    tree_copy_name(segment, group, its) == length && !memcmp(its, name, length))
			return group;
	}
	return 0;
}

/* Of the path's first @nr_bytes. */
static uint32_t find(const struct segment *segment, const char *path, size_t nr_bytes)
{
	const char *end = path + nr_bytes;
	uint32_t group = tree_is_live(segment, SHARED_ROOT) ? SHARED_ROOT : 0;

	if (!nr_bytes)
		return 0;
	path += *path == '/';
	while (group && path < end) {
		const char *slash = memchr(path, '/', (size_t)(end - path));
		size_t length = (size_t)((slash ? slash : end) - path);

		group = length ? find_child(segment, group, path, length) : 0;
		path += length + (slash != NULL);
	}
	return group;
}

uint32_t tree_find(const struct segment *segment, const char *path)
{
	return find(segment, path, strnlen(path, UMEMCG_PATH_MAX));
}

/* ---- making and removing ---- */

static bool is_busy(const struct segment *segment, uint32_t group)
{
	for_each_group_row(segment, other)
	{
		if (other != group && standing(segment, other) &&
		    parent_of(segment_group(segment, other)) == group)
			return true;
	}
	for_each_process_row(segment, row)
	{
		const struct shared_process *process = segment_process(segment, row);

		/* Seq_cst against tree_join(). */
		if (slot_state(process) != PROCESS_FREE &&
		    atomic_load_explicit(&process->group, memory_order_seq_cst) == group)
			return true;
	}
	for_each_row(segment, REGION_IMAGES, row)
	{
		const struct shared_image *image = segment_image(segment, row);

		/* Acquire pairs with who made it. */
		if (atomic_load_explicit(&image->state, memory_order_acquire) != ROW_FREE &&
		    atomic_load_explicit(&image->group, memory_order_relaxed) == group)
			return true;
	}
	return false;
}

static int remove_if_empty(struct segment *segment, uint32_t group)
{
	set_state(segment, group, ROW_DYING);
	if (is_busy(segment, group)) {
		set_state(segment, group, ROW_LIVE);
		return -EBUSY;
	}
	set_state(segment, group, ROW_FREE);
	return 0;
}

void tree_mend(struct segment *segment)
{
	for_each_group_row(segment, group)
	{
		enum row_state state = state_of(segment_group(segment, group));

		if (group == SHARED_ROOT || state == ROW_FREE || state == ROW_LIVE)
			continue;
		if (state == ROW_DYING)
			remove_if_empty(segment, group);
		else
			set_state(segment, group, ROW_FREE);
	}
}

void tree_count_process(struct segment *segment, uint32_t group)
{
	for (unsigned int level = 0; group && level < SEGMENT_MAX_DEPTH; level++) {
		/* For show. */
		atomic_fetch_add_explicit(&segment_group(segment, group)->nr_processes_ever, 1,
					  memory_order_relaxed);
		group = tree_parent(segment, group);
	}
}

int tree_hold(struct segment *segment, uint32_t process, uint32_t group)
{
	struct shared_process *row = segment_process(segment, process);

	if (!row || !tree_is_live(segment, group))
		return -ENOENT;
	/* Seq_cst, both: a removal sets its state and then looks at processes. */
	atomic_store_explicit(&row->group, group, memory_order_seq_cst);
	if (atomic_load_explicit(&segment_group(segment, group)->state, memory_order_seq_cst) !=
	    ROW_LIVE) {
		atomic_store_explicit(&row->group, 0, memory_order_seq_cst);
		return -ENOENT;
	}
	return 0;
}

int tree_join(struct segment *segment, uint32_t process, uint32_t group)
{
	int r = tree_hold(segment, process, group);

	if (!r)
		tree_count_process(segment, group);
	return r;
}

static unsigned int depth_of(const struct segment *segment, uint32_t group)
{
	unsigned int depth = 0;

	while (depth < SEGMENT_MAX_DEPTH && (group = tree_parent(segment, group)))
		depth++;
	return depth;
}

/* Relaxed throughout: nobody knows the group before set_state(). */
#define reset(field, value) atomic_store_explicit(&(field), value, memory_order_relaxed)

static void fill_in(struct segment *segment, uint32_t group, uint32_t parent, const char *name)
{
	struct shared_group *row = segment_group(segment, group);

	strcpy(segment_place(segment, group)->name, name);
	reset(row->counter.parent, parent);
	reset(row->counter.depth, (uint16_t)(depth_of(segment, parent) + 1));
	reset(row->counter.usage, 0);
	reset(row->counter.max, COUNTER_MAX);
	reset(row->counter.peak, 0);
	/* `frozen` stays: 0, or held by one who froze the group that had the row, and thaws it. */
	atomic_fetch_add_explicit(&row->counter.nr_uncharges, 1, memory_order_relaxed);
	reset(row->nr_processes_ever, 0);
	reset(row->reserve, 0);
	reset(row->copies_on_fork, 0);
	reset(row->high, COUNTER_MAX);
	reset(row->oom_policy, SHARED_POLICY_FAIL);
	reset(row->oom_group, 0);
	reset(row->min, 0);
	reset(row->low, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(row->refused_size); i++) {
		reset(row->refused_size[i], 0);
		reset(row->refused_at[i], 0);
	}
	row->average = (struct average){ 0 };
	reset(row->averaging, 0);
	for (unsigned int i = 0; i < NR_STALL_KINDS; i++) {
		reset(row->stalls[i].word, 0);
		reset(row->stalls[i].nr_us, 0);
	}
	for (unsigned int i = 0; i < NR_SHARED_EVENTS; i++) {
		reset(row->events_local[i], 0);
		reset(row->events[i], 0);
	}
}

static int make_row(struct segment *segment, uint32_t parent, const char *name, uint32_t *ret_group)
{
	struct shared_group *row;

	for (uint32_t group = SHARED_ROOT + 1; (row = segment_group(segment, group)); group++) {
		int r = segment_commit_row(segment, REGION_GROUPS, group);

		if (!r)
			r = segment_commit_row(segment, REGION_PLACES, group);
		if (r)
			return r;
		if (state_of(row) != ROW_FREE)
			continue;
		set_state(segment, group, ROW_MAKING);
		fill_in(segment, group, parent, name);
		set_state(segment, group, ROW_LIVE);
		*ret_group = group;
		return 0;
	}
	return -ENOSPC;
}

static int create_locked(struct segment *segment, const char *path, const char *name,
			 uint32_t *ret_group)
{
	size_t nr_bytes = (size_t)(name - path);
	uint32_t parent;

	/* Without the slash in front of the name. */
	parent = nr_bytes ? find(segment, path, nr_bytes - 1) : tree_find(segment, "/");
	if (!parent)
		return -ENOENT;
	if (find_child(segment, parent, name, strlen(name)))
		return -EEXIST;
	if (depth_of(segment, parent) + 2 > SEGMENT_MAX_DEPTH)
		return -EAGAIN;
	return make_row(segment, parent, name, ret_group);
}

int tree_create(struct segment *segment, const char *path, uint32_t *ret_group)
{
	const char *slash, *name;
	int r;

	if (!strcmp(path, "/"))
		return -EEXIST;
	if (strstr(path, "//"))
		return -EINVAL;
	path += *path == '/';
	if (strlen(path) + 1 >= UMEMCG_PATH_MAX)
		return -ENAMETOOLONG;
	slash = strrchr(path, '/');
	name = slash ? slash + 1 : path;
	r = name_check(name);
	if (!r)
		r = tree_lock_take(segment);
	if (r)
		return r;
	r = create_locked(segment, path, name, ret_group);
	tree_lock_give(segment);
	return r;
}

int tree_destroy(struct segment *segment, uint32_t group)
{
	int r;

	if (group == SHARED_ROOT)
		return -EINVAL;
	r = tree_lock_take(segment);
	if (r)
		return r;
	if (!tree_is_live(segment, group))
		r = -ENOENT;
	else if (is_busy(segment, group))
		/* Found without unsettling those who join it meanwhile. */
		r = -EBUSY;
	else
		r = remove_if_empty(segment, group);
	tree_lock_give(segment);
	return r;
}
