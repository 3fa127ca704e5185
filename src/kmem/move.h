/* SPDX-License-Identifier: MIT */
/* Objects that change their address by having their pages moved, not their bytes. */
#ifndef UMEMCG_KMEM_MOVE_H
#define UMEMCG_KMEM_MOVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page;

/**
 * move_pages - move memory from the beginning of one run to that of another, with nothing behind it
 *
 * What it leaves behind is there, and reads as zero.
 *
 * Return: true; false: nothing was moved, and @to is lost and never to be used or given back.
 */
bool move_pages(struct page *to, struct page *from, size_t nr_bytes);

/** move_is_wise - would move_pages() be worth trying? */
bool move_is_wise(const struct page *from, size_t nr_bytes);

/**
 * move_restore - make a run's memory anew, from @first on, like the heap's everywhere
 *
 * For a run that pages were moved to, before it is given back.
 *
 * Return: true: those slices are clean; false: they are lost, as above.
 */
bool move_restore(struct page *run, uint32_t first);

/** move_has_mappings - were pages moved to this run? */
bool move_has_mappings(const struct page *run);

#endif
