/* SPDX-License-Identifier: MIT */
/* Debian's packages of kernels, by way of apt: nothing is installed and no privilege is needed. */
#ifndef BENCH_METERS_EXACT_KERNEL_PACKAGE_H
#define BENCH_METERS_EXACT_KERNEL_PACKAGE_H

#include <stdint.h>

#include "meters/exact/temporary_folder.h"

#define KERNEL_PACKAGE 128

struct kernel_package {
	char name[KERNEL_PACKAGE];
	uint64_t nr_bytes; /* to be downloaded */
};

/**
 * kernel_package_find - the package that has the kernel
 * @name:        of it, or of a meta-package that depends on it
 * @ret_package: what it comes down to
 * @error:       on failure one line, KERNEL_ERROR bytes
 *
 * Return: 0; -EINVAL for no name of a package; -ENOENT without apt, for a package that apt does not
 * know or that is no kernel's; -EINTR for a signal; another negative errno.
 */
int kernel_package_find(const char *name, struct kernel_package *ret_package, char *error);

/**
 * kernel_package_download - download it
 * @folder:   into which
 * @ret_path: PATH_MAX bytes: the .deb
 *
 * Return: as above.
 */
int kernel_package_download(const struct kernel_package *package,
			    const struct temporary_folder *folder, char *ret_path, char *error);

#endif
