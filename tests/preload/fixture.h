/* SPDX-License-Identifier: MIT */
/*
 * A group for each promise about mappings, which has to end without a charge, and calls that must
 * not fail.
 */
#ifndef UMEMCG_TESTS_PRELOAD_FIXTURE_H
#define UMEMCG_TESTS_PRELOAD_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/mman.h>

#include "mappings.h"
#include "umemcg.h"

#define PAGE      4096u
#define NR_PAGES  16u
#define LENGTH    ((size_t)NR_PAGES * PAGE)
#define NO_MEMORY PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
#define ANONYMOUS MAP_PRIVATE | MAP_ANONYMOUS
#define WRITABLE  PROT_READ | PROT_WRITE, ANONYMOUS

/* Of the test that runs. */
static struct umemcg *group;

static inline int make_group(void **state)
{
	(void)state;
	if (umemcg_create(NULL, "mappings", &group))
		return -1;
	umemcg_enter(group);
	return 0;
}

/* Every byte that a test charged it gave back, and the audit finds no other. */
static inline int remove_group(void **state)
{
	struct umemcg_audit audit;
	int r;

	(void)state;
	umemcg_enter(NULL);
	r = umemcg_get_current(group) != 0 || umemcg_audit(&audit);
	umemcg_destroy(group);
	return r;
}

static inline uint64_t charged(void)
{
	struct umemcg_stat stat;

	assert_int_equal(umemcg_get_stat(group, &stat), 0);
	return stat.nr_bytes_anon;
}

#define assert_pages(n) assert_int_equal(charged(), (uint64_t)(n)*PAGE)

static inline char *map_at(void *address, size_t nr_bytes, int protection, int flags)
{
	char *result = mappings_map(address, nr_bytes, protection, flags, -1, 0);

	assert_ptr_not_equal(result, MAP_FAILED);
	return result;
}

static inline char *map(size_t nr_bytes, int protection, int flags)
{
	return map_at(NULL, nr_bytes, protection, flags);
}

static inline void unmap(void *address, size_t nr_bytes)
{
	assert_int_equal(mappings_unmap(address, nr_bytes), 0);
}

static inline void protect(void *address, size_t nr_bytes, int protection)
{
	assert_int_equal(mappings_protect(address, nr_bytes, protection, MAPPINGS_NO_KEY), 0);
}

static inline void advise(void *address, size_t nr_bytes, int advice)
{
	assert_int_equal(mappings_advise(address, nr_bytes, advice), 0);
}

#define PROMISE(name) cmocka_unit_test_setup_teardown(name, make_group, remove_group)

#endif
