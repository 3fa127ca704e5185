/* SPDX-License-Identifier: MIT */
#include "meters/exact/kernels.h"

#include <ctype.h>
#include <errno.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "meters/exact/kernel_header.h"

_Static_assert(sizeof(((struct kernel *)NULL)->hash) == SHA256_DIGEST_STRING_LENGTH,
	       "a hash as libmd writes it");

/* Splits "NAME=PATH"; what has a slash before its "=" is a path. */
static int split(const char *argument, struct kernel *kernel, char *error)
{
	size_t length = strcspn(argument, "=/");
	const char *path = argument;

	if (argument[length] == '=') {
		bool printable = length > 0 && length < sizeof(kernel->name);

		for (size_t i = 0; i < length && printable; i++)
			printable = isgraph((unsigned char)argument[i]);
		if (!printable) {
			snprintf(error, KERNEL_ERROR,
				 "%.300s: a kernel's name has 1 to %zu printable characters and no "
				 "spaces: NAME=PATH",
				 argument, sizeof(kernel->name) - 1);
			return -EINVAL;
		}
		memcpy(kernel->name, argument, length);
		path = argument + length + 1;
	}
	if (!path[0] || snprintf(kernel->path, sizeof(kernel->path), "%s", path) >= PATH_MAX) {
		snprintf(error, KERNEL_ERROR, "%.300s: PATH or NAME=PATH of a kernel is accepted",
			 argument);
		return -EINVAL;
	}
	return 0;
}

/* The name of a kernel that was given none. */
static void name_kernel(struct kernel *kernel)
{
	const char *file = strrchr(kernel->path, '/');

	if (kernel->name[0])
		return;
	snprintf(kernel->name, sizeof(kernel->name), "%.*s", (int)sizeof(kernel->name) - 1,
		 kernel->release[0] ? kernel->release
		 : file             ? file + 1
				    : kernel->path);
}

/* Where Debian's packages put the kernel with its debug information. */
static void find_debug(struct kernel *kernel)
{
	if (!kernel->release[0] || strchr(kernel->release, '/'))
		return;
	snprintf(kernel->debug, sizeof(kernel->debug), "/usr/lib/debug/boot/vmlinux-%s",
		 kernel->release);
	if (access(kernel->debug, R_OK))
		kernel->debug[0] = '\0';
}

int kernel_open(const char *argument, struct kernel *ret_kernel, char *error)
{
	struct kernel kernel = { 0 };
	int ret = split(argument, &kernel, error);

	if (!ret)
		ret = kernel_header_read(kernel.path, kernel.release, sizeof(kernel.release),
					 error);
	if (!ret && !SHA256File(kernel.path, kernel.hash)) {
		ret = errno ? -errno : -EIO;
		snprintf(error, KERNEL_ERROR, "%.300s: %s", kernel.path, strerror(-ret));
	}
	if (ret)
		return ret;
	name_kernel(&kernel);
	find_debug(&kernel);
	*ret_kernel = kernel;
	return 0;
}

void kernel_forget_symbols(struct kernel *kernel)
{
	for (size_t i = 0; i < kernel->nr_symbols; i++)
		free(kernel->symbols[i].name);
	free(kernel->symbols);
	kernel->symbols = NULL;
	kernel->nr_symbols = 0;
}

void kernel_close(struct kernel *kernel)
{
	kernel_forget_symbols(kernel);
	memset(kernel, 0, sizeof(*kernel));
}
