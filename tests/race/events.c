/* SPDX-License-Identifier: MIT */
/*
 * Events from many threads beside others that subscribe, unsubscribe, and destroy groups: no event
 * is lost to who has subscribed, the last one neither.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "eventfd.h"
#include "group/event.h"
#include "reclaim/waker.h"
#include "umemcg.h"

#define NR_SOURCES  4
#define NR_LEAVES   3
#define NR_EVENTS   20000u
#define NR_VISITORS 2
#define NR_VISITS   200
#define NR_TENANTS  200
#define NR_CHILDREN 20
#define HIGH        (1u << UMEMCG_EVENT_HIGH)

#ifdef __SANITIZE_THREAD__
#define CAN_FORK false
#else
#define CAN_FORK true
#endif

/* For threads as well, in which cmocka's assertions may not fail. */
#define check(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

static struct umemcg *top, *leaves[NR_LEAVES];
static atomic_bool is_over;

static int create_tree(void **state)
{
	(void)state;
	atomic_store(&is_over, false);
	if (umemcg_create(NULL, "top", &top))
		return -1;
	for (unsigned int i = 0; i < NR_LEAVES; i++)
		if (umemcg_create(top, NULL, &leaves[i]))
			return -1;
	return 0;
}

static int destroy_tree(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < NR_LEAVES; i++)
		if (umemcg_destroy(leaves[i]))
			return -1;
	return umemcg_destroy(top);
}

static int subscribe(struct umemcg *group, unsigned int events)
{
	int fd;

	check(!umemcg_event_subscribe(group, events, &fd));
	return fd;
}

static void *make_events(void *arg)
{
	uintptr_t number = (uintptr_t)arg;

	for (unsigned int i = 0; i < NR_EVENTS; i++)
		group_event(leaves[(number + i) % NR_LEAVES], UMEMCG_EVENT_HIGH);
	return NULL;
}

static void *make_events_until_it_is_over(void *arg)
{
	while (!atomic_load(&is_over))
		group_event(arg, UMEMCG_EVENT_HIGH);
	return NULL;
}

/* Comes, is woken by what others do, and goes. */
static void *visit(void *arg)
{
	uintptr_t number = (uintptr_t)arg;

	for (unsigned int i = 0; i < NR_VISITS; i++) {
		struct umemcg *group = (number + i) % 3 ? leaves[i % NR_LEAVES] : top;
		int fd = subscribe(group, i & 1 ? HIGH : HIGH | UMEMCG_EVENT_LOCAL);

		if (i % 8 == 0 && group != top)
			check(eventfd_wait(fd));
		check(!umemcg_event_unsubscribe(fd));
	}
	return NULL;
}

/* Groups that come and go: each tells all of its events, and that it goes. */
static void *serve_tenants(void *arg)
{
	(void)arg;
	for (unsigned int i = 0; i < NR_TENANTS; i++) {
		struct umemcg *tenant;
		int fd, local;

		check(!umemcg_create(leaves[i % NR_LEAVES], NULL, &tenant));
		fd = subscribe(tenant, HIGH);
		local = subscribe(tenant, HIGH | UMEMCG_EVENT_LOCAL);
		for (unsigned int j = 0; j < i % 4; j++)
			group_event(tenant, UMEMCG_EVENT_HIGH);
		check(!umemcg_destroy(tenant));
		check(eventfd_take(fd) == i % 4 + 1);
		check(!umemcg_event_unsubscribe(fd));
		check(eventfd_take(local) == i % 4 + 1);
		check(!umemcg_event_unsubscribe(local));
	}
	return NULL;
}

static void start(pthread_t *threads, unsigned int nr, void *(*body)(void *arg))
{
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, body, (void *)(uintptr_t)i), 0);
}

static void join(pthread_t *threads, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void who_has_subscribed_is_told_of_every_event(void **state)
{
	static const uint64_t nr_events =
		(uint64_t)NR_SOURCES * NR_EVENTS + NR_TENANTS / 4 * (0 + 1 + 2 + 3);
	pthread_t sources[NR_SOURCES], tenants;
	int above = subscribe(top, HIGH), root = subscribe(NULL, HIGH);
	int local = subscribe(top, HIGH | UMEMCG_EVENT_LOCAL);

	(void)state;
	start(sources, NR_SOURCES, make_events);
	start(&tenants, 1, serve_tenants);
	join(sources, NR_SOURCES);
	join(&tenants, 1);
	assert_int_equal(eventfd_wait_sum(above, nr_events), nr_events);
	assert_int_equal(eventfd_wait_sum(root, nr_events), nr_events);
	assert_int_equal(eventfd_take(local), 0);
	assert_int_equal(umemcg_event_unsubscribe(above), 0);
	assert_int_equal(umemcg_event_unsubscribe(root), 0);
	assert_int_equal(umemcg_event_unsubscribe(local), 0);
}

static void subscribers_come_and_go_beside_events(void **state)
{
	pthread_t sources[NR_LEAVES], visitors[NR_VISITORS];

	(void)state;
	for (unsigned int i = 0; i < NR_LEAVES; i++)
		assert_int_equal(
			pthread_create(&sources[i], NULL, make_events_until_it_is_over, leaves[i]),
			0);
	start(visitors, NR_VISITORS, visit);
	join(visitors, NR_VISITORS);
	atomic_store(&is_over, true);
	join(sources, NR_LEAVES);
}

/* An event that memory.events does not show yet when a subscription was made wakes it. */
static void no_event_falls_between_reading_the_counts_and_the_subscription(void **state)
{
	pthread_t source;
	char text[512];

	(void)state;
	for (unsigned int i = 0; i < 200; i++) {
		uint64_t nr_before, nr_after;
		int fd;

		atomic_store(&is_over, false);
		assert_int_equal(
			pthread_create(&source, NULL, make_events_until_it_is_over, leaves[0]), 0);
		fd = subscribe(leaves[0], HIGH);
		umemcg_read(leaves[0], "memory.events", text, sizeof(text));
		sscanf(text, "low %*u\nhigh %" SCNu64, &nr_before);
		atomic_store(&is_over, true);
		join(&source, 1);
		umemcg_read(leaves[0], "memory.events", text, sizeof(text));
		sscanf(text, "low %*u\nhigh %" SCNu64, &nr_after);
		assert_true(eventfd_wait_sum(fd, nr_after - nr_before) >= nr_after - nr_before);
		assert_int_equal(umemcg_event_unsubscribe(fd), 0);
	}
}

static int live_as_a_child(void)
{
	int fd;

	if (umemcg_event_subscribe(leaves[0], HIGH, &fd))
		return 1;
	for (unsigned int i = 0; i < 3; i++)
		group_event(leaves[0], UMEMCG_EVENT_HIGH);
	if (eventfd_wait_sum(fd, 3) != 3)
		return 2;
	return umemcg_event_unsubscribe(fd) ? 3 : 0;
}

static void children_of_a_busy_parent_have_events_of_their_own(void **state)
{
	pthread_t sources[NR_LEAVES];
	int fd;

	(void)state;
	if (!CAN_FORK) {
		print_message("SKIP: under ThreadSanitizer a child of threads makes none itself\n");
		skip();
	}
	fd = subscribe(top, HIGH);
	for (unsigned int i = 0; i < NR_LEAVES; i++)
		assert_int_equal(
			pthread_create(&sources[i], NULL, make_events_until_it_is_over, leaves[i]),
			0);
	for (unsigned int i = 0; i < NR_CHILDREN; i++) {
		pid_t child;
		int status;

		fflush(NULL);
		child = fork();
		assert_true(child >= 0);
		if (!child)
			_exit(live_as_a_child());
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
	atomic_store(&is_over, true);
	join(sources, NR_LEAVES);
	assert_int_not_equal(eventfd_wait(fd), 0);
	assert_int_equal(umemcg_event_unsubscribe(fd), 0);
}

#define test_in_tree(name) cmocka_unit_test_setup_teardown(name, create_tree, destroy_tree)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_tree(who_has_subscribed_is_told_of_every_event),
		test_in_tree(subscribers_come_and_go_beside_events),
		test_in_tree(no_event_falls_between_reading_the_counts_and_the_subscription),
		test_in_tree(children_of_a_busy_parent_have_events_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
