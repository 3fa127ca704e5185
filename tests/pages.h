/* SPDX-License-Identifier: MIT */
/* Pages of all kinds of compressibility, each the same again for the same seed. */
#ifndef UMEMCG_TESTS_PAGES_H
#define UMEMCG_TESTS_PAGES_H

#include <stdint.h>
#include <string.h>

#define PAGE 4096u

/* Ordered by how well they shrink; the last two are not worth compressing. */
enum test_page {
	TEST_PAGE_ZERO,
	TEST_PAGE_WORD,   /* one word, over and over */
	TEST_PAGE_TEXT,   /* words from a small set */
	TEST_PAGE_HALF,   /* half of it random */
	TEST_PAGE_MOSTLY, /* nine tenths of it random */
	TEST_PAGE_RANDOM,
	NR_TEST_PAGES
};

static inline uint64_t test_random(uint64_t *state)
{
	/* xorshift64; never 0. */
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static inline void test_page_make(void *page, enum test_page kind, uint64_t seed)
{
	static const unsigned int nr_random[NR_TEST_PAGES] = {
		[TEST_PAGE_HALF] = PAGE / 2,
		[TEST_PAGE_MOSTLY] = PAGE / 10 * 9,
		[TEST_PAGE_RANDOM] = PAGE,
	};
	uint64_t state = seed * 0x9e3779b97f4a7c15u | 1, words[PAGE / 8];

	for (unsigned int i = 0; i < PAGE / 8; i++) {
		if (kind == TEST_PAGE_TEXT)
			words[i] = test_random(&state) % 8 + seed;
		else
			words[i] = i * 8 < nr_random[kind] ? test_random(&state) : 0;
		if (kind == TEST_PAGE_WORD)
			words[i] = seed | (uint64_t)1 << 63;
	}
	memcpy(page, words, sizeof(words));
}

#endif
