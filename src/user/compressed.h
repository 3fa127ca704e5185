/* SPDX-License-Identifier: MIT */
/*
 * Compressed pages: what the compressor makes of a page lies in the pool, and the pages of the pool
 * are charged. The lock of the store is taken here.
 */
#ifndef UMEMCG_USER_COMPRESSED_H
#define UMEMCG_USER_COMPRESSED_H

#include <stddef.h>
#include <stdint.h>

/** compressed_init - 0 or -ENOMEM */
int compressed_init(size_t page_size);

/** compressed_put - as store_put(), with a row of the pool; -ENOSPC also if nothing compresses */
int compressed_put(uint32_t owner, const void *page, uint32_t *ret_row,
		   uint64_t *ret_nr_bytes_kept);

/** compressed_get - as store_get() */
int compressed_get(uint32_t row, void *page);

/** compressed_free - forget a page, and uncharge what is no longer needed for it */
void compressed_free(uint32_t row);

#endif
