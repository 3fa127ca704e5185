/* SPDX-License-Identifier: MIT */
#include "calls.h"
#include "contexts.h"
#include "counters.h"
#include "parts.h"
#include "tasks.h"

/*
 * Neither interrupts nor softirqs nest, so a softirq on an interrupt's way out and an interrupt in
 * that are the most, and exceptions in each.
 */
#define NR_LEVELS_MAX 16

#define NO_SYMBOL UINT32_MAX

enum level {
	LEVEL_INTERRUPT,
	LEVEL_EXCEPTION,
	LEVEL_SOFTIRQ,
};

static enum level levels[NR_LEVELS_MAX];
static unsigned int nr_levels;
static unsigned int task_context = COUNT_UNDECIDED;
static unsigned int current = COUNT_UNDECIDED;
static uint64_t nr_unpaired;

uint64_t contexts_nr_unpaired(void)
{
	return nr_unpaired;
}

static void note_unpaired(void)
{
	if (parts_open())
		nr_unpaired++;
}

static unsigned int innermost(void)
{
	for (unsigned int i = nr_levels; i-- > 0;) {
		if (levels[i] == LEVEL_INTERRUPT)
			return COUNT_INTERRUPT;
		if (levels[i] == LEVEL_SOFTIRQ)
			return COUNT_DEFERRED;
	}
	return task_context;
}

/* @symbol: of the instruction that still belongs to the context that ends, or NO_SYMBOL. */
static void change(uint32_t symbol)
{
	unsigned int next = innermost();

	if (next == current)
		return;
	if (parts_open()) {
		if (symbol == NO_SYMBOL)
			counters_book(current);
		else
			counters_book_with(current, symbol);
	}
	calls_context(next);
	current = next;
}

static void push(enum level level)
{
	if (nr_levels == NR_LEVELS_MAX) {
		note_unpaired();
		nr_levels = 0;
	}
	levels[nr_levels++] = level;
	change(NO_SYMBOL);
}

void contexts_interrupt(void)
{
	parts_interrupt();
	push(LEVEL_INTERRUPT);
}

void contexts_exception(void)
{
	/* An end without a beginning is not met in a task, so nothing need be kept there. */
	if (nr_levels)
		push(LEVEL_EXCEPTION);
}

void contexts_interrupt_exit(void)
{
	/* In a softirq or a task it ends an exception that was not kept. */
	if (!nr_levels || levels[nr_levels - 1] == LEVEL_SOFTIRQ)
		return;
	nr_levels--;
	change(NO_SYMBOL);
}

void contexts_softirq(void)
{
	push(LEVEL_SOFTIRQ);
}

void contexts_softirq_end(uint32_t symbol)
{
	unsigned int level = nr_levels;

	while (level && levels[level - 1] != LEVEL_SOFTIRQ)
		level--;
	if (level != nr_levels || !level)
		note_unpaired();
	if (!level)
		return;
	nr_levels = level - 1;
	change(symbol);
}

void contexts_task(unsigned int context)
{
	task_context = context;
	change(NO_SYMBOL);
}

static void leave_all(void)
{
	if (nr_levels)
		note_unpaired();
	nr_levels = 0;
}

void contexts_switch(unsigned int context)
{
	leave_all();
	contexts_task(context);
}

void contexts_user(void)
{
	leave_all();
	change(NO_SYMBOL);
	tasks_user();
}
