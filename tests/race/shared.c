/* SPDX-License-Identifier: MIT */
/* The promises of the account, among processes that share a tree, and die in it. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "shared_tree.h"

#define NR_WORKERS 64

static void fill_exactly(unsigned int nr, uint64_t nr_bytes, uint64_t max)
{
	struct worker workers[NR_WORKERS];
	uint64_t sum = 0;

	tree_set("/a", "memory.max", max);
	tree_start(workers, nr);
	for (unsigned int i = 0; i < nr; i++)
		worker_send(&workers[i], FILL, nr_bytes);
	for (unsigned int i = 0; i < nr; i++)
		sum += worker_answer(&workers[i]);
	assert_int_equal(sum, max / nr_bytes);
	assert_int_equal(tree_current("/a"), sum * nr_bytes);
	assert_true(tree_stat("/a").nr_bytes_peak <= max);
	tree_kill(workers, nr);
	tree_assert_nothing_is_left();
}

static void processes_fill_a_group_exactly(void **state)
{
	(void)state;
	fill_exactly(1, 1000, 10000000);
	fill_exactly(2, 1000, 10000000);
	fill_exactly(8, 777, 10000000);
	fill_exactly(NR_WORKERS, 1000, 30000001);
	fill_exactly(NR_WORKERS, 100000, 64000000);
}

static void a_refusal_after_a_death_counts_no_dead(void **state)
{
	(void)state;
	tree_set("/a", "memory.max", 1000000);
	for (unsigned int i = 0; i < tree_rounds(100); i++) {
		struct worker one = worker_start(TREE, "/a/b", -1);
		struct worker other = worker_start(TREE, "/a/c", -1);

		assert_int_equal(worker_do(&one, CHARGE, 800000), 0);
		assert_int_equal(worker_do(&other, CHARGE, 800000), -ENOMEM);
		worker_kill(&one);
		assert_int_equal(worker_do(&other, CHARGE, 800000), 0);
		worker_kill(&other);
	}
	tree_assert_nothing_is_left();
}

static void nothing_is_left_after_kills_anywhere(void **state)
{
	struct worker workers[8];
	unsigned int nr_workers = sizeof(workers) / sizeof(workers[0]);

	(void)state;
	tree_set("/a", "memory.max", 1000000);
	srand(1);
	tree_start(workers, nr_workers);
	for (unsigned int i = 0; i < nr_workers; i++)
		worker_send(&workers[i], CHURN, i);
	for (unsigned int i = 0; i < tree_rounds(300); i++) {
		unsigned int victim = rand() % nr_workers;

		pause_at_random(3000000);
		worker_kill(&workers[victim]);
		workers[victim] = worker_start(TREE, victim % 2 ? "/a/b" : "/a/c", -1);
		worker_send(&workers[victim], CHURN, i);
		assert_true(tree_current("/a") <= 1000000);
	}
	tree_kill(workers, nr_workers);
	/* Children that outlived a churner end by themselves. */
	assert_true(tree_wait_processes(0));
	tree_assert_nothing_is_left();
}

static void an_image_is_charged_once_and_outlives_the_parent(void **state)
{
	struct worker worker;
	pid_t children[3];

	(void)state;
	tree_set("/a", "memory.max", 10000000);
	worker = worker_start(TREE, "/a/b", -1);
	assert_int_equal(worker_do(&worker, CHARGE, 6000000), 0);
	for (unsigned int i = 0; i < 3; i++) {
		children[i] = worker_do(&worker, FORK, 0);
		assert_true(children[i] > 0);
		assert_int_equal(tree_current("/a"), 6000000);
	}
	assert_int_equal(worker_do(&worker, CHARGE, 3000000), 0);
	assert_int_equal(tree_current("/a"), 9000000);
	worker_kill(&worker);
	assert_int_equal(tree_current("/a"), 6000000);
	for (unsigned int i = 0; i < 3; i++)
		kill(children[i], SIGKILL);
	assert_true(tree_wait_processes(0));
	tree_assert_nothing_is_left();
}

static void what_was_there_before_a_fork_can_be_given_back_after_it(void **state)
{
	struct worker worker;

	(void)state;
	tree_set("/a", "memory.max", 10000000);
	worker = worker_start(TREE, "/a/b", -1);
	assert_int_equal(worker_do(&worker, CHARGE, 9000000), 0);
	for (unsigned int i = 0; i < 20; i++) {
		assert_int_equal(worker_do(&worker, FORK_DIES, 0), 0);
		assert_int_equal(worker_do(&worker, UNCHARGE, 100000 + i), 0);
		assert_int_equal(worker_do(&worker, CHARGE, 100000 + i), 0);
	}
	assert_int_equal(tree_current("/a"), 9000000);
	assert_int_equal(worker_do(&worker, UNCHARGE, 9000000), 0);
	assert_int_equal(worker_do(&worker, CHARGE, 10000000), 0);
	assert_int_equal(worker_do(&worker, CHARGE, 1), -ENOMEM);
	worker_kill(&worker);
	tree_assert_nothing_is_left();
}

static void a_copying_fork_is_charged_in_full_or_fails(void **state)
{
	struct worker worker;
	pid_t child;

	(void)state;
	tree_set("/a", "memory.max", 10000000);
	assert_int_equal(umemcg_tree_write(tree, "/a/b", "memory.fork", "copy"), 0);
	worker = worker_start(TREE, "/a/b", -1);
	assert_int_equal(worker_do(&worker, CHARGE, 4000000), 0);
	child = worker_do(&worker, FORK_COPY, 0);
	assert_true(child > 0);
	assert_int_equal(tree_current("/a"), 8000000);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(worker_do(&worker, FORK_COPY, 0), -ENOMEM);
	assert_int_equal(tree_current("/a"), 8000000);
	assert_int_equal(worker_do(&worker, CHARGE, 2000000), 0);
	assert_int_equal(worker_do(&worker, CHARGE, 1), -ENOMEM);
	worker_kill(&worker);
	assert_int_equal(tree_current("/a"), 4000000);
	kill(child, SIGKILL);
	assert_true(tree_wait_processes(0));
	tree_assert_nothing_is_left();
}

/* Beside a thread that charges, so that what was charged ahead is no longer right at the fork. */
static void threads_make_copying_forks_at_once(void **state)
{
	struct worker worker;

	(void)state;
	tree_set("/a", "memory.max", 10000000);
	worker = worker_start(TREE, "/a/b", -1);
	assert_int_equal(worker_do(&worker, CHARGE, 4800000), 0);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(worker_do(&worker, FORKS_COPY, tree_rounds(20)), 0);
	assert_int_equal(worker_do(&worker, CHARGE, 10000000), -ENOMEM);
	assert_int_equal(tree_current("/a"), 4800000);
	assert_int_equal(worker_do(&worker, CHARGE, 5200000), 0);
	worker_kill(&worker);
	assert_int_equal(umemcg_tree_write(tree, "/a/b", "memory.fork", "share"), 0);
	tree_assert_nothing_is_left();
}

static void the_greedy_one_is_refused_first(void **state)
{
	struct worker greedy, modest;

	(void)state;
	tree_set("/a", "memory.max", 10000000);
	tree_set("/a", "memory.reserve", 1000000);
	greedy = worker_start(TREE, "/a/b", -1);
	modest = worker_start(TREE, "/a/c", -1);
	assert_int_equal(worker_do(&modest, CHARGE, 1000), 0);
	assert_int_equal(worker_do(&greedy, FILL, 1000), 8999);
	for (unsigned int i = 0; i < 999; i++) {
		assert_int_equal(worker_do(&modest, CHARGE, 1000), 0);
		assert_int_equal(worker_do(&greedy, CHARGE, 1000), -ENOMEM);
	}
	assert_int_equal(worker_do(&modest, CHARGE, 1001), -ENOMEM);
	assert_int_equal(worker_do(&modest, CHARGE, 1000), 0);
	assert_int_equal(worker_do(&modest, CHARGE, 1), -ENOMEM);
	worker_kill(&greedy);
	worker_kill(&modest);
	tree_set("/a", "memory.reserve", 0);
	tree_assert_nothing_is_left();
}

static void a_process_has_a_limit_of_its_own(void **state)
{
	struct worker worker;

	(void)state;
	tree_set("/a", "memory.max", 10000000);
	worker = worker_start(TREE, "/a/b", 500000);
	assert_int_equal(worker_do(&worker, FILL, 1000), 500);
	worker_kill(&worker);
	tree_assert_nothing_is_left();
}

static void what_others_sleep_on_can_be_had(void **state)
{
	struct worker workers[8];
	uint64_t sum = 0;

	(void)state;
	tree_set("/a", "memory.max", 50000000);
	tree_start(workers, 8);
	for (unsigned int i = 0; i < 7; i++) {
		for (unsigned int size = 16; size < 40000; size += size / 2)
			assert_int_equal(worker_do(&workers[i], ALLOCATE, size), 0);
		assert_int_equal(worker_do(&workers[i], FREE_ALL, 0), 0);
		kill(workers[i].pid, SIGSTOP);
	}
	sum = worker_do(&workers[7], FILL, 1000);
	assert_int_equal(sum, 50000);
	tree_kill(workers, 8);
	tree_assert_nothing_is_left();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_fill_a_group_exactly),
		cmocka_unit_test(a_refusal_after_a_death_counts_no_dead),
		cmocka_unit_test(an_image_is_charged_once_and_outlives_the_parent),
		cmocka_unit_test(what_was_there_before_a_fork_can_be_given_back_after_it),
		cmocka_unit_test(a_copying_fork_is_charged_in_full_or_fails),
		cmocka_unit_test(threads_make_copying_forks_at_once),
		cmocka_unit_test(the_greedy_one_is_refused_first),
		cmocka_unit_test(a_process_has_a_limit_of_its_own),
		cmocka_unit_test(what_others_sleep_on_can_be_had),
		cmocka_unit_test(nothing_is_left_after_kills_anywhere),
	};

	workers_main(argc, argv);
	return cmocka_run_group_tests(tests, tree_make, tree_remove);
}
