/* SPDX-License-Identifier: MIT */
/*
 * More threads than CPUs use, at random, regions of four times their group's limit. Every page
 * carries its number and a checksum of what was written last; beside them memory comes and goes,
 * pages are pinned, and the process forks. There is always something that can be evicted, so a
 * single touch that fails ends the test.
 *
 * user_pages [SECONDS]: by default 2. It says what was resident at most, measured, against the
 * limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compressor_path.h"
#include "pages.h"
#include "resident.h"
#include "touch.h"
#include "umemcg.h"

/* Their shadow memory is resident as well. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false
#endif

#define NR_WORKERS 6
#define MAX        ((size_t)64 << 20)
#define NR_PAGES   (4 * MAX / PAGE)

/* A worker locks the page that it looks at or writes to. */
static struct umemcg *top, *group;
static char *region;
static _Atomic bool page_locks[NR_PAGES];
static uint32_t *versions;
static _Atomic bool is_over;
static pthread_mutex_t freeing = PTHREAD_MUTEX_INITIALIZER;
/* Held for reading during a step of a thread's; who stops them all does not wait for ever. */
static pthread_rwlock_t steps = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static _Atomic uint64_t nr_checked;
static unsigned int seconds = 2;

struct page {
	uint64_t number;
	uint64_t version;
	uint64_t checksum;
	uint64_t words[PAGE / 8 - 3];
};

static uint64_t checksum_of(const struct page *page)
{
	uint64_t sum = page->number * 31 + page->version;

	for (unsigned int i = 0; i < PAGE / 8 - 3; i++)
		sum = (sum ^ page->words[i]) * 0x100000001b3u;
	return sum;
}

/* Every third page is not worth compressing. */
static void write_page(uint64_t number)
{
	struct page *page = (struct page *)(region + number * PAGE);
	uint64_t state = (number << 32 | ++versions[number]) | 1;

	page->number = number;
	page->version = versions[number];
	for (unsigned int i = 0; i < PAGE / 8 - 3; i++)
		page->words[i] = number % 3 ? i / 16 * state : test_random(&state);
	page->checksum = checksum_of(page);
}

static void check_page(uint64_t number)
{
	const struct page *page = (const struct page *)(region + number * PAGE);

	if (!versions[number])
		return;
	if (page->number != number || page->version != versions[number] ||
	    page->checksum != checksum_of(page))
		abort();
	/* relaxed: a sum. */
	atomic_fetch_add_explicit(&nr_checked, 1, memory_order_relaxed);
}

static bool lock_page(uint64_t number)
{
	/* acquire: pairs with the release in unlock_page(). */
	return !atomic_exchange_explicit(&page_locks[number], true, memory_order_acquire);
}

static void unlock_page(uint64_t number)
{
	atomic_store_explicit(&page_locks[number], false, memory_order_release);
}

static void use_page(uint64_t number, uint64_t random)
{
	if (!lock_page(number))
		return;
	check_page(number);
	if (random % 3 == 0) {
		bool is_pinned = random % 5 == 0 && !umemcg_pin(region + number * PAGE, PAGE);

		write_page(number);
		if (is_pinned && umemcg_unpin(region + number * PAGE, PAGE))
			abort();
	}
	unlock_page(number);
}

/* relaxed: the end may be seen a little late. */
static bool goes_on(void)
{
	return !atomic_load_explicit(&is_over, memory_order_relaxed);
}

static void *work(void *arg)
{
	uint64_t random = (uintptr_t)arg;

	while (goes_on()) {
		uint64_t number = test_random(&random) % NR_PAGES;

		pthread_rwlock_rdlock(&steps);
		/* Now and then some in a row. */
		for (uint64_t i = 0; i < (random % 64 ? 1 : 100); i++)
			use_page((number + i) % NR_PAGES, test_random(&random));
		pthread_rwlock_unlock(&steps);
	}
	return NULL;
}

/* A second region comes and goes, and objects, and groups that leave regions to their heirs. */
static void *come_and_go(void *arg)
{
	(void)arg;
	while (goes_on()) {
		struct umemcg *child;
		char *other;
		void *object;

		pthread_rwlock_rdlock(&steps);
		object = umemcg_malloc_in(group, 1000);
		if (umemcg_create(group, NULL, &child) ||
		    umemcg_map(child, 100 * PAGE, (void **)&other))
			abort();
		memset(other, 1, 50 * PAGE);
		if (umemcg_destroy(child))
			abort();
		memset(other + 50 * PAGE, 2, 50 * PAGE);
		for (unsigned int i = 0; i < 100; i++)
			if (other[i * PAGE] != (i < 50 ? 1 : 2))
				abort();
		if (umemcg_unmap(other))
			abort();
		pthread_mutex_lock(&freeing);
		umemcg_free(object);
		pthread_mutex_unlock(&freeing);
		pthread_rwlock_unlock(&steps);
	}
	return NULL;
}

static int audit_in_child(void)
{
	struct umemcg_audit report;
	struct umemcg_stat stat;

	if (!umemcg_audit(&report))
		return 0;
	umemcg_get_stat(report.worst, &stat);
	fprintf(stderr,
		"child: %" PRIu64 " bytes walked, %" PRIu64 " charged; worst: %" PRIu64
		" current, %" PRIu64 " slab, %" PRIu64 " anon, %" PRIu64 " stock\n",
		report.nr_bytes_walked, report.nr_bytes_charged, stat.nr_bytes_current,
		stat.nr_bytes_slab, stat.nr_bytes_anon, stat.nr_bytes_stock);
	return 1;
}

static void fork_once(void)
{
	int status = -1;
	pid_t child;

	/* What a lost thread was just freeing may stay charged (kmem/fork.c). */
	pthread_mutex_lock(&freeing);
	child = fork();
	pthread_mutex_unlock(&freeing);

	if (!child)
		_exit(audit_in_child());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Between two steps of all threads: what comes and goes while it is counted may count twice. */
static uint64_t resident_between_steps(void)
{
	uint64_t nr_bytes;

	pthread_rwlock_wrlock(&steps);
	nr_bytes = resident_bytes();
	pthread_rwlock_unlock(&steps);
	return nr_bytes;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/* All that is not of the region is resident before. */
static void prepare(void)
{
	assert_int_equal(umemcg_set_swap("/var/tmp", 4 * MAX), 0);
	assert_int_equal(umemcg_create(NULL, NULL, &top), 0);
	assert_int_equal(umemcg_create(top, NULL, &group), 0);
	assert_int_equal(umemcg_set_max(group, MAX), 0);
	versions = malloc(NR_PAGES * sizeof(*versions));
	assert_non_null(versions);
	memset(versions, 0, NR_PAGES * sizeof(*versions));
	memset((void *)page_locks, 0, sizeof(page_locks));
	assert_int_equal(umemcg_map(group, NR_PAGES * PAGE, (void **)&region), 0);
}

static void no_touch_fails_no_page_is_lost_and_no_more_is_resident_than_the_limit(void **state)
{
	pthread_t workers[NR_WORKERS + 1];
	struct umemcg_audit report;
	uint64_t before, most = 0;
	double end = now() + seconds;

	(void)state;
	prepare();
	before = resident_bytes();
	for (uintptr_t i = 0; i < NR_WORKERS; i++)
		assert_int_equal(pthread_create(&workers[i], NULL, work, (void *)(i + 1)), 0);
	assert_int_equal(pthread_create(&workers[NR_WORKERS], NULL, come_and_go, NULL), 0);
	while (now() < end) {
		uint64_t resident = resident_between_steps();

		most = resident > most ? resident : most;
		fork_once();
		usleep(10000);
	}
	atomic_store_explicit(&is_over, true, memory_order_relaxed);
	for (unsigned int i = 0; i <= NR_WORKERS; i++)
		pthread_join(workers[i], NULL);
	for (uint64_t number = 0; number < NR_PAGES; number++)
		check_page(number);
	assert_int_equal(umemcg_audit(&report), 0);
	printf("%lu pages checked; resident at most %.2f %% of max, charged at most %.2f %%\n",
	       (unsigned long)nr_checked, 100.0 * (most - before) / MAX,
	       100.0 * umemcg_get_peak(group) / MAX);
	assert_true(umemcg_get_peak(group) <= MAX);
	assert_int_equal(umemcg_unmap(region), 0);
	umemcg_drain(top);
	assert_int_equal(umemcg_get_current(top), 0);
	assert_int_equal(umemcg_destroy(group), 0);
	assert_int_equal(umemcg_destroy(top), 0);
	free(versions);
	/* Stacks and heaps of threads, and the libraries that came meanwhile, are some as well. */
	assert_true(IS_SANITIZED || most - before <= MAX + MAX / 50);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			no_touch_fails_no_page_is_lost_and_no_more_is_resident_than_the_limit),
	};

	if (argc > 1)
		seconds = atoi(argv[1]);
	if (!touch_is_possible())
		return 77;
	load_compressor();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
