/* SPDX-License-Identifier: MIT */
/* Whoever dies, and wherever: nothing is left of it in the books, and nobody waits for it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared_step.h"
#include "shared_tree.h"

#define MAX  10000000
#define UNIT 100000 /* more than a stock takes */
/* The charges of one FILL would take longer if each waited a second for somebody. */
#define LIMIT_MS HANGS_MS

/* Lives throughout, and looks whether exactly what fits can be charged. */
static struct worker neighbour;

static int64_t answer_in_time(const struct worker *worker)
{
	int64_t answer = -1;

	assert_true(worker_answers_within(worker, LIMIT_MS, &answer));
	return answer;
}

static int64_t do_in_time(const struct worker *worker, enum command command, uint64_t argument)
{
	worker_send(worker, command, argument);
	return answer_in_time(worker);
}

/* The dead have nothing: all of max can be had, and not a byte more. */
static void assert_all_fits(void)
{
	assert_int_equal(do_in_time(&neighbour, FILL, UNIT), MAX / UNIT);
	assert_int_equal(tree_current("/a"), MAX);
	assert_int_equal(tree_current("/a/b"), 0);
	assert_int_equal(tree_current("/a/c"), MAX);
	assert_int_equal(do_in_time(&neighbour, UNCHARGE, MAX), 0);
}

/* One kind of work, and what is to be so before each time and after. */
struct way {
	enum command command;
	uint64_t argument;
	void (*before)(void);
	void (*after)(void);
	unsigned int nr_steps_max; /* of those that matter; 0: all */
};

static unsigned int nr_steps_of(const struct way *way)
{
	struct worker worker = worker_start(TREE, "/a/b", -1);
	unsigned int nr;

	assert_int_equal(worker_do(&worker, CHARGE, 1000), 0);
	if (way->before)
		way->before();
	step_begin(&worker, way->command, way->argument);
	nr = step_on(&worker, way->nr_steps_max ? way->nr_steps_max : 10000000);
	worker_kill(&worker);
	if (way->after)
		way->after();
	return nr;
}

static void kill_at(const struct way *way, unsigned int nr_steps)
{
	struct worker worker = worker_start(TREE, "/a/b", -1);

	assert_int_equal(worker_do(&worker, CHARGE, 1000), 0);
	if (way->before)
		way->before();
	step_begin(&worker, way->command, way->argument);
	step_on(&worker, nr_steps);
	worker_kill(&worker);
	/* What it forked ends by itself. */
	assert_true(tree_wait_processes(1));
	if (way->after)
		way->after();
	assert_all_fits();
}

/* At about @nr of its instructions, others each time. */
static void kill_everywhere(const struct way *way, unsigned int nr)
{
	unsigned int nr_steps = nr_steps_of(way);
	unsigned int stride = nr_steps / (unsigned int)tree_rounds(nr);

	assert_true(nr_steps > 100);
	stride = stride ? stride : 1;
	for (unsigned int at = (unsigned int)rand() % stride; at < nr_steps; at += stride)
		kill_at(way, at);
}

/* ---- what is done, and others meanwhile ---- */

/* The neighbour's stocks are full: they are to be closed. */
static void fill_stocks(void)
{
	for (unsigned int size = 16; size < 20000; size *= 2)
		assert_int_equal(do_in_time(&neighbour, ALLOCATE, size), 0);
	assert_int_equal(do_in_time(&neighbour, FREE_ALL, 0), 0);
}

/* It goes on, with stocks that somebody was closing who died. */
static void use_stocks(void)
{
	fill_stocks();
	assert_int_equal(do_in_time(&neighbour, AUDIT, 0), 0);
}

/* Somebody is dead, and all that fits is his. */
static void leave_a_corpse(void)
{
	struct worker other = worker_start(TREE, "/a/b", -1);

	assert_int_equal(worker_do(&other, CHARGE, MAX - 10 * UNIT), 0);
	worker_kill(&other);
}

static void remove_group(void)
{
	int r = umemcg_tree_destroy(tree, "/a/x1");

	assert_true(!r || r == -ENOENT);
	assert_int_equal(umemcg_tree_create(tree, "/a/x1"), 0);
	assert_int_equal(umemcg_tree_destroy(tree, "/a/x1"), 0);
}

static void copy_on_fork(void)
{
	assert_int_equal(umemcg_tree_write(tree, "/a/b", "memory.fork", "copy"), 0);
}

static void share_on_fork(void)
{
	assert_int_equal(umemcg_tree_write(tree, "/a/b", "memory.fork", "share"), 0);
}

static void nothing_is_left_at_any_instruction(void **state)
{
	static const struct way ways[] = {
		{ .command = CHARGE, .argument = UNIT },
		{ .command = CHARGE, .argument = MAX, .before = fill_stocks, .after = use_stocks },
		{ .command = CHARGE, .argument = MAX / 2, .before = leave_a_corpse },
		{ .command = UNCHARGE, .argument = 1000 },
		{ .command = FORK_DIES },
		{ .command = FORK_COPY_DIES, .before = copy_on_fork, .after = share_on_fork },
		{ .command = MAKE_GROUP, .argument = 1, .after = remove_group },
		{ .command = EXEC, .nr_steps_max = 50000 },
	};

	(void)state;
	if (!step_is_possible())
		skip();
	for (unsigned int i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		kill_everywhere(&ways[i], 8);
}

static void a_child_whose_parent_died_at_its_birth_is_counted(void **state)
{
	struct worker parent, other;
	pid_t child;

	(void)state;
	if (!step_is_possible())
		skip();
	parent = worker_start(TREE, "/a/b", -1);
	assert_int_equal(worker_do(&parent, CHARGE, 3 * UNIT), 0);
	child = step_to_child(&parent, FORK_CHARGES);
	worker_kill(&parent);
	/* Recovers, and somebody else gets the row that was to be the child's. */
	tree_current("/");
	other = worker_start(TREE, "/a/b", -1);
	assert_int_equal(worker_do(&other, CHARGE, UNIT), 0);
	step_release(child);
	for (unsigned int i = 0; i < LIMIT_MS && tree_current("/a/b") != 6 * UNIT; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	assert_int_equal(tree_current("/a/b"), 6 * UNIT);
	assert_int_equal(tree_stat("/a/b").nr_processes, 2);
	worker_kill(&other);
	assert_int_equal(tree_current("/a/b"), 5 * UNIT);
	kill(child, SIGKILL);
	assert_true(tree_wait_processes(1));
	assert_all_fits();
}

static void nothing_is_left_after_kills_of_recoverers(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < tree_rounds(100); i++) {
		struct worker recoverers[3];

		tree_start(recoverers, 3);
		leave_a_corpse();
		for (unsigned int n = 0; n < 3; n++)
			worker_send(&recoverers[n], HAMMER, MAX + 1 - n);
		pause_at_random(500000);
		tree_kill(recoverers, 3);
		assert_all_fits();
	}
}

static void nothing_is_left_after_kills_of_makers_of_groups(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < tree_rounds(100); i++) {
		struct worker makers[3];

		tree_start(makers, 3);
		for (unsigned int n = 0; n < 3; n++)
			worker_send(&makers[n], MAKE_GROUPS, n / 2);
		pause_at_random(2000000);
		tree_kill(makers, 3);
		umemcg_tree_destroy(tree, "/a/x0");
		remove_group();
		assert_int_equal(umemcg_tree_create(tree, "/a/x0"), 0);
		assert_int_equal(umemcg_tree_destroy(tree, "/a/x0"), 0);
	}
	assert_all_fits();
}

static int start_neighbour(void **state)
{
	(void)state;
	tree_set("/a", "memory.max", MAX);
	srand((unsigned int)getpid());
	neighbour = worker_start(TREE, "/a/c", -1);
	/* In the tree from its first charge on. */
	assert_int_equal(worker_do(&neighbour, CHARGE, 1), 0);
	return (int)worker_do(&neighbour, UNCHARGE, 1);
}

static int end_neighbour(void **state)
{
	(void)state;
	worker_kill(&neighbour);
	tree_assert_nothing_is_left();
	return 0;
}

#define with_neighbour(test) cmocka_unit_test_setup_teardown(test, start_neighbour, end_neighbour)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		with_neighbour(nothing_is_left_at_any_instruction),
		with_neighbour(a_child_whose_parent_died_at_its_birth_is_counted),
		with_neighbour(nothing_is_left_after_kills_of_recoverers),
		with_neighbour(nothing_is_left_after_kills_of_makers_of_groups),
	};

	workers_main(argc, argv);
	return cmocka_run_group_tests(tests, tree_make, tree_remove);
}
