/* SPDX-License-Identifier: MIT */
/*
 * Runs of slices: the heap's address space, in use or free.
 *
 * A free run is dirty, with memory behind it, or clean, which reads as zero. Dirty ones are used
 * again first, and are cleaned when they become too many or too old.
 */
#ifndef UMEMCG_KMEM_RUN_H
#define UMEMCG_KMEM_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "kmem/page.h"

/** run_init - reserve the heap's address space; 0 or -ENOMEM */
int run_init(void);

/** run_can_hold - is there address space for a run, if the system gives the memory? */
bool run_can_hold(uint64_t nr_slices, size_t alignment);

/**
 * run_alloc - take a run
 * @alignment:   in bytes, a power of two
 * @ret_is_zero: the memory reads as zero
 *
 * Return: descriptor of its first slice, of no kind and with nr_slices set; NULL if there is none.
 */
struct page *run_alloc(uint64_t nr_slices, size_t alignment, bool *ret_is_zero);

/** run_alloc_clean - as run_alloc(), from memory that nothing lies behind, if there is any */
struct page *run_alloc_clean(uint64_t nr_slices);

/** run_free - give a run back, whose descriptors hold no view and no kind */
void run_free(struct page *run, bool is_dirty);

/** run_grow - make a run longer where it lies; false if what follows is in use */
bool run_grow(struct page *run, uint64_t nr_slices);

/** run_shrink - give the end of a run back */
void run_shrink(struct page *run, uint64_t nr_slices, bool is_dirty);

/**
 * run_clean - give memory of free runs back to the system until at most @nr_bytes are dirty
 *
 * Or until the system does not take one, as when the program has locked its memory.
 */
void run_clean(uint64_t nr_bytes);

/** run_end - descriptor after the last slice that was ever in use */
struct page *run_end(void);

void run_hold(void);
void run_release(void);

#endif
