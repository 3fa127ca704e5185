/* SPDX-License-Identifier: MIT */
/* The compressor: found beside the library, right about what it says, and not needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "compressor_path.h"
#include "pages.h"

static bool is_built;

static int init(void **state)
{
	(void)state;
	/* First of all: what is no compressor is not used. */
	if (compressor_load("/nowhere/libumemcg-lz4.so") != -ENOENT ||
	    compressor_load("libc.so.6") != -EINVAL || compressor_is_there())
		return -1;
	is_built = !load_compressor();
	return scratch_init(PAGE);
}

static void needs_compressor(void)
{
	if (!is_built)
		skip();
}

static void a_page_that_shrinks_comes_back(void **state)
{
	char page[PAGE], back[PAGE];

	(void)state;
	needs_compressor();
	for (uint64_t seed = 1; seed < 100; seed++)
		for (enum test_page kind = TEST_PAGE_ZERO; kind <= TEST_PAGE_HALF; kind++) {
			struct scratch *scratch = scratch_get();
			size_t nr_bytes;

			test_page_make(page, kind, seed);
			nr_bytes = compressor_compress(scratch, page, PAGE / 4 * 3);
			assert_in_range(nr_bytes, 1, PAGE / 4 * 3);
			assert_true(compressor_decompress(scratch, nr_bytes, back));
			scratch_put(scratch);
			assert_memory_equal(back, page, PAGE);
		}
}

static void a_page_that_does_not_shrink_is_refused(void **state)
{
	char page[PAGE];

	(void)state;
	needs_compressor();
	for (enum test_page kind = TEST_PAGE_MOSTLY; kind <= TEST_PAGE_RANDOM; kind++) {
		struct scratch *scratch = scratch_get();

		test_page_make(page, kind, 1);
		assert_int_equal(compressor_compress(scratch, page, PAGE / 4 * 3), 0);
		scratch_put(scratch);
	}
}

static void what_was_not_compressed_is_noticed(void **state)
{
	struct scratch *scratch;
	char page[PAGE];

	(void)state;
	needs_compressor();
	scratch = scratch_get();
	memset(scratch_buffer(scratch), 0xff, PAGE);
	assert_false(compressor_decompress(scratch, 1000, page));
	scratch_put(scratch);
}

static void scratch_areas_are_one_thread_s_at_a_time(void **state)
{
	struct scratch *first = scratch_get(), *second = scratch_get();

	(void)state;
	assert_ptr_not_equal(first, second);
	assert_ptr_not_equal(scratch_buffer(first), scratch_buffer(second));
	scratch_put(first);
	assert_ptr_equal(scratch_get(), first);
	scratch_put(first);
	scratch_put(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_that_shrinks_comes_back),
		cmocka_unit_test(a_page_that_does_not_shrink_is_refused),
		cmocka_unit_test(what_was_not_compressed_is_noticed),
		cmocka_unit_test(scratch_areas_are_one_thread_s_at_a_time),
	};

	return cmocka_run_group_tests(tests, init, NULL);
}
