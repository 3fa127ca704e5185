/* SPDX-License-Identifier: MIT */
/* Files of segments: named, listed and removed, and refused if another may have put them there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/compiler.h"
#include "shared/file.h"
#include "shared_fixture.h"

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

static void a_link_or_foreign_file_is_refused(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char other[PATH_MAX];
	int fd;

	(void)state;
	strcpy(other, runtime_dir_path("other"));
	make_segment();
	segment_close(&segment);
	/* A second name, a wider mode. */
	assert_int_equal(link(runtime_dir_path(FILE_NAME), other), 0);
	check_refused(-EPERM);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(chmod(runtime_dir_path(FILE_NAME), 0660), 0);
	check_refused(-EPERM);
	assert_int_equal(chmod(runtime_dir_path(FILE_NAME), 0600), 0);
	/* A symbolic link to a good one. */
	assert_int_equal(rename(runtime_dir_path(FILE_NAME), other), 0);
	assert_int_equal(symlink(other, runtime_dir_path(FILE_NAME)), 0);
	check_refused(-EPERM);
	assert_int_equal(unlink(runtime_dir_path(FILE_NAME)), 0);
	assert_int_equal(unlink(other), 0);
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
	make_segment();
	segment_close(&segment);
	assert_int_equal(chown(runtime_dir_path(FILE_NAME), 65534, 65534), 0);
	check_refused(-EPERM);
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
	make_segment();
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_alone(names_are_checked),
		test_alone(a_link_or_foreign_file_is_refused),
		test_alone(a_file_of_another_user_is_refused),
		test_alone(a_slow_remover_does_not_remove_a_newer_one),
		test_alone(only_trees_are_listed),
		test_alone(a_named_file_is_published_whole_too),
	};
	int r;

	runtime_dir_make();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	runtime_dir_remove();
	return r;
}
