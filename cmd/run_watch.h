/* SPDX-License-Identifier: MIT */
/*
 * The thread that prints what happens in the group while the program runs, a line each, and takes
 * the samples of the summary. While it runs, the tree is its own.
 */
#ifndef UMEMCG_CMD_RUN_WATCH_H
#define UMEMCG_CMD_RUN_WATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "place.h"
#include "run_summary.h"

struct run_watch {
	const struct place *place;
	struct run_summary *summary; /* NULL: no samples */
	pid_t pid;                   /* the program */
	pthread_mutex_t lock;        /* held while anything but waiting is done */
	pthread_t thread;
	bool has_thread;
	_Atomic bool is_ending;              /* set by run_watch_stop() for the thread */
	uint64_t sequence;                   /* last report that was read */
	int64_t second_ms;                   /* begin of the second that lines are counted in */
	unsigned int nr_lines, nr_held_back; /* in that second */
	int64_t sample_ms;                   /* when the next one is due */
};

/** run_watch_init - what was reported before is not ours */
void run_watch_init(struct run_watch *watch, const struct place *place,
		    struct run_summary *summary);

/** run_watch_start - watch the group of the program @pid; 0 or a negative errno */
int run_watch_start(struct run_watch *watch, pid_t pid);

/** run_watch_stop - end the thread, and print what is left */
void run_watch_stop(struct run_watch *watch);

#endif
