/* SPDX-License-Identifier: MIT */
/*
 * A segment: the file in which a tree lies, mapped.
 *
 * Counts and places of its regions were copied and checked when it was attached; from then on only
 * the copies are used. A row's number that is read from the segment is checked each time.
 */
#ifndef UMEMCG_SHARED_SEGMENT_H
#define UMEMCG_SHARED_SEGMENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/compiler.h"
#include "charge/window.h"
#include "shared/layout.h"
#include "umemcg-tree.h"

struct segment {
	struct segment_header *header;
	char *regions[NR_REGIONS];
	uint32_t nr_rows[NR_REGIONS];
	size_t nr_bytes;
	uint32_t process;     /* row of the process that has it mapped: its identity as a holder */
	uint32_t thread;      /* row for the flights of this mapping itself; 0: none yet */
	pid_t forker;         /* who claimed the row that slot_name() is to name */
	pthread_mutex_t lock; /* held together with any word in which `process` is the holder */
	pthread_mutex_t ledger_lock; /* of a process that holds an image: see climb.c */
	dev_t device;                /* of the file, and its inode */
	ino_t inode;
	char name[UMEMCG_TREE_NAME_MAX + 1];
};

/**
 * segment_open - map the segment of a name, make it if need be; claims no row
 * @creates: make it if there is none, or if it cannot be used (another layout, another boot) and
 *           nobody lives in it. One of our layout is used as it is, alive or not: what the dead
 *           held is recovered, and its groups and limits stay
 *
 * Return: 0; errors of umemcg_tree_open().
 */
int segment_open(struct segment *segment, const char *name, bool creates);
void segment_close(struct segment *segment);

/** segment_unlink - umemcg_tree_unlink(); lives but for the caller's own row */
int segment_unlink(const char *name);

/** segment_list - umemcg_tree_list() */
int segment_list(int (*visit)(const char *name, void *arg), void *arg);

/** segment_is_current - does the name still lead to this file, and is its header live? */
bool segment_is_current(const struct segment *segment);

/**
 * segment_commit_row - have the memory of a row at hand, so that touching it cannot be SIGBUS
 *
 * And of all rows before it. Before a row is given out; a load and a compare for one that was given
 * out before. Async-signal-safe.
 *
 * Return: 0; -ENOMEM, also if there is no such row.
 */
int segment_commit_row(struct segment *segment, enum segment_region region, uint32_t row);

static const uint32_t segment_row_bytes[NR_REGIONS] = {
	[REGION_NAMES] = sizeof(struct process_name),
	[REGION_PROCESSES] = sizeof(struct shared_process),
	[REGION_GROUPS] = sizeof(struct shared_group),
	[REGION_PLACES] = sizeof(struct group_place),
	[REGION_THREADS] = sizeof(struct shared_thread),
	[REGION_IMAGES] = sizeof(struct shared_image),
	[REGION_CHUNKS] = WINDOW_DISTANCE,
	[REGION_CHUNK_HEADS] = sizeof(struct shared_chunk),
	[REGION_REPORTS] = sizeof(struct shared_report),
};

/* NULL for a number that is no row's. */
static inline void *segment_row(const struct segment *segment, enum segment_region region,
				uint32_t row)
{
	if (!row || row >= segment->nr_rows[region])
		return NULL;
	return segment->regions[region] + (size_t)row * segment_row_bytes[region];
}

static inline struct shared_group *segment_group(const struct segment *segment, uint32_t row)
{
	return segment_row(segment, REGION_GROUPS, row);
}

static inline struct group_place *segment_place(const struct segment *segment, uint32_t row)
{
	return segment_row(segment, REGION_PLACES, row);
}

static inline struct shared_process *segment_process(const struct segment *segment, uint32_t row)
{
	return segment_row(segment, REGION_PROCESSES, row);
}

static inline struct process_name *segment_name(const struct segment *segment, uint32_t row)
{
	return segment_row(segment, REGION_NAMES, row);
}

static inline struct shared_thread *segment_thread(const struct segment *segment, uint32_t row)
{
	return segment_row(segment, REGION_THREADS, row);
}

static inline struct shared_image *segment_image(const struct segment *segment, uint32_t row)
{
	return segment_row(segment, REGION_IMAGES, row);
}

static inline struct shared_chunk *segment_chunk(const struct segment *segment, uint32_t row)
{
	return segment_row(segment, REGION_CHUNK_HEADS, row);
}

/* Rows of a region that were ever given out, row 0 included. */
static inline uint32_t segment_nr_used(const struct segment *segment, enum segment_region region)
{
	/* Acquire pairs with segment_commit_row(). */
	uint32_t nr_used =
		atomic_load_explicit(&segment->header->nr_used[region], memory_order_acquire);

	return min(nr_used, segment->nr_rows[region]);
}

/* Of rows that were ever given out. */
#define for_each_row(segment, region, row)                                                         \
	for (uint32_t row = 1, nr_##row = segment_nr_used(segment, region); row < nr_##row; row++)
#define for_each_process_row(segment, row) for_each_row(segment, REGION_PROCESSES, row)
#define for_each_group_row(segment, row)   for_each_row(segment, REGION_GROUPS, row)

#endif
