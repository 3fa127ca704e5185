/* SPDX-License-Identifier: MIT */
/*
 * Eviction: pages of a region go to the store, in the order of a clock's hand. A page that came
 * back after it was evicted is active, and is spared once; nothing else tells in user space which
 * pages are used.
 *
 * The pages are protected against writes, stored, and dropped, all under their chunk's lock. A
 * write in between is a fault, whose handler waits for the lock and finds the page stored; a read
 * in between reads what is stored. So nothing that was written is lost. Measured with 32 pages at a
 * time this costs no more than moving them out of the way first (UFFDIO_MOVE, Linux 6.8; mremap()
 * with MREMAP_DONTUNMAP).
 */
#ifndef UMEMCG_USER_EVICT_H
#define UMEMCG_USER_EVICT_H

#include <stdbool.h>
#include <stdint.h>

#include "user/region.h"

/**
 * evict_region - give back about @nr_bytes of a region, or all that can be
 *
 * Return: bytes uncharged.
 */
uint64_t evict_region(struct region *region, uint64_t nr_bytes);

/**
 * evict_fault - after a fault at @address, inside the library: was it of the page that the calling
 * thread reads to store it, and which the program took away? Then it is zeros now
 */
bool evict_fault(const void *address);

#endif
