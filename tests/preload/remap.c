/* SPDX-License-Identifier: MIT */
/* What mremap moves stays whose it is; what it adds is charged. */
#include "fixture.h"

static void what_is_moved_stays_charged_and_what_grows_is_added(void **state)
{
	char *room = map(4 * LENGTH, NO_MEMORY);
	char *start = map(LENGTH, WRITABLE);
	char *moved;

	(void)state;
	moved = mappings_remap(start, LENGTH, LENGTH + PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, room);
	assert_ptr_equal(moved, room);
	assert_pages(NR_PAGES + 1);
	assert_ptr_equal(mappings_remap(moved, LENGTH + PAGE, PAGE, 0, NULL), moved);
	assert_pages(1);
	/* Over what is charged: that is given back. */
	start = map(LENGTH, WRITABLE);
	assert_pages(NR_PAGES + 1);
	assert_ptr_equal(mappings_remap(moved, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, start),
			 start);
	assert_pages(NR_PAGES);
	unmap(start, LENGTH);
	assert_pages(0);
	unmap(room, 4 * LENGTH);
}

static void a_reservation_grows_as_one(void **state)
{
	char *start = map(LENGTH, NO_MEMORY);

	(void)state;
	start = mappings_remap(start, LENGTH, 2 * LENGTH, MREMAP_MAYMOVE, NULL);
	assert_ptr_not_equal(start, MAP_FAILED);
	assert_pages(0);
	protect(start, 2 * LENGTH, PROT_READ | PROT_WRITE);
	assert_pages(2 * NR_PAGES);
	unmap(start, 2 * LENGTH);
}

static void what_released_memory_grows_by_is_charged(void **state)
{
	char *start = map(LENGTH, WRITABLE);

	(void)state;
	advise(start, LENGTH, MADV_DONTNEED);
	start = mappings_remap(start, LENGTH, LENGTH + PAGE, MREMAP_MAYMOVE, NULL);
	assert_ptr_not_equal(start, MAP_FAILED);
	assert_pages(1);
	unmap(start, LENGTH + PAGE);
}

static void what_is_moved_away_leaves_released_addresses(void **state)
{
	char *start = map(LENGTH, WRITABLE);
	char *moved =
		mappings_remap(start, LENGTH, LENGTH, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);

	(void)state;
	assert_ptr_not_equal(moved, MAP_FAILED);
	assert_pages(NR_PAGES);
	protect(start, PAGE, PROT_READ | PROT_WRITE);
	assert_pages(NR_PAGES + 1);
	unmap(start, LENGTH);
	assert_pages(NR_PAGES);
	unmap(moved, LENGTH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROMISE(what_is_moved_stays_charged_and_what_grows_is_added),
		PROMISE(a_reservation_grows_as_one),
		PROMISE(what_released_memory_grows_by_is_charged),
		PROMISE(what_is_moved_away_leaves_released_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
