/* SPDX-License-Identifier: MIT */
/* Control files: the table, the format of each file to the byte, and what writing them takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "umemcg.h"

#define MIB ((uint64_t)1 << 20)

#define STAT_OF_NOTHING                                                                            \
	"anon 0\nslab 0\nstack 0\nexternal 0\nstock 0\n"                                           \
	"zswap 0\nzswapped 0\nzswpin 0\nzswpout 0\npswpin 0\npswpout 0\n"

static struct umemcg *group;
static char group_name[32];

static void check_reads(struct umemcg *of, const char *file, const char *expected)
{
	char text[4096];
	int length = umemcg_read(of, file, text, sizeof(text));

	if (length < 0)
		fail_msg("%s: error %d", file, length);
	if (strcmp(text, expected))
		fail_msg("%s: reads \"%s\", expected \"%s\"", file, text, expected);
	assert_int_equal(length, strlen(expected));
}

static void check_takes(const char *file, const char *value, const char *reads)
{
	int r = umemcg_write(group, file, value);

	if (r)
		fail_msg("%s: \"%s\" returned %d", file, value, r);
	check_reads(group, file, reads);
}

/* Refused, and the file reads as before. */
static void check_refuses(struct umemcg *of, const char *file, const char *value, int error)
{
	char before[4096];
	int r;

	umemcg_read(of, file, before, sizeof(before));
	r = umemcg_write(of, file, value);
	if (r != error)
		fail_msg("%s: \"%s\" returned %d, expected %d", file, value, r, error);
	check_reads(of, file, before);
}

static uint64_t number_of(struct umemcg *of, const char *file, const char *key)
{
	char text[4096], line[64];
	const char *at;

	assert_true(umemcg_read(of, file, text, sizeof(text)) > 0);
	snprintf(line, sizeof(line), "%s ", key);
	at = strstr(text, line);
	if (!at || (at != text && at[-1] != '\n'))
		fail_msg("%s lacks %s: \"%s\"", file, key, text);
	return strtoull(at + strlen(line), NULL, 10);
}

static int create_group(void **state)
{
	static unsigned int number;

	(void)state;
	snprintf(group_name, sizeof(group_name), "control-%u", number++);
	return umemcg_create(NULL, group_name, &group);
}

static int destroy_group(void **state)
{
	(void)state;
	umemcg_enter(NULL);
	return umemcg_destroy(group);
}

static void the_table_has_the_files_that_something_stands_behind(void **state)
{
	static const char *const expected[] = {
		"cgroup.events",       "cgroup.max.depth",     "cgroup.max.descendants",
		"cgroup.procs",        "cgroup.stat",          "cgroup.threads",
		"memory.consumers",    "memory.current",       "memory.events",
		"memory.events.local", "memory.high",          "memory.low",
		"memory.max",          "memory.min",           "memory.oom.group",
		"memory.oom.policy",   "memory.peak",          "memory.pressure",
		"memory.reclaim",      "memory.reserve",       "memory.stat",
		"memory.swap.current", "memory.swap.events",   "memory.swap.max",
		"memory.swap.peak",    "memory.zswap.current",
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(expected); i++)
		assert_string_equal(umemcg_control_file(i), expected[i]);
	assert_null(umemcg_control_file(ARRAY_SIZE(expected)));
	assert_null(umemcg_control_file(UINT32_MAX));
}

static void files_that_nothing_stands_behind_are_absent(void **state)
{
	static const char *const absent[] = {
		"memory.swap.high",
		"memory.zswap.max",
		"memory.numa_stat",
		"memory",
		"memory.",
		"memory.current ",
		"",
	};
	char text[64] = "untouched";

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(absent); i++) {
		assert_int_equal(umemcg_read(group, absent[i], text, sizeof(text)), -ENOENT);
		assert_int_equal(umemcg_write(group, absent[i], "1M"), -ENOENT);
		assert_string_equal(text, "untouched");
	}
}

static void no_group_may_be_called_like_a_file(void **state)
{
	struct umemcg *made = NULL;

	(void)state;
	for (unsigned int i = 0; umemcg_control_file(i); i++) {
		assert_int_equal(umemcg_create(group, umemcg_control_file(i), &made), -EINVAL);
		assert_null(made);
	}
}

#define NO_EVENTS "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\nunderflow 0\n"

static void a_fresh_group_reads_as_in_cgroup_v2(void **state)
{
	(void)state;
	check_reads(group, "cgroup.events", "populated 0\n");
	check_reads(group, "cgroup.max.depth", "max\n");
	check_reads(group, "cgroup.max.descendants", "max\n");
	check_reads(group, "cgroup.procs", "");
	check_reads(group, "cgroup.stat", "nr_descendants 0\n");
	check_reads(group, "cgroup.threads", "");
	check_reads(group, "memory.consumers", "");
	check_reads(group, "memory.current", "0\n");
	check_reads(group, "memory.events", NO_EVENTS);
	check_reads(group, "memory.events.local", NO_EVENTS);
	check_reads(group, "memory.high", "max\n");
	check_reads(group, "memory.low", "0\n");
	check_reads(group, "memory.max", "max\n");
	check_reads(group, "memory.min", "0\n");
	check_reads(group, "memory.oom.group", "0\n");
	check_reads(group, "memory.oom.policy", "fail\n");
	check_reads(group, "memory.peak", "0\n");
	check_reads(group, "memory.reserve", "0\n");
	check_reads(group, "memory.stat", STAT_OF_NOTHING);
}

static void limits_take_the_grammar_of_sizes(void **state)
{
	static const char *const files[] = { "memory.max", "memory.reserve" };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(files); i++) {
		check_takes(files[i], "64M", "67108864\n");
		check_takes(files[i], " 1g\n", "1073741824\n");
		check_takes(files[i], "12345", "12345\n");
		check_refuses(group, files[i], "64MB", -EINVAL);
		check_refuses(group, files[i], "1.5G", -EINVAL);
		check_refuses(group, files[i], "-1", -EINVAL);
		check_refuses(group, files[i], "", -EINVAL);
		check_refuses(group, files[i], "16E", -ERANGE);
		check_takes(files[i], "max", "max\n");
		check_takes(files[i], "0", "0\n");
	}
	assert_int_equal(umemcg_write(group, "memory.max", "max"), 0);
}

static void counts_take_numbers_and_max(void **state)
{
	static const char *const files[] = { "cgroup.max.depth", "cgroup.max.descendants" };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(files); i++) {
		check_takes(files[i], "7\n", "7\n");
		check_takes(files[i], "1k", "1024\n");
		check_takes(files[i], "4294967294", "4294967294\n");
		check_refuses(group, files[i], "4294967295", -ERANGE);
		check_refuses(group, files[i], "4G", -ERANGE);
		check_refuses(group, files[i], "18446744073709551616", -ERANGE);
		check_refuses(group, files[i], "seven", -EINVAL);
		check_takes(files[i], "max", "max\n");
	}
}

static void files_that_only_report_cannot_be_written(void **state)
{
	static const char *const files[] = {
		"cgroup.events",    "cgroup.procs",   "cgroup.stat",   "cgroup.threads",
		"memory.consumers", "memory.current", "memory.events", "memory.events.local",
		"memory.peak",      "memory.stat",
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(files); i++)
		assert_int_equal(umemcg_write(group, files[i], "1M"), -EACCES);
}

static bool never_asked(struct umemcg *full, const struct umemcg_failure *failure, void *arg)
{
	(void)full;
	(void)failure;
	(void)arg;
	return false;
}

static void policies_take_their_names_but_a_callback_is_not_written(void **state)
{
	(void)state;
	check_takes("memory.oom.policy", "kill", "kill\n");
	check_takes("memory.oom.policy", " fail\n", "fail\n");
	check_refuses(group, "memory.oom.policy", "callback", -EINVAL);
	check_refuses(group, "memory.oom.policy", "", -EINVAL);
	check_refuses(group, "memory.oom.policy", "kil", -EINVAL);
	check_refuses(group, "memory.oom.policy", "killer", -EINVAL);
	assert_int_equal(umemcg_set_oom_policy(group, UMEMCG_OOM_CALLBACK, never_asked, NULL), 0);
	check_reads(group, "memory.oom.policy", "callback\n");
	check_takes("memory.oom.policy", "fail", "fail\n");
}

static void a_group_kill_is_on_or_off(void **state)
{
	(void)state;
	check_takes("memory.oom.group", "1\n", "1\n");
	check_refuses(group, "memory.oom.group", "2", -EINVAL);
	check_refuses(group, "memory.oom.group", "-1", -EINVAL);
	check_refuses(group, "memory.oom.group", "max", -EINVAL);
	check_refuses(group, "memory.oom.group", "on", -EINVAL);
	check_refuses(group, "memory.oom.group", "", -EINVAL);
	check_takes("memory.oom.group", "0", "0\n");
}

static void the_root_has_no_limits(void **state)
{
	struct umemcg *root = umemcg_root();

	(void)state;
	check_refuses(root, "memory.oom.group", "1", -EINVAL);
	check_refuses(root, "memory.oom.policy", "kill", -EINVAL);
	check_refuses(root, "memory.max", "1G", -EINVAL);
	check_refuses(root, "memory.reserve", "1G", -EINVAL);
	check_reads(root, "memory.max", "max\n");
}

static void a_text_that_does_not_fit_is_cut_and_measured(void **state)
{
	static const char whole[] = STAT_OF_NOTHING;
	char text[sizeof(whole) + 1];

	(void)state;
	for (size_t size = 0; size <= sizeof(text); size++) {
		size_t fits = size > sizeof(whole) ? sizeof(whole) - 1 : size - 1;

		memset(text, '#', sizeof(text));
		assert_int_equal(umemcg_read(group, "memory.stat", text, size), sizeof(whole) - 1);
		if (!size) {
			assert_int_equal(text[0], '#');
			continue;
		}
		assert_memory_equal(text, whole, fits);
		assert_int_equal(text[fits], '\0');
		if (size < sizeof(text))
			assert_int_equal(text[size], '#');
	}
	assert_int_equal(umemcg_read(group, "memory.stat", NULL, 0), sizeof(whole) - 1);
}

static void the_kinds_add_up_to_current(void **state)
{
	static const char *const kinds[] = { "anon", "slab", "stack", "external", "stock" };
	struct umemcg *child;
	void *region, *stack, *object;
	uint64_t sum = 0;

	(void)state;
	assert_int_equal(umemcg_create(group, "child", &child), 0);
	umemcg_enter(child);
	assert_int_equal(umemcg_map(child, 3 * 4096 - 1, &region), 0);
	assert_int_equal(umemcg_stack_alloc(64 << 10, &stack), 0);
	assert_int_equal(umemcg_try_charge(child, 12345), 0);
	object = umemcg_malloc(1000);
	assert_non_null(object);

	assert_int_equal(number_of(group, "memory.stat", "anon"), 3 * 4096);
	assert_int_equal(number_of(group, "memory.stat", "stack"), 64 << 10);
	assert_int_equal(number_of(group, "memory.stat", "external"), 12345);
	assert_int_equal(number_of(group, "memory.stat", "slab"), umemcg_usable_size(object));
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++)
		sum += number_of(group, "memory.stat", kinds[i]);
	assert_int_equal(sum, umemcg_get_current(group));

	umemcg_free(object);
	umemcg_uncharge(child, 12345);
	umemcg_stack_free(stack);
	assert_int_equal(umemcg_unmap(region), 0);
	umemcg_enter(NULL);
	umemcg_drain(group);
	check_reads(group, "memory.current", "0\n");
	check_reads(group, "memory.stat", STAT_OF_NOTHING);
	assert_int_equal(umemcg_destroy(child), 0);
}

static void consumers_are_named_with_what_they_have(void **state)
{
	static const uint64_t sizes[] = { 1 * MIB, 4 * MIB, 2 * MIB, 3 * MIB };
	struct umemcg *children[ARRAY_SIZE(sizes)];
	char expected[256];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		char name[32];

		snprintf(name, sizeof(name), "child %u", i);
		assert_int_equal(umemcg_create(group, name, &children[i]), 0);
		assert_int_equal(umemcg_try_charge(children[i], sizes[i]), 0);
		umemcg_drain(children[i]);
	}
	snprintf(expected, sizeof(expected),
		 "/%s/child 1 4194304\n/%s/child 3 3145728\n/%s/child 2 2097152\n", group_name,
		 group_name, group_name);
	check_reads(group, "memory.consumers", expected);
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		umemcg_uncharge(children[i], sizes[i]);
		assert_int_equal(umemcg_destroy(children[i]), 0);
	}
}

static void a_refusal_is_counted_where_it_happened_and_above(void **state)
{
	struct umemcg *child;
	uint64_t before = number_of(group, "memory.events", "max");
	uint64_t before_local = number_of(group, "memory.events.local", "max");

	(void)state;
	assert_int_equal(umemcg_create(group, NULL, &child), 0);
	assert_int_equal(umemcg_write(child, "memory.max", "1M"), 0);
	assert_int_equal(umemcg_try_charge(child, 2 * MIB), -ENOMEM);
	assert_true(number_of(child, "memory.events.local", "max") >= 1);
	assert_int_equal(number_of(child, "memory.events.local", "oom"), 1);
	assert_int_equal(number_of(group, "memory.events", "max") - before,
			 number_of(child, "memory.events", "max"));
	assert_int_equal(number_of(group, "memory.events.local", "max"), before_local);
	assert_int_equal(umemcg_destroy(child), 0);
}

static void a_limit_below_usage_is_in_force_and_ebusy(void **state)
{
	void *region;

	(void)state;
	assert_int_equal(umemcg_map(group, MIB, &region), 0);
	assert_int_equal(umemcg_write(group, "memory.max", "512K"), -EBUSY);
	check_reads(group, "memory.max", "524288\n");
	assert_int_equal(umemcg_unmap(region), 0);
	assert_int_equal(umemcg_write(group, "memory.max", "max"), 0);
}

static void threads_are_listed_in_the_group_they_are_in(void **state)
{
	struct umemcg *child;
	char tid[32], pid[32];
	void *object;

	(void)state;
	snprintf(tid, sizeof(tid), "%d\n", gettid());
	snprintf(pid, sizeof(pid), "%d\n", getpid());
	assert_int_equal(umemcg_create(group, "inner", &child), 0);
	umemcg_enter(child);
	object = umemcg_malloc(1);
	check_reads(child, "cgroup.threads", tid);
	check_reads(child, "cgroup.procs", pid);
	check_reads(child, "cgroup.events", "populated 1\n");
	check_reads(group, "cgroup.threads", "");
	check_reads(group, "cgroup.procs", "");
	check_reads(group, "cgroup.events", "populated 1\n");
	check_reads(group, "cgroup.stat", "nr_descendants 1\n");
	assert_int_equal(umemcg_destroy(child), -EBUSY);
	umemcg_free(object);
	umemcg_enter(NULL);
	check_reads(child, "cgroup.threads", "");
	check_reads(group, "cgroup.events", "populated 0\n");
	assert_int_equal(umemcg_destroy(child), 0);
}

static void depth_and_descendants_forbid_what_would_be_too_much(void **state)
{
	struct umemcg *child, *none = NULL;

	(void)state;
	assert_int_equal(umemcg_write(group, "cgroup.max.descendants", "1"), 0);
	assert_int_equal(umemcg_create(group, "first", &child), 0);
	assert_int_equal(umemcg_create(group, "second", &none), -EAGAIN);
	assert_int_equal(umemcg_create(child, "below", &none), -EAGAIN);
	assert_int_equal(umemcg_write(group, "cgroup.max.descendants", "max"), 0);
	assert_int_equal(umemcg_write(group, "cgroup.max.depth", "1"), 0);
	assert_int_equal(umemcg_create(child, "below", &none), -EAGAIN);
	assert_null(none);
	assert_int_equal(umemcg_write(group, "cgroup.max.depth", "max"), 0);
	assert_int_equal(umemcg_destroy(child), 0);
}

#define test_in_group(name) cmocka_unit_test_setup_teardown(name, create_group, destroy_group)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_group(the_table_has_the_files_that_something_stands_behind),
		test_in_group(files_that_nothing_stands_behind_are_absent),
		test_in_group(no_group_may_be_called_like_a_file),
		test_in_group(a_fresh_group_reads_as_in_cgroup_v2),
		test_in_group(limits_take_the_grammar_of_sizes),
		test_in_group(counts_take_numbers_and_max),
		test_in_group(files_that_only_report_cannot_be_written),
		test_in_group(policies_take_their_names_but_a_callback_is_not_written),
		test_in_group(a_group_kill_is_on_or_off),
		test_in_group(the_root_has_no_limits),
		test_in_group(a_text_that_does_not_fit_is_cut_and_measured),
		test_in_group(the_kinds_add_up_to_current),
		test_in_group(consumers_are_named_with_what_they_have),
		test_in_group(a_refusal_is_counted_where_it_happened_and_above),
		test_in_group(a_limit_below_usage_is_in_force_and_ebusy),
		test_in_group(threads_are_listed_in_the_group_they_are_in),
		test_in_group(depth_and_descendants_forbid_what_would_be_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
