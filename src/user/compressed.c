/* SPDX-License-Identifier: MIT */
#include "user/compressed.h"

#include <errno.h>

#include "base/compiler.h"
#include "group/kind.h"
#include "kmem/heap.h"
#include "user/account.h"
#include "user/compressor.h"

/* What does not shrink to so many parts of PAGE_PARTS is not worth compressing. */
#define WORTH_PARTS 3u
#define PAGE_PARTS  4u

static size_t page_size;

int compressed_init(size_t nr_bytes_page)
{
	int r = pool_init(nr_bytes_page);

	page_size = nr_bytes_page;
	return r ? r : scratch_init(page_size);
}

static int pool_put_charged(uint32_t owner, const void *object, size_t nr_bytes, uint32_t *ret_row,
			    uint64_t *ret_nr_bytes_kept)
{
	uint32_t account = account_lock_of(owner), nr_pages;
	int r;

	if (!account)
		return -ENOMEM;
	r = pool_put(&account_row(account)->pool, account, owner, object, nr_bytes,
		     account_pool_may_grow(account, page_size), ret_row, &nr_pages);
	if (!r) {
		*ret_nr_bytes_kept = nr_pages * page_size;
		account_ref(account);
		account_add(account, nr_bytes_pool, nr_pages * page_size);
		account_add(account, nr_bytes_compressed, page_size);
		account_add(account, nr_pages_pool_out, 1);
	}
	account_unlock();
	return r;
}

int compressed_put(uint32_t owner, const void *page, uint32_t *ret_row, uint64_t *ret_nr_bytes_kept)
{
	struct scratch *scratch;
	size_t nr_bytes;
	int r = -ENOSPC;

	if (!compressor_is_there())
		return -ENOSPC;
	scratch = scratch_get();
	nr_bytes = compressor_compress(scratch, page, page_size / PAGE_PARTS * WORTH_PARTS);
	if (nr_bytes)
		r = pool_put_charged(owner, scratch_buffer(scratch), nr_bytes, ret_row,
				     ret_nr_bytes_kept);
	scratch_put(scratch);
	return r;
}

int compressed_get(uint32_t row, void *page)
{
	struct scratch *scratch = scratch_get();
	size_t nr_bytes;
	bool is_right;

	account_lock();
	nr_bytes = pool_get(row, scratch_buffer(scratch));
	account_add(pool_account(row), nr_pages_pool_in, 1);
	account_unlock();
	is_right = compressor_decompress(scratch, nr_bytes, page);
	scratch_put(scratch);
	return is_right ? 0 : -EIO;
}

void compressed_free(uint32_t row)
{
	struct pool_change freed;
	struct flight *flight;
	uint64_t nr_bytes;
	uint32_t account;

	account_lock();
	account = pool_account(row);
	pool_free(&account_row(account)->pool, row, &freed);
	nr_bytes = freed.nr_pages * page_size;
	account_add(account, nr_bytes_pool, -nr_bytes);
	account_add(account, nr_bytes_compressed, -page_size);
	account_unref(account);
	account_unlock();
	/* No memory for this thread's first record: what it gives back stays charged. */
	flight = nr_bytes ? thread_flight() : NULL;
	if (flight)
		owner_uncharge_kind(flight, freed.owner, KIND_ANON, nr_bytes);
}
