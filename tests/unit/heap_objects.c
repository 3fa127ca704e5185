/* SPDX-License-Identifier: MIT */
/* Objects as C and POSIX promise them, whichever way the library is built. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kmem/run.h"
#include "resident.h"
#include "umemcg.h"

#define LARGEST_SMALL ((size_t)64 << 10)

static bool is_filled(const uint8_t *bytes, size_t nr_bytes, uint8_t value)
{
	for (size_t i = 0; i < nr_bytes; i++) {
		if (bytes[i] != value)
			return false;
	}
	return true;
}

static void objects_of_every_size_are_apart_and_aligned(void **state)
{
	enum { NR = 3 };

	(void)state;
	for (size_t nr_bytes = 0; nr_bytes < 70000; nr_bytes += 1 + nr_bytes / 37) {
		uint8_t *objects[NR];

		for (unsigned int i = 0; i < NR; i++) {
			objects[i] = umemcg_malloc(nr_bytes);
			assert_non_null(objects[i]);
			assert_int_equal((uintptr_t)objects[i] % 16, 0);
			assert_true(umemcg_usable_size(objects[i]) >= nr_bytes);
			memset(objects[i], i, umemcg_usable_size(objects[i]));
		}
		for (unsigned int i = 0; i < NR; i++) {
			assert_true(is_filled(objects[i], umemcg_usable_size(objects[i]), i));
			umemcg_free(objects[i]);
		}
	}
}

static void a_block_is_at_most_a_quarter_too_large(void **state)
{
	(void)state;
	for (size_t nr_bytes = 128; nr_bytes < 5 * LARGEST_SMALL; nr_bytes += 97) {
		void *object = umemcg_malloc(nr_bytes);

		assert_true(umemcg_usable_size(object) <= nr_bytes + nr_bytes / 4);
		umemcg_free(object);
	}
}

static void objects_of_no_size_are_all_different(void **state)
{
	void *one = umemcg_malloc(0), *other = umemcg_calloc(0, 8);

	(void)state;
	assert_non_null(one);
	assert_non_null(other);
	assert_ptr_not_equal(one, other);
	umemcg_free(one);
	umemcg_free(other);
	umemcg_free(NULL);
	assert_int_equal(umemcg_usable_size(NULL), 0);
}

static void calloc_clears_what_was_used_before(void **state)
{
	static const size_t sizes[] = { 1, 48, 1000, 5000, 30000, 65536, 65537, 1 << 20, 5 << 20 };

	(void)state;
	for (unsigned int i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t nr_bytes = sizes[i / 2];
		uint8_t *object = umemcg_malloc(nr_bytes);

		memset(object, 0xa5, umemcg_usable_size(object));
		umemcg_free(object);
		object = umemcg_calloc(1, nr_bytes);
		assert_true(is_filled(object, nr_bytes, 0));
		memset(object, 0x5a, nr_bytes);
		umemcg_free(object);
	}
}

#define assert_enomem(pointer)                                                                     \
	do {                                                                                       \
		errno = 0;                                                                         \
		assert_null(pointer);                                                              \
		assert_int_equal(errno, ENOMEM);                                                   \
	} while (0)

static void impossible_sizes_are_refused(void **state)
{
	volatile size_t huge = SIZE_MAX;
	void *object = umemcg_malloc(10), *large = umemcg_malloc(100000);

	(void)state;
	assert_enomem(umemcg_malloc(huge));
	assert_enomem(umemcg_malloc(huge - 4096));
	assert_enomem(umemcg_malloc((size_t)PTRDIFF_MAX + 1));
	assert_enomem(umemcg_malloc(PTRDIFF_MAX));
	assert_enomem(umemcg_calloc(huge / 2, 3));
	assert_enomem(umemcg_calloc(huge, huge));
	assert_enomem(umemcg_realloc(object, huge));
	assert_enomem(umemcg_realloc(large, huge - 70000));
	assert_enomem(umemcg_aligned_alloc(64, huge - 10));
	assert_enomem(umemcg_aligned_alloc((size_t)1 << 63, 1));
	umemcg_free(object);
	umemcg_free(large);
}

static void alignments_are_kept(void **state)
{
	(void)state;
	for (size_t alignment = 1; alignment <= (size_t)8 << 20; alignment *= 2) {
		for (size_t nr_bytes = 1; nr_bytes < 1000000; nr_bytes = nr_bytes * 7 + 1) {
			uint8_t *object = umemcg_aligned_alloc(alignment, nr_bytes);

			assert_non_null(object);
			assert_int_equal((uintptr_t)object % alignment, 0);
			assert_true(umemcg_usable_size(object) >= nr_bytes);
			memset(object, 1, nr_bytes);
			umemcg_free(object);
		}
	}
}

static void an_alignment_that_is_no_power_of_two_is_einval(void **state)
{
	(void)state;
	errno = 0;
	assert_null(umemcg_aligned_alloc(24, 100));
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_null(umemcg_aligned_alloc(0, 100));
	assert_int_equal(errno, EINVAL);
}

static void realloc_keeps_the_contents_on_every_way(void **state)
{
	static const size_t sizes[] = { 1,      100,    5000,    40000,   65536,   65537,
					100000, 300000, 1000000, 9000000, 3000000, 200000,
					70000,  60000,  70,      2000000, 30 };
	size_t nr_old = 1;
	uint8_t *object = umemcg_realloc(NULL, nr_old);

	(void)state;
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memset(object, i, nr_old);
		object = umemcg_realloc(object, sizes[i]);
		assert_non_null(object);
		assert_true(is_filled(object, nr_old < sizes[i] ? nr_old : sizes[i], i));
		nr_old = sizes[i];
	}
	assert_null(umemcg_realloc(object, 0));
}

static void a_large_object_grows_in_small_steps(void **state)
{
	size_t nr_bytes = 80000;
	uint8_t *object = umemcg_malloc(nr_bytes), *between = NULL;

	(void)state;
	memset(object, 7, nr_bytes);
	for (unsigned int i = 0; i < 300; i++) {
		object = umemcg_realloc(object, nr_bytes + 10000);
		assert_non_null(object);
		assert_true(is_filled(object + nr_bytes - 20000, 20000, 7));
		memset(object + nr_bytes, 7, 10000);
		nr_bytes += 10000;
		if (i % 16 == 0) {
			umemcg_free(between);
			between = umemcg_malloc(70000);
			memset(between, 9, 70000);
		}
	}
	assert_true(is_filled(object, nr_bytes, 7));
	umemcg_free(object);
	umemcg_free(between);
}

static void memory_is_given_back_to_the_system(void **state)
{
	enum { NR = 4000, NR_BYTES = 50000 };
	static uint8_t *objects[NR];
	size_t nr_before = resident_bytes(), nr_full;

	(void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	print_message("SKIP: a sanitizer's shadow memory is resident as well\n");
	skip();
#endif
	for (unsigned int i = 0; i < NR; i++) {
		objects[i] = umemcg_malloc(i % 2 ? NR_BYTES : NR_BYTES * 2);
		memset(objects[i], 1, NR_BYTES);
	}
	nr_full = resident_bytes();
	for (unsigned int i = 0; i < NR; i++)
		umemcg_free(objects[i]);
	assert_true(nr_full - nr_before >= (size_t)NR * NR_BYTES);
	assert_true(resident_bytes() < nr_before + (nr_full - nr_before) / 4);
}

static void pointers_from_elsewhere_are_survived(void **state)
{
	int on_stack;
	char *object = umemcg_malloc(200000);

	(void)state;
	if (CONFIG_HARDENED) {
		print_message("SKIP: a hardened build aborts here\n");
		skip();
	}
	umemcg_free(&on_stack);
	umemcg_free(object + 100000);
	umemcg_free((char *)object + ((size_t)1 << 30));
	assert_int_equal(umemcg_usable_size(&on_stack), 0);
	umemcg_free(object);
}

/* What a large object was, or a slice that nothing ever was in, tells by its address alone. */
static void what_is_no_object_any_more_is_not_resized(void **state)
{
	char *stale = umemcg_malloc(1 << 20), *live = umemcg_malloc(1 << 20);
	char *wild = live + ((size_t)1 << 33);

	(void)state;
	if (CONFIG_HARDENED)
		skip();
	umemcg_free(stale);
	assert_int_equal(umemcg_usable_size(stale), 0);
	assert_null(umemcg_realloc(stale, 100));
	assert_int_equal(umemcg_usable_size(wild), 0);
	assert_null(umemcg_realloc(wild, 100000));
	assert_int_equal(umemcg_usable_size(live + 4096), 0);
	assert_null(umemcg_realloc(live + 4096, 3 << 20));
	assert_int_equal(umemcg_usable_size(live), 1 << 20);
	umemcg_free(live);
}

/* The system does not take locked memory back: freed, it stays what it was. */
static void calloc_clears_memory_that_is_locked(void **state)
{
	enum { NR_BYTES = 1 << 20 };
	char *object = umemcg_malloc(NR_BYTES);
	bool comes_round = false;

	(void)state;
	memset(object, 0x55, NR_BYTES);
	/* Not mlock(), which sanitizers leave out. */
	if (syscall(SYS_mlock, object, NR_BYTES)) {
		printf("SKIP: no memory may be locked\n");
		umemcg_free(object);
		skip();
	}
	umemcg_free(object);
	run_clean(0);
	/* Until it comes round. */
	for (unsigned int i = 0; i < 1000; i++) {
		char *cleared = umemcg_calloc(1, NR_BYTES / 8);

		assert_true(is_filled((uint8_t *)cleared, NR_BYTES / 8, 0));
		comes_round |= cleared >= object && cleared < object + NR_BYTES;
	}
	assert_true(comes_round);
	syscall(SYS_munlockall);
}

static void construct(void *object)
{
	memset(object, 0x11, 40);
}

static void a_cache_hands_out_constructed_objects(void **state)
{
	struct umemcg_cache *cache;
	uint8_t *objects[100];

	(void)state;
	assert_int_equal(umemcg_cache_create("typed", 0, 0, NULL, &cache), -EINVAL);
	assert_int_equal(umemcg_cache_create("typed", 40, 3, NULL, &cache), -EINVAL);
	assert_int_equal(umemcg_cache_create("typed", 40, 0, NULL, NULL), -EINVAL);
	errno = 0;
	assert_null(umemcg_cache_alloc(NULL));
	assert_int_equal(errno, EINVAL);
	umemcg_cache_free(NULL, umemcg_malloc(40));
	assert_int_equal(umemcg_cache_create("typed", 40, 64, construct, &cache), 0);
	for (unsigned int i = 0; i < 100; i++) {
		objects[i] = umemcg_cache_alloc(cache);
		assert_int_equal((uintptr_t)objects[i] % 64, 0);
		assert_true(is_filled(objects[i], 40, 0x11));
		memset(objects[i], 0, 40);
	}
	assert_int_equal(umemcg_cache_destroy(cache), -EBUSY);
	for (unsigned int i = 0; i < 100; i++)
		umemcg_cache_free(cache, objects[i]);
	umemcg_cache_free(cache, NULL);
	assert_int_equal(umemcg_cache_destroy(cache), 0);
	assert_int_equal(umemcg_cache_destroy(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_of_every_size_are_apart_and_aligned),
		cmocka_unit_test(a_block_is_at_most_a_quarter_too_large),
		cmocka_unit_test(objects_of_no_size_are_all_different),
		cmocka_unit_test(calloc_clears_what_was_used_before),
		cmocka_unit_test(impossible_sizes_are_refused),
		cmocka_unit_test(alignments_are_kept),
		cmocka_unit_test(an_alignment_that_is_no_power_of_two_is_einval),
		cmocka_unit_test(realloc_keeps_the_contents_on_every_way),
		cmocka_unit_test(a_large_object_grows_in_small_steps),
		cmocka_unit_test(memory_is_given_back_to_the_system),
		cmocka_unit_test(pointers_from_elsewhere_are_survived),
		cmocka_unit_test(what_is_no_object_any_more_is_not_resized),
		cmocka_unit_test(calloc_clears_memory_that_is_locked),
		cmocka_unit_test(a_cache_hands_out_constructed_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
