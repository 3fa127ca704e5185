/* SPDX-License-Identifier: MIT */
/*
 * Processes with caches give them back when another process of the tree needs memory. The program
 * executes itself for each, since one becomes a leaf when the library is made ready.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "runtime_dir.h"
#include "umemcg-tree.h"

#define NAME        "serve"
#define BLOCK_BYTES ((size_t)64 << 10)
#define MIB         ((uint64_t)1 << 20)

static struct umemcg_tree *tree;

/* ---- processes ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static enum umemcg_lru_status evict(void *object, void *arg)
{
	(void)arg;
	/* As a program's would: the thread that allocates may be in the cache. */
	if (pthread_mutex_trylock(&lock))
		return UMEMCG_LRU_SKIP;
	umemcg_free(object);
	pthread_mutex_unlock(&lock);
	return UMEMCG_LRU_REMOVED;
}

/* Whole blocks that can be had anew. */
static int fill_cache(unsigned int nr_blocks)
{
	struct umemcg_lru_entry *entry;
	struct umemcg_lru *lru;

	if (umemcg_lru_create(evict, NULL, &lru))
		return 1;
	for (unsigned int i = 0; i < nr_blocks; i++) {
		void *block = umemcg_malloc(BLOCK_BYTES);

		if (!block || umemcg_lru_add(lru, NULL, block, BLOCK_BYTES, &entry))
			return 1;
	}
	return 0;
}

/* Answers each byte: 'a' asks for a block, and says whether there was one. */
static int be_leaf(unsigned int nr_blocks)
{
	char byte = fill_cache(nr_blocks) ? 'n' : 'y';

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (write(STDOUT_FILENO, &byte, 1) == 1 && read(STDIN_FILENO, &byte, 1) == 1)
		byte = umemcg_malloc(BLOCK_BYTES) ? 'y' : 'n';
	return 0;
}

struct leaf {
	pid_t pid;
	int to, from;
};

static char answer_of(const struct leaf *leaf)
{
	char byte = 0;

	assert_int_equal(read(leaf->from, &byte, 1), 1);
	return byte;
}

static struct leaf start(const char *group, const char *nr_blocks)
{
	int to[2], from[2];
	struct leaf leaf;

	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	leaf.pid = fork();
	if (!leaf.pid) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		setenv("UMEMCG_TREE", NAME, 1);
		setenv("UMEMCG_GROUP", group, 1);
		execl("/proc/self/exe", nr_blocks, NULL);
		_exit(127);
	}
	assert_true(leaf.pid > 0);
	close(to[0]);
	close(from[1]);
	leaf.to = to[1];
	leaf.from = from[0];
	assert_int_equal(answer_of(&leaf), 'y');
	return leaf;
}

static bool gets_block(const struct leaf *leaf)
{
	assert_int_equal(write(leaf->to, "a", 1), 1);
	return answer_of(leaf) == 'y';
}

static void end(const struct leaf *leaf)
{
	close(leaf->to);
	close(leaf->from);
	waitpid(leaf->pid, NULL, 0);
}

static uint64_t current(const char *path)
{
	struct umemcg_tree_stat stat;

	assert_int_equal(umemcg_tree_get_stat(tree, path, &stat), 0);
	return stat.nr_bytes_current;
}

/* ---- the test ---- */

static int open_tree(void **state)
{
	(void)state;
	return umemcg_tree_open(NAME, UMEMCG_TREE_CREATE, &tree) ||
	       umemcg_tree_create(tree, "/a") || umemcg_tree_create(tree, "/a/cache") ||
	       umemcg_tree_write(tree, "/a", "memory.max", "16M");
}

static int close_tree(void **state)
{
	(void)state;
	umemcg_tree_close(tree);
	return umemcg_tree_unlink(NAME);
}

/* 8 of 16 MiB are another's cache, and 14 are asked for. */
static void a_cache_makes_room_for_another_process(void **state)
{
	struct leaf cache = start("/a/cache", "128"), asking = start("/a", "0");
	unsigned int nr_blocks = 0;

	(void)state;
	assert_in_range(current("/a/cache"), 8 * MIB, 9 * MIB);
	/* Whoever answers late is asked again. */
	while (nr_blocks < 14 * MIB / BLOCK_BYTES)
		nr_blocks += gets_block(&asking);
	assert_in_range(current("/a/cache"), 0, 2 * MIB);
	assert_in_range(current("/a"), 14 * MIB, 16 * MIB);
	end(&asking);
	end(&cache);
	assert_int_equal(current("/a"), 0);
}

static void a_cache_makes_room_for_who_is_accounted_from_outside(void **state)
{
	struct leaf cache = start("/a/cache", "128");
	uint32_t leaf;
	pid_t pid;

	(void)state;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	assert_int_equal(umemcg_tree_claim(tree, "/a", pid, UMEMCG_MAX, &leaf), 0);
	for (uint64_t nr_bytes = 0; nr_bytes < 14 * MIB; nr_bytes += MIB)
		/* Whoever answers late is asked again. */
		while (umemcg_tree_charge(tree, leaf, MIB))
			umemcg_tree_relieve(tree, leaf, MIB);
	assert_in_range(current("/a/cache"), 0, 2 * MIB);
	assert_in_range(current("/a"), 14 * MIB, 16 * MIB);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	end(&cache);
	assert_int_equal(current("/a"), 0);
}

static void a_protected_cache_makes_none(void **state)
{
	struct leaf cache = start("/a/cache", "128"), asking = start("/a", "0");
	uint64_t held = current("/a/cache");
	unsigned int nr_blocks = 0;

	(void)state;
	assert_int_equal(umemcg_tree_write(tree, "/a/cache", "memory.min", "16M"), 0);
	while (nr_blocks < 14 * MIB / BLOCK_BYTES && gets_block(&asking))
		nr_blocks++;
	assert_in_range(nr_blocks, 6 * MIB / BLOCK_BYTES, 8 * MIB / BLOCK_BYTES);
	/* What its stocks held ahead may be given back, but nothing of the cache. */
	assert_in_range(current("/a/cache"), 8 * MIB, held);
	end(&asking);
	end(&cache);
}

/* The charge fails, and only the first one waits until its time is up. */
static void a_stopped_process_does_not_hold_up_others(void **state)
{
	struct leaf cache = start("/a/cache", "128"), asking = start("/a", "0");
	unsigned int nr_blocks = 0;

	(void)state;
	assert_int_equal(kill(cache.pid, SIGSTOP), 0);
	while (gets_block(&asking))
		nr_blocks++;
	assert_in_range(nr_blocks, 6 * MIB / BLOCK_BYTES, 8 * MIB / BLOCK_BYTES);
	/* More than there is time for, if each waited. */
	for (unsigned int i = 0; i < 2000; i++)
		assert_false(gets_block(&asking));
	/* Once it goes on it gives back what was wanted, and serves again. */
	assert_int_equal(kill(cache.pid, SIGCONT), 0);
	while (!gets_block(&asking))
		continue;
	end(&asking);
	end(&cache);
}

static void what_is_asked_by_the_file_is_given_back(void **state)
{
	struct leaf cache = start("/a/cache", "128");
	uint64_t held = current("/a");
	int r;

	(void)state;
	/* Whoever answers late is asked again. */
	do {
		r = umemcg_tree_write(tree, "/a", "memory.reclaim", "4M");
	} while (r == -EAGAIN && current("/a") > held - 4 * MIB);
	assert_true(current("/a") <= held - 4 * MIB);
	assert_int_equal(umemcg_tree_write(tree, "/a", "memory.reclaim", "64M"), -EAGAIN);
	end(&cache);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_cache_makes_room_for_another_process, open_tree,
						close_tree),
		cmocka_unit_test_setup_teardown(
			a_cache_makes_room_for_who_is_accounted_from_outside, open_tree,
			close_tree),
		cmocka_unit_test_setup_teardown(a_protected_cache_makes_none, open_tree,
						close_tree),
		cmocka_unit_test_setup_teardown(a_stopped_process_does_not_hold_up_others,
						open_tree, close_tree),
		cmocka_unit_test_setup_teardown(what_is_asked_by_the_file_is_given_back, open_tree,
						close_tree),
	};
	int r;

	if (argc == 1 && *argv[0] >= '0' && *argv[0] <= '9')
		return be_leaf((unsigned int)atoi(argv[0]));
	runtime_dir_make();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	runtime_dir_remove();
	return r;
}
