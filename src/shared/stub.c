/* SPDX-License-Identifier: MIT */
/* Shared trees where the controller is not compiled in: there are none. */
#include "umemcg-tree.h"

#include <errno.h>

int umemcg_tree_open(const char *name, unsigned int flags, struct umemcg_tree **ret_tree)
{
	(void)name;
	(void)flags;
	(void)ret_tree;
	return -EOPNOTSUPP;
}

void umemcg_tree_close(struct umemcg_tree *tree)
{
	(void)tree;
}

int umemcg_tree_unlink(const char *name)
{
	(void)name;
	return -EOPNOTSUPP;
}

int umemcg_tree_list(int (*visit)(const char *name, void *arg), void *arg)
{
	(void)visit;
	(void)arg;
	return -EOPNOTSUPP;
}

int umemcg_tree_create(struct umemcg_tree *tree, const char *path)
{
	(void)tree;
	(void)path;
	return -EOPNOTSUPP;
}

int umemcg_tree_destroy(struct umemcg_tree *tree, const char *path)
{
	(void)tree;
	(void)path;
	return -EOPNOTSUPP;
}

int umemcg_tree_hold(struct umemcg_tree *tree, const char *path)
{
	(void)tree;
	(void)path;
	return -EOPNOTSUPP;
}

const char *umemcg_tree_directory(void)
{
	return "/dev/shm";
}

int umemcg_tree_walk(struct umemcg_tree *tree, const char *top,
		     int (*visit)(const char *path, void *arg), void *arg)
{
	(void)tree;
	(void)top;
	(void)visit;
	(void)arg;
	return -EOPNOTSUPP;
}

int umemcg_tree_read(struct umemcg_tree *tree, const char *path, const char *file, char *buffer,
		     size_t size)
{
	(void)tree;
	(void)path;
	(void)file;
	(void)buffer;
	(void)size;
	return -EOPNOTSUPP;
}

int umemcg_tree_write(struct umemcg_tree *tree, const char *path, const char *file,
		      const char *value)
{
	(void)tree;
	(void)path;
	(void)file;
	(void)value;
	return -EOPNOTSUPP;
}

const char *umemcg_tree_control_file(unsigned int index)
{
	(void)index;
	return NULL;
}

int umemcg_tree_get_stat(struct umemcg_tree *tree, const char *path,
			 struct umemcg_tree_stat *ret_stat)
{
	(void)tree;
	(void)path;
	(void)ret_stat;
	return -EOPNOTSUPP;
}

int umemcg_tree_walk_processes(struct umemcg_tree *tree, const char *top,
			       int (*visit)(const struct umemcg_process *process, void *arg),
			       void *arg)
{
	(void)tree;
	(void)top;
	(void)visit;
	(void)arg;
	return -EOPNOTSUPP;
}

int umemcg_tree_wait(struct umemcg_tree *tree, uint64_t sequence, int timeout_ms,
		     struct umemcg_report *ret_report)
{
	(void)tree;
	(void)sequence;
	(void)timeout_ms;
	(void)ret_report;
	return -EOPNOTSUPP;
}

int umemcg_tree_claim(struct umemcg_tree *tree, const char *group, pid_t pid, uint64_t max,
		      uint32_t *ret_leaf)
{
	(void)tree;
	(void)group;
	(void)pid;
	(void)max;
	(void)ret_leaf;
	return -EOPNOTSUPP;
}

bool umemcg_tree_is_accounted(struct umemcg_tree *tree, pid_t pid)
{
	(void)tree;
	(void)pid;
	return false;
}

int umemcg_tree_charge(struct umemcg_tree *tree, uint32_t leaf, uint64_t nr_bytes)
{
	(void)tree;
	(void)leaf;
	(void)nr_bytes;
	return -EOPNOTSUPP;
}

int umemcg_tree_relieve(struct umemcg_tree *tree, uint32_t leaf, uint64_t nr_bytes)
{
	(void)tree;
	(void)leaf;
	(void)nr_bytes;
	return -EOPNOTSUPP;
}

void umemcg_tree_tell_refused(struct umemcg_tree *tree, uint32_t leaf, uint64_t nr_bytes)
{
	(void)tree;
	(void)leaf;
	(void)nr_bytes;
}

void umemcg_tree_tell_uncounted(struct umemcg_tree *tree, uint32_t leaf, uint64_t nr_bytes)
{
	(void)tree;
	(void)leaf;
	(void)nr_bytes;
}

void umemcg_tree_uncharge(struct umemcg_tree *tree, uint32_t leaf, uint64_t nr_bytes)
{
	(void)tree;
	(void)leaf;
	(void)nr_bytes;
}

void umemcg_tree_release(struct umemcg_tree *tree, uint32_t leaf)
{
	(void)tree;
	(void)leaf;
}
