/* SPDX-License-Identifier: MIT */
/* Where the instructions of a part and of what it put off were, and who called whom. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "meters/exact/exact_figures.h"

/* Of a caller that was not seen, and of code without a symbol. */
#define UNKNOWN "[unknown]"

/* Room for a symbol of each part, and one more. */
static size_t nr_symbols_max(const struct exact_profiled *parts)
{
	return parts->work->nr_symbols + (parts->grace ? parts->grace->nr_symbols : 0) + 1;
}

static const struct count_symbol *find_symbol(const struct count_part *part,
					      const struct count_symbol *like)
{
	size_t low = 0, high = part ? part->nr_symbols : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (part->symbols[middle].address < like->address)
			low = middle + 1;
		else
			high = middle;
	}
	/* More than one may have no address. */
	for (; part && low < part->nr_symbols && part->symbols[low].address == like->address;
	     low++) {
		if (!strcmp(part->symbols[low].name, like->name))
			return &part->symbols[low];
	}
	return NULL;
}

static uint64_t deferred_of(const struct count_part *part, const struct count_symbol *like)
{
	const struct count_symbol *symbol = find_symbol(part, like);

	return symbol ? symbol->nr_instructions[COUNT_DEFERRED] : 0;
}

/* As the figure "put off" has it: whether it is done soon or in the grace period is chance. */
static uint64_t put_off(const struct exact_profiled *parts, const struct count_symbol *like)
{
	uint64_t done = deferred_of(parts->work, like) + deferred_of(parts->grace, like);
	uint64_t quiet = parts->grace ? deferred_of(parts->quiet, like) : 0;

	return done > quiet ? done - quiet : 0;
}

static int add_symbol(struct exact_profile *profile, const struct count_symbol *counted,
		      uint64_t nr_instructions)
{
	struct exact_symbol *symbol = &profile->symbols[profile->nr_symbols];

	if (!nr_instructions || exact_is_meters_own(counted))
		return 0;
	*symbol = (struct exact_symbol){ .address = counted->address,
					 .user = counted->user,
					 .name = strdup(counted->name),
					 .nr_instructions = nr_instructions };
	if (!symbol->name)
		return -ENOMEM;
	profile->nr_symbols++;
	return 0;
}

static int compare_symbols(const void *left, const void *right)
{
	const struct exact_symbol *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int read_symbols(const struct exact_profiled *parts, struct exact_profile *profile)
{
	const struct count_part *work = parts->work, *grace = parts->grace;
	int ret = 0;

	profile->symbols = calloc(nr_symbols_max(parts), sizeof(*profile->symbols));
	if (!profile->symbols)
		return -ENOMEM;
	for (size_t i = 0; i < work->nr_symbols && !ret; i++) {
		const struct count_symbol *counted = &work->symbols[i];

		profile->nr_interrupts += counted->nr_instructions[COUNT_INTERRUPT];
		profile->nr_idle += counted->nr_instructions[COUNT_IDLE];
		ret = add_symbol(profile, counted,
				 counted->nr_instructions[COUNT_TASK] + put_off(parts, counted));
	}
	for (size_t i = 0; grace && i < grace->nr_symbols && !ret; i++) {
		if (!find_symbol(work, &grace->symbols[i]))
			ret = add_symbol(profile, &grace->symbols[i],
					 put_off(parts, &grace->symbols[i]));
	}
	qsort(profile->symbols, profile->nr_symbols, sizeof(*profile->symbols), compare_symbols);
	return ret;
}

static int by_address(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left;
	uint64_t b = ((const struct exact_symbol *)right)->address;

	return a < b ? -1 : a > b;
}

static const char *name_of(const struct exact_profile *profile, uint64_t address)
{
	const struct exact_symbol *symbol =
		address ? bsearch(&address, profile->symbols, profile->nr_symbols,
				  sizeof(*profile->symbols), by_address)
			: NULL;

	return symbol ? symbol->name : UNKNOWN;
}

static int by_names(const void *left, const void *right)
{
	const struct exact_call *a = left, *b = right;
	int order = strcmp(a->caller, b->caller);

	return order ? order : strcmp(a->callee, b->callee);
}

/* Functions of one name are one to whoever reads it, so that their calls are added up. */
static int read_calls(const struct count_part *part, struct exact_profile *profile)
{
	size_t nr_calls = 0;

	profile->calls = calloc(part->nr_calls + 1, sizeof(*profile->calls));
	if (!profile->calls)
		return -ENOMEM;
	for (size_t i = 0; i < part->nr_calls; i++) {
		const struct count_call *call = &part->calls[i];

		profile->calls[i] = (struct exact_call){ .caller = name_of(profile, call->caller),
							 .callee = name_of(profile, call->callee),
							 .nr_calls = call->nr_calls,
							 .nr_instructions = call->nr_instructions };
	}
	qsort(profile->calls, part->nr_calls, sizeof(*profile->calls), by_names);
	for (size_t i = 0; i < part->nr_calls; i++) {
		struct exact_call *last = &profile->calls[nr_calls ? nr_calls - 1 : 0];

		if (nr_calls && !by_names(last, &profile->calls[i])) {
			last->nr_calls += profile->calls[i].nr_calls;
			last->nr_instructions += profile->calls[i].nr_instructions;
		} else {
			profile->calls[nr_calls++] = profile->calls[i];
		}
	}
	profile->nr_calls = nr_calls;
	return 0;
}

int exact_profile_read(const struct exact_profiled *parts, struct exact_profile *ret_profile)
{
	struct exact_profile profile = { 0 };
	int ret = read_symbols(parts, &profile);

	if (!ret)
		ret = read_calls(parts->work, &profile);
	if (ret) {
		exact_profile_fini(&profile);
		return ret;
	}
	*ret_profile = profile;
	return 0;
}

void exact_profile_fini(struct exact_profile *profile)
{
	for (size_t i = 0; i < profile->nr_symbols; i++)
		free(profile->symbols[i].name);
	free(profile->symbols);
	free(profile->calls);
	*profile = (struct exact_profile){ 0 };
}
