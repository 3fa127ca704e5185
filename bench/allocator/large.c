/* SPDX-License-Identifier: MIT */
/*
 * Large blocks: a live set of blocks of 5 to 25 MiB of which one after another is replaced, as
 * images, tensors or read buffers are. One word of each page is written, as the page would be in
 * use, so that memory which an allocator has just got from the system costs its faults. Checked by
 * those words. A round is one block.
 */
#include "alloc.h"
#include "workloads.h"

enum { NR_BLOCKS = 20, WORDS_APART = 4096 / 8 };

struct block {
	uint64_t *words;
	size_t nr_words;
};

static void block_fill(struct block *block, size_t nr_words)
{
	block->words = must_malloc(nr_words * sizeof(uint64_t));
	block->nr_words = nr_words;
	for (size_t i = 0; i < nr_words; i += WORDS_APART)
		block->words[i] = i;
	block->words[nr_words - 1] = nr_words;
}

static void block_check_and_free(struct block *block)
{
	uint64_t wrong = 0;

	if (!block->words)
		return;
	for (size_t i = 0; i < block->nr_words - 1; i += WORDS_APART)
		wrong |= block->words[i] ^ i;
	wrong |= block->words[block->nr_words - 1] ^ block->nr_words;
	workload_expect(!wrong, "block of large");
	alloc_free(block->words);
}

uint64_t large_run(const struct parameters *parameters)
{
	struct block blocks[NR_BLOCKS] = { 0 };
	uint64_t seed = parameters->seed;

	for (uint64_t i = 0; i < parameters->nr_rounds; i++) {
		struct block *block = &blocks[random_below(&seed, NR_BLOCKS)];
		size_t nr_bytes = (5u << 20) + random_below(&seed, 20u << 20);

		block_check_and_free(block);
		block_fill(block, nr_bytes / sizeof(uint64_t));
	}
	for (unsigned int i = 0; i < NR_BLOCKS; i++)
		block_check_and_free(&blocks[i]);
	return parameters->nr_rounds;
}
