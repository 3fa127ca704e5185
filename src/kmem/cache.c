/* SPDX-License-Identifier: MIT */
/*
 * Caches of typed objects: a size chosen once, a constructor, and a count of what is alive.
 *
 * An object may also go with all that its group owns. So that its cache learns of it, the last word
 * of its block names the cache: mixed with the block's address, so that nothing else is taken
 * for it.
 */
#include "kmem/cache.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/init.h"
#include "kmem/heap.h"
#include "kmem/meta.h"
#include "umemcg.h"

struct umemcg_cache {
	size_t object_bytes;
	size_t alignment;
	void (*constructor)(void *object);
	_Atomic bool is_used;
	struct umemcg_cache *next; /* of all caches that ever were; never changes */
	_Atomic uint64_t nr_objects aligned_to(CACHE_LINE);
	char name[64];
};

/* Only pushed to; a cache that was destroyed is used for a new one. */
static struct umemcg_cache *_Atomic caches;

static struct umemcg_cache *first_cache(void)
{
	/* acquire: pairs with the release in push(). */
	return atomic_load_explicit(&caches, memory_order_acquire);
}

static void push(struct umemcg_cache *cache)
{
	struct umemcg_cache *first = atomic_load_explicit(&caches, memory_order_relaxed);

	do {
		cache->next = first;
	} while (!atomic_compare_exchange_weak_explicit(
		&caches, &first, cache, memory_order_release, memory_order_relaxed));
}

/* acquire: pairs with the release in umemcg_cache_destroy(). */
static bool claim(struct umemcg_cache *cache)
{
	return !atomic_exchange_explicit(&cache->is_used, true, memory_order_acquire);
}

static struct umemcg_cache *get(void)
{
	struct umemcg_cache *cache = first_cache();

	while (cache && !claim(cache))
		cache = cache->next;
	if (cache)
		return cache;
	cache = meta_alloc(sizeof(*cache));
	if (!cache)
		return NULL;
	claim(cache);
	push(cache);
	return cache;
}

/* The last word of the block at @object, and what is mixed into it there. */
static uintptr_t *word_of(void *object, size_t nr_bytes_charged)
{
	return (uintptr_t *)((char *)object + nr_bytes_charged) - 1;
}

static uintptr_t key_of(const void *object)
{
	return (uintptr_t)object * 0x9e3779b97f4a7c15u;
}

static void name_cache(struct umemcg_cache *cache, void *object)
{
	*word_of(object, umemcg_usable_size(object)) = (uintptr_t)cache ^ key_of(object);
}

void cache_forget(void *object, size_t nr_bytes_charged)
{
	uintptr_t *word = word_of(object, nr_bytes_charged);
	uintptr_t named = *word ^ key_of(object);
	struct umemcg_cache *cache = first_cache();

	/* Nearly always it is no cache's: caches lie at multiples of a line. */
	if (!cache || named % CACHE_LINE)
		return;
	while (cache && (uintptr_t)cache != named)
		cache = cache->next;
	if (!cache)
		return;
	*word = 0;
	/* release: pairs with the load in umemcg_cache_destroy(). */
	atomic_fetch_sub_explicit(&cache->nr_objects, 1, memory_order_release);
}

int umemcg_cache_create(const char *name, size_t object_size, size_t alignment,
			void (*constructor)(void *object), struct umemcg_cache **ret_cache)
{
	struct umemcg_cache *cache;

	if (!name || !ret_cache || !object_size || object_size > PTRDIFF_MAX - sizeof(uintptr_t) ||
	    (alignment & (alignment - 1)))
		return -EINVAL;
	cache = get();
	if (!cache)
		return -ENOMEM;
	cache->object_bytes = object_size + (CONFIG_MEMCG ? sizeof(uintptr_t) : 0);
	cache->alignment = max(alignment, (size_t)1);
	cache->constructor = constructor;
	atomic_store_explicit(&cache->nr_objects, 0, memory_order_relaxed);
	strncpy(cache->name, name, sizeof(cache->name) - 1);
	*ret_cache = cache;
	return 0;
}

int umemcg_cache_destroy(struct umemcg_cache *cache)
{
	if (!cache)
		return 0;
	/* acquire: pairs with the release of the last free. */
	if (atomic_load_explicit(&cache->nr_objects, memory_order_acquire))
		return -EBUSY;
	/* release: pairs with claim(). */
	atomic_store_explicit(&cache->is_used, false, memory_order_release);
	return 0;
}

void *umemcg_cache_alloc(struct umemcg_cache *cache)
{
	void *object;

	if (!cache) {
		errno = EINVAL;
		return NULL;
	}
	object = umemcg_aligned_alloc(cache->alignment, cache->object_bytes);
	if (!object)
		return NULL;
	if (CONFIG_MEMCG)
		name_cache(cache, object);
	atomic_fetch_add_explicit(&cache->nr_objects, 1, memory_order_relaxed);
	if (cache->constructor)
		cache->constructor(object);
	return object;
}

void umemcg_cache_free(struct umemcg_cache *cache, void *object)
{
	size_t nr_bytes = umemcg_usable_size(object);

	/* NULL, or no object, which was noticed. */
	if (!nr_bytes)
		return;
	if (CONFIG_MEMCG)
		*word_of(object, nr_bytes) = 0;
	umemcg_free(object);
	if (cache)
		atomic_fetch_sub_explicit(&cache->nr_objects, 1, memory_order_release);
}
