/* SPDX-License-Identifier: MIT */
/*
 * Processes that are slowed down, asked to give back, and killed by their group's policy, while
 * others kill them at any instant of that.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared_tree.h"

#define NR_PRESSERS 4
/* So little apart that waits are short: a sixth of a second for a batch at max. */
#define HIGH 2900000
#define MAX  3000000

static const char *const groups[] = { "/a", "/a/b", "/a/c" };

static void read_file(const char *path, const char *file, char text[512])
{
	assert_true(umemcg_tree_read(tree, path, file, text, 512) > 0);
}

/* Of memory.pressure. */
static uint64_t total_us(const char *path, const char *kind)
{
	char text[512], *line, *total;

	read_file(path, "memory.pressure", text);
	line = strstr(text, kind);
	assert_non_null(line);
	total = strstr(line, "total=");
	assert_non_null(total);
	return strtoull(total + strlen("total="), NULL, 10);
}

static uint64_t nr_events(const char *path, const char *event)
{
	char text[512], *line;

	read_file(path, "memory.events", text);
	line = strstr(text, event);
	assert_non_null(line);
	return strtoull(line + strlen(event), NULL, 10);
}

static void start(struct worker *worker, unsigned int seed)
{
	*worker = worker_start(TREE, seed % 2 ? "/a/b" : "/a/c", -1);
	worker_send(worker, PRESS, seed);
}

/* What somebody else does meanwhile. */
static void disturb(unsigned int round)
{
	int r;

	switch (round % 4) {
	case 0:
		tree_set("/a", "memory.high", round % 8 ? MAX : HIGH);
		break;
	case 1:
		r = umemcg_tree_write(tree, "/a", "memory.reclaim", "100000");
		assert_true(r == 0 || r == -EAGAIN);
		break;
	default:
		total_us("/a", "some");
	}
}

/* Nobody waits any more: time goes on, and totals do not. */
static void assert_nobody_waits(void)
{
	uint64_t some_us[3], full_us[3];

	for (unsigned int i = 0; i < 3; i++) {
		some_us[i] = total_us(groups[i], "some");
		full_us[i] = total_us(groups[i], "full");
	}
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(total_us(groups[i], "some"), some_us[i]);
		assert_int_equal(total_us(groups[i], "full"), full_us[i]);
	}
}

static void nothing_is_left_of_who_is_killed_under_pressure(void **state)
{
	struct worker workers[NR_PRESSERS];
	uint64_t nr_rounds = tree_rounds(100);
	int64_t answer;

	(void)state;
	tree_set("/a", "memory.max", MAX);
	tree_set("/a", "memory.high", HIGH);
	assert_int_equal(umemcg_tree_write(tree, "/a", "memory.oom.policy", "kill"), 0);
	srand((unsigned int)getpid());
	for (unsigned int i = 0; i < NR_PRESSERS; i++)
		start(&workers[i], i);
	/* However long it takes: until each has happened. */
	for (unsigned int round = 0;
	     round < nr_rounds || !nr_events("/a", "\noom_kill ") || !nr_events("/a", "\nhigh ");
	     round++) {
		struct worker *worker = &workers[(unsigned int)rand() % NR_PRESSERS];

		pause_at_random(20000000);
		worker_kill(worker);
		start(worker, round);
		disturb(round);
	}
	assert_true(tree_stat("/a").nr_bytes_peak <= MAX);
	tree_kill(workers, NR_PRESSERS);
	assert_true(tree_wait_processes(0));
	tree_assert_nothing_is_left();
	assert_nobody_waits();
	/* And the group is as good as new. */
	workers[0] = worker_start(TREE, "/a/b", -1);
	worker_send(&workers[0], CHARGE, HIGH - 100000);
	assert_true(worker_answers_within(&workers[0], 60000, &answer));
	assert_int_equal(answer, 0);
	worker_kill(&workers[0]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_left_of_who_is_killed_under_pressure),
	};

	workers_main(argc, argv);
	return cmocka_run_group_tests(tests, tree_make, tree_remove);
}
