/* SPDX-License-Identifier: MIT */
/* The table of spans against a naive one, which has a word for each page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "spans.h"

#define NR_PAGES      512u
#define NR_OPERATIONS 300000u
#define NR_MANY       200000u

struct place {
	enum span_state state;
	uint32_t owner;
};

static struct place model[NR_PAGES];
static unsigned int seed = 1;

static unsigned int draw(unsigned int n)
{
	return (unsigned int)rand_r(&seed) % n;
}

static int prepare(void **state)
{
	(void)state;
	return spans_init();
}

static bool is_same(struct place a, struct place b)
{
	return a.state == b.state && a.owner == b.owner;
}

static void set_in_both(uint64_t start, uint64_t end, struct place place)
{
	assert_int_equal(spans_make_room(1), 0);
	spans_set(start << 12, end << 12, place.state, place.owner);
	for (uint64_t page = start; page < end; page++)
		model[page] = place;
}

/* The number of maximal runs of like pages, and that each is one span of the table. */
static uint64_t compare(void)
{
	uint64_t nr_bytes[NR_SPAN_STATES] = { 0 };
	uint64_t nr_runs = 0;
	uint64_t from = 0;
	struct span span;

	for (uint64_t page = 0, end; page < NR_PAGES; page = end) {
		for (end = page + 1; end < NR_PAGES && is_same(model[page], model[end]);)
			end++;
		if (model[page].state == SPAN_NONE)
			continue;
		nr_runs++;
		assert_true(spans_next(from, UINT64_MAX, &span));
		assert_int_equal(span.start, page << 12);
		assert_int_equal(span.end, end << 12);
		assert_int_equal(span.state, model[page].state);
		assert_int_equal(span.owner, model[page].owner);
		nr_bytes[span.state] += span.end - span.start;
		from = span.end;
	}
	assert_false(spans_next(from, UINT64_MAX, &span));
	for (enum span_state state = SPAN_RESERVED; state < NR_SPAN_STATES; state++)
		assert_int_equal(spans_nr_bytes(state), nr_bytes[state]);
	assert_int_equal(spans_nr(), nr_runs);
	return nr_runs;
}

static void random_changes_leave_what_a_page_array_has(void **state)
{
	uint64_t most = 0;

	(void)state;
	for (unsigned int i = 0; i < NR_OPERATIONS; i++) {
		uint64_t start = draw(NR_PAGES);
		uint64_t end = start + 1 + draw(draw(8) ? 4 : NR_PAGES);
		struct place place = { .state = draw(NR_SPAN_STATES) };

		if (place.state == SPAN_CHARGED)
			place.owner = 1 + draw(2);
		set_in_both(start, end < NR_PAGES ? end : NR_PAGES, place);
		if (i % 8 == 0) {
			uint64_t nr_runs = compare();

			most = nr_runs > most ? nr_runs : most;
		}
	}
	assert_true(most > NR_PAGES / 8);
	set_in_both(0, NR_PAGES, (struct place){ 0 });
	compare();
}

static void a_search_is_cut_down_to_its_range(void **state)
{
	struct span span;

	(void)state;
	set_in_both(10, 20, (struct place){ SPAN_CHARGED, 7 });
	assert_true(spans_next(12 << 12, 15 << 12, &span));
	assert_int_equal(span.start, 12 << 12);
	assert_int_equal(span.end, 15 << 12);
	assert_false(spans_next(0, 10 << 12, &span));
	assert_false(spans_next(20 << 12, UINT64_MAX, &span));
	assert_false(spans_next(15 << 12, 15 << 12, &span));
	set_in_both(10, 20, (struct place){ 0 });
}

static void neighbours_of_one_kind_become_one(void **state)
{
	(void)state;
	set_in_both(10, 20, (struct place){ SPAN_CHARGED, 7 });
	set_in_both(30, 40, (struct place){ SPAN_CHARGED, 7 });
	assert_int_equal(spans_nr(), 2);
	set_in_both(20, 30, (struct place){ SPAN_CHARGED, 7 });
	assert_int_equal(spans_nr(), 1);
	set_in_both(40, 50, (struct place){ SPAN_CHARGED, 8 });
	assert_int_equal(spans_nr(), 2);
	set_in_both(0, NR_PAGES, (struct place){ 0 });
	assert_int_equal(spans_nr(), 0);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Of the time for a change among @nr spans, in ascending order, which is the worst for a plain
 * tree. */
static uint64_t change_ns(uint64_t nr)
{
	uint64_t start;

	for (uint64_t i = 0; i < nr; i++) {
		assert_int_equal(spans_make_room(1), 0);
		spans_set(i << 13, (i << 13) + 4096, SPAN_RESERVED, 0);
	}
	assert_int_equal(spans_nr(), nr);
	start = now_ns();
	for (uint64_t i = 0; i < 20000; i++) {
		uint64_t at = (i * 7919 % nr) << 13;

		assert_int_equal(spans_make_room(1), 0);
		spans_set(at, at + 4096, i % 2 ? SPAN_RESERVED : SPAN_RELEASED, 0);
	}
	start = now_ns() - start;
	spans_set(0, nr << 13, SPAN_NONE, 0);
	assert_int_equal(spans_nr(), 0);
	return start / 20000;
}

static void a_change_among_many_is_no_walk(void **state)
{
	uint64_t few_ns = change_ns(1000);
	uint64_t many_ns = change_ns(NR_MANY);

	(void)state;
	print_message("a change: %lu ns among 1000 spans, %lu ns among %u\n", (unsigned long)few_ns,
		      (unsigned long)many_ns, NR_MANY);
	/* 200 times as many; twice the depth, and misses of the cache. */
	assert_true(many_ns < 40 * (few_ns + 50));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_changes_leave_what_a_page_array_has),
		cmocka_unit_test(a_search_is_cut_down_to_its_range),
		cmocka_unit_test(neighbours_of_one_kind_become_one),
		cmocka_unit_test(a_change_among_many_is_no_walk),
	};

	return cmocka_run_group_tests(tests, prepare, NULL);
}
