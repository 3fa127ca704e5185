/* SPDX-License-Identifier: MIT */
#include "kmem/large.h"

#include <pthread.h>
#include <string.h>

#include "kmem/heap.h"
#include "kmem/mapping.h"
#include "kmem/move.h"
#include "kmem/run.h"

/* Buckets of large objects by owner, so that an owner's are found without a walk of the heap. */
#define NR_BUCKETS 256u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct page_queue buckets[NR_BUCKETS];

static uint32_t owner_of(const struct page *page)
{
	return atomic_load_explicit(&page->owner, memory_order_relaxed);
}

static struct page_queue *bucket_of(uint32_t owner)
{
	return &buckets[owner % NR_BUCKETS];
}

static void add(struct page *page, uint32_t owner)
{
	atomic_store_explicit(&page->owner, owner, memory_order_relaxed);
	pthread_mutex_lock(&lock);
	queue_push(bucket_of(owner), page);
	pthread_mutex_unlock(&lock);
}

static void remove_from_bucket(struct page *page)
{
	pthread_mutex_lock(&lock);
	queue_remove(bucket_of(owner_of(page)), page);
	pthread_mutex_unlock(&lock);
}

static uint64_t slices_of(uint64_t nr_bytes)
{
	return (nr_bytes + SLICE_BYTES - 1) >> SLICE_SHIFT;
}

uint64_t large_bytes(size_t nr_bytes)
{
	if (nr_bytes > PTRDIFF_MAX - SLICE_BYTES)
		return 0;
	return max((nr_bytes + LARGE_GRAIN - 1) & ~(LARGE_GRAIN - 1), LARGE_GRAIN);
}

bool large_fits(uint64_t nr_bytes, size_t alignment)
{
	return nr_bytes && run_can_hold(slices_of(nr_bytes), alignment);
}

static struct page *create(struct view *view, uint64_t nr_bytes, size_t alignment,
			   bool *ret_is_zero)
{
	struct page *page;

	if (stock_charge(&view->stock, nr_bytes))
		return NULL;
	page = run_alloc(slices_of(nr_bytes), alignment, ret_is_zero);
	if (!page) {
		stock_uncharge(&view->stock, nr_bytes);
		return NULL;
	}
	page->nr_large_bytes = nr_bytes;
	page->nr_mappings = 0;
	add(page, view->owner);
	page_set_kind(page, PAGE_LARGE);
	return page;
}

void *large_alloc(struct view *view, size_t nr_bytes, size_t alignment, bool zeroed)
{
	uint64_t nr_charged = large_bytes(nr_bytes);
	struct page *page;
	bool is_zero;

	if (!large_fits(nr_charged, alignment))
		return NULL;
	mapping_begin();
	page = create(view, nr_charged, alignment, &is_zero);
	mapping_end();
	if (!page)
		return NULL;
	if (zeroed && !is_zero)
		memset(page_start(page), 0, nr_bytes);
	return page_start(page);
}

/* What the object had no room for yet was never touched, and no pages were moved there. */
static void free_run(struct page *page, bool is_dirty)
{
	page_set_kind(page, PAGE_NONE);
	run_shrink(page, slices_of(page->nr_large_bytes), false);
	if (!move_has_mappings(page))
		run_free(page, is_dirty);
	else if (move_restore(page, 0))
		run_free(page, false);
}

void large_free(struct page *page)
{
	remove_from_bucket(page);
	free_run(page, true);
}

/* Give back the end of an object's run, and what it has besides. */
static void shrink(struct page *page, uint64_t nr_slices)
{
	run_shrink(page, slices_of(page->nr_large_bytes), false);
	if (page->nr_slices == nr_slices)
		return;
	if (!move_has_mappings(page))
		run_shrink(page, nr_slices, true);
	else if (move_restore(page, nr_slices))
		run_shrink(page, nr_slices, false);
	else
		page->nr_slices = nr_slices;
}

bool large_resize(struct page *page, uint64_t nr_bytes)
{
	uint64_t nr_slices = slices_of(nr_bytes);

	if (nr_slices > page->nr_slices && !run_grow(page, nr_slices))
		return false;
	if (nr_bytes < page->nr_large_bytes)
		shrink(page, nr_slices);
	page->nr_large_bytes = nr_bytes;
	return true;
}

/* Room to grow further: what has grown often does so again. */
static struct page *run_for_move(uint64_t nr_bytes)
{
	struct page *new = run_alloc_clean(2 * slices_of(nr_bytes));

	return new ? new : run_alloc_clean(slices_of(nr_bytes));
}

/* NULL if the bytes are better copied, or the pages could not be moved. */
static struct page *move(struct page *page, uint64_t nr_bytes)
{
	size_t nr_moved = slices_of(page->nr_large_bytes) << SLICE_SHIFT;
	struct page *new = NULL;

	if (move_is_wise(page, nr_moved))
		new = run_for_move(nr_bytes);
	return new &&move_pages(new, page, nr_moved) ? new : NULL;
}

/* Preferably to memory that is there already. */
static struct page *copy(const struct page *page, uint64_t nr_bytes)
{
	bool is_zero;
	struct page *new = run_alloc(slices_of(nr_bytes), SLICE_BYTES, &is_zero);

	if (!new)
		return NULL;
	memcpy(page_start(new), page_start(page), page->nr_large_bytes);
	new->nr_mappings = 0;
	return new;
}

void *large_move(struct page *page, uint64_t nr_bytes)
{
	struct page *new = move(page, nr_bytes);
	bool is_moved = new != NULL;

	if (!new)
		new = copy(page, nr_bytes);
	if (!new)
		return NULL;
	new->nr_large_bytes = nr_bytes;
	add(new, owner_of(page));
	page_set_kind(new, PAGE_LARGE);
	remove_from_bucket(page);
	free_run(page, !is_moved);
	return page_start(new);
}

void large_set_owner(struct page *page, uint32_t owner)
{
	remove_from_bucket(page);
	add(page, owner);
}

/* Take matching objects out of a bucket, and put them in front of the @taken. */
static struct page *take_from(struct page_queue *bucket, bool (*matches)(uint32_t owner, void *arg),
			      void *arg, struct page *taken)
{
	struct page *next;

	for (struct page *page = bucket->first; page; page = next) {
		next = page->next;
		if (!matches(owner_of(page), arg))
			continue;
		queue_remove(bucket, page);
		page->next = taken;
		taken = page;
	}
	return taken;
}

struct page *large_take_all(uint32_t only, bool (*matches)(uint32_t owner, void *arg), void *arg)
{
	struct page *taken = NULL;

	pthread_mutex_lock(&lock);
	if (only)
		taken = take_from(bucket_of(only), matches, arg, NULL);
	for (unsigned int i = 0; !only && i < NR_BUCKETS; i++)
		taken = take_from(&buckets[i], matches, arg, taken);
	pthread_mutex_unlock(&lock);
	return taken;
}

void large_free_taken(struct page *page)
{
	free_run(page, true);
}

void large_hold(void)
{
	pthread_mutex_lock(&lock);
}

void large_release(void)
{
	pthread_mutex_unlock(&lock);
}
