/* SPDX-License-Identifier: MIT */
#include "shared_tree.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "runtime_dir.h"

struct umemcg_tree *tree;

uint64_t tree_rounds(uint64_t usual)
{
	const char *scale = getenv("UMEMCG_TEST_SCALE");
	uint64_t nr = scale ? usual * strtoull(scale, NULL, 10) / 100 : usual;

	return nr ? nr : 1;
}

int tree_make(void **state)
{
	(void)state;
	runtime_dir_make();
	assert_int_equal(umemcg_tree_open(TREE, UMEMCG_TREE_CREATE, &tree), 0);
	assert_int_equal(umemcg_tree_create(tree, "/a"), 0);
	assert_int_equal(umemcg_tree_create(tree, "/a/b"), 0);
	assert_int_equal(umemcg_tree_create(tree, "/a/c"), 0);
	return 0;
}

int tree_remove(void **state)
{
	int r;

	(void)state;
	umemcg_tree_close(tree);
	r = umemcg_tree_unlink(TREE);
	runtime_dir_remove();
	return r;
}

struct umemcg_tree_stat tree_stat(const char *path)
{
	struct umemcg_tree_stat stat;

	assert_int_equal(umemcg_tree_get_stat(tree, path, &stat), 0);
	return stat;
}

uint64_t tree_current(const char *path)
{
	return tree_stat(path).nr_bytes_current;
}

void tree_set(const char *path, const char *file, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	assert_int_equal(umemcg_tree_write(tree, path, file, text), 0);
}

bool tree_wait_processes(unsigned int nr)
{
	for (unsigned int i = 0; tree_stat("/").nr_processes > nr; i++) {
		if (i == HANGS_MS)
			return false;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	return true;
}

void tree_assert_nothing_is_left(void)
{
	static const char *const groups[] = { "/", "/a", "/a/b", "/a/c" };

	for (unsigned int i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		struct umemcg_tree_stat stat = tree_stat(groups[i]);

		assert_int_equal(stat.nr_bytes_current, 0);
		assert_int_equal(stat.nr_processes, 0);
	}
}

void tree_start(struct worker *workers, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		workers[i] = worker_start(TREE, i % 2 ? "/a/b" : "/a/c", -1);
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(worker_do(&workers[i], GO, 0), 0);
}

void tree_kill(struct worker *workers, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		worker_kill(&workers[i]);
}

void pause_at_random(unsigned int limit_ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = (unsigned int)rand() % limit_ns }, NULL);
}
