/* SPDX-License-Identifier: MIT */
#include "group/external.h"

#include "charge/charge.h"
#include "charge/owner.h"

/* The bytes are charged; the thread's own sum is closed. */
cold int external_count_slowly(struct stock *stock, uint64_t nr_bytes)
{
	stock_add_external_slowly(stock, (int64_t)nr_bytes);
	return 0;
}

noinline int external_try_charge_slowly(struct stock *stock, uint64_t nr_bytes)
{
	int r;

	stock_word_restore(stock, &stock->spare, (int64_t)nr_bytes);
	r = stock_charge(stock, nr_bytes);
	if (!r)
		stock_add_external(stock, (int64_t)nr_bytes);
	return r;
}

noinline void external_keep_slowly(struct stock *stock, uint64_t nr_bytes)
{
	stock_undo_keep(stock, nr_bytes);
	stock_uncharge(stock, nr_bytes);
}

/* More than this thread charged itself: what others charged is looked for, and no more taken. */
noinline void external_uncharge_slowly(struct stock *stock, uint64_t nr_bytes)
{
	uint64_t charged;

	stock_word_restore(stock, &stock->external, (int64_t)nr_bytes);
	/* What could not be looked for stays charged: it is not known to be a fault of the program.
	 */
	if (!stock_take_external(stock, nr_bytes, &charged) && charged < nr_bytes)
		/* relaxed: the thread's own stock. */
		charge_underflow(
			owner_counter(atomic_load_explicit(&stock->owner, memory_order_relaxed)),
			nr_bytes - charged);
	if (!stock_put_bytes(stock, charged))
		stock_uncharge(stock, charged);
}
