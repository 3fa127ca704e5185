/* SPDX-License-Identifier: MIT */
/* Segments: made whole, attached only if they can be trusted, made anew if nobody can use them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "runtime_dir.h"
#include "shared/death.h"
#include "shared/file.h"
#include "shared/format.h"
#include "shared/segment.h"
#include "shared/slot.h"
#include "shared/stamp.h"
#include "shared/tree.h"

#define NAME      "test"
#define FILE_NAME "umemcg." NAME

static struct segment segment;

static void check_refused(int error)
{
	struct segment other;
	int r = segment_open(&other, NAME, false);

	if (r != error)
		fail_msg("opened: %d, expected %d", r, error);
	r = segment_open(&other, NAME, true);
	if (r != error)
		fail_msg("made: %d, expected %d", r, error);
}

static void make(void)
{
	assert_int_equal(segment_open(&segment, NAME, true), 0);
}

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

static int remove_file(void **state)
{
	(void)state;
	unlink(runtime_dir_path(FILE_NAME));
	rmdir(runtime_dir_path(FILE_NAME));
	return 0;
}

static void a_new_one_has_a_root_and_is_found_by_others(void **state)
{
	struct segment other;

	(void)state;
	assert_int_equal(segment_open(&segment, NAME, false), -ENOENT);
	make();
	assert_true(segment_is_current(&segment));
	assert_true(tree_is_live(&segment, SHARED_ROOT));
	assert_int_equal(segment_open(&other, NAME, false), 0);
	assert_int_equal(other.inode, segment.inode);
	atomic_store(&segment_group(&segment, SHARED_ROOT)->counter.usage, 4711);
	assert_int_equal(atomic_load(&segment_group(&other, SHARED_ROOT)->counter.usage), 4711);
	segment_close(&other);
	segment_close(&segment);
}

static void names_are_checked(void **state)
{
	char longest[UMEMCG_TREE_NAME_MAX + 2];
	static const char *const bad[] = { "", ".", "..", ".a", "a/b", "a b", "a\n", "\xc3\xa4" };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(segment_open(&segment, bad[i], true), -EINVAL);
		assert_int_equal(segment_unlink(bad[i]), -EINVAL);
	}
	memset(longest, 'x', sizeof(longest));
	longest[UMEMCG_TREE_NAME_MAX + 1] = '\0';
	assert_int_equal(segment_open(&segment, longest, true), -EINVAL);
	longest[UMEMCG_TREE_NAME_MAX] = '\0';
	assert_int_equal(segment_open(&segment, longest, true), 0);
	segment_close(&segment);
	assert_int_equal(segment_unlink(longest), 0);
}

static void a_truncated_segment_is_refused(void **state)
{
	static const off_t sizes[] = { 0, 1, 4095, 4096, 1 << 20 };

	(void)state;
	make();
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
	make();
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
	make();
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
	make();
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
	make();
	assert_int_equal(slot_claim(&segment, 0, getpid(), PROCESS_LOOKS, &segment.process), 0);
	slot_set_live(&segment, segment.process);
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
	make();
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
	make();
	segment.header->pid_namespace++;
	check_refused(-EXDEV);
	assert_int_equal(segment_unlink(NAME), -EXDEV);
	assert_int_equal(inode_of_name(), segment.inode);
	segment_close(&segment);
}

static void a_link_or_foreign_file_is_refused(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	(void)state;
	make();
	segment_close(&segment);
	/* A second name, a wider mode. */
	assert_int_equal(link(runtime_dir_path(FILE_NAME), "/dev/shm/umemcg-test-link"), 0);
	check_refused(-EPERM);
	assert_int_equal(unlink("/dev/shm/umemcg-test-link"), 0);
	assert_int_equal(chmod(runtime_dir_path(FILE_NAME), 0660), 0);
	check_refused(-EPERM);
	assert_int_equal(chmod(runtime_dir_path(FILE_NAME), 0600), 0);
	/* A symbolic link to a good one. */
	assert_int_equal(renameat(AT_FDCWD, runtime_dir_path(FILE_NAME), AT_FDCWD,
				  "/dev/shm/umemcg-test-link"),
			 0);
	assert_int_equal(symlink("/dev/shm/umemcg-test-link", runtime_dir_path(FILE_NAME)), 0);
	check_refused(-EPERM);
	assert_int_equal(unlink(runtime_dir_path(FILE_NAME)), 0);
	assert_int_equal(unlink("/dev/shm/umemcg-test-link"), 0);
	assert_int_equal(mkdir(runtime_dir_path(FILE_NAME), 0600), 0);
	check_refused(-EPERM);
	assert_int_equal(rmdir(runtime_dir_path(FILE_NAME)), 0);
	/* Nobody is waited for at its other end. */
	assert_int_equal(mkfifo(runtime_dir_path(FILE_NAME), 0600), 0);
	check_refused(-EPERM);
	assert_int_equal(unlink(runtime_dir_path(FILE_NAME)), 0);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	strcpy(address.sun_path, runtime_dir_path(FILE_NAME));
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	check_refused(-EPERM);
	close(fd);
}

static void a_file_of_another_user_is_refused(void **state)
{
	(void)state;
	if (geteuid()) {
		print_message("only root can give a file away\n");
		skip();
	}
	make();
	segment_close(&segment);
	assert_int_equal(chown(runtime_dir_path(FILE_NAME), 65534, 65534), 0);
	check_refused(-EPERM);
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

static pid_t fork_child(void)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	return pid;
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
		make();
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
	make();
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
	make();
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

/* What a stopped remover would do: the file is locked, and another tree has its name by then. */
static void a_slow_remover_does_not_remove_a_newer_one(void **state)
{
	struct segment old, newer;
	struct stat stat;
	int fd;

	(void)state;
	assert_int_equal(segment_open(&old, NAME, true), 0);
	assert_int_equal(file_open(NAME, &fd, &stat), 0);
	assert_int_equal(unlink(runtime_dir_path(FILE_NAME)), 0);
	assert_int_equal(segment_open(&newer, NAME, true), 0);
	file_unlink(NAME, &stat);
	assert_true(segment_is_current(&newer));
	assert_int_equal(file_lock(fd), 0);
	file_unlock(fd);
	close(fd);
	segment_close(&old);
	segment_close(&newer);
}

static int note_name(const char *name, void *arg)
{
	strcat(arg, name);
	strcat(arg, ";");
	return 0;
}

static int stop_at_first(const char *name, void *arg)
{
	(void)name;
	++*(int *)arg;
	return 7;
}

static void only_trees_are_listed(void **state)
{
	char names[256] = "";
	int nr = 0;

	(void)state;
	make();
	close(open(runtime_dir_path("umemcg.wide"), O_CREAT | O_RDWR, 0644));
	close(open(runtime_dir_path("umemcg..x"), O_CREAT | O_RDWR, 0600));
	close(open(runtime_dir_path("other"), O_CREAT | O_RDWR, 0600));
	assert_int_equal(symlink(FILE_NAME, runtime_dir_path("umemcg.link")), 0);
	assert_int_equal(segment_list(note_name, names), 0);
	assert_string_equal(names, NAME ";");
	assert_int_equal(segment_list(stop_at_first, &nr), 7);
	assert_int_equal(nr, 1);
	unlink(runtime_dir_path("umemcg.wide"));
	unlink(runtime_dir_path("umemcg..x"));
	unlink(runtime_dir_path("umemcg.link"));
	unlink(runtime_dir_path("other"));
	segment_close(&segment);
}

/* Some file systems have no files without names. */
static void a_named_file_is_published_whole_too(void **state)
{
	char temporary[PATH_MAX];
	struct stat stat;
	int fd, other;

	(void)state;
	assert_int_equal(file_create(false, temporary, &fd), 0);
	assert_int_not_equal(temporary[0], '\0');
	assert_int_equal(file_publish(fd, temporary, NAME), 0);
	assert_int_equal(file_create(false, temporary, &other), 0);
	assert_int_equal(file_publish(other, temporary, NAME), -EEXIST);
	file_discard(temporary);
	assert_int_equal(access(temporary, F_OK), -1);
	close(other);
	assert_int_equal(file_open(NAME, &other, &stat), 0);
	assert_int_equal(stat.st_nlink, 1);
	close(other);
	close(fd);
}

/* Rows are given out until there is no memory, and none of them is a signal. */
static int fill_up(void)
{
	uint32_t row = 1;

	if (segment_open(&segment, NAME, true))
		return 1;
	while (!segment_commit_row(&segment, REGION_THREADS, row)) {
		memset(segment_row(&segment, REGION_THREADS, row), 1,
		       segment_row_bytes[REGION_THREADS]);
		row++;
	}
	/* Most of a megabyte, and not more. */
	if (row * segment_row_bytes[REGION_THREADS] < 512 << 10 ||
	    row * segment_row_bytes[REGION_THREADS] > 1 << 20)
		return 2;
	if (segment_nr_used(&segment, REGION_THREADS) != row ||
	    segment_commit_row(&segment, REGION_THREADS, row) != -ENOMEM)
		return 3;
	segment_close(&segment);
	return segment_unlink(NAME) ? 4 : 0;
}

static int in_a_file_system_of_a_megabyte(int (*act)(void))
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", runtime_dir, "tmpfs", 0, "size=1m"))
		return 77;
	return act();
}

static int find_full(void)
{
	char block[65536];
	int fd = open(runtime_dir_path("full"), O_CREAT | O_RDWR, 0600), r;

	memset(block, 1, sizeof(block));
	while (write(fd, block, sizeof(block)) > 0)
		;
	r = segment_open(&segment, NAME, true);
	close(fd);
	return r == -ENOMEM ? 0 : 1;
}

static void check_in_small_file_system(int (*act)(void))
{
	int status;

	if (geteuid()) {
		print_message("only root can mount a small file system\n");
		skip();
	}
	if (!fork_child())
		_exit(in_a_file_system_of_a_megabyte(act));
	assert_true(wait(&status) > 0);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("no file system can be mounted here\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_file_system_that_fills_up_is_an_error_and_no_signal(void **state)
{
	(void)state;
	check_in_small_file_system(fill_up);
}

static void a_full_file_system_makes_no_tree(void **state)
{
	(void)state;
	check_in_small_file_system(find_full);
}

static void a_limit_on_file_sizes_is_an_error_and_no_signal(void **state)
{
	int status;

	(void)state;
	if (!fork_child()) {
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 1 << 20, 1 << 20 });
		_exit(segment_open(&segment, NAME, true) == -ENOMEM ? 0 : 1);
	}
	assert_true(wait(&status) > 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void rows_are_checked_against_the_counts(void **state)
{
	(void)state;
	make();
	for (unsigned int i = 0; i < NR_REGIONS; i++) {
		assert_null(segment_row(&segment, i, 0));
		assert_null(segment_row(&segment, i, segment.nr_rows[i]));
		assert_null(segment_row(&segment, i, UINT32_MAX));
		assert_int_equal(segment_commit_row(&segment, i, segment.nr_rows[i]), -ENOMEM);
		atomic_store(&segment.header->nr_used[i], UINT32_MAX);
		assert_int_equal(segment_nr_used(&segment, i), segment.nr_rows[i]);
	}
	segment_close(&segment);
}

#define test_alone(name) cmocka_unit_test_teardown(name, remove_file)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_alone(a_new_one_has_a_root_and_is_found_by_others),
		test_alone(names_are_checked),
		test_alone(a_truncated_segment_is_refused),
		test_alone(a_header_that_lies_is_refused),
		test_alone(another_layout_is_refused_by_name),
		test_alone(a_stale_segment_is_made_anew),
		test_alone(one_of_our_layout_outlives_its_processes),
		test_alone(another_boot_is_stale),
		test_alone(another_pid_namespace_is_refused),
		test_alone(a_link_or_foreign_file_is_refused),
		test_alone(a_file_of_another_user_is_refused),
		test_alone(what_is_no_tree_is_left_alone),
		test_alone(two_creators_end_in_one_tree),
		test_alone(two_who_find_a_stale_one_end_in_one_tree),
		test_alone(a_removal_that_was_cut_short_is_ended),
		test_alone(one_in_which_somebody_lives_is_not_unlinked),
		test_alone(a_slow_remover_does_not_remove_a_newer_one),
		test_alone(only_trees_are_listed),
		test_alone(a_named_file_is_published_whole_too),
		test_alone(a_file_system_that_fills_up_is_an_error_and_no_signal),
		test_alone(a_full_file_system_makes_no_tree),
		test_alone(a_limit_on_file_sizes_is_an_error_and_no_signal),
		test_alone(rows_are_checked_against_the_counts),
	};
	int r;

	runtime_dir_make();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	runtime_dir_remove();
	return r;
}
