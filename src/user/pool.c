/* SPDX-License-Identifier: MIT */
#include "user/pool.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "base/compiler.h"
#include "base/system.h"
#include "base/table.h"

/* 256 GiB of blocks with pages of 4 KiB, and as many objects as they can well hold. */
#define NR_BLOCKS_MAX (1u << 22)
#define NR_ROWS_MAX   (1u << 28)

/* Blocks whose address space is mapped at a time. */
#define NR_BLOCKS_MAPPED 64u

/* Open blocks that are looked at for one of the right owner. */
#define NR_BLOCKS_LOOKED 16u

#define OBJECT_ALIGNMENT 8u

struct row {
	union {
		struct {
			uint32_t block; /* the table's, while the row is free */
			uint32_t offset;
		};
		uint64_t word;
	};
};

/* In front of each object. */
struct object {
	uint32_t row; /* 0: a hole */
	uint32_t nr_bytes;
};

struct block {
	uint32_t link; /* the table's, while the row is free */
	uint32_t account;
	uint32_t owner;
	uint32_t next; /* ring of open blocks; 0: not open */
	uint32_t prev;
	uint32_t nr_bytes_live;
	uint32_t nr_bytes_used; /* with holes; objects end here */
	char *memory;           /* set once: address space stays the block's */
};

static struct table block_table, row_table;
static size_t page_size, block_size;

/* Address space for the next new blocks. */
static char *mapped, *mapped_end;

static struct block *block_row(uint32_t block)
{
	return table_row(&block_table, block);
}

static struct row *object_row(uint32_t row)
{
	return table_row(&row_table, row);
}

static struct object *object_at(const struct block *block, uint32_t offset)
{
	return (struct object *)(block->memory + offset);
}

static uint32_t nr_bytes_of(size_t nr_bytes)
{
	size_t whole = sizeof(struct object) + nr_bytes;

	return (whole + OBJECT_ALIGNMENT - 1) & ~(size_t)(OBJECT_ALIGNMENT - 1);
}

static uint32_t nr_pages_of(uint32_t nr_bytes)
{
	return (nr_bytes + page_size - 1) / page_size;
}

static int make_table(struct table *table, size_t row_size, uint32_t nr_max)
{
	return table->rows ? 0 : table_init(table, row_size, nr_max, NULL);
}

int pool_init(size_t nr_bytes_page)
{
	page_size = nr_bytes_page;
	block_size = page_size * POOL_BLOCK_PAGES;
	if (make_table(&block_table, sizeof(struct block), NR_BLOCKS_MAX) ||
	    make_table(&row_table, sizeof(struct row), NR_ROWS_MAX))
		return -ENOMEM;
	return 0;
}

size_t pool_largest(void)
{
	return page_size - sizeof(struct object);
}

/* ---- the ring of open blocks ---- */

static void open_block(struct pool *pool, uint32_t id)
{
	struct block *block = block_row(id), *first, *last;

	if (block->next)
		return;
	block->next = block->prev = id;
	if (!pool->first_open) {
		pool->first_open = id;
		return;
	}
	first = block_row(pool->first_open);
	last = block_row(first->prev);
	block->prev = first->prev;
	block->next = pool->first_open;
	last->next = id;
	first->prev = id;
}

static void close_block(struct pool *pool, uint32_t id)
{
	struct block *block = block_row(id);

	if (!block->next)
		return;
	if (pool->first_open == id)
		pool->first_open = block->next == id ? 0 : block->next;
	block_row(block->prev)->next = block->next;
	block_row(block->next)->prev = block->prev;
	block->next = block->prev = 0;
}

/* Open is what has room for any object, behind its last one or among them. */
static bool has_room(const struct block *block)
{
	return block_size - block->nr_bytes_live >= page_size;
}

/* ---- blocks ---- */

/* Small pages, so that what is charged is what is there; and none of it for a child. */
static char *map_block(void)
{
	size_t nr_bytes = NR_BLOCKS_MAPPED * block_size;
	char *memory;

	if (mapped == mapped_end) {
		memory = system_mmap(NULL, nr_bytes, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (memory == MAP_FAILED)
			return NULL;
		system_madvise(memory, nr_bytes, MADV_NOHUGEPAGE);
		if (system_madvise(memory, nr_bytes, MADV_DONTFORK)) {
			system_munmap(memory, nr_bytes);
			return NULL;
		}
		mapped = memory;
		mapped_end = memory + nr_bytes;
	}
	memory = mapped;
	mapped += block_size;
	return memory;
}

static uint32_t block_create(struct pool *pool, uint32_t account, uint32_t owner)
{
	uint32_t id = table_get(&block_table);
	struct block *block;
	char *memory;

	if (!id)
		return 0;
	block = block_row(id);
	memory = block->memory ? block->memory : map_block();
	if (!memory) {
		table_put(&block_table, id);
		return 0;
	}
	*block = (struct block){ .account = account, .owner = owner, .memory = memory };
	pool->nr_blocks++;
	open_block(pool, id);
	return id;
}

static void block_destroy(struct pool *pool, uint32_t id)
{
	close_block(pool, id);
	pool->nr_blocks--;
	table_put(&block_table, id);
}

/* Give back the pages above what is used; returns how many. */
static uint32_t release_pages(const struct block *block, uint32_t nr_pages_before)
{
	uint32_t nr_pages = nr_pages_of(block->nr_bytes_used);

	if (nr_pages < nr_pages_before)
		system_drop(block->memory + nr_pages * page_size,
			    (nr_pages_before - nr_pages) * page_size);
	return nr_pages_before - nr_pages;
}

/* Move the objects behind holes down. */
static void close_holes(struct block *block)
{
	uint32_t to = 0;

	for (uint32_t from = 0, size; from < block->nr_bytes_used; from += size) {
		struct object *object = object_at(block, from);

		size = nr_bytes_of(object->nr_bytes);
		if (!object->row)
			continue;
		if (from != to) {
			object_row(object->row)->offset = to;
			memmove(object_at(block, to), object, size);
		}
		to += size;
	}
	block->nr_bytes_used = to;
}

static uint32_t nr_pages_to_add(const struct block *block, uint32_t size)
{
	/* With the holes closed it would be the same: they never make up a page. */
	return nr_pages_of(block->nr_bytes_live + size) - nr_pages_of(block->nr_bytes_live);
}

/* An open block of this owner; @may_grow: if it may need a page more. 0: none. */
static uint32_t find_open(const struct pool *pool, uint32_t owner, uint32_t size, bool may_grow)
{
	uint32_t id = pool->first_open;

	for (unsigned int i = 0; id && i < NR_BLOCKS_LOOKED; i++) {
		const struct block *block = block_row(id);

		if (block->owner == owner && (may_grow || !nr_pages_to_add(block, size)))
			return id;
		id = block->next == pool->first_open ? 0 : block->next;
	}
	return 0;
}

/* Behind the last object; there is room for it. */
static void append(uint32_t id, uint32_t row, const void *bytes, size_t nr_bytes)
{
	struct block *block = block_row(id);
	uint32_t size = nr_bytes_of(nr_bytes);
	struct object *object;

	if (block_size - block->nr_bytes_used < size ||
	    nr_pages_of(block->nr_bytes_used + size) > nr_pages_of(block->nr_bytes_live + size))
		close_holes(block);
	object = object_at(block, block->nr_bytes_used);
	*object = (struct object){ .row = row, .nr_bytes = nr_bytes };
	memcpy(object + 1, bytes, nr_bytes);
	*object_row(row) = (struct row){ .block = id, .offset = block->nr_bytes_used };
	block->nr_bytes_used += size;
	block->nr_bytes_live += size;
}

int pool_put(struct pool *pool, uint32_t account, uint32_t owner, const void *object,
	     size_t nr_bytes, bool may_grow, uint32_t *ret_row, uint32_t *ret_nr_pages)
{
	uint32_t size = nr_bytes_of(nr_bytes), id = find_open(pool, owner, size, may_grow), row;

	if (!id && !may_grow)
		return -ENOSPC;
	row = table_get(&row_table);
	if (!row)
		return -ENOMEM;
	if (!id)
		id = block_create(pool, account, owner);
	if (!id) {
		table_put(&row_table, row);
		return -ENOMEM;
	}
	*ret_row = row;
	*ret_nr_pages = nr_pages_to_add(block_row(id), size);
	append(id, row, object, nr_bytes);
	if (!has_room(block_row(id)))
		close_block(pool, id);
	return 0;
}

size_t pool_get(uint32_t row, void *object)
{
	const struct row *where = object_row(row);
	const struct object *found = object_at(block_row(where->block), where->offset);

	memcpy(object, found + 1, found->nr_bytes);
	return found->nr_bytes;
}

uint32_t pool_account(uint32_t row)
{
	return block_row(object_row(row)->block)->account;
}

/* Everything of a block into another, if that takes no page more. */
static bool merge(struct pool *pool, uint32_t id)
{
	struct block *block = block_row(id);
	uint32_t to;

	close_block(pool, id);
	to = find_open(pool, block->owner, block->nr_bytes_live, false);
	if (!to)
		return false;
	for (uint32_t from = 0; from < block->nr_bytes_used;) {
		const struct object *object = object_at(block, from);

		if (object->row)
			append(to, object->row, object + 1, object->nr_bytes);
		from += nr_bytes_of(object->nr_bytes);
	}
	if (!has_room(block_row(to)))
		close_block(pool, to);
	block->nr_bytes_live = block->nr_bytes_used = 0;
	return true;
}

void pool_free(struct pool *pool, uint32_t row, struct pool_change *ret_freed)
{
	uint32_t id = object_row(row)->block;
	struct block *block = block_row(id);
	struct object *object = object_at(block, object_row(row)->offset);
	uint32_t nr_pages = nr_pages_of(block->nr_bytes_used);
	bool is_empty;

	object->row = 0;
	table_put(&row_table, row);
	block->nr_bytes_live -= nr_bytes_of(object->nr_bytes);
	is_empty = !block->nr_bytes_live;
	if (is_empty)
		block->nr_bytes_used = 0;
	else if (block->nr_bytes_live <= page_size)
		is_empty = merge(pool, id);
	if (nr_pages_of(block->nr_bytes_live) < nr_pages_of(block->nr_bytes_used))
		close_holes(block);
	*ret_freed = (struct pool_change){
		.account = block->account,
		.owner = block->owner,
		.nr_pages = release_pages(block, nr_pages),
	};
	if (is_empty)
		block_destroy(pool, id);
	else if (has_room(block))
		open_block(pool, id);
}

uint32_t pool_put_word(uint64_t word)
{
	uint32_t row = table_get(&row_table);

	if (row)
		object_row(row)->word = word;
	return row;
}

uint64_t pool_get_word(uint32_t row)
{
	return object_row(row)->word;
}

void pool_free_word(uint32_t row)
{
	table_put(&row_table, row);
}

void pool_walk(void (*visit)(const struct pool_change *taken, void *arg), void *arg)
{
	/* relaxed: locked. */
	uint32_t nr_used = atomic_load_explicit(&block_table.nr_used, memory_order_relaxed);

	for (uint32_t id = 1; id < nr_used; id++) {
		const struct block *block = block_row(id);
		struct pool_change taken = {
			.account = block->account,
			.owner = block->owner,
			.nr_pages = nr_pages_of(block->nr_bytes_used),
		};

		/* A free row's block holds nothing. */
		if (taken.nr_pages)
			visit(&taken, arg);
	}
}

void pool_forget(void)
{
	table_forget(&block_table);
	table_forget(&row_table);
	mapped = mapped_end = NULL;
}
