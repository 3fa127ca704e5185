/* SPDX-License-Identifier: MIT */
#include "kmem/page.h"

#include <errno.h>

#include "kmem/class.h"
#include "kmem/list.h"
#include "kmem/meta.h"
#include "kmem/notice.h"
#include "kmem/run.h"

/*
 * The part of a full page's blocks that has to be free before blocks are fetched from it again.
 * Views that come and go leave a few blocks in many shared pages, which must not add up.
 */
#define THRESHOLD_PART        8
#define SHARED_THRESHOLD_PART 128

/* Of large blocks, that many even if they are a greater part, up to a quarter: a fetch costs too.
 */
#define THRESHOLD_BLOCKS 16u

/* The remote word: the first block, in grains from the base, and above it how many there are. */
#define REMOTE_NR_SHIFT 40

void queue_push(struct page_queue *queue, struct page *page)
{
	page->prev = NULL;
	page->next = queue->first;
	*(page->next ? &page->next->prev : &queue->last) = page;
	queue->first = page;
}

void queue_push_last(struct page_queue *queue, struct page *page)
{
	page->next = NULL;
	page->prev = queue->last;
	*(page->prev ? &page->prev->next : &queue->first) = page;
	queue->last = page;
}

void queue_remove(struct page_queue *queue, struct page *page)
{
	*(page->prev ? &page->prev->next : &queue->first) = page->next;
	*(page->next ? &page->next->prev : &queue->last) = page->prev;
}

static size_t live_bytes(const struct page *page)
{
	return (page->nr_blocks + 63) / 64 * sizeof(uint64_t);
}

static size_t tags_bytes(const struct page *page)
{
	return page_nr_tags(page) * sizeof(uint32_t);
}

/* As page_tag() wants them; 0 if there is no memory. */
static uintptr_t alloc_tags(const struct page *page)
{
	uintptr_t first = (uintptr_t)meta_alloc(tags_bytes(page));
	uintptr_t origin = ((uintptr_t)page_start(page) >> page->tag_shift) * sizeof(uint32_t);

	return first ? first - origin : 0;
}

static void free_tags(const struct page *page, uintptr_t tags)
{
	meta_free((void *)page_tag(page, tags, page_start(page)), tags_bytes(page));
}

/* Fill in what a page of a class is; nobody else can see it yet. */
static int prepare(struct page *page, unsigned int size_class, bool with_tags)
{
	page->size_class = size_class;
	page->block_bytes = class_block_bytes(size_class);
	page->tag_shift = 31 - __builtin_clz(page->block_bytes);
	page->nr_blocks = (page->nr_slices << SLICE_SHIFT) / page->block_bytes;
	page->threshold =
		max(page->nr_blocks / (with_tags ? SHARED_THRESHOLD_PART : THRESHOLD_PART), 1u);
	page->nr_carved = 0;
	page->countdown = 0;
	page_set_free_list(page, NULL);
	page->is_full = false;
	atomic_store_explicit(&page->remote, 0, memory_order_relaxed);
	if (with_tags) {
		uintptr_t tags = alloc_tags(page);

		if (!tags)
			return -ENOMEM;
		atomic_store_explicit(&page->tags, tags, memory_order_release);
	}
	if (CONFIG_HARDENED) {
		page->live = meta_alloc(live_bytes(page));
		if (!page->live)
			return -ENOMEM;
	}
	return 0;
}

static void clear(struct page *page)
{
	uintptr_t tags = page_tags(page);

	atomic_store_explicit(&page->whose, NULL, memory_order_relaxed);
	if (CONFIG_HARDENED && page->live)
		meta_free((void *)page->live, live_bytes(page));
	page->live = NULL;
	if (tags)
		free_tags(page, tags);
	atomic_store_explicit(&page->tags, 0, memory_order_relaxed);
	for (uint32_t slice = 0; slice < page->nr_slices; slice++)
		page_set_kind(&page[slice], PAGE_NONE);
	page->heap = NULL;
	page->home = NULL;
}

struct page *page_create(struct heap *heap, struct view *home, unsigned int size_class)
{
	bool is_zero;
	struct page *page = run_alloc(class_slices(size_class), SLICE_BYTES, &is_zero);

	if (!page)
		return NULL;
	page->live = NULL;
	if (prepare(page, size_class, !home)) {
		clear(page);
		run_free(page, true);
		return NULL;
	}
	page->heap = heap;
	page->home = home;
	/* release: pairs with page_whose(). */
	atomic_store_explicit(&page->whose, home ? (void *)home : (void *)heap,
			      memory_order_release);
	page_set_kind(page, PAGE_SMALL);
	for (uint32_t slice = 1; slice < page->nr_slices; slice++) {
		page_set_kind(&page[slice], PAGE_INTERIOR);
		page[slice].nr_back = slice;
	}
	return page;
}

void page_destroy(struct page *page)
{
	clear(page);
	run_free(page, true);
}

void *page_carve(struct page *page, uint32_t nr_bytes, void **ret_last, uint32_t *ret_nr)
{
	uint32_t nr = min(max(nr_bytes / page->block_bytes, 1u), page->nr_blocks - page->nr_carved);
	char *first = page_start(page) + (size_t)page->nr_carved * page->block_bytes;
	char *block = first;

	if (!nr)
		return NULL;
	for (uint32_t i = 1; i < nr; i++, block += page->block_bytes)
		list_link(block, block + page->block_bytes);
	list_link(block, NULL);
	page->nr_carved += nr;
	*ret_last = block;
	*ret_nr = nr;
	return first;
}

int page_set_tags(struct page *page)
{
	uintptr_t tags = alloc_tags(page);
	uint32_t owner = atomic_load_explicit(&page->owner, memory_order_relaxed);

	if (!tags)
		return -ENOMEM;
	for (uint32_t i = 0; i < page->nr_blocks; i++) {
		char *block = page_start(page) + (size_t)i * page->block_bytes;

		atomic_store_explicit(page_tag(page, tags, block), owner, memory_order_relaxed);
	}
	/* release: pairs with page_tags(). */
	atomic_store_explicit(&page->tags, tags, memory_order_release);
	/* release: pairs with page_whose(). */
	atomic_store_explicit(&page->whose, page->heap, memory_order_release);
	return 0;
}

static uint64_t grains_of(const void *block)
{
	return ((uintptr_t)block - heap_map.base) / CLASS_GRAIN;
}

static void *block_of(uint64_t word)
{
	uint64_t grains = word & (((uint64_t)1 << REMOTE_NR_SHIFT) - 1);

	return (void *)(heap_map.base + grains * CLASS_GRAIN);
}

/*
 * Claimed before the blocks are pushed: until then they are in use, so the page exists, and once
 * it is claimed it is not destroyed until its heap has been told and has looked.
 */
static bool claim_notice(struct page *page)
{
	if (atomic_load_explicit(&page->is_notified, memory_order_relaxed) || !notice_begin())
		return false;
	/* acq_rel: pairs with heap_listen(). */
	if (!atomic_exchange_explicit(&page->is_notified, true, memory_order_acq_rel))
		return true;
	notice_end();
	return false;
}

bool page_push_remote(struct page *page, void *first, void *last, uint32_t nr)
{
	uint64_t old = atomic_load_explicit(&page->remote, memory_order_relaxed);
	bool has_claimed = false;
	uint64_t new;

	do {
		uint64_t nr_all = (old >> REMOTE_NR_SHIFT) + nr;

		if (nr_all >= page->threshold && !has_claimed)
			has_claimed = claim_notice(page);
		list_link(last, old ? block_of(old) : NULL);
		new = grains_of(first) | nr_all << REMOTE_NR_SHIFT;
		/* release: pairs with page_take_remote(), which then may reuse the blocks. */
	} while (!atomic_compare_exchange_weak_explicit(
		&page->remote, &old, new, memory_order_release, memory_order_relaxed));
	return has_claimed;
}

void *page_take_remote(struct page *page, uint32_t *ret_nr)
{
	uint64_t word;

	if (!atomic_load_explicit(&page->remote, memory_order_relaxed))
		return NULL;
	word = atomic_exchange_explicit(&page->remote, 0, memory_order_acquire);
	if (!word)
		return NULL;
	*ret_nr = word >> REMOTE_NR_SHIFT;
	return block_of(word);
}

uint32_t page_nr_remote(const struct page *page)
{
	return atomic_load_explicit(&page->remote, memory_order_relaxed) >> REMOTE_NR_SHIFT;
}

void *page_peek_remote(const struct page *page)
{
	uint64_t word = atomic_load_explicit(&page->remote, memory_order_acquire);

	return word ? block_of(word) : NULL;
}
