/* SPDX-License-Identifier: MIT */
/* Threads take heaps and leave them. */
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/init.h"
#include "charge/charge.h"
#include "charge/switch.h"
#include "kmem/arena.h"
#include "kmem/fork.h"
#include "kmem/heap.h"
#include "kmem/large.h"
#include "kmem/list.h"
#include "kmem/meta.h"
#include "kmem/queue.h"
#include "kmem/check.h"
#include "kmem/run.h"

/*
 * Of threads without a heap. Its stock sends malloc the slow way, which finds the right view; while
 * all is zero it does so, too. The gap is never touched, so it takes no memory.
 */
static struct {
	struct view view;
	char gap[WINDOW_DISTANCE - sizeof(struct view)];
	struct stock_words words;
} closed;

_Static_assert(offsetof(typeof(closed), words) == WINDOW_DISTANCE, "where stock_words() looks");

thread_local_fast struct thread thread = {
	.view = &closed.view,
	.closed = &closed.view,
	.sharing = &closed.view,
	.charged = &closed.view,
	.credited = &closed.view,
};

/* Of the lists of heaps: all of them, and those that wait for a thread. */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct heap *_Atomic all;
static struct heap *idle;

static pthread_key_t exit_key;
static bool has_exit_key; /* a program may have used them all up */

/* The calling thread is ending: leave() was called, and may not be called again. */
static thread_local_fast bool is_leaving;

static bool objects_count;

struct heap *heap_first(void)
{
	/* acquire: pairs with the release in add(). */
	return atomic_load_explicit(&all, memory_order_acquire);
}

void heap_list_hold(void)
{
	pthread_mutex_lock(&list_lock);
}

void heap_list_release(void)
{
	pthread_mutex_unlock(&list_lock);
}

static struct heap *take_idle(void)
{
	struct heap *heap;

	heap_list_hold();
	heap = idle;
	if (heap)
		idle = heap->next_idle;
	heap_list_release();
	return heap;
}

static void close_view(struct view *view)
{
	stock_init_closed(&view->stock);
	view->owner = OWNER_NOBODY;
}

static struct heap *create(void)
{
	struct heap *heap = meta_alloc(sizeof(*heap));

	if (!heap)
		return NULL;
	heap->closed = arena_take(heap);
	if (!heap->closed) {
		meta_free(heap, sizeof(*heap));
		return NULL;
	}
	close_view(heap->closed);
	flight_register(&heap->flight);
	heap_list_hold();
	heap->next = atomic_load_explicit(&all, memory_order_relaxed);
	atomic_store_explicit(&all, heap, memory_order_release);
	heap_list_release();
	return heap;
}

static void unbind_all(struct heap *heap)
{
	uint32_t nr_left = heap->nr_views;

	for (unsigned int i = 0; nr_left; i++) {
		for (struct view *view = heap->buckets[i]; view; view = view->next, nr_left--)
			view_unbind(view);
	}
	heap->flight.reserve_depth = 0;
	heap->flight.nr_over_high = 0;
	heap->flight.in_callback = 0;
	heap->flight.refusal.at = 0;
}

void heap_make_idle(struct heap *heap)
{
	unbind_all(heap);
	if (CONFIG_MEMCG && charge_ops.stall_forget)
		charge_ops.stall_forget(&heap->flight);
	lock_get(&heap->lock);
	heap->thread = NULL;
	heap->is_taken = false;
	heap_listen(heap);
	lock_put(&heap->lock);
	heap_list_hold();
	heap->next_idle = idle;
	idle = heap;
	heap_list_release();
}

void heap_forget_threads(void)
{
	idle = NULL;
	for (struct heap *heap = heap_first(); heap; heap = heap->next) {
		if (heap == thread.heap)
			continue;
		unbind_all(heap);
		heap->thread = NULL;
		heap->is_taken = false;
		heap->next_idle = idle;
		idle = heap;
	}
}

/*
 * If the thread's other destructors allocate after this one, it takes a heap once more, and in the
 * last round of destructors nobody calls this again: see reap().
 */
static void leave(void *arg)
{
	is_leaving = true;
	thread.view = &closed.view;
	thread.closed = &closed.view;
	thread.sharing = &closed.view;
	thread.charged = &closed.view;
	thread.credited = &closed.view;
	thread.heap = NULL;
	heap_make_idle(arg);
}

static bool has_ended(pid_t tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) && errno == ESRCH;
}

/*
 * Take the heap from a thread that ended without leaving it: its last destructor allocated, or
 * there was no key to call leave(). The heap is locked; heap_make_idle() is to follow, unlocked.
 */
static bool disown(struct heap *heap)
{
	int saved_errno = errno;
	bool is_disowned = heap->is_taken && heap != thread.heap && has_ended(heap->tid);

	if (is_disowned) {
		heap->is_taken = false;
		heap->thread = NULL;
	}
	errno = saved_errno;
	return is_disowned;
}

/* Of threads that said that they may end like this, so that it costs nothing where none has. */
static void reap(void)
{
	for (struct heap *heap = heap_first(); heap; heap = heap->next) {
		bool is_disowned;

		lock_get(&heap->lock);
		is_disowned = !heap->thread && disown(heap);
		lock_put(&heap->lock);
		if (is_disowned)
			heap_make_idle(heap);
	}
}

static struct heap *find_or_make(void)
{
	struct heap *heap = take_idle();

	if (heap)
		return heap;
	reap();
	heap = take_idle();
	return heap ? heap : create();
}

/* Who looks at the thread from outside needs to be sure that it says when it ends. */
static void announce(struct heap *heap)
{
	int saved_errno = errno;

	/* libc may need memory for it, and be refused; free() keeps errno. */
	if (!has_exit_key || pthread_setspecific(exit_key, heap) || is_leaving) {
		errno = saved_errno;
		return;
	}
	lock_get(&heap->lock);
	heap->thread = &thread;
	lock_put(&heap->lock);
}

static struct heap *take(void)
{
	struct heap *heap;

	library_init();
	if (!heap_map.base)
		return NULL;
	heap = find_or_make();
	if (!heap)
		return NULL;
	if (unlikely(heap->is_suspect))
		heap_repair(heap);
	lock_get(&heap->lock);
	heap->is_at_work = false;
	heap->is_taken = true;
	heap->tid = gettid();
	lock_put(&heap->lock);
	thread.heap = heap;
	thread.closed = heap->closed;
	thread.sharing = heap;
	thread.view = thread.closed;
	announce(heap);
	return heap;
}

struct heap *heap_of_thread(void)
{
	return likely(thread.heap != NULL) ? thread.heap : take();
}

struct flight *thread_flight(void)
{
	struct heap *heap = heap_of_thread();

	return heap ? &heap->flight : NULL;
}

uint32_t heap_owner_of(const struct umemcg *group)
{
	if (!CONFIG_MEMCG || !objects_count)
		return 0;
	/* A group that was destroyed while the thread was in it no longer has anything. */
	if (!group || unlikely(!group_is_live(group)))
		group = group_root();
	return group->owner;
}

struct view *thread_view(void)
{
	struct heap *heap = heap_of_thread();
	struct view *view;

	if (!heap)
		return NULL;
	view = heap_view(heap, heap_owner_of(thread_group()));
	if (view)
		thread.view = view;
	return view;
}

struct stock *thread_stock_slow(const struct umemcg *group)
{
	struct heap *heap = heap_of_thread();
	struct view *view = heap ? heap_view(heap, group->owner) : NULL;

	if (!view)
		return NULL;
	thread.charged = view;
	return &view->stock;
}

/* A group that is gone, or was none ever, leaves its threads in the root, as malloc has it. */
static const struct umemcg *group_of_thread(struct thread *its)
{
	const struct umemcg *group = atomic_load_explicit(&its->group, memory_order_relaxed);

	return CONFIG_MEMCG && group && group_is_live(group) ? group : group_root();
}

void heap_walk_threads(void (*visit)(pid_t tid, const struct umemcg *group, void *arg), void *arg)
{
	for (struct heap *heap = heap_first(); heap; heap = heap->next) {
		const struct umemcg *group = NULL;
		bool is_disowned;
		pid_t tid;

		/* While the lock is held the thread cannot go, and its state stays readable. */
		lock_get(&heap->lock);
		is_disowned = disown(heap);
		tid = heap->tid;
		if (heap->thread)
			group = group_of_thread(heap->thread);
		lock_put(&heap->lock);
		if (is_disowned)
			heap_make_idle(heap);
		if (group)
			visit(tid, group, arg);
	}
}

/* In most cases at once; whoever has it does not give it up for us. */
static bool try_lock(struct heap *heap)
{
	for (unsigned int round = 0; round < 1000; round++)
		if (lock_try(&heap->lock))
			return true;
	return false;
}

void heap_peek_groups(void (*visit)(const struct umemcg *group, void *arg), void *arg)
{
	for (struct heap *heap = heap_first(); heap; heap = heap->next) {
		const struct umemcg *group = NULL;

		if (!try_lock(heap))
			continue;
		if (heap->thread)
			group = group_of_thread(heap->thread);
		lock_put(&heap->lock);
		if (group)
			visit(group, arg);
	}
}

struct search {
	const struct umemcg *group;
	bool has_thread;
};

static void look_for_group(pid_t tid, const struct umemcg *group, void *arg)
{
	struct search *search = arg;

	(void)tid;
	search->has_thread |= group == search->group;
}

bool heap_thread_is_in(const struct umemcg *group)
{
	struct search search = { .group = group, .has_thread = umemcg_current() == group };

	heap_walk_threads(look_for_group, &search);
	return search.has_thread;
}

int heap_init(void)
{
	int r;

	close_view(&closed.view);
	list_init();
	class_init();
	objects_count = CONFIG_MEMCG && switch_counts(KIND_SLAB);
	has_exit_key = !pthread_key_create(&exit_key, leave);
	r = run_init();
	return r ? r : fork_init();
}
