/* SPDX-License-Identifier: MIT */
/* Reclaim across processes: who is asked for how much, and how long that is waited for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "child.h"
#include "shared/ask.h"
#include "shared/control_files.h"
#include "shared_fixture.h"

#define MIB ((uint64_t)1 << 20)

/* Groups /top/a and /top/b, with a process in each that can reclaim. */
static uint32_t group_top, group_a, group_b, process_a, process_b;
static pid_t pid_a, pid_b;

static uint64_t in_ms(unsigned int ms)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + ms * 1000000ull;
}

static uint32_t join(pid_t pid, uint32_t group, uint64_t nr_bytes)
{
	struct shared_process *its;
	uint32_t process;

	assert_int_equal(slot_claim(&segment, 0, pid, 0, &process), 0);
	slot_set_live(&segment, process);
	assert_int_equal(tree_join(&segment, process, group), 0);
	its = segment_process(&segment, process);
	atomic_store(&its->used, nr_bytes);
	atomic_store(&its->can_reclaim, 1);
	for (; group; group = tree_parent(&segment, group))
		atomic_fetch_add(&segment_group(&segment, group)->counter.usage, nr_bytes);
	return process;
}

static int make_processes(void **state)
{
	if (open_segment(state))
		return -1;
	group_top = make_group("/top");
	group_a = make_group("/top/a");
	group_b = make_group("/top/b");
	pid_a = fork_waiting_child(NULL);
	pid_b = fork_waiting_child(NULL);
	process_a = join(pid_a, group_a, 60 * MIB);
	process_b = join(pid_b, group_b, 20 * MIB);
	return 0;
}

static int bury_processes(void **state)
{
	bury(pid_a);
	bury(pid_b);
	return close_segment(state);
}

#define test_of_two(name) cmocka_unit_test_setup_teardown(name, make_processes, bury_processes)

/* With a deadline that is over it is only asked. */
static void ask(uint32_t group, uint64_t nr_bytes)
{
	assert_int_equal(ask_below(&segment, 0, group, nr_bytes, 0), 0);
}

static void check_asked(uint32_t process, uint64_t nr_bytes)
{
	struct shared_process *its = segment_process(&segment, process);
	uint64_t wanted = atomic_exchange(&its->reclaim_wanted, 0);

	/* Parts are rounded down to bytes. */
	if (wanted > nr_bytes || wanted + 16 < nr_bytes)
		fail_msg("asked for %llu, expected %llu", (unsigned long long)wanted,
			 (unsigned long long)nr_bytes);
	atomic_store(&its->reclaim_served, atomic_load(&its->reclaim_asked));
	atomic_store(&its->can_reclaim, 1);
}

static void set(uint32_t group, const char *file, const char *value)
{
	assert_int_equal(control_files_write(&segment, group, file, value), 0);
}

static void processes_are_asked_in_proportion(void **state)
{
	(void)state;
	ask(group_top, 8 * MIB);
	check_asked(process_a, 6 * MIB);
	check_asked(process_b, 2 * MIB);
	ask(group_b, 8 * MIB);
	check_asked(process_a, 0);
	check_asked(process_b, 8 * MIB);
	/* Nobody is asked for more than it holds. */
	ask(SHARED_ROOT, UINT64_MAX);
	check_asked(process_a, 60 * MIB);
	check_asked(process_b, 20 * MIB);
}

static void what_is_protected_is_spared(void **state)
{
	(void)state;
	/* 20 MiB of each are not protected: of 60, and all of 20. */
	set(group_a, "memory.low", "40M");
	ask(group_top, 8 * MIB);
	check_asked(process_a, 4 * MIB);
	check_asked(process_b, 4 * MIB);
	set(group_a, "memory.min", "60M");
	ask(group_top, 8 * MIB);
	check_asked(process_a, 0);
	check_asked(process_b, 8 * MIB);
	/* The top itself spares nothing of its own. */
	ask(group_a, 8 * MIB);
	check_asked(process_a, 8 * MIB);
}

static void low_is_breached_only_if_there_is_nothing_else(void **state)
{
	(void)state;
	set(group_a, "memory.low", "100M");
	set(group_b, "memory.low", "100M");
	set(group_b, "memory.min", "100M");
	ask(group_top, 8 * MIB);
	check_asked(process_a, 8 * MIB);
	check_asked(process_b, 0);
	assert_int_equal(
		atomic_load(&segment_group(&segment, group_a)->events_local[SHARED_EVENT_LOW]), 1);
	assert_int_equal(atomic_load(&segment_group(&segment, group_top)->events[SHARED_EVENT_LOW]),
			 1);
	set(group_a, "memory.min", "100M");
	ask(group_top, 8 * MIB);
	check_asked(process_a, 0);
	check_asked(process_b, 0);
}

static void a_parent_shares_what_it_protects(void **state)
{
	(void)state;
	/* 30 MiB for two that want 40 and 20: in that proportion. */
	set(group_top, "memory.min", "30M");
	set(group_a, "memory.min", "40M");
	set(group_b, "memory.min", "20M");
	ask(SHARED_ROOT, 8 * MIB);
	/* 20 of 60 and 10 of 20 are spared. */
	check_asked(process_a, 8 * MIB * 40 / 50);
	check_asked(process_b, 8 * MIB * 10 / 50);
}

static void who_cannot_or_asks_itself_is_not_asked(void **state)
{
	(void)state;
	atomic_store(&segment_process(&segment, process_a)->can_reclaim, 0);
	ask(group_top, 8 * MIB);
	check_asked(process_b, 8 * MIB);
	assert_int_equal(ask_below(&segment, process_b, group_top, MIB, in_ms(600000)), 0);
	check_asked(process_b, 0);
}

static void who_does_not_answer_delays_nobody_again(void **state)
{
	(void)state;
	assert_int_equal(ask_below(&segment, 0, group_top, MIB, in_ms(20)), 0);
	assert_int_equal(atomic_load(&segment_process(&segment, process_a)->can_reclaim), 0);
	/* Ten minutes, which no test has, and both are left out. */
	assert_int_equal(ask_below(&segment, 0, group_top, MIB, in_ms(600000)), 0);
}

static _Atomic bool is_over;

/* As shared/serve.c answers, with nothing to give back. */
static void *answer_all(void *arg)
{
	struct shared_process *its = arg;

	while (!atomic_load(&is_over)) {
		uint32_t asked = atomic_load(&its->reclaim_asked);

		if (asked == atomic_load(&its->reclaim_served))
			continue;
		/* Later from time to time, so that it meets each step of who gives it up. */
		for (volatile unsigned int i = 0; i < asked % 4096; i++)
			continue;
		atomic_store(&its->reclaim_served, asked);
		atomic_store(&its->can_reclaim, 1);
	}
	return NULL;
}

/* It is given up each time, before or after it answers. */
static void who_answers_late_is_asked_again(void **state)
{
	struct shared_process *its = segment_process(&segment, process_a);
	uint64_t end_ns = in_ms(1000);
	pthread_t thread;

	(void)state;
	atomic_store(&is_over, false);
	assert_int_equal(pthread_create(&thread, NULL, answer_all, its), 0);
	/* As often as a second allows; and one that is forgotten is waited for in vain. */
	do {
		uint64_t deadline_ns = in_ms(20000);

		ask_below(&segment, 0, group_a, MIB, 0);
		while (!atomic_load(&its->can_reclaim) && in_ms(0) < deadline_ns)
			sched_yield();
	} while (atomic_load(&its->can_reclaim) && in_ms(0) < end_ns);
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&its->can_reclaim), 1);
	assert_true(atomic_load(&its->reclaim_asked) > 0);
}

static void the_dead_are_not_waited_for(void **state)
{
	(void)state;
	kill(pid_a, SIGKILL);
	kill(pid_b, SIGKILL);
	assert_int_equal(ask_below(&segment, 0, group_top, MIB, in_ms(600000)), 0);
}

/* In a child: answers one request, with as much. */
static void answer(struct shared_process *its)
{
	while (!atomic_load(&its->reclaim_asked))
		syscall(SYS_futex, &its->reclaim_asked, FUTEX_WAIT, 0, NULL, NULL, 0);
	atomic_fetch_add(&its->nr_reclaimed, atomic_load(&its->reclaim_wanted));
	atomic_store(&its->reclaim_served, atomic_load(&its->reclaim_asked));
}

static void what_is_given_back_is_told(void **state)
{
	pid_t pid = fork_child();

	(void)state;
	if (!pid) {
		answer(segment_process(&segment, process_b));
		_exit(0);
	}
	assert_int_equal(ask_below(&segment, 0, group_b, 3 * MIB, in_ms(600000)), 3 * MIB);
	wait_for_good_end(pid);
}

static void any_numbers_are_survived(void **state)
{
	(void)state;
	atomic_store(&segment_group(&segment, group_b)->counter.parent, group_b);
	atomic_store(&segment_group(&segment, group_a)->low, UINT64_MAX);
	atomic_store(&segment_group(&segment, group_a)->counter.usage, UINT64_MAX);
	atomic_store(&segment_process(&segment, process_a)->used, UINT64_MAX);
	ask_below(&segment, 0, SHARED_ROOT, UINT64_MAX, 0);
	atomic_store(&segment_process(&segment, process_a)->group, UINT32_MAX);
	atomic_store(&segment_process(&segment, process_b)->group, 0);
	ask_below(&segment, 0, SHARED_ROOT, UINT64_MAX, 0);
	atomic_store(&segment_group(&segment, group_b)->counter.parent, group_top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_of_two(processes_are_asked_in_proportion),
		test_of_two(what_is_protected_is_spared),
		test_of_two(low_is_breached_only_if_there_is_nothing_else),
		test_of_two(a_parent_shares_what_it_protects),
		test_of_two(who_cannot_or_asks_itself_is_not_asked),
		test_of_two(who_does_not_answer_delays_nobody_again),
		test_of_two(who_answers_late_is_asked_again),
		test_of_two(the_dead_are_not_waited_for),
		test_of_two(what_is_given_back_is_told),
		test_of_two(any_numbers_are_survived),
	};
	int r;

	runtime_dir_make();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	runtime_dir_remove();
	return r;
}
