/* SPDX-License-Identifier: MIT */
/* The end of a tenant: all that its group owns goes, wherever it came from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "umemcg.h"

static struct umemcg *create(struct umemcg *parent)
{
	struct umemcg *group;

	assert_int_equal(umemcg_create(parent, NULL, &group), 0);
	return group;
}

static uint64_t current_drained(struct umemcg *group)
{
	umemcg_drain(group);
	return umemcg_get_current(group);
}

static void assert_books_balance(void)
{
	struct umemcg_audit audit;

	assert_int_equal(umemcg_audit(&audit), 0);
}

static void fill(struct umemcg *group)
{
	for (size_t nr_bytes = 16; nr_bytes < 300000; nr_bytes = nr_bytes * 3 + 16)
		assert_non_null(umemcg_malloc_in(group, nr_bytes));
}

/* More owners than are credited together, and on two levels. */
static void what_was_inherited_goes_too(void **state)
{
	struct umemcg *parent = create(NULL), *other = create(NULL), *middle = create(parent);
	void *kept = umemcg_malloc_in(other, 100), *kept_large = umemcg_malloc_in(other, 200000);
	uint64_t nr_bytes_kept = umemcg_usable_size(kept) + umemcg_usable_size(kept_large);
	void *region;

	(void)state;
	for (unsigned int i = 0; i < 300; i++) {
		struct umemcg *child = create(i % 2 ? parent : middle);

		fill(child);
		assert_int_equal(umemcg_map(child, 8192, &region), 0);
		assert_int_equal(umemcg_destroy(child), 0);
	}
	fill(middle);
	fill(parent);
	assert_int_equal(umemcg_destroy(middle), 0);
	assert_int_equal(umemcg_free_all(parent), 0);
	assert_int_equal(current_drained(parent), 0);
	assert_int_equal(current_drained(other), nr_bytes_kept);
	assert_books_balance();
	umemcg_free(kept);
	umemcg_free(kept_large);
	assert_int_equal(umemcg_destroy(parent), 0);
	assert_int_equal(umemcg_destroy(other), 0);
}

static void what_groups_below_own_stays(void **state)
{
	struct umemcg *parent = create(NULL), *child = create(parent), *gone = create(parent);
	void *kept = umemcg_malloc_in(child, 1000), *kept_large = umemcg_malloc_in(child, 100000);

	(void)state;
	memset(kept, 1, 1000);
	memset(kept_large, 1, 100000);
	fill(gone);
	assert_int_equal(umemcg_destroy(gone), 0);
	assert_int_equal(umemcg_free_all(parent), 0);
	assert_int_equal(current_drained(parent),
			 umemcg_usable_size(kept) + umemcg_usable_size(kept_large));
	assert_ptr_equal(umemcg_owner(kept), child);
	umemcg_free(kept);
	umemcg_free(kept_large);
	assert_books_balance();
	assert_int_equal(umemcg_destroy(child), 0);
	assert_int_equal(umemcg_destroy(parent), 0);
}

static void caches_know_that_their_objects_are_gone(void **state)
{
	struct umemcg *parent = create(NULL), *group = create(parent), *other = create(NULL);
	struct umemcg_cache *small, *large;
	void *kept;

	(void)state;
	assert_int_equal(umemcg_cache_create("small", 40, 0, NULL, &small), 0);
	assert_int_equal(umemcg_cache_create("large", 100000, 0, NULL, &large), 0);
	umemcg_enter(group);
	for (unsigned int i = 0; i < 100; i++) {
		memset(umemcg_cache_alloc(small), 0xff, 40);
		memset(umemcg_cache_alloc(large), 0xff, 100000);
		memset(umemcg_malloc(40), 0xff, 40);
	}
	umemcg_enter(other);
	kept = umemcg_cache_alloc(small);
	umemcg_enter(NULL);
	assert_int_equal(umemcg_destroy(group), 0);
	assert_int_equal(umemcg_free_all(parent), 0);
	assert_int_equal(umemcg_cache_destroy(large), 0);
	assert_int_equal(umemcg_cache_destroy(small), -EBUSY);
	umemcg_cache_free(small, kept);
	assert_int_equal(umemcg_cache_destroy(small), 0);
	/* What was a cache's once is so no more. */
	for (unsigned int i = 0; i < 100; i++)
		assert_non_null(umemcg_malloc_in(parent, 48));
	assert_int_equal(umemcg_cache_create("next", 40, 0, NULL, &small), 0);
	assert_int_equal(umemcg_free_all(parent), 0);
	assert_int_equal(umemcg_cache_destroy(small), 0);
	assert_books_balance();
	assert_int_equal(umemcg_destroy(other), 0);
	assert_int_equal(umemcg_destroy(parent), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_inherited_goes_too),
		cmocka_unit_test(what_groups_below_own_stays),
		cmocka_unit_test(caches_know_that_their_objects_are_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
