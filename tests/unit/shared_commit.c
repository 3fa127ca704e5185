/* SPDX-License-Identifier: MIT */
/* Memory for rows: whoever gets a row has its memory, and where there is none that is an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "child.h"
#include "shared_fixture.h"

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
	pid_t pid;

	(void)state;
	pid = fork_child();
	if (!pid) {
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 1 << 20, 1 << 20 });
		_exit(segment_open(&segment, NAME, true) == -ENOMEM ? 0 : 1);
	}
	wait_for_good_end(pid);
}

static void rows_are_checked_against_the_counts(void **state)
{
	(void)state;
	make_segment();
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

int main(void)
{
	const struct CMUnitTest tests[] = {
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
