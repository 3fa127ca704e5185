/* SPDX-License-Identifier: MIT */
/* Large objects: a run of slices each, charged by the system's pages. */
#ifndef UMEMCG_KMEM_LARGE_H
#define UMEMCG_KMEM_LARGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page;
struct view;

/** large_bytes - what a large object of this size is charged; 0 if there is no such object */
uint64_t large_bytes(size_t nr_bytes);

/** large_fits - can the heap have an object of so many charged bytes at all? To ask before a charge
 */
bool large_fits(uint64_t nr_bytes, size_t alignment);

/** large_alloc - charge and make a large object; NULL, and nothing charged, if it cannot be had */
void *large_alloc(struct view *view, size_t nr_bytes, size_t alignment, bool zeroed);

/** large_free - free a large object; the caller credits its owner */
void large_free(struct page *page);

/** large_resize - make an object longer or shorter where it lies, uncharged; false if it cannot be
 */
bool large_resize(struct page *page, uint64_t nr_bytes);

/** large_move - give an object a longer run, uncharged; returns its new address, or NULL */
void *large_move(struct page *page, uint64_t nr_bytes);

/** large_set_owner - the object is another owner's from now on */
void large_set_owner(struct page *page, uint32_t owner);

/**
 * large_take_all - take out all large objects whose owner @matches, for large_free_taken()
 * @only: look at this owner's alone; 0: at all
 *
 * Return: the first one, which leads to the others by ->next, or NULL.
 */
struct page *large_take_all(uint32_t only, bool (*matches)(uint32_t owner, void *arg), void *arg);
void large_free_taken(struct page *page);

void large_hold(void);
void large_release(void);

#endif
