/* SPDX-License-Identifier: MIT */
/* Subscriptions: which events wake whom, when, and how they end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/compiler.h"
#include "child.h"
#include "eventfd.h"
#include "group/event.h"
#include "reclaim/waker.h"
#include "umemcg.h"

#define MAX        (1u << UMEMCG_EVENT_MAX)
#define OOM        (1u << UMEMCG_EVENT_OOM)
#define HIGH       (1u << UMEMCG_EVENT_HIGH)
#define ALL        ((1u << UMEMCG_NR_EVENTS) - 1)
#define MIB        ((uint64_t)1 << 20)
#define SETTLED_MS (5 * (int)(WAKER_INTERVAL_NS / 1000000))

static struct umemcg *parent, *group;

static int create_groups(void **state)
{
	(void)state;
	return umemcg_create(NULL, "parent", &parent) || umemcg_create(parent, "child", &group);
}

static int destroy_groups(void **state)
{
	(void)state;
	return umemcg_destroy(group) || umemcg_destroy(parent);
}

static int subscribe(struct umemcg *to, unsigned int events)
{
	int fd = -1;

	assert_int_equal(umemcg_event_subscribe(to, events, &fd), 0);
	assert_true(fd >= 0);
	return fd;
}

static void unsubscribe(int fd)
{
	assert_int_equal(umemcg_event_unsubscribe(fd), 0);
}

static void refuse_one(struct umemcg *full)
{
	assert_int_equal(umemcg_set_max(full, MIB), 0);
	assert_int_equal(umemcg_try_charge(full, 2 * MIB), -ENOMEM);
}

static void a_refusal_wakes_who_subscribed_to_it(void **state)
{
	int fd = subscribe(group, MAX);

	(void)state;
	assert_int_equal(eventfd_take(fd), 0);
	refuse_one(group);
	assert_int_equal(eventfd_take(fd), 1);
	assert_int_equal(eventfd_take(fd), 0);
	unsubscribe(fd);
}

static void events_that_were_not_asked_for_wake_nobody(void **state)
{
	int high = subscribe(group, HIGH), any = subscribe(group, ALL);

	(void)state;
	group_event(group, UMEMCG_EVENT_LOW);
	assert_int_equal(eventfd_wait_sum(any, 1), 1);
	group_event(group, UMEMCG_EVENT_HIGH);
	assert_int_equal(eventfd_wait_sum(any, 1), 1);
	assert_int_equal(eventfd_wait_sum(high, 1), 1);
	assert_true(eventfd_is_quiet(high, SETTLED_MS));
	unsubscribe(high);
	unsubscribe(any);
}

static void events_below_wake_all_but_who_wants_the_groups_own(void **state)
{
	int above = subscribe(parent, HIGH), local = subscribe(parent, HIGH | UMEMCG_EVENT_LOCAL);
	int root = subscribe(NULL, HIGH), own = subscribe(group, HIGH | UMEMCG_EVENT_LOCAL);

	(void)state;
	group_event(group, UMEMCG_EVENT_HIGH);
	assert_int_equal(eventfd_wait_sum(own, 1), 1);
	assert_int_equal(eventfd_wait_sum(above, 1), 1);
	assert_int_equal(eventfd_wait_sum(root, 1), 1);
	assert_true(eventfd_is_quiet(local, SETTLED_MS));
	group_event(parent, UMEMCG_EVENT_HIGH);
	assert_int_equal(eventfd_wait_sum(local, 1), 1);
	assert_int_equal(eventfd_wait_sum(above, 1), 1);
	assert_true(eventfd_is_quiet(own, SETTLED_MS));
	unsubscribe(above);
	unsubscribe(local);
	unsubscribe(root);
	unsubscribe(own);
}

static void what_follows_too_soon_is_told_when_the_time_is_over(void **state)
{
	int fd = subscribe(group, HIGH);
	uint64_t start = eventfd_now_ns(), nr_wakes = 0, sum = 0;

	(void)state;
	for (int i = 0; i < 1000; i++)
		group_event(group, UMEMCG_EVENT_HIGH);
	while (sum < 1000) {
		uint64_t nr_events = eventfd_wait(fd);

		assert_int_not_equal(nr_events, 0);
		sum += nr_events;
		nr_wakes++;
	}
	assert_int_equal(sum, 1000);
	assert_in_range(nr_wakes, 1, 1 + (eventfd_now_ns() - start) / WAKER_INTERVAL_NS);
	assert_true(eventfd_is_quiet(fd, SETTLED_MS));
	unsubscribe(fd);
}

static void a_stream_of_events_wakes_once_in_the_interval_and_loses_none(void **state)
{
	int fd = subscribe(group, HIGH);
	uint64_t start = eventfd_now_ns(), now = start, nr_events = 0, nr_wakes = 0, sum = 0;

	(void)state;
	/* A busy machine may tell of the first ones late. */
	for (; now - start < 10 * WAKER_INTERVAL_NS || nr_wakes < 2; now = eventfd_now_ns()) {
		uint64_t nr_told;

		group_event(group, UMEMCG_EVENT_HIGH);
		nr_events++;
		nr_told = eventfd_take(fd);
		nr_wakes += nr_told != 0;
		sum += nr_told;
	}
	assert_in_range(nr_wakes, 2, 1 + (eventfd_now_ns() - start) / WAKER_INTERVAL_NS);
	assert_int_equal(sum + eventfd_wait_sum(fd, nr_events - sum), nr_events);
	unsubscribe(fd);
}

static void who_is_not_read_is_told_all_at_once(void **state)
{
	int slow = subscribe(group, HIGH), quick = subscribe(group, HIGH);

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		group_event(group, UMEMCG_EVENT_HIGH);
		assert_int_equal(eventfd_wait(quick), 1);
	}
	/* After this nobody is just being told. */
	unsubscribe(quick);
	assert_int_equal(eventfd_take(slow), 3);
	unsubscribe(slow);
}

static void a_group_that_is_destroyed_wakes_a_last_time(void **state)
{
	struct umemcg *gone;
	int fd, pending;

	(void)state;
	assert_int_equal(umemcg_create(group, "gone", &gone), 0);
	fd = subscribe(gone, MAX);
	pending = subscribe(gone, HIGH);
	group_event(gone, UMEMCG_EVENT_HIGH);
	group_event(gone, UMEMCG_EVENT_HIGH);
	assert_int_equal(umemcg_destroy(gone), 0);
	assert_int_equal(eventfd_take(fd), 1);
	assert_int_equal(eventfd_take(pending), 3);
	assert_true(eventfd_is_quiet(pending, SETTLED_MS));

	/* Whoever has its row now is somebody else. */
	assert_int_equal(umemcg_create(group, "new", &gone), 0);
	group_event(gone, UMEMCG_EVENT_MAX);
	assert_true(eventfd_is_quiet(fd, SETTLED_MS));
	unsubscribe(fd);
	unsubscribe(pending);
	assert_int_equal(umemcg_destroy(gone), 0);
}

static void the_eventfd_is_closed_when_the_subscription_ends(void **state)
{
	int fd = subscribe(group, MAX), foreign;

	(void)state;
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_not_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	unsubscribe(fd);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(umemcg_event_unsubscribe(fd), -EINVAL);
	assert_int_equal(umemcg_event_unsubscribe(-1), -EINVAL);
	foreign = eventfd(0, 0);
	assert_int_equal(umemcg_event_unsubscribe(foreign), -EINVAL);
	assert_int_equal(close(foreign), 0);
	refuse_one(group);
}

static void masks_and_groups_that_make_no_sense_are_refused(void **state)
{
	struct umemcg *gone;
	int fd = -7;

	(void)state;
	assert_int_equal(umemcg_create(group, NULL, &gone), 0);
	assert_int_equal(umemcg_destroy(gone), 0);
	assert_int_equal(umemcg_event_subscribe(gone, MAX, &fd), -EINVAL);
	assert_int_equal(umemcg_event_subscribe(group, 0, &fd), -EINVAL);
	assert_int_equal(umemcg_event_subscribe(group, UMEMCG_EVENT_LOCAL, &fd), -EINVAL);
	assert_int_equal(umemcg_event_subscribe(group, MAX | 1u << UMEMCG_NR_EVENTS, &fd), -EINVAL);
	assert_int_equal(umemcg_event_subscribe(group, MAX, NULL), -EINVAL);
	assert_int_equal(fd, -7);
}

static void without_a_free_descriptor_nothing_is_subscribed(void **state)
{
	struct rlimit before, none;
	int fd = subscribe(group, MAX), other = -7;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(umemcg_event_subscribe(group, MAX, &other), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(other, -7);
	refuse_one(group);
	assert_int_equal(eventfd_take(fd), 1);
	unsubscribe(fd);
}

static void many_subscribers_are_each_told_and_each_leave(void **state)
{
	int fds[300];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = subscribe(i % 3 ? group : parent, HIGH);
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i += 2)
		unsubscribe(fds[i]);
	group_event(group, UMEMCG_EVENT_HIGH);
	for (unsigned int i = 1; i < ARRAY_SIZE(fds); i += 2) {
		assert_int_equal(eventfd_wait(fds[i]), 1);
		unsubscribe(fds[i]);
	}
	group_event(group, UMEMCG_EVENT_HIGH);
}

static void giving_back_too_much_wakes_too(void **state)
{
	int fd = subscribe(group, 1u << UMEMCG_EVENT_UNDERFLOW);

	(void)state;
	umemcg_uncharge(group, MIB);
	umemcg_drain(group);
	assert_int_equal(eventfd_wait(fd), 1);
	unsubscribe(fd);
}

/* What @condition says of a child becomes its exit status. */
#define child_check(condition)                                                                     \
	do {                                                                                       \
		if (!(condition))                                                                  \
			_exit(__LINE__ % 200 + 1);                                                 \
	} while (0)

static void a_child_wakes_its_own_subscribers_and_not_its_parents(void **state)
{
	int fd = subscribe(group, HIGH), own;
	pid_t child;

	(void)state;
	/* One is pending at the fork: the parent tells it, the child does not. */
	group_event(group, UMEMCG_EVENT_HIGH);
	group_event(group, UMEMCG_EVENT_HIGH);
	child = fork_child();
	if (!child) {
		child_check(umemcg_event_unsubscribe(fd) == -EINVAL);
		for (int i = 0; i < 100; i++)
			group_event(group, UMEMCG_EVENT_HIGH);
		child_check(!umemcg_event_subscribe(group, HIGH, &own));
		group_event(group, UMEMCG_EVENT_HIGH);
		group_event(group, UMEMCG_EVENT_HIGH);
		child_check(eventfd_wait_sum(own, 2) == 2);
		child_check(!umemcg_event_unsubscribe(own));
		_exit(0);
	}
	wait_for_good_end(child);
	assert_int_equal(eventfd_wait_sum(fd, 2), 2);
	assert_true(eventfd_is_quiet(fd, SETTLED_MS));
	unsubscribe(fd);
}

static void who_unsubscribes_with_events_pending_is_not_missed(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 100; i++) {
		int fd = subscribe(group, HIGH);

		group_event(group, UMEMCG_EVENT_HIGH);
		group_event(group, UMEMCG_EVENT_HIGH);
		unsubscribe(fd);
	}
}

#define test_in_group(name) cmocka_unit_test_setup_teardown(name, create_groups, destroy_groups)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_group(a_refusal_wakes_who_subscribed_to_it),
		test_in_group(events_that_were_not_asked_for_wake_nobody),
		test_in_group(events_below_wake_all_but_who_wants_the_groups_own),
		test_in_group(what_follows_too_soon_is_told_when_the_time_is_over),
		test_in_group(a_stream_of_events_wakes_once_in_the_interval_and_loses_none),
		test_in_group(who_is_not_read_is_told_all_at_once),
		test_in_group(a_group_that_is_destroyed_wakes_a_last_time),
		test_in_group(the_eventfd_is_closed_when_the_subscription_ends),
		test_in_group(masks_and_groups_that_make_no_sense_are_refused),
		test_in_group(without_a_free_descriptor_nothing_is_subscribed),
		test_in_group(many_subscribers_are_each_told_and_each_leave),
		test_in_group(giving_back_too_much_wakes_too),
		test_in_group(a_child_wakes_its_own_subscribers_and_not_its_parents),
		test_in_group(who_unsubscribes_with_events_pending_is_not_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
