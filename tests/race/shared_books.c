/* SPDX-License-Identifier: MIT */
/* The books of a shared tree are exact after all that its processes did to each other. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "charge/barrier.h"
#include "charge/closing.h"
#include "shared/chunk.h"
#include "shared/segment.h"
#include "shared/slot.h"
#include "shared_tree.h"

/* As /proc/PID/stat has it, or 0. */
static char state_of(pid_t pid)
{
	char path[64], text[256] = "";
	const char *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	state = fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
	fclose(file);
	return state ? state[2] : 0;
}

static void a_child_without_a_row_counts_alone(void **state)
{
	struct segment segment;
	struct worker worker;
	uint32_t rows[1100];
	unsigned int nr = 0;
	pid_t child;
	char its;

	(void)state;
	tree_set("/a", "memory.max", 10000000);
	worker = worker_start(TREE, "/a/b", -1);
	assert_int_equal(worker_do(&worker, ALLOCATE, 1000), 0);
	assert_int_equal(segment_open(&segment, TREE, false), 0);
	while (nr < 1100 && !slot_claim(&segment, 0, getpid(), 0, &rows[nr]))
		nr++;
	child = (pid_t)worker_do(&worker, FORK, 0);
	assert_true(child > 0);
	/* Running, or waiting for a disk. */
	while ((its = state_of(child)) && !strchr("SZX", its))
		usleep(100);
	/* It pauses, and has not died of it. */
	assert_int_equal(its, 'S');
	assert_int_equal(kill(child, SIGKILL), 0);
	while (nr)
		slot_free(&segment, rows[--nr]);
	segment_close(&segment);
	assert_int_equal(worker_do(&worker, FORK_DIES, 0), 0);
	worker_kill(&worker);
	tree_assert_nothing_is_left();
}

/* As collect.c does, up to the instant at which the bytes would be given back. */
static void close_and_die(struct segment *segment, uint32_t process)
{
	const struct shared_process *its = segment_process(segment, process);
	uint32_t stamp = !(its->owed & 1), nr_taken = 0;
	struct stock_words *words;
	uint64_t nr_bytes;

	for (uint32_t chunk = its->first_chunk; chunk; chunk = segment_chunk(segment, chunk)->next)
		for (uint32_t i = 0; (words = chunk_words(segment, chunk, i)); i++) {
			if (!closing_is_needed(words))
				continue;
			closing_take(words, stamp);
			assert_true(barrier_all_processes());
			/* Every other one only half way. */
			if (nr_taken++ % 2)
				assert_true(closing_end(words, &nr_bytes));
		}
	assert_true(nr_taken > 1);
}

static void what_a_dead_closer_left_is_lost_to_nobody(void **state)
{
	struct worker worker, other;
	struct segment segment;

	(void)state;
	tree_set("/a", "memory.max", 10000000);
	assert_int_equal(segment_open(&segment, TREE, false), 0);
	for (unsigned int i = 0; i < 3; i++) {
		worker = worker_start(TREE, "/a/b", -1);
		other = worker_start(TREE, "/a/c", -1);
		assert_int_equal(worker_do(&worker, IDLE_THREAD, 0), 0);
		assert_int_equal(worker_do(&worker, IDLE_THREAD, 0), 0);
		assert_int_equal(worker_do(&worker, ALLOCATE, 1000), 0);
		assert_int_equal(worker_do(&worker, FREE_ALL, 0), 0);
		assert_true(tree_current("/a/b") > 0);
		close_and_die(&segment, slot_find(&segment, worker.pid));
		/* The owner's own decision, another's, or the owner's next flight and then both. */
		if (i == 2)
			assert_int_equal(worker_do(&worker, ALLOCATE, 1000), 0);
		if (i == 2)
			assert_int_equal(worker_do(&worker, FREE_ALL, 0), 0);
		assert_int_equal(worker_do(i ? &other : &worker, FILL, 1000), 10000);
		assert_int_equal(worker_do(i ? &other : &worker, UNCHARGE, 10000000), 0);
		assert_int_equal(worker_do(&worker, FILL, 1000), 10000);
		assert_int_equal(tree_current("/a"), 10000000);
		worker_kill(&worker);
		worker_kill(&other);
		tree_assert_nothing_is_left();
	}
	segment_close(&segment);
}

static void a_whirl_leaves_the_books_exact(void **state)
{
	struct worker workers[6];
	unsigned int nr = sizeof(workers) / sizeof(workers[0]);
	struct umemcg_tree_stat stat;

	(void)state;
	tree_set("/a", "memory.max", 2000000);
	tree_start(workers, nr);
	for (unsigned int i = 0; i < nr; i++)
		worker_send(&workers[i], WHIRL, tree_rounds(1500));
	/* Limits below the one that others decide at. */
	for (unsigned int i = 0; i < tree_rounds(1000); i++)
		tree_set(i % 2 ? "/a/b" : "/a/c", "memory.max", 3000000 + i);
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(worker_answer(&workers[i]), 0);
	assert_int_equal(worker_do(&workers[0], FILL, 1000), 2000);
	stat = tree_stat("/a");
	assert_int_equal(stat.nr_bytes_current, 2000000);
	tree_kill(workers, nr);
	tree_assert_nothing_is_left();
	tree_set("/a/b", "memory.max", 1000000000);
	tree_set("/a/c", "memory.max", 1000000000);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_without_a_row_counts_alone),
		cmocka_unit_test(what_a_dead_closer_left_is_lost_to_nobody),
		cmocka_unit_test(a_whirl_leaves_the_books_exact),
	};

	workers_main(argc, argv);
	return cmocka_run_group_tests(tests, tree_make, tree_remove);
}
