/* SPDX-License-Identifier: MIT */
/* The audit finds each kind of what is alive, whose it is, and the byte by which the books are off.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "group/group.h"
#include "umemcg.h"

#define NR_OBJECTS 1000
#define MIB        ((uint64_t)1 << 20)

static struct umemcg *group;

static int enter_group(void **state)
{
	(void)state;
	if (umemcg_create(NULL, NULL, &group))
		return -1;
	umemcg_enter(group);
	return 0;
}

static int leave_group(void **state)
{
	struct umemcg_audit report;

	(void)state;
	umemcg_enter(NULL);
	if (umemcg_audit(&report) || umemcg_free_all(group))
		return -1;
	return umemcg_destroy(group);
}

static void every_object_is_found_and_counted_once(void **state)
{
	struct umemcg_audit before, report;
	uint64_t nr_bytes = 0;
	void *object = NULL;

	(void)state;
	assert_int_equal(umemcg_audit(&before), 0);
	for (size_t i = 0; i < NR_OBJECTS; i++) {
		object = umemcg_malloc(i * i % 100000);
		assert_non_null(object);
		nr_bytes += umemcg_usable_size(object);
	}
	assert_int_equal(umemcg_audit(&report), 0);
	assert_int_equal(report.nr_objects - before.nr_objects, NR_OBJECTS);
	assert_int_equal(report.nr_bytes_walked - before.nr_bytes_walked, nr_bytes);
	assert_int_equal(report.nr_bytes_charged - before.nr_bytes_charged, nr_bytes);
	umemcg_free(object);
	assert_int_equal(umemcg_audit(&report), 0);
	assert_int_equal(report.nr_objects - before.nr_objects, NR_OBJECTS - 1);
}

static void what_a_dead_group_left_is_found_at_its_heir(void **state)
{
	struct umemcg_audit report;
	struct umemcg *child;
	void *region;

	(void)state;
	assert_int_equal(umemcg_create(group, NULL, &child), 0);
	umemcg_enter(child);
	assert_non_null(umemcg_malloc(100));
	assert_int_equal(umemcg_map(child, 1, &region), 0);
	umemcg_enter(group);
	assert_int_equal(umemcg_destroy(child), 0);
	assert_int_equal(umemcg_audit(&report), 0);
	assert_null(report.worst);
}

/* One byte too many in the books of one kind, then one too few. */
static void check_finds_a_byte(_Atomic uint64_t *book)
{
	for (int i = 0; i < 2; i++) {
		uint64_t wrong = i ? (uint64_t)-1 : 1;
		struct umemcg_audit report = { 0 };
		int r;

		atomic_fetch_add(book, wrong);
		r = umemcg_audit(&report);
		atomic_fetch_sub(book, wrong);
		assert_int_equal(r, -EUCLEAN);
		assert_ptr_equal(report.worst, group);
		/* Slab is the rest: a byte too many elsewhere is one too few there. */
		assert_in_range(report.nr_bytes_difference, 1, 2);
	}
}

static void a_byte_that_is_off_is_found_with_its_group(void **state)
{
	void *region, *stack;

	(void)state;
	assert_non_null(umemcg_malloc(100));
	assert_int_equal(umemcg_map(group, MIB, &region), 0);
	assert_int_equal(umemcg_stack_alloc(MIB, &stack), 0);
	check_finds_a_byte(&group->nr_bytes_anon);
	check_finds_a_byte(&group->nr_bytes_stack);
	umemcg_stack_free(stack);
}

#define test_in_group(name) cmocka_unit_test_setup_teardown(name, enter_group, leave_group)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_group(every_object_is_found_and_counted_once),
		test_in_group(what_a_dead_group_left_is_found_at_its_heir),
		test_in_group(a_byte_that_is_off_is_found_with_its_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
