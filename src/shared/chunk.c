/* SPDX-License-Identifier: MIT */
#include "shared/chunk.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "base/system.h"
#include "shared/claim.h"

/* Rows of a window that are had at once: a page. */
#define PAGE_BYTES  4096u
#define ROWS_A_PAGE (PAGE_BYTES / WINDOW_ROW_BYTES)

/* With the words' region raised so far that a look there finds it. */
static uint32_t claim(struct segment *segment, uint32_t process)
{
	uint32_t row = claim_row(segment, REGION_CHUNK_HEADS, process);

	if (!row)
		return 0;
	if (segment_commit_row(segment, REGION_CHUNKS, row)) {
		claim_end(&segment_chunk(segment, row)->state);
		return 0;
	}
	atomic_store_explicit(&segment_chunk(segment, row)->process, process, memory_order_relaxed);
	return row;
}

/* Of a chunk that was another's, the rows that have memory are made zero first. */
static void clear(struct segment *segment, uint32_t row)
{
	uint32_t nr_rows =
		atomic_load_explicit(&segment_chunk(segment, row)->nr_rows, memory_order_relaxed);

	memset(segment_row(segment, REGION_CHUNKS, row), 0,
	       min(nr_rows, WINDOW_NR_ROWS) * WINDOW_ROW_BYTES);
}

static void publish(struct segment *segment, uint32_t process, uint32_t row)
{
	struct shared_process *its = segment_process(segment, process);
	struct shared_chunk *chunk = segment_chunk(segment, row);
	uint32_t first = atomic_load_explicit(&its->first_chunk, memory_order_relaxed);

	do {
		atomic_store_explicit(&chunk->next, first, memory_order_relaxed);
		/* seq_cst: before the first flight that opens a word of it. */
	} while (!atomic_compare_exchange_weak_explicit(
		&its->first_chunk, &first, row, memory_order_seq_cst, memory_order_relaxed));
	claim_set_live(&chunk->state);
}

static int commit_page(const void *row)
{
	uintptr_t page = (uintptr_t)row / PAGE_BYTES * PAGE_BYTES;
	int r;

	do {
		r = system_madvise((void *)page, PAGE_BYTES, MADV_POPULATE_WRITE);
	} while (r && (errno == EINTR || errno == EAGAIN));
	/* Kernels before 5.14 cannot: there a full file system is a SIGBUS. */
	return r && errno != EINVAL ? -ENOMEM : 0;
}

int chunk_map(struct segment *segment, uint32_t process, void *window)
{
	uint32_t row = claim(segment, process);
	struct stock_words *words = segment_row(segment, REGION_CHUNKS, row);
	struct shared_chunk *chunk = segment_chunk(segment, row);

	if (!row)
		return -ENOSPC;
	clear(segment, row);
	/* An old length of 0 maps the same pages once more. */
	if (commit_page(words) || system_mremap(words, 0, WINDOW_DISTANCE,
						MREMAP_MAYMOVE | MREMAP_FIXED, window) != window) {
		claim_end(&chunk->state);
		return -ENOMEM;
	}
	words->chunk = row;
	/* Rows once had stay so. Release: whoever looks at a row finds its memory. */
	if (atomic_load_explicit(&chunk->nr_rows, memory_order_relaxed) < ROWS_A_PAGE)
		atomic_store_explicit(&chunk->nr_rows, ROWS_A_PAGE, memory_order_release);
	publish(segment, process, row);
	return 0;
}

int chunk_commit_row(struct segment *segment, const void *row)
{
	const struct stock_words *first =
		(const void *)((uintptr_t)row & ~(uintptr_t)(WINDOW_DISTANCE - 1));
	uint32_t index = (uint32_t)((const struct stock_words *)row - first);
	struct shared_chunk *chunk = segment_chunk(segment, first->chunk);
	int r;

	if (!chunk)
		return -EPROTO;
	if (index < atomic_load_explicit(&chunk->nr_rows, memory_order_relaxed))
		return 0;
	r = commit_page(row);
	if (r)
		return r;
	/* Release: as above. */
	atomic_store_explicit(&chunk->nr_rows, index / ROWS_A_PAGE * ROWS_A_PAGE + ROWS_A_PAGE,
			      memory_order_release);
	return 0;
}

struct stock_words *chunk_words(const struct segment *segment, uint32_t row, uint32_t index)
{
	const struct shared_chunk *chunk = segment_chunk(segment, row);
	struct stock_words *rows = segment_row(segment, REGION_CHUNKS, row);

	/* acquire: pairs with chunk_commit_row(). */
	if (!chunk || !rows || index >= WINDOW_NR_ROWS ||
	    index >= atomic_load_explicit(&chunk->nr_rows, memory_order_acquire))
		return NULL;
	return rows + index;
}

void chunk_free_all(struct segment *segment, uint32_t process)
{
	struct shared_process *its = segment_process(segment, process);

	atomic_store_explicit(&its->first_chunk, 0, memory_order_relaxed);
	for_each_row(segment, REGION_CHUNK_HEADS, row)
	{
		struct shared_chunk *chunk = segment_chunk(segment, row);

		if (claim_is_of(&chunk->state, &chunk->process, process))
			claim_end(&chunk->state);
	}
}
