/* SPDX-License-Identifier: MIT */
/*
 * The kernel's tree, v1 and v2, on one that is made up of plain files. Where the lab makes a
 * directory the files of a group appear in it, and they go with it, as the kernel has it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "targets/kernel/cgroup.h"

static char prefix[PATH_MAX]; /* of the made-up system */

static const char *const files_v1[] = { "cgroup.procs", "memory.limit_in_bytes",
					"memory.max_usage_in_bytes", NULL };
static const char *const files_v2[] = { "cgroup.procs", "cgroup.subtree_control", "memory.max",
					"memory.peak", NULL };
static const char *const *files = files_v1;

static void put(const char *directory, const char *name, const char *text)
{
	char path[2 * PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static const char *get(const char *directory, const char *name)
{
	static char text[256];
	char path[2 * PATH_MAX];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return NULL;
	length = read(fd, text, sizeof(text) - 1);
	assert_true(length >= 0);
	text[length] = '\0';
	close(fd);
	return text;
}

/* In place of libc's: a new directory of the tree is a new group. */
int mkdir(const char *path, mode_t mode)
{
	if (mkdirat(AT_FDCWD, path, mode))
		return -1;
	for (unsigned int i = 0; files[i]; i++)
		put(path, files[i], "");
	return 0;
}

int rmdir(const char *path)
{
	for (unsigned int i = 0; files[i]; i++) {
		char file[PATH_MAX];

		snprintf(file, sizeof(file), "%s/%s", path, files[i]);
		unlink(file);
	}
	return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

static void make(const char *path)
{
	char full[2 * PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", prefix, path);
	for (char *slash = full + strlen(prefix) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdirat(AT_FDCWD, full, 0755);
		*slash = '/';
	}
	mkdirat(AT_FDCWD, full, 0755);
}

static const char *full(const char *path)
{
	static char text[4][PATH_MAX + 128];
	static unsigned int next;

	next = (next + 1) % 4;
	snprintf(text[next], sizeof(text[0]), "%s%s", prefix, path);
	return text[next];
}

static void make_system(const char *mountinfo, const char *group)
{
	make("/proc/self");
	put(full("/proc/self"), "mountinfo", mountinfo);
	put(full("/proc/self"), "cgroup", group);
}

#define V1_MOUNTS                                                                                  \
	"23 1 0:20 / /proc rw - proc proc rw\n"                                                    \
	"32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"                     \
	"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
#define V2_MOUNTS "35 31 0:32 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"

static int v1_setup(void **state)
{
	(void)state;
	files = files_v1;
	make_system(V1_MOUNTS, "5:cpu:/elsewhere\n4:memory:/me\n0::/\n");
	make("/sys/fs/cgroup/memory/me");
	put(full("/sys/fs/cgroup/memory"), "cgroup.procs", "");
	put(full("/sys/fs/cgroup/memory/me"), "cgroup.procs", "");
	return 0;
}

static int v2_setup(void **state)
{
	(void)state;
	files = files_v2;
	make_system(V2_MOUNTS, "0::/user/me\n");
	make("/sys/fs/cgroup/user/me");
	put(full("/sys/fs/cgroup"), "cgroup.controllers", "cpu memory pids\n");
	put(full("/sys/fs/cgroup"), "cgroup.procs", "");
	put(full("/sys/fs/cgroup"), "cgroup.subtree_control", "cpu\n");
	put(full("/sys/fs/cgroup/user/me"), "cgroup.procs", "");
	put(full("/sys/fs/cgroup/user/me"), "cgroup.subtree_control", "");
	return 0;
}

static int remove_all(void **state)
{
	char command[PATH_MAX + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'/*", prefix);
	return system(command);
}

static struct cgroup found(enum cgroup_version version)
{
	struct cgroup cgroup;

	assert_int_equal(cgroup_find(prefix, &cgroup), 0);
	assert_int_equal(cgroup.version, version);
	return cgroup;
}

static void v1_is_found_through_mountinfo(void **state)
{
	struct cgroup cgroup = found(CGROUP_V1);

	(void)state;
	assert_string_equal(cgroup.root, full("/sys/fs/cgroup/memory"));
	assert_string_equal(cgroup.own, full("/sys/fs/cgroup/memory/me"));
	assert_string_equal(cgroup.parent, cgroup.root);
	assert_true(cgroup.can_make && cgroup.can_use_root);
}

static void a_part_of_the_tree_in_a_container_is_found(void **state)
{
	struct cgroup cgroup;

	(void)state;
	make_system("35 31 0:32 /box /sys/fs/my\\040cgroup rw - cgroup cgroup rw,cpu,memory\n",
		    "4:cpu,memory:/box/me\n");
	make("/sys/fs/my cgroup/me");
	cgroup = found(CGROUP_V1);
	assert_string_equal(cgroup.own, full("/sys/fs/my cgroup/me"));
}

static void v2_is_found_only_with_the_controller(void **state)
{
	struct cgroup cgroup = found(CGROUP_V2);

	(void)state;
	assert_string_equal(cgroup.own, full("/sys/fs/cgroup/user/me"));
	put(full("/sys/fs/cgroup"), "cgroup.controllers", "cpu memory_of_another_kind\n");
	cgroup = found(CGROUP_NONE);
	assert_false(cgroup.can_make || cgroup.can_use_root);
	assert_true(cgroup.why_not[0] && cgroup.why_not_root[0]);
}

static void without_permission_it_says_what_is_missing(void **state)
{
	struct cgroup cgroup;

	(void)state;
	unlink(full("/sys/fs/cgroup/memory/cgroup.procs"));
	unlink(full("/sys/fs/cgroup/memory/me/cgroup.procs"));
	cgroup = found(CGROUP_V1);
	assert_false(cgroup.can_make || cgroup.can_use_root);
	assert_non_null(strstr(cgroup.why_not, "root, or a delegated group"));
	assert_non_null(strstr(cgroup.why_not_root, "root"));
}

static void v1_groups_are_made_limited_and_removed(void **state)
{
	struct cgroup cgroup = found(CGROUP_V1);
	struct cgroup_group group;
	char expected[PATH_MAX + 64];

	(void)state;
	cgroup_prepare(&cgroup);
	assert_int_equal(cgroup_group_create(&cgroup, "Set", 1, false, &group), 0);
	snprintf(expected, sizeof(expected), "%s/umemcg-bench-%d-Set", cgroup.root, getpid());
	assert_string_equal(group.directory, expected);
	assert_int_equal(cgroup_group_set_max(&cgroup, &group, 123456789), 0);
	assert_string_equal(get(group.directory, "memory.limit_in_bytes"), "123456789");
	put(group.directory, "memory.max_usage_in_bytes", "4096\n");
	assert_int_equal(cgroup_group_peak(&cgroup, &group), 4096);
	assert_int_equal(cgroup_enter(group.procs), 0);
	assert_string_equal(get(group.directory, "cgroup.procs"), "0");
	assert_int_equal(cgroup_group_create(&cgroup, "Set", 1, false, &group), -EEXIST);
	cgroup_finish(&cgroup);
	assert_int_equal(access(expected, F_OK), -1);
}

static void v2_groups_at_depth_have_the_controller_above_them(void **state)
{
	struct cgroup cgroup = found(CGROUP_V2);
	struct cgroup_group group;
	char path[PATH_MAX + 64];

	(void)state;
	cgroup_prepare(&cgroup);
	assert_true(cgroup.can_make);
	/* As it is a plain file here, what is written stands over what was there. */
	assert_string_equal(get(cgroup.root, "cgroup.subtree_control"), "+memory");
	assert_int_equal(cgroup_group_create(&cgroup, "depth-3", 3, false, &group), 0);
	assert_string_equal(get(group.top, "cgroup.subtree_control"), "+memory");
	snprintf(path, sizeof(path), "%s/below", group.top);
	assert_string_equal(get(path, "cgroup.subtree_control"), "+memory");
	snprintf(path, sizeof(path), "%s/below/below", group.top);
	assert_string_equal(group.directory, path);
	assert_string_equal(get(path, "cgroup.subtree_control"), "");
	assert_int_equal(cgroup_group_set_max(&cgroup, &group, 7), 0);
	assert_string_equal(get(path, "memory.max"), "7");
	assert_int_equal(cgroup_group_destroy(&group), 0);
	assert_int_equal(access(group.top, F_OK), -1);
	cgroup_finish(&cgroup);
	assert_string_equal(get(cgroup.root, "cgroup.subtree_control"), "-memory");
}

static void a_controller_that_was_on_stays_on(void **state)
{
	struct cgroup cgroup;

	(void)state;
	put(full("/sys/fs/cgroup"), "cgroup.subtree_control", "cpu memory\n");
	cgroup = found(CGROUP_V2);
	cgroup_prepare(&cgroup);
	assert_true(cgroup.can_make);
	cgroup_finish(&cgroup);
	assert_string_equal(get(cgroup.root, "cgroup.subtree_control"), "cpu memory\n");
}

static void a_worker_that_makes_groups_is_in_a_leaf(void **state)
{
	struct cgroup cgroup = found(CGROUP_V2);
	struct cgroup_group group;
	char path[PATH_MAX + 64];

	(void)state;
	cgroup_prepare(&cgroup);
	assert_int_equal(cgroup_group_create(&cgroup, "block", 1, true, &group), 0);
	assert_string_equal(get(group.directory, "cgroup.subtree_control"), "+memory");
	snprintf(path, sizeof(path), "%s/worker/cgroup.procs", group.directory);
	assert_string_equal(group.procs, path);
	cgroup_finish(&cgroup);
	assert_int_equal(access(group.top, F_OK), -1);
}

static void a_delegated_group_is_left_and_entered_again(void **state)
{
	struct cgroup cgroup;
	char driver[PATH_MAX + 64];

	(void)state;
	unlink(full("/sys/fs/cgroup/cgroup.procs"));
	cgroup = found(CGROUP_V2);
	assert_string_equal(cgroup.parent, cgroup.own);
	assert_false(cgroup.can_use_root);
	cgroup_prepare(&cgroup);
	assert_true(cgroup.can_make && cgroup.moved);
	snprintf(driver, sizeof(driver), "%s/umemcg-bench-%d-driver", cgroup.own, getpid());
	assert_string_equal(get(driver, "cgroup.procs"), "0");
	assert_string_equal(get(cgroup.own, "cgroup.subtree_control"), "+memory");
	cgroup_finish(&cgroup);
	assert_string_equal(get(cgroup.own, "cgroup.procs"), "0");
	assert_string_equal(get(cgroup.own, "cgroup.subtree_control"), "-memory");
	assert_int_equal(access(driver, F_OK), -1);
}

static void a_group_that_cannot_have_the_controller_is_named(void **state)
{
	struct cgroup cgroup;

	(void)state;
	unlink(full("/sys/fs/cgroup/cgroup.subtree_control"));
	make("/sys/fs/cgroup/cgroup.subtree_control");
	cgroup = found(CGROUP_V2);
	cgroup_prepare(&cgroup);
	assert_false(cgroup.can_make);
	assert_non_null(strstr(cgroup.why_not, "cannot have memory cgroups below it"));
}

static pid_t dead_pid(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

static void groups_of_dead_runs_are_removed_and_no_others(void **state)
{
	struct cgroup cgroup = found(CGROUP_V1);
	char stale[64], own[64];

	(void)state;
	snprintf(stale, sizeof(stale), "/sys/fs/cgroup/memory/umemcg-bench-%d-Set", dead_pid());
	snprintf(own, sizeof(own), "/sys/fs/cgroup/memory/umemcg-bench-%d-Set", getpid());
	assert_int_equal(mkdir(full(stale), 0755), 0);
	strcat(stale, "/below");
	assert_int_equal(mkdir(full(stale), 0755), 0);
	*strrchr(stale, '/') = '\0';
	assert_int_equal(mkdir(full(own), 0755), 0);
	/* A pid that another program has by now, and names that only look like the lab's. */
	assert_int_equal(mkdir(full("/sys/fs/cgroup/memory/umemcg-bench-1-Set"), 0755), 0);
	assert_int_equal(mkdir(full("/sys/fs/cgroup/memory/umemcg-bench-mine"), 0755), 0);
	assert_int_equal(mkdir(full("/sys/fs/cgroup/memory/umemcg-bench-1x"), 0755), 0);

	assert_int_equal(cgroup_sweep(&cgroup), 0);
	assert_int_equal(access(full(stale), F_OK), -1);
	assert_int_equal(access(full("/sys/fs/cgroup/memory/umemcg-bench-1-Set"), F_OK), -1);
	assert_int_equal(access(full(own), F_OK), 0);
	assert_int_equal(access(full("/sys/fs/cgroup/memory/umemcg-bench-mine"), F_OK), 0);
	assert_int_equal(access(full("/sys/fs/cgroup/memory/umemcg-bench-1x"), F_OK), 0);
	assert_int_equal(access(full("/sys/fs/cgroup/memory/me"), F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(v1_is_found_through_mountinfo, v1_setup,
						remove_all),
		cmocka_unit_test_setup_teardown(a_part_of_the_tree_in_a_container_is_found,
						v1_setup, remove_all),
		cmocka_unit_test_setup_teardown(v2_is_found_only_with_the_controller, v2_setup,
						remove_all),
		cmocka_unit_test_setup_teardown(without_permission_it_says_what_is_missing,
						v1_setup, remove_all),
		cmocka_unit_test_setup_teardown(v1_groups_are_made_limited_and_removed, v1_setup,
						remove_all),
		cmocka_unit_test_setup_teardown(v2_groups_at_depth_have_the_controller_above_them,
						v2_setup, remove_all),
		cmocka_unit_test_setup_teardown(a_controller_that_was_on_stays_on, v2_setup,
						remove_all),
		cmocka_unit_test_setup_teardown(a_worker_that_makes_groups_is_in_a_leaf, v2_setup,
						remove_all),
		cmocka_unit_test_setup_teardown(a_delegated_group_is_left_and_entered_again,
						v2_setup, remove_all),
		cmocka_unit_test_setup_teardown(a_group_that_cannot_have_the_controller_is_named,
						v2_setup, remove_all),
		cmocka_unit_test_setup_teardown(groups_of_dead_runs_are_removed_and_no_others,
						v1_setup, remove_all),
	};
	char template[] = "/tmp/umemcg-cgroup-XXXXXX";
	int nr_failed;

	if (!mkdtemp(template))
		return 1;
	strcpy(prefix, template);
	nr_failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlinkat(AT_FDCWD, prefix, AT_REMOVEDIR);
	return nr_failed;
}
