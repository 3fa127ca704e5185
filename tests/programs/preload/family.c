/* SPDX-License-Identifier: MIT */
/* The malloc family as an unmodified program meets it. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "require.h"

/* Volatile, as the compiler would warn of what it knew. */
static volatile size_t too_many = (size_t)PTRDIFF_MAX + 1;
static volatile size_t most = SIZE_MAX;
static volatile size_t odd = 24;

/* The compiler may not leave out what it thinks has no effect. */
static void *(*volatile call_malloc)(size_t) = malloc;
static void *(*volatile call_calloc)(size_t, size_t) = calloc;
static void *(*volatile call_realloc)(void *, size_t) = realloc;
static void *(*volatile call_reallocarray)(void *, size_t, size_t) = reallocarray;
static void (*volatile call_free)(void *) = free;

static bool is_ours(void *object)
{
	return umemcg_usable_size(object) != 0;
}

static void a_program_and_the_library_meet_in_one_heap(void **state)
{
	void *object = call_malloc(100);
	void *other = umemcg_malloc(100);

	(void)state;
	assert_true(is_ours(object));
	assert_int_equal(malloc_usable_size(other), umemcg_usable_size(other));
	umemcg_free(object);
	call_free(other);
}

static void nothing_is_an_object_of_its_own(void **state)
{
	void *one = call_malloc(0), *other = call_malloc(0);
	void *third = call_calloc(0, 8), *fourth = call_calloc(8, 0);

	(void)state;
	assert_non_null(one);
	assert_non_null(other);
	assert_non_null(third);
	assert_non_null(fourth);
	assert_ptr_not_equal(one, other);
	assert_ptr_not_equal(third, fourth);
	call_free(one);
	call_free(other);
	call_free(third);
	call_free(fourth);
	call_free(NULL);
}

static void calloc_gives_zeros_where_others_wrote(void **state)
{
	static const char zeros[5000];

	(void)state;
	for (int i = 0; i < 100; i++) {
		char *object = call_malloc(sizeof(zeros));

		memset(object, 'x', sizeof(zeros));
		call_free(object);
		object = call_calloc(5, 1000);
		assert_memory_equal(object, zeros, sizeof(zeros));
		call_free(object);
	}
}

static void realloc_is_malloc_and_free_too(void **state)
{
	char *object = call_realloc(NULL, 10);

	(void)state;
	strcpy(object, "contents");
	object = call_realloc(object, 1 << 20);
	assert_string_equal(object, "contents");
	object = call_realloc(object, 9);
	assert_string_equal(object, "contents");
	assert_null(call_realloc(object, 0));
}

static void check_too_large(void *object)
{
	assert_null(object);
	assert_int_equal(errno, ENOMEM);
	errno = 0;
}

static void what_is_too_large_is_enomem(void **state)
{
	void *object = call_malloc(10);

	(void)state;
	errno = 0;
	check_too_large(call_malloc(too_many));
	check_too_large(call_malloc(most));
	check_too_large(call_calloc(too_many, 2));
	check_too_large(call_calloc(1, too_many));
	check_too_large(call_realloc(object, too_many));
	check_too_large(call_realloc(object, most));
	check_too_large(memalign(64, too_many));
	check_too_large(aligned_alloc(64, most - 63));
	check_too_large(valloc(most));
	check_too_large(pvalloc(most));
	check_too_large(call_reallocarray(object, most / 2, 3));
	check_too_large(call_reallocarray(object, too_many, 1));
	assert_true(is_ours(object));
	call_free(object);
}

static void check_aligned(void *object, size_t alignment)
{
	assert_non_null(object);
	assert_int_equal((uintptr_t)object % alignment, 0);
	assert_true(is_ours(object));
	memset(object, 'x', malloc_usable_size(object));
	call_free(object);
}

static void every_alignment_is_had(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)state;
	for (size_t alignment = 8; alignment <= 1 << 20; alignment *= 2) {
		void *object = NULL;

		assert_int_equal(posix_memalign(&object, alignment, 100), 0);
		check_aligned(object, alignment);
		check_aligned(aligned_alloc(alignment, 3 * alignment), alignment);
		check_aligned(memalign(alignment, 5), alignment);
	}
	check_aligned(memalign(odd - odd, 5), 16);
	check_aligned(memalign(2 * odd, 5), 64);
	check_aligned(valloc(5), page);
	check_aligned(pvalloc(5), page);
	assert_int_equal(malloc_usable_size(NULL), 0);
}

static void posix_memalign_returns_its_error(void **state)
{
	void *object = state;

	errno = 42;
	assert_int_equal(posix_memalign(&object, odd - odd, 100), EINVAL);
	assert_int_equal(posix_memalign(&object, odd / 6, 100), EINVAL);
	assert_int_equal(posix_memalign(&object, odd, 100), EINVAL);
	assert_int_equal(posix_memalign(&object, 64, too_many), ENOMEM);
	assert_ptr_equal(object, state);
	assert_int_equal(posix_memalign(&object, 64, 100), 0);
	assert_int_equal(errno, 42);
	call_free(object);
}

static void reallocarray_multiplies(void **state)
{
	char *object = reallocarray(NULL, 10, 100);

	(void)state;
	assert_true(malloc_usable_size(object) >= 1000);
	object = reallocarray(object, 1000, 100);
	assert_true(malloc_usable_size(object) >= 100000);
	call_free(object);
}

/* What is locked the system does not take back, and says so. */
static void free_keeps_errno(void **state)
{
	static void *objects[2000];
	void *locked = NULL;

	(void)state;
	for (size_t i = 0; i < 2000; i++) {
		objects[i] = call_malloc(100000);
		memset(objects[i], 'x', 100000);
	}
	locked = (void *)(((uintptr_t)objects[0] + 8191) & ~(uintptr_t)4095);
	if (mlock(locked, 4096))
		print_message("nothing can be locked here\n");
	errno = 42;
	for (size_t i = 0; i < 2000; i++) {
		call_free(objects[i]);
		assert_int_equal(errno, 42);
	}
	malloc_trim(0);
	assert_int_equal(errno, 42);
	munlock(locked, 4096);
}

static void other_names_lead_to_the_same(void **state)
{
	static const char *const names[][2] = {
		{ "__libc_malloc", "malloc" },
		{ "__libc_free", "free" },
		{ "__libc_calloc", "calloc" },
		{ "__libc_realloc", "realloc" },
		{ "__libc_memalign", "memalign" },
		{ "__libc_valloc", "valloc" },
		{ "__libc_pvalloc", "pvalloc" },
		{ "__posix_memalign", "posix_memalign" },
		{ "cfree", "free" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *one = dlsym(RTLD_DEFAULT, names[i][0]);

		assert_non_null(one);
		assert_ptr_equal(one, dlsym(RTLD_DEFAULT, names[i][1]));
	}
}

static void what_libc_allocates_is_ours(void **state)
{
	char *copy = strdup("contents");
	char *printed;

	(void)state;
	assert_int_equal(asprintf(&printed, "%d", 42), 2);
	assert_true(is_ours(copy));
	assert_true(is_ours(printed));
	call_free(copy);
	call_free(printed);
}

/* Standard error shows whether anything was said. */
static void foreign_pointers_are_left_alone(void **state)
{
	static char foreign[] = "contents of others";
	FILE *errors = tmpfile();
	int old = dup(STDERR_FILENO);
	char *copy;

	(void)state;
	dup2(fileno(errors), STDERR_FILENO);
	call_free(hide(foreign));
	assert_int_equal(malloc_usable_size(hide(foreign)), 0);
	copy = call_realloc(hide(foreign), sizeof(foreign));
	dup2(old, STDERR_FILENO);
	assert_string_equal(copy, "contents of others");
	assert_true(is_ours(copy));
	assert_int_equal(lseek(fileno(errors), 0, SEEK_END), 0);
	call_free(copy);
	close(old);
	fclose(errors);
}

static void a_foreign_object_ends_where_memory_ends(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages =
		mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *copy;

	(void)state;
	assert_int_equal(mprotect(pages + 2 * page, page, PROT_NONE), 0);
	memset(pages, 'x', 2 * page);
	copy = call_realloc(pages + 100, 10 * page);
	assert_memory_equal(copy, pages + 100, 2 * page - 100);
	call_free(copy);
	munmap(pages, 3 * page);
}

static void questions_about_the_heap_are_answered(void **state)
{
	struct mallinfo2 before = mallinfo2();
	void *object = call_malloc(10 << 20);
	struct mallinfo2 after = mallinfo2();

	(void)state;
	if (umemcg_state() == UMEMCG_ENABLED)
		assert_true(after.uordblks - before.uordblks >= 10 << 20);
	assert_int_equal(mallopt(M_MMAP_THRESHOLD, 65536), 1);
	call_free(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_and_the_library_meet_in_one_heap),
		cmocka_unit_test(nothing_is_an_object_of_its_own),
		cmocka_unit_test(calloc_gives_zeros_where_others_wrote),
		cmocka_unit_test(realloc_is_malloc_and_free_too),
		cmocka_unit_test(what_is_too_large_is_enomem),
		cmocka_unit_test(every_alignment_is_had),
		cmocka_unit_test(posix_memalign_returns_its_error),
		cmocka_unit_test(reallocarray_multiplies),
		cmocka_unit_test(free_keeps_errno),
		cmocka_unit_test(other_names_lead_to_the_same),
		cmocka_unit_test(what_libc_allocates_is_ours),
		cmocka_unit_test(foreign_pointers_are_left_alone),
		cmocka_unit_test(a_foreign_object_ends_where_memory_ends),
		cmocka_unit_test(questions_about_the_heap_are_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
