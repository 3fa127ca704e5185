/* SPDX-License-Identifier: MIT */
/* Limits among processes that charge, free, are stopped and are refused at any instant. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/segment.h"
#include "shared/tree.h"
#include "shared_tree.h"

#define NR_CHURNERS 8
#define UNIT        20000

/* Looks at the words themselves, as fast as it can: the public calls recover first. */
struct watcher {
	struct segment segment;
	uint32_t groups[3];
	uint64_t max[3];
	atomic_bool is_over;
	uint64_t nr_looks, nr_above;
	pthread_t thread;
};

static void *watch(void *arg)
{
	struct watcher *watcher = arg;

	while (!atomic_load(&watcher->is_over)) {
		for (unsigned int i = 0; i < 3; i++) {
			const struct shared_group *group =
				segment_group(&watcher->segment, watcher->groups[i]);

			watcher->nr_above += atomic_load(&group->counter.usage) > watcher->max[i];
			watcher->nr_looks++;
		}
	}
	return NULL;
}

static void watcher_start(struct watcher *watcher)
{
	static const char *const paths[] = { "/a", "/a/b", "/a/c" };

	*watcher = (struct watcher){ 0 };
	assert_int_equal(segment_open(&watcher->segment, TREE, false), 0);
	for (unsigned int i = 0; i < 3; i++) {
		watcher->groups[i] = tree_find(&watcher->segment, paths[i]);
		watcher->max[i] = tree_stat(paths[i]).nr_bytes_max;
	}
	assert_int_equal(pthread_create(&watcher->thread, NULL, watch, watcher), 0);
}

static void watcher_end(struct watcher *watcher)
{
	atomic_store(&watcher->is_over, true);
	pthread_join(watcher->thread, NULL);
	segment_close(&watcher->segment);
	assert_true(watcher->nr_looks > 1000);
	assert_int_equal(watcher->nr_above, 0);
}

static void usage_is_never_above_max(void **state)
{
	struct worker workers[NR_CHURNERS];
	struct watcher watcher;

	(void)state;
	tree_set("/a", "memory.max", 1500000);
	tree_set("/a/b", "memory.max", 900000);
	tree_set("/a/c", "memory.max", 1000000);
	watcher_start(&watcher);
	tree_start(workers, NR_CHURNERS);
	for (unsigned int i = 0; i < NR_CHURNERS; i++)
		worker_send(&workers[i], CHURN, i);
	for (unsigned int i = 0; i < tree_rounds(1000); i++)
		pause_at_random(2000000);
	watcher_end(&watcher);
	assert_true(tree_stat("/a").nr_bytes_peak > 1000000);
	assert_true(tree_stat("/a").nr_bytes_peak <= 1500000);
	tree_kill(workers, NR_CHURNERS);
	assert_true(tree_wait_processes(0));
	tree_set("/a/b", "memory.max", UMEMCG_MAX);
	tree_set("/a/c", "memory.max", UMEMCG_MAX);
	tree_assert_nothing_is_left();
}

static void tell_all(const struct worker *workers, unsigned int nr, int signal)
{
	for (unsigned int i = 0; i < nr; i++)
		kill(workers[i].pid, signal);
}

/*
 * All but one are stopped, perhaps in flight, for which it waits a second, once each. What they
 * hold they keep; all else can be had.
 */
static void all_else_fits_while_some_are_stopped(void **state)
{
	enum { NR = 4, MAX = 20000000, NR_ROUNDS_MAX = 40 };
	struct worker workers[NR], filler;
	unsigned int nr_exact = 0;

	(void)state;
	tree_set("/a", "memory.max", MAX);
	srand((unsigned int)getpid());
	tree_start(workers, NR);
	filler = worker_start(TREE, "/a/b", -1);
	for (unsigned int i = 0; i < NR; i++)
		worker_send(&workers[i], CHURN_ALONE, i);
	/* Where few rounds are asked for, those may be of the kind that has to wait. */
	for (unsigned int i = 0; i < tree_rounds(8) || (!nr_exact && i < NR_ROUNDS_MAX); i++) {
		int64_t nr;

		pause_at_random(3000000);
		tell_all(workers, NR, SIGSTOP);
		worker_send(&filler, FILL, UNIT);
		if (worker_answers_within(&filler, NR * 1000 + 1000, &nr)) {
			assert_in_range(tree_current("/a"), MAX - UNIT + 1, MAX);
			nr_exact++;
			tell_all(workers, NR, SIGCONT);
		} else {
			tell_all(workers, NR, SIGCONT);
			assert_true(worker_answers_within(&filler, HANGS_MS, &nr));
		}
		assert_int_equal(worker_do(&filler, UNCHARGE, (uint64_t)nr * UNIT), 0);
	}
	assert_true(nr_exact > 0);
	tree_kill(workers, NR);
	assert_int_equal(worker_do(&filler, FILL, UNIT), MAX / UNIT);
	worker_kill(&filler);
	tree_assert_nothing_is_left();
}

/* 60 do not fit at /a, whatever is tried below; 50 do, at any instant. */
static void a_failing_charge_makes_no_other_fail(void **state)
{
	struct worker failing[2], holder, other;

	(void)state;
	tree_set("/a", "memory.max", 10000000);
	tree_set("/a/b", "memory.max", 10000000);
	holder = worker_start(TREE, "/a/c", -1);
	other = worker_start(TREE, "/a/b", -1);
	assert_int_equal(worker_do(&holder, CHARGE, 5000000), 0);
	for (unsigned int i = 0; i < 2; i++) {
		failing[i] = worker_start(TREE, i ? "/a/c" : "/a/b", -1);
		worker_send(&failing[i], HAMMER, 6000000 - i);
	}
	for (unsigned int i = 0; i < tree_rounds(5); i++)
		assert_int_equal(worker_do(&other, PAIRS, 5000000 - i), 0);
	tree_kill(failing, 2);
	worker_kill(&holder);
	worker_kill(&other);
	tree_set("/a/b", "memory.max", UMEMCG_MAX);
	tree_assert_nothing_is_left();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usage_is_never_above_max),
		cmocka_unit_test(all_else_fits_while_some_are_stopped),
		cmocka_unit_test(a_failing_charge_makes_no_other_fail),
	};

	workers_main(argc, argv);
	return cmocka_run_group_tests(tests, tree_make, tree_remove);
}
