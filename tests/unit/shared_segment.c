/* SPDX-License-Identifier: MIT */
/* Segments: made whole, attached only if they can be trusted, made anew if nobody can use them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "child.h"
#include "shared/format.h"
#include "shared/stamp.h"
#include "shared_fixture.h"

static ino_t inode_of_name(void)
{
	struct stat stat;

	return lstat(runtime_dir_path(FILE_NAME), &stat) ? 0 : stat.st_ino;
}

/* As a process that lives and is not this one: the parent of it, which waits for it. */
static void have_somebody_live(struct segment *in, uint32_t *ret_row)
{
	assert_int_equal(slot_claim(in, 0, getppid(), PROCESS_LOOKS, ret_row), 0);
	slot_set_live(in, *ret_row);
}

static void a_new_one_has_a_root_and_is_found_by_others(void **state)
{
	struct segment other;

	(void)state;
	assert_int_equal(segment_open(&segment, NAME, false), -ENOENT);
	make_segment();
	assert_true(segment_is_current(&segment));
	assert_true(tree_is_live(&segment, SHARED_ROOT));
	assert_int_equal(segment_open(&other, NAME, false), 0);
	assert_int_equal(other.inode, segment.inode);
	atomic_store(&segment_group(&segment, SHARED_ROOT)->counter.usage, 4711);
	assert_int_equal(atomic_load(&segment_group(&other, SHARED_ROOT)->counter.usage), 4711);
	segment_close(&other);
	segment_close(&segment);
}

static void a_truncated_segment_is_refused(void **state)
{
	static const off_t sizes[] = { 0, 1, 4095, 4096, 1 << 20 };

	(void)state;
	make_segment();
	for (unsigned int i = ARRAY_SIZE(sizes); i-- > 0;) {
		assert_int_equal(truncate(runtime_dir_path(FILE_NAME), sizes[i]), 0);
		check_refused(-EPROTO);
		assert_int_not_equal(inode_of_name(), 0);
	}
	segment_close(&segment);
}

/* Everything that the header says about places and counts, made wrong one by one. */
static void a_header_that_lies_is_refused(void **state)
{
	struct segment_header *header, good;

	(void)state;
	make_segment();
	header = segment.header;
	memcpy(&good, header, sizeof(good));
#define check_lie(field, value)                                                                    \
	do {                                                                                       \
		header->field = (value);                                                           \
		check_refused(-EPROTO);                                                            \
		memcpy(header, &good, sizeof(good));                                               \
	} while (0)
	check_lie(magic[0], 'U');
	check_lie(nr_bytes, good.nr_bytes + 65536);
	check_lie(nr_bytes, 0);
	check_lie(names.row_bytes, 16);
	check_lie(names.nr_rows, UINT32_MAX);
	check_lie(names.first_byte, UINT64_MAX - 31);
	check_lie(names.first_byte, 8);
	check_lie(gate_bytes[3], 1);
	for (unsigned int i = 0; i < NR_REGIONS; i++) {
		check_lie(regions[i].first_byte, good.nr_bytes);
		check_lie(regions[i].first_byte, good.regions[i].first_byte + 64);
		check_lie(regions[i].first_byte, 0);
		check_lie(regions[i].first_byte, UINT64_MAX - 65535);
		check_lie(regions[i].row_bytes, good.regions[i].row_bytes * 2);
		check_lie(regions[i].row_bytes, 0);
		check_lie(regions[i].nr_rows, 0);
		check_lie(regions[i].nr_rows, 1);
		check_lie(regions[i].nr_rows, UINT32_MAX);
	}
	/* Two regions in one place. */
	check_lie(regions[REGION_PROCESSES].first_byte, good.regions[REGION_NAMES].first_byte);
	check_lie(regions[REGION_PLACES].nr_rows, good.regions[REGION_PLACES].nr_rows - 1);
#undef check_lie
	segment_close(&segment);
	assert_int_equal(segment_open(&segment, NAME, false), 0);
	segment_close(&segment);
}

/* What it says on standard error while it is opened. */
static void said_when_opened(char *buffer, size_t size)
{
	int pipe_fds[2], old = dup(2);
	ssize_t length;

	assert_int_equal(pipe(pipe_fds), 0);
	dup2(pipe_fds[1], 2);
	assert_int_equal(segment_open(&(struct segment){ 0 }, NAME, true), -EPROTONOSUPPORT);
	dup2(old, 2);
	close(old);
	close(pipe_fds[1]);
	length = read(pipe_fds[0], buffer, size - 1);
	close(pipe_fds[0]);
	buffer[length > 0 ? length : 0] = '\0';
}

static void another_layout_is_refused_by_name(void **state)
{
	char said[1024], expected[64];
	uint32_t row;

	(void)state;
	make_segment();
	have_somebody_live(&segment, &row);
	segment.header->layout_stamp = 0x1234;
	said_when_opened(said, sizeof(said));
	snprintf(expected, sizeof(expected), "%016llx", 0x1234ull);
	assert_non_null(strstr(said, expected));
	snprintf(expected, sizeof(expected), "%016llx", (unsigned long long)stamp_layout());
	assert_non_null(strstr(said, expected));
	snprintf(expected, sizeof(expected), "process %d ", getppid());
	assert_non_null(strstr(said, expected));
	assert_int_equal(inode_of_name(), segment.inode);
	segment.header->layout_stamp = stamp_layout();
	segment.header->version++;
	said_when_opened(said, sizeof(said));
	assert_int_equal(inode_of_name(), segment.inode);
	segment_close(&segment);
}

static void a_stale_segment_is_made_anew(void **state)
{
	struct segment other;

	(void)state;
	make_segment();
	segment.header->layout_stamp++;
	assert_int_equal(segment_open(&other, NAME, false), -ENOENT);
	assert_int_equal(inode_of_name(), segment.inode);
	assert_int_equal(segment_open(&other, NAME, true), 0);
	assert_int_not_equal(other.inode, segment.inode);
	assert_int_equal(other.header->layout_stamp, stamp_layout());
	assert_true(segment_is_current(&other));
	/* Who still had the old one sees that it is dead. */
	assert_false(segment_is_current(&segment));
	segment_close(&other);
	segment_close(&segment);
}

static void one_of_our_layout_outlives_its_processes(void **state)
{
	struct segment other;
	uint32_t group;

	(void)state;
	make_segment();
	assert_int_equal(claim_own_row(), 0);
	assert_int_equal(tree_create(&segment, "/kept", &group), 0);
	slot_free(&segment, segment.process);
	assert_int_equal(segment_open(&other, NAME, true), 0);
	assert_int_equal(other.inode, segment.inode);
	assert_int_equal(tree_find(&other, "/kept"), group);
	segment_close(&other);
	segment_close(&segment);
}

static void another_boot_is_stale(void **state)
{
	struct segment other;
	uint32_t row;

	(void)state;
	make_segment();
	/* Whoever has that pid now is another. */
	have_somebody_live(&segment, &row);
	memcpy(segment.header->boot_id, "00000000-0000-0000-0000-000000000000", 37);
	assert_int_equal(segment_open(&other, NAME, false), -ENOENT);
	assert_int_equal(segment_open(&other, NAME, true), 0);
	assert_int_not_equal(other.inode, segment.inode);
	segment_close(&other);
	segment_close(&segment);
}

static void another_pid_namespace_is_refused(void **state)
{
	(void)state;
	make_segment();
	segment.header->pid_namespace++;
	check_refused(-EXDEV);
	assert_int_equal(segment_unlink(NAME), -EXDEV);
	assert_int_equal(inode_of_name(), segment.inode);
	segment_close(&segment);
}

static void what_is_no_tree_is_left_alone(void **state)
{
	char text[8192];
	int fd = open(runtime_dir_path(FILE_NAME), O_CREAT | O_RDWR, 0600);

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(write(fd, text, sizeof(text)), sizeof(text));
	check_refused(-EPROTO);
	assert_int_equal(segment_unlink(NAME), -EPROTO);
	assert_int_equal(pread(fd, text, 1, 0), 1);
	assert_int_equal(text[0], 'x');
	close(fd);
}

static void wait_for_good_ends(unsigned int nr)
{
	int status;

	for (unsigned int i = 0; i < nr; i++) {
		assert_true(wait(&status) > 0);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

/* In one of many at once: claims a row and makes a group in whatever tree it meets. */
static int join_and_make(unsigned int number)
{
	struct segment own;
	uint32_t group;
	char path[32];
	int r;

	snprintf(path, sizeof(path), "/group-%u", number);
	do {
		if (segment_open(&own, NAME, true))
			return 1;
		if (slot_claim(&own, 0, getpid(), 0, &own.process))
			return 2;
		slot_set_live(&own, own.process);
		r = segment_is_current(&own) ? 0 : -EAGAIN;
		if (r)
			segment_close(&own);
	} while (r);
	return tree_create(&own, path, &group) ? 3 : 0;
}

static void check_groups(unsigned int nr)
{
	char path[32];

	assert_int_equal(segment_open(&segment, NAME, false), 0);
	for (unsigned int i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "/group-%u", i);
		assert_int_not_equal(tree_find(&segment, path), 0);
	}
	segment_close(&segment);
}

#define NR_CREATORS 64u

static void race(void)
{
	int gate[2];
	char byte;

	assert_int_equal(pipe(gate), 0);
	for (unsigned int i = 0; i < NR_CREATORS; i++) {
		if (!fork_child()) {
			close(gate[1]);
			/* All begin when the other end is closed. */
			_exit(read(gate[0], &byte, 1) ? 9 : join_and_make(i));
		}
	}
	close(gate[0]);
	close(gate[1]);
	wait_for_good_ends(NR_CREATORS);
	check_groups(NR_CREATORS);
}

static void two_creators_end_in_one_tree(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < 5; round++) {
		race();
		assert_int_equal(segment_unlink(NAME), 0);
	}
}

static void two_who_find_a_stale_one_end_in_one_tree(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < 5; round++) {
		make_segment();
		segment.header->layout_stamp++;
		segment_close(&segment);
		race();
		assert_int_equal(segment_unlink(NAME), 0);
	}
}

static void a_removal_that_was_cut_short_is_ended(void **state)
{
	struct segment other;

	(void)state;
	make_segment();
	atomic_store(&segment.header->state, SEGMENT_DEAD);
	assert_int_equal(segment_open(&other, NAME, false), -ENOENT);
	assert_int_equal(inode_of_name(), 0);
	segment_close(&segment);
}

static void one_in_which_somebody_lives_is_not_unlinked(void **state)
{
	struct segment other;
	uint32_t row;

	(void)state;
	make_segment();
	have_somebody_live(&segment, &row);
	assert_int_equal(segment_unlink(NAME), -EBUSY);
	assert_true(segment_is_current(&segment));
	assert_int_equal(segment_open(&other, NAME, false), 0);
	segment_close(&other);
	slot_free(&segment, row);
	/* The caller's own row does not count. */
	assert_int_equal(slot_claim(&segment, 0, getpid(), 0, &row), 0);
	slot_set_live(&segment, row);
	assert_int_equal(segment_unlink(NAME), 0);
	assert_int_equal(segment_unlink(NAME), -ENOENT);
	assert_false(segment_is_current(&segment));
	segment_close(&segment);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_alone(a_new_one_has_a_root_and_is_found_by_others),
		test_alone(a_truncated_segment_is_refused),
		test_alone(a_header_that_lies_is_refused),
		test_alone(another_layout_is_refused_by_name),
		test_alone(a_stale_segment_is_made_anew),
		test_alone(one_of_our_layout_outlives_its_processes),
		test_alone(another_boot_is_stale),
		test_alone(another_pid_namespace_is_refused),
		test_alone(what_is_no_tree_is_left_alone),
		test_alone(two_creators_end_in_one_tree),
		test_alone(two_who_find_a_stale_one_end_in_one_tree),
		test_alone(a_removal_that_was_cut_short_is_ended),
		test_alone(one_in_which_somebody_lives_is_not_unlinked),
	};
	int r;

	runtime_dir_make();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	runtime_dir_remove();
	return r;
}
