/* SPDX-License-Identifier: MIT */
/* Times in which threads wait below a shared group, and high, for which they wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <time.h>

#include "child.h"
#include "shared/climb.h"
#include "shared/control_files.h"
#include "shared/recovery.h"
#include "shared/stall.h"
#include "shared/thread.h"
#include "shared/throttle.h"
#include "shared_fixture.h"

static uint32_t group_a, group_b;

/* A process below a group with one thread; the row of that. */
static uint32_t join(pid_t pid, uint32_t group, uint32_t *ret_process)
{
	uint32_t process, thread;

	assert_int_equal(slot_claim(&segment, 0, pid, 0, &process), 0);
	slot_set_live(&segment, process);
	assert_int_equal(tree_join(&segment, process, group), 0);
	thread = thread_claim(&segment, process);
	assert_true(thread);
	*ret_process = process;
	return thread;
}

static void make_groups(void)
{
	group_a = make_group("/a");
	group_b = make_group("/a/b");
}

static uint32_t nr_stalled(uint32_t group, enum stall_kind kind)
{
	return atomic_load(&segment_group(&segment, group)->stalls[kind].word) >> 16 & 0xffff;
}

static uint64_t total_ns(uint32_t group, enum stall_kind kind)
{
	return stall_average(&segment, group).total_ns[kind];
}

static void sleep_briefly(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void wait_until_more(uint32_t group, enum stall_kind kind)
{
	uint64_t before = total_ns(group, kind);

	while (total_ns(group, kind) == before)
		sleep_briefly();
}

static void nobody_waits_at_first(void **state)
{
	(void)state;
	make_groups();
	for (unsigned int i = 0; i < NR_STALL_KINDS; i++)
		assert_int_equal(total_ns(group_a, i), 0);
	assert_false(stall_begin(&segment, 0));
	assert_false(stall_begin(&segment, UINT32_MAX));
	stall_end(&segment, 0);
}

static void waiting_is_counted_in_the_group_and_above(void **state)
{
	uint32_t process, thread;
	uint64_t total;

	(void)state;
	make_groups();
	thread = join(getpid(), group_b, &process);
	assert_true(stall_begin(&segment, thread));
	assert_false(stall_begin(&segment, thread));
	wait_until_more(SHARED_ROOT, STALL_SOME);
	wait_until_more(group_a, STALL_FULL);
	assert_true(total_ns(group_b, STALL_SOME));
	stall_end(&segment, thread);
	total = total_ns(group_b, STALL_SOME);
	sleep_briefly();
	assert_int_equal(total_ns(group_b, STALL_SOME), total);
	assert_true(total_ns(group_b, STALL_FULL) <= total);
	assert_int_equal(nr_stalled(group_b, STALL_SOME), 0);
}

static void a_change_of_long_ago_means_nothing(void **state)
{
	struct timespec now;
	uint32_t process, thread, ticks;

	(void)state;
	make_groups();
	thread = join(getpid(), group_b, &process);
	clock_gettime(CLOCK_MONOTONIC, &now);
	ticks = (uint32_t)(((uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000) / 16);
	/* Half of what the word can tell, and more: as ahead. */
	for (unsigned int i = 0; i < NR_STALL_KINDS; i++)
		atomic_store(&segment_group(&segment, group_b)->stalls[i].word,
			     (uint64_t)(ticks + 0x70000000u) << 32);
	assert_true(stall_begin(&segment, thread));
	wait_until_more(group_b, STALL_SOME);
	stall_end(&segment, thread);
}

static void full_is_when_all_processes_wait(void **state)
{
	pid_t pid = fork_waiting_child(NULL);
	uint32_t process, thread, other, other_thread;

	(void)state;
	make_groups();
	thread = join(getpid(), group_a, &process);
	other_thread = join(pid, group_b, &other);
	assert_true(stall_begin(&segment, other_thread));
	assert_int_equal(nr_stalled(group_b, STALL_FULL), 1);
	assert_int_equal(nr_stalled(group_a, STALL_SOME), 1);
	assert_int_equal(nr_stalled(group_a, STALL_FULL), 0);
	assert_true(stall_begin(&segment, thread));
	assert_int_equal(nr_stalled(group_a, STALL_FULL), 1);
	stall_end(&segment, other_thread);
	assert_int_equal(nr_stalled(group_a, STALL_FULL), 0);
	assert_int_equal(nr_stalled(group_a, STALL_SOME), 1);
	assert_int_equal(nr_stalled(group_b, STALL_SOME), 0);
	stall_end(&segment, thread);
	bury(pid);
}

/* At any point of beginning and ending: in some words, or in none, or in all. */
static void what_the_dead_waited_is_forgotten(void **state)
{
	uint32_t process, thread, mine, my_thread;

	(void)state;
	make_groups();
	my_thread = join(getpid(), group_b, &mine);
	assert_true(stall_begin(&segment, my_thread));
	for (uint32_t stall = 0; stall < 4; stall++) {
		pid_t pid = fork_waiting_child(NULL);

		thread = join(pid, group_b, &process);
		if (stall % 2)
			assert_true(stall_begin(&segment, thread));
		atomic_store(&segment_thread(&segment, thread)->stall, stall);
		bury(pid);
		assert_int_equal(recovery_run(&segment, false), 0);
		assert_int_equal(nr_stalled(group_b, STALL_SOME), 1);
		assert_int_equal(nr_stalled(group_a, STALL_SOME), 1);
		assert_int_equal(nr_stalled(SHARED_ROOT, STALL_FULL), 1);
	}
	stall_end(&segment, my_thread);
	assert_int_equal(nr_stalled(SHARED_ROOT, STALL_SOME), 0);
}

/* A signal handler waits, and ends that, while its thread is about to end its own wait. */
static void a_wait_is_ended_once(void **state)
{
	pid_t pid = fork_waiting_child(NULL);
	uint32_t process, thread, other, other_thread;

	(void)state;
	make_groups();
	thread = join(getpid(), group_b, &process);
	other_thread = join(pid, group_b, &other);
	assert_true(stall_begin(&segment, thread));
	assert_true(stall_begin(&segment, other_thread));
	assert_false(stall_begin(&segment, thread));
	stall_end(&segment, thread);
	stall_end(&segment, thread);
	assert_int_equal(nr_stalled(group_b, STALL_SOME), 1);
	assert_int_equal(nr_stalled(group_a, STALL_SOME), 1);
	bury(pid);
}

/* One that was just leaving kept the recovery from counting, and nobody dies any more. */
static void what_a_recovery_could_not_count_is_forgotten_by_who_reads(void **state)
{
	uint32_t process, thread, mine, my_thread;
	pid_t pid = fork_waiting_child(NULL);

	(void)state;
	make_groups();
	my_thread = join(getpid(), group_b, &mine);
	thread = join(pid, group_b, &process);
	assert_true(stall_begin(&segment, thread));
	atomic_store(&segment_thread(&segment, my_thread)->stall, 3);
	bury(pid);
	assert_int_equal(recovery_run(&segment, false), 0);
	assert_int_equal(nr_stalled(group_b, STALL_SOME), 1);
	atomic_store(&segment_thread(&segment, my_thread)->stall, 0);
	stall_average(&segment, group_a);
	assert_int_equal(nr_stalled(group_a, STALL_SOME), 0);
	assert_int_equal(nr_stalled(group_a, STALL_FULL), 0);
	assert_int_equal(nr_stalled(group_b, STALL_SOME), 1);
}

static void averages_that_the_dead_computed_are_free_again(void **state)
{
	struct shared_group *row;
	pid_t pid = fork_waiting_child(NULL);
	uint32_t process;

	(void)state;
	make_groups();
	join(pid, group_b, &process);
	row = segment_group(&segment, group_a);
	atomic_store(&row->averaging, process);
	stall_average(&segment, group_a);
	assert_int_equal(atomic_load(&row->averaging), process);
	bury(pid);
	assert_int_equal(recovery_run(&segment, false), 0);
	assert_int_equal(atomic_load(&row->averaging), 0);
}

static void any_numbers_are_survived(void **state)
{
	struct shared_group *row;
	struct average nonsense;
	uint32_t process, thread;
	char text[512];

	(void)state;
	make_groups();
	thread = join(getpid(), group_b, &process);
	row = segment_group(&segment, group_b);
	memset(&nonsense, 0xff, sizeof(nonsense));
	row->average = nonsense;
	atomic_store(&row->stalls[STALL_SOME].word, UINT64_MAX);
	atomic_store(&row->stalls[STALL_FULL].nr_us, UINT64_MAX);
	stall_average(&segment, group_b);
	nonsense.at_ns = 1;
	nonsense.period_end_ns = 0;
	row->average = nonsense;
	assert_true(stall_begin(&segment, thread));
	stall_recount(&segment);
	stall_end(&segment, thread);
	/* A group that is its own parent. */
	atomic_store(&row->counter.parent, group_b);
	assert_true(stall_begin(&segment, thread));
	stall_end(&segment, thread);
	atomic_store(&row->high, 0);
	atomic_store(&row->counter.usage, UINT64_MAX);
	assert_int_equal(throttle_group_above(&segment, process), group_b);
	assert_true(control_files_read(&segment, group_b, "memory.pressure", text, 512) > 0);
	/* Nothing of that is the next test's. */
	atomic_store(&row->counter.parent, group_a);
}

/* ---- high ---- */

static uint32_t process_above, thread_above;

static void use(uint32_t group, uint64_t nr_bytes)
{
	atomic_store(&segment_group(&segment, group)->counter.usage, nr_bytes);
}

static void who_is_not_above_high_does_not_wait(void **state)
{
	(void)state;
	make_groups();
	thread_above = join(getpid(), group_b, &process_above);
	assert_false(throttle_is_used(&segment));
	assert_int_equal(control_files_write(&segment, group_a, "memory.high", "1M"), 0);
	assert_true(throttle_is_used(&segment));
	use(group_a, 1 << 20);
	assert_int_equal(throttle_group_above(&segment, process_above), 0);
	assert_int_equal(throttle_wait(&segment, process_above, thread_above, 1 << 30), 0);
	use(group_a, (1 << 20) + 1000);
	assert_int_equal(throttle_group_above(&segment, process_above), group_a);
	assert_int_equal(throttle_wait(&segment, process_above, thread_above, 0), 0);
}

static void the_delay_grows_with_the_square_of_the_excess(void **state)
{
	uint64_t little, more;

	(void)state;
	make_groups();
	thread_above = join(getpid(), group_b, &process_above);
	assert_int_equal(control_files_write(&segment, group_a, "memory.high", "100M"), 0);
	errno = 4711;
	use(group_a, 101 << 20);
	little = throttle_wait(&segment, process_above, thread_above, 256 << 10);
	use(group_a, 102 << 20);
	more = throttle_wait(&segment, process_above, thread_above, 256 << 10);
	assert_int_equal(errno, 4711);
	assert_in_range(little, 6000, 7000);
	assert_in_range(more, 4 * little - 500, 4 * little + 500);
	assert_true(total_ns(group_a, STALL_SOME) >= (little + more - 1000) * 1000);
	assert_int_equal(
		atomic_load(&segment_group(&segment, group_a)->events_local[SHARED_EVENT_HIGH]), 2);
}

static void wait_in_child(void (*release)(void))
{
	pid_t pid;

	make_groups();
	thread_above = join(getpid(), group_b, &process_above);
	assert_int_equal(control_files_write(&segment, group_a, "memory.high", "1M"), 0);
	use(group_a, 10 << 20);
	pid = fork_child();
	if (!pid) {
		struct timespec begin, end;
		uint64_t nr_us;

		clock_gettime(CLOCK_MONOTONIC, &begin);
		nr_us = throttle_wait(&segment, process_above, thread_above, 1 << 20);
		clock_gettime(CLOCK_MONOTONIC, &end);
		_exit(nr_us != 2000000 || (end.tv_sec - begin.tv_sec) * 1000000 +
							  (end.tv_nsec - begin.tv_nsec) / 1000 >=
						  (long)nr_us);
	}
	while (!nr_stalled(group_a, STALL_SOME))
		sleep_briefly();
	release();
	wait_for_good_end(pid);
	assert_int_equal(nr_stalled(group_a, STALL_SOME), 0);
}

static void raise_high(void)
{
	assert_int_equal(control_files_write(&segment, group_a, "memory.high", "max"), 0);
}

static void give_back(void)
{
	use(group_a, 1 << 20);
}

static void a_higher_high_ends_the_wait(void **state)
{
	(void)state;
	wait_in_child(raise_high);
}

static void usage_below_high_ends_the_wait(void **state)
{
	(void)state;
	wait_in_child(give_back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_segment(nobody_waits_at_first),
		test_in_segment(waiting_is_counted_in_the_group_and_above),
		test_in_segment(a_change_of_long_ago_means_nothing),
		test_in_segment(full_is_when_all_processes_wait),
		test_in_segment(what_the_dead_waited_is_forgotten),
		test_in_segment(a_wait_is_ended_once),
		test_in_segment(what_a_recovery_could_not_count_is_forgotten_by_who_reads),
		test_in_segment(averages_that_the_dead_computed_are_free_again),
		test_in_segment(any_numbers_are_survived),
		test_in_segment(who_is_not_above_high_does_not_wait),
		test_in_segment(the_delay_grows_with_the_square_of_the_excess),
		test_in_segment(a_higher_high_ends_the_wait),
		test_in_segment(usage_below_high_ends_the_wait),
	};

	int r;

	runtime_dir_make();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	runtime_dir_remove();
	return r;
}
