/* SPDX-License-Identifier: MIT */
#include "programs.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where programs are installed: from the folder of this one, or absolute. */
#ifndef PROGRAMS_FOLDER
#error "bench/meson.build defines PROGRAMS_FOLDER"
#endif

static int own_folder(char *ret_folder)
{
	ssize_t length = readlink("/proc/self/exe", ret_folder, PATH_MAX - 1);

	if (length <= 0)
		return -ENOENT;
	ret_folder[length] = '\0';
	dirname(ret_folder);
	return 0;
}

static int find_in(const char *folder, const char *below, const char *name, char *ret_path)
{
	const char *dot = strrchr(name, '.');
	char path[PATH_MAX];

	/* A shared object is loaded, not executed. */
	if (snprintf(path, sizeof(path), "%s/%s/%s", folder, below, name) >= PATH_MAX ||
	    access(path, dot && !strcmp(dot, ".so") ? R_OK : X_OK))
		return -ENOENT;
	memcpy(ret_path, path, sizeof(path));
	return 0;
}

int programs_find(const char *name, char *ret_path)
{
	char own[PATH_MAX];

	if (own_folder(own))
		return -ENOENT;
	if (!find_in(own, ".", name, ret_path))
		return 0;
	return find_in(PROGRAMS_FOLDER[0] == '/' ? "" : own, PROGRAMS_FOLDER, name, ret_path);
}
