/* SPDX-License-Identifier: MIT */
/* The swap file: bounded, unnamed, and never another's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "pages.h"
#include "user/swap_file.h"

#define ACCOUNT 5u

static char directory[] = "/tmp/umemcg-swap-test-XXXXXX";

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	(void)state;
	return rmdir(directory);
}

static void run_in_child(int (*act)(void))
{
	pid_t pid = fork_child();

	if (!pid)
		_exit(act());
	wait_for_good_end(pid);
}

static void set(uint64_t nr_slots)
{
	assert_int_equal(swap_file_set(directory, nr_slots * PAGE, PAGE), 0);
}

static int unset(void **state)
{
	(void)state;
	return swap_file_set(NULL, 0, PAGE);
}

static void write_slot(uint32_t slot)
{
	char page[PAGE];

	test_page_make(page, TEST_PAGE_RANDOM, slot + 1);
	assert_int_equal(swap_file_write(slot, page), 0);
}

static void check_slot(uint32_t slot)
{
	char page[PAGE], expected[PAGE];

	test_page_make(expected, TEST_PAGE_RANDOM, slot + 1);
	assert_int_equal(swap_file_read(slot, page), 0);
	assert_memory_equal(page, expected, PAGE);
}

static void every_slot_gives_back_what_was_written(void **state)
{
	uint32_t slots[100];

	(void)state;
	set(100);
	for (unsigned int i = 0; i < 100; i++) {
		slots[i] = swap_file_take(ACCOUNT + i);
		assert_int_equal(slots[i], i);
		write_slot(slots[i]);
	}
	assert_int_equal(swap_file_take(ACCOUNT), SWAP_FILE_NONE);
	for (unsigned int i = 0; i < 100; i++) {
		check_slot(slots[i]);
		assert_int_equal(swap_file_account(slots[i]), ACCOUNT + i);
		assert_int_equal(swap_file_give(slots[i]), ACCOUNT + i);
	}
}

/* Whichever bits of the map are free, and however far the last one is. */
static void the_last_free_slot_is_found(void **state)
{
	(void)state;
	set(130);
	for (unsigned int i = 0; i < 130; i++)
		assert_int_not_equal(swap_file_take(ACCOUNT), SWAP_FILE_NONE);
	for (uint32_t slot = 0; slot < 130; slot++) {
		swap_file_give(slot);
		assert_int_equal(swap_file_take(ACCOUNT), slot);
	}
	for (uint32_t slot = 130; slot-- > 0;) {
		swap_file_give(slot);
		assert_int_equal(swap_file_take(ACCOUNT), slot);
	}
	assert_int_equal(swap_file_take(ACCOUNT), SWAP_FILE_NONE);
	for (uint32_t slot = 0; slot < 130; slot++)
		swap_file_give(slot);
}

static void a_file_in_use_is_not_changed(void **state)
{
	uint32_t slot;

	(void)state;
	set(2);
	slot = swap_file_take(ACCOUNT);
	assert_int_equal(swap_file_set(NULL, 0, PAGE), -EBUSY);
	assert_int_equal(swap_file_set(directory, PAGE, PAGE), -EBUSY);
	swap_file_give(slot);
	set(1);
	assert_int_equal(swap_file_set(NULL, 0, PAGE), 0);
	assert_false(swap_file_is_there());
	assert_int_equal(swap_file_take(ACCOUNT), SWAP_FILE_NONE);
}

static void a_file_that_cannot_be_made_leaves_the_one_that_is_there(void **state)
{
	uint32_t slot;

	(void)state;
	set(2);
	assert_true(swap_file_set("/proc/self", PAGE, PAGE) < 0);
	assert_true(swap_file_is_there());
	slot = swap_file_take(ACCOUNT);
	assert_int_not_equal(slot, SWAP_FILE_NONE);
	write_slot(slot);
	check_slot(slot);
	swap_file_give(slot);
}

static void what_is_no_directory_is_refused(void **state)
{
	(void)state;
	assert_int_equal(swap_file_set("/tmp/umemcg-there-is-none", PAGE, PAGE), -ENOENT);
	assert_int_equal(swap_file_set("/dev/null", PAGE, PAGE), -ENOTDIR);
	assert_int_equal(swap_file_set(directory, PAGE - 1, PAGE), -EINVAL);
	assert_false(swap_file_is_there());
}

static unsigned int nr_entries(void)
{
	DIR *open_directory = opendir(directory);
	unsigned int nr = 0;

	assert_non_null(open_directory);
	while (readdir(open_directory))
		nr++;
	closedir(open_directory);
	return nr;
}

static void the_file_has_no_name(void **state)
{
	(void)state;
	set(10);
	assert_int_equal(nr_entries(), 2);
}

static int write_beyond_the_limit(void)
{
	struct rlimit limit;
	char page[PAGE] = "";

	if (swap_file_set(directory, 10 * PAGE, PAGE))
		return 1;
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = 2 * PAGE + 100;
	if (setrlimit(RLIMIT_FSIZE, &limit) || signal(SIGXFSZ, SIG_IGN) == SIG_ERR)
		return 2;
	for (uint32_t slot = 0; slot < 2; slot++)
		if (swap_file_take(ACCOUNT) != slot || swap_file_write(slot, page))
			return 3;
	/* A short write first, and then the error. */
	if (swap_file_take(ACCOUNT) != 2 || swap_file_write(2, page) != -EIO)
		return 4;
	return swap_file_read(1, page) ? 5 : 0;
}

static void a_write_that_fails_is_an_error(void **state)
{
	(void)state;
	run_in_child(write_beyond_the_limit);
}

static int take_no_more_than_may_be_written(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = 3 * PAGE + 1;
	if (setrlimit(RLIMIT_FSIZE, &limit) || swap_file_set(directory, 10 * PAGE, PAGE))
		return 1;
	for (uint32_t slot = 0; slot < 3; slot++)
		if (swap_file_take(ACCOUNT) != slot)
			return 2;
	return swap_file_take(ACCOUNT) == SWAP_FILE_NONE ? 0 : 3;
}

static void no_more_is_taken_than_may_be_written(void **state)
{
	(void)state;
	run_in_child(take_no_more_than_may_be_written);
}

/* As daemons do; and the next file that is opened gets the number. */
static int use_a_closed_descriptor(void)
{
	char name[64], page[PAGE] = "a page", found[PAGE] = "";
	int fd;

	if (swap_file_set(directory, 10 * PAGE, PAGE) || swap_file_take(ACCOUNT) != 0 ||
	    swap_file_write(0, page))
		return 1;
	closefrom(3);
	snprintf(name, sizeof(name), "%s/another", directory);
	fd = open(name, O_RDWR | O_CREAT, 0600);
	unlink(name);
	/* Those of the library's own are so high (base/system.h). */
	for (int number = 512; number < 520; number++)
		if (dup2(fd, number) != number)
			return 5;
	if (swap_file_write(0, page) != -EBADF)
		return 2;
	if (swap_file_read(0, found) || memcmp(page, found, PAGE))
		return 4;
	return pread(fd, found, PAGE, 0) == 0 ? 0 : 3;
}

static void a_closed_descriptor_costs_no_page_and_no_other_file(void **state)
{
	(void)state;
	run_in_child(use_a_closed_descriptor);
}

static int forget_and_write(void)
{
	char page[PAGE];
	uint32_t slot;

	swap_file_forget();
	slot = swap_file_take(ACCOUNT);
	test_page_make(page, TEST_PAGE_RANDOM, 99);
	return slot == 0 && !swap_file_write(slot, page) ? 0 : 1;
}

static void a_child_has_a_file_of_its_own(void **state)
{
	uint32_t slot;

	(void)state;
	set(10);
	slot = swap_file_take(ACCOUNT);
	write_slot(slot);
	run_in_child(forget_and_write);
	check_slot(slot);
	swap_file_give(slot);
	assert_int_equal(nr_entries(), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(every_slot_gives_back_what_was_written, unset),
		cmocka_unit_test_teardown(the_last_free_slot_is_found, unset),
		cmocka_unit_test(a_file_in_use_is_not_changed),
		cmocka_unit_test_teardown(a_file_that_cannot_be_made_leaves_the_one_that_is_there,
					  unset),
		cmocka_unit_test(what_is_no_directory_is_refused),
		cmocka_unit_test_teardown(the_file_has_no_name, unset),
		cmocka_unit_test(a_write_that_fails_is_an_error),
		cmocka_unit_test(no_more_is_taken_than_may_be_written),
		cmocka_unit_test(a_closed_descriptor_costs_no_page_and_no_other_file),
		cmocka_unit_test_teardown(a_child_has_a_file_of_its_own, unset),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
