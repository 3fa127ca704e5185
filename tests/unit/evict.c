/* SPDX-License-Identifier: MIT */
/* Eviction: what was written comes back, whatever is full, and the books follow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compressor_path.h"
#include "pages.h"
#include "touch.h"
#include "umemcg.h"
#include "user/region.h"
#include "user/source.h"

#define NR_PAGES 1024u
#define MAX      (NR_PAGES / 4 * PAGE)

static struct umemcg *parent, *group;
static char *region;
static bool is_compressing;

static int map_region(void **state)
{
	(void)state;
	if (umemcg_set_swap("/tmp", 1 << 30) || umemcg_create(NULL, NULL, &parent) ||
	    umemcg_create(parent, NULL, &group) || umemcg_set_max(group, MAX))
		return -1;
	return umemcg_map(group, NR_PAGES * PAGE, (void **)&region);
}

static int unmap_region(void **state)
{
	struct umemcg_audit report;

	(void)state;
	if (umemcg_audit(&report) || (region && umemcg_unmap(region)))
		return -1;
	if (umemcg_get_current(parent) || umemcg_destroy(group) || umemcg_destroy(parent))
		return -1;
	return umemcg_set_swap(NULL, 0);
}

static void write_page(unsigned int page, enum test_page kind)
{
	char bytes[PAGE];

	test_page_make(bytes, kind, page + 1);
	memcpy(region + (size_t)page * PAGE, bytes, PAGE);
}

static void expect_page(unsigned int page, enum test_page kind)
{
	char bytes[PAGE];

	test_page_make(bytes, kind, page + 1);
	assert_memory_equal(region + (size_t)page * PAGE, bytes, PAGE);
}

static void every_page_reads_as_it_was_written(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (unsigned int page = 0; page < NR_PAGES; page++)
		write_page(page, page % NR_TEST_PAGES);
	for (unsigned int page = 0; page < NR_PAGES; page++)
		expect_page(page, page % NR_TEST_PAGES);
	for (unsigned int i = 0; i < 2 * NR_PAGES; i++) {
		unsigned int page = test_random(&random) % NR_PAGES;

		expect_page(page, page % NR_TEST_PAGES);
	}
	assert_true(umemcg_get_peak(group) <= MAX);
}

static void a_page_that_was_never_written_comes_back_as_zeros(void **state)
{
	(void)state;
	for (unsigned int page = 0; page < NR_PAGES; page++)
		assert_int_equal(region[(size_t)page * PAGE + page], 0);
	for (unsigned int page = 0; page < NR_PAGES; page++)
		expect_page(page, TEST_PAGE_ZERO);
}

/* New pages are refused; old ones can be read and written, in any order. */
static void with_a_full_file_only_new_pages_are_refused(void **state)
{
	unsigned int nr_written = 0;
	char bytes[PAGE];
	uint64_t random = 7;

	(void)state;
	assert_int_equal(umemcg_set_swap("/tmp", 200 * PAGE), 0);
	for (; nr_written < NR_PAGES; nr_written++) {
		test_page_make(bytes, TEST_PAGE_RANDOM, nr_written + 1);
		if (!touch_write_page(region + (size_t)nr_written * PAGE, bytes, PAGE))
			break;
	}
	assert_in_range(nr_written, 400, MAX / PAGE + 200);
	for (unsigned int round = 0; round < 3 * NR_PAGES; round++) {
		unsigned int page = test_random(&random) % nr_written;

		expect_page(page, TEST_PAGE_RANDOM);
		write_page(page, TEST_PAGE_RANDOM);
	}
	assert_false(touch_try(region + (size_t)nr_written * PAGE, 1));
	for (unsigned int page = 0; page < nr_written; page++)
		expect_page(page, TEST_PAGE_RANDOM);
	assert_true(umemcg_get_peak(group) <= MAX);
}

static void what_is_evicted_is_given_back(void **state)
{
	uint64_t before, count, freed;

	(void)state;
	for (unsigned int page = 0; page < 100; page++)
		write_page(page, TEST_PAGE_RANDOM);
	before = umemcg_get_current(group);
	count = page_source->count(group);
	assert_in_range(count, 100 * PAGE, before);
	freed = page_source->scan(group, 10 * PAGE);
	assert_in_range(freed, 10 * PAGE, 50 * PAGE);
	assert_int_equal(umemcg_get_current(group), before - freed);
	assert_int_equal(page_source->count(group), count - freed);
	assert_int_equal(page_source->count(parent), 0);
	assert_int_equal(page_source->scan(parent, PAGE), 0);
	page_source->scan(group, UINT64_MAX);
	assert_int_equal(page_source->count(group), 0);
	for (unsigned int page = 0; page < 100; page++)
		expect_page(page, TEST_PAGE_RANDOM);
}

/* Of every second page below 64. */
static unsigned int nr_resident(unsigned int first)
{
	unsigned char is_there[64];
	unsigned int nr = 0;

	assert_int_equal(mincore(region, sizeof(is_there) * PAGE, is_there), 0);
	for (unsigned int page = first; page < 64; page += 2)
		nr += is_there[page] & 1;
	return nr;
}

/* Also if the hand comes to them right behind pages that go. Downwards, so that each is alone. */
static void pages_that_came_back_are_spared_once(void **state)
{
	(void)state;
	for (int page = 62; page >= 0; page -= 2)
		write_page(page, TEST_PAGE_RANDOM);
	page_source->scan(group, UINT64_MAX);
	assert_int_equal(nr_resident(0), 0);
	for (int page = 62; page >= 0; page -= 2)
		expect_page(page, TEST_PAGE_RANDOM);
	for (int page = 63; page >= 0; page -= 2)
		write_page(page, TEST_PAGE_RANDOM);
	assert_int_equal(page_source->scan(group, 8 * PAGE), 8 * PAGE);
	assert_int_equal(nr_resident(0), 32);
	assert_int_equal(nr_resident(1), 24);
}

/* Two regions take turns, so that none of them bears it alone. */
static void regions_of_a_group_take_turns(void **state)
{
	char *other;

	(void)state;
	assert_int_equal(umemcg_map(group, 64 * PAGE, (void **)&other), 0);
	for (unsigned int page = 0; page < 64; page++) {
		write_page(page, TEST_PAGE_RANDOM);
		other[page * PAGE] = 1;
	}
	for (unsigned int i = 0; i < 4; i++)
		assert_true(page_source->scan(group, PAGE) >= PAGE);
	for (unsigned int i = 0; i < 2; i++) {
		struct region *next;

		assert_true(region_next_of(group, &next));
		assert_non_null(next);
		/* relaxed: nobody else is there. */
		assert_in_range(atomic_load_explicit(&next->hand, memory_order_relaxed), 1, 63);
		region_put(next);
	}
	assert_int_equal(umemcg_unmap(other), 0);
}

static void pages_of_a_group_that_is_gone_are_its_parents(void **state)
{
	(void)state;
	for (unsigned int page = 0; page < NR_PAGES; page++)
		write_page(page, TEST_PAGE_RANDOM);
	assert_int_equal(umemcg_destroy(group), 0);
	assert_int_equal(umemcg_create(parent, NULL, &group), 0);
	assert_int_equal(umemcg_set_max(parent, MAX), 0);
	for (unsigned int page = 0; page < NR_PAGES; page++)
		expect_page(page, TEST_PAGE_RANDOM);
	assert_true(page_source->scan(parent, PAGE) >= PAGE);
	for (unsigned int page = 0; page < NR_PAGES; page++)
		expect_page(page, TEST_PAGE_RANDOM);
}

/* And a region that nothing was charged for but its row still knows whose it is. */
static void an_untouched_region_follows_its_groups_heir(void **state)
{
	(void)state;
	assert_int_equal(umemcg_destroy(group), 0);
	assert_int_equal(umemcg_create(parent, NULL, &group), 0);
	region[0] = 1;
	assert_int_equal(umemcg_get_current(group), 0);
	assert_in_range(umemcg_get_current(parent), PAGE, 4 * PAGE);
}

static void pages_that_the_program_dropped_can_be_evicted(void **state)
{
	(void)state;
	for (unsigned int page = 0; page < 64; page++)
		write_page(page, TEST_PAGE_RANDOM);
	for (unsigned int page = 1; page < 64; page += 2)
		assert_int_equal(madvise(region + (size_t)page * PAGE, PAGE, MADV_DONTNEED), 0);
	/* By a touch, in the handler of a signal; and by a call. */
	for (unsigned int page = 64; page < NR_PAGES / 2; page++)
		write_page(page, TEST_PAGE_RANDOM);
	for (unsigned int page = 64; page < NR_PAGES / 2; page++)
		expect_page(page, TEST_PAGE_RANDOM);
	assert_int_equal(madvise(region + 128 * PAGE, PAGE, MADV_DONTNEED), 0);
	umemcg_reclaim(group, MAX);
	for (unsigned int page = 0; page < 64; page += 2) {
		expect_page(page, TEST_PAGE_RANDOM);
		assert_int_equal(region[(page + 1) * PAGE], 0);
	}
}

static uint64_t count_page(struct umemcg *its, void *arg)
{
	(void)arg;
	return its == group ? 16 * PAGE : 0;
}

/* A cache that looks at a region for what it gives back. */
static uint64_t give_and_touch(struct umemcg *its, uint64_t nr_bytes, void *arg)
{
	unsigned int *nr_scans = arg;

	(void)nr_bytes;
	if (its != group || *nr_scans)
		return 0;
	++*nr_scans;
	umemcg_uncharge(group, 16 * PAGE);
	region[(NR_PAGES - 1) * PAGE] = 1;
	return 16 * PAGE;
}

static void a_shrinker_that_a_touch_calls_may_touch_too(void **state)
{
	static const struct umemcg_shrinker_ops ops = { count_page, give_and_touch };
	struct umemcg_shrinker *shrinker;
	unsigned int nr_scans = 0;
	char bytes[PAGE];

	(void)state;
	assert_int_equal(umemcg_set_swap(NULL, 0), 0);
	assert_int_equal(umemcg_shrinker_register(group, &ops, &nr_scans, 0, &shrinker), 0);
	assert_int_equal(umemcg_try_charge(group, 16 * PAGE), 0);
	for (unsigned int page = 0; page < NR_PAGES - 1 && !nr_scans; page++) {
		test_page_make(bytes, TEST_PAGE_RANDOM, page + 1);
		assert_true(touch_write_page(region + (size_t)page * PAGE, bytes, PAGE));
	}
	assert_int_equal(nr_scans, 1);
	assert_int_equal(region[(NR_PAGES - 1) * PAGE], 1);
	umemcg_shrinker_unregister(shrinker);
}

static void free_all_takes_stored_pages_too(void **state)
{
	char text[64];

	(void)state;
	for (unsigned int page = 0; page < NR_PAGES; page++)
		write_page(page, TEST_PAGE_RANDOM);
	assert_int_equal(umemcg_free_all(group), 0);
	region = NULL;
	assert_int_equal(umemcg_get_current(group), 0);
	assert_true(umemcg_read(group, "memory.swap.current", text, sizeof(text)) > 0);
	assert_int_equal(strtoull(text, NULL, 10), 0);
}

static void compressed_pages_stay_charged(void **state)
{
	(void)state;
	if (!is_compressing)
		skip();
	assert_int_equal(umemcg_set_swap(NULL, 0), 0);
	for (unsigned int page = 0; page < MAX / PAGE + 40; page++)
		write_page(page, TEST_PAGE_TEXT);
	assert_true(umemcg_get_peak(group) <= MAX);
	for (unsigned int page = 0; page < MAX / PAGE + 40; page++)
		expect_page(page, TEST_PAGE_TEXT);
}

#define test_region(name) cmocka_unit_test_setup_teardown(name, map_region, unmap_region)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_region(every_page_reads_as_it_was_written),
		test_region(a_page_that_was_never_written_comes_back_as_zeros),
		test_region(with_a_full_file_only_new_pages_are_refused),
		test_region(what_is_evicted_is_given_back),
		test_region(pages_that_came_back_are_spared_once),
		test_region(regions_of_a_group_take_turns),
		test_region(pages_of_a_group_that_is_gone_are_its_parents),
		test_region(an_untouched_region_follows_its_groups_heir),
		test_region(pages_that_the_program_dropped_can_be_evicted),
		test_region(a_shrinker_that_a_touch_calls_may_touch_too),
		test_region(free_all_takes_stored_pages_too),
		test_region(compressed_pages_stay_charged),
	};

	if (!touch_is_possible())
		return 77;
	if (touch_prepare())
		return 1;
	is_compressing = !load_compressor();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
