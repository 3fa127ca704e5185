/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/system.h"
#include "reclaim/pressure.h"
#include "umemcg.h"

#define NS_PER_MS 1000000ull

static const char nothing[] = "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
			      "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";

static struct umemcg *create(struct umemcg *parent, const char *name)
{
	struct umemcg *group;

	assert_int_equal(umemcg_create(parent, name, &group), 0);
	return group;
}

static void destroy(struct umemcg *group)
{
	assert_int_equal(umemcg_destroy(group), 0);
}

/* The calling thread has to have allocated to be seen. */
static void be_seen(void)
{
	umemcg_free(umemcg_malloc(1));
}

static uint64_t total_ns(struct umemcg *group, enum average_state state)
{
	struct average average;

	pressure_read(group, &average);
	return average.total_ns[state];
}

static void let_pass(uint64_t nr_ms)
{
	uint64_t end_ns = system_now_ns() + nr_ms * NS_PER_MS;

	while (system_now_ns() < end_ns)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* A stall of at least so long; *ret_most is what it can be at most. */
static uint64_t stall(struct umemcg *group, uint64_t nr_ms, uint64_t *ret_most_ns)
{
	uint64_t start_ns = system_now_ns();

	pressure_begin(group->owner);
	let_pass(nr_ms);
	pressure_end(group->owner);
	*ret_most_ns = system_now_ns() - start_ns;
	return nr_ms * NS_PER_MS;
}

static void where_nothing_stalls_there_is_no_pressure(void **state)
{
	struct umemcg *group = create(NULL, "quiet");
	char text[256];

	(void)state;
	assert_int_equal(umemcg_read(group, "memory.pressure", text, sizeof(text)),
			 strlen(nothing));
	assert_string_equal(text, nothing);
	/* And nothing was made for it. */
	assert_int_equal(group->pressure, 0);
	assert_int_equal(umemcg_write(group, "memory.pressure", "some 150000 1000000"),
			 -EOPNOTSUPP);
	destroy(group);
}

static void a_stall_counts_here_and_above_but_not_beside(void **state)
{
	struct umemcg *top = create(NULL, "top"), *group = create(top, "group");
	struct umemcg *other = create(top, "other");
	uint64_t most_ns, least_ns, us;
	char text[256], *total;

	(void)state;
	be_seen();
	least_ns = stall(group, 20, &most_ns);
	assert_in_range(total_ns(group, AVERAGE_SOME), least_ns, most_ns);
	assert_int_equal(total_ns(top, AVERAGE_SOME), total_ns(group, AVERAGE_SOME));
	assert_int_equal(total_ns(other, AVERAGE_SOME), 0);
	assert_true(total_ns(umemcg_root(), AVERAGE_SOME) >= least_ns);
	umemcg_read(group, "memory.pressure", text, sizeof(text));
	total = strstr(text, "total=");
	assert_non_null(total);
	us = strtoull(total + strlen("total="), NULL, 10);
	assert_int_equal(us, total_ns(group, AVERAGE_SOME) / 1000);
	destroy(other);
	destroy(group);
	destroy(top);
}

static void a_stall_under_way_is_in_what_is_read(void **state)
{
	struct umemcg *group = create(NULL, "long");
	uint64_t first_ns;

	(void)state;
	be_seen();
	pressure_begin(group->owner);
	let_pass(5);
	first_ns = total_ns(group, AVERAGE_SOME);
	assert_true(first_ns >= 5 * NS_PER_MS);
	let_pass(1);
	assert_true(total_ns(group, AVERAGE_SOME) >= first_ns + NS_PER_MS);
	pressure_end(group->owner);
	first_ns = total_ns(group, AVERAGE_SOME);
	let_pass(5);
	assert_int_equal(total_ns(group, AVERAGE_SOME), first_ns);
	destroy(group);
}

static void only_the_outermost_stall_counts(void **state)
{
	struct umemcg *group = create(NULL, "outer"), *other = create(NULL, "inner");
	uint64_t start_ns, most_ns;

	(void)state;
	be_seen();
	start_ns = system_now_ns();
	pressure_begin(group->owner);
	stall(other, 5, &most_ns);
	stall(group, 5, &most_ns);
	pressure_end(group->owner);
	/* One too many ends nothing. */
	pressure_end(group->owner);
	assert_in_range(total_ns(group, AVERAGE_SOME), 10 * NS_PER_MS, system_now_ns() - start_ns);
	assert_int_equal(total_ns(other, AVERAGE_SOME), 0);
	destroy(other);
	destroy(group);
}

/* ---- full ---- */

struct fellow {
	struct umemcg *group;
	pthread_t thread;
	_Atomic int wish;  /* what it is to do */
	_Atomic int state; /* what it does */
};

enum { IDLE = 1, STALLED, GONE };

static void *be_fellow(void *arg)
{
	struct fellow *fellow = arg;

	umemcg_enter(fellow->group);
	be_seen();
	while (fellow->state != GONE) {
		if (fellow->wish == fellow->state) {
			let_pass(1);
			continue;
		}
		if (fellow->state == STALLED)
			pressure_end(fellow->group->owner);
		if (fellow->wish == STALLED)
			pressure_begin(fellow->group->owner);
		fellow->state = fellow->wish;
	}
	umemcg_enter(NULL);
	return NULL;
}

static void wish(struct fellow *fellow, int what)
{
	fellow->wish = what;
	while (fellow->state != what)
		let_pass(1);
}

static void full_is_when_all_threads_of_the_group_are_stalled(void **state)
{
	struct umemcg *top = create(NULL, "top"), *group = create(top, "group"), *old;
	struct fellow fellow = { .group = group };
	uint64_t most_ns, before_ns;

	(void)state;
	old = umemcg_enter(top);
	be_seen();
	assert_int_equal(pthread_create(&fellow.thread, NULL, be_fellow, &fellow), 0);
	wish(&fellow, IDLE);
	/* So that threads are counted anew, for they are counted only now and then. */
	let_pass(20);
	stall(top, 20, &most_ns);
	assert_true(total_ns(top, AVERAGE_SOME) >= 20 * NS_PER_MS);
	assert_int_equal(total_ns(top, AVERAGE_FULL), 0);
	wish(&fellow, STALLED);
	let_pass(20);
	/* The fellow's group is stalled in full, that above it is not: this thread goes on. */
	pressure_look();
	assert_true(total_ns(group, AVERAGE_FULL) >= 20 * NS_PER_MS);
	assert_int_equal(total_ns(top, AVERAGE_FULL), 0);
	before_ns = total_ns(top, AVERAGE_SOME);
	stall(top, 20, &most_ns);
	assert_in_range(total_ns(top, AVERAGE_FULL), 20 * NS_PER_MS, most_ns);
	assert_true(total_ns(top, AVERAGE_SOME) >= before_ns + 20 * NS_PER_MS);
	wish(&fellow, GONE);
	pthread_join(fellow.thread, NULL);
	umemcg_enter(old);
	destroy(group);
	destroy(top);
}

static void *end_stalled(void *arg)
{
	struct umemcg *group = arg;

	be_seen();
	pressure_begin(group->owner);
	return NULL;
}

static void a_thread_that_ends_is_stalled_no_more(void **state)
{
	struct umemcg *group = create(NULL, "ended");
	uint64_t before_ns;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, end_stalled, group), 0);
	pthread_join(thread, NULL);
	before_ns = total_ns(group, AVERAGE_SOME);
	assert_true(before_ns > 0);
	let_pass(2);
	assert_int_equal(total_ns(group, AVERAGE_SOME), before_ns);
	destroy(group);
}

static void a_stall_goes_on_in_the_heir(void **state)
{
	struct umemcg *top = create(NULL, "top"), *group = create(top, "group");
	struct umemcg *other;
	uint64_t before_ns;

	(void)state;
	be_seen();
	pressure_begin(group->owner);
	destroy(group);
	/* It gets the row of the one that is gone, and another parent. */
	other = create(NULL, "other");
	assert_ptr_equal(other, group);
	before_ns = total_ns(top, AVERAGE_SOME);
	let_pass(2);
	assert_true(total_ns(top, AVERAGE_SOME) >= before_ns + 2 * NS_PER_MS);
	/* Whoever has its row is not what is stalled. */
	assert_int_equal(total_ns(other, AVERAGE_SOME), 0);
	pressure_end(group->owner);
	before_ns = total_ns(top, AVERAGE_SOME);
	let_pass(2);
	assert_int_equal(total_ns(top, AVERAGE_SOME), before_ns);
	destroy(other);
	destroy(top);
}

static void a_child_has_no_stalls_of_its_parents_other_threads(void **state)
{
	struct umemcg *group = create(NULL, "forked");
	struct fellow fellow = { .group = group };
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(pthread_create(&fellow.thread, NULL, be_fellow, &fellow), 0);
	wish(&fellow, STALLED);
	pid = fork();
	if (!pid) {
		uint64_t before_ns = total_ns(group, AVERAGE_SOME);

		let_pass(2);
		_exit(before_ns && total_ns(group, AVERAGE_SOME) == before_ns ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	wish(&fellow, GONE);
	pthread_join(fellow.thread, NULL);
	destroy(group);
}

/* ---- who is stalled while it reclaims ---- */

/* Explicit charges of one group, of which as much can be had as is wanted. */
static uint64_t count_charged(struct umemcg *group, void *arg)
{
	return group == arg ? umemcg_get_current(group) : 0;
}

static uint64_t give_back(struct umemcg *group, uint64_t nr_bytes, void *arg)
{
	uint64_t nr_charged = count_charged(group, arg);

	nr_bytes = nr_bytes < nr_charged ? nr_bytes : nr_charged;
	let_pass(1);
	umemcg_uncharge(group, nr_bytes);
	return nr_bytes;
}

/* Its parent is full, or above high, or to shrink; what there is to give back is another group's.
 */
static void who_reclaims_for_a_group_above_is_stalled_in_its_own(void **state)
{
	static const struct umemcg_shrinker_ops ops = { .count = count_charged, .scan = give_back };
	struct umemcg *top = create(NULL, "top"), *cache = create(top, "cache");
	struct umemcg *group = create(top, "group");
	struct umemcg_shrinker *shrinker;
	uint64_t before_ns;

	(void)state;
	be_seen();
	umemcg_set_reclaim_timeout(60000000);
	assert_int_equal(umemcg_shrinker_register(top, &ops, cache, 0, &shrinker), 0);
	assert_int_equal(umemcg_set_max(top, 1 << 20), 0);
	assert_int_equal(umemcg_try_charge(cache, 1 << 20), 0);
	/* Charged from outside. */
	assert_int_equal(umemcg_try_charge(group, 4096), 0);
	assert_true(total_ns(group, AVERAGE_SOME) >= NS_PER_MS);
	assert_int_equal(total_ns(cache, AVERAGE_SOME), 0);

	umemcg_enter(group);
	before_ns = total_ns(group, AVERAGE_SOME);
	assert_int_equal(umemcg_reclaim(top, 4096), 0);
	assert_true(total_ns(group, AVERAGE_SOME) >= before_ns + NS_PER_MS);

	before_ns = total_ns(group, AVERAGE_SOME);
	assert_int_equal(umemcg_set_high(top, 1 << 19), 0);
	umemcg_throttle();
	assert_true(total_ns(group, AVERAGE_SOME) >= before_ns + NS_PER_MS);
	assert_int_equal(total_ns(cache, AVERAGE_SOME), 0);

	umemcg_enter(NULL);
	umemcg_shrinker_unregister(shrinker);
	umemcg_uncharge(group, 4096);
	umemcg_uncharge(cache, umemcg_get_current(cache));
	destroy(group);
	destroy(cache);
	destroy(top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_nothing_stalls_there_is_no_pressure),
		cmocka_unit_test(a_stall_counts_here_and_above_but_not_beside),
		cmocka_unit_test(a_stall_under_way_is_in_what_is_read),
		cmocka_unit_test(only_the_outermost_stall_counts),
		cmocka_unit_test(full_is_when_all_threads_of_the_group_are_stalled),
		cmocka_unit_test(a_thread_that_ends_is_stalled_no_more),
		cmocka_unit_test(a_stall_goes_on_in_the_heir),
		cmocka_unit_test(a_child_has_no_stalls_of_its_parents_other_threads),
		cmocka_unit_test(who_reclaims_for_a_group_above_is_stalled_in_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
