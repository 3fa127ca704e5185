/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/explain_calls.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/explain_row.h"

struct call_difference {
	const char *caller; /* these belong to the profiles */
	const char *callee;
	double base_calls; /* in one operation, as the next two */
	double other_calls;
	double added;
};

struct calls {
	struct call_difference *calls; /* sorted by callee, then by caller */
	size_t nr_calls;
};

static int by_callee(const void *a, const void *b)
{
	const struct call_difference *left = a, *right = b;
	int order = strcmp(left->callee, right->callee);

	return order ? order : strcmp(left->caller, right->caller);
}

static int by_added(const void *a, const void *b)
{
	const struct call_difference *left = a, *right = b;
	double one = fabs(left->added), other = fabs(right->added);

	return one != other ? (one < other) - (one > other) : strcmp(left->caller, right->caller);
}

/* Appends one side's calls, as a base if @is_base. */
static void append(struct calls *calls, const struct bench_profile *profile, double each,
		   bool is_base)
{
	for (size_t i = 0; i < profile->nr_calls; i++) {
		const struct bench_call *call = &profile->calls[i];
		double nr_calls = (double)call->nr_calls / each, count = (double)call->count / each;

		calls->calls[calls->nr_calls++] = (struct call_difference){
			.caller = call->caller,
			.callee = call->callee,
			.base_calls = is_base ? nr_calls : 0,
			.other_calls = is_base ? 0 : nr_calls,
			.added = is_base ? -count : count,
		};
	}
}

static void merge(struct calls *calls)
{
	size_t nr_merged = 0;

	if (calls->nr_calls)
		qsort(calls->calls, calls->nr_calls, sizeof(*calls->calls), by_callee);
	for (size_t i = 0; i < calls->nr_calls; i++) {
		struct call_difference *call = &calls->calls[i], *merged;

		if (!nr_merged || by_callee(&calls->calls[nr_merged - 1], call)) {
			calls->calls[nr_merged++] = *call;
			continue;
		}
		merged = &calls->calls[nr_merged - 1];
		merged->base_calls += call->base_calls;
		merged->other_calls += call->other_calls;
		merged->added += call->added;
	}
	calls->nr_calls = nr_merged;
}

/* The calls of one symbol; *ret_nr_calls is 0 if nobody was seen to call it. */
static struct call_difference *calls_of(const struct calls *calls, const char *callee,
					size_t *ret_nr_calls)
{
	size_t low = 0, high = calls->nr_calls, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(calls->calls[middle].callee, callee) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < calls->nr_calls && !strcmp(calls->calls[end].callee, callee);)
		end++;
	*ret_nr_calls = end - low;
	return &calls->calls[low];
}

static void print_callers(FILE *out, struct call_difference *calls, size_t nr_calls)
{
	double all = 0, explained = 0, base_calls = 0, other_calls = 0;
	size_t shown = 0;
	char more[64];

	qsort(calls, nr_calls, sizeof(*calls), by_added);
	for (size_t i = 0; i < nr_calls; i++)
		all += fabs(calls[i].added);
	for (; shown < nr_calls && difference_is_needed(explained, all); shown++) {
		explain_name(out, "  ", calls[shown].caller, "");
		explain_number(out, calls[shown].base_calls, 2, false);
		explain_number(out, calls[shown].other_calls, 2, false);
		explain_number(out, calls[shown].added, 1, true);
		fputc('\n', out);
		explained += fabs(calls[shown].added);
	}
	if (shown == nr_calls)
		return;
	explained = 0;
	for (size_t i = shown; i < nr_calls; i++) {
		base_calls += calls[i].base_calls;
		other_calls += calls[i].other_calls;
		explained += calls[i].added;
	}
	snprintf(more, sizeof(more), "%zu more", nr_calls - shown);
	explain_name(out, "  ", more, "");
	explain_number(out, base_calls, 2, false);
	explain_number(out, other_calls, 2, false);
	explain_number(out, explained, 1, true);
	fputc('\n', out);
}

int explain_calls_print(FILE *out, const struct profile_difference *difference, double base_each,
			double other_each)
{
	size_t nr_all = difference->base->nr_calls + difference->other->nr_calls;
	struct calls calls = { calloc(nr_all + 1, sizeof(*calls.calls)), 0 };

	if (!calls.calls)
		return -ENOMEM;
	if (!nr_all)
		fputs("\ncalled from: calls were not counted\n", out);
	append(&calls, difference->base, base_each, true);
	append(&calls, difference->other, other_each, false);
	merge(&calls);
	if (nr_all)
		explain_head(out, "called from; added with all that it calls", "base", "calls",
			     "added");
	for (size_t i = 0; nr_all && i < difference->nr_explaining; i++) {
		const char *name = difference->sorted[i]->name;
		size_t nr_calls;
		struct call_difference *callers = calls_of(&calls, name, &nr_calls);

		fprintf(out, "%s%s\n", name, nr_calls ? "" : ": no caller was seen");
		print_callers(out, callers, nr_calls);
	}
	free(calls.calls);
	return 0;
}
