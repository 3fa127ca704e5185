/* SPDX-License-Identifier: MIT */
/* A directory of a test's own: files, and programs that stand in for those on the PATH. */
#ifndef TESTS_UNIT_BENCH_SCRATCH_H
#define TESTS_UNIT_BENCH_SCRATCH_H

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmocka_test.h"

static char scratch[PATH_MAX / 4];

static inline void scratch_make(void)
{
	snprintf(scratch, sizeof(scratch), "/tmp/unit-bench-XXXXXX");
	assert_non_null(mkdtemp(scratch));
}

/* Its path; of the last four asked for. */
static inline const char *scratch_path(const char *name)
{
	static char paths[4][PATH_MAX];
	static unsigned int next;

	next = (next + 1) % 4;
	snprintf(paths[next], sizeof(paths[next]), "%s/%s", scratch, name);
	return paths[next];
}

static inline void scratch_put(const char *name, const void *content, size_t nr_bytes, mode_t mode)
{
	int fd = open(scratch_path(name), O_WRONLY | O_CREAT | O_TRUNC, mode);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, nr_bytes), nr_bytes);
	assert_int_equal(close(fd), 0);
}

static inline void scratch_put_text(const char *name, const char *text)
{
	scratch_put(name, text, strlen(text), 0644);
}

/* A shell script. */
static inline void scratch_put_program(const char *name, const char *text)
{
	char script[8192];

	assert_in_range(snprintf(script, sizeof(script), "#!/bin/sh\n%s", text), 0,
			sizeof(script) - 1);
	scratch_put(name, script, strlen(script), 0755);
}

static inline void scratch_mkdir(const char *name)
{
	assert_int_equal(mkdir(scratch_path(name), 0755), 0);
}

/* Entries of a directory. */
static inline unsigned int scratch_count(const char *name)
{
	DIR *directory = opendir(scratch_path(name));
	unsigned int nr = 0;

	assert_non_null(directory);
	while (readdir(directory))
		nr++;
	closedir(directory);
	return nr - 2;
}

/* The directory's programs come before all others. */
static inline void scratch_on_path(const char *name)
{
	const char *system = getenv("SCRATCH_PATH") ? getenv("SCRATCH_PATH") : getenv("PATH");
	char path[2 * PATH_MAX];

	setenv("SCRATCH_PATH", system, 1);
	snprintf(path, sizeof(path), "%s:%s", scratch_path(name), system);
	setenv("PATH", path, 1);
}

static inline void scratch_remove(void)
{
	char *command = NULL;

	if (getenv("SCRATCH_PATH"))
		setenv("PATH", getenv("SCRATCH_PATH"), 1);
	assert_true(asprintf(&command, "rm -rf '%s'", scratch) > 0);
	assert_int_equal(system(command), 0);
	free(command);
}

#endif
