/* SPDX-License-Identifier: MIT */
/* Whose an object is, and what becomes of that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resident.h"
#include "umemcg.h"

static uint64_t slab_bytes(const struct umemcg *group)
{
	struct umemcg_stat stat;

	assert_int_equal(umemcg_get_stat(group, &stat), 0);
	return stat.nr_bytes_slab;
}

static struct umemcg *create(struct umemcg *parent)
{
	struct umemcg *group;

	assert_int_equal(umemcg_create(parent, NULL, &group), 0);
	return group;
}

static void assert_audit(uint64_t nr_objects)
{
	struct umemcg_audit audit;

	assert_int_equal(umemcg_audit(&audit), 0);
	assert_int_equal(audit.nr_objects, nr_objects);
}

static int leave_group(void **state)
{
	(void)state;
	umemcg_enter(NULL);
	return 0;
}

static void an_object_is_charged_what_it_has_room_for(void **state)
{
	struct umemcg *group = create(NULL);

	(void)state;
	umemcg_enter(group);
	for (size_t nr_bytes = 0; nr_bytes < 400000; nr_bytes = nr_bytes * 5 / 4 + 1) {
		void *object = umemcg_malloc(nr_bytes);

		assert_int_equal(slab_bytes(group), umemcg_usable_size(object));
		object = umemcg_realloc(object, 2 * nr_bytes + 1);
		assert_int_equal(slab_bytes(group), umemcg_usable_size(object));
		object = umemcg_realloc(object, nr_bytes / 3 + 1);
		assert_int_equal(slab_bytes(group), umemcg_usable_size(object));
		umemcg_free(object);
		assert_int_equal(slab_bytes(group), 0);
	}
	umemcg_enter(NULL);
	assert_int_equal(umemcg_destroy(group), 0);
}

static void a_resized_object_stays_its_owners(void **state)
{
	struct umemcg *group = create(NULL), *other = create(NULL);
	void *object = umemcg_malloc_in(group, 100);

	(void)state;
	umemcg_enter(other);
	for (size_t nr_bytes = 100; nr_bytes < 3000000; nr_bytes *= 3) {
		object = umemcg_realloc(object, nr_bytes);
		assert_ptr_equal(umemcg_owner(object), group);
	}
	assert_int_equal(slab_bytes(other), 0);
	umemcg_free(object);
	assert_int_equal(slab_bytes(group), 0);
	umemcg_enter(NULL);
	umemcg_destroy(group);
	umemcg_destroy(other);
}

static void a_refused_allocation_charges_nothing(void **state)
{
	static const size_t sizes[] = { 20, 300, 4000, 60000, 100000, 1000000 };
	struct umemcg *group = create(NULL);
	void *kept;

	(void)state;
	umemcg_enter(group);
	kept = umemcg_malloc(1000);
	umemcg_set_max(group, umemcg_usable_size(kept));
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		errno = 0;
		assert_null(umemcg_malloc(sizes[i]));
		assert_int_equal(errno, ENOMEM);
		assert_null(umemcg_calloc(sizes[i], 1));
		assert_null(umemcg_aligned_alloc(64, sizes[i]));
		assert_null(umemcg_realloc(kept, sizes[i] + 2000));
		assert_int_equal(umemcg_get_current(group), umemcg_usable_size(kept));
	}
	assert_audit(1);
	umemcg_free(kept);
	umemcg_enter(NULL);
	assert_int_equal(umemcg_destroy(group), 0);
}

static void objects_of_a_dead_group_are_its_parents(void **state)
{
	struct umemcg *parent = create(NULL), *group = create(parent);
	void *small = umemcg_malloc_in(group, 50), *large = umemcg_malloc_in(group, 500000);
	uint64_t nr_bytes = umemcg_usable_size(small) + umemcg_usable_size(large);

	(void)state;
	assert_int_equal(umemcg_destroy(group), 0);
	assert_ptr_equal(umemcg_owner(small), parent);
	assert_ptr_equal(umemcg_owner(large), parent);
	assert_int_equal(slab_bytes(parent), nr_bytes);
	small = umemcg_realloc(small, 900);
	large = umemcg_realloc(large, 2000000);
	assert_audit(2);
	assert_int_equal(slab_bytes(parent), umemcg_usable_size(small) + umemcg_usable_size(large));
	umemcg_free(small);
	umemcg_free(large);
	assert_int_equal(slab_bytes(parent), 0);
	assert_int_equal(umemcg_destroy(parent), 0);
}

static void recharging_moves_the_charge_or_changes_nothing(void **state)
{
	static const size_t sizes[] = { 40, 700, 20000, 200000 };
	struct umemcg *from = create(NULL), *to = create(NULL);

	(void)state;
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		void *object = umemcg_malloc_in(from, sizes[i]),
		     *other = umemcg_malloc_in(from, 40);
		uint64_t nr_bytes = umemcg_usable_size(object);

		umemcg_set_max(to, nr_bytes - 1);
		assert_int_equal(umemcg_recharge(object, to), -ENOMEM);
		assert_ptr_equal(umemcg_owner(object), from);
		umemcg_set_max(to, nr_bytes);
		assert_int_equal(umemcg_recharge(object, to), 0);
		assert_ptr_equal(umemcg_owner(object), to);
		assert_ptr_equal(umemcg_owner(other), from);
		assert_int_equal(slab_bytes(to), nr_bytes);
		assert_int_equal(slab_bytes(from), umemcg_usable_size(other));
		assert_int_equal(umemcg_recharge(object, to), 0);
		assert_audit(2);
		umemcg_free(other);
		umemcg_free(object);
		assert_int_equal(slab_bytes(to), 0);
	}
	umemcg_destroy(from);
	umemcg_destroy(to);
}

/* Kept objects end up in pages of their own, in shared ones, and in large runs. */
static void recharging_changes_nothing_above_both(void **state)
{
	static const size_t sizes[] = { 100, 5000, 400000 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct umemcg *parent = create(NULL), *from = create(parent), *to = create(parent);
		void *object = umemcg_malloc_in(from, sizes[i]);
		uint64_t nr_bytes = umemcg_usable_size(object), peak = umemcg_get_peak(parent);

		assert_int_equal(umemcg_set_max(parent, nr_bytes), 0);
		assert_int_equal(umemcg_recharge(object, to), 0);
		assert_ptr_equal(umemcg_owner(object), to);
		assert_int_equal(slab_bytes(to), nr_bytes);
		assert_int_equal(slab_bytes(from), 0);
		assert_int_equal(umemcg_get_peak(parent), peak);
		assert_int_equal(umemcg_destroy(to), 0);
		assert_int_equal(umemcg_recharge(object, to), -EINVAL);
		umemcg_free(object);
		assert_audit(0);
		assert_int_equal(umemcg_destroy(from), 0);
		assert_int_equal(umemcg_destroy(parent), 0);
	}
}

static void a_size_that_no_heap_has_room_for_leaves_the_peak(void **state)
{
	static const size_t sizes[] = { (size_t)1 << 45, (size_t)1 << 62, PTRDIFF_MAX - 70000 };
	struct umemcg *group = create(NULL);
	void *object, *large;
	uint64_t peak;

	(void)state;
	umemcg_enter(group);
	object = umemcg_malloc(64);
	large = umemcg_malloc(1 << 20);
	peak = umemcg_get_peak(group);
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		errno = 0;
		assert_null(umemcg_malloc(sizes[i]));
		assert_int_equal(errno, ENOMEM);
		assert_null(umemcg_aligned_alloc(1 << 20, sizes[i]));
		assert_null(umemcg_realloc(object, sizes[i]));
		assert_null(umemcg_realloc(large, sizes[i]));
	}
	assert_null(umemcg_aligned_alloc((size_t)1 << 60, 64));
	assert_int_equal(umemcg_get_peak(group), peak);
	umemcg_free(object);
	umemcg_free(large);
	umemcg_enter(NULL);
	assert_int_equal(umemcg_destroy(group), 0);
}

static void free_all_ends_a_tenant_and_no_other(void **state)
{
	enum { NR_GROUPS = 100, NR_OBJECTS = 60 };
	static struct umemcg *groups[NR_GROUPS];
	static void *objects[NR_GROUPS][NR_OBJECTS];

	(void)state;
	for (unsigned int i = 0; i < NR_GROUPS; i++) {
		groups[i] = create(NULL);
		umemcg_enter(groups[i]);
		for (unsigned int j = 0; j < NR_OBJECTS; j++) {
			objects[i][j] = umemcg_malloc(j % 20 ? j * 50 : 70000 + j);
			memset(objects[i][j], i, 8);
		}
	}
	umemcg_enter(NULL);
	assert_audit(NR_GROUPS * NR_OBJECTS);
	for (unsigned int i = 0; i < NR_GROUPS; i += 2) {
		assert_int_equal(umemcg_free_all(groups[i]), 0);
		assert_int_equal(slab_bytes(groups[i]), 0);
		assert_int_equal(umemcg_destroy(groups[i]), 0);
	}
	assert_audit(NR_GROUPS / 2 * NR_OBJECTS);
	for (unsigned int i = 1; i < NR_GROUPS; i += 2) {
		for (unsigned int j = 0; j < NR_OBJECTS; j++) {
			assert_int_equal(*(uint8_t *)objects[i][j], i);
			umemcg_free(objects[i][j]);
		}
		assert_int_equal(slab_bytes(groups[i]), 0);
		assert_int_equal(umemcg_destroy(groups[i]), 0);
	}
	assert_audit(0);
}

static void many_groups_with_few_objects_cost_little_more_than_their_objects(void **state)
{
	enum { NR_GROUPS = 10000, NR_OBJECTS = 10, NR_BYTES = 64 };
	static struct umemcg *groups[NR_GROUPS];
	struct umemcg *one = create(NULL);
	static void *objects[NR_GROUPS][NR_OBJECTS];
	size_t nr_start, nr_one, nr_many;

	(void)state;
	for (unsigned int i = 0; i < NR_GROUPS; i++) {
		groups[i] = create(NULL);
		for (unsigned int j = 0; j < NR_OBJECTS; j++)
			objects[i][j] = groups[i];
	}
	nr_start = resident_bytes();
	umemcg_enter(one);
	for (unsigned int i = 0; i < NR_GROUPS * NR_OBJECTS; i++)
		memset(umemcg_malloc(NR_BYTES), 1, NR_BYTES);
	nr_one = resident_bytes() - nr_start;
	for (unsigned int i = 0; i < NR_GROUPS; i++) {
		umemcg_enter(groups[i]);
		for (unsigned int j = 0; j < NR_OBJECTS; j++) {
			objects[i][j] = umemcg_malloc(NR_BYTES);
			memset(objects[i][j], 1, NR_BYTES);
		}
	}
	nr_many = resident_bytes() - nr_start - nr_one;
	umemcg_enter(NULL);
	print_message("one group %zu KiB, many groups %zu KiB\n", nr_one >> 10, nr_many >> 10);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
	if (!CONFIG_HARDENED)
		assert_true(nr_many <= nr_one + nr_one * 3 / 10);
#endif
	for (unsigned int i = 0; i < NR_GROUPS; i++) {
		for (unsigned int j = 0; j < NR_OBJECTS; j++)
			umemcg_free(objects[i][j]);
		assert_int_equal(umemcg_destroy(groups[i]), 0);
	}
	umemcg_free_all(one);
	assert_int_equal(umemcg_destroy(one), 0);
	assert_audit(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* First, so that it does not live on what others have freed. */
		cmocka_unit_test_teardown(
			many_groups_with_few_objects_cost_little_more_than_their_objects,
			leave_group),
		cmocka_unit_test_teardown(an_object_is_charged_what_it_has_room_for, leave_group),
		cmocka_unit_test_teardown(a_resized_object_stays_its_owners, leave_group),
		cmocka_unit_test_teardown(a_refused_allocation_charges_nothing, leave_group),
		cmocka_unit_test_teardown(objects_of_a_dead_group_are_its_parents, leave_group),
		cmocka_unit_test_teardown(recharging_moves_the_charge_or_changes_nothing,
					  leave_group),
		cmocka_unit_test_teardown(recharging_changes_nothing_above_both, leave_group),
		cmocka_unit_test_teardown(a_size_that_no_heap_has_room_for_leaves_the_peak,
					  leave_group),
		cmocka_unit_test_teardown(free_all_ends_a_tenant_and_no_other, leave_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
