/* SPDX-License-Identifier: MIT */
/* Reports of what was refused: written when told, kept while there is room, and waited for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "child.h"
#include "runtime_dir.h"
#include "tree_fixture.h"

static void a_refusal_is_counted_and_reported(void **state)
{
	struct umemcg_report report;
	struct umemcg_tree_stat stat;
	pid_t pid = fork_waiting_child(NULL);
	uint32_t leaf;

	(void)state;
	assert_int_equal(umemcg_tree_create(tree, "/a"), 0);
	assert_int_equal(umemcg_tree_create(tree, "/a/b"), 0);
	assert_int_equal(umemcg_tree_write(tree, "/a", "memory.max", "1M"), 0);
	assert_int_equal(umemcg_tree_claim(tree, "/a/b", pid, 2 * MIB, &leaf), 0);
	assert_int_equal(umemcg_tree_charge(tree, leaf, MIB / 2), 0);
	assert_int_equal(umemcg_tree_wait(tree, 0, 0, &report), -ETIMEDOUT);
	assert_int_equal(umemcg_tree_charge(tree, leaf, MIB), -ENOMEM);
	/* Nothing is told before the caller says that it does not try again. */
	assert_int_equal(umemcg_tree_wait(tree, 0, 0, &report), -ETIMEDOUT);
	umemcg_tree_tell_refused(tree, leaf, MIB);
	assert_int_equal(umemcg_tree_wait(tree, 0, 0, &report), 0);
	assert_int_equal(report.sequence, 1);
	assert_int_equal(report.kind, UMEMCG_REPORT_REFUSED);
	assert_int_equal(report.pid, pid);
	assert_int_equal(report.nr_bytes, MIB);
	assert_int_equal(report.nr_bytes_max, MIB);
	assert_string_equal(report.group, "/a");
	assert_int_equal(report.nr_consumers, 1);
	assert_int_equal(report.consumers[0].pid, pid);
	assert_int_equal(report.consumers[0].nr_bytes, MIB / 2);
	assert_int_equal(umemcg_tree_wait(tree, 1, 0, &report), -ETIMEDOUT);
	/* Its own limit, which is no group's. */
	assert_int_equal(umemcg_tree_charge(tree, leaf, 2 * MIB), -ENOMEM);
	umemcg_tree_tell_refused(tree, leaf, 2 * MIB);
	assert_int_equal(umemcg_tree_wait(tree, 1, 0, &report), 0);
	assert_int_equal(report.sequence, 2);
	assert_true(report.nr_bytes_max == UMEMCG_MAX);
	assert_string_equal(report.group, "/a/b");
	assert_int_equal(umemcg_tree_wait(tree, UINT64_MAX, 0, &report), -ETIMEDOUT);
	assert_int_equal(umemcg_tree_get_stat(tree, "/a", &stat), 0);
	assert_int_equal(stat.nr_refused, 1);
	bury(pid);
}

/* More than the ring holds: the oldest are lost, the rest comes in order and without gaps. */
static void the_ring_keeps_the_last_ones(void **state)
{
	struct umemcg_report report = { .sequence = 0 };
	pid_t pid = fork_waiting_child(NULL);
	unsigned int nr = 0;
	uint32_t leaf;

	(void)state;
	assert_int_equal(umemcg_tree_claim(tree, "/", pid, 0, &leaf), 0);
	for (unsigned int i = 1; i <= 1000; i++) {
		assert_int_equal(umemcg_tree_charge(tree, leaf, i), -ENOMEM);
		umemcg_tree_tell_refused(tree, leaf, i);
	}
	while (!umemcg_tree_wait(tree, report.sequence, 0, &report)) {
		assert_int_equal(report.sequence, 1000 - 256 + 1 + nr);
		assert_int_equal(report.nr_bytes, report.sequence);
		nr++;
	}
	assert_int_equal(nr, 256);
	bury(pid);
}

static void *wait_for_report(void *arg)
{
	struct umemcg_report *report = arg;
	int r = umemcg_tree_wait(tree, 0, 60000, report);

	return (void *)(intptr_t)r;
}

static void who_waits_is_woken_by_another_process(void **state)
{
	struct umemcg_report report;
	pthread_t thread;
	void *result;
	pid_t pid;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, wait_for_report, &report), 0);
	pid = fork_child();
	if (!pid) {
		struct umemcg_tree *own;
		uint32_t leaf;

		if (umemcg_tree_open(NAME, 0, &own) ||
		    umemcg_tree_claim(own, "/", getpid(), 0, &leaf) ||
		    umemcg_tree_charge(own, leaf, 5) != -ENOMEM)
			_exit(1);
		umemcg_tree_tell_refused(own, leaf, 5);
		_exit(0);
	}
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_int_equal((intptr_t)result, 0);
	assert_int_equal(report.pid, pid);
	assert_int_equal(report.nr_bytes, 5);
	bury(pid);
}

static int64_t ms_of(const struct timespec *time)
{
	return time->tv_sec * 1000 + time->tv_nsec / 1000000;
}

static void a_wait_ends_with_its_time(void **state)
{
	struct timespec before, after;
	struct umemcg_report report;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &before);
	assert_int_equal(umemcg_tree_wait(tree, 0, 50, &report), -ETIMEDOUT);
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_true(ms_of(&after) - ms_of(&before) >= 49);
}

static void do_nothing(int signal)
{
	(void)signal;
}

static void a_signal_ends_a_wait(void **state)
{
	struct sigaction action = { .sa_handler = do_nothing }, old;
	struct itimerspec soon = { { 0, 10000000 }, { 0, 10000000 } };
	struct umemcg_report report;
	timer_t timer;

	(void)state;
	sigaction(SIGALRM, &action, &old);
	/* Again and again: the first one may come before the wait does. */
	assert_int_equal(timer_create(CLOCK_MONOTONIC, NULL, &timer), 0);
	timer_settime(timer, 0, &soon, NULL);
	assert_int_equal(umemcg_tree_wait(tree, 0, -1, &report), -EINTR);
	timer_delete(timer);
	sigaction(SIGALRM, &old, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_tree(a_refusal_is_counted_and_reported),
		test_in_tree(the_ring_keeps_the_last_ones),
		test_in_tree(who_waits_is_woken_by_another_process),
		test_in_tree(a_wait_ends_with_its_time),
		test_in_tree(a_signal_ends_a_wait),
	};
	int r;

	runtime_dir_make();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	runtime_dir_remove();
	return r;
}
