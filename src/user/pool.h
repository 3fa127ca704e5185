/* SPDX-License-Identifier: MIT */
/*
 * The pool: compressed pages, packed so that they take hardly more than their bytes.
 *
 * Objects of one owner lie one behind the other in blocks of a few pages. What is freed leaves a
 * hole, and as soon as the holes of a block would make up a page the objects behind them are moved
 * down, and the page goes back to the system. So a block takes the pages that its live bytes need,
 * and not one more. Objects are named by rows of a table, which know where they are at the moment.
 *
 * The lock of the store is held by all callers (user/account.h).
 */
#ifndef UMEMCG_USER_POOL_H
#define UMEMCG_USER_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pages of a block. The last one is half empty on average, which is 3 % of it. */
#define POOL_BLOCK_PAGES 16u

/* What the pool keeps for an account. */
struct pool {
	uint32_t first_open; /* ring of blocks with room for any object, by ->next; 0: none */
	uint32_t nr_blocks;
};

/* Pages that were needed or became free, to be charged or uncharged by the caller. */
struct pool_change {
	uint32_t account;
	uint32_t owner;
	uint32_t nr_pages;
};

/** pool_init - 0 or -ENOMEM */
int pool_init(size_t page_size);

/** pool_largest - the largest object that pool_put() takes */
size_t pool_largest(void);

/**
 * pool_put - store an object
 * @account:     whose the pool is
 * @owner:       that a new page is charged to; the pages of a block have one owner
 * @may_grow:    if a page may be added
 * @ret_row:     the object's name
 * @ret_nr_pages: pages added, 0 or 1
 *
 * Return: 0; -ENOSPC if it does not fit without a new page; -ENOMEM.
 */
int pool_put(struct pool *pool, uint32_t account, uint32_t owner, const void *object,
	     size_t nr_bytes, bool may_grow, uint32_t *ret_row, uint32_t *ret_nr_pages);

/** pool_get - copy an object to a buffer of pool_largest() bytes; returns its length */
size_t pool_get(uint32_t row, void *object);

/** pool_account - whose an object is */
uint32_t pool_account(uint32_t row);

/** pool_free - forget an object; @pool is that of its account */
void pool_free(struct pool *pool, uint32_t row, struct pool_change *ret_freed);

/* A word that takes a row and nothing else; 0 if there is no memory for one. */
uint32_t pool_put_word(uint64_t word);
uint64_t pool_get_word(uint32_t row);
void pool_free_word(uint32_t row);

/** pool_walk - show the pages of every block to @visit */
void pool_walk(void (*visit)(const struct pool_change *taken, void *arg), void *arg);

/** pool_forget - in a child of fork: there are no objects, and their memory is not there */
void pool_forget(void);

#endif
