/* SPDX-License-Identifier: MIT */
/* Out of a Debian package: the kernel and its configuration. */
#ifndef BENCH_METERS_EXACT_KERNEL_UNPACK_H
#define BENCH_METERS_EXACT_KERNEL_UNPACK_H

#include "meters/exact/temporary_folder.h"

/**
 * kernel_unpack - write what a package has as /boot/vmlinuz-RELEASE and /boot/config-RELEASE
 * @package:   path of a .deb
 * @folder:    to write both into, under their names
 * @ret_name:  NAME_MAX + 1 bytes: "vmlinuz-RELEASE"
 * @error:     on failure one line, KERNEL_ERROR bytes
 *
 * Return: 0; -ENOENT for a package without kernel; -EBADMSG for what is no package; the errno of
 * reading or writing.
 */
int kernel_unpack(const char *package, const struct temporary_folder *folder, char *ret_name,
		  char *error);

#endif
