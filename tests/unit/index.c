/* SPDX-License-Identifier: MIT */
/* The index: what was added is found, what was removed is not, also while it grows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/index.h"
#include "base/table.h"

#define NR_ROWS 20000u

struct item {
	uint32_t next_free;
	uint32_t link;
	uint64_t key;
};

static struct table table;
static struct index by_key;

/* Page addresses, as the library's keys mostly are, from one end or the other of the range. */
static uint64_t key_number(uint32_t i)
{
	return i % 2 ? (uint64_t)i << 12 : ~((uint64_t)i << 12);
}

static struct item *item_of(uint32_t row)
{
	return table_row(&table, row);
}

static void add(uint64_t key)
{
	uint32_t row = table_get(&table);

	assert_int_not_equal(row, 0);
	item_of(row)->key = key;
	index_add(&by_key, row);
}

static void remove_key(uint64_t key)
{
	uint32_t row = index_find(&by_key, key);

	assert_int_not_equal(row, 0);
	index_remove(&by_key, row);
	table_put(&table, row);
}

static int prepare(void **state)
{
	(void)state;
	return table_init(&table, sizeof(struct item), 1u << 20, NULL) ||
	       index_init(&by_key, &table, offsetof(struct item, key), offsetof(struct item, link));
}

static void an_empty_index_finds_nothing(void **state)
{
	(void)state;
	assert_int_equal(index_find(&by_key, 0), 0);
	assert_int_equal(index_find(&by_key, UINT64_MAX), 0);
}

static void every_row_is_found_while_the_index_grows(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < NR_ROWS; i++) {
		add(key_number(i));
		assert_int_not_equal(index_find(&by_key, key_number(i / 2)), 0);
	}
	for (uint32_t i = 0; i < NR_ROWS; i++) {
		uint32_t row = index_find(&by_key, key_number(i));

		assert_int_not_equal(row, 0);
		assert_int_equal(item_of(row)->key, key_number(i));
	}
	assert_int_equal(index_find(&by_key, key_number(NR_ROWS)), 0);
	for (uint32_t i = 0; i < NR_ROWS; i++)
		remove_key(key_number(i));
}

static void a_removed_row_is_gone_and_its_neighbours_stay(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < NR_ROWS; i++)
		add(key_number(i));
	for (uint32_t i = 0; i < NR_ROWS; i += 3)
		remove_key(key_number(i));
	for (uint32_t i = 0; i < NR_ROWS; i++)
		assert_int_equal(index_find(&by_key, key_number(i)) != 0, i % 3 != 0);
	for (uint32_t i = 0; i < NR_ROWS; i += 3)
		add(key_number(i));
	for (uint32_t i = 0; i < NR_ROWS; i++)
		remove_key(key_number(i));
	assert_int_equal(by_key.nr_rows, 0);
}

static void rows_that_share_a_key_are_all_found(void **state)
{
	enum { NR_SHARING = 5, NR_REMOVED = 2 };
	const uint64_t shared = key_number(7);
	uint32_t row, nr = 0;

	(void)state;
	for (uint32_t i = 0; i < NR_ROWS; i++)
		add(i < NR_SHARING ? shared : key_number(i + 8));
	for (row = index_find(&by_key, shared); row; row = index_next(&by_key, row)) {
		assert_int_equal(item_of(row)->key, shared);
		nr++;
	}
	assert_int_equal(nr, NR_SHARING);
	for (; nr > NR_REMOVED; nr--)
		remove_key(shared);
	for (row = index_find(&by_key, shared); row; row = index_next(&by_key, row))
		nr--;
	assert_int_equal(nr, 0);
	for (uint32_t i = 0; i < NR_REMOVED; i++)
		remove_key(shared);
	assert_int_equal(index_find(&by_key, shared), 0);
	for (uint32_t i = NR_SHARING; i < NR_ROWS; i++)
		remove_key(key_number(i + 8));
	assert_int_equal(by_key.nr_rows, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_index_finds_nothing),
		cmocka_unit_test(every_row_is_found_while_the_index_grows),
		cmocka_unit_test(a_removed_row_is_gone_and_its_neighbours_stay),
		cmocka_unit_test(rows_that_share_a_key_are_all_found),
	};

	return cmocka_run_group_tests(tests, prepare, NULL);
}
