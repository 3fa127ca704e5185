/* SPDX-License-Identifier: MIT */
/*
 * Pages move between their queue, where blocks are fetched from, and the full ones.
 *
 * A full page comes back when an eighth of its blocks are free, so that each fetch serves many
 * allocations. Its countdown is shortened by what that leaves out.
 */
#include "kmem/heap.h"
#include "kmem/list.h"
#include "kmem/notice.h"
#include "kmem/queue.h"

static struct page_queue *queue_of(const struct page *page)
{
	return page->home ? &page->home->pages->queues[page->size_class]
			  : &page->heap->queues[page->size_class];
}

static struct page_queue *full_of(const struct page *page)
{
	return page->home ? &page->home->pages->full : &page->heap->full;
}

/* Blocks that are with the program or on a gate's list, or were not taken off the remote one. */
uint32_t page_nr_out(const struct page *page)
{
	return page->countdown + (page->is_full ? page->nr_blocks - page->threshold : 0);
}

void page_set_full(struct page *page)
{
	queue_remove(queue_of(page), page);
	page->countdown -= page->nr_blocks - page->threshold;
	page->is_full = true;
	queue_push(full_of(page), page);
}

void page_unset_full(struct page *page)
{
	queue_remove(full_of(page), page);
	page->countdown = page_nr_out(page);
	page->is_full = false;
	queue_push_last(queue_of(page), page);
}

void page_enqueue(struct page *page)
{
	queue_push(page->is_full ? full_of(page) : queue_of(page), page);
}

void page_dequeue(struct page *page)
{
	queue_remove(page->is_full ? full_of(page) : queue_of(page), page);
}

int page_share(struct page *page)
{
	int r = page_set_tags(page);

	if (r)
		return r;
	page_dequeue(page);
	page->home->nr_pages[page->size_class]--;
	page->home = NULL;
	page_enqueue(page);
	return 0;
}

/* An empty page goes, unless its queue has no other, or somebody is still about to name it. */
static void settle(struct page *page)
{
	struct page_queue *queue = queue_of(page);

	if (page->is_full || page->countdown || queue->first == queue->last)
		return;
	/* acquire: pairs with claim_notice(). */
	if (atomic_load_explicit(&page->is_notified, memory_order_acquire))
		return;
	queue_remove(queue, page);
	page->heap->nr_pages--;
	if (page->home)
		page->home->nr_pages[page->size_class]--;
	page_destroy(page);
}

void page_attention(struct page *page)
{
	struct heap *heap = page->heap;

	if (!heap_begin(heap)) {
		/* The next free looks; an empty page waits for being used once more. */
		if (page->is_full) {
			page->countdown++;
			page->threshold++;
		}
		return;
	}
	if (page->is_full)
		page_unset_full(page);
	settle(page);
	heap_end(heap);
}

static void put_back(struct page *page, void *first, void *last, uint32_t nr)
{
	if (page_free_list(page))
		list_link(last, page_free_list(page));
	page_set_free_list(page, first);
	if (page->is_full && nr < page->countdown) {
		page->countdown -= nr;
		return;
	}
	if (page->is_full)
		page_unset_full(page);
	page->countdown -= nr;
}

void page_return(struct page *page, void *first, void *last, uint32_t nr)
{
	put_back(page, first, last, nr);
	settle(page);
}

/* The last block of the list is only needed to link it to another one. */
void page_take_back(struct page *page)
{
	uint32_t nr;
	void *first = page_take_remote(page, &nr);

	if (!first)
		return;
	put_back(page, first, page_free_list(page) ? list_last(first, &nr) : NULL, nr);
}

void page_collect(struct page *page)
{
	page_take_back(page);
	settle(page);
}

void heap_notify(struct page *page)
{
	struct heap *heap = page->heap;
	struct page *first = atomic_load_explicit(&heap->notified, memory_order_relaxed);

	do {
		page->next_notified = first;
		/* release: pairs with the exchange in heap_listen(). */
	} while (!atomic_compare_exchange_weak_explicit(
		&heap->notified, &first, page, memory_order_release, memory_order_relaxed));
	notice_end();
}

void heap_listen(struct heap *heap)
{
	struct page *page = atomic_exchange_explicit(&heap->notified, NULL, memory_order_acquire);

	while (page) {
		struct page *next = page->next_notified;

		/* acq_rel: pairs with claim_notice(); what is pushed later claims again. */
		atomic_exchange_explicit(&page->is_notified, false, memory_order_acq_rel);
		page_collect(page);
		page = next;
	}
}
