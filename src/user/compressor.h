/* SPDX-License-Identifier: MIT */
/*
 * The compressor: a shared object of its own, beside the library, which alone is linked with a
 * library of compression. Without it nothing is compressed.
 *
 * What compressing needs in memory lies in a few scratch areas that threads take in turn, made
 * beforehand: a fault may come where a thread's stack is nearly used up.
 */
#ifndef UMEMCG_USER_COMPRESSOR_H
#define UMEMCG_USER_COMPRESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMPRESSOR_VERSION 1u

/* What the shared object offers, under the name of COMPRESSOR_SYMBOL. */
#define COMPRESSOR_SYMBOL "umemcg_compressor"
struct compressor {
	uint32_t version;      /* COMPRESSOR_VERSION, or the rest is not what is described here */
	size_t nr_bytes_state; /* memory that compress() works in, aligned to 16 bytes */
	/* Returns the length in @to; 0 if it would be more than @nr_bytes_max. */
	size_t (*compress)(void *state, const void *from, size_t nr_bytes, void *to,
			   size_t nr_bytes_max);
	/* False if @from is not what compress() made of @nr_bytes_to bytes. */
	bool (*decompress)(const void *from, size_t nr_bytes, void *to, size_t nr_bytes_to);
};

/* One thread's for the moment. */
struct scratch;

/**
 * compressor_find - look for the compressor
 *
 * It loads a shared object: not in a fault, with no lock held, and where no fork waits for it.
 */
void compressor_find(void);

/** compressor_load - use this shared object; 0, -ENOENT, or -EINVAL if it is none. For tests */
int compressor_load(const char *path);

/** compressor_is_there - can anything be compressed? Since scratch_init() */
bool compressor_is_there(void);

/** scratch_init - make the scratch areas, for the compressor that was found; 0 or -ENOMEM */
int scratch_init(size_t page_size);

/** scratch_get - a scratch area, perhaps after waiting for another thread to finish with it */
struct scratch *scratch_get(void);
void scratch_put(struct scratch *scratch);

/** scratch_buffer - a page of memory in it */
void *scratch_buffer(struct scratch *scratch);

/** compressor_compress - a page into the buffer; its length there, 0 if it is more than
 * @nr_bytes_max
 */
size_t compressor_compress(struct scratch *scratch, const void *page, size_t nr_bytes_max);

/** compressor_decompress - what is in the buffer, of this length, into a page; false if it is not
 * right */
bool compressor_decompress(const struct scratch *scratch, size_t nr_bytes, void *page);

/** scratch_forget_others - in a child of fork: no thread has a scratch area */
void scratch_forget_others(void);

#endif
