/* SPDX-License-Identifier: MIT */
/*
 * Faults of the program that the heap notices.
 *
 * Every build notices a pointer that is no object's where the address alone tells. A hardened one
 * keeps a bit for each block, and so notices every double free, interior pointer and overwritten
 * link; it says which address, and aborts.
 */
#ifndef UMEMCG_KMEM_CHECK_H
#define UMEMCG_KMEM_CHECK_H

#include <stdbool.h>

struct page;

/** check_bad_pointer - the program freed, or asked about, what is no object */
void check_bad_pointer(const void *pointer);

/** check_page_of - the page of what should be an object; NULL, and noticed, if it can be none */
struct page *check_page_of(const void *pointer);

/* ---- hardened builds ---- */

/** check_mark_live - a block is handed out */
void check_mark_live(const void *object);

/** check_mark_free - a block or large object is given back; aborts if it is not in use */
void check_mark_free(const void *object);

/** check_is_object - is this the beginning of a live object? */
bool check_is_object(const void *pointer);

/** check_link - can a free block be followed by this one? */
bool check_link(const void *block, const void *next);

/** check_bad_link - somebody wrote to a free block */
void check_bad_link(const void *block);

#endif
