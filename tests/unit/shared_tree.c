/* SPDX-License-Identifier: MIT */
/* Groups of a segment: made, found, walked, removed, and mended after who died doing so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "runtime_dir.h"
#include "shared/segment.h"
#include "shared/slot.h"
#include "shared/tree.h"
#include "shared/tree_lock.h"

static struct segment segment;

static uint32_t make(const char *path)
{
	uint32_t group = 0;
	int r = tree_create(&segment, path, &group);

	if (r)
		fail_msg("%s: %d", path, r);
	return group;
}

static void check_create(const char *path, int error)
{
	uint32_t group = 4711;
	int r = tree_create(&segment, path, &group);

	if (r != error)
		fail_msg("%.100s: %d, expected %d", path, r, error);
	assert_int_equal(group, 4711);
}

static void check_path(uint32_t group, const char *expected)
{
	char path[UMEMCG_PATH_MAX];

	assert_int_equal(tree_path(&segment, group, path, sizeof(path)), strlen(expected));
	assert_string_equal(path, expected);
}

static enum row_state state_of(uint32_t group)
{
	return atomic_load(&segment_group(&segment, group)->state);
}

static void set_state(uint32_t group, enum row_state state)
{
	struct shared_group *row = segment_group(&segment, group);

	if (row)
		atomic_store(&row->state, state);
	else
		fail();
}

static void set_parent(uint32_t group, uint32_t parent)
{
	struct shared_group *row = segment_group(&segment, group);

	if (row)
		atomic_store(&row->counter.parent, parent);
	else
		fail();
}

static void a_group_is_found_by_its_path(void **state)
{
	uint32_t a = make("/a"), b = make("b"), x = make("/a/x"), y = make("a/x/y");

	(void)state;
	assert_int_equal(tree_find(&segment, "/"), SHARED_ROOT);
	assert_int_equal(tree_find(&segment, "/a"), a);
	assert_int_equal(tree_find(&segment, "b"), b);
	assert_int_equal(tree_find(&segment, "/a/x"), x);
	assert_int_equal(tree_find(&segment, "/a/x/"), x);
	assert_int_equal(tree_find(&segment, "a/x/y"), y);
	assert_int_equal(tree_find(&segment, ""), 0);
	assert_int_equal(tree_find(&segment, "//a"), 0);
	assert_int_equal(tree_find(&segment, "/a//x"), 0);
	assert_int_equal(tree_find(&segment, "/x"), 0);
	assert_int_equal(tree_find(&segment, "/a/b"), 0);
	assert_int_equal(tree_find(&segment, "/a/xx"), 0);
	assert_int_equal(tree_parent(&segment, y), x);
	assert_int_equal(tree_parent(&segment, a), SHARED_ROOT);
	assert_int_equal(tree_parent(&segment, SHARED_ROOT), 0);
	assert_int_equal(tree_parent(&segment, 0), 0);
	assert_int_equal(tree_parent(&segment, UINT32_MAX), 0);
	assert_true(tree_is_below(&segment, y, a));
	assert_true(tree_is_below(&segment, y, SHARED_ROOT));
	assert_true(tree_is_below(&segment, a, a));
	assert_false(tree_is_below(&segment, a, x));
	assert_false(tree_is_below(&segment, y, b));
	assert_false(tree_is_below(&segment, 0, SHARED_ROOT));
	check_path(y, "/a/x/y");
	check_path(SHARED_ROOT, "/");
}

static void a_path_is_cut_where_the_buffer_ends(void **state)
{
	uint32_t group;
	char buffer[16];

	(void)state;
	make("/abc");
	group = make("/abc/def");
	for (size_t size = 0; size < sizeof(buffer); size++) {
		memset(buffer, '#', sizeof(buffer));
		assert_int_equal(tree_path(&segment, group, buffer, size), 8);
		assert_int_equal(buffer[size], '#');
		if (!size)
			continue;
		assert_int_equal(strlen(buffer), size - 1 < 8 ? size - 1 : 8);
		assert_memory_equal(buffer, "/abc/def", strlen(buffer));
	}
}

static void names_and_paths_are_checked(void **state)
{
	char longest[UMEMCG_NAME_MAX + 3], path[UMEMCG_PATH_MAX + 2];

	(void)state;
	make("/a");
	check_create("/a", -EEXIST);
	check_create("/", -EEXIST);
	check_create("", -EINVAL);
	check_create("/a/", -EINVAL);
	check_create("//b", -EINVAL);
	check_create("/a//b", -EINVAL);
	check_create("/a/.", -EINVAL);
	check_create("/a/..", -EINVAL);
	check_create("/@7", -EINVAL);
	check_create("/memory.max", -EINVAL);
	check_create("/a/cgroup.procs", -EINVAL);
	check_create("/a\nb", -EINVAL);
	check_create("/b/c", -ENOENT);
	memset(longest, 'n', sizeof(longest));
	longest[0] = '/';
	longest[UMEMCG_NAME_MAX + 2] = '\0';
	check_create(longest, -ENAMETOOLONG);
	longest[UMEMCG_NAME_MAX + 1] = '\0';
	check_path(make(longest), longest);
	memset(path, 'n', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	check_create(path, -ENAMETOOLONG);
}

static void sixty_four_levels_and_no_more(void **state)
{
	char path[256] = "";
	uint32_t group = 0;

	(void)state;
	/* The root is one of them. */
	for (unsigned int i = 1; i < SEGMENT_MAX_DEPTH; i++) {
		strcat(path, "/d");
		group = make(path);
	}
	check_path(group, path);
	assert_int_equal(tree_find(&segment, path), group);
	assert_true(tree_is_below(&segment, group, SHARED_ROOT));
	strcat(path, "/d");
	check_create(path, -EAGAIN);
}

static void a_new_group_has_nothing_of_the_last_one(void **state)
{
	uint32_t group = make("/a"), again;
	struct shared_group *row = segment_group(&segment, group);
	uint64_t nr_uncharges;

	(void)state;
	atomic_store(&row->counter.max, 5);
	atomic_store(&row->counter.peak, 6);
	atomic_store(&row->reserve, 7);
	atomic_store(&row->refused_size[1], 8);
	atomic_store(&row->events[SHARED_EVENT_OOM], 9);
	atomic_store(&row->copies_on_fork, 1);
	atomic_store(&row->nr_processes_ever, 2);
	nr_uncharges = atomic_load(&row->counter.nr_uncharges);
	assert_int_equal(tree_destroy(&segment, group), 0);
	assert_int_equal(tree_find(&segment, "/a"), 0);
	again = make("/b");
	assert_int_equal(again, group);
	assert_true(atomic_load(&row->counter.max) == COUNTER_MAX);
	assert_int_equal(atomic_load(&row->counter.peak), 0);
	assert_int_equal(atomic_load(&row->counter.usage), 0);
	assert_int_equal(atomic_load(&row->counter.depth), 1);
	assert_int_equal(atomic_load(&row->reserve), 0);
	assert_int_equal(atomic_load(&row->refused_size[1]), 0);
	assert_int_equal(atomic_load(&row->events[SHARED_EVENT_OOM]), 0);
	assert_int_equal(atomic_load(&row->copies_on_fork), 0);
	assert_int_equal(atomic_load(&row->nr_processes_ever), 0);
	/* What was remembered of the old one by that number is out of date. */
	assert_true(atomic_load(&row->counter.nr_uncharges) > nr_uncharges);
}

static void a_group_in_use_is_busy(void **state)
{
	uint32_t a = make("/a"), x = make("/a/x"), row;

	(void)state;
	assert_int_equal(tree_destroy(&segment, SHARED_ROOT), -EINVAL);
	assert_int_equal(tree_destroy(&segment, 0), -ENOENT);
	assert_int_equal(tree_destroy(&segment, UINT32_MAX), -ENOENT);
	assert_int_equal(tree_destroy(&segment, a), -EBUSY);
	assert_int_equal(slot_claim(&segment, 0, getpid(), 0, &row), 0);
	/* Joined counts, live or not. */
	assert_int_equal(tree_join(&segment, row, x), 0);
	assert_int_equal(tree_destroy(&segment, x), -EBUSY);
	slot_set_live(&segment, row);
	assert_int_equal(tree_destroy(&segment, x), -EBUSY);
	assert_int_equal(state_of(x), ROW_LIVE);
	assert_int_equal(atomic_load(&segment_group(&segment, a)->nr_processes_ever), 1);
	slot_free(&segment, row);
	assert_int_equal(tree_destroy(&segment, x), 0);
	assert_int_equal(tree_destroy(&segment, x), -ENOENT);
	assert_int_equal(tree_destroy(&segment, a), 0);
	assert_int_equal(slot_claim(&segment, 0, getpid(), 0, &row), 0);
	assert_int_equal(tree_join(&segment, row, a), -ENOENT);
	assert_int_equal(atomic_load(&segment_process(&segment, row)->group), 0);
	slot_free(&segment, row);
}

static void a_group_whose_image_is_held_is_busy(void **state)
{
	uint32_t a = make("/a");
	struct shared_image *image;

	(void)state;
	assert_int_equal(segment_commit_row(&segment, REGION_IMAGES, 3), 0);
	image = segment_image(&segment, 3);
	atomic_store(&image->group, a);
	atomic_store(&image->state, ROW_LIVE);
	assert_int_equal(tree_destroy(&segment, a), -EBUSY);
	atomic_store(&image->state, ROW_FREE);
	assert_int_equal(tree_destroy(&segment, a), 0);
}

static void a_tree_has_an_end(void **state)
{
	char path[32];
	uint32_t group;
	int r = 0;
	unsigned int nr = 0;

	(void)state;
	while (!r) {
		snprintf(path, sizeof(path), "/%u", nr);
		r = tree_create(&segment, path, &group);
		nr += !r;
	}
	assert_int_equal(r, -ENOSPC);
	/* And the root. */
	assert_int_equal(nr, 4095);
	group = tree_find(&segment, "/4711");
	assert_int_equal(group, 0);
	group = tree_find(&segment, "/2000");
	assert_int_equal(tree_destroy(&segment, group), 0);
	assert_int_equal(make("/again"), group);
}

static void check_walk(const char *top, const char *const *expected, unsigned int nr)
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

static void a_walk_is_sorted_and_whole(void **state)
{
	static const char *const paths[] = { "/b", "/a", "/a/z", "/a/y", "/c", "/a/y/k", "/b/b" };
	static const char *const sorted[] = { "/",    "/a", "/a/y", "/a/y/k",
					      "/a/z", "/b", "/b/b", "/c" };

	(void)state;
	check_walk("/", sorted, 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(paths); i++)
		make(paths[i]);
	check_walk("/", sorted, ARRAY_SIZE(sorted));
	check_walk("/a", sorted + 1, 4);
	check_walk("/a/y", sorted + 2, 2);
	check_walk("/c", sorted + 7, 1);
}

static void a_walk_goes_on_where_a_group_has_gone(void **state)
{
	uint32_t b = make("/b"), inner, group;
	char path[UMEMCG_PATH_MAX] = "/b/inner";

	(void)state;
	inner = make("/b/inner");
	make("/c");
	assert_int_equal(tree_destroy(&segment, inner), 0);
	assert_int_equal(tree_destroy(&segment, b), 0);
	/* Their rows are others' by now. */
	make("/a");
	make("/a/z");
	group = tree_next(&segment, inner, "/", path);
	assert_string_equal(path, "/c");
	assert_int_equal(group, tree_find(&segment, "/c"));
}

/* ---- the lock ---- */

/* A child that takes the lock, does @act and ends, or stops itself. */
static pid_t fork_holder(void (*act)(void), bool stops)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		/* A row of its own: the parent's is not known to be of another. */
		if (slot_claim(&segment, 0, getpid(), PROCESS_LOOKS, &segment.process))
			_exit(1);
		slot_set_live(&segment, segment.process);
		if (tree_lock_take(&segment))
			_exit(2);
		act();
		if (stops)
			raise(SIGSTOP);
		_exit(0);
	}
	return pid;
}

static void wait_for_end(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Half a group, one that is being removed, and one whose removal is to come to nothing. */
static void leave_everything_half_done(void)
{
	uint32_t made = tree_find(&segment, "/made");

	set_state(made, ROW_MAKING);
	set_state(tree_find(&segment, "/removed"), ROW_DYING);
	set_state(tree_find(&segment, "/parent"), ROW_DYING);
}

static void a_dead_holder_is_succeeded_and_his_work_mended(void **state)
{
	uint32_t made = make("/made"), removed = make("/removed"), parent = make("/parent"),
		 child = make("/parent/child");

	(void)state;
	wait_for_end(fork_holder(leave_everything_half_done, false));
	/* It stands while it is not known whether it goes. */
	assert_true(tree_is_below(&segment, child, parent));
	assert_int_equal(tree_find(&segment, "/parent"), 0);
	assert_int_not_equal(make("/new"), 0);
	assert_int_not_equal(state_of(made), ROW_MAKING);
	assert_int_equal(tree_find(&segment, "/made"), 0);
	assert_int_equal(tree_find(&segment, "/removed"), 0);
	assert_int_not_equal(state_of(removed), ROW_DYING);
	assert_int_equal(tree_find(&segment, "/parent"), parent);
	assert_int_equal(tree_find(&segment, "/parent/child"), child);
	/* It was given back. */
	assert_int_equal(tree_destroy(&segment, child), 0);
}

static void a_row_that_is_given_back_holds_no_lock(void **state)
{
	uint32_t made = make("/made"), row;

	(void)state;
	make("/removed");
	make("/parent");
	wait_for_end(fork_holder(leave_everything_half_done, false));
	row = slot_first_dead(&segment, 0);
	assert_int_not_equal(row, 0);
	slot_free(&segment, row);
	assert_int_equal(state_of(made), ROW_FREE);
	/* Whoever gets the row next is not taken for the holder. */
	assert_int_equal(slot_claim(&segment, 0, getppid(), PROCESS_LOOKS, &row), 0);
	slot_set_live(&segment, row);
	make("/new");
	slot_free(&segment, row);
}

static void do_nothing(void)
{
}

static void a_stopped_holder_costs_a_second(void **state)
{
	struct timespec before, after;
	int status;
	pid_t pid;

	(void)state;
	pid = fork_holder(do_nothing, true);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	clock_gettime(CLOCK_MONOTONIC, &before);
	check_create("/late", -ETIMEDOUT);
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_in_range((after.tv_sec - before.tv_sec) * 1000 +
				(after.tv_nsec - before.tv_nsec) / 1000000,
			900, 5000);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	make("/late");
}

static void make_and_remove(unsigned int number)
{
	char path[32];
	uint32_t group;

	for (unsigned int i = 0; i < 200; i++) {
		snprintf(path, sizeof(path), "/p%u-%u", number, i % 7);
		if (tree_create(&segment, path, &group) || tree_find(&segment, path) != group ||
		    tree_destroy(&segment, group))
			_exit(1);
	}
}

static void many_makers_do_not_meet(void **state)
{
	pid_t pids[8];

	(void)state;
	fflush(NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(pids); i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i])
			continue;
		if (slot_claim(&segment, 0, getpid(), PROCESS_LOOKS, &segment.process))
			_exit(2);
		slot_set_live(&segment, segment.process);
		make_and_remove(i);
		_exit(0);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(pids); i++)
		wait_for_end(pids[i]);
	check_walk("/", (const char *const[]){ "/" }, 1);
}

/* SIGKILL at any instant; what is left is mended by whoever comes next, and no row is lost. */
static void no_row_is_lost_by_makers_that_are_killed(void **state)
{
	uint32_t nr_used;

	(void)state;
	for (unsigned int round = 0; round < 100; round++) {
		struct timespec while_it_works = { .tv_nsec = 20000 * (round % 10) };
		pid_t pid;
		uint32_t row;

		fflush(NULL);
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			if (slot_claim(&segment, 0, getpid(), PROCESS_LOOKS, &segment.process))
				_exit(2);
			slot_set_live(&segment, segment.process);
			for (;;)
				make_and_remove(0);
		}
		/* Any instant will do: nothing is expected of what it has done by then. */
		nanosleep(&while_it_works, NULL);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		while ((row = slot_first_dead(&segment, 0)))
			slot_free(&segment, row);
		/* Takes the lock, whoever had it. */
		assert_int_equal(tree_destroy(&segment, make("/after")), 0);
		for (unsigned int i = 0; i < 7; i++) {
			char path[32];

			snprintf(path, sizeof(path), "/p0-%u", i);
			if (tree_find(&segment, path))
				tree_destroy(&segment, tree_find(&segment, path));
		}
	}
	nr_used = segment_nr_used(&segment, REGION_GROUPS);
	for (uint32_t group = SHARED_ROOT + 1; group < nr_used; group++)
		assert_int_equal(state_of(group), ROW_FREE);
	assert_true(nr_used < 8);
}

/* ---- what others may have written ---- */

static void circles_and_wild_parents_end_a_walk(void **state)
{
	uint32_t a = make("/a"), b = make("/a/b"), group = a, nr = 0;
	char path[UMEMCG_PATH_MAX], walked[UMEMCG_PATH_MAX] = "/a";

	(void)state;
	set_parent(a, b);
	assert_false(tree_is_below(&segment, a, SHARED_ROOT));
	assert_true(tree_path(&segment, a, path, sizeof(path)) < 64 * 3);
	set_parent(a, a);
	assert_true(tree_is_below(&segment, b, a));
	while (group && nr < 100)
		nr += (group = tree_next(&segment, group, "/", walked)) != 0;
	assert_int_equal(nr, 0);
	check_walk("/", (const char *const[]){ "/" }, 1);
	set_parent(a, UINT32_MAX);
	assert_int_equal(tree_parent(&segment, a), 0);
	check_path(b, "/a/b");
	set_parent(a, 4000);
	assert_int_equal(tree_parent(&segment, a), 0);
	set_parent(a, SHARED_ROOT);
}

static void a_name_without_an_end_stays_in_its_row(void **state)
{
	uint32_t group = make("/a");
	char path[UMEMCG_PATH_MAX];

	(void)state;
	make("/b");
	memset(segment_place(&segment, group)->name, 'x', sizeof(struct group_place));
	assert_int_equal(tree_path(&segment, group, path, sizeof(path)), 1 + UMEMCG_NAME_MAX);
	assert_int_equal(strlen(path), 1 + UMEMCG_NAME_MAX);
	strcpy(segment_place(&segment, group)->name, "\033[2J/../x");
	check_path(group, "/?[2J?..?x");
	/* Nobody is led to what nobody can name. */
	check_walk("/", (const char *const[]){ "/", "/b" }, 2);
}

static void a_wild_lock_is_taken_over(void **state)
{
	static const uint32_t words[] = { 0x7fff, 0xffff, 0xffffffff, 0x12340000 | 900 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(words); i++) {
		atomic_store(&segment.header->tree_lock, words[i]);
		assert_int_equal(tree_destroy(&segment, make("/a")), 0);
	}
}

static int open_segment(void **state)
{
	(void)state;
	if (segment_open(&segment, "tree", true) ||
	    slot_claim(&segment, 0, getpid(), PROCESS_LOOKS, &segment.process))
		return -1;
	slot_set_live(&segment, segment.process);
	return 0;
}

static int close_segment(void **state)
{
	(void)state;
	slot_free(&segment, segment.process);
	segment_close(&segment);
	return segment_unlink("tree");
}

#define test_in_tree(name) cmocka_unit_test_setup_teardown(name, open_segment, close_segment)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_tree(a_group_is_found_by_its_path),
		test_in_tree(a_path_is_cut_where_the_buffer_ends),
		test_in_tree(names_and_paths_are_checked),
		test_in_tree(sixty_four_levels_and_no_more),
		test_in_tree(a_new_group_has_nothing_of_the_last_one),
		test_in_tree(a_group_in_use_is_busy),
		test_in_tree(a_group_whose_image_is_held_is_busy),
		test_in_tree(a_tree_has_an_end),
		test_in_tree(a_walk_is_sorted_and_whole),
		test_in_tree(a_walk_goes_on_where_a_group_has_gone),
		test_in_tree(a_dead_holder_is_succeeded_and_his_work_mended),
		test_in_tree(a_row_that_is_given_back_holds_no_lock),
		test_in_tree(a_stopped_holder_costs_a_second),
		test_in_tree(many_makers_do_not_meet),
		test_in_tree(no_row_is_lost_by_makers_that_are_killed),
		test_in_tree(circles_and_wild_parents_end_a_walk),
		test_in_tree(a_name_without_an_end_stays_in_its_row),
		test_in_tree(a_wild_lock_is_taken_over),
	};
	int r;

	runtime_dir_make();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	runtime_dir_remove();
	return r;
}
