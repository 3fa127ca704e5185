/* SPDX-License-Identifier: MIT */
/*
 * The public calls for shared trees: check arguments, recover what the dead held, delegate.
 *
 * A tree that is open has a row of its own among the processes, which charges nothing: it is what
 * the tree's lock and a recovery know this process by.
 */
#include "umemcg-tree.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/init.h"
#include "base/system.h"
#include "reclaim/limit.h"
#include "shared/climb.h"
#include "shared/death.h"
#include "shared/file.h"
#include "shared/control_files.h"
#include "shared/largest.h"
#include "shared/recovery.h"
#include "shared/relief.h"
#include "shared/ring.h"
#include "shared/segment.h"
#include "shared/slot.h"
#include "shared/supervise.h"
#include "shared/thread.h"
#include "shared/tree.h"

struct umemcg_tree {
	struct segment segment;
	pid_t pid;              /* who opened it: not a child that was forked since */
	unsigned int nr_visits; /* walks under way, which recovered when they began */
	uint32_t refusing;      /* group that refused the last charge; 0: a process's own limit */
};

/* ---- opening ---- */

/* Our row, live and in the tree that the name leads to; -EAGAIN: that has changed. */
static int claim_own(struct segment *segment)
{
	int r = slot_claim(segment, 0, getpid(), PROCESS_LOOKS, &segment->process);

	if (r)
		return r;
	slot_set_live(segment, segment->process);
	if (segment_is_current(segment))
		return 0;
	slot_free(segment, segment->process);
	return -EAGAIN;
}

static int open_segment(struct segment *segment, const char *name, bool creates)
{
	int r;

	/* Each round means that somebody else has removed one. */
	do {
		r = segment_open(segment, name, creates);
		if (r)
			return r;
		r = claim_own(segment);
		if (r)
			segment_close(segment);
	} while (r == -EAGAIN);
	return r;
}

int umemcg_tree_open(const char *name, unsigned int flags, struct umemcg_tree **ret_tree)
{
	struct umemcg_tree *tree;
	int r;

	if (!name || !ret_tree || flags & ~(unsigned int)UMEMCG_TREE_CREATE)
		return -EINVAL;
	library_init();
	/* Not the heap's, and nobody's charge. */
	tree = system_mmap(NULL, sizeof(*tree), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	if (tree == MAP_FAILED)
		return -ENOMEM;
	r = open_segment(&tree->segment, name, flags & UMEMCG_TREE_CREATE);
	if (r) {
		system_munmap(tree, sizeof(*tree));
		return r;
	}
	tree->pid = getpid();
	/* Somebody stopped in flight holds that up; what is read then still has the dead in it. */
	recovery_run(&tree->segment, false);
	*ret_tree = tree;
	return 0;
}

void umemcg_tree_close(struct umemcg_tree *tree)
{
	if (!tree)
		return;
	if (tree->pid == getpid()) {
		thread_free_all(&tree->segment, tree->segment.process);
		slot_free(&tree->segment, tree->segment.process);
	}
	segment_close(&tree->segment);
	system_munmap(tree, sizeof(*tree));
}

int umemcg_tree_unlink(const char *name)
{
	return segment_unlink(name);
}

int umemcg_tree_list(int (*visit)(const char *name, void *arg), void *arg)
{
	return visit ? segment_list(visit, arg) : -EINVAL;
}

/* ---- groups ---- */

/* Before anything is read. A walk has done so for its visits, else it would cost the square. */
static struct segment *recovered(struct umemcg_tree *tree)
{
	if (!tree->nr_visits)
		recovery_run(&tree->segment, false);
	return &tree->segment;
}

int umemcg_tree_create(struct umemcg_tree *tree, const char *path)
{
	uint32_t group;

	if (!tree || !path)
		return -EINVAL;
	return tree_create(recovered(tree), path, &group);
}

int umemcg_tree_destroy(struct umemcg_tree *tree, const char *path)
{
	uint32_t group;

	if (!tree || !path)
		return -EINVAL;
	group = tree_find(recovered(tree), path);
	return group ? tree_destroy(&tree->segment, group) : -ENOENT;
}

int umemcg_tree_hold(struct umemcg_tree *tree, const char *path)
{
	struct segment *segment;
	uint32_t group;

	if (!tree)
		return -EINVAL;
	segment = recovered(tree);
	if (!path) {
		/* seq_cst: as tree_hold() sets it. */
		atomic_store_explicit(&segment_process(segment, segment->process)->group, 0,
				      memory_order_seq_cst);
		return 0;
	}
	group = tree_find(segment, path);
	return group ? tree_hold(segment, segment->process, group) : -ENOENT;
}

const char *umemcg_tree_directory(void)
{
	return file_directory();
}

int umemcg_tree_walk(struct umemcg_tree *tree, const char *top,
		     int (*visit)(const char *path, void *arg), void *arg)
{
	char first[UMEMCG_PATH_MAX], path[UMEMCG_PATH_MAX];
	uint32_t group, nr = 0;
	int r = 0;

	if (!tree || !top || !visit)
		return -EINVAL;
	group = tree_find(recovered(tree), top);
	if (!group || tree_path(&tree->segment, group, first, sizeof(first)) >= sizeof(first))
		return -ENOENT;
	strcpy(path, first);
	tree->nr_visits++;
	/* Rows that others change under the walk could lead it on for ever. */
	while (group && !r && nr++ < tree->segment.nr_rows[REGION_GROUPS]) {
		r = visit(path, arg);
		group = tree_next(&tree->segment, group, first, path);
	}
	tree->nr_visits--;
	return r;
}

int umemcg_tree_read(struct umemcg_tree *tree, const char *path, const char *file, char *buffer,
		     size_t size)
{
	uint32_t group;

	if (!tree || !path || !file || (!buffer && size))
		return -EINVAL;
	group = tree_find(recovered(tree), path);
	return group ? control_files_read(&tree->segment, group, file, buffer, size) : -ENOENT;
}

int umemcg_tree_write(struct umemcg_tree *tree, const char *path, const char *file,
		      const char *value)
{
	uint32_t group;

	if (!tree || !path || !file || !value)
		return -EINVAL;
	group = tree_find(recovered(tree), path);
	return group ? control_files_write(&tree->segment, group, file, value) : -ENOENT;
}

const char *umemcg_tree_control_file(unsigned int index)
{
	return control_files_name(index);
}

int umemcg_tree_get_stat(struct umemcg_tree *tree, const char *path,
			 struct umemcg_tree_stat *ret_stat)
{
	uint32_t group;

	if (!tree || !path || !ret_stat)
		return -EINVAL;
	group = tree_find(recovered(tree), path);
	if (!group)
		return -ENOENT;
	control_files_get_stat(&tree->segment, group, ret_stat);
	return 0;
}

/* ---- processes ---- */

#define read_relaxed(word) atomic_load_explicit(&(word), memory_order_relaxed)

static void describe(const struct segment *segment, uint32_t row, struct umemcg_process *ret)
{
	const struct shared_process *process = segment_process(segment, row);
	uint32_t flags = read_relaxed(process->flags);

	*ret = (struct umemcg_process){
		.pid = slot_pid(segment, row),
		.flags = (flags & PROCESS_SUPERVISED ? UMEMCG_PROCESS_SUPERVISED : 0) |
			 (flags & PROCESS_STALLED ? UMEMCG_PROCESS_STALLED : 0),
		.nr_bytes = climb_own(segment, row),
		.nr_bytes_image = climb_image_bytes(segment, row),
		.nr_bytes_peak = read_relaxed(process->peak),
		.nr_bytes_max = read_relaxed(process->max),
		.nr_bytes_stack = read_relaxed(process->nr_bytes_stack),
		.nr_bytes_anon = read_relaxed(process->nr_bytes_anon),
	};
	largest_command(segment, row, ret->command);
	tree_path(segment, read_relaxed(process->group), ret->group, sizeof(ret->group));
}

int umemcg_tree_walk_processes(struct umemcg_tree *tree, const char *top,
			       int (*visit)(const struct umemcg_process *process, void *arg),
			       void *arg)
{
	struct umemcg_process described;
	struct segment *segment;
	uint32_t group;
	int r = 0;

	if (!tree || !top || !visit)
		return -EINVAL;
	segment = recovered(tree);
	group = tree_find(segment, top);
	if (!group)
		return -ENOENT;
	tree->nr_visits++;
	for_each_process_row(segment, row)
	{
		const struct shared_process *process = segment_process(segment, row);

		if (!slot_is_leaf(segment, row) ||
		    !tree_is_below(segment, read_relaxed(process->group), group))
			continue;
		describe(segment, row, &described);
		r = visit(&described, arg);
		if (r)
			break;
	}
	tree->nr_visits--;
	return r;
}

int umemcg_tree_wait(struct umemcg_tree *tree, uint64_t sequence, int timeout_ms,
		     struct umemcg_report *ret_report)
{
	if (!tree || !ret_report)
		return -EINVAL;
	return ring_wait(&tree->segment, sequence, timeout_ms, ret_report);
}

/* ---- accounting from outside ---- */

int umemcg_tree_claim(struct umemcg_tree *tree, const char *group, pid_t pid, uint64_t max,
		      uint32_t *ret_leaf)
{
	struct segment *segment;
	uint32_t row, at;
	int r;

	if (!tree || !group || !ret_leaf)
		return -EINVAL;
	if (pid <= 0)
		return -ESRCH;
	segment = recovered(tree);
	at = tree_find(segment, group);
	if (!at)
		return -ENOENT;
	if (death_of_pid(pid))
		return -ESRCH;
	r = supervise_claim(segment, at, pid, max, &row);
	if (r)
		return r;
	*ret_leaf = supervise_leaf(segment, row);
	return 0;
}

bool umemcg_tree_is_accounted(struct umemcg_tree *tree, pid_t pid)
{
	return tree && pid > 0 && slot_find(&tree->segment, pid);
}

int umemcg_tree_charge(struct umemcg_tree *tree, uint32_t leaf, uint64_t nr_bytes)
{
	uint32_t row = tree ? supervise_row(&tree->segment, leaf) : 0;

	return row ? supervise_charge(&tree->segment, row, nr_bytes, &tree->refusing) : -EINVAL;
}

int umemcg_tree_relieve(struct umemcg_tree *tree, uint32_t leaf, uint64_t nr_bytes)
{
	uint32_t row = tree ? supervise_row(&tree->segment, leaf) : 0;

	if (!row)
		return -EINVAL;
	return relief_for(&tree->segment, row, tree->refusing, nr_bytes, limit_deadline())
		       ? 0
		       : -ENOMEM;
}

void umemcg_tree_tell_refused(struct umemcg_tree *tree, uint32_t leaf, uint64_t nr_bytes)
{
	uint32_t row = tree ? supervise_row(&tree->segment, leaf) : 0;

	if (row)
		ring_refused(&tree->segment, row, tree->refusing, nr_bytes);
}

void umemcg_tree_tell_uncounted(struct umemcg_tree *tree, uint32_t leaf, uint64_t nr_bytes)
{
	uint32_t row = tree ? supervise_row(&tree->segment, leaf) : 0;

	if (row)
		ring_text(&tree->segment, row, UMEMCG_REPORT_UNCOUNTED, nr_bytes, "");
}

void umemcg_tree_uncharge(struct umemcg_tree *tree, uint32_t leaf, uint64_t nr_bytes)
{
	uint32_t row = tree ? supervise_row(&tree->segment, leaf) : 0;

	if (row)
		supervise_uncharge(&tree->segment, row, nr_bytes);
}

void umemcg_tree_release(struct umemcg_tree *tree, uint32_t leaf)
{
	uint32_t row = tree ? supervise_row(&tree->segment, leaf) : 0;

	if (row)
		supervise_release(&tree->segment, row);
}
