/* SPDX-License-Identifier: MIT */
/*
 * Subscriptions: the eventfds that the library gave out, found by their number.
 *
 * One lock guards them and their wakers. Who counts an event takes it, perhaps in flight and under
 * any other lock; so whoever holds it allocates nothing, and waits for nobody. Where nothing is
 * counted, subscriptions are made and ended as everywhere, and no waker knows of them.
 */
#ifndef UMEMCG_RECLAIM_SUBSCRIPTION_H
#define UMEMCG_RECLAIM_SUBSCRIPTION_H

#include <stdint.h>

struct subscription {
	uint32_t link;       /* the table's, while the row is free */
	uint32_t next_found; /* the index's */
	uint64_t eventfd;    /* its key */
	uint32_t next;       /* of the same waker */
	uint32_t waker;      /* 0: nobody wakes it, or not any more */
	uint32_t events;     /* a mask; 0: the row is free */
	uint32_t nr_pending; /* events that it was not told of yet */
};

/** subscription_init - carry this, and the worker, over forks, of which a child has nothing */
int subscription_init(void);

void subscription_lock(void);
void subscription_unlock(void);

/**
 * subscription_make - an eventfd of its own, and a row for it, with no waker; under the lock
 *
 * Return: 0; -ENOMEM, -EMFILE, -ENFILE.
 */
int subscription_make(uint32_t events, uint32_t *ret_row);

/** subscription_free - close the eventfd, if the process is the one that it was made in */
void subscription_free(uint32_t row);

struct subscription *subscription_row(uint32_t row);

/** subscription_find - of an eventfd; 0: it is none of ours */
uint32_t subscription_find(int eventfd);

/** subscription_tell - wake who reads the eventfd, if anything is pending */
void subscription_tell(struct subscription *subscription);

#endif
