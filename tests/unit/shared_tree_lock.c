/* SPDX-License-Identifier: MIT */
/* The tree's lock: taken over from who died with it, whose work is mended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "child.h"
#include "shared/tree_lock.h"
#include "shared_fixture.h"

static void set_state(uint32_t group, enum row_state state)
{
	struct shared_group *row = segment_group(&segment, group);

	if (row)
		atomic_store(&row->state, state);
	else
		fail();
}

/* A child that takes the lock, does @act and ends, or stops itself. */
static pid_t fork_holder(void (*act)(void), bool stops)
{
	pid_t pid = fork_child();

	if (!pid) {
		if (claim_own_row())
			_exit(1);
		if (tree_lock_take(&segment))
			_exit(2);
		act();
		if (stops)
			raise(SIGSTOP);
		_exit(0);
	}
	return pid;
}

/* Half a group, one that is being removed, and one whose removal is to come to nothing. */
static void leave_everything_half_done(void)
{
	uint32_t made = tree_find(&segment, "/made");

	set_state(made, ROW_MAKING);
	set_state(tree_find(&segment, "/removed"), ROW_DYING);
	set_state(tree_find(&segment, "/parent"), ROW_DYING);
}

static void a_dead_holder_is_succeeded_and_his_work_mended(void **state)
{
	uint32_t made = make_group("/made"), removed = make_group("/removed"),
		 parent = make_group("/parent"), child = make_group("/parent/child");

	(void)state;
	wait_for_good_end(fork_holder(leave_everything_half_done, false));
	/* It stands while it is not known whether it goes. */
	assert_true(tree_is_below(&segment, child, parent));
	assert_int_equal(tree_find(&segment, "/parent"), 0);
	assert_int_not_equal(make_group("/new"), 0);
	assert_int_not_equal(state_of(made), ROW_MAKING);
	assert_int_equal(tree_find(&segment, "/made"), 0);
	assert_int_equal(tree_find(&segment, "/removed"), 0);
	assert_int_not_equal(state_of(removed), ROW_DYING);
	assert_int_equal(tree_find(&segment, "/parent"), parent);
	assert_int_equal(tree_find(&segment, "/parent/child"), child);
	/* It was given back. */
	assert_int_equal(tree_destroy(&segment, child), 0);
}

static void a_row_that_is_given_back_holds_no_lock(void **state)
{
	uint32_t made = make_group("/made"), row;

	(void)state;
	make_group("/removed");
	make_group("/parent");
	wait_for_good_end(fork_holder(leave_everything_half_done, false));
	row = slot_first_dead(&segment, 0);
	assert_int_not_equal(row, 0);
	slot_free(&segment, row);
	assert_int_equal(state_of(made), ROW_FREE);
	/* Whoever gets the row next is not taken for the holder. */
	assert_int_equal(slot_claim(&segment, 0, getppid(), PROCESS_LOOKS, &row), 0);
	slot_set_live(&segment, row);
	make_group("/new");
	slot_free(&segment, row);
}

static void do_nothing(void)
{
}

static void a_stopped_holder_costs_a_second(void **state)
{
	struct timespec before, after;
	int status;
	pid_t pid;

	(void)state;
	pid = fork_holder(do_nothing, true);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	clock_gettime(CLOCK_MONOTONIC, &before);
	check_create("/late", -ETIMEDOUT);
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_in_range((after.tv_sec - before.tv_sec) * 1000 +
				(after.tv_nsec - before.tv_nsec) / 1000000,
			900, 5000);
	bury(pid);
	make_group("/late");
}

static void make_and_remove(unsigned int number)
{
	char path[32];
	uint32_t group;

	for (unsigned int i = 0; i < 200; i++) {
		snprintf(path, sizeof(path), "/p%u-%u", number, i % 7);
		if (tree_create(&segment, path, &group) || tree_find(&segment, path) != group ||
		    tree_destroy(&segment, group))
			_exit(1);
	}
}

static void many_makers_do_not_meet(void **state)
{
	pid_t pids[8];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(pids); i++) {
		pids[i] = fork_child();
		if (pids[i])
			continue;
		if (claim_own_row())
			_exit(2);
		make_and_remove(i);
		_exit(0);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(pids); i++)
		wait_for_good_end(pids[i]);
	check_walk("/", (const char *const[]){ "/" }, 1);
}

/* SIGKILL at any instant; what is left is mended by whoever comes next, and no row is lost. */
static void no_row_is_lost_by_makers_that_are_killed(void **state)
{
	uint32_t nr_used;

	(void)state;
	for (unsigned int round = 0; round < 100; round++) {
		struct timespec while_it_works = { .tv_nsec = 20000 * (round % 10) };
		pid_t pid = fork_child();
		uint32_t row;

		if (!pid) {
			if (claim_own_row())
				_exit(2);
			for (;;)
				make_and_remove(0);
		}
		/* Any instant will do: nothing is expected of what it has done by then. */
		nanosleep(&while_it_works, NULL);
		bury(pid);
		while ((row = slot_first_dead(&segment, 0)))
			slot_free(&segment, row);
		/* Takes the lock, whoever had it. */
		assert_int_equal(tree_destroy(&segment, make_group("/after")), 0);
		for (unsigned int i = 0; i < 7; i++) {
			char path[32];

			snprintf(path, sizeof(path), "/p0-%u", i);
			if (tree_find(&segment, path))
				tree_destroy(&segment, tree_find(&segment, path));
		}
	}
	nr_used = segment_nr_used(&segment, REGION_GROUPS);
	for (uint32_t group = SHARED_ROOT + 1; group < nr_used; group++)
		assert_int_equal(state_of(group), ROW_FREE);
	assert_true(nr_used < 8);
}

static void a_wild_lock_is_taken_over(void **state)
{
	static const uint32_t words[] = { 0x7fff, 0xffff, 0xffffffff, 0x12340000 | 900 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(words); i++) {
		atomic_store(&segment.header->tree_lock, words[i]);
		assert_int_equal(tree_destroy(&segment, make_group("/a")), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_segment(a_dead_holder_is_succeeded_and_his_work_mended),
		test_in_segment(a_row_that_is_given_back_holds_no_lock),
		test_in_segment(a_stopped_holder_costs_a_second),
		test_in_segment(many_makers_do_not_meet),
		test_in_segment(no_row_is_lost_by_makers_that_are_killed),
		test_in_segment(a_wild_lock_is_taken_over),
	};
	int r;

	runtime_dir_make();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	runtime_dir_remove();
	return r;
}
