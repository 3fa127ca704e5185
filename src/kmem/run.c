/* SPDX-License-Identifier: MIT */
#include "kmem/run.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/address_space.h"
#include "base/system.h"
#include "charge/above.h"

#define RESERVED_BYTES ((size_t)1 << 40)
#define RESERVED_MIN   ((size_t)16 << 20)
#define COMMIT_SLICES  64u
#define SYSTEM_PAGE    ((size_t)4096)

/* Sanitizers keep shadow memory for the whole reservation. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define RESERVATION ((size_t)16 << 30)
#else
#define RESERVATION RESERVED_BYTES
#endif

/* Dirty slices that are kept whatever is in use, and how often half of them are cleaned. */
#define DIRTY_SLICES        1024u
#define SHARED_DIRTY_SLICES 128u
#define DECAY_CALLS         64u
#define DECAY_SECONDS       2

#define KEEP_ALL UINT64_MAX

/* Bins of free runs: one for each length up to 64 slices, then four a doubling. */
#define NR_EXACT 64u
#define NR_BINS  (NR_EXACT + 4 * 22)
#define NR_WORDS ((NR_BINS + 63) / 64)

struct run_set {
	struct page *bins[NR_BINS];
	uint64_t occupied[NR_WORDS];
	uint64_t nr_slices;
};

struct heap_map heap_map;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct run_set sets[2];        /* clean and dirty */
static struct page *newest, *oldest;  /* dirty runs by age */
static uint64_t nr_reserved;          /* slices */
static _Atomic uint64_t nr_committed; /* written under the lock */
static _Atomic uint64_t nr_in_use;    /* likewise; relaxed, as it orders nothing */

static uint64_t committed(void)
{
	/* acquire: pairs with the release in commit(). */
	return atomic_load_explicit(&nr_committed, memory_order_acquire);
}

static uint64_t in_use(void)
{
	return atomic_load_explicit(&nr_in_use, memory_order_relaxed);
}

static void add_in_use(int64_t nr_slices)
{
	atomic_store_explicit(&nr_in_use, in_use() + (uint64_t)nr_slices, memory_order_relaxed);
}

/* As many slices hold an aligned run, wherever they begin. */
static uint64_t nr_with_alignment(uint64_t nr_slices, size_t alignment)
{
	return nr_slices + (alignment > SLICE_BYTES ? (alignment >> SLICE_SHIFT) - 1 : 0);
}

static unsigned int bin_of(uint64_t nr_slices)
{
	unsigned int doubling;

	if (nr_slices <= NR_EXACT)
		return nr_slices - 1;
	doubling = 63 - __builtin_clzl(nr_slices);
	return NR_EXACT + (doubling - 6) * 4 + ((nr_slices >> (doubling - 2)) & 3);
}

static void set_add(struct page *run)
{
	struct run_set *set = &sets[run->is_dirty];
	unsigned int bin = bin_of(run->nr_slices);

	page_set_kind(run, PAGE_FREE);
	if (run->nr_slices > 1) {
		page_set_kind(&run[run->nr_slices - 1], PAGE_TAIL);
		run[run->nr_slices - 1].nr_back = run->nr_slices - 1;
	}
	run->prev = NULL;
	run->next = set->bins[bin];
	if (run->next)
		run->next->prev = run;
	set->bins[bin] = run;
	set->occupied[bin / 64] |= (uint64_t)1 << bin % 64;
	set->nr_slices += run->nr_slices;
	if (!run->is_dirty)
		return;
	run->newer = NULL;
	run->older = newest;
	if (newest)
		newest->newer = run;
	else
		oldest = run;
	newest = run;
}

static void set_remove(struct page *run)
{
	struct run_set *set = &sets[run->is_dirty];
	unsigned int bin = bin_of(run->nr_slices);

	if (run->next)
		run->next->prev = run->prev;
	if (run->prev)
		run->prev->next = run->next;
	else
		set->bins[bin] = run->next;
	if (!set->bins[bin])
		set->occupied[bin / 64] &= ~((uint64_t)1 << bin % 64);
	set->nr_slices -= run->nr_slices;
	page_set_kind(run, PAGE_NONE);
	page_set_kind(&run[run->nr_slices - 1], PAGE_NONE);
	if (run->is_dirty) {
		*(run->newer ? &run->newer->older : &newest) = run->older;
		*(run->older ? &run->older->newer : &oldest) = run->newer;
	}
	run->newer = NULL;
	run->older = NULL;
}

/* A free run that begins right after, or ends right before, another; NULL if there is none. */
static struct page *free_after(const struct page *run)
{
	struct page *next = (struct page *)run + run->nr_slices;

	return next < run_end() && page_kind(next) == PAGE_FREE ? next : NULL;
}

static struct page *free_before(struct page *run)
{
	struct page *last = run - 1;

	if (run == heap_map.pages)
		return NULL;
	if (page_kind(last) == PAGE_FREE && last->nr_slices == 1)
		return last;
	return page_kind(last) == PAGE_TAIL ? last - last->nr_back : NULL;
}

/* Add a free run, merged with its neighbours of the same state. */
static void give(struct page *run)
{
	struct page *other = free_after(run);

	if (other && other->is_dirty == run->is_dirty) {
		set_remove(other);
		run->nr_slices += other->nr_slices;
	}
	other = free_before(run);
	if (other && other->is_dirty == run->is_dirty) {
		set_remove(other);
		other->nr_slices += run->nr_slices;
		run = other;
	}
	set_add(run);
}

/* Cut a run that is in no set; the rest, if any, becomes free in the same state. */
static void cut(struct page *run, uint64_t nr_slices)
{
	struct page *rest = run + nr_slices;

	if (run->nr_slices == nr_slices)
		return;
	rest->nr_slices = run->nr_slices - nr_slices;
	rest->is_dirty = run->is_dirty;
	run->nr_slices = nr_slices;
	set_add(rest);
}

static struct page *smallest(struct page *run, uint64_t nr_slices)
{
	struct page *best = NULL;

	for (unsigned int nr_looked_at = 0; run && nr_looked_at < 64;
	     run = run->next, nr_looked_at++) {
		if (run->nr_slices >= nr_slices && (!best || run->nr_slices < best->nr_slices))
			best = run;
	}
	return best;
}

/* The run that fits best, or nearly so. */
static struct page *find(const struct run_set *set, uint64_t nr_slices)
{
	unsigned int bin = bin_of(nr_slices);
	struct page *run = smallest(set->bins[bin], nr_slices);
	unsigned int word = ++bin / 64;
	uint64_t bits;

	if (run || bin >= NR_BINS)
		return run;
	bits = set->occupied[word] & (~(uint64_t)0 << bin % 64);
	while (!bits && ++word < NR_WORDS)
		bits = set->occupied[word];
	return bits ? smallest(set->bins[word * 64 + __builtin_ctzl(bits)], nr_slices) : NULL;
}

/* Make the next slices usable, as a clean free run. */
static bool commit(uint64_t nr_slices)
{
	uintptr_t pages = (uintptr_t)heap_map.pages;
	uint64_t nr_old = committed();
	struct page *run = heap_map.pages + nr_old;
	uintptr_t from, to;

	nr_slices = min(max(nr_slices, (uint64_t)COMMIT_SLICES), nr_reserved - nr_old);
	if (!nr_slices)
		return false;
	from = (pages + nr_old * sizeof(*run)) & ~(SYSTEM_PAGE - 1);
	to = pages + (nr_old + nr_slices) * sizeof(*run);
	if (system_mprotect((void *)from, to - from, PROT_READ | PROT_WRITE))
		return false;
	if (system_mprotect((void *)(heap_map.base + (nr_old << SLICE_SHIFT)),
			    nr_slices << SLICE_SHIFT, PROT_READ | PROT_WRITE))
		return false;
	/* release: pairs with run_end(). */
	atomic_store_explicit(&nr_committed, nr_old + nr_slices, memory_order_release);
	run->nr_slices = nr_slices;
	run->is_dirty = false;
	give(run);
	return true;
}

/* Slices before the first aligned one of a run. */
static uint64_t nr_before(const struct page *run, size_t alignment)
{
	return (-(uintptr_t)page_start(run) & (alignment - 1)) >> SLICE_SHIFT;
}

static struct page *take(uint64_t nr_slices, size_t alignment, bool prefer_dirty)
{
	uint64_t nr_wanted = nr_with_alignment(nr_slices, alignment);
	struct page *run = find(&sets[prefer_dirty], nr_wanted);
	uint64_t nr_skipped;

	if (!run && prefer_dirty)
		run = find(&sets[false], nr_wanted);
	while (!run) {
		if (!commit(nr_wanted))
			return NULL;
		run = find(&sets[false], nr_wanted);
	}
	set_remove(run);
	nr_skipped = nr_before(run, alignment);
	if (nr_skipped) {
		struct page *first = run;

		run += nr_skipped;
		run->nr_slices = first->nr_slices - nr_skipped;
		run->is_dirty = first->is_dirty;
		first->nr_slices = nr_skipped;
		set_add(first);
	}
	cut(run, nr_slices);
	return run;
}

bool run_can_hold(uint64_t nr_slices, size_t alignment)
{
	/* Neither is near the end of its range, so the sum is not either. */
	if (nr_slices > nr_reserved || alignment >> SLICE_SHIFT > nr_reserved)
		return false;
	return nr_with_alignment(nr_slices, alignment) <= nr_reserved - min(in_use(), nr_reserved);
}

struct page *run_alloc(uint64_t nr_slices, size_t alignment, bool *ret_is_zero)
{
	struct page *run;

	if (!run_can_hold(nr_slices, alignment))
		return NULL;
	pthread_mutex_lock(&lock);
	run = take(nr_slices, alignment, true);
	if (run) {
		*ret_is_zero = !run->is_dirty;
		add_in_use((int64_t)nr_slices);
	}
	pthread_mutex_unlock(&lock);
	return run;
}

struct page *run_alloc_clean(uint64_t nr_slices)
{
	struct page *run;

	if (!run_can_hold(nr_slices, SLICE_BYTES))
		return NULL;
	pthread_mutex_lock(&lock);
	run = take(nr_slices, SLICE_BYTES, false);
	if (run)
		add_in_use((int64_t)nr_slices);
	pthread_mutex_unlock(&lock);
	return run;
}

/* Locked: take the oldest dirty run out, for the caller to clean without the lock. */
static struct page *take_oldest(void)
{
	struct page *run = oldest;

	if (run)
		set_remove(run);
	return run;
}

/* For free(), too, which keeps errno: the system refuses what the program has locked, say. */
void run_clean(uint64_t nr_bytes)
{
	uint64_t nr_slices = nr_bytes >> SLICE_SHIFT;
	int saved_errno = errno;
	bool fails = false;

	pthread_mutex_lock(&lock);
	while (!fails && sets[true].nr_slices > nr_slices) {
		struct page *run = take_oldest();

		pthread_mutex_unlock(&lock);
		/* It is nobody's while it is in no set. */
		fails = system_madvise(page_start(run), (size_t)run->nr_slices << SLICE_SHIFT,
				       MADV_DONTNEED) != 0;
		pthread_mutex_lock(&lock);
		run->is_dirty = fails;
		give(run);
	}
	pthread_mutex_unlock(&lock);
	errno = saved_errno;
}

/*
 * Dirty slices that are worth keeping: they save faults, as long as they are few. In a shared tree
 * what one process keeps, charged to nobody, is missing to others.
 */
static uint64_t nr_dirty_allowed(void)
{
	if (CONFIG_MEMCG && charge_above)
		return max((uint64_t)SHARED_DIRTY_SLICES, in_use() / 32);
	return max((uint64_t)DIRTY_SLICES, in_use() / 4);
}

/* Locked: how many dirty slices to keep. Now and then half of them go, as long as anything is
 * freed. */
static uint64_t nr_dirty_wanted(void)
{
	static unsigned int nr_calls;
	static time_t last_decay;
	struct timespec now;

	if (sets[true].nr_slices > nr_dirty_allowed())
		return nr_dirty_allowed() / 2;
	if (++nr_calls % DECAY_CALLS)
		return KEEP_ALL;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (now.tv_sec - last_decay < DECAY_SECONDS)
		return KEEP_ALL;
	last_decay = now.tv_sec;
	return sets[true].nr_slices / 2;
}

void run_free(struct page *run, bool is_dirty)
{
	uint64_t target;

	run->is_dirty = is_dirty;
	pthread_mutex_lock(&lock);
	add_in_use(-(int64_t)run->nr_slices);
	give(run);
	target = nr_dirty_wanted();
	pthread_mutex_unlock(&lock);
	if (target != KEEP_ALL)
		run_clean(target << SLICE_SHIFT);
}

bool run_grow(struct page *run, uint64_t nr_slices)
{
	uint64_t nr_more = nr_slices - run->nr_slices;
	struct page *next;
	bool fits;

	pthread_mutex_lock(&lock);
	next = free_after(run);
	fits = next && next->nr_slices >= nr_more;
	if (fits) {
		set_remove(next);
		cut(next, nr_more);
		run->nr_slices = nr_slices;
		add_in_use((int64_t)nr_more);
	}
	pthread_mutex_unlock(&lock);
	return fits;
}

void run_shrink(struct page *run, uint64_t nr_slices, bool is_dirty)
{
	struct page *rest = run + nr_slices;

	if (run->nr_slices == nr_slices)
		return;
	rest->nr_slices = run->nr_slices - nr_slices;
	run->nr_slices = nr_slices;
	run_free(rest, is_dirty);
}

struct page *run_end(void)
{
	return heap_map.pages + committed();
}

int run_init(void)
{
	/* Of a limited process half: the rest is for stacks, regions, and what is not the heap's.
	 */
	size_t share = address_space_share(2);

	for (size_t nr_bytes = RESERVATION; nr_bytes >= RESERVED_MIN; nr_bytes /= 2) {
		size_t nr_slices = nr_bytes >> SLICE_SHIFT;
		size_t table_bytes = nr_slices * sizeof(struct page);
		char *all;

		if (table_bytes + nr_bytes > share)
			continue;
		all = system_mmap(NULL, table_bytes + nr_bytes + SLICE_BYTES, PROT_NONE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (all == MAP_FAILED)
			continue;
		if (system_mprotect(all, table_bytes, PROT_READ)) {
			system_munmap(all, table_bytes + nr_bytes + SLICE_BYTES);
			continue;
		}
		heap_map.pages = (struct page *)all;
		heap_map.nr_bytes = nr_bytes;
		heap_map.base =
			((uintptr_t)all + table_bytes + SLICE_BYTES - 1) & ~(SLICE_BYTES - 1);
		nr_reserved = nr_slices;
		return 0;
	}
	return -ENOMEM;
}

void run_hold(void)
{
	pthread_mutex_lock(&lock);
}

void run_release(void)
{
	pthread_mutex_unlock(&lock);
}
