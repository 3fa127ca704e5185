/* SPDX-License-Identifier: MIT */
/*
 * Becoming a leaf of a shared tree by the environment. The program executes itself for it, since
 * that happens when the library is made ready.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime_dir.h"
#include "shared/segment.h"
#include "shared/slot.h"
#include "umemcg-tree.h"

#define NAME "attach"

static struct umemcg_tree *tree;

/* ---- the leaf ---- */

/* Forks a child, and a child of that one, who allocate; 0 if both came to their end. */
static int fork_twice(unsigned int nr_left)
{
	pid_t pid = nr_left ? fork() : 0;
	int status;

	if (pid)
		return pid < 0 || waitpid(pid, &status, 0) != pid || status;
	for (unsigned int i = 0; i < 1000; i++)
		umemcg_free(umemcg_malloc(1 + i));
	if (nr_left)
		_exit(fork_twice(nr_left - 1));
	return 0;
}

/* Charges 1000 bytes, says so, and holds them until it is told to go on. */
static int be_leaf(void)
{
	char byte = umemcg_try_charge(NULL, 1000) ? 'n' : 'y';

	umemcg_free(umemcg_malloc(100));
	if (write(STDOUT_FILENO, &byte, 1) != 1 || read(STDIN_FILENO, &byte, 1) != 1)
		return 2;
	return fork_twice(2);
}

/* ---- the test ---- */

struct leaf {
	pid_t pid;
	int to, from;
};

static struct leaf start(const char *group, const char *max)
{
	int to[2], from[2];
	struct leaf leaf;
	char byte;

	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	leaf.pid = fork();
	if (!leaf.pid) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		setenv("UMEMCG_TREE", NAME, 1);
		setenv("UMEMCG_GROUP", group, 1);
		setenv("UMEMCG_PROCESS_MAX", max, 1);
		/* Reports are expected. */
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		execl("/proc/self/exe", "leaf", "leaf", NULL);
		_exit(127);
	}
	assert_true(leaf.pid > 0);
	close(to[0]);
	close(from[1]);
	leaf.to = to[1];
	leaf.from = from[0];
	assert_int_equal(read(leaf.from, &byte, 1), 1);
	assert_int_equal(byte, 'y');
	return leaf;
}

/* Its exit status. */
static int end(const struct leaf *leaf)
{
	int status;

	assert_int_equal(write(leaf->to, "", 1), 1);
	assert_int_equal(waitpid(leaf->pid, &status, 0), leaf->pid);
	close(leaf->to);
	close(leaf->from);
	return status;
}

static void assert_current(const char *path, uint64_t nr_bytes, uint32_t nr_processes)
{
	struct umemcg_tree_stat stat;

	assert_int_equal(umemcg_tree_get_stat(tree, path, &stat), 0);
	assert_int_equal(stat.nr_processes, nr_processes);
	if (nr_bytes)
		assert_in_range(stat.nr_bytes_current, nr_bytes, UINT64_MAX);
	else
		assert_int_equal(stat.nr_bytes_current, 0);
}

static void a_group_is_made_with_its_parents(void **state)
{
	struct leaf leaf = start("/a/b/c", "");

	(void)state;
	assert_current("/a/b/c", 1000, 1);
	assert_current("/", 1000, 1);
	assert_true(umemcg_tree_is_accounted(tree, leaf.pid));
	assert_int_equal(end(&leaf), 0);
	assert_current("/", 0, 0);
}

/* Half a leaf would be charged, and its children in its name. */
static void a_bad_limit_makes_no_leaf(void **state)
{
	struct leaf leaf = start("/a", "64MB");

	(void)state;
	assert_false(umemcg_tree_is_accounted(tree, leaf.pid));
	assert_current("/", 0, 0);
	assert_int_equal(end(&leaf), 0);
	assert_current("/", 0, 0);
}

static void a_child_without_a_row_counts_alone(void **state)
{
	struct leaf leaf = start("/a", "");
	struct segment segment;
	uint32_t row;
	int r;

	(void)state;
	assert_int_equal(segment_open(&segment, NAME, false), 0);
	while (!(r = slot_claim(&segment, 0, getpid(), 0, &row)))
		slot_set_live(&segment, row);
	assert_int_equal(r, -ENOSPC);
	assert_int_equal(end(&leaf), 0);
	for_each_process_row(&segment, mine)
	{
		/* Not that of `tree`, which looks. */
		if (slot_pid(&segment, mine) == getpid() && slot_is_leaf(&segment, mine))
			slot_free(&segment, mine);
	}
	segment_close(&segment);
}

static int make_tree(void **state)
{
	(void)state;
	return umemcg_tree_open(NAME, UMEMCG_TREE_CREATE, &tree);
}

static int remove_tree(void **state)
{
	(void)state;
	umemcg_tree_close(tree);
	return umemcg_tree_unlink(NAME);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_group_is_made_with_its_parents, make_tree,
						remove_tree),
		cmocka_unit_test_setup_teardown(a_bad_limit_makes_no_leaf, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(a_child_without_a_row_counts_alone, make_tree,
						remove_tree),
	};
	int r;

	if (argc == 2 && !strcmp(argv[1], "leaf"))
		return be_leaf();
	runtime_dir_make();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	runtime_dir_remove();
	return r;
}
