/* SPDX-License-Identifier: MIT */
/* Groups of a segment: made, found, walked and removed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "shared_fixture.h"

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
	uint32_t a = make_group("/a"), b = make_group("b"), x = make_group("/a/x"),
		 y = make_group("a/x/y");

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
	make_group("/abc");
	group = make_group("/abc/def");
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
	make_group("/a");
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
	check_path(make_group(longest), longest);
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
		group = make_group(path);
	}
	check_path(group, path);
	assert_int_equal(tree_find(&segment, path), group);
	assert_true(tree_is_below(&segment, group, SHARED_ROOT));
	strcat(path, "/d");
	check_create(path, -EAGAIN);
}

static void a_new_group_has_nothing_of_the_last_one(void **state)
{
	uint32_t group = make_group("/a"), again;
	struct shared_group *row = segment_group(&segment, group);
	uint64_t nr_uncharges;

	(void)state;
	atomic_store(&row->counter.max, 5);
	atomic_store(&row->counter.peak, 6);
	atomic_store(&row->reserve, 7);
	atomic_store(&row->refused_size[1], 8);
	atomic_store(&row->events[SHARED_EVENT_OOM], 9);
	atomic_store(&row->events_local[SHARED_EVENT_OOM], 9);
	atomic_store(&row->high, 1);
	atomic_store(&row->low, 2);
	atomic_store(&row->min, 3);
	atomic_store(&row->oom_policy, SHARED_POLICY_KILL);
	atomic_store(&row->oom_group, 1);
	atomic_store(&row->stalls[STALL_SOME].word, 1 << 16);
	atomic_store(&row->stalls[STALL_FULL].nr_us, 4);
	atomic_store(&row->copies_on_fork, 1);
	atomic_store(&row->nr_processes_ever, 2);
	nr_uncharges = atomic_load(&row->counter.nr_uncharges);
	assert_int_equal(tree_destroy(&segment, group), 0);
	assert_int_equal(tree_find(&segment, "/a"), 0);
	again = make_group("/b");
	assert_int_equal(again, group);
	assert_true(atomic_load(&row->counter.max) == COUNTER_MAX);
	assert_int_equal(atomic_load(&row->counter.peak), 0);
	assert_int_equal(atomic_load(&row->counter.usage), 0);
	assert_int_equal(atomic_load(&row->counter.depth), 1);
	assert_int_equal(atomic_load(&row->reserve), 0);
	assert_int_equal(atomic_load(&row->refused_size[1]), 0);
	assert_int_equal(atomic_load(&row->events[SHARED_EVENT_OOM]), 0);
	assert_int_equal(atomic_load(&row->events_local[SHARED_EVENT_OOM]), 0);
	assert_true(atomic_load(&row->high) == COUNTER_MAX);
	assert_int_equal(atomic_load(&row->low), 0);
	assert_int_equal(atomic_load(&row->min), 0);
	assert_int_equal(atomic_load(&row->oom_policy), SHARED_POLICY_FAIL);
	assert_int_equal(atomic_load(&row->oom_group), 0);
	assert_int_equal(atomic_load(&row->stalls[STALL_SOME].word), 0);
	assert_int_equal(atomic_load(&row->stalls[STALL_FULL].nr_us), 0);
	assert_int_equal(atomic_load(&row->copies_on_fork), 0);
	assert_int_equal(atomic_load(&row->nr_processes_ever), 0);
	/* What was remembered of the old one by that number is out of date. */
	assert_true(atomic_load(&row->counter.nr_uncharges) > nr_uncharges);
}

static void a_group_in_use_is_busy(void **state)
{
	uint32_t a = make_group("/a"), x = make_group("/a/x"), row;

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
	uint32_t a = make_group("/a");
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
	assert_int_equal(make_group("/again"), group);
}

static void a_walk_is_sorted_and_whole(void **state)
{
	static const char *const paths[] = { "/b", "/a", "/a/z", "/a/y", "/c", "/a/y/k", "/b/b" };
	static const char *const sorted[] = { "/",    "/a", "/a/y", "/a/y/k",
					      "/a/z", "/b", "/b/b", "/c" };

	(void)state;
	check_walk("/", sorted, 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(paths); i++)
		make_group(paths[i]);
	check_walk("/", sorted, ARRAY_SIZE(sorted));
	check_walk("/a", sorted + 1, 4);
	check_walk("/a/y", sorted + 2, 2);
	check_walk("/c", sorted + 7, 1);
}

static void a_walk_goes_on_where_a_group_has_gone(void **state)
{
	uint32_t b = make_group("/b"), inner, group;
	char path[UMEMCG_PATH_MAX] = "/b/inner";

	(void)state;
	inner = make_group("/b/inner");
	make_group("/c");
	assert_int_equal(tree_destroy(&segment, inner), 0);
	assert_int_equal(tree_destroy(&segment, b), 0);
	/* Their rows are others' by now. */
	make_group("/a");
	make_group("/a/z");
	group = tree_next(&segment, inner, "/", path);
	assert_string_equal(path, "/c");
	assert_int_equal(group, tree_find(&segment, "/c"));
}

/* ---- what others may have written ---- */

static void circles_and_wild_parents_end_a_walk(void **state)
{
	uint32_t a = make_group("/a"), b = make_group("/a/b"), group = a, nr = 0;
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
	uint32_t group = make_group("/a");
	char path[UMEMCG_PATH_MAX];

	(void)state;
	make_group("/b");
	memset(segment_place(&segment, group)->name, 'x', sizeof(struct group_place));
	assert_int_equal(tree_path(&segment, group, path, sizeof(path)), 1 + UMEMCG_NAME_MAX);
	assert_int_equal(strlen(path), 1 + UMEMCG_NAME_MAX);
	strcpy(segment_place(&segment, group)->name, "\033[2J/../x");
	check_path(group, "/?[2J?..?x");
	/* Nobody is led to what nobody can name. */
	check_walk("/", (const char *const[]){ "/", "/b" }, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_segment(a_group_is_found_by_its_path),
		test_in_segment(a_path_is_cut_where_the_buffer_ends),
		test_in_segment(names_and_paths_are_checked),
		test_in_segment(sixty_four_levels_and_no_more),
		test_in_segment(a_new_group_has_nothing_of_the_last_one),
		test_in_segment(a_group_in_use_is_busy),
		test_in_segment(a_group_whose_image_is_held_is_busy),
		test_in_segment(a_tree_has_an_end),
		test_in_segment(a_walk_is_sorted_and_whole),
		test_in_segment(a_walk_goes_on_where_a_group_has_gone),
		test_in_segment(circles_and_wild_parents_end_a_walk),
		test_in_segment(a_name_without_an_end_stays_in_its_row),
	};
	int r;

	runtime_dir_make();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	runtime_dir_remove();
	return r;
}
