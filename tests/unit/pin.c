/* SPDX-License-Identifier: MIT */
/* Pins keep pages where they are, nest, and are all or nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "pages.h"
#include "touch.h"
#include "umemcg.h"
#include "user/source.h"

#define NR_PAGES 1200u

static struct umemcg *group;
static char *region;

static int map_region(void **state)
{
	(void)state;
	return umemcg_create(NULL, NULL, &group) ||
	       umemcg_map(group, NR_PAGES * PAGE, (void **)&region);
}

static int unmap_region(void **state)
{
	struct umemcg_audit report;

	(void)state;
	if (umemcg_audit(&report) || umemcg_unmap(region) || umemcg_get_current(group))
		return -1;
	return umemcg_destroy(group);
}

static bool is_present(unsigned int page)
{
	unsigned char is;

	assert_int_equal(mincore(region + (size_t)page * PAGE, PAGE, &is), 0);
	return is & 1;
}

static void a_pinned_range_is_present_whole(void **state)
{
	(void)state;
	assert_int_equal(umemcg_pin(region + 10 * PAGE - 1, 1000 * PAGE + 2), 0);
	for (unsigned int page = 9; page < 1011; page++)
		assert_true(is_present(page));
	assert_false(is_present(8) || is_present(1011));
	assert_int_equal(umemcg_unpin(region + 10 * PAGE - 1, 1000 * PAGE + 2), 0);
}

static void what_is_pinned_is_not_evicted(void **state)
{
	(void)state;
	memset(region, 0, 20 * PAGE);
	assert_int_equal(umemcg_pin(region + 5 * PAGE, 2 * PAGE), 0);
	assert_int_equal(umemcg_pin(region + 6 * PAGE, PAGE), 0);
	page_source->scan(group, UINT64_MAX);
	assert_true(is_present(5) && is_present(6));
	assert_false(is_present(4) || is_present(7));
	assert_int_equal(umemcg_unpin(region + 5 * PAGE, 2 * PAGE), 0);
	page_source->scan(group, UINT64_MAX);
	assert_true(is_present(6));
	assert_false(is_present(5));
	assert_int_equal(umemcg_unpin(region + 6 * PAGE, PAGE), 0);
	page_source->scan(group, UINT64_MAX);
	assert_false(is_present(6));
}

static void what_comes_back_for_a_pin_is_what_was_written(void **state)
{
	(void)state;
	for (unsigned int page = 0; page < 40; page++)
		memset(region + page * PAGE, page + 1, PAGE);
	page_source->scan(group, UINT64_MAX);
	assert_int_equal(umemcg_pin(region, 40 * PAGE), 0);
	for (unsigned int page = 0; page < 40; page++)
		assert_int_equal(region[page * PAGE + page], (char)(page + 1));
	assert_int_equal(umemcg_unpin(region, 40 * PAGE), 0);
}

static void a_pin_that_does_not_fit_pins_nothing(void **state)
{
	(void)state;
	assert_int_equal(umemcg_set_max(group, 100 * PAGE), 0);
	assert_int_equal(umemcg_pin(region, 200 * PAGE), -ENOMEM);
	assert_int_equal(umemcg_unpin(region, PAGE), -EINVAL);
	assert_int_equal(umemcg_pin(region + 500 * PAGE, 80 * PAGE), 0);
	assert_true(umemcg_get_peak(group) <= 100 * PAGE);
	assert_int_equal(umemcg_unpin(region + 500 * PAGE, 80 * PAGE), 0);
}

static void a_range_that_is_not_of_a_region_is_refused(void **state)
{
	char local = 0;

	(void)state;
	assert_int_equal(umemcg_pin(&local, 1), -EINVAL);
	assert_int_equal(umemcg_pin(region, NR_PAGES * PAGE + 1), -EINVAL);
	assert_int_equal(umemcg_pin(region + PAGE, NR_PAGES * PAGE), -EINVAL);
	assert_int_equal(umemcg_pin(region - 1, 2), -EINVAL);
	assert_int_equal(umemcg_pin(region + PAGE, SIZE_MAX), -EINVAL);
	assert_int_equal(umemcg_unpin(region, PAGE), -EINVAL);
	assert_int_equal(umemcg_pin(region, PAGE), 0);
	assert_int_equal(umemcg_unpin(region, 2 * PAGE), -EINVAL);
	assert_int_equal(umemcg_unpin(region, PAGE), 0);
	assert_int_equal(umemcg_unpin(region, PAGE), -EINVAL);
}

#define test_region(name) cmocka_unit_test_setup_teardown(name, map_region, unmap_region)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_region(a_pinned_range_is_present_whole),
		test_region(what_is_pinned_is_not_evicted),
		test_region(what_comes_back_for_a_pin_is_what_was_written),
		test_region(a_pin_that_does_not_fit_pins_nothing),
		test_region(a_range_that_is_not_of_a_region_is_refused),
	};

	if (!touch_is_possible())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
