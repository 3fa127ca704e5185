/* SPDX-License-Identifier: MIT */
#include "kmem/check.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "base/init.h"
#include "base/report.h"
#include "group/event.h"
#include "group/group.h"
#include "kmem/foreign.h"
#include "kmem/list.h"
#include "kmem/page.h"

uintptr_t list_secret;

void list_init(void)
{
	struct timespec now;

	if (!CONFIG_HARDENED)
		return;
	if (getrandom(&list_secret, sizeof(list_secret), GRND_NONBLOCK) == sizeof(list_secret))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	list_secret = (uintptr_t)now.tv_nsec * 0x9e3779b97f4a7c15u ^ (uintptr_t)&now;
}

cold void check_bad_pointer(const void *pointer)
{
	static atomic_bool was_reported;

	if (CONFIG_HARDENED) {
		report("%p is not an object of this library: freed twice, or never allocated",
		       pointer);
		abort();
	}
	/* relaxed: it only keeps the report from being repeated. */
	if (!atomic_exchange_explicit(&was_reported, true, memory_order_relaxed))
		report("%p is not an object of this library; ignored, as others will be", pointer);
	/* It may be the program's first call. */
	if (CONFIG_MEMCG && library_counts(LIBRARY_COUNTS))
		group_event(group_root(), UMEMCG_EVENT_UNDERFLOW);
}

static _Atomic uint64_t *live_word(const struct page *page, const void *object, uint64_t *ret_bit)
{
	size_t index = page_index(page, object);

	*ret_bit = (uint64_t)1 << index % 64;
	return &page->live[index / 64];
}

void check_mark_live(const void *object)
{
	struct page *page = page_first(page_of_slice(object));
	uint64_t bit;
	_Atomic uint64_t *word = live_word(page, object, &bit);

	/* relaxed: the program passes the object on with an order of its own. */
	if (atomic_fetch_or_explicit(word, bit, memory_order_relaxed) & bit)
		check_bad_link(object);
}

/* Could this be the beginning of a block of the page, handed out at some time? */
static bool is_block(const struct page *page, const void *pointer)
{
	size_t offset = (const char *)pointer - page_start(page);

	return offset % page->block_bytes == 0 && offset / page->block_bytes < page->nr_blocks;
}

static struct page *page_of(const void *pointer)
{
	struct page *page;

	if (!page_is_ours(pointer))
		return NULL;
	page = page_first(page_of_slice(pointer));
	return page_is_in_use(page) ? page : NULL;
}

struct page *check_page_of(const void *pointer)
{
	struct page *page = page_of(pointer);
	bool is_object = page && (page_kind(page) == PAGE_SMALL || pointer == page_start(page));

	if (likely(is_object && (!CONFIG_HARDENED || check_is_object(pointer))))
		return page;
	if (page_is_ours(pointer))
		check_bad_pointer(pointer);
	else
		foreign_notice(pointer);
	return NULL;
}

bool check_is_object(const void *pointer)
{
	struct page *page = page_of(pointer);
	uint64_t bit;
	_Atomic uint64_t *word;

	if (!page)
		return false;
	if (page_kind(page) == PAGE_LARGE)
		return pointer == page_start(page);
	if (!is_block(page, pointer))
		return false;
	word = live_word(page, pointer, &bit);
	return atomic_load_explicit(word, memory_order_relaxed) & bit;
}

void check_mark_free(const void *object)
{
	struct page *page = page_of(object);
	uint64_t bit;
	_Atomic uint64_t *word;

	if (!check_is_object(object)) {
		check_bad_pointer(object);
		return;
	}
	if (page_kind(page) == PAGE_LARGE)
		return;
	word = live_word(page, object, &bit);
	/* relaxed: of two threads that free the same block one sees the bit cleared. */
	if (!(atomic_fetch_and_explicit(word, ~bit, memory_order_relaxed) & bit))
		check_bad_pointer(object);
}

bool check_link(const void *block, const void *next)
{
	struct page *page = page_of(block);

	return page && page == page_of(next) && page_kind(page) == PAGE_SMALL &&
	       is_block(page, next);
}

cold void check_bad_link(const void *block)
{
	report("%p was written to after it was freed", block);
	abort();
}
