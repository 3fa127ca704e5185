/* SPDX-License-Identifier: MIT */
/* A fork child has its parent's windows before its eyes, and gets its own. */
#include <sys/mman.h>

#include "base/system.h"
#include "charge/settle.h"
#include "charge/stock.h"
#include "charge/window.h"

void stock_note_external(void)
{
	struct stock *stock;

	for_each_stock(stock)
	{
		/* What was taken is noted in what the child will have as well. */
		stock_settle(stock);
		stock->external_at_fork = word_get(stock_external(stock));
	}
}

/* Before this nobody of the child has touched a word, so nothing of the parent's is changed. */
static int renew_window(void *window)
{
	if (window_shared)
		return window_shared->map(window);
	system_mmap(window, WINDOW_DISTANCE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	return 0;
}

/* All stocks were emptied before the fork (charge_hold()), and settled. */
static void close_anew(struct stock *stock)
{
	for (unsigned int word = 0; word < STOCK_NR_WORDS; word++)
		word_set(&stock_words(stock)->words[word], WORD_CLOSED);
	word_set(stock_external(stock), stock->external_at_fork);
}

static int renew_all(void)
{
	const void *renewed = NULL;
	struct stock *stock;

	for_each_stock(stock)
	{
		int r = 0;

		/* The stocks of a chunk follow each other in the list of their thread. */
		if (renewed != window_base(stock)) {
			renewed = window_base(stock);
			r = renew_window(window_base(stock));
		}
		if (!r)
			r = window_commit(stock);
		if (r)
			return r;
		close_anew(stock);
	}
	return 0;
}

void stock_renew_windows(void)
{
	if (!renew_all())
		return;
	/* All of them: a window is one kind of memory, and private memory is there. */
	window_shared = NULL;
	renew_all();
}
