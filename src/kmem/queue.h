/* SPDX-License-Identifier: MIT */
/* Where a page stands: in its queue or among the full ones. The heap is locked. */
#ifndef UMEMCG_KMEM_QUEUE_H
#define UMEMCG_KMEM_QUEUE_H

#include "kmem/page.h"

/** page_nr_out - blocks that are not on the page's own list */
uint32_t page_nr_out(const struct page *page);

/** page_set_full - take a page with fewer than threshold free blocks out of its queue */
void page_set_full(struct page *page);

/** page_unset_full - put a full page back into its queue */
void page_unset_full(struct page *page);

/** page_enqueue - put a page where it belongs; page_dequeue() takes it away */
void page_enqueue(struct page *page);
void page_dequeue(struct page *page);

/** page_share - make a view's page one that all views of the heap share, with tags; 0 or -ENOMEM */
int page_share(struct page *page);

/** page_attention - the countdown of a page of the calling thread's heap has come to 0; unlocked */
void page_attention(struct page *page);

/**
 * page_return - put a list of blocks, which were out, back into their page
 *
 * The page may be gone afterwards.
 */
void page_return(struct page *page, void *first, void *last, uint32_t nr);

/** page_take_back - put what other threads freed on the page's own list; the page stays */
void page_take_back(struct page *page);

/** page_collect - as page_take_back(); the page may be gone afterwards */
void page_collect(struct page *page);

/** heap_notify - tell a page's heap that it has blocks on its remote list; any thread, unlocked */
void heap_notify(struct page *page);

/** heap_listen - take back what other threads freed in pages that were notified */
void heap_listen(struct heap *heap);

#endif
