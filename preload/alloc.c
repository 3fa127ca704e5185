/* SPDX-License-Identifier: MIT */
/*
 * The malloc family, as C, POSIX and glibc have it.
 *
 * The common ones are one jump to the library's, which behave the same. What differs by name alone
 * is an alias.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "interpose.h"
#include "page.h"
#include "real.h"
#include "umemcg.h"

/* What every object is aligned to. */
#define NATURAL_ALIGNMENT ((size_t)16)

interposed void *malloc(size_t nr_bytes)
{
	return umemcg_malloc(nr_bytes);
}

interposed void free(void *object)
{
	umemcg_free(object);
}

interposed void *calloc(size_t nr_objects, size_t nr_bytes)
{
	return umemcg_calloc(nr_objects, nr_bytes);
}

interposed void *realloc(void *object, size_t nr_bytes)
{
	return umemcg_realloc(object, nr_bytes);
}

interposed void *aligned_alloc(size_t alignment, size_t nr_bytes)
{
	return umemcg_aligned_alloc(alignment, nr_bytes);
}

interposed size_t malloc_usable_size(void *object)
{
	return umemcg_usable_size(object);
}

static cold void *fail(int error)
{
	errno = error;
	return NULL;
}

/* One that is no power of two is raised to the next, as in glibc. */
interposed void *memalign(size_t alignment, size_t nr_bytes)
{
	if (alignment <= NATURAL_ALIGNMENT)
		return umemcg_malloc(nr_bytes);
	if (alignment > SIZE_MAX / 2 + 1)
		return fail(EINVAL);
	if (alignment & (alignment - 1))
		alignment = (size_t)1 << (64 - __builtin_clzl(alignment));
	return umemcg_aligned_alloc(alignment, nr_bytes);
}

interposed int posix_memalign(void **ret_object, size_t alignment, size_t nr_bytes)
{
	int saved_errno = errno;
	void *object;

	if (!alignment || alignment % sizeof(void *) || (alignment & (alignment - 1)))
		return EINVAL;
	object = umemcg_aligned_alloc(alignment, nr_bytes);
	errno = saved_errno;
	if (!object)
		return ENOMEM;
	*ret_object = object;
	return 0;
}

interposed void *valloc(size_t nr_bytes)
{
	return umemcg_aligned_alloc(page_bytes(), nr_bytes);
}

interposed void *pvalloc(size_t nr_bytes)
{
	size_t mask = page_bytes() - 1;

	if (nr_bytes > SIZE_MAX - mask)
		return fail(ENOMEM);
	return umemcg_aligned_alloc(mask + 1, (nr_bytes + mask) & ~mask);
}

/*
 * An allocator that comes before this object may have no such function; its objects go back to it,
 * so they have to be its own.
 */
interposed void *reallocarray(void *object, size_t nr_objects, size_t nr_bytes)
{
	static struct real first = { .name = "realloc" };
	void *(*realloc_first)(void *object, size_t nr_bytes);
	size_t nr_bytes_all;

	if (__builtin_mul_overflow(nr_objects, nr_bytes, &nr_bytes_all))
		return fail(ENOMEM);
	realloc_first = real_find_first(&first);
	return realloc_first(object, nr_bytes_all);
}

/* glibc has these beside the others; programs that wrap malloc call them. */
void *__libc_malloc(size_t nr_bytes) interposed_alias(malloc);
void __libc_free(void *object) interposed_alias(free);
void *__libc_calloc(size_t nr_objects, size_t nr_bytes) interposed_alias(calloc);
void *__libc_realloc(void *object, size_t nr_bytes) interposed_alias(realloc);
void *__libc_memalign(size_t alignment, size_t nr_bytes) interposed_alias(memalign);
void *__libc_valloc(size_t nr_bytes) interposed_alias(valloc);
void *__libc_pvalloc(size_t nr_bytes) interposed_alias(pvalloc);
int __posix_memalign(void **ret_object, size_t alignment, size_t nr_bytes)
	interposed_alias(posix_memalign);

/* Old programs know it still. */
void cfree(void *object) interposed_alias(free);
