/* SPDX-License-Identifier: MIT */
/* Regions: charged by whole pages when mapped, found again by address, and whose they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "umemcg.h"

#define PAGE       4096u
#define NR_REGIONS 3000u

static struct umemcg *group;

static int create_group(void **state)
{
	(void)state;
	return umemcg_create(NULL, NULL, &group);
}

/* Fails if a test left anything charged. */
static int destroy_group(void **state)
{
	(void)state;
	if (umemcg_get_current(group))
		return -1;
	return umemcg_destroy(group);
}

static uint64_t anon_of(struct umemcg *of)
{
	struct umemcg_stat stat;

	assert_int_equal(umemcg_get_stat(of, &stat), 0);
	return stat.nr_bytes_anon;
}

/* msync() of what is not mapped fails with ENOMEM. */
static int is_mapped(void *address)
{
	return msync(address, PAGE, MS_ASYNC) == 0;
}

static void a_region_is_charged_by_whole_pages_of_zeros(void **state)
{
	char *region = NULL;

	(void)state;
	assert_int_equal(umemcg_map(group, PAGE + 1, (void **)&region), 0);
	assert_int_equal(umemcg_get_current(group), 2 * PAGE);
	assert_int_equal(anon_of(group), 2 * PAGE);
	assert_int_equal(region[0] | region[2 * PAGE - 1], 0);
	region[0] = region[2 * PAGE - 1] = 1;
	assert_int_equal(umemcg_unmap(region), 0);
	assert_int_equal(umemcg_get_current(group), 0);
	assert_false(is_mapped(region));
}

static void a_region_that_does_not_fit_changes_nothing(void **state)
{
	void *region = NULL, *other = NULL;

	(void)state;
	assert_int_equal(umemcg_set_max(group, 4 * PAGE), 0);
	assert_int_equal(umemcg_map(group, 4 * PAGE + 1, &region), -ENOMEM);
	assert_int_equal(umemcg_map(group, SIZE_MAX, &region), -ENOMEM);
	assert_int_equal(umemcg_map(group, SIZE_MAX / 2, &region), -ENOMEM);
	assert_int_equal(umemcg_map(group, 0, &region), -EINVAL);
	assert_null(region);
	assert_int_equal(umemcg_get_current(group), 0);
	assert_int_equal(umemcg_map(group, 4 * PAGE, &region), 0);
	assert_int_equal(umemcg_map(group, 1, &other), -ENOMEM);
	assert_null(other);
	assert_int_equal(umemcg_unmap(region), 0);
}

static void only_the_address_of_a_whole_region_unmaps_it(void **state)
{
	char *region = NULL;
	void *stack;

	(void)state;
	assert_int_equal(umemcg_map(group, 2 * PAGE, (void **)&region), 0);
	assert_int_equal(umemcg_unmap(region + 1), -EINVAL);
	assert_int_equal(umemcg_unmap(region + PAGE), -EINVAL);
	assert_int_equal(umemcg_unmap(&region), -EINVAL);
	assert_int_equal(umemcg_get_current(group), 2 * PAGE);
	assert_int_equal(umemcg_unmap(region), 0);
	assert_int_equal(umemcg_unmap(region), -EINVAL);
	assert_int_equal(umemcg_stack_alloc(1 << 20, &stack), 0);
	assert_int_equal(umemcg_unmap(stack), -EINVAL);
	umemcg_stack_free(stack);
}

static void many_regions_are_each_given_back(void **state)
{
	static void *regions[NR_REGIONS];
	uint64_t sum = 0;

	(void)state;
	for (unsigned int i = 0; i < NR_REGIONS; i++) {
		assert_int_equal(umemcg_map(group, (i % 3 + 1) * PAGE, &regions[i]), 0);
		sum += (i % 3 + 1) * PAGE;
	}
	assert_int_equal(umemcg_get_current(group), sum);
	for (unsigned int i = 0; i < NR_REGIONS; i += 2)
		assert_int_equal(umemcg_unmap(regions[i]), 0);
	for (unsigned int i = 1; i < NR_REGIONS; i += 2) {
		sum = umemcg_get_current(group);
		assert_int_equal(umemcg_unmap(regions[i]), 0);
		assert_int_equal(sum - umemcg_get_current(group), (i % 3 + 1) * PAGE);
	}
}

static void a_region_outlives_its_group_and_is_its_parents(void **state)
{
	struct umemcg *child;
	char *region;

	(void)state;
	assert_int_equal(umemcg_create(group, NULL, &child), 0);
	assert_int_equal(umemcg_map(child, PAGE, (void **)&region), 0);
	assert_int_equal(umemcg_destroy(child), 0);
	region[0] = 1;
	assert_int_equal(anon_of(group), PAGE);
	assert_int_equal(umemcg_unmap(region), 0);
	assert_int_equal(umemcg_get_current(group), 0);
}

static void free_all_takes_own_and_inherited_regions_and_no_others(void **state)
{
	struct umemcg *heir, *child, *grandchild;
	void *own, *inherited, *inherited_twice, *below, *elsewhere;

	(void)state;
	assert_int_equal(umemcg_create(group, NULL, &heir), 0);
	assert_int_equal(umemcg_create(heir, NULL, &child), 0);
	assert_int_equal(umemcg_create(child, NULL, &grandchild), 0);
	assert_int_equal(umemcg_map(grandchild, PAGE, &inherited_twice), 0);
	assert_int_equal(umemcg_destroy(grandchild), 0);
	assert_int_equal(umemcg_map(child, PAGE, &inherited), 0);
	assert_int_equal(umemcg_destroy(child), 0);
	assert_int_equal(umemcg_map(heir, PAGE, &own), 0);
	assert_int_equal(umemcg_create(heir, NULL, &child), 0);
	assert_int_equal(umemcg_map(child, PAGE, &below), 0);
	assert_int_equal(umemcg_map(group, PAGE, &elsewhere), 0);

	assert_int_equal(umemcg_free_all(heir), 0);
	assert_false(is_mapped(own) || is_mapped(inherited) || is_mapped(inherited_twice));
	assert_true(is_mapped(below) && is_mapped(elsewhere));
	assert_int_equal(anon_of(heir), PAGE);
	assert_int_equal(umemcg_unmap(own), -EINVAL);
	assert_int_equal(umemcg_free_all(heir), 0);

	assert_int_equal(umemcg_free_all(child), 0);
	assert_int_equal(umemcg_destroy(child), 0);
	assert_int_equal(umemcg_destroy(heir), 0);
	assert_int_equal(umemcg_unmap(elsewhere), 0);
}

/* In the child of a fork: its copy of the tree and of the regions is its own. */
static int use_copy(void *region)
{
	struct umemcg_audit report;
	void *another;

	if (umemcg_get_current(group) != PAGE || umemcg_map(group, PAGE, &another))
		return 1;
	if (umemcg_get_current(group) != 2 * PAGE || umemcg_audit(&report))
		return 2;
	if (umemcg_unmap(region) || umemcg_unmap(another))
		return 3;
	return umemcg_get_current(group) ? 4 : 0;
}

static void a_forked_child_has_books_of_its_own(void **state)
{
	void *region;
	int status;
	pid_t child;

	(void)state;
	assert_int_equal(umemcg_map(group, PAGE, &region), 0);
	child = fork();
	if (!child)
		_exit(use_copy(region));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(umemcg_get_current(group), PAGE);
	assert_int_equal(umemcg_unmap(region), 0);
}

#define test_in_group(name) cmocka_unit_test_setup_teardown(name, create_group, destroy_group)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_group(a_region_is_charged_by_whole_pages_of_zeros),
		test_in_group(a_region_that_does_not_fit_changes_nothing),
		test_in_group(only_the_address_of_a_whole_region_unmaps_it),
		test_in_group(many_regions_are_each_given_back),
		test_in_group(a_region_outlives_its_group_and_is_its_parents),
		test_in_group(free_all_takes_own_and_inherited_regions_and_no_others),
		test_in_group(a_forked_child_has_books_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
