/* SPDX-License-Identifier: MIT */
/* The pool: what is put comes back, and takes the pages that its bytes need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pages.h"
#include "user/pool.h"

#define NR_OBJECTS 4000u
#define NR_OWNERS  3u
#define NR_STEPS   100000u
#define ACCOUNT    7u

struct object {
	uint32_t row; /* 0: not stored */
	uint32_t owner;
	uint32_t seed;
	uint32_t nr_bytes;
};

static struct object objects[NR_OBJECTS];
static uint64_t nr_pages_taken[NR_OWNERS], nr_bytes_stored;
static struct pool pool;

static int init_pool(void **state)
{
	(void)state;
	return pool_init(PAGE);
}

/* Bytes of an object, told by its seed. */
static void make_object(const struct object *object, unsigned char bytes[PAGE])
{
	for (uint32_t i = 0; i < object->nr_bytes; i++)
		bytes[i] = (unsigned char)(object->seed + i * 31);
}

static void put(struct object *object, uint32_t owner, uint32_t nr_bytes)
{
	unsigned char bytes[PAGE];
	uint32_t nr_pages = 99;

	*object = (struct object){ .owner = owner, .seed = rand(), .nr_bytes = nr_bytes };
	make_object(object, bytes);
	assert_int_equal(
		pool_put(&pool, ACCOUNT, owner, bytes, nr_bytes, true, &object->row, &nr_pages), 0);
	assert_true(nr_pages <= 1);
	nr_pages_taken[owner] += nr_pages;
	nr_bytes_stored += nr_bytes;
}

static void check(const struct object *object)
{
	unsigned char expected[PAGE], found[PAGE];

	make_object(object, expected);
	assert_int_equal(pool_get(object->row, found), object->nr_bytes);
	assert_memory_equal(found, expected, object->nr_bytes);
	assert_int_equal(pool_account(object->row), ACCOUNT);
}

static void free_object(struct object *object)
{
	struct pool_change freed;

	check(object);
	pool_free(&pool, object->row, &freed);
	assert_int_equal(freed.account, ACCOUNT);
	assert_int_equal(freed.owner, object->owner);
	assert_true(freed.nr_pages <= nr_pages_taken[object->owner]);
	nr_pages_taken[object->owner] -= freed.nr_pages;
	nr_bytes_stored -= object->nr_bytes;
	object->row = 0;
}

static void add_taken(const struct pool_change *taken, void *arg)
{
	uint64_t *sums = arg;

	assert_true(taken->owner < NR_OWNERS);
	sums[taken->owner] += taken->nr_pages;
}

static void check_sums(void)
{
	uint64_t sums[NR_OWNERS] = { 0 };

	pool_walk(add_taken, sums);
	assert_memory_equal(sums, nr_pages_taken, sizeof(sums));
}

static void free_everything(void)
{
	for (unsigned int i = 0; i < NR_OBJECTS; i++)
		if (objects[i].row)
			free_object(&objects[i]);
	assert_int_equal(nr_bytes_stored, 0);
	for (unsigned int i = 0; i < NR_OWNERS; i++)
		assert_int_equal(nr_pages_taken[i], 0);
	check_sums();
	assert_int_equal(pool.nr_blocks, 0);
	assert_int_equal(pool.first_open, 0);
}

/* Any order of puts and frees, while the number of objects swells and shrinks. */
static void what_is_put_comes_back_whatever_happens_between(void **state)
{
	(void)state;
	srand(1);
	for (unsigned int step = 0; step < NR_STEPS; step++) {
		struct object *object = &objects[(unsigned int)rand() % NR_OBJECTS];
		bool shrinks = step / 20000 % 2;

		if (object->row && (shrinks || rand() % 4 == 0))
			free_object(object);
		else if (object->row)
			check(object);
		else if (!shrinks || rand() % 8 == 0)
			put(object, rand() % NR_OWNERS, 1 + rand() % pool_largest());
		if (step % 5000 == 0)
			check_sums();
	}
	free_everything();
}

/* A block's last page is half empty on average, and each object has a head and is rounded. */
static void objects_take_hardly_more_than_their_bytes(void **state)
{
	uint64_t nr_pages = 0;

	(void)state;
	srand(2);
	for (unsigned int round = 0; round < 20; round++)
		for (unsigned int i = 0; i < NR_OBJECTS; i++) {
			if (!objects[i].row)
				put(&objects[i], 0, 200 + rand() % 2800);
			else if (rand() % 4 == 0)
				free_object(&objects[i]);
		}
	nr_pages = nr_pages_taken[0];
	print_message("%llu bytes stored take %llu: %.1f %% more\n",
		      (unsigned long long)nr_bytes_stored, (unsigned long long)nr_pages * PAGE,
		      100.0 * nr_pages * PAGE / nr_bytes_stored - 100);
	assert_true(nr_pages * PAGE < nr_bytes_stored + nr_bytes_stored / 12);
	free_everything();
}

/* One left of each block's: they come together. */
static void sparse_blocks_are_merged(void **state)
{
	uint64_t nr_pages;

	(void)state;
	for (unsigned int i = 0; i < NR_OBJECTS; i++)
		put(&objects[i], 0, 1000);
	for (unsigned int i = 0; i < NR_OBJECTS; i++)
		if (i % 64)
			free_object(&objects[i]);
	nr_pages = (nr_bytes_stored + NR_OBJECTS / 64 * 16) / PAGE + 1;
	assert_in_range(nr_pages_taken[0], nr_pages, nr_pages * 2);
	free_everything();
}

static int put_without_growing(uint32_t nr_bytes, uint32_t *ret_row)
{
	const unsigned char bytes[PAGE] = { 0 };
	uint32_t nr_pages = 0;
	int r = pool_put(&pool, ACCOUNT, 0, bytes, nr_bytes, false, ret_row, &nr_pages);

	assert_int_equal(nr_pages, 0);
	return r;
}

static void a_pool_that_may_not_grow_takes_what_fits(void **state)
{
	struct pool_change freed;
	uint32_t row;

	(void)state;
	assert_int_equal(put_without_growing(100, &row), -ENOSPC);
	put(&objects[0], 0, 3000);
	assert_int_equal(nr_pages_taken[0], 1);
	assert_int_equal(put_without_growing(2000, &row), -ENOSPC);
	assert_int_equal(put_without_growing(900, &row), 0);
	pool_free(&pool, row, &freed);
	assert_int_equal(freed.nr_pages, 0);
	free_everything();
}

static void words_take_a_row_alone(void **state)
{
	uint32_t first = pool_put_word(UINT64_MAX), second = pool_put_word(1);

	(void)state;
	assert_true(first && second && first != second);
	assert_true(pool_get_word(first) == UINT64_MAX && pool_get_word(second) == 1);
	pool_free_word(first);
	assert_true(pool_get_word(second) == 1);
	pool_free_word(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_put_comes_back_whatever_happens_between),
		cmocka_unit_test(objects_take_hardly_more_than_their_bytes),
		cmocka_unit_test(sparse_blocks_are_merged),
		cmocka_unit_test(a_pool_that_may_not_grow_takes_what_fits),
		cmocka_unit_test(words_take_a_row_alone),
	};

	return cmocka_run_group_tests(tests, init_pool, NULL);
}
