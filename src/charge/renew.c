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

static void make_private(void *window)
{
	system_mmap(window, WINDOW_DISTANCE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* Before this nobody of the child has touched a word, so nothing of the parent's is changed. */
static void renew_window(void *window)
{
	if (window_shared && window_shared->map(window))
		window_shared = NULL;
	if (!window_shared)
		make_private(window);
}

/* All stocks were emptied before the fork (charge_hold()), and settled. */
static void close_anew(struct stock *stock)
{
	for (unsigned int word = 0; word < STOCK_NR_WORDS; word++)
		word_set(&stock_words(stock)->words[word], WORD_CLOSED);
	word_set(stock_external(stock), stock->external_at_fork);
}

void stock_renew_windows(void)
{
	const void *renewed = NULL;
	struct stock *stock;

	/* The stocks of a chunk follow each other in the list of their thread. */
	for_each_stock(stock)
	{
		if (renewed != window_base(stock)) {
			renewed = window_base(stock);
			renew_window(window_base(stock));
		}
		if (window_shared && window_shared->commit(stock_words(stock))) {
			make_private(window_base(stock));
			window_shared = NULL;
		}
		close_anew(stock);
	}
}
