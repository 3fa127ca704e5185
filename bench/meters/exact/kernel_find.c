/* SPDX-License-Identifier: MIT */
#include "meters/exact/kernel_find.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "meters/exact/kernel_cache.h"
#include "meters/exact/kernel_header.h"

#define PREFIX "vmlinuz-"

static int is_kernel(const struct dirent *entry)
{
	return !strncmp(entry->d_name, PREFIX, strlen(PREFIX));
}

static int newest_first(const struct dirent **left, const struct dirent **right)
{
	return strverscmp((*right)->d_name, (*left)->d_name);
}

static int try_file(const char *folder, const char *name, char *ret_path)
{
	char path[PATH_MAX], release[128], error[KERNEL_ERROR];

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= PATH_MAX ||
	    kernel_header_read(path, release, sizeof(release), error))
		return -ENOENT;
	memcpy(ret_path, path, sizeof(path));
	return 0;
}

int kernel_find_in(const char *folder, const char *release, char *ret_path)
{
	struct dirent **entries;
	char name[256];
	int nr_entries, ret = -ENOENT;

	if (release && snprintf(name, sizeof(name), PREFIX "%s", release) < (int)sizeof(name) &&
	    !try_file(folder, name, ret_path))
		return 0;
	nr_entries = scandir(folder, &entries, is_kernel, newest_first);
	if (nr_entries < 0)
		return -ENOENT;
	for (int i = 0; i < nr_entries; i++) {
		if (ret)
			ret = try_file(folder, entries[i]->d_name, ret_path);
		free(entries[i]);
	}
	free(entries);
	return ret;
}

int kernel_find(char *ret_path, char *error)
{
	char cache[PATH_MAX];
	struct utsname name;
	bool has_cache = !kernel_cache_path(cache);

	if (!kernel_find_in("/boot", uname(&name) ? NULL : name.release, ret_path))
		return 0;
	if (has_cache && !kernel_find_in(cache, NULL, ret_path))
		return 0;
	snprintf(error, KERNEL_ERROR,
		 "no kernel can be read in /boot or in %.300s: umemcg bench --get-kernel downloads "
		 "one, --kernel PATH names one",
		 has_cache ? cache : "a cache");
	return -ENOENT;
}
