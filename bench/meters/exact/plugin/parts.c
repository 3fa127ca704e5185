/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "contexts.h"
#include "failure.h"
#include "parts.h"

static struct part *parts[PARTS_ID_MAX + 1];
static struct part *open_part;

/* Totals in task context at the last mark, and interrupts since. */
static struct count_iteration before;
static uint64_t nr_interrupts;

bool parts_open(void)
{
	return open_part != NULL;
}

const struct part *parts_at(unsigned int id)
{
	return parts[id];
}

void parts_interrupt(void)
{
	if (!open_part)
		return;
	open_part->nr_interrupts++;
	nr_interrupts++;
}

static struct count_iteration totals_now(void)
{
	return (struct count_iteration){
		.nr_kernel = counters_total(COUNT_TASK, BANK_KERNEL),
		.nr_user = counters_total(COUNT_TASK, BANK_USER),
		.nr_interrupts = 0,
	};
}

static void iteration(void)
{
	struct count_iteration now;

	if (!open_part)
		return;
	now = totals_now();
	open_part->iterations = allocate_next(open_part->iterations, open_part->nr_iterations,
					      sizeof(*open_part->iterations));
	open_part->iterations[open_part->nr_iterations++] = (struct count_iteration){
		.nr_kernel = now.nr_kernel - before.nr_kernel,
		.nr_user = now.nr_user - before.nr_user,
		.nr_interrupts = nr_interrupts,
	};
	before = now;
	nr_interrupts = 0;
}

static void leave(struct part *part)
{
	counters_book(COUNT_TASK);
	part->sums = counters_collect(&part->nr_sums);
	calls_close();
}

static void enter(struct part *part)
{
	part->nr_entered++;
	counters_open();
	counters_restore(part->sums, part->nr_sums);
	free(part->sums);
	part->sums = NULL;
	part->nr_sums = 0;
	calls_open(&part->calls);
	before = totals_now();
	nr_interrupts = 0;
}

void parts_mark(unsigned int id)
{
	/* It is in user space that marks are executed, so this is the context, whatever was. */
	contexts_user();
	if (id == UMEMCG_MARK_ITERATION_ID) {
		iteration();
		return;
	}
	if (open_part)
		leave(open_part);
	open_part = NULL;
	if (!id)
		return;
	if (!parts[id])
		parts[id] = allocate(1, sizeof(*parts[id]));
	open_part = parts[id];
	enter(open_part);
}
