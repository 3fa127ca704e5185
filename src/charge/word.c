/* SPDX-License-Identifier: MIT */
#include "charge/word.h"

cold void word_restore(stock_word *word, int64_t n)
{
	int64_t value = word_get(word), restored;

	do {
		restored = word_is_closed(value) ? WORD_CLOSED : value + n;
		/* acq_rel: partner of the swap in word_close(). */
	} while (!atomic_compare_exchange_weak_explicit(
		word, &value, restored, memory_order_acq_rel, memory_order_relaxed));
}

bool word_close(stock_word *word, bool is_gates, uint64_t *taken)
{
	int64_t value = word_look(word);

	do {
		if (word_is_closed(value))
			return true;
		if (value < 0 && !is_gates)
			return false;
		/* Before the swap, so that no byte is unaccounted for at any instant. */
		*taken = max(value, (int64_t)0);
		/* seq_cst; the barrier that follows makes it count. */
	} while (!atomic_compare_exchange_weak_explicit(
		word, &value, WORD_CLOSED, memory_order_seq_cst, memory_order_seq_cst));
	return true;
}
