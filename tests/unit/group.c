/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/init.h"
#include "charge/owner.h"
#include "group/group.h"
#include "umemcg.h"

static struct umemcg *create(struct umemcg *parent, const char *name)
{
	struct umemcg *group;

	assert_int_equal(umemcg_create(parent, name, &group), 0);
	return group;
}

static void destroy(struct umemcg *group)
{
	assert_int_equal(umemcg_destroy(group), 0);
}

static void names_that_no_group_may_have_are_refused(void **state)
{
	static const char *const bad[] = {
		"", ".", "..", "a/b", "/", "@7", "memory.max", "cgroup.procs", "line\nbreak", "\x7f"
	};
	char name[UMEMCG_NAME_MAX + 2];
	struct umemcg *group = NULL;

	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(umemcg_create(NULL, bad[i], &group), -EINVAL);
	memset(name, 'n', sizeof(name));
	name[UMEMCG_NAME_MAX + 1] = '\0';
	assert_int_equal(umemcg_create(NULL, name, &group), -ENAMETOOLONG);
	assert_null(group);
	name[UMEMCG_NAME_MAX] = '\0';
	destroy(create(NULL, name));
}

static void a_name_is_taken_once_below_each_parent(void **state)
{
	struct umemcg *a = create(NULL, "a"), *b = create(NULL, "b"), *other = NULL;
	struct umemcg *x = create(a, "x"), *y = create(b, "x");

	(void)state;
	assert_int_equal(umemcg_create(NULL, "a", &other), -EEXIST);
	assert_int_equal(umemcg_create(a, "x", &other), -EEXIST);
	assert_null(other);
	destroy(x);
	x = create(a, "x");
	destroy(x);
	destroy(y);
	destroy(a);
	destroy(b);
}

static void a_path_leads_to_its_group(void **state)
{
	static const char *const missing[] = { "/deep/no", "deep/er/x", "/@4000000000", "/@1",
					       "@",        "/@0",       "/@01" };
	struct umemcg *a = create(NULL, "deep"), *b = create(a, "er"), *c = create(b, NULL), *found;
	char path[UMEMCG_PATH_MAX], cut[8];

	(void)state;
	umemcg_path(c, path, sizeof(path));
	assert_int_equal(umemcg_path(c, NULL, 0), strlen(path));
	assert_memory_equal(path, "/deep/er/@", 10);
	assert_int_equal(umemcg_lookup(path, &found), 0);
	assert_ptr_equal(found, c);
	assert_int_equal(umemcg_lookup(path + 1, &found), 0);
	assert_ptr_equal(found, c);
	assert_int_equal(umemcg_lookup("/", &found), 0);
	assert_ptr_equal(found, umemcg_root());
	assert_int_equal(umemcg_lookup("deep/", &found), 0);
	assert_ptr_equal(found, a);
	for (unsigned int i = 0; i < sizeof(missing) / sizeof(*missing); i++)
		assert_int_equal(umemcg_lookup(missing[i], &found), -ENOENT);
	assert_int_equal(umemcg_lookup("", &found), -EINVAL);
	assert_int_equal(umemcg_lookup("deep//er", &found), -EINVAL);
	assert_ptr_equal(found, a);
	assert_int_equal(umemcg_path(b, cut, sizeof(cut)), strlen("/deep/er"));
	assert_string_equal(cut, "/deep/e");
	assert_int_equal(umemcg_path(umemcg_root(), cut, sizeof(cut)), 1);
	assert_string_equal(cut, "/");
	assert_int_equal(umemcg_name(b, cut, 2), 2);
	assert_string_equal(cut, "e");
	assert_int_equal(umemcg_name(b, NULL, 0), 2);
	destroy(c);
	destroy(b);
	destroy(a);
}

struct visits {
	struct umemcg *seen[8];
	unsigned int nr;
};

static int visit(struct umemcg *group, void *arg)
{
	struct visits *visits = arg;

	visits->seen[visits->nr++] = group;
	return visits->nr == 7 ? 42 : 0;
}

static void a_walk_sees_parents_before_children(void **state)
{
	struct umemcg *top = create(NULL, "top"), *a = create(top, "a"), *b = create(top, "b"),
		      *aa = create(a, "aa");
	struct visits visits = { .nr = 0 };

	(void)state;
	assert_int_equal(umemcg_walk(top, visit, &visits), 0);
	assert_int_equal(visits.nr, 4);
	assert_ptr_equal(visits.seen[0], top);
	for (unsigned int i = 0; i < 4; i++)
		if (visits.seen[i] == aa)
			assert_ptr_equal(visits.seen[i - 1], a);
	visits.nr = 3;
	assert_int_equal(umemcg_walk(top, visit, &visits), 42);
	destroy(aa);
	destroy(a);
	destroy(b);
	destroy(top);
}

static void depth_and_descendants_can_be_limited(void **state)
{
	struct umemcg *top = create(NULL, "top"), *a, *none = NULL;

	(void)state;
	assert_int_equal(umemcg_write(top, "cgroup.max.descendants", "1"), 0);
	a = create(top, "a");
	assert_int_equal(umemcg_create(top, "b", &none), -EAGAIN);
	assert_int_equal(umemcg_create(a, "b", &none), -EAGAIN);
	assert_int_equal(umemcg_write(top, "cgroup.max.descendants", "max"), 0);
	assert_int_equal(umemcg_write(top, "cgroup.max.depth", "1"), 0);
	assert_int_equal(umemcg_create(a, "b", &none), -EAGAIN);
	destroy(create(top, "b"));
	assert_null(none);
	destroy(a);
	destroy(top);
}

static void a_group_in_use_is_not_destroyed(void **state)
{
	struct umemcg *top = create(NULL, "top"), *a = create(top, "a"), *old;

	(void)state;
	assert_int_equal(umemcg_destroy(top), -EBUSY);
	assert_int_equal(umemcg_destroy(umemcg_root()), -EINVAL);
	assert_int_equal(umemcg_destroy(NULL), 0);
	old = umemcg_enter(a);
	assert_int_equal(umemcg_destroy(a), -EBUSY);
	umemcg_enter(old);
	destroy(a);
	destroy(top);
}

static void heirs_inherit_from_heirs(void **state)
{
	struct umemcg *groups[17] = { umemcg_root() };
	void *objects[17];
	uint64_t sum = 0;

	(void)state;
	for (unsigned int i = 1; i < 17; i++) {
		groups[i] = create(groups[i - 1], NULL);
		objects[i] = umemcg_malloc_in(groups[i], 100 * i);
		sum += umemcg_usable_size(objects[i]);
	}
	for (unsigned int i = 16; i > 1; i--) {
		destroy(groups[i]);
		assert_ptr_equal(umemcg_owner(objects[16]), groups[i - 1]);
		assert_ptr_equal(umemcg_owner(objects[i]), groups[i - 1]);
	}
	umemcg_drain(groups[1]);
	assert_int_equal(umemcg_get_current(groups[1]), sum);
	for (unsigned int i = 16; i > 0; i--)
		umemcg_free(objects[i]);
	umemcg_drain(groups[1]);
	assert_int_equal(umemcg_get_current(groups[1]), 0);
	destroy(groups[1]);
}

static void lowering_the_limit_below_usage_admits_nothing_more(void **state)
{
	struct umemcg *group = create(NULL, "g");

	(void)state;
	assert_int_equal(umemcg_try_charge(group, 1000), 0);
	assert_int_equal(umemcg_set_max(group, 500), -EBUSY);
	assert_int_equal(umemcg_get_max(group), 500);
	assert_int_equal(umemcg_try_charge(group, 1), -ENOMEM);
	umemcg_uncharge(group, 600);
	assert_int_equal(umemcg_try_charge(group, 101), -ENOMEM);
	assert_int_equal(umemcg_try_charge(group, 100), 0);
	umemcg_uncharge(group, 500);
	assert_int_equal(umemcg_set_max(umemcg_root(), 1), -EINVAL);
	destroy(group);
}

static void a_long_path_keeps_its_end_in_a_failure(void **state)
{
	struct umemcg *a = create(NULL, "a-rather-long-name-for-one-group-of-them"),
		      *b = create(a, "and-another-one-that-is-long-below-it");
	struct umemcg_failure failure;

	(void)state;
	assert_int_equal(umemcg_set_max(b, 0), 0);
	assert_int_equal(umemcg_try_charge(b, 5), -ENOMEM);
	assert_int_equal(umemcg_last_failure(&failure), 0);
	assert_int_equal(strlen(failure.group), sizeof(failure.group) - 1);
	assert_memory_equal(failure.group, "...", 3);
	assert_string_equal(failure.group + 26, "and-another-one-that-is-long-below-it");
	assert_int_equal(failure.nr_bytes_asked, 5);
	assert_int_equal(failure.nr_consumers, 0);
	destroy(b);
	destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_no_group_may_have_are_refused),
		cmocka_unit_test(a_name_is_taken_once_below_each_parent),
		cmocka_unit_test(a_path_leads_to_its_group),
		cmocka_unit_test(a_walk_sees_parents_before_children),
		cmocka_unit_test(depth_and_descendants_can_be_limited),
		cmocka_unit_test(a_group_in_use_is_not_destroyed),
		cmocka_unit_test(heirs_inherit_from_heirs),
		cmocka_unit_test(lowering_the_limit_below_usage_admits_nothing_more),
		cmocka_unit_test(a_long_path_keeps_its_end_in_a_failure),
	};

	library_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
