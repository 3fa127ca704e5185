/* SPDX-License-Identifier: MIT */
/*
 * kill-storm [KILLS [SECONDS]]: processes of a shared tree, killed at random instants as fast as
 * they can be made, and then forks of a fixed rate. Prints one line; fails if a byte is left, or
 * usage was ever above max. Not in the quick suite: 100000 kills take minutes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime_dir.h"
#include "shared_workers.h"
#include "umemcg-tree.h"

#define TREE         "storm"
#define MAX          8000000
#define NR_NESTS     4 /* each forks children and kills them */
#define NR_CHURNERS  2 /* that live on, so that the dead are found while others charge */
#define KILLS_A_TURN 50
#define FORKS_A_S    1000

static struct umemcg_tree *tree;
static uint64_t greatest;

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void die(const char *what)
{
	printf("kill-storm: %s\n", what);
	runtime_dir_remove();
	exit(1);
}

static struct umemcg_tree_stat stat_of(const char *path)
{
	struct umemcg_tree_stat stat;

	if (umemcg_tree_get_stat(tree, path, &stat))
		die("a group is gone");
	return stat;
}

static void look(void)
{
	uint64_t now = stat_of("/a").nr_bytes_current;

	greatest = now > greatest ? now : greatest;
}

static void make_tree(void)
{
	char max[32];

	runtime_dir_make();
	snprintf(max, sizeof(max), "%d", MAX);
	if (umemcg_tree_open(TREE, UMEMCG_TREE_CREATE, &tree) || umemcg_tree_create(tree, "/a") ||
	    umemcg_tree_create(tree, "/a/b") || umemcg_tree_create(tree, "/a/c") ||
	    umemcg_tree_write(tree, "/a", "memory.max", max))
		die("no tree");
}

static void start(struct worker *workers, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		workers[i] = worker_start(TREE, i % 2 ? "/a/b" : "/a/c", -1);
		/* So that there is an image to be shared. */
		if (worker_do(&workers[i], CHARGE, 10000))
			die("a worker cannot charge");
	}
}

static void kill_workers(struct worker *workers, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		worker_kill(&workers[i]);
}

/* All nests at once, again and again. A turn that takes longer than two minutes hangs. */
static uint64_t turn(struct worker *nests, unsigned int nr, enum command command, uint64_t argument)
{
	uint64_t sum = 0;
	int64_t answer;

	for (unsigned int i = 0; i < nr; i++)
		worker_send(&nests[i], command, argument);
	for (unsigned int i = 0; i < nr; i++) {
		if (!worker_answers_within(&nests[i], 120000, &answer))
			die("something hangs");
		if (answer < 0)
			die(strerror((int)-answer));
		sum += (uint64_t)answer;
	}
	return sum;
}

static void assert_nothing_is_left(const char *after)
{
	static const char *const groups[] = { "/", "/a", "/a/b", "/a/c" };
	char what[128];

	for (unsigned int i = 0; stat_of("/").nr_processes && i < 10000; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	for (unsigned int i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		struct umemcg_tree_stat stat = stat_of(groups[i]);

		if (!stat.nr_bytes_current && !stat.nr_processes)
			continue;
		snprintf(what, sizeof(what), "after %s %" PRIu64 " bytes and %u processes in %s",
			 after, stat.nr_bytes_current, stat.nr_processes, groups[i]);
		die(what);
	}
}

static double storm(uint64_t nr_kills)
{
	struct worker nests[NR_NESTS], churners[NR_CHURNERS];
	double start_s = now_s(), end_s;

	start(nests, NR_NESTS);
	start(churners, NR_CHURNERS);
	for (unsigned int i = 0; i < NR_CHURNERS; i++)
		worker_send(&churners[i], CHURN, i);
	for (uint64_t nr = 0; nr < nr_kills;) {
		nr += turn(nests, NR_NESTS, STORM, KILLS_A_TURN);
		look();
	}
	end_s = now_s();
	kill_workers(nests, NR_NESTS);
	kill_workers(churners, NR_CHURNERS);
	assert_nothing_is_left("the kills");
	return end_s - start_s;
}

static double forks(uint64_t nr_seconds)
{
	struct worker nests[2];
	double start_s;

	start(nests, 2);
	start_s = now_s();
	for (uint64_t i = 0; i < nr_seconds; i++) {
		turn(nests, 2, FORK_RATE, FORKS_A_S / 2);
		look();
	}
	start_s = now_s() - start_s;
	kill_workers(nests, 2);
	assert_nothing_is_left("the forks");
	return start_s;
}

int main(int argc, char **argv)
{
	uint64_t nr_kills, nr_seconds;
	double kills_s, forks_s;

	workers_main(argc, argv);
	nr_kills = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
	nr_seconds = argc > 2 ? strtoull(argv[2], NULL, 10) : 60;
	make_tree();
	kills_s = storm(nr_kills);
	forks_s = forks(nr_seconds);
	if (greatest > MAX || stat_of("/a").nr_bytes_peak > MAX)
		die("usage was above max");
	umemcg_tree_close(tree);
	if (umemcg_tree_unlink(TREE))
		die("the tree cannot be removed");
	runtime_dir_remove();
	printf("kill-storm: %" PRIu64 " kills in %.1f s (%.0f/s), %" PRIu64
	       " forks in %.1f s (%.0f/s), 0 bytes left\n",
	       nr_kills, kills_s, (double)nr_kills / kills_s, nr_seconds * FORKS_A_S, forks_s,
	       (double)(nr_seconds * FORKS_A_S) / forks_s);
	return 0;
}
