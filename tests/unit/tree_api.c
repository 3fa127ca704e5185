/* SPDX-License-Identifier: MIT */
/* The public calls for shared trees: bad arguments, and what each is to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>

#include "base/compiler.h"
#include "child.h"
#include "runtime_dir.h"
#include "shared/segment.h"
#include "shared/supervise.h"
#include "shared/tree.h"
#include "tree_fixture.h"

static void check_reads(const char *path, const char *file, const char *expected)
{
	char text[4096];
	int length = umemcg_tree_read(tree, path, file, text, sizeof(text));

	if (length < 0)
		fail_msg("%s: error %d", file, length);
	if (strcmp(text, expected))
		fail_msg("%s: reads \"%s\", expected \"%s\"", file, text, expected);
	assert_int_equal(length, strlen(expected));
}

static int visit_nothing(const char *path, void *arg)
{
	(void)path;
	(void)arg;
	return 0;
}

static int visit_no_process(const struct umemcg_process *process, void *arg)
{
	(void)process;
	(void)arg;
	return 0;
}

static void bad_arguments_are_einval(void **state)
{
	struct umemcg_tree_stat stat;
	struct umemcg_report report;
	struct umemcg_tree *other = NULL;
	uint32_t leaf = 4711;
	char text[8];

	(void)state;
	assert_int_equal(umemcg_tree_open(NULL, 0, &other), -EINVAL);
	assert_int_equal(umemcg_tree_open("a/b", UMEMCG_TREE_CREATE, &other), -EINVAL);
	assert_int_equal(umemcg_tree_open("", UMEMCG_TREE_CREATE, &other), -EINVAL);
	assert_int_equal(umemcg_tree_open(NAME, 2, &other), -EINVAL);
	assert_int_equal(umemcg_tree_open(NAME, 0, NULL), -EINVAL);
	assert_int_equal(umemcg_tree_open("none", 0, &other), -ENOENT);
	assert_null(other);
	umemcg_tree_close(NULL);
	assert_int_equal(umemcg_tree_unlink(NULL), -EINVAL);
	assert_int_equal(umemcg_tree_unlink(".."), -EINVAL);
	assert_int_equal(umemcg_tree_unlink("none"), -ENOENT);
	assert_int_equal(umemcg_tree_list(NULL, NULL), -EINVAL);
	assert_int_equal(umemcg_tree_create(NULL, "/a"), -EINVAL);
	assert_int_equal(umemcg_tree_create(tree, NULL), -EINVAL);
	assert_int_equal(umemcg_tree_destroy(NULL, "/a"), -EINVAL);
	assert_int_equal(umemcg_tree_destroy(tree, NULL), -EINVAL);
	assert_int_equal(umemcg_tree_destroy(tree, "/"), -EINVAL);
	assert_int_equal(umemcg_tree_destroy(tree, "/a"), -ENOENT);
	assert_int_equal(umemcg_tree_walk(NULL, "/", visit_nothing, NULL), -EINVAL);
	assert_int_equal(umemcg_tree_walk(tree, NULL, visit_nothing, NULL), -EINVAL);
	assert_int_equal(umemcg_tree_walk(tree, "/", NULL, NULL), -EINVAL);
	assert_int_equal(umemcg_tree_walk(tree, "/a", visit_nothing, NULL), -ENOENT);
	assert_int_equal(umemcg_tree_read(NULL, "/", "memory.max", text, 8), -EINVAL);
	assert_int_equal(umemcg_tree_read(tree, NULL, "memory.max", text, 8), -EINVAL);
	assert_int_equal(umemcg_tree_read(tree, "/", NULL, text, 8), -EINVAL);
	assert_int_equal(umemcg_tree_read(tree, "/", "memory.max", NULL, 8), -EINVAL);
	assert_int_equal(umemcg_tree_read(tree, "/", "memory.max", NULL, 0), 4);
	assert_int_equal(umemcg_tree_read(tree, "/", "memory.none", text, 8), -ENOENT);
	assert_int_equal(umemcg_tree_read(tree, "/a", "memory.max", text, 8), -ENOENT);
	assert_int_equal(umemcg_tree_write(NULL, "/", "memory.max", "1"), -EINVAL);
	assert_int_equal(umemcg_tree_write(tree, NULL, "memory.max", "1"), -EINVAL);
	assert_int_equal(umemcg_tree_write(tree, "/", NULL, "1"), -EINVAL);
	assert_int_equal(umemcg_tree_write(tree, "/", "memory.max", NULL), -EINVAL);
	assert_int_equal(umemcg_tree_write(tree, "/a", "memory.max", "1"), -ENOENT);
	assert_int_equal(umemcg_tree_get_stat(NULL, "/", &stat), -EINVAL);
	assert_int_equal(umemcg_tree_get_stat(tree, NULL, &stat), -EINVAL);
	assert_int_equal(umemcg_tree_get_stat(tree, "/", NULL), -EINVAL);
	assert_int_equal(umemcg_tree_get_stat(tree, "/a", &stat), -ENOENT);
	assert_int_equal(umemcg_tree_walk_processes(NULL, "/", visit_no_process, NULL), -EINVAL);
	assert_int_equal(umemcg_tree_walk_processes(tree, NULL, visit_no_process, NULL), -EINVAL);
	assert_int_equal(umemcg_tree_walk_processes(tree, "/", NULL, NULL), -EINVAL);
	assert_int_equal(umemcg_tree_walk_processes(tree, "/a", visit_no_process, NULL), -ENOENT);
	assert_int_equal(umemcg_tree_wait(NULL, 0, 0, &report), -EINVAL);
	assert_int_equal(umemcg_tree_wait(tree, 0, 0, NULL), -EINVAL);
	assert_int_equal(umemcg_tree_claim(NULL, "/", 1, 1, &leaf), -EINVAL);
	assert_int_equal(umemcg_tree_claim(tree, NULL, 1, 1, &leaf), -EINVAL);
	assert_int_equal(umemcg_tree_claim(tree, "/", 1, 1, NULL), -EINVAL);
	assert_int_equal(umemcg_tree_claim(tree, "/", 0, 1, &leaf), -ESRCH);
	assert_int_equal(umemcg_tree_claim(tree, "/", -1, 1, &leaf), -ESRCH);
	assert_int_equal(umemcg_tree_claim(tree, "/", INT32_MAX, 1, &leaf), -ESRCH);
	assert_int_equal(umemcg_tree_claim(tree, "/a", getppid(), 1, &leaf), -ENOENT);
	assert_int_equal(leaf, 4711);
	assert_false(umemcg_tree_is_accounted(NULL, getpid()));
	assert_false(umemcg_tree_is_accounted(tree, 0));
	assert_false(umemcg_tree_is_accounted(tree, getpid()));
	/* No leaves, whatever they look like. */
	for (leaf = 0; leaf < 0x20000; leaf += 0x7fff) {
		assert_int_equal(umemcg_tree_charge(tree, leaf, 1), -EINVAL);
		umemcg_tree_uncharge(tree, leaf, 1);
		umemcg_tree_release(tree, leaf);
	}
	check_reads("/", "memory.current", "0\n");
}

static void two_handles_are_one_tree(void **state)
{
	struct umemcg_tree *other;

	(void)state;
	assert_int_equal(umemcg_tree_open(NAME, 0, &other), 0);
	assert_int_equal(umemcg_tree_create(tree, "/a"), 0);
	assert_int_equal(umemcg_tree_create(other, "/a"), -EEXIST);
	assert_int_equal(umemcg_tree_create(other, "/a/b"), 0);
	assert_int_equal(umemcg_tree_destroy(tree, "/a"), -EBUSY);
	assert_int_equal(umemcg_tree_destroy(tree, "/a/b"), 0);
	assert_int_equal(umemcg_tree_destroy(other, "/a"), 0);
	umemcg_tree_close(other);
}

static int note(const char *text, void *arg)
{
	strcat(arg, text);
	strcat(arg, ";");
	return 0;
}

static int stop_at_b(const char *path, void *arg)
{
	note(path, arg);
	return strcmp(path, "/b") ? 0 : 7;
}

static void walks_and_lists_call_and_stop(void **state)
{
	char visited[256] = "";

	(void)state;
	assert_int_equal(umemcg_tree_create(tree, "/b"), 0);
	assert_int_equal(umemcg_tree_create(tree, "/a"), 0);
	assert_int_equal(umemcg_tree_create(tree, "/c"), 0);
	assert_int_equal(umemcg_tree_create(tree, "/a/x"), 0);
	assert_int_equal(umemcg_tree_walk(tree, "/", note, visited), 0);
	assert_string_equal(visited, "/;/a;/a/x;/b;/c;");
	visited[0] = '\0';
	assert_int_equal(umemcg_tree_walk(tree, "a", note, visited), 0);
	assert_string_equal(visited, "/a;/a/x;");
	visited[0] = '\0';
	assert_int_equal(umemcg_tree_walk(tree, "/", stop_at_b, visited), 7);
	assert_string_equal(visited, "/;/a;/a/x;/b;");
	visited[0] = '\0';
	assert_int_equal(umemcg_tree_list(note, visited), 0);
	assert_string_equal(visited, NAME ";");
}

#define fresh_events                                                                               \
	"low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\nunderflow 0\nstalled 0\n"

static void a_fresh_group_reads_as_in_cgroup_v2(void **state)
{
	static const char *const texts[][2] = {
		{ "cgroup.events", "populated 0\n" },
		{ "cgroup.procs", "" },
		{ "cgroup.stat", "nr_descendants 1\n" },
		{ "memory.consumers", "" },
		{ "memory.current", "0\n" },
		{ "memory.events", fresh_events },
		{ "memory.events.local", fresh_events },
		{ "memory.fork", "share\n" },
		{ "memory.high", "max\n" },
		{ "memory.low", "0\n" },
		{ "memory.max", "max\n" },
		{ "memory.min", "0\n" },
		{ "memory.oom.group", "0\n" },
		{ "memory.oom.policy", "fail\n" },
		{ "memory.peak", "0\n" },
		{ "memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
				     "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n" },
		{ "memory.reclaim", NULL },
		{ "memory.reserve", "0\n" },
		{ "memory.stat", "anon 0\nstack 0\nimage 0\n" },
	};

	(void)state;
	assert_int_equal(umemcg_tree_create(tree, "/a"), 0);
	assert_int_equal(umemcg_tree_create(tree, "/a/b"), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_string_equal(umemcg_tree_control_file(i), texts[i][0]);
		if (texts[i][1])
			check_reads("/a", texts[i][0], texts[i][1]);
		else
			assert_int_equal(umemcg_tree_read(tree, "/a", texts[i][0], NULL, 0),
					 -EACCES);
	}
	assert_null(umemcg_tree_control_file(ARRAY_SIZE(texts)));
	assert_null(umemcg_tree_control_file(UINT32_MAX));
}

static void check_takes(const char *file, const char *value, const char *reads)
{
	int r = umemcg_tree_write(tree, "/a", file, value);

	if (r)
		fail_msg("%s: \"%s\" returned %d", file, value, r);
	check_reads("/a", file, reads);
}

static void check_refuses(const char *path, const char *file, const char *value, int error)
{
	char before[4096];
	int r;

	umemcg_tree_read(tree, path, file, before, sizeof(before));
	r = umemcg_tree_write(tree, path, file, value);
	if (r != error)
		fail_msg("%s: \"%s\" returned %d, expected %d", file, value, r, error);
	check_reads(path, file, before);
}

static void files_are_written_in_their_grammar(void **state)
{
	static const char *const sizes[] = { "memory.high", "memory.low", "memory.max",
					     "memory.min", "memory.reserve" };
	static const char *const written[] = { "memory.fork",       "memory.high",
					       "memory.low",        "memory.max",
					       "memory.min",        "memory.oom.group",
					       "memory.oom.policy", "memory.reserve" };

	(void)state;
	assert_int_equal(umemcg_tree_create(tree, "/a"), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		check_takes(sizes[i], "64M", "67108864\n");
		check_takes(sizes[i], " 1g\n", "1073741824\n");
		check_refuses("/a", sizes[i], "64MB", -EINVAL);
		check_refuses("/a", sizes[i], "", -EINVAL);
		check_refuses("/a", sizes[i], "16E", -ERANGE);
		check_refuses("/", sizes[i], "1G", -EINVAL);
		check_takes(sizes[i], "0", "0\n");
		check_takes(sizes[i], "max", "max\n");
	}
	check_takes("memory.fork", "copy", "copy\n");
	check_takes("memory.fork", " share\n", "share\n");
	check_refuses("/a", "memory.fork", "shared", -EINVAL);
	check_refuses("/a", "memory.fork", "copy copy", -EINVAL);
	check_refuses("/a", "memory.fork", "", -EINVAL);
	/* Nobody has anything to give back. */
	assert_int_equal(umemcg_tree_write(tree, "/a", "memory.reclaim", "1M"), -EAGAIN);
	assert_int_equal(umemcg_tree_write(tree, "/a", "memory.reclaim", "0"), 0);
	assert_int_equal(umemcg_tree_write(tree, "/", "memory.reclaim", "max"), -EAGAIN);
	assert_int_equal(umemcg_tree_write(tree, "/a", "memory.reclaim", "1MB"), -EINVAL);
	check_takes("memory.oom.policy", "kill", "kill\n");
	check_takes("memory.oom.policy", " fail\n", "fail\n");
	check_refuses("/a", "memory.oom.policy", "callback", -EINVAL);
	check_refuses("/", "memory.oom.policy", "kill", -EINVAL);
	check_takes("memory.oom.group", "1", "1\n");
	check_takes("memory.oom.group", "0\n", "0\n");
	check_refuses("/a", "memory.oom.group", "2", -EINVAL);
	check_refuses("/", "memory.oom.group", "1", -EINVAL);
	for (unsigned int i = 0; umemcg_tree_control_file(i); i++) {
		const char *file = umemcg_tree_control_file(i);
		bool is_written = false;

		for (unsigned int j = 0; j < ARRAY_SIZE(written); j++)
			is_written = is_written || !strcmp(file, written[j]) ||
				     !strcmp(file, "memory.reclaim");
		if (!is_written)
			check_refuses("/a", file, "1", -EACCES);
	}
}

/* ---- processes that are accounted from outside ---- */

static int keep_process(const struct umemcg_process *process, void *arg)
{
	*(struct umemcg_process *)arg = *process;
	return 0;
}

static int count_process(const struct umemcg_process *process, void *arg)
{
	(void)process;
	++*(unsigned int *)arg;
	return 0;
}

static void a_claimed_process_is_charged_and_seen(void **state)
{
	struct umemcg_process process = { .pid = 0 };
	struct umemcg_tree_stat stat;
	pid_t pid = fork_waiting_child(NULL);
	char expected[64];
	uint32_t leaf, again;

	(void)state;
	assert_int_equal(umemcg_tree_create(tree, "/a"), 0);
	assert_int_equal(umemcg_tree_create(tree, "/a/b"), 0);
	assert_int_equal(umemcg_tree_write(tree, "/a", "memory.max", "4M"), 0);
	assert_int_equal(umemcg_tree_claim(tree, "/a/b", pid, 3 * MIB, &leaf), 0);
	assert_int_equal(umemcg_tree_claim(tree, "/a/b", pid, 3 * MIB, &again), -EEXIST);
	assert_true(umemcg_tree_is_accounted(tree, pid));
	assert_int_equal(umemcg_tree_charge(tree, leaf, 2 * MIB), 0);
	assert_int_equal(umemcg_tree_charge(tree, leaf, MIB / 2), 0);
	umemcg_tree_uncharge(tree, leaf, MIB);
	check_reads("/a", "memory.current", "1572864\n");
	check_reads("/", "memory.current", "1572864\n");
	check_reads("/a", "memory.peak", "2621440\n");
	check_reads("/a", "cgroup.events", "populated 1\n");
	check_reads("/a", "cgroup.procs", "");
	snprintf(expected, sizeof(expected), "%d\n", pid);
	check_reads("/a/b", "cgroup.procs", expected);
	check_reads("/a", "memory.stat", "anon 1572864\nstack 0\nimage 0\n");
	assert_int_equal(umemcg_tree_get_stat(tree, "/a", &stat), 0);
	assert_int_equal(stat.nr_bytes_current, 3 * MIB / 2);
	assert_int_equal(stat.nr_bytes_peak, 5 * MIB / 2);
	assert_int_equal(stat.nr_bytes_max, 4 * MIB);
	assert_int_equal(stat.nr_processes, 1);
	assert_int_equal(umemcg_tree_walk_processes(tree, "/a", keep_process, &process), 0);
	assert_int_equal(process.pid, pid);
	assert_int_equal(process.flags, UMEMCG_PROCESS_SUPERVISED);
	assert_int_equal(process.nr_bytes, 3 * MIB / 2);
	assert_int_equal(process.nr_bytes_peak, 5 * MIB / 2);
	assert_int_equal(process.nr_bytes_max, 3 * MIB);
	assert_string_equal(process.group, "/a/b");
	assert_string_not_equal(process.command, "");
	snprintf(expected, sizeof(expected), "%d %s 1572864\n", pid, process.command);
	check_reads("/", "memory.consumers", expected);
	assert_int_equal(umemcg_tree_destroy(tree, "/a/b"), -EBUSY);
	umemcg_tree_release(tree, leaf);
	assert_false(umemcg_tree_is_accounted(tree, pid));
	check_reads("/", "memory.current", "0\n");
	/* The leaf is nobody's. */
	assert_int_equal(umemcg_tree_charge(tree, leaf, 1), -EINVAL);
	assert_int_equal(umemcg_tree_destroy(tree, "/a/b"), 0);
	bury(pid);
}

static void what_the_dead_held_is_not_read(void **state)
{
	pid_t pid = fork_waiting_child(NULL);
	unsigned int nr = 0;
	uint32_t leaf;

	(void)state;
	assert_int_equal(umemcg_tree_create(tree, "/a"), 0);
	assert_int_equal(umemcg_tree_claim(tree, "/a", pid, UMEMCG_MAX, &leaf), 0);
	assert_int_equal(umemcg_tree_charge(tree, leaf, MIB), 0);
	bury(pid);
	assert_false(umemcg_tree_is_accounted(tree, pid));
	check_reads("/a", "memory.current", "0\n");
	check_reads("/a", "cgroup.events", "populated 0\n");
	assert_int_equal(umemcg_tree_walk_processes(tree, "/", count_process, &nr), 0);
	assert_int_equal(nr, 0);
	assert_int_equal(umemcg_tree_charge(tree, leaf, 1), -EINVAL);
	assert_int_equal(umemcg_tree_destroy(tree, "/a"), 0);
}

/* In a child: a supervisor, which is killed while it charges for @supervised. */
static pid_t supervised;

static void die_in_a_charge(void)
{
	struct umemcg_tree *own;
	struct segment segment;
	uint32_t leaf, row;

	if (umemcg_tree_open(NAME, 0, &own) ||
	    umemcg_tree_claim(own, "/a", supervised, UMEMCG_MAX, &leaf) ||
	    segment_open(&segment, NAME, false))
		_exit(1);
	row = segment_process(&segment, supervise_row(&segment, leaf))->first_thread;
	atomic_store(&segment_thread(&segment, row)->flight.charging, tree_find(&segment, "/a"));
	atomic_store(&segment_thread(&segment, row)->flight.uncharging, 1);
	raise(SIGKILL);
}

static void a_supervisor_that_was_killed_holds_up_nobody(void **state)
{
	struct umemcg_tree *next[4];
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(umemcg_tree_create(tree, "/a"), 0);
	supervised = fork_waiting_child(NULL);
	pid = fork_child();
	if (!pid)
		die_in_a_charge();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	check_reads("/a", "memory.current", "0\n");
	/* Whoever comes next gets its row, and flies nothing. */
	for (int i = 0; i < 4; i++)
		assert_int_equal(umemcg_tree_open(NAME, 0, &next[i]), 0);
	assert_int_equal(umemcg_tree_write(tree, "/a", "memory.max", "4M"), 0);
	for (int i = 0; i < 4; i++)
		umemcg_tree_close(next[i]);
	bury(supervised);
}

static void a_tree_in_use_is_not_unlinked(void **state)
{
	pid_t pid;

	(void)state;
	pid = fork_child();
	if (!pid)
		_exit(umemcg_tree_unlink(NAME) == -EBUSY ? 0 : 1);
	wait_for_good_end(pid);
}

static void a_child_that_closes_leaves_its_parent_in(void **state)
{
	pid_t pid;

	(void)state;
	pid = fork_child();
	if (!pid) {
		umemcg_tree_close(tree);
		_exit(umemcg_tree_unlink(NAME) == -EBUSY ? 0 : 1);
	}
	wait_for_good_end(pid);
}

static void files_and_limits_stay_when_all_have_left(void **state)
{
	(void)state;
	assert_int_equal(umemcg_tree_create(tree, "/a"), 0);
	assert_int_equal(umemcg_tree_write(tree, "/a", "memory.max", "1M"), 0);
	umemcg_tree_close(tree);
	assert_int_equal(umemcg_tree_open(NAME, UMEMCG_TREE_CREATE, &tree), 0);
	check_reads("/a", "memory.max", "1048576\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_tree(bad_arguments_are_einval),
		test_in_tree(two_handles_are_one_tree),
		test_in_tree(walks_and_lists_call_and_stop),
		test_in_tree(a_fresh_group_reads_as_in_cgroup_v2),
		test_in_tree(files_are_written_in_their_grammar),
		test_in_tree(a_claimed_process_is_charged_and_seen),
		test_in_tree(what_the_dead_held_is_not_read),
		test_in_tree(a_supervisor_that_was_killed_holds_up_nobody),
		test_in_tree(a_tree_in_use_is_not_unlinked),
		test_in_tree(a_child_that_closes_leaves_its_parent_in),
		test_in_tree(files_and_limits_stay_when_all_have_left),
	};
	int r;

	runtime_dir_make();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	runtime_dir_remove();
	return r;
}
