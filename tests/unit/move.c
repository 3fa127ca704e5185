/* SPDX-License-Identifier: MIT */
/* Large objects change their address with their pages, within what the system allows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "resident.h"
#include "umemcg.h"

#define MIB ((size_t)1 << 20)

static unsigned int nr_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned int nr = 0;
	int c;

	assert_non_null(maps);
	while ((c = fgetc(maps)) != EOF)
		nr += c == '\n';
	fclose(maps);
	return nr;
}

/* An object with another one behind it, so that it cannot grow where it lies. */
static char *hemmed_in(size_t nr_bytes, void **ret_behind)
{
	char *object = umemcg_malloc(nr_bytes);

	assert_non_null(object);
	*ret_behind = umemcg_malloc(nr_bytes);
	assert_non_null(*ret_behind);
	return object;
}

static void a_large_object_moves_its_pages_not_its_bytes(void **state)
{
	void *behind[6];
	char *object = hemmed_in(32 * MIB, &behind[0]);
	size_t nr_bytes_before;

	(void)state;
	object[0] = 1;
	object[32 * MIB - 1] = 2;
	nr_bytes_before = resident_bytes();
	/* Each time the object has grown into what it was given last time, so it is in pieces. */
	for (unsigned int i = 1; i < 6; i++) {
		char *grown = umemcg_realloc(object, (32 << i) * MIB);

		assert_non_null(grown);
		object = grown;
		behind[i] = umemcg_malloc(MIB);
		object[(32 << i) * MIB - 1] = 3;
	}
	assert_int_equal(object[0], 1);
	assert_int_equal(object[32 * MIB - 1], 2);
	for (unsigned int i = 1; i < 6; i++)
		assert_int_equal(object[(32 << i) * MIB - 1], 3);
	/* Copied, these would be a GiB. */
	assert_true(resident_bytes() < nr_bytes_before + 16 * MIB);
	umemcg_free(object);
	for (unsigned int i = 0; i < 6; i++)
		umemcg_free(behind[i]);
}

static void what_was_moved_from_and_to_reads_as_zero_again(void **state)
{
	static const size_t sizes[] = { 3 * MIB, 9 * MIB, 20 * MIB };

	(void)state;
	for (unsigned int round = 0; round < 3 * 4; round++) {
		size_t nr_bytes = sizes[round % 3];
		void *behind;
		char *object = hemmed_in(nr_bytes, &behind), *cleared;

		memset(object, 0x55, nr_bytes);
		object = umemcg_realloc(object, 2 * nr_bytes);
		assert_non_null(object);
		memset(object, 0x55, 2 * nr_bytes);
		object = umemcg_realloc(object, nr_bytes / 2);
		assert_non_null(object);
		umemcg_free(object);
		umemcg_free(behind);
		cleared = umemcg_calloc(1, 3 * nr_bytes);
		assert_non_null(cleared);
		for (size_t i = 0; i < 3 * nr_bytes; i += 512)
			assert_int_equal(cleared[i], 0);
		memset(cleared, 0x55, 3 * nr_bytes);
		umemcg_free(cleared);
	}
}

static void moving_does_not_use_up_the_systems_mappings(void **state)
{
	enum { NR = 600, NR_BYTES = (2 << 20) + (64 << 10) };
	static char *objects[NR];
	unsigned int nr_before = nr_mappings();

	(void)state;
	for (unsigned int i = 0; i < NR; i++) {
		objects[i] = umemcg_malloc(NR_BYTES);
		assert_non_null(objects[i]);
		objects[i][0] = (char)i;
	}
	for (unsigned int i = 0; i < NR; i++) {
		objects[i] = umemcg_realloc(objects[i], NR_BYTES + (64 << 10));
		assert_non_null(objects[i]);
		assert_int_equal(objects[i][0], (char)i);
	}
	/* 512 were moved, each of which may have cut a mapping in three. */
	assert_true(nr_mappings() <= nr_before + 2 * 512 + 64);
	for (unsigned int i = 0; i < NR; i++)
		umemcg_free(objects[i]);
	/* Where they were, mappings are one again. */
	assert_true(nr_mappings() <= nr_before + 64);
}

/* The system refuses every new mapping from now on: moving fails half way. */
static void grow_without_address_space(void)
{
	void *behind[3];
	char *objects[3];
	struct rlimit limit = { MIB, RLIM_INFINITY };

	for (unsigned int i = 0; i < 3; i++) {
		objects[i] = hemmed_in(3 * MIB, &behind[i]);
		memset(objects[i], (int)i + 1, 3 * MIB);
	}
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	for (unsigned int i = 0; i < 3; i++) {
		objects[i] = umemcg_realloc(objects[i], 7 * MIB);
		if (!objects[i])
			_exit(2);
		memset(objects[i] + 3 * MIB, (int)i + 1, 4 * MIB);
	}
	/* Whatever is handed out now has memory behind it. */
	for (unsigned int i = 0; i < 20; i++)
		memset(umemcg_malloc(3 * MIB), 9, 3 * MIB);
	for (unsigned int i = 0; i < 3; i++)
		for (size_t k = 0; k < 7 * MIB; k += 4096)
			if (objects[i][k] != (char)(i + 1))
				_exit(3);
	_exit(0);
}

static void a_move_that_fails_loses_nothing(void **state)
{
	int status;
	pid_t child = fork();

	(void)state;
	assert_true(child >= 0);
	if (!child)
		grow_without_address_space();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moving_does_not_use_up_the_systems_mappings),
		cmocka_unit_test(a_large_object_moves_its_pages_not_its_bytes),
		cmocka_unit_test(what_was_moved_from_and_to_reads_as_zero_again),
		cmocka_unit_test(a_move_that_fails_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
