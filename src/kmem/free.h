/* SPDX-License-Identifier: MIT */
/* Freeing, as far as other files of the heap take part in it. */
#ifndef UMEMCG_KMEM_FREE_H
#define UMEMCG_KMEM_FREE_H

#include <stddef.h>
#include <stdint.h>

/** credit_owner - bytes of an owner's object are free: put them into its stock, or into the books
 */
void credit_owner(uint32_t owner, uint64_t nr_bytes);

/** free_remotely - put a list of blocks of one page, not charged any more, on its remote list */
struct page;
void free_remotely(struct page *page, void *first, void *last, uint32_t nr);

#endif
