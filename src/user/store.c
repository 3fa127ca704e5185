/* SPDX-License-Identifier: MIT */
#include "user/store.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/report.h"
#include "charge/owner.h"
#include "charge/switch.h"
#include "group/group.h"
#include "group/kind.h"
#include "kmem/heap.h"
#include "user/account.h"
#include "user/compressed.h"
#include "user/compressor.h"
#include "user/pool.h"
#include "user/swap_file.h"

/* A slot is a number and, in its low bits, what it is a number of. */
enum place {
	PLACE_NONE,
	PLACE_ZERO, /* a page of zeros */
	PLACE_WORD, /* one word, over and over: in a row of the pool's table */
	PLACE_POOL,
	PLACE_FILE,
};
#define PLACE_BITS 3

static size_t page_size;
static _Atomic bool is_prepared;

static enum place slot_place(store_slot slot)
{
	return slot & ((1u << PLACE_BITS) - 1);
}

static uint32_t slot_number(store_slot slot)
{
	return slot >> PLACE_BITS;
}

/* ---- getting ready ---- */

/* What a failed try has made stays, for the next one. */
static int make_tables(void)
{
	int r;

	page_size = sysconf(_SC_PAGESIZE);
	r = account_init();
	if (!r)
		r = compressed_init(page_size);
	return r;
}

/* Of $UMEMCG_CMDLINE; without it there is no file, and the program runs. */
static void set_swap_at_start(void)
{
	uint64_t nr_bytes;
	const char *directory = switch_swap(&nr_bytes);
	int r = directory ? swap_file_set(directory, nr_bytes, page_size) : 0;

	if (r)
		report("UMEMCG_CMDLINE: no swap file in \"%s\": %s", directory, strerror(-r));
}

static struct group_bequest bequest = { .bequeath = account_bequeath };

static int prepare_locked(void)
{
	int r;

	/* relaxed: locked. */
	if (atomic_load_explicit(&is_prepared, memory_order_relaxed))
		return 0;
	r = make_tables();
	if (r)
		return r;
	set_swap_at_start();
	group_add_bequest(&bequest);
	/* release: pairs with the acquire in store_is_prepared(). */
	atomic_store_explicit(&is_prepared, true, memory_order_release);
	return 0;
}

bool store_is_prepared(void)
{
	/* acquire: pairs with the release in prepare_locked(). */
	return atomic_load_explicit(&is_prepared, memory_order_acquire);
}

int store_prepare(void)
{
	int r;

	if (store_is_prepared())
		return 0;
	/* By as many threads as come at once: no lock may be held, not even to do it once. */
	compressor_find();
	/* Of the tree first: whoever destroys a group looks at the hook under it. */
	group_lock();
	account_lock();
	r = prepare_locked();
	account_unlock();
	group_unlock();
	return r;
}

int store_set_swap(const char *directory, uint64_t nr_bytes)
{
	int r = store_prepare();

	if (r)
		return r;
	account_lock();
	r = swap_file_set(directory, nr_bytes, page_size);
	account_unlock();
	return r;
}

/* ---- pages of one word ---- */

static bool is_one_word(const void *page, uint64_t *ret_word)
{
	const uint64_t *words = page;
	size_t nr_words = page_size / sizeof(*words);

	/* Pages that begin alike often do not end so. */
	if (words[nr_words - 1] != words[0])
		return false;
	if (memcmp(words, words + 1, page_size - sizeof(*words)))
		return false;
	*ret_word = words[0];
	return true;
}

/* Zeros need no row. */
static int put_word(uint64_t word, uint32_t *ret_row)
{
	uint32_t row = 0;

	if (word) {
		account_lock();
		row = pool_put_word(word);
		account_unlock();
		if (!row)
			return -ENOMEM;
	}
	*ret_row = row;
	return 0;
}

static void fill(void *page, uint64_t word)
{
	uint64_t *words = page;

	for (size_t i = 0; i < page_size / sizeof(*words); i++)
		words[i] = word;
}

static void get_word(uint32_t row, void *page)
{
	uint64_t word;

	account_lock();
	word = pool_get_word(row);
	account_unlock();
	fill(page, word);
}

/* ---- pages in the file ---- */

static int take_slot(uint32_t owner, uint32_t *ret_slot)
{
	uint32_t account, slot;
	int r;

	account = account_lock_of(owner);
	if (!account)
		return -ENOMEM;
	if (!swap_file_is_there()) {
		account_unlock();
		return -ENOSPC;
	}
	r = account_charge_swap(account, page_size);
	if (!r) {
		slot = swap_file_take(account);
		if (slot == SWAP_FILE_NONE) {
			account_uncharge_swap(account, page_size);
			r = -ENOSPC;
		} else {
			account_ref(account);
			*ret_slot = slot;
		}
	}
	if (r)
		account_add(account, nr_swap_fail, 1);
	account_unlock();
	return r;
}

static void give_slot(uint32_t slot, bool is_failure)
{
	uint32_t account;

	account_lock();
	account = swap_file_give(slot);
	account_uncharge_swap(account, page_size);
	account_add(account, nr_swap_fail, is_failure);
	account_unref(account);
	account_unlock();
}

static int put_file(uint32_t owner, const void *page, uint32_t *ret_slot)
{
	uint32_t slot;
	int r = take_slot(owner, &slot);

	if (r)
		return r;
	r = swap_file_write(slot, page);
	if (r) {
		give_slot(slot, true);
		return r;
	}
	account_lock();
	account_add(swap_file_account(slot), nr_pages_swap_out, 1);
	account_unlock();
	*ret_slot = slot;
	return 0;
}

static int get_file(uint32_t slot, void *page)
{
	int r = swap_file_read(slot, page);

	if (r)
		return r;
	account_lock();
	account_add(swap_file_account(slot), nr_pages_swap_in, 1);
	account_unlock();
	return 0;
}

/* ---- all of them ---- */

int store_put(uint32_t owner, const void *page, store_slot *ret_slot, uint64_t *ret_nr_bytes_kept)
{
	uint64_t word, nr_bytes_kept = 0;
	enum place place;
	uint32_t number;
	int r;

	if (is_one_word(page, &word)) {
		place = word ? PLACE_WORD : PLACE_ZERO;
		r = put_word(word, &number);
	} else {
		place = PLACE_POOL;
		r = compressed_put(owner, page, &number, &nr_bytes_kept);
		if (r == -ENOSPC) {
			place = PLACE_FILE;
			r = put_file(owner, page, &number);
		}
	}
	if (r)
		return r;
	*ret_slot = (store_slot)number << PLACE_BITS | place;
	*ret_nr_bytes_kept = nr_bytes_kept;
	return 0;
}

int store_get(store_slot slot, void *page)
{
	switch (slot_place(slot)) {
	case PLACE_ZERO:
		memset(page, 0, page_size);
		return 0;
	case PLACE_WORD:
		get_word(slot_number(slot), page);
		return 0;
	case PLACE_POOL:
		return compressed_get(slot_number(slot), page);
	case PLACE_FILE:
		return get_file(slot_number(slot), page);
	case PLACE_NONE:
		break;
	}
	return -EIO;
}

void store_free(store_slot slot)
{
	switch (slot_place(slot)) {
	case PLACE_WORD:
		account_lock();
		pool_free_word(slot_number(slot));
		account_unlock();
		break;
	case PLACE_POOL:
		compressed_free(slot_number(slot));
		break;
	case PLACE_FILE:
		give_slot(slot_number(slot), false);
		break;
	case PLACE_ZERO:
	case PLACE_NONE:
		break;
	}
}

int store_replace(store_slot slot, const void *page)
{
	return slot_place(slot) == PLACE_FILE ? swap_file_write(slot_number(slot), page) : -EINVAL;
}

bool store_in_memory(store_slot slot)
{
	return slot_place(slot) != PLACE_FILE;
}

struct store_visit {
	void (*visit)(uint32_t owner, uint64_t nr_bytes, void *arg);
	void *arg;
};

static void visit_taken(const struct pool_change *taken, void *arg)
{
	const struct store_visit *visit = arg;

	visit->visit(taken->owner, taken->nr_pages * page_size, visit->arg);
}

void store_walk(void (*visit)(uint32_t owner, uint64_t nr_bytes, void *arg), void *arg)
{
	struct store_visit store_visit = { .visit = visit, .arg = arg };

	if (!store_is_prepared())
		return;
	account_lock();
	pool_walk(visit_taken, &store_visit);
	account_unlock();
}

/* ---- fork ---- */

void store_fork_begin(void)
{
	account_lock();
}

void store_fork_end(void)
{
	account_unlock();
}

static void uncharge_taken(const struct pool_change *taken, void *arg)
{
	owner_uncharge_kind(arg, taken->owner, KIND_ANON, taken->nr_pages * page_size);
}

/* Alone, so that uncharging under the lock waits for nobody. */
void store_fork_end_in_child(void)
{
	if (store_is_prepared()) {
		struct flight *flight = thread_flight();

		if (flight)
			pool_walk(uncharge_taken, flight);
		pool_forget();
		account_forget();
		swap_file_forget();
		scratch_forget_others();
	}
	account_unlock();
}
