/* SPDX-License-Identifier: MIT */
/*
 * The store: where the pages of regions go that are evicted, and from where they come back.
 *
 * A page that holds one repeated word is that word, and takes nothing. One that shrinks by a
 * quarter at least is kept compressed, in memory that stays charged (user/pool.h). All others go to
 * the swap file (user/swap_file.h), if there is one. What became of a page is told by one word, its
 * slot, which the caller keeps in its stead.
 *
 * Who may call: any thread that holds no lock of the library's, a thread in the handler of a fault
 * and one that reclaims among them. Nothing here waits for a charge, allocates from the heap, or
 * touches a region; for store_prepare() and what sets limits alone that does not hold. The caller
 * sees to it that nobody else gets or frees the same slot meanwhile.
 *
 * Locks: that of a scratch area (user/compressor.h), then that of the tree of groups, for what has
 * no account yet, then that of the store (user/account.h). No other is taken under the last one,
 * and none is held while anything is charged or uncharged; that of the store is not held while a
 * file is read or written either.
 *
 * A child of fork has no regions, and so nothing in its store: it begins with an empty one, and
 * does not touch its parent's file.
 */
#ifndef UMEMCG_USER_STORE_H
#define UMEMCG_USER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A page that is stored; opaque. 0 is none, so that a table of slots is empty when it is zeroed. */
typedef uint64_t store_slot;

#define STORE_NONE ((store_slot)0)

/**
 * store_prepare - make ready what may not be made in a fault: tables, the compressor, the swap file
 * that $UMEMCG_CMDLINE names
 *
 * Before the first region that can be evicted, from a public call that holds nothing, which no fork
 * waits for either: a shared object is loaded, and whoever loads one at the same time may have to
 * wait for a fork, or for the library. Again costs a load.
 *
 * Return: 0 or -ENOMEM: nothing can be stored then.
 */
int store_prepare(void);

/** store_is_prepared - was it called? */
bool store_is_prepared(void);

/**
 * store_put - store a page
 * @owner:             to whom the page is charged, as a page of kind anon; not gone to the last
 * byte
 * @page:              on a page boundary, readable, and not changed by anybody meanwhile
 * @ret_slot:          what gives it back; never STORE_NONE
 * @ret_nr_bytes_kept: of the page's charge, what is the store's from now on: 0, or a whole page.
 *                     The caller gives back the rest, once it has dropped the page
 *
 * When it returns 0 the page is stored, and may be dropped. So nothing is ever charged for storing:
 * what the compressed pages take is handed over from the pages that are dropped, and what is used
 * never grows.
 *
 * Return: 0; -ENOSPC if there is no room: no swap file or a full one, swap.max, and a page that
 * does not shrink or more compressed pages than there may be; -ENOMEM without memory for the
 * store's own tables; -EIO or -EBADF if the swap file cannot be written. The page stays the
 * caller's then.
 */
int store_put(uint32_t owner, const void *page, store_slot *ret_slot, uint64_t *ret_nr_bytes_kept);

/**
 * store_get - read a stored page; it stays stored until store_free()
 * @page: memory of the caller's own, which is no page of a region that might fault
 *
 * Return: 0; -EIO if the swap file cannot be read: it may be tried again.
 */
int store_get(store_slot slot, void *page);

/**
 * store_replace - write a page in the place of another one in the file, which is lost
 *
 * For when nothing more can be stored. The pages belong to the same owner.
 *
 * Return: 0; -EINVAL if the other is not in the file, and -EBADF if the program has closed that:
 * then nothing is written; -ENOSPC or -EIO: the place holds neither page then.
 */
int store_replace(store_slot slot, const void *page);

/** store_free - forget a stored page, and uncharge what is no longer needed; STORE_NONE is allowed
 */
void store_free(store_slot slot);

/** store_in_memory - would store_get() do without reading a file? */
bool store_in_memory(store_slot slot);

/**
 * store_walk - show what the store has charged, owner by owner, to @visit; for audits
 *
 * An owner may be shown several times. @visit may not come back here.
 */
void store_walk(void (*visit)(uint32_t owner, uint64_t nr_bytes, void *arg), void *arg);

/** store_set_swap - umemcg_set_swap() */
int store_set_swap(const char *directory, uint64_t nr_bytes);

/* Around a fork; the last one in the child, when books can be used again. */
void store_fork_begin(void);
void store_fork_end(void);
void store_fork_end_in_child(void);

#endif
