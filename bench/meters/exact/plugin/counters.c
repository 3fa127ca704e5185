/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "failure.h"
#include "symbols.h"

/* A symbol without a cell; of those that have one, index + 1 is kept. */
#define CELL_NONE 0

struct bank {
	uint64_t *cells;  /* never move: translated code holds their addresses */
	uint64_t *booked; /* values of cells at the last booking */
	uint64_t *sums[COUNTERS_CONTEXTS];
	uint64_t totals[COUNTERS_CONTEXTS];
	uint32_t *cell_of; /* by symbol */
	uint32_t nr_cells;
};

static struct bank banks[BANK_NR];

/* Untouched pages of what is allocated here take no memory. */
void counters_init(void)
{
	for (unsigned int i = 0; i < BANK_NR; i++) {
		banks[i].cells = allocate(symbols_nr(), sizeof(uint64_t));
		banks[i].booked = allocate(symbols_nr(), sizeof(uint64_t));
		banks[i].cell_of = allocate(symbols_nr(), sizeof(uint32_t));
		for (unsigned int context = 0; context < COUNTERS_CONTEXTS; context++)
			banks[i].sums[context] = allocate(symbols_nr(), sizeof(uint64_t));
	}
}

static uint64_t *cell_of(struct bank *bank, uint32_t symbol)
{
	if (bank->cell_of[symbol] == CELL_NONE)
		bank->cell_of[symbol] = ++bank->nr_cells;
	return &bank->cells[bank->cell_of[symbol] - 1];
}

static struct bank *bank_of(uint32_t symbol)
{
	return &banks[symbol_is_user(symbol) ? BANK_USER : BANK_KERNEL];
}

uint64_t *counters_instructions(uint32_t symbol)
{
	return cell_of(bank_of(symbol), symbol);
}

uint64_t *counters_repetitions(uint32_t symbol)
{
	return cell_of(&banks[BANK_REPETITIONS], symbol);
}

/* Runs over some thousand cells at each change of context, so it is kept fit for vectors. */
static uint64_t book(const uint64_t *restrict cells, uint64_t *restrict booked,
		     uint64_t *restrict sums, uint32_t nr_cells)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < nr_cells; i++) {
		uint64_t nr_new = cells[i] - booked[i];

		sums[i] += nr_new;
		booked[i] = cells[i];
		total += nr_new;
	}
	return total;
}

void counters_book(unsigned int context)
{
	for (unsigned int i = 0; i < BANK_NR; i++) {
		struct bank *bank = &banks[i];

		bank->totals[context] +=
			book(bank->cells, bank->booked, bank->sums[context], bank->nr_cells);
	}
}

void counters_book_with(unsigned int context, uint32_t symbol)
{
	struct bank *bank = bank_of(symbol);
	uint32_t cell = cell_of(bank, symbol) - bank->cells;

	counters_book(context);
	/* The emulator adds it to the cell when the callback is over. */
	bank->booked[cell]++;
	bank->sums[context][cell]++;
	bank->totals[context]++;
}

void counters_move(unsigned int from, unsigned int to)
{
	for (unsigned int i = 0; i < BANK_NR; i++) {
		struct bank *bank = &banks[i];

		if (!bank->totals[from])
			continue;
		for (uint32_t cell = 0; cell < bank->nr_cells; cell++) {
			bank->sums[to][cell] += bank->sums[from][cell];
			bank->sums[from][cell] = 0;
		}
		bank->totals[to] += bank->totals[from];
		bank->totals[from] = 0;
	}
}

void counters_open(void)
{
	for (unsigned int i = 0; i < BANK_NR; i++) {
		struct bank *bank = &banks[i];
		size_t nr_bytes = bank->nr_cells * sizeof(uint64_t);

		memcpy(bank->booked, bank->cells, nr_bytes);
		for (unsigned int context = 0; context < COUNTERS_CONTEXTS; context++)
			memset(bank->sums[context], 0, nr_bytes);
		memset(bank->totals, 0, sizeof(bank->totals));
	}
}

uint64_t counters_total(unsigned int context, enum counter_bank index)
{
	const struct bank *bank = &banks[index];
	uint64_t total = bank->totals[context];

	for (uint32_t i = 0; i < bank->nr_cells; i++)
		total += bank->cells[i] - bank->booked[i];
	return total;
}

static uint32_t collect(struct counter_sum *sums)
{
	uint32_t nr_sums = 0;

	for (unsigned int i = 0; i < BANK_NR; i++) {
		for (unsigned int context = 0; context < COUNTERS_CONTEXTS; context++) {
			for (uint32_t cell = 0; cell < banks[i].nr_cells; cell++) {
				uint64_t nr = banks[i].sums[context][cell];

				if (!nr)
					continue;
				if (sums)
					sums[nr_sums] =
						(struct counter_sum){ cell, i, context, nr };
				nr_sums++;
			}
		}
	}
	return nr_sums;
}

struct counter_sum *counters_collect(uint32_t *ret_nr_sums)
{
	struct counter_sum *sums;

	*ret_nr_sums = collect(NULL);
	sums = allocate(*ret_nr_sums, sizeof(*sums));
	collect(sums);
	return sums;
}

void counters_restore(const struct counter_sum *sums, uint32_t nr_sums)
{
	for (uint32_t i = 0; i < nr_sums; i++) {
		struct bank *bank = &banks[sums[i].bank];

		bank->sums[sums[i].context][sums[i].cell] += sums[i].nr;
		bank->totals[sums[i].context] += sums[i].nr;
	}
}

static uint64_t sum_of(const struct bank *bank, uint32_t symbol, enum count_context context)
{
	uint32_t cell = bank->cell_of[symbol];

	return cell == CELL_NONE ? 0 : bank->sums[context][cell - 1];
}

uint64_t counters_sum_instructions(uint32_t symbol, enum count_context context)
{
	return sum_of(bank_of(symbol), symbol, context);
}

uint64_t counters_sum_repetitions(uint32_t symbol, enum count_context context)
{
	return sum_of(&banks[BANK_REPETITIONS], symbol, context);
}
