/* SPDX-License-Identifier: MIT */
/* The store: no page is lost, and what it takes is charged to the byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "compressor_path.h"
#include "resident.h"
#include "stored.h"
#include "umemcg.h"

#define NR_PAGES 600u

static char directory[] = "/tmp/umemcg-store-test-XXXXXX";
static bool is_compressing;
static struct umemcg *parent, *group;
static store_slot slots[NR_PAGES];

static int init(void **state)
{
	(void)state;
	umemcg_root();
	is_compressing = !load_compressor();
	return mkdtemp(directory) && !store_prepare() ? 0 : -1;
}

static int fini(void **state)
{
	(void)state;
	return umemcg_set_swap(NULL, 0) || rmdir(directory) ? -1 : 0;
}

static int make_groups(void **state)
{
	(void)state;
	if (umemcg_set_swap(directory, 1 << 30))
		return -1;
	return umemcg_create(NULL, NULL, &parent) || umemcg_create(parent, NULL, &group) ? -1 : 0;
}

static uint64_t number(struct umemcg *of, const char *name)
{
	char text[512];

	assert_in_range(umemcg_read(of, name, text, sizeof(text)), 1, sizeof(text) - 1);
	return strtoull(text, NULL, 10);
}

/* A line of a flat-keyed file. */
static uint64_t line(struct umemcg *of, const char *name, const char *key)
{
	char text[1024], wanted[64];
	const char *found;

	assert_in_range(umemcg_read(of, name, text + 1, sizeof(text) - 1), 1, sizeof(text) - 2);
	text[0] = '\n';
	snprintf(wanted, sizeof(wanted), "\n%s ", key);
	found = strstr(text, wanted);
	assert_non_null(found);
	return strtoull(found + strlen(wanted), NULL, 10);
}

/* Fails if a test left anything stored or charged. */
static int destroy_groups(void **state)
{
	(void)state;
	if (umemcg_get_current(parent) || number(parent, "memory.swap.current") ||
	    number(parent, "memory.zswap.current"))
		return -1;
	return (group && umemcg_destroy(group)) || umemcg_destroy(parent) ? -1 : 0;
}

static void put(unsigned int i, enum test_page kind)
{
	char page[PAGE] aligned_to(PAGE);

	test_page_make(page, kind, i);
	assert_int_equal(stored_put(group, page, &slots[i]), 0);
	assert_true(slots[i] != STORE_NONE);
}

static void check(unsigned int i, enum test_page kind)
{
	char page[PAGE] aligned_to(PAGE), expected[PAGE];

	test_page_make(expected, kind, i);
	memset(page, 0x55, PAGE);
	assert_int_equal(store_get(slots[i], page), 0);
	assert_memory_equal(page, expected, PAGE);
}

static void free_slots(unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		store_free(slots[i]);
}

static void every_page_comes_back_as_it_was(void **state)
{
	struct umemcg_audit audit;

	(void)state;
	for (unsigned int i = 0; i < NR_PAGES; i++)
		put(i, i % NR_TEST_PAGES);
	assert_int_equal(umemcg_get_current(group), number(group, "memory.zswap.current"));
	assert_int_equal(umemcg_audit(&audit), 0);
	for (unsigned int round = 0; round < 2; round++)
		for (unsigned int i = 0; i < NR_PAGES; i++)
			check(i, i % NR_TEST_PAGES);
	for (unsigned int i = 0; i < NR_PAGES; i += 2)
		store_free(slots[i]);
	for (unsigned int i = 1; i < NR_PAGES; i += 2)
		check(i, i % NR_TEST_PAGES);
	for (unsigned int i = 1; i < NR_PAGES; i += 2)
		store_free(slots[i]);
	assert_int_equal(umemcg_audit(&audit), 0);
}

static void pages_of_one_word_cost_nothing(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < NR_PAGES; i++)
		put(i, i % 2 ? TEST_PAGE_ZERO : TEST_PAGE_WORD);
	assert_int_equal(umemcg_get_current(parent), 0);
	assert_int_equal(number(parent, "memory.swap.current"), 0);
	for (unsigned int i = 0; i < NR_PAGES; i++) {
		check(i, i % 2 ? TEST_PAGE_ZERO : TEST_PAGE_WORD);
		assert_true(store_in_memory(slots[i]));
	}
	free_slots(NR_PAGES);
}

/* The tables of the store come on top: 8 bytes a page. */
static void what_compressed_pages_take_is_charged(void **state)
{
	static store_slot many[8 * NR_PAGES];
	char page[PAGE] aligned_to(PAGE);
	uint64_t before, grown, charged;

	(void)state;
	if (!is_compressing)
		skip();
	put(0, TEST_PAGE_HALF);
	before = resident_bytes() / PAGE;
	for (unsigned int i = 0; i < 8 * NR_PAGES; i++) {
		test_page_make(page, TEST_PAGE_HALF, i);
		assert_int_equal(stored_put(group, page, &many[i]), 0);
	}
	grown = resident_bytes() / PAGE - before;
	charged = umemcg_get_current(group) / PAGE;
	assert_in_range(charged * PAGE, 8 * NR_PAGES * PAGE / 2, 8 * NR_PAGES * PAGE / 20 * 11);
	assert_int_equal(line(parent, "memory.stat", "zswap"), charged * PAGE);
	assert_int_equal(line(parent, "memory.stat", "zswapped"), (8 * NR_PAGES + 1) * PAGE);
	assert_int_equal(line(parent, "memory.stat", "zswpout"), 8 * NR_PAGES + 1);
	assert_int_equal(line(parent, "memory.stat", "anon"), charged * PAGE);
	/* A sanitizer's shadow is resident, too. */
	if (!CONFIG_PORTABLE_ATOMICS && !getenv("ASAN_OPTIONS"))
		assert_in_range(grown, charged - charged / 50, charged + charged / 50 + 20);
	for (unsigned int i = 0; i < 8 * NR_PAGES; i++)
		store_free(many[i]);
	free_slots(1);
}

static void compressed_pages_take_at_most_half_of_a_limit(void **state)
{
	unsigned int nr_compressed = 0;

	(void)state;
	if (!is_compressing)
		skip();
	assert_int_equal(umemcg_set_max(parent, 200 * PAGE), 0);
	for (unsigned int i = 0; i < NR_PAGES; i++) {
		put(i, TEST_PAGE_HALF);
		nr_compressed += store_in_memory(slots[i]);
	}
	assert_in_range(nr_compressed, 180, 200);
	assert_int_equal(umemcg_get_current(parent), 100 * PAGE);
	assert_int_equal(number(parent, "memory.swap.current"), (NR_PAGES - nr_compressed) * PAGE);
	for (unsigned int i = 0; i < NR_PAGES; i++)
		check(i, TEST_PAGE_HALF);
	free_slots(NR_PAGES);
}

static void swap_max_of_any_level_refuses(void **state)
{
	char page[PAGE] aligned_to(PAGE);

	(void)state;
	assert_int_equal(umemcg_write(parent, "memory.swap.max", "40960"), 0);
	assert_int_equal(umemcg_write(group, "memory.swap.max", "1M"), 0);
	for (unsigned int i = 0; i < 10; i++)
		put(i, TEST_PAGE_RANDOM);
	test_page_make(page, TEST_PAGE_RANDOM, 10);
	assert_int_equal(stored_put(group, page, &slots[10]), -ENOSPC);
	assert_int_equal(line(parent, "memory.swap.events", "max"), 1);
	assert_int_equal(line(group, "memory.swap.events", "max"), 0);
	assert_int_equal(line(group, "memory.swap.events", "fail"), 1);
	assert_int_equal(line(parent, "memory.swap.events", "fail"), 1);
	assert_int_equal(umemcg_write(parent, "memory.swap.max", "max"), 0);
	put(10, TEST_PAGE_RANDOM);
	assert_int_equal(umemcg_write(group, "memory.swap.max", "0"), 0);
	assert_int_equal(stored_put(group, page, &slots[11]), -ENOSPC);
	assert_int_equal(line(group, "memory.swap.events", "max"), 1);
	assert_int_equal(number(group, "memory.swap.max"), 0);
	assert_int_equal(number(parent, "memory.swap.peak"), 11 * PAGE);
	assert_int_equal(umemcg_write(NULL, "memory.swap.max", "1M"), -EINVAL);
	assert_int_equal(umemcg_write(group, "memory.swap.max", "many"), -EINVAL);
	for (unsigned int i = 0; i < 11; i++)
		check(i, TEST_PAGE_RANDOM);
	free_slots(11);
	assert_int_equal(number(parent, "memory.swap.peak"), 11 * PAGE);
}

static void a_full_file_refuses_and_loses_nothing(void **state)
{
	char page[PAGE] aligned_to(PAGE);

	(void)state;
	assert_int_equal(umemcg_set_swap(directory, 50 * PAGE), 0);
	for (unsigned int i = 0; i < 50; i++)
		put(i, TEST_PAGE_RANDOM);
	test_page_make(page, TEST_PAGE_RANDOM, 50);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(stored_put(group, page, &slots[50]), -ENOSPC);
	assert_int_equal(line(parent, "memory.swap.events", "fail"), 3);
	assert_int_equal(umemcg_set_swap(NULL, 0), -EBUSY);
	for (unsigned int i = 0; i < 50; i++)
		check(i, TEST_PAGE_RANDOM);
	store_free(slots[20]);
	put(20, TEST_PAGE_RANDOM);
	check(20, TEST_PAGE_RANDOM);
	free_slots(50);
	assert_int_equal(line(parent, "memory.stat", "pswpout"), 51);
	assert_int_equal(line(parent, "memory.stat", "pswpin"), 51);
}

static void without_a_file_what_does_not_shrink_stays(void **state)
{
	char page[PAGE] aligned_to(PAGE);

	(void)state;
	assert_int_equal(umemcg_set_swap(NULL, 0), 0);
	test_page_make(page, TEST_PAGE_RANDOM, 1);
	assert_int_equal(stored_put(group, page, &slots[0]), -ENOSPC);
	assert_int_equal(umemcg_get_current(group), 0);
	put(1, TEST_PAGE_ZERO);
	store_free(slots[1]);
}

/* What a group that is gone has in the store counts for those above it, until it is freed. */
static void an_heir_has_what_a_destroyed_group_stored(void **state)
{
	struct umemcg *other;
	uint64_t current;

	(void)state;
	for (unsigned int i = 0; i < 100; i++)
		put(i, i % 2 ? TEST_PAGE_RANDOM : TEST_PAGE_HALF);
	current = umemcg_get_current(parent);
	assert_int_equal(umemcg_destroy(group), 0);
	group = NULL;
	/* It may well get the number of the owner that is gone. */
	assert_int_equal(umemcg_create(parent, NULL, &other), 0);
	assert_int_equal(umemcg_get_current(parent), current);
	assert_int_equal(number(other, "memory.swap.current"), 0);
	assert_in_range(number(parent, "memory.swap.current"), 50 * PAGE, 100 * PAGE);
	for (unsigned int i = 0; i < 100; i++)
		check(i, i % 2 ? TEST_PAGE_RANDOM : TEST_PAGE_HALF);
	free_slots(100);
	assert_int_equal(number(parent, "memory.swap.current"), 0);
	assert_int_equal(umemcg_get_current(parent), 0);
	assert_int_equal(umemcg_destroy(other), 0);
}

static int check_child(void)
{
	struct umemcg_audit audit;
	char page[PAGE] aligned_to(PAGE);

	if (umemcg_get_current(parent) || number(parent, "memory.swap.current") ||
	    number(parent, "memory.zswap.current") || umemcg_audit(&audit))
		return 1;
	for (unsigned int i = 0; i < 100; i++) {
		test_page_make(page, i % 2 ? TEST_PAGE_RANDOM : TEST_PAGE_HALF, 1000 + i);
		if (stored_put(group, page, &slots[i]))
			return 2;
	}
	return 0;
}

static void a_child_begins_with_an_empty_store(void **state)
{
	pid_t pid;

	(void)state;
	for (unsigned int i = 0; i < 100; i++)
		put(i, i % 2 ? TEST_PAGE_RANDOM : TEST_PAGE_HALF);
	pid = fork_child();
	if (!pid)
		_exit(check_child());
	wait_for_good_end(pid);
	for (unsigned int i = 0; i < 100; i++)
		check(i, i % 2 ? TEST_PAGE_RANDOM : TEST_PAGE_HALF);
	free_slots(100);
}

/* 77: no such file system can be made here. */
static int fill_a_disk(void)
{
	char page[PAGE] aligned_to(PAGE), back[PAGE];
	store_slot mine[40];
	unsigned int nr = 0;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", directory, "tmpfs", 0, "size=64k"))
		return 77;
	if (umemcg_set_swap(directory, 1 << 20))
		return 1;
	for (int r = 0; !r && nr < 40; nr += !r) {
		test_page_make(page, TEST_PAGE_RANDOM, nr);
		r = stored_put(group, page, &mine[nr]);
		if (r && r != -ENOSPC)
			return 2;
	}
	if (nr < 10 || nr > 16 || number(group, "memory.swap.current") != nr * PAGE)
		return 3;
	for (unsigned int i = 0; i < nr; i++) {
		test_page_make(page, TEST_PAGE_RANDOM, i);
		if (store_get(mine[i], back) || memcmp(page, back, PAGE))
			return 4;
	}
	return 0;
}

static void a_full_disk_refuses_and_loses_nothing(void **state)
{
	pid_t pid = fork_child();
	int status;

	(void)state;
	if (!pid)
		_exit(fill_a_disk());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("SKIP: no file system can be mounted\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void the_command_line_names_a_file(void **state)
{
	uint64_t nr_bytes = 0;

	(void)state;
	switch_read("cgroup_enable=memory umemcg.swap=/var/a:b:3M");
	assert_string_equal(switch_swap(&nr_bytes), "/var/a:b");
	assert_int_equal(nr_bytes, 3 << 20);
	switch_read("cgroup_enable=memory umemcg.swap=/var/a umemcg.swap=:3M umemcg.swap=/b:x");
	assert_null(switch_swap(&nr_bytes));
	switch_read("cgroup_enable=memory");
}

#define with_groups(test) cmocka_unit_test_setup_teardown(test, make_groups, destroy_groups)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_groups(every_page_comes_back_as_it_was),
		with_groups(pages_of_one_word_cost_nothing),
		with_groups(what_compressed_pages_take_is_charged),
		with_groups(compressed_pages_take_at_most_half_of_a_limit),
		with_groups(swap_max_of_any_level_refuses),
		with_groups(a_full_file_refuses_and_loses_nothing),
		with_groups(without_a_file_what_does_not_shrink_stays),
		with_groups(an_heir_has_what_a_destroyed_group_stored),
		with_groups(a_child_begins_with_an_empty_store),
		with_groups(a_full_disk_refuses_and_loses_nothing),
		cmocka_unit_test(the_command_line_names_a_file),
	};

	return cmocka_run_group_tests(tests, init, fini);
}
