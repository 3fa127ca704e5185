/* SPDX-License-Identifier: MIT */
/* A segment in the test's runtime directory, and what is asked of its file and its groups. */
#ifndef UMEMCG_TESTS_UNIT_SHARED_FIXTURE_H
#define UMEMCG_TESTS_UNIT_SHARED_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime_dir.h"
#include "shared/segment.h"
#include "shared/slot.h"
#include "shared/tree.h"

#define NAME      "test"
#define FILE_NAME "umemcg." NAME

static struct segment segment;

/* ---- its file ---- */

static inline void make_segment(void)
{
	assert_int_equal(segment_open(&segment, NAME, true), 0);
}

static inline void check_refused(int error)
{
	struct segment other;
	int r = segment_open(&other, NAME, false);

	if (r != error)
		fail_msg("opened: %d, expected %d", r, error);
	r = segment_open(&other, NAME, true);
	if (r != error)
		fail_msg("made: %d, expected %d", r, error);
}

/* Whatever the test has left there, a folder too. */
static inline int remove_file(void **state)
{
	(void)state;
	unlink(runtime_dir_path(FILE_NAME));
	rmdir(runtime_dir_path(FILE_NAME));
	return 0;
}

/* The test makes the segment itself, or something else of that name. */
#define test_alone(name) cmocka_unit_test_teardown(name, remove_file)

/* ---- its rows and groups ---- */

/* In a child, too: the parent's row is not known to be of another. */
static inline int claim_own_row(void)
{
	int r = slot_claim(&segment, 0, getpid(), PROCESS_LOOKS, &segment.process);

	if (!r)
		slot_set_live(&segment, segment.process);
	return r;
}

static inline int open_segment(void **state)
{
	(void)state;
	return segment_open(&segment, NAME, true) || claim_own_row() ? -1 : 0;
}

static inline int close_segment(void **state)
{
	(void)state;
	slot_free(&segment, segment.process);
	segment_close(&segment);
	return segment_unlink(NAME);
}

/* In a new segment, as one of its processes. */
#define test_in_segment(name) cmocka_unit_test_setup_teardown(name, open_segment, close_segment)

static inline uint32_t make_group(const char *path)
{
	uint32_t group = 0;
	int r = tree_create(&segment, path, &group);

	if (r)
		fail_msg("%s: %d", path, r);
	return group;
}

static inline void check_create(const char *path, int error)
{
	uint32_t group = 4711;
	int r = tree_create(&segment, path, &group);

	if (r != error)
		fail_msg("%.100s: %d, expected %d", path, r, error);
	assert_int_equal(group, 4711);
}

static inline void check_path(uint32_t group, const char *expected)
{
	char path[UMEMCG_PATH_MAX];

	assert_int_equal(tree_path(&segment, group, path, sizeof(path)), strlen(expected));
	assert_string_equal(path, expected);
}

static inline enum row_state state_of(uint32_t group)
{
	return atomic_load(&segment_group(&segment, group)->state);
}

static inline void check_walk(const char *top, const char *const *expected, unsigned int nr)
{
	char path[UMEMCG_PATH_MAX];
	uint32_t group = tree_find(&segment, top);

	strcpy(path, top);
	for (unsigned int i = 0; i < nr; i++) {
		assert_string_equal(path, expected[i]);
		check_path(group, expected[i]);
		group = tree_next(&segment, group, top, path);
	}
	assert_int_equal(group, 0);
}

#endif
