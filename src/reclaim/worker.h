/* SPDX-License-Identifier: MIT */
/*
 * The library's own threads: what is to be done later, or by a thread that holds no lock of the
 * program's.
 *
 * One of them does what is the library's, and is always soon done; the other one calls what the
 * program registered, which may take for ever. Both are made when they are first needed.
 */
#ifndef UMEMCG_RECLAIM_WORKER_H
#define UMEMCG_RECLAIM_WORKER_H

#include <stdbool.h>
#include <stdint.h>

enum worker_kind {
	WORKER_SERVICE,
	WORKER_CALLBACKS, /* of the program's */
	NR_WORKERS
};

/* One thing to do, in memory of the caller's that stays until it runs. Zero at first. */
struct work {
	void (*run)(struct work *work); /* with no lock held; may queue or free the work */
	uint64_t due_ns;                /* of CLOCK_MONOTONIC */
	enum worker_kind kind;
	/* The workers' own. */
	struct work *next;
	bool is_queued;
};

void worker_init(void);

/**
 * worker_start, worker_start_kind - make sure that there is a thread; the service's, or this one's
 *
 * With no lock held that an allocation takes: libc allocates for a thread.
 *
 * Return: 0; -EAGAIN if there is none to be had.
 */
int worker_start_kind(enum worker_kind kind);
static inline int worker_start(void)
{
	return worker_start_kind(WORKER_SERVICE);
}

/**
 * worker_queue - have a work done at a time, or soon after
 *
 * Any lock may be held. One that is queued already is done at the earlier one of both times. If its
 * thread was lost in a fork it waits for worker_renew().
 */
void worker_queue(struct work *work, uint64_t due_ns);

/** worker_cancel - it is neither queued nor running any more; if it is the caller, not queued */
void worker_cancel(struct work *work);

/** worker_renew - as worker_start(), if a fork took a thread away that has something to do */
void worker_renew(void);

/* Held over a fork. In the child worker_forget() comes before worker_unlock(). */
void worker_lock(void);
void worker_unlock(void);
void worker_forget(void);

#endif
