/* SPDX-License-Identifier: MIT */
/* Rows of threads: flights that every process of the tree can see. */
#ifndef UMEMCG_SHARED_THREAD_H
#define UMEMCG_SHARED_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/segment.h"

/** thread_claim - a row for a thread of a process; lives as long as the process. 0: no room */
uint32_t thread_claim(struct segment *segment, uint32_t process);

/**
 * thread_take_off - publish a flight
 * @at: the shared group below which it decides or gives back, for a process that is no leaf; of a
 *      leaf any number will do
 *
 * To be followed by a look at what is frozen, and by thread_land().
 */
void thread_take_off(struct flight_row *flight, uint32_t at);
void thread_land(struct flight_row *flight);

/** thread_free_all - give back all rows of a process that is dead; recovering, or its claimer */
void thread_free_all(struct segment *segment, uint32_t process);

/**
 * thread_wait_landed - until no living thread but one is in flight at or below a group
 * @group: those of its processes are waited for, and of processes that are no leaves those that
 *         name it; 0: all, and whoever gives back as well
 * @but:   row of the thread that asks, or 0
 *
 * The caller has stored first what keeps others from taking off.
 *
 * Return: 0; -ETIME if a thread stayed in flight for a second, now or before: it is marked, and
 * those who ask for a group may go on without it.
 */
int thread_wait_landed(struct segment *segment, uint32_t group, uint32_t but);

/* Every row of a process's threads, no more steps than there are rows, whatever the links hold. */
#define for_each_thread(segment, process, row, thread)                                             \
	for (uint32_t row = thread_first(segment, process), nr_steps_ = 0;                         \
	     nr_steps_ < (segment)->nr_rows[REGION_THREADS] &&                                     \
	     ((thread) = segment_thread(segment, row));                                            \
	     nr_steps_++, row = atomic_load_explicit(&(thread)->next, memory_order_relaxed))

static inline uint32_t thread_first(const struct segment *segment, uint32_t process)
{
	/* seq_cst: pairs with thread_claim(). */
	return atomic_load_explicit(&segment_process(segment, process)->first_thread,
				    memory_order_seq_cst);
}

/** thread_is_stalled - is a thread of a process marked so, and still in flight? Its stocks are in
 * its hands then, and nobody may close them */
bool thread_is_stalled(const struct segment *segment, uint32_t process);

#endif
