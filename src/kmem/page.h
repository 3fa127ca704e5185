/* SPDX-License-Identifier: MIT */
/*
 * Pages: runs of slices that hold blocks of one class, or one large object.
 *
 * The heap is one reservation of address space, cut into slices of 64 KiB. A table beside it has a
 * descriptor for each slice, so that arithmetic leads from any pointer to its page. The
 * descriptor of a run's first slice is the page; interior ones lead to it or are empty.
 */
#ifndef UMEMCG_KMEM_PAGE_H
#define UMEMCG_KMEM_PAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

#define SLICE_SHIFT 16
#define SLICE_BYTES ((size_t)1 << SLICE_SHIFT)

/* What large objects are charged by, and what the system maps. */
#define LARGE_GRAIN ((size_t)4096)

struct heap;
struct view;

enum page_kind {
	PAGE_NONE,     /* nothing begins here: never used, or inside a large object */
	PAGE_SMALL,    /* blocks of one class */
	PAGE_INTERIOR, /* a later slice of a PAGE_SMALL */
	PAGE_LARGE,    /* one object */
	PAGE_FREE,     /* first slice of a free run */
	PAGE_TAIL,     /* last slice of a free run of more than one */
};

/*
 * The first line is what malloc and free touch, the second what only slow paths do. A page's own
 * thread writes it; other threads read whose, tags, owner, heap and what never changes, and
 * push to the remote list.
 */
struct page {
	const void
		*_Atomic whose; /* view that all objects belong to, or heap whose views share it */
	void *_Atomic free;     /* freed blocks: its thread pushes, whoever holds the heap reads */
	uint32_t countdown;     /* frees until somebody should look: see page_attention() */
	uint32_t block_bytes;
	_Atomic uint32_t owner; /* of every object, while there are no tags */
	_Atomic uint8_t kind;   /* of enum page_kind */
	uint8_t size_class;
	uint8_t tag_shift;      /* the largest power of two that a block has room for */
	bool is_full;           /* out of its queue; the countdown is shortened */
	_Atomic uintptr_t tags; /* owner of each object, if views share the page: page_tag() */
	struct heap *heap;
	uint32_t nr_carved; /* blocks that were ever handed to a list */
	uint32_t nr_blocks;
	uint32_t nr_slices;
	uint32_t nr_back; /* of PAGE_INTERIOR and PAGE_TAIL: slices back to the first */

	_Atomic uint64_t remote aligned_to(CACHE_LINE); /* blocks that other threads freed */
	struct page *next_notified;
	_Atomic bool is_notified;
	bool is_dirty; /* of a free run: the system has memory there */
	union {
		uint32_t threshold;   /* free blocks that bring a full page back */
		uint32_t nr_mappings; /* of a large object: that its pages were moved to */
	};
	struct page *next, *prev; /* of a queue, of the free runs or of an owner's large objects */
	union {
		struct view *home;  /* whose queue the page is in; NULL: the heap's, with tags */
		struct page *newer; /* of the free runs that are dirty */
	};
	union {
		_Atomic uint64_t *live; /* hardened: a bit for each block that the program has */
		struct page *older;
	};
	uint64_t nr_large_bytes; /* of a large object, as charged */
};

_Static_assert(sizeof(struct page) == 2 * CACHE_LINE, "descriptors are found by a shift");

/* relaxed: who looks from outside holds the lock of the runs, or was given an object of the page.
 */
static always_inline enum page_kind page_kind(const struct page *page)
{
	return atomic_load_explicit(&page->kind, memory_order_relaxed);
}

static always_inline void page_set_kind(struct page *page, enum page_kind kind)
{
	atomic_store_explicit(&page->kind, kind, memory_order_relaxed);
}

/* The page's own thread, or whoever holds the heap in its place. */
static always_inline void *page_free_list(const struct page *page)
{
	return atomic_load_explicit(&page->free, memory_order_relaxed);
}

/* release: pairs with page_peek_free(), so that what is on the list is linked. */
static always_inline void page_set_free_list(struct page *page, void *first)
{
	atomic_store_explicit(&page->free, first, memory_order_release);
}

/** page_is_in_use - does an object or a page for objects begin here? */
static inline bool page_is_in_use(const struct page *page)
{
	return page_kind(page) == PAGE_SMALL || page_kind(page) == PAGE_LARGE;
}

struct page_queue {
	struct page *first, *last;
};

/*
 * The reservation and the descriptors of its slices, read by every free. Written once; so are the
 * descriptors there at once, but until the heap has grown to their slices they can only be read.
 */
struct heap_map {
	uintptr_t base;
	uintptr_t nr_bytes;
	struct page *pages;
} aligned_to(CACHE_LINE);

extern hidden struct heap_map heap_map;

static always_inline bool page_is_ours(const void *pointer)
{
	return (uintptr_t)pointer - heap_map.base < heap_map.nr_bytes;
}

/* The descriptor of the slice that a pointer into the heap lies in. */
static always_inline struct page *page_of_slice(const void *pointer)
{
	return heap_map.pages + (((uintptr_t)pointer - heap_map.base) >> SLICE_SHIFT);
}

static inline struct page *page_first(struct page *page)
{
	return page_kind(page) == PAGE_INTERIOR ? page - page->nr_back : page;
}

static inline char *page_start(const struct page *page)
{
	return (char *)heap_map.base + ((uintptr_t)(page - heap_map.pages) << SLICE_SHIFT);
}

static inline size_t page_index(const struct page *page, const void *object)
{
	return (size_t)((const char *)object - page_start(page)) / page->block_bytes;
}

/* Tags lie as far from their address of origin as objects do from zero, in steps of the shift. */
static always_inline _Atomic uint32_t *page_tag(const struct page *page, uintptr_t tags,
						const void *object)
{
	return (_Atomic uint32_t *)(tags +
				    ((uintptr_t)object >> page->tag_shift) * sizeof(uint32_t));
}

static inline size_t page_nr_tags(const struct page *page)
{
	return ((size_t)page->nr_slices << SLICE_SHIFT) >> page->tag_shift;
}

/* acquire: pairs with page_set_tags(), so the tags are filled in. */
static always_inline uintptr_t page_tags(const struct page *page)
{
	return atomic_load_explicit(&page->tags, memory_order_acquire);
}

/** page_owner_by_tag - whose an object is, in a page that views share */
static always_inline uint32_t page_owner_by_tag(const struct page *page, const void *object)
{
	/* relaxed: whoever has the object was given it after the tag was written. */
	return atomic_load_explicit(page_tag(page, page_tags(page), object), memory_order_relaxed);
}

/** page_owner_of - whose an object is */
static inline uint32_t page_owner_of(const struct page *page, const void *object)
{
	uintptr_t tags = page_tags(page);

	/* relaxed: whoever has the object was given it after the tag was written. */
	if (!tags)
		return atomic_load_explicit(&page->owner, memory_order_relaxed);
	return atomic_load_explicit(page_tag(page, tags, object), memory_order_relaxed);
}

/** page_charged_bytes - what an object is charged, which is what it has room for */
static inline size_t page_charged_bytes(const struct page *page)
{
	return page_kind(page) == PAGE_LARGE ? page->nr_large_bytes : page->block_bytes;
}

void queue_push(struct page_queue *queue, struct page *page);
void queue_push_last(struct page_queue *queue, struct page *page);
void queue_remove(struct page_queue *queue, struct page *page);

/* acquire: pairs with page_set_tags(), so that whoever sees the heap sees the tags. */
static always_inline const void *page_whose(const struct page *page)
{
	return atomic_load_explicit(&page->whose, memory_order_acquire);
}

/**
 * page_create - a page for blocks of a class
 * @home: view that it serves alone, or NULL for one of the heap's that has tags
 *
 * Return: the page, in no queue; NULL if there is no memory.
 */
struct page *page_create(struct heap *heap, struct view *home, unsigned int size_class);

/** page_destroy - give an empty page's memory back; it is in no queue */
void page_destroy(struct page *page);

/** page_carve - list blocks that were never used, as many as fit or one; NULL if none is left */
void *page_carve(struct page *page, uint32_t nr_bytes, void **ret_last, uint32_t *ret_nr);

/** page_set_tags - give each object of a page a tag of its own; its view no longer frees it fast */
int page_set_tags(struct page *page);

/*
 * ---- the remote list: first block and number of blocks in one word ----
 */

/**
 * page_push_remote - put a list of blocks that another thread freed into the page
 *
 * Return: true if the page's heap should be told; it is, until then, sure not to destroy the page.
 */
bool page_push_remote(struct page *page, void *first, void *last, uint32_t nr);

/** page_take_remote - take the whole list; returns the first block, or NULL */
void *page_take_remote(struct page *page, uint32_t *ret_nr);

/** page_nr_remote - how many blocks the remote list has now */
uint32_t page_nr_remote(const struct page *page);

/** page_peek_remote - first block of the remote list, for a walk that takes nothing */
void *page_peek_remote(const struct page *page);

#endif
