/* SPDX-License-Identifier: MIT */
/* Memory given back while its addresses stay, and what is found of it later. */
#include <errno.h>

#include "fixture.h"
#include "touched.h"

static void released_memory_is_given_back_once(void **state)
{
	char *start = map(LENGTH, WRITABLE);

	(void)state;
	advise(start + PAGE, 4 * PAGE, MADV_DONTNEED);
	assert_pages(NR_PAGES - 4);
	advise(start + PAGE, 5 * PAGE, MADV_DONTNEED);
	assert_pages(NR_PAGES - 5);
	unmap(start, 3 * PAGE);
	assert_pages(NR_PAGES - 6);
	protect(start + 3 * PAGE, PAGE, PROT_READ | PROT_WRITE);
	assert_pages(NR_PAGES - 5);
	advise(start + 3 * PAGE, 2 * PAGE, MADV_WILLNEED);
	assert_pages(NR_PAGES - 4);
	unmap(start, LENGTH);
	assert_pages(0);
}

static void memory_that_may_be_freed_is_freed_and_given_back(void **state)
{
	char *start = map(LENGTH, WRITABLE);

	(void)state;
	start[0] = 1;
	advise(start, LENGTH, MADV_FREE);
	assert_pages(0);
	assert_int_equal(start[0], 0);
	unmap(start, LENGTH);
}

static void released_memory_is_charged_when_it_is_found_touched(void **state)
{
	char *start = map(LENGTH, WRITABLE);

	(void)state;
	/* A huge page would be found whole. */
	madvise(start, LENGTH, MADV_NOHUGEPAGE);
	advise(start, LENGTH, MADV_DONTNEED);
	assert_int_equal(touched_find(UINT64_MAX), 0);
	assert_pages(0);
	start[0] = start[3 * PAGE] = start[4 * PAGE] = 1;
	assert_int_equal(touched_find(UINT64_MAX), 0);
	assert_pages(3);
	assert_int_equal(touched_find(UINT64_MAX), 0);
	assert_pages(3);
	advise(start, 4 * PAGE, MADV_DONTNEED);
	assert_pages(1);
	unmap(start, LENGTH);
}

static void nothing_is_admitted_beside_touched_memory_that_does_not_fit(void **state)
{
	char *start = map(LENGTH, WRITABLE);
	char *other;

	(void)state;
	advise(start, LENGTH, MADV_DONTNEED);
	assert_int_equal(umemcg_set_max(group, LENGTH), 0);
	other = map(LENGTH, WRITABLE);
	start[0] = 1;
	assert_int_equal(touched_find(UINT64_MAX), -ENOMEM);
	unmap(other, PAGE / 2);
	start[PAGE] = 1;
	assert_ptr_equal(mappings_map(NULL, PAGE, WRITABLE, -1, 0), MAP_FAILED);
	/* What can be written already is not refused. */
	protect(other + PAGE, PAGE, PROT_READ);
	protect(other + PAGE, PAGE, PROT_READ | PROT_WRITE);
	unmap(start, LENGTH);
	start = map(PAGE, WRITABLE);
	unmap(start, PAGE);
	unmap(other, LENGTH);
	assert_int_equal(umemcg_set_max(group, UMEMCG_MAX), 0);
}

static void released_memory_stays_charged_where_it_is_to_be_kept(void **state)
{
	char *start = map(LENGTH, WRITABLE);

	(void)state;
	mappings_ops.keeps_released = true;
	advise(start, LENGTH, MADV_DONTNEED);
	advise(start, LENGTH, MADV_FREE);
	assert_pages(NR_PAGES);
	mappings_ops.keeps_released = false;
	unmap(start, LENGTH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROMISE(released_memory_is_given_back_once),
		PROMISE(memory_that_may_be_freed_is_freed_and_given_back),
		PROMISE(released_memory_is_charged_when_it_is_found_touched),
		PROMISE(nothing_is_admitted_beside_touched_memory_that_does_not_fit),
		PROMISE(released_memory_stays_charged_where_it_is_to_be_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
