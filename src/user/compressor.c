/* SPDX-License-Identifier: MIT */
#include "user/compressor.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/system.h"

/* More threads than that at a time wait for each other. */
#define NR_SCRATCHES 8u

#define FILE_NAME "libumemcg-lz4.so"

struct scratch {
	pthread_mutex_t lock;
	char *buffer; /* a page; the compressor's state is behind it */
};

static struct scratch scratches[NR_SCRATCHES];
static size_t page_size;

/* Set by whoever loads it first, perhaps by several threads at once. */
static const struct compressor *_Atomic loaded;

/* What the scratch areas are made for: written before the first page is stored, only read then. */
static const struct compressor *compressor;

/* Weak: a program that is linked statically need not have them, and then nothing is compressed. */
extern __typeof__(dlsym) dlsym __attribute__((weak));
extern __typeof__(dladdr1) dladdr1 __attribute__((weak));

/*
 * In the folder of the object that this code is in, if that was loaded from an absolute path:
 * whoever chose that path chose the library itself. Where a program holds this code, ld.so looks
 * for it as for any library that the program names.
 */
static void path_beside_library(char path[PATH_MAX])
{
	struct link_map *map = NULL;
	const char *slash = NULL;
	Dl_info info;

	if (dladdr1((void *)path_beside_library, &info, (void **)&map, RTLD_DL_LINKMAP) && map &&
	    map->l_name[0] == '/')
		slash = strrchr(map->l_name, '/');
	snprintf(path, PATH_MAX, "%.*s" FILE_NAME, slash ? (int)(slash + 1 - map->l_name) : 0,
		 slash ? map->l_name : "");
}

/* By its name: of a plain reference each static link would warn. */
static __typeof__(dlopen) *find_dlopen(void)
{
	return dlsym ? (__typeof__(dlopen) *)dlsym(RTLD_DEFAULT, "dlopen") : NULL;
}

int compressor_load(const char *path)
{
	__typeof__(dlopen) *load = find_dlopen();
	const struct compressor *found;
	void *object;

	if (!load)
		return -ENOENT;
	/* Never closed: pages that it compressed may be there for as long as the process. */
	object = load(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!object)
		return -ENOENT;
	found = dlsym(object, COMPRESSOR_SYMBOL);
	if (!found || found->version != COMPRESSOR_VERSION)
		return -EINVAL;
	/* release: pairs with the acquire in scratch_init(). */
	atomic_store_explicit(&loaded, found, memory_order_release);
	return 0;
}

void compressor_find(void)
{
	char path[PATH_MAX];

	/* relaxed: to load it again costs time only. */
	if (!dladdr1 || atomic_load_explicit(&loaded, memory_order_relaxed))
		return;
	path_beside_library(path);
	compressor_load(path);
}

int scratch_init(size_t nr_bytes_page)
{
	/* acquire: pairs with the release in compressor_load(). */
	const struct compressor *found = atomic_load_explicit(&loaded, memory_order_acquire);
	/* A whole number of 16 bytes, so that each state is aligned. */
	size_t state = found ? (found->nr_bytes_state + 15) & ~(size_t)15 : 0;
	size_t nr_bytes = nr_bytes_page + state;
	char *memory;

	memory = system_mmap(NULL, nr_bytes * NR_SCRATCHES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	page_size = nr_bytes_page;
	compressor = found;
	for (unsigned int i = 0; i < NR_SCRATCHES; i++)
		scratches[i].buffer = memory + i * nr_bytes;
	scratch_forget_others();
	return 0;
}

bool compressor_is_there(void)
{
	return compressor != NULL;
}

struct scratch *scratch_get(void)
{
	struct scratch *scratch;

	for (unsigned int i = 0; i < NR_SCRATCHES; i++)
		if (!pthread_mutex_trylock(&scratches[i].lock))
			return &scratches[i];
	/* All are taken: wait for one, not all for the same one. */
	scratch = &scratches[(uintptr_t)pthread_self() / page_size % NR_SCRATCHES];
	pthread_mutex_lock(&scratch->lock);
	return scratch;
}

void scratch_put(struct scratch *scratch)
{
	pthread_mutex_unlock(&scratch->lock);
}

void *scratch_buffer(struct scratch *scratch)
{
	return scratch->buffer;
}

size_t compressor_compress(struct scratch *scratch, const void *page, size_t nr_bytes_max)
{
	return compressor->compress(scratch->buffer + page_size, page, page_size, scratch->buffer,
				    nr_bytes_max);
}

bool compressor_decompress(const struct scratch *scratch, size_t nr_bytes, void *page)
{
	return compressor->decompress(scratch->buffer, nr_bytes, page, page_size);
}

void scratch_forget_others(void)
{
	for (unsigned int i = 0; i < NR_SCRATCHES; i++)
		pthread_mutex_init(&scratches[i].lock, NULL);
}
