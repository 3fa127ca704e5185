/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "own_folder.h"

int own_folder(char folder[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	if (length < 0)
		return -errno;
	folder[length] = '\0';
	slash = strrchr(folder, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	return 0;
}
