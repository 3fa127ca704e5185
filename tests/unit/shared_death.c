/* SPDX-License-Identifier: MIT */
/* Who is dead: rows of processes, claimed, named, left and taken over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "child.h"
#include "shared/death.h"
#include "shared/tracer.h"
#include "shared_fixture.h"

/* Dead, but not waited for. */
static void make_zombie(pid_t pid)
{
	siginfo_t info;

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static uint32_t claim(pid_t pid, unsigned int flags)
{
	uint32_t row;

	assert_int_equal(slot_claim(&segment, 0, pid, flags, &row), 0);
	slot_set_live(&segment, row);
	return row;
}

static void the_living_live(void **state)
{
	pid_t pid = fork_waiting_child(NULL);
	uint64_t name;

	(void)state;
	assert_int_equal(death_name_of(pid, &name), 0);
	assert_int_equal(death_pid(name), pid);
	assert_false(death_of(name));
	assert_false(death_of_pid(pid));
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_false(death_of(name));
	bury(pid);
	assert_true(death_of(name));
	assert_true(death_of_pid(pid));
	assert_int_equal(death_name_of(pid, &name), -ESRCH);
}

static void a_zombie_is_dead(void **state)
{
	pid_t pid = fork_waiting_child(NULL);
	uint64_t name;

	(void)state;
	assert_int_equal(death_name_of(pid, &name), 0);
	make_zombie(pid);
	/* It still has its pid and its start time. */
	assert_int_equal(kill(pid, 0), 0);
	assert_true(death_of(name));
	assert_true(death_of_pid(pid));
	bury(pid);
}

static void *wait_for_ever(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

/* Leaves its main thread behind; the parent sees it as a zombie that has a thread. */
static void end_main_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, wait_for_ever, NULL))
		_exit(1);
}

static char state_of_main_thread(pid_t pid)
{
	char path[64], text[512] = "";
	FILE *file;
	size_t length;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, pid);
	file = fopen(path, "r");
	assert_non_null(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	fclose(file);
	return strrchr(text, ')')[2];
}

static void a_process_without_its_main_thread_lives(void **state)
{
	uint64_t name;
	pid_t pid;

	(void)state;
	pid = fork_child();
	if (!pid) {
		end_main_thread();
		/* Not exit(): the other thread stays. */
		syscall(SYS_exit, 0);
	}
	/* Ends by itself, or the test by its timeout. */
	while (state_of_main_thread(pid) != 'Z')
		sched_yield();
	assert_int_equal(death_name_of(pid, &name), 0);
	assert_false(death_of(name));
	assert_false(death_of_pid(pid));
	make_zombie(pid);
	assert_true(death_of(name));
	bury(pid);
}

static void a_reused_pid_is_another(void **state)
{
	uint32_t row = claim(getpid(), 0);
	_Atomic uint64_t *word = &segment_name(&segment, row)->word;
	uint64_t name = atomic_load(word);

	(void)state;
	assert_false(slot_is_dead(&segment, row));
	assert_int_equal(slot_find(&segment, getpid()), row);
	/* One that had our pid, and began a tick earlier. */
	atomic_store(word, death_name(getpid(), (uint32_t)(name >> 32) - 1));
	assert_true(slot_is_dead(&segment, row));
	assert_int_equal(slot_find(&segment, getpid()), 0);
	slot_free(&segment, row);
}

static void a_thread_that_has_the_pid_is_not_the_process(void **state)
{
	pthread_t thread;
	pid_t tid = 0;
	char path[64];

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, wait_for_ever, NULL), 0);
	/* Whichever it is. */
	for (pid_t at = getpid() + 1; !tid && at < getpid() + 10000; at++) {
		snprintf(path, sizeof(path), "/proc/self/task/%d", at);
		if (!access(path, F_OK))
			tid = at;
	}
	if (tid) {
		assert_int_equal(kill(tid, 0), 0);
		assert_true(death_of_pid(tid));
	}
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	if (!tid)
		skip();
}

static void no_pid_is_a_dead_one(void **state)
{
	(void)state;
	assert_true(death_of(0));
	assert_true(death_of_pid(0));
	assert_true(death_of_pid(-1));
	assert_true(death_of(death_name(-1, 5)));
	assert_true(death_of(death_name(INT32_MIN, 5)));
}

static void without_descriptors_only_what_is_gone_is_dead(void **state)
{
	struct rlimit old, none;
	pid_t gone = fork_waiting_child(NULL);
	pid_t living = fork_waiting_child(NULL);
	uint64_t name_of_gone, name_of_living;

	(void)state;
	assert_int_equal(death_name_of(gone, &name_of_gone), 0);
	assert_int_equal(death_name_of(living, &name_of_living), 0);
	bury(gone);
	getrlimit(RLIMIT_NOFILE, &old);
	none = (struct rlimit){ 0, old.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	errno = 4711;
	assert_true(death_of(name_of_gone));
	assert_false(death_of(name_of_living));
	assert_int_equal(errno, 4711);
	setrlimit(RLIMIT_NOFILE, &old);
	bury(living);
}

/* ---- rows ---- */

static void a_row_is_of_one_at_a_time(void **state)
{
	uint32_t first = claim(getpid(), 0), second = claim(getpid(), PROCESS_LOOKS), row;

	(void)state;
	assert_int_not_equal(first, second);
	/* Who looks is no leaf. */
	assert_int_equal(slot_find(&segment, getpid()), first);
	slot_free(&segment, first);
	assert_int_equal(slot_find(&segment, getpid()), 0);
	assert_int_equal(slot_pid(&segment, first), 0);
	row = claim(getppid(), 0);
	assert_int_equal(row, first);
	assert_int_equal(slot_find(&segment, getppid()), row);
	slot_free(&segment, row);
	slot_free(&segment, second);
	assert_int_equal(slot_claim(&segment, 0, INT32_MAX, 0, &row), -ESRCH);
}

static void what_was_left_by_exec_is_dead(void **state)
{
	uint32_t row = claim(getpid(), 0);

	(void)state;
	assert_int_equal(slot_first_dead(&segment, 0), 0);
	atomic_fetch_or(&segment_process(&segment, row)->flags, PROCESS_LEFT);
	assert_true(slot_is_dead(&segment, row));
	assert_int_equal(slot_find(&segment, getpid()), 0);
	assert_int_equal(slot_first_dead(&segment, 0), row);
	slot_free(&segment, row);
	assert_int_equal(slot_first_dead(&segment, 0), 0);
}

static void the_dead_are_found_below_their_groups_only(void **state)
{
	pid_t pid = fork_waiting_child(NULL);
	uint32_t above, below, row = claim(pid, 0);

	(void)state;
	assert_int_equal(tree_create(&segment, "/a", &above), 0);
	assert_int_equal(tree_create(&segment, "/a/b", &below), 0);
	assert_int_equal(tree_join(&segment, row, above), 0);
	assert_int_equal(slot_first_dead(&segment, above), 0);
	bury(pid);
	assert_int_equal(slot_first_dead(&segment, above), row);
	assert_int_equal(slot_first_dead(&segment, SHARED_ROOT), row);
	assert_int_equal(slot_first_dead(&segment, below), 0);
	slot_free(&segment, row);
	assert_int_equal(tree_destroy(&segment, below), 0);
	assert_int_equal(tree_destroy(&segment, above), 0);
}

static _Atomic uint32_t *shared_row;

static void claim_for_a_child(void)
{
	uint32_t row;

	if (slot_claim(&segment, segment.process, 0, 0, &row))
		_exit(1);
	atomic_store(shared_row, row);
}

/* A word that a child and this process share: one that nobody uses in the segment. */
static void prepare_shared_row(void)
{
	shared_row = &segment.header->report_futex;
}

static void an_unnamed_row_dies_with_its_claimer(void **state)
{
	uint32_t row, again;
	pid_t pid;

	(void)state;
	prepare_shared_row();
	pid = fork_waiting_child(claim_for_a_child);
	row = atomic_load(shared_row);
	assert_false(slot_is_dead(&segment, row));
	assert_int_equal(slot_first_dead(&segment, 0), 0);
	/* While it lives nobody else gets it. */
	assert_int_equal(slot_claim(&segment, 0, getpid(), 0, &again), 0);
	assert_int_not_equal(again, row);
	slot_free(&segment, again);
	bury(pid);
	assert_true(slot_is_dead(&segment, row));
	assert_int_equal(slot_claim(&segment, 0, getpid(), 0, &again), 0);
	assert_int_equal(again, row < again ? again : row);
	assert_int_equal(slot_pid(&segment, again), getpid());
	slot_free(&segment, again);
	if (again != row)
		slot_free(&segment, row);
}

static void child_and_parent_may_both_name_it(void **state)
{
	uint32_t row;
	pid_t pid;

	(void)state;
	assert_int_equal(slot_claim(&segment, 0, 0, 0, &row), 0);
	assert_int_equal(slot_pid(&segment, row), 0);
	pid = fork_child();
	if (!pid) {
		int r = slot_name(&segment, row, getpid());

		slot_set_live(&segment, row);
		_exit(r ? 1 : 0);
	}
	assert_int_equal(slot_name(&segment, row, pid), 0);
	assert_int_equal(slot_pid(&segment, row), pid);
	wait_for_good_end(pid);
	assert_true(slot_is_dead(&segment, row));
	slot_free(&segment, row);
}

/* The parent died, the row went to another: the child, late, must not take its name away. */
static void a_late_child_does_not_name_a_row_of_another(void **state)
{
	pid_t pid = fork_waiting_child(NULL);
	uint32_t row, again;

	(void)state;
	assert_int_equal(slot_claim(&segment, 0, 0, 0, &row), 0);
	/* Claimed by one who is dead, as far as others can see. */
	segment.forker = pid;
	atomic_store(&segment_process(&segment, row)->state,
		     PROCESS_CLAIMED | (uint32_t)pid << PROCESS_STATE_BITS);
	bury(pid);
	assert_int_equal(slot_claim(&segment, 0, getppid(), 0, &again), 0);
	assert_int_equal(again, row);
	assert_int_equal(slot_name(&segment, row, getpid()), -ESRCH);
	assert_int_equal(slot_pid(&segment, row), getppid());
	slot_set_live(&segment, row);
	assert_int_equal(slot_name(&segment, row, getpid()), -ESRCH);
	assert_int_equal(slot_pid(&segment, row), getppid());
	slot_free(&segment, row);
}

static void a_full_tree_has_room_for_who_recovers_it(void **state)
{
	uint32_t row, nr = 0, last = 0;

	(void)state;
	for (;;) {
		int r = slot_claim(&segment, 0, getpid(), 0, &row);

		if (r) {
			assert_int_equal(r, -ENOSPC);
			break;
		}
		last = row;
		nr++;
	}
	assert_true(nr >= 1024 - SLOT_NR_KEPT - 1);
	assert_int_equal(slot_claim(&segment, 0, getpid(), PROCESS_LOOKS, &row), 0);
	assert_true(row > last);
	for_each_process_row(&segment, each) if (each != segment.process) slot_free(&segment, each);
}

/* Who asks may hold locks of the tree. */
static void *ask_while_cancelled(void *arg)
{
	uint64_t name;

	pthread_cancel(pthread_self());
	if (death_name_of(getpid(), &name) || death_of(name) || tracer_is_inside(&segment))
		return NULL;
	return arg;
}

static void who_asks_is_not_cancelled_meanwhile(void **state)
{
	pthread_t thread;
	void *result;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, ask_while_cancelled, &segment), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, &segment);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_living_live),
		cmocka_unit_test(a_zombie_is_dead),
		cmocka_unit_test(a_process_without_its_main_thread_lives),
		cmocka_unit_test(a_thread_that_has_the_pid_is_not_the_process),
		cmocka_unit_test(no_pid_is_a_dead_one),
		cmocka_unit_test(without_descriptors_only_what_is_gone_is_dead),
		test_in_segment(a_reused_pid_is_another),
		test_in_segment(a_row_is_of_one_at_a_time),
		test_in_segment(what_was_left_by_exec_is_dead),
		test_in_segment(the_dead_are_found_below_their_groups_only),
		test_in_segment(an_unnamed_row_dies_with_its_claimer),
		test_in_segment(child_and_parent_may_both_name_it),
		test_in_segment(a_late_child_does_not_name_a_row_of_another),
		test_in_segment(who_asks_is_not_cancelled_meanwhile),
		test_in_segment(a_full_tree_has_room_for_who_recovers_it),
	};
	int r;

	runtime_dir_make();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	runtime_dir_remove();
	return r;
}
