/* SPDX-License-Identifier: MIT */
/* An $XDG_RUNTIME_DIR of a test's own, so that its trees are nobody else's. */
#ifndef UMEMCG_TESTS_RUNTIME_DIR_H
#define UMEMCG_TESTS_RUNTIME_DIR_H

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char runtime_dir[] = "/dev/shm/umemcg-test-XXXXXX";

static inline const char *runtime_dir_path(const char *file)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", runtime_dir, file);
	return path;
}

/* With everything in it. */
static inline void runtime_dir_remove(void)
{
	DIR *folder = opendir(runtime_dir);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(dirfd(folder), entry->d_name,
				 entry->d_type == DT_DIR ? AT_REMOVEDIR : 0);
	if (folder)
		closedir(folder);
	rmdir(runtime_dir);
}

/** runtime_dir_make - to be followed by runtime_dir_remove() */
static inline void runtime_dir_make(void)
{
	/* Within a limited process the other one would come first. */
	if (!mkdtemp(runtime_dir) || setenv("XDG_RUNTIME_DIR", runtime_dir, 1) ||
	    unsetenv("UMEMCG_RUNTIME_DIR")) {
		perror(runtime_dir);
		exit(1);
	}
}

#endif
