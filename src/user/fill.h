/* SPDX-License-Identifier: MIT */
/*
 * Making pages present: charged first, filled second.
 *
 * A thread that touches page after page gets more and more of them at a time, 1 to 512; one that
 * jumps about gets one. Near a limit the window shrinks, so that the last page that fits can be
 * had, and nobody is refused for pages that nobody asked for.
 */
#ifndef UMEMCG_USER_FILL_H
#define UMEMCG_USER_FILL_H

#include <stdint.h>

#include "user/region.h"

/** fill_fault - after a fault at @address; 0; -EFAULT if it is of no region; or as fill_page() */
int fill_fault(const void *address);

/**
 * fill_page - make a page present, and of those behind it, if that is cheap, up to *@nr_pages in
 * all
 * @nr_pages: how many are there now, on success
 *
 * Evicts others if it has to. In no flight, with no lock held.
 *
 * Return: 0; -ENOMEM if it does not fit, or the system has no memory; -EIO if it could not be read.
 */
int fill_page(struct region *region, uint64_t page, uint32_t *nr_pages);

#endif
