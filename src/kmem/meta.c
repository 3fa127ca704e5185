/* SPDX-License-Identifier: MIT */
#include "kmem/meta.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "base/system.h"

#define CHUNK_BYTES ((size_t)256 << 10)
#define MIN_SHIFT   6
#define NR_SHIFTS   48

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *free_blocks[NR_SHIFTS];
static char *chunk, *chunk_end;

static unsigned int shift_of(size_t nr_bytes)
{
	if (nr_bytes <= (size_t)1 << MIN_SHIFT)
		return MIN_SHIFT;
	return 64 - __builtin_clzl(nr_bytes - 1);
}

/* For free(), too, which keeps errno. */
static void *map(size_t nr_bytes)
{
	int saved_errno = errno;
	void *block = system_mmap(NULL, nr_bytes, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved_errno;
	return block == MAP_FAILED ? NULL : block;
}

/* Fresh from the system, so zero. */
static void *carve(size_t nr_bytes)
{
	void *block;

	if (nr_bytes >= CHUNK_BYTES / 2)
		return map(nr_bytes);
	if ((size_t)(chunk_end - chunk) < nr_bytes) {
		char *fresh = map(CHUNK_BYTES);

		if (!fresh)
			return NULL;
		chunk = fresh;
		chunk_end = fresh + CHUNK_BYTES;
	}
	block = chunk;
	chunk += nr_bytes;
	return block;
}

void *meta_alloc(size_t nr_bytes)
{
	unsigned int shift = shift_of(nr_bytes);
	void *block;

	pthread_mutex_lock(&lock);
	block = free_blocks[shift];
	if (block) {
		memcpy(&free_blocks[shift], block, sizeof(void *));
		memset(block, 0, sizeof(void *));
	} else {
		block = carve((size_t)1 << shift);
	}
	pthread_mutex_unlock(&lock);
	return block;
}

void meta_free(void *block, size_t nr_bytes)
{
	unsigned int shift = shift_of(nr_bytes);

	if (!block)
		return;
	/* Zeroed here, while the caller has it in its cache; so the first word is the link. */
	memset(block, 0, nr_bytes);
	pthread_mutex_lock(&lock);
	memcpy(block, &free_blocks[shift], sizeof(void *));
	free_blocks[shift] = block;
	pthread_mutex_unlock(&lock);
}

void meta_hold(void)
{
	pthread_mutex_lock(&lock);
}

void meta_release(void)
{
	pthread_mutex_unlock(&lock);
}
