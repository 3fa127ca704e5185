/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "shared_workers.h"
#include "umemcg.h"

#define NR_OBJECTS  64
#define BLOCK_BYTES 20000

static enum umemcg_lru_status evict(void *object, void *arg)
{
	(void)arg;
	umemcg_free(object);
	return UMEMCG_LRU_REMOVED;
}

static void cache_block(struct umemcg_lru *lru)
{
	struct umemcg_lru_entry *entry;
	void *block = umemcg_malloc(BLOCK_BYTES);

	if (block && umemcg_lru_add(lru, NULL, block, BLOCK_BYTES, &entry))
		umemcg_free(block);
}

void press(unsigned int seed)
{
	void *objects[NR_OBJECTS] = { NULL };
	struct umemcg_lru *lru;

	srand(seed);
	if (umemcg_lru_create(evict, NULL, &lru))
		abort();
	for (;;) {
		unsigned int i = (unsigned int)rand() % NR_OBJECTS;

		switch (rand() % 16) {
		case 0:
			umemcg_throttle();
			break;
		case 1 ... 4:
			cache_block(lru);
			break;
		default:
			umemcg_free(objects[i]);
			objects[i] = umemcg_malloc(1 + (size_t)rand() % 40000);
		}
	}
}
