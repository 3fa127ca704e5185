/* SPDX-License-Identifier: MIT */
#include "base/index.h"

#include <errno.h>
#include <string.h>

#include "base/system.h"

/* One page of buckets to begin with. */
#define NR_BUCKETS_AT_FIRST 1024u

static uint64_t key_of(const struct index *index, uint32_t row)
{
	uint64_t key;

	memcpy(&key, (char *)table_row(index->table, row) + index->key_offset, sizeof(key));
	return key;
}

static uint32_t *link_of(const struct index *index, uint32_t row)
{
	return (uint32_t *)((char *)table_row(index->table, row) + index->link_offset);
}

/* Multiplying spreads keys that differ in few bits; the high half is the well mixed one. */
static uint32_t *bucket_of(const struct index *index, uint64_t key)
{
	uint64_t mixed = (key ^ key >> 32) * 0x9e3779b97f4a7c15u;

	return &index->buckets[mixed >> 32 & (index->nr_buckets - 1)];
}

static uint32_t *buckets_create(uint32_t nr_buckets)
{
	void *buckets = system_mmap(NULL, nr_buckets * sizeof(uint32_t), PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return buckets == MAP_FAILED ? NULL : buckets;
}

static void push(struct index *index, uint32_t row)
{
	uint32_t *bucket = bucket_of(index, key_of(index, row));

	*link_of(index, row) = *bucket;
	*bucket = row;
}

/* Without memory for more buckets the chains grow longer: slower, and as right as before. */
static void grow(struct index *index)
{
	struct index old = *index;
	uint32_t *buckets = buckets_create(old.nr_buckets * 2);

	if (!buckets)
		return;
	index->buckets = buckets;
	index->nr_buckets = old.nr_buckets * 2;
	for (uint32_t i = 0; i < old.nr_buckets; i++) {
		uint32_t next;

		for (uint32_t row = old.buckets[i]; row; row = next) {
			next = *link_of(index, row);
			push(index, row);
		}
	}
	system_munmap(old.buckets, old.nr_buckets * sizeof(uint32_t));
}

int index_init(struct index *index, const struct table *table, size_t key_offset,
	       size_t link_offset)
{
	uint32_t *buckets = buckets_create(NR_BUCKETS_AT_FIRST);

	if (!buckets)
		return -ENOMEM;
	*index = (struct index){
		.table = table,
		.key_offset = key_offset,
		.link_offset = link_offset,
		.buckets = buckets,
		.nr_buckets = NR_BUCKETS_AT_FIRST,
	};
	return 0;
}

void index_add(struct index *index, uint32_t row)
{
	if (index->nr_rows >= index->nr_buckets && index->nr_buckets <= UINT32_MAX / 2)
		grow(index);
	push(index, row);
	index->nr_rows++;
}

void index_remove(struct index *index, uint32_t row)
{
	uint32_t *link = bucket_of(index, key_of(index, row));

	while (*link != row)
		link = link_of(index, *link);
	*link = *link_of(index, row);
	index->nr_rows--;
}

static uint32_t first_with(const struct index *index, uint32_t row, uint64_t key)
{
	while (row && key_of(index, row) != key)
		row = *link_of(index, row);
	return row;
}

uint32_t index_find(const struct index *index, uint64_t key)
{
	return first_with(index, *bucket_of(index, key), key);
}

uint32_t index_next(const struct index *index, uint32_t row)
{
	return first_with(index, *link_of(index, row), key_of(index, row));
}
