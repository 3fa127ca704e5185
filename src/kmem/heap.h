/* SPDX-License-Identifier: MIT */
/*
 * Heaps and views: what a thread allocates from.
 *
 * A heap belongs to one thread at a time and is never given back: when its thread exits it waits,
 * with all its pages, for a new thread. A view is the heap as one owner sees it: the stock, the
 * blocks listed at its gates, and the pages that hold nothing but this owner's objects.
 */
#ifndef UMEMCG_KMEM_HEAP_H
#define UMEMCG_KMEM_HEAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "charge/flight.h"
#include "charge/stock.h"
#include "group/group.h"
#include "kmem/class.h"
#include "kmem/lock.h"
#include "kmem/page.h"

/* Owner of the closed view, which no object has. */
#define OWNER_NOBODY UINT32_MAX

#define HEAP_NR_BUCKETS 256u

/*
 * Views that a heap keeps; beyond that one that was not used for long makes room. A view is some
 * 3 KiB, so one for two pages keeps them within a small part of the objects' memory.
 */
#define HEAP_NR_VIEWS     64u
#define HEAP_NR_VIEWS_MAX 2048u

/* The first views have pages of their own from the start: it takes many to waste anything. */
#define HEAP_NR_OWN_PAGES 4u

/* The pages that hold nothing but a view's objects. */
struct view_pages {
	struct page_queue queues[NR_CLASSES];
	struct page_queue full;
};

/* A row of its heap's arena. */
struct view {
	struct stock stock; /* first: its words lie at a constant distance from the row */
	uint32_t owner;
	bool is_bound;      /* the stock serves the owner */
	bool is_roots;      /* never evicted */
	bool has_own_pages; /* from the first object on */
	struct heap *heap;
	struct view *next; /* in the bucket, or of the unused ones */
	uint64_t last_use;
	struct view_pages *pages;       /* NULL if it is a closed one */
	uint16_t nr_shared[NR_CLASSES]; /* blocks taken from pages that all views share */
	uint16_t nr_pages[NR_CLASSES];  /* of its own */
};

struct heap {
	struct flight flight;
	struct lock lock;       /* of all below, but for what says otherwise */
	bool is_at_work;        /* its thread is changing it: see heap_begin() */
	bool is_suspect;        /* its thread was lost in a fork: see heap_repair() */
	bool is_taken;          /* a thread has it, or had it when it ended without a word */
	pid_t tid;              /* of that thread */
	struct thread *thread;  /* its state, if the thread is sure to say when it ends, or NULL */
	struct heap *next;      /* of all heaps; under the list's lock */
	struct heap *next_idle; /* under the list's lock */
	uint32_t nr_views;
	uint32_t nr_pages; /* in all queues */
	uint64_t clock;    /* counts uses of views */
	uint32_t hand;     /* bucket where the next view to evict is looked for */
	struct view *buckets[HEAP_NR_BUCKETS];
	struct view *unused;
	struct view *closed;    /* the thread's own: see struct thread */
	char *next_row;         /* of the arena's newest chunk, the first that no view has yet */
	uint32_t last_credited; /* owner without a view here whose object was freed last */
	uint32_t nr_credited;   /* how many in a row */
	struct page_queue queues[NR_CLASSES]; /* pages that all views share */
	struct page_queue full;
	struct page *_Atomic notified aligned_to(CACHE_LINE); /* stack that other threads push to */
};

/*
 * The calling thread. Its view is the closed one until it allocates in its group. Each heap has a
 * closed one of its own, since a failing malloc writes to it.
 */
struct thread {
	struct view *view;
	struct view *closed;
	const void *sharing;          /* what pages that views of its heap share say: the heap */
	struct umemcg *_Atomic group; /* NULL for the root; other threads may look */
	struct heap *heap;            /* NULL until it needs one */
	struct view *charged;         /* of the group last charged explicitly from outside */
	struct view *credited;        /* of the owner whose objects were last freed from outside */
};

extern hidden thread_local_fast struct thread thread;

/* relaxed: the thread alone writes it. */
static always_inline struct umemcg *thread_group(void)
{
	return atomic_load_explicit(&thread.group, memory_order_relaxed);
}

/* ---- for the floors above ---- */

/** heap_init - once, after the groups; 0 or -ENOMEM */
int heap_init(void);

/** thread_flight - the calling thread's flight; NULL if there is no memory for it */
struct flight *thread_flight(void);

/** thread_stock_slow - as thread_stock(), when the thread has neither view at hand */
struct stock *thread_stock_slow(const struct umemcg *group);

/** thread_stock_at_hand - the stock of one of the two views that need no looking for, or NULL */
static always_inline struct stock *thread_stock_at_hand(const struct umemcg *group)
{
	if (thread.view->owner == group->owner)
		return &thread.view->stock;
	if (thread.charged->owner == group->owner)
		return &thread.charged->stock;
	return NULL;
}

/** thread_stock - the calling thread's stock for a group; NULL if there is no memory for it */
static inline struct stock *thread_stock(const struct umemcg *group)
{
	struct stock *stock = thread_stock_at_hand(group);

	return likely(stock != NULL) ? stock : thread_stock_slow(group);
}

/**
 * heap_walk - visit every live object of a quiescent process
 *
 * Return: 0; what @visit returned, if that was not 0; -ENOMEM.
 */
int heap_walk(int (*visit)(void *object, size_t nr_bytes, uint32_t owner, void *arg), void *arg);

/**
 * heap_free_all - free all objects of a group, also those that it has inherited
 *
 * Nobody uses, allocates or frees them meanwhile.
 */
void heap_free_all(const struct umemcg *group);

/** heap_walk_threads - visit every thread that has allocated, with the group it is in now */
void heap_walk_threads(void (*visit)(pid_t tid, const struct umemcg *group, void *arg), void *arg);

/**
 * heap_peek_groups - visit the groups that threads are in which have allocated
 *
 * Quick, and waits for nobody: a thread that is at its heap at that moment may be missed, and one
 * that ended without a word may not be.
 */
void heap_peek_groups(void (*visit)(const struct umemcg *group, void *arg), void *arg);

/** heap_thread_is_in - is a thread that has allocated now in this group? */
bool heap_thread_is_in(const struct umemcg *group);

/* ---- inside the heap ---- */

/** heap_of_thread - the calling thread's heap, made or taken over if need be; NULL without memory
 */
struct heap *heap_of_thread(void);

/**
 * heap_begin - the heap's thread begins to change it, beyond what a fast path does
 *
 * Return: false if the thread is at it already and this is a handler of a signal that it got in
 * between, as it is likely to where fresh memory is touched. A handler should not allocate; one
 * that does is better refused than left to wait for itself.
 */
static inline bool heap_begin(struct heap *heap)
{
	if (unlikely(heap->is_at_work))
		return false;
	heap->is_at_work = true;
	/* Partner: the handler, which runs on this thread. */
	atomic_signal_fence(memory_order_seq_cst);
	lock_get(&heap->lock);
	return true;
}

static inline void heap_end(struct heap *heap)
{
	lock_put(&heap->lock);
	atomic_signal_fence(memory_order_seq_cst);
	heap->is_at_work = false;
}

/** heap_first - of all heaps, to be followed by ->next; heaps are only added, in front */
struct heap *heap_first(void);

/** heap_view - the view of an owner, made if need be; by the heap's thread; NULL without memory */
struct view *heap_view(struct heap *heap, uint32_t owner);

/** heap_find_view - the view of an owner, or NULL */
struct view *heap_find_view(const struct heap *heap, uint32_t owner);

/** heap_owner_of - whom the objects of a group's threads belong to: 0 if objects do not count */
uint32_t heap_owner_of(const struct umemcg *group);

/** thread_view - the view to allocate from for the thread's group; NULL without memory */
struct view *thread_view(void);

/** view_fetch - locked by itself: put blocks on a gate's empty list; returns how many, 0: none */
uint32_t view_fetch(struct view *view, unsigned int size_class);

/** view_release - give all blocks and pages of a view back to the heap, locked; 0 or -ENOMEM */
int view_release(struct view *view);

/** view_unbind - give back what is charged ahead; the heap's thread is going, or is not there */
void view_unbind(struct view *view);

#endif
