/* SPDX-License-Identifier: MIT */
/*
 * Fork in a program with threads.
 *
 * At the fork every lock is held and nobody is in flight, so the child finds nothing half done but
 * what the other threads' fast paths were doing: a block may be on its page's list and not yet
 * counted. The heaps of those threads become idle ones in the child, and are counted anew when a
 * thread takes them over. An object that such a thread was freeing may be gone and still charged
 * there: one a thread at most, as its fast path leaves no word of what it is doing.
 */
#include "kmem/fork.h"

#include <pthread.h>
#include <unistd.h>

#include "charge/barrier.h"
#include "charge/charge.h"
#include "charge/flight.h"
#include "charge/owner.h"
#include "charge/settle.h"
#include "charge/switch.h"
#include "group/rare.h"
#include "kmem/heap.h"
#include "kmem/large.h"
#include "kmem/list.h"
#include "kmem/meta.h"
#include "kmem/notice.h"
#include "kmem/queue.h"
#include "kmem/run.h"

/* Without address space for the tables of groups there are none. */
static bool has_books(void)
{
	return CONFIG_MEMCG && switch_is_on();
}

/*
 * First nobody may charge any more: a thread that waits for that holds no lock of the heap, while
 * one that waits for such a lock may have to go on with its charge before it has ended.
 */
static void prepare(void)
{
	if (has_books())
		charge_hold();
	heap_list_hold();
	for (struct heap *heap = heap_first(); heap; heap = heap->next)
		lock_get(&heap->lock);
	notice_hold();
	large_hold();
	run_hold();
	meta_hold();
	if (CONFIG_MEMCG)
		rare_lock();
}

static void release(void)
{
	if (CONFIG_MEMCG)
		rare_unlock();
	meta_release();
	run_release();
	large_release();
	notice_release();
	for (struct heap *heap = heap_first(); heap; heap = heap->next)
		lock_put(&heap->lock);
	heap_list_release();
	if (has_books())
		charge_release();
}

/*
 * A thread that was lost may have been about to take an object off a gate's list, charged already:
 * then there is one more than the stock knows of. It knows of none while it is being told of a
 * new list, and nothing of that one is charged yet, be it a list of one (stock_list()).
 */
static void settle_gate(struct stock *stock, unsigned int gate)
{
	uint32_t owner = stock_owner(stock);
	uint16_t *nr_parked = &stock->slow_gates[gate].nr_parked;
	uint32_t nr_listed = 0;

	if (stock->gates[gate].objects)
		list_last(stock->gates[gate].objects, &nr_listed);
	if (owner && stock->untold_gate != gate + 1 && nr_listed == *nr_parked + 1u)
		owner_uncharge(stock->flight, owner, stock_gate_bytes[gate]);
	*nr_parked = nr_listed;
}

/* A thread that was lost has not learned that its stocks were closed for the fork. */
static void settle_stocks(struct heap *heap)
{
	struct stock *stock = atomic_load_explicit(&heap->flight.stocks, memory_order_relaxed);
	unsigned int nr_gates = heap->is_suspect ? STOCK_NR_GATES : 0;

	for (; stock; stock = stock->next) {
		stock_settle(stock);
		/* Begun after the words were closed, so nothing is in hand. */
		atomic_store_explicit(&stock_words(stock)->moving, 0, memory_order_relaxed);
		for (unsigned int gate = 0; gate < nr_gates; gate++) {
			stock_word *ready = stock_ready(stock, gate);

			/* Open now are only the words of a stock that never asks. */
			if (!word_is_closed(word_get(ready)))
				word_set(ready, 0);
			settle_gate(stock, gate);
		}
		stock->untold_gate = 0;
	}
}

static void in_child(void)
{
	if (CONFIG_MEMCG) {
		flight_forget_others(thread.heap ? &thread.heap->flight : NULL);
		barrier_init();
	}
	release();
	if (thread.heap)
		thread.heap->tid = gettid();
	for (struct heap *heap = heap_first(); heap; heap = heap->next) {
		if (heap == thread.heap)
			continue;
		heap->is_suspect |= heap->is_taken;
		if (CONFIG_MEMCG)
			settle_stocks(heap);
	}
	heap_forget_threads();
}

/* What the page's countdown should be, now that nobody is at it. */
static void recount(struct page *page)
{
	uint32_t nr_free = 0;

	if (page_free_list(page))
		list_last(page_free_list(page), &nr_free);
	page->countdown = page->nr_carved - nr_free;
	if (page->is_full)
		page->countdown -= page->nr_blocks - page->threshold;
}

static void repair_queue(const struct page_queue *queue)
{
	for (struct page *page = queue->first; page; page = page->next)
		recount(page);
}

/*
 * A full page may have got as many free blocks as bring it back without that having been noticed:
 * its countdown is 0 or, with the one that was not counted, below.
 */
static void repair_full(const struct page_queue *full)
{
	struct page *page, *next;

	for (page = full->first; page; page = next) {
		next = page->next;
		recount(page);
		page_take_back(page);
		if (page->is_full && (int32_t)page->countdown <= 0)
			page_unset_full(page);
	}
}

void heap_repair(struct heap *heap)
{
	lock_get(&heap->lock);
	for (unsigned int i = 0; i < HEAP_NR_BUCKETS; i++) {
		for (struct view *view = heap->buckets[i]; view; view = view->next) {
			for (unsigned int size_class = 0; size_class < NR_CLASSES; size_class++)
				repair_queue(&view->pages->queues[size_class]);
			repair_full(&view->pages->full);
		}
	}
	for (unsigned int size_class = 0; size_class < NR_CLASSES; size_class++)
		repair_queue(&heap->queues[size_class]);
	repair_full(&heap->full);
	heap->is_suspect = false;
	lock_put(&heap->lock);
}

int fork_init(void)
{
	return -pthread_atfork(prepare, release, in_child);
}
