/* SPDX-License-Identifier: MIT */
/* A kernel for who has none: out of a package into the cache. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "block.h"
#include "meters/exact/kernel_cache.h"
#include "meters/exact/kernel_header.h"
#include "meters/exact/kernel_package.h"
#include "meters/exact/kernel_unpack.h"
#include "meters/exact/kernels.h"

#define SAY "umemcg bench: "

static double megabytes(const struct kernel_package *package)
{
	return (double)package->nr_bytes * 1e-6;
}

static int ask(const struct kernel_package *package, char *error)
{
	char answer[16];

	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		snprintf(
			error, KERNEL_ERROR,
			"not downloaded: %s, %.0f MB; without a terminal to ask on, --yes allows it",
			package->name, megabytes(package));
		return -ECANCELED;
	}
	fprintf(stderr, SAY "download %s, %.0f MB? [y/N] ", package->name, megabytes(package));
	if (fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y'))
		return 0;
	snprintf(error, KERNEL_ERROR, "%s", block_interrupted ? "interrupted" : "not downloaded");
	return block_interrupted ? -EINTR : -ECANCELED;
}

/* From the temporary directory, which lies in the cache, into the cache itself. */
static int keep(const struct temporary_folder *folder, const char *cache, const char *name,
		char *error)
{
	char path[PATH_MAX];
	int ret = 0;

	if (snprintf(path, sizeof(path), "%s/%s", cache, name) >= PATH_MAX)
		ret = -ENAMETOOLONG;
	else if (renameat(folder->lock_fd, name, AT_FDCWD, path))
		ret = -errno;
	if (ret)
		snprintf(error, KERNEL_ERROR, "%.300s/%.100s: %s", cache, name, strerror(-ret));
	return ret;
}

static int unpack(const struct temporary_folder *folder, const char *package, const char *cache,
		  char *error)
{
	char name[NAME_MAX + 1], config[NAME_MAX + 1], path[PATH_MAX], release[128];
	int ret = kernel_unpack(package, folder, name, error);

	if (ret)
		return ret;
	snprintf(path, sizeof(path), "%s/%s", folder->path, name);
	ret = kernel_header_read(path, release, sizeof(release), error);
	snprintf(config, sizeof(config), "config-%s", name + strlen("vmlinuz-"));
	if (!ret && !faccessat(folder->lock_fd, config, F_OK, 0))
		ret = keep(folder, cache, config, error);
	if (!ret)
		ret = keep(folder, cache, name, error);
	if (!ret)
		fprintf(stderr, SAY "kept as %s/%s\n", cache, name);
	return ret;
}

static int get(const char *name, bool yes, const struct temporary_folder *folder, const char *cache,
	       char *error)
{
	struct kernel_package package;
	char path[PATH_MAX];
	int ret = kernel_package_find(name, &package, error);

	if (!ret && !yes)
		ret = ask(&package, error);
	if (ret)
		return ret;
	fprintf(stderr, SAY "downloading %s, %.0f MB\n", package.name, megabytes(&package));
	ret = kernel_package_download(&package, folder, path, error);
	return ret ? ret : unpack(folder, path, cache, error);
}

int kernel_get(const char *package, bool yes, char *error)
{
	struct temporary_folder folder;
	char cache[PATH_MAX];
	int ret = kernel_cache_create(cache, error);

	if (ret)
		return ret;
	ret = temporary_folder_create(cache, &folder);
	if (ret) {
		snprintf(error, KERNEL_ERROR, "cache directory %.300s: %s", cache, strerror(-ret));
		return ret;
	}
	ret = get(package, yes, &folder, cache, error);
	temporary_folder_remove(&folder);
	return ret;
}
