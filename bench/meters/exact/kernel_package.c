/* SPDX-License-Identifier: MIT */
#include "meters/exact/kernel_package.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "meters/exact/run_captured.h"
#include "meters/exact/console.h"
#include "meters/exact/kernels.h"

#define ACCEPTED "accepted is linux-image-cloud-amd64, or another linux-image-* of apt's"
#define PREFIX   "linux-image-"
/* A meta-package of a meta-package is known; a circle is not. */
#define NR_FOLLOWED_MAX 4
/* Apt reads its lists, and may build an index of them first. */
#define LOOK_UP_TIMEOUT_S 120

/* The last error that apt has printed, without its "E: ". */
static void find_apt_error(const char *text, char *ret_line, size_t size)
{
	const char *error = NULL;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, "E: ", 3))
			error = line + 3;
	}
	if (error)
		snprintf(ret_line, size, "%.*s", (int)strcspn(error, "\n"), error);
	else
		console_last(text, ret_line, size);
}

/* Runs apt about a package for its output, without control characters; any failure is a line. */
static int run_apt(const char *const *argv, const char *package, const char *folder,
		   double timeout_s, char **ret_text, char *error)
{
	char line[256];
	int status, ret = run_captured(argv, folder, timeout_s, ret_text, &status);

	if (ret == -ENOENT)
		snprintf(error, KERNEL_ERROR,
			 "no %s here: kernels are downloaded with Debian's apt; --kernel PATH "
			 "names one that is there",
			 argv[0]);
	else if (ret == -EINTR)
		snprintf(error, KERNEL_ERROR, "interrupted");
	else if (ret)
		snprintf(error, KERNEL_ERROR, "%s: %s", argv[0], strerror(-ret));
	if (ret == 0)
		console_clean(*ret_text);
	if (ret == 0 && status) {
		find_apt_error(*ret_text, line, sizeof(line));
		snprintf(error, KERNEL_ERROR, "%s: %s says: %s", package, argv[0],
			 line[0] ? line : "(nothing)");
		ret = -EBADE;
	}
	if (ret) {
		free(*ret_text);
		*ret_text = NULL;
	}
	return ret;
}

/* Looks something up in apt's lists, where a failure means that the package is not in them. */
static int look_up(const char *const *argv, const char *package, char **ret_text, char *error)
{
	int ret = run_apt(argv, package, NULL, LOOK_UP_TIMEOUT_S, ret_text, error);
	size_t length;

	if (ret != -EBADE)
		return ret;
	length = strlen(error);
	snprintf(error + length, KERNEL_ERROR - length, "; " ACCEPTED);
	return -ENOENT;
}

/* Debian's rule for names; what begins with a dash would be an option. */
static bool is_package_name(const char *name)
{
	size_t length = strlen(name);

	if (length < 2 || length >= KERNEL_PACKAGE || !isalnum((unsigned char)name[0]))
		return false;
	return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789+-.") == length;
}

static bool is_kernel_name(const char *name)
{
	return !strncmp(name, PREFIX, strlen(PREFIX)) &&
	       isdigit((unsigned char)name[strlen(PREFIX)]);
}

/* The first kernel that a package depends on, or "" for none. */
static int find_dependency(const char *name, char *ret_name, char *error)
{
	const char *const argv[] = { "apt-cache", "depends", name, NULL };
	char *text;
	int ret = look_up(argv, name, &text, error);

	ret_name[0] = '\0';
	if (ret)
		return ret;
	for (const char *line = text; line && !ret_name[0]; line = strchr(line, '\n')) {
		static const char word[] = "Depends: ";
		const char *dependency;

		/* An alternative has a bar before it. */
		line += strspn(line, "\n |");
		if (strncmp(line, word, strlen(word)))
			continue;
		dependency = line + strlen(word);
		if (!strncmp(dependency, PREFIX, strlen(PREFIX)) &&
		    strcspn(dependency, "\n") < KERNEL_PACKAGE)
			snprintf(ret_name, KERNEL_PACKAGE, "%.*s", (int)strcspn(dependency, "\n"),
				 dependency);
	}
	free(text);
	if (ret_name[0] && !is_package_name(ret_name))
		ret_name[0] = '\0';
	return 0;
}

/* "'ADDRESS' FILE BYTES HASH": what would be downloaded. */
static int find_size(const char *name, uint64_t *ret_nr_bytes, char *error)
{
	const char *const argv[] = { "apt-get", "download", "--print-uris", name, NULL };
	const char *line;
	char *text;
	int ret = look_up(argv, name, &text, error);

	if (ret)
		return ret;
	line = text;
	while (line && *line != '\'') {
		line = strchr(line, '\n');
		line += line != NULL;
	}
	if (!line || sscanf(line, "'%*[^']' %*s %" SCNu64, ret_nr_bytes) != 1) {
		snprintf(error, KERNEL_ERROR, "apt-get does not tell the size of %s", name);
		ret = -EPROTO;
	}
	free(text);
	return ret;
}

int kernel_package_find(const char *name, struct kernel_package *ret_package, char *error)
{
	struct kernel_package package = { .nr_bytes = 0 };
	char next[KERNEL_PACKAGE];
	int ret;

	if (!is_package_name(name)) {
		snprintf(error, KERNEL_ERROR, "%.300s: not a package's name; " ACCEPTED, name);
		return -EINVAL;
	}
	snprintf(package.name, sizeof(package.name), "%s", name);
	for (unsigned int i = 0; !is_kernel_name(package.name) && i < NR_FOLLOWED_MAX; i++) {
		ret = find_dependency(package.name, next, error);
		if (ret)
			return ret;
		if (!next[0])
			break;
		memcpy(package.name, next, sizeof(next));
	}
	if (strncmp(package.name, PREFIX, strlen(PREFIX))) {
		snprintf(error, KERNEL_ERROR, "%s: not a kernel's package; " ACCEPTED, name);
		return -ENOENT;
	}
	ret = find_size(package.name, &package.nr_bytes, error);
	if (!ret)
		*ret_package = package;
	return ret;
}

static int find_file(const struct temporary_folder *folder, char *ret_path)
{
	DIR *directory = opendir(folder->path);
	struct dirent *entry;
	int ret = -ENOENT;

	while (ret && directory && (entry = readdir(directory))) {
		const char *dot = strrchr(entry->d_name, '.');

		if (dot && !strcmp(dot, ".deb") &&
		    snprintf(ret_path, PATH_MAX, "%s/%s", folder->path, entry->d_name) < PATH_MAX)
			ret = 0;
	}
	if (directory)
		closedir(directory);
	return ret;
}

int kernel_package_download(const struct kernel_package *package,
			    const struct temporary_folder *folder, char *ret_path, char *error)
{
	const char *const argv[] = { "apt-get", "-q", "download", package->name, NULL };
	char *text;
	int ret = run_apt(argv, package->name, folder->path, 0, &text, error);

	if (ret == -EBADE && temporary_folder_check_space(folder)) {
		snprintf(error, KERNEL_ERROR, "no space left in %.300s", folder->parent);
		return -ENOSPC;
	}
	if (ret)
		return ret;
	free(text);
	ret = find_file(folder, ret_path);
	if (ret)
		snprintf(error, KERNEL_ERROR, "apt-get has left no package %s", package->name);
	return ret;
}
