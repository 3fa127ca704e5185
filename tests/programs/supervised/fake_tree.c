/* SPDX-License-Identifier: MIT */
/*
 * A tree of one group, in this process alone, behind the calls of umemcg-tree.h that the supervisor
 * makes. What a process held that has died is taken back before anything is refused or read.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tree.h"

#define NR_LEAVES 1024

struct leaf {
	pid_t pid; /* 0: free */
	int pidfd;
	bool is_own;
	uint64_t nr_bytes, nr_bytes_max;
};

struct umemcg_tree {
	pthread_mutex_t lock;
	uint64_t nr_bytes_current, nr_bytes_peak, nr_bytes_max;
	uint32_t nr_refused;
	struct leaf leaves[NR_LEAVES];
};

static void leaf_free(struct umemcg_tree *tree, struct leaf *leaf)
{
	tree->nr_bytes_current -= leaf->nr_bytes;
	close(leaf->pidfd);
	*leaf = (struct leaf){ 0 };
}

static void recover(struct umemcg_tree *tree)
{
	for (int i = 0; i < NR_LEAVES; i++) {
		struct pollfd pollfd = { .fd = tree->leaves[i].pidfd, .events = POLLIN };

		if (tree->leaves[i].pid && poll(&pollfd, 1, 0) == 1)
			leaf_free(tree, &tree->leaves[i]);
	}
}

static struct leaf *leaf_find(struct umemcg_tree *tree, pid_t pid)
{
	for (int i = 0; i < NR_LEAVES; i++)
		if (tree->leaves[i].pid == pid)
			return &tree->leaves[i];
	return NULL;
}

struct umemcg_tree *tree_create(uint64_t nr_bytes_max, const char **ret_group)
{
	struct umemcg_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		abort();
	pthread_mutex_init(&tree->lock, NULL);
	tree->nr_bytes_max = nr_bytes_max;
	*ret_group = "/group";
	return tree;
}

void tree_destroy(struct umemcg_tree *tree)
{
	for (int i = 0; i < NR_LEAVES; i++)
		if (tree->leaves[i].pid)
			leaf_free(tree, &tree->leaves[i]);
	free(tree);
}

static int claim(struct umemcg_tree *tree, pid_t pid, uint64_t max, bool is_own, uint32_t *ret_leaf)
{
	struct leaf *leaf;
	int pidfd;

	recover(tree);
	leaf = leaf_find(tree, pid);
	if (leaf && !is_own)
		return -EEXIST;
	if (leaf)
		leaf_free(tree, leaf);
	leaf = leaf_find(tree, 0);
	if (!leaf)
		return -ENOSPC;
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		return -errno;
	*leaf = (struct leaf){ .pid = pid, .pidfd = pidfd, .is_own = is_own, .nr_bytes_max = max };
	*ret_leaf = (uint32_t)(leaf - tree->leaves);
	return 0;
}

int umemcg_tree_claim(struct umemcg_tree *tree, const char *group, pid_t pid, uint64_t max,
		      uint32_t *ret_leaf)
{
	int r;

	(void)group;
	pthread_mutex_lock(&tree->lock);
	r = claim(tree, pid, max, false, ret_leaf);
	pthread_mutex_unlock(&tree->lock);
	return r;
}

void tree_join(struct umemcg_tree *tree, pid_t pid)
{
	uint32_t leaf;

	pthread_mutex_lock(&tree->lock);
	if (claim(tree, pid, UMEMCG_MAX, true, &leaf))
		abort();
	pthread_mutex_unlock(&tree->lock);
}

bool umemcg_tree_is_accounted(struct umemcg_tree *tree, pid_t pid)
{
	bool is_accounted;

	pthread_mutex_lock(&tree->lock);
	recover(tree);
	is_accounted = leaf_find(tree, pid) != NULL;
	pthread_mutex_unlock(&tree->lock);
	return is_accounted;
}

static bool fits(const struct umemcg_tree *tree, const struct leaf *leaf, uint64_t nr_bytes)
{
	return nr_bytes <= tree->nr_bytes_max - tree->nr_bytes_current &&
	       nr_bytes <= leaf->nr_bytes_max - leaf->nr_bytes;
}

static int charge(struct umemcg_tree *tree, struct leaf *leaf, uint64_t nr_bytes)
{
	if (!leaf->pid || leaf->is_own)
		return -ESRCH;
	if (!fits(tree, leaf, nr_bytes))
		recover(tree);
	if (!fits(tree, leaf, nr_bytes))
		return -ENOMEM;
	leaf->nr_bytes += nr_bytes;
	tree->nr_bytes_current += nr_bytes;
	if (tree->nr_bytes_current > tree->nr_bytes_peak)
		tree->nr_bytes_peak = tree->nr_bytes_current;
	return 0;
}

int umemcg_tree_charge(struct umemcg_tree *tree, uint32_t leaf, uint64_t nr_bytes)
{
	int r;

	pthread_mutex_lock(&tree->lock);
	r = charge(tree, &tree->leaves[leaf], nr_bytes);
	pthread_mutex_unlock(&tree->lock);
	return r;
}

int umemcg_tree_relieve(struct umemcg_tree *tree, uint32_t leaf, uint64_t nr_bytes)
{
	(void)tree;
	(void)leaf;
	(void)nr_bytes;
	return -ENOMEM;
}

void umemcg_tree_tell_refused(struct umemcg_tree *tree, uint32_t leaf, uint64_t nr_bytes)
{
	(void)leaf;
	(void)nr_bytes;
	pthread_mutex_lock(&tree->lock);
	tree->nr_refused++;
	pthread_mutex_unlock(&tree->lock);
}

void umemcg_tree_tell_uncounted(struct umemcg_tree *tree, uint32_t leaf, uint64_t nr_bytes)
{
	(void)tree;
	(void)leaf;
	(void)nr_bytes;
}

void umemcg_tree_uncharge(struct umemcg_tree *tree, uint32_t leaf, uint64_t nr_bytes)
{
	pthread_mutex_lock(&tree->lock);
	/* More than was charged is a fault of the supervisor. */
	if (nr_bytes > tree->leaves[leaf].nr_bytes)
		abort();
	tree->leaves[leaf].nr_bytes -= nr_bytes;
	tree->nr_bytes_current -= nr_bytes;
	pthread_mutex_unlock(&tree->lock);
}

void umemcg_tree_release(struct umemcg_tree *tree, uint32_t leaf)
{
	pthread_mutex_lock(&tree->lock);
	if (tree->leaves[leaf].pid && !tree->leaves[leaf].is_own)
		leaf_free(tree, &tree->leaves[leaf]);
	pthread_mutex_unlock(&tree->lock);
}

int umemcg_tree_get_stat(struct umemcg_tree *tree, const char *path,
			 struct umemcg_tree_stat *ret_stat)
{
	(void)path;
	memset(ret_stat, 0, sizeof(*ret_stat));
	pthread_mutex_lock(&tree->lock);
	recover(tree);
	ret_stat->nr_bytes_current = tree->nr_bytes_current;
	ret_stat->nr_bytes_peak = tree->nr_bytes_peak;
	ret_stat->nr_bytes_max = tree->nr_bytes_max;
	ret_stat->nr_refused = tree->nr_refused;
	for (int i = 0; i < NR_LEAVES; i++)
		ret_stat->nr_processes += tree->leaves[i].pid != 0;
	pthread_mutex_unlock(&tree->lock);
	return 0;
}
