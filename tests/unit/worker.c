/* SPDX-License-Identifier: MIT */
/* The library's own threads: what they do when, and what becomes of it in a fork. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system.h"
#include "reclaim/worker.h"
#include "umemcg.h"

#define MS ((uint64_t)1000000)

static _Atomic unsigned int nr_done;
static _Atomic bool may_end;
static struct work *order[8];
static pthread_t worker;

static void note(struct work *work)
{
	unsigned int nr = atomic_load(&nr_done);

	if (nr < 8)
		order[nr] = work;
	worker = pthread_self();
	atomic_store(&nr_done, nr + 1);
}

static void note_and_wait(struct work *work)
{
	note(work);
	while (!atomic_load(&may_end))
		usleep(100);
}

static int begin(void **state)
{
	(void)state;
	umemcg_root();
	atomic_store(&nr_done, 0);
	atomic_store(&may_end, false);
	return worker_start() || worker_start_kind(WORKER_CALLBACKS);
}

static void wait_for(unsigned int nr)
{
	while (atomic_load(&nr_done) < nr)
		usleep(100);
}

/* ---- what is queued while the thread is busy, so that nothing depends on who is quick ---- */

static _Atomic bool is_busy, may_go_on;

static void be_busy(struct work *work)
{
	(void)work;
	atomic_store(&is_busy, true);
	while (!atomic_load(&may_go_on))
		usleep(100);
}

static void hold_up(void)
{
	static struct work busy = { .run = be_busy };

	atomic_store(&is_busy, false);
	atomic_store(&may_go_on, false);
	worker_queue(&busy, 0);
	while (!atomic_load(&is_busy))
		usleep(100);
}

static void go_on(void)
{
	atomic_store(&may_go_on, true);
}

static void works_are_done_in_the_order_they_are_due(void **state)
{
	struct work first = { .run = note }, second = first, third = first;
	uint64_t now;

	(void)state;
	hold_up();
	now = system_now_ns();
	worker_queue(&third, now + 60 * MS);
	worker_queue(&first, now + 20 * MS);
	worker_queue(&second, now + 40 * MS);
	go_on();
	wait_for(3);
	assert_true(system_now_ns() >= now + 60 * MS);
	assert_ptr_equal(order[0], &first);
	assert_ptr_equal(order[1], &second);
	assert_ptr_equal(order[2], &third);
	assert_false(pthread_equal(worker, pthread_self()));
}

static void a_work_that_is_queued_twice_is_done_once_at_the_earlier_time(void **state)
{
	struct work work = { .run = note }, last = { .run = note };
	uint64_t now = system_now_ns();

	(void)state;
	worker_queue(&work, now + 1000000 * MS);
	worker_queue(&work, now);
	worker_queue(&work, now + 1000000 * MS);
	wait_for(1);
	worker_cancel(&work);
	worker_queue(&last, system_now_ns());
	wait_for(2);
	assert_ptr_equal(order[0], &work);
	assert_ptr_equal(order[1], &last);
}

static void what_is_cancelled_is_not_done(void **state)
{
	struct work work = { .run = note }, last = { .run = note };
	uint64_t now = system_now_ns();

	(void)state;
	hold_up();
	worker_queue(&work, now + 20 * MS);
	worker_queue(&last, now + 40 * MS);
	worker_cancel(&work);
	go_on();
	wait_for(1);
	assert_ptr_equal(order[0], &last);
	worker_cancel(&work);
}

static void *end_soon(void *arg)
{
	usleep(2000);
	atomic_store(&may_end, true);
	return arg;
}

static void cancelling_waits_for_what_is_running(void **state)
{
	struct work work = { .run = note_and_wait };
	pthread_t thread;

	(void)state;
	worker_queue(&work, 0);
	wait_for(1);
	assert_int_equal(pthread_create(&thread, NULL, end_soon, NULL), 0);
	worker_cancel(&work);
	assert_true(atomic_load(&may_end));
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void a_callback_that_hangs_keeps_no_service_waiting(void **state)
{
	struct work hangs = { .run = note_and_wait, .kind = WORKER_CALLBACKS };
	struct work work = { .run = note };

	(void)state;
	worker_queue(&hangs, 0);
	wait_for(1);
	worker_queue(&work, 0);
	wait_for(2);
	assert_false(atomic_load(&may_end));
	atomic_store(&may_end, true);
	worker_cancel(&hangs);
}

static void a_forked_child_makes_its_threads_anew(void **state)
{
	struct work kept = { .run = note }, work = { .run = note };
	int status;
	pid_t child;

	(void)state;
	hold_up();
	worker_queue(&kept, system_now_ns() + 20 * MS);
	child = fork();
	if (!child) {
		/* What was queued before is still to be done; no thread is there for it yet. */
		worker_renew();
		worker_queue(&work, 0);
		wait_for(2);
		_exit(0);
	}
	go_on();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	wait_for(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(works_are_done_in_the_order_they_are_due, begin),
		cmocka_unit_test_setup(a_work_that_is_queued_twice_is_done_once_at_the_earlier_time,
				       begin),
		cmocka_unit_test_setup(what_is_cancelled_is_not_done, begin),
		cmocka_unit_test_setup(cancelling_waits_for_what_is_running, begin),
		cmocka_unit_test_setup(a_callback_that_hangs_keeps_no_service_waiting, begin),
		cmocka_unit_test_setup(a_forked_child_makes_its_threads_anew, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
