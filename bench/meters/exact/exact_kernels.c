/* SPDX-License-Identifier: MIT */
/* The kernels of one run, with their symbols, and the source files of their functions. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "meters/exact/exact_kernels.h"
#include "progress.h"

/* A line about an argument must not steer the terminal: C0, DEL, and C1 in UTF-8. */
static void blot_controls(char *line)
{
	for (unsigned char *c = (unsigned char *)line; *c; c++) {
		if (*c < ' ' || *c == 0x7f)
			*c = '?';
		else if (*c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f)
			c[0] = c[1] = '?';
	}
}

static int open_one(struct exact_kernels *kernels, const char *argument, char *error)
{
	struct kernel *kernel = &kernels->kernels[kernels->nr_kernels];
	char kernel_error[KERNEL_ERROR] = "";
	int ret = kernel_open(argument, kernel, kernel_error);

	if (ret) {
		snprintf(error, EXACT_ERROR, "%.*s", EXACT_ERROR - 1, kernel_error);
		return ret;
	}
	kernels->nr_kernels++;
	for (size_t i = 0; i + 1 < kernels->nr_kernels; i++) {
		if (strcmp(kernels->kernels[i].name, kernel->name))
			continue;
		snprintf(error, EXACT_ERROR,
			 "--kernel %s: a kernel of the name %s was given before; accepted is "
			 "NAME=PATH with another name",
			 argument, kernel->name);
		return -EINVAL;
	}
	return 0;
}

/*
 * "NAME=VMLINUX" belongs to the kernel of that name, "VMLINUX" to the only one; what has a slash
 * before its "=" is a path.
 */
static int set_debug_info(struct exact_kernels *kernels, const char *argument, char *error)
{
	size_t length = strcspn(argument, "=/");
	bool is_named = argument[length] == '=';
	const char *path = is_named ? argument + length + 1 : argument;
	struct kernel *found = !is_named && kernels->nr_kernels == 1 ? &kernels->kernels[0] : NULL;

	for (size_t i = 0; i < kernels->nr_kernels && is_named; i++) {
		if (strlen(kernels->kernels[i].name) == length &&
		    strncmp(kernels->kernels[i].name, argument, length) == 0)
			found = &kernels->kernels[i];
	}
	if (!found) {
		snprintf(error, EXACT_ERROR,
			 "--debug-info %s: %s%.*s; accepted is NAME=VMLINUX with the name of one "
			 "of the kernels, such as %s",
			 argument,
			 is_named ? "no kernel has the name " : "there are several kernels",
			 is_named ? (int)length : 0, argument, kernels->kernels[0].name);
		return -EINVAL;
	}
	if (access(path, R_OK)) {
		snprintf(error, EXACT_ERROR,
			 "--debug-info %s: %s; accepted is a vmlinux that can be read", argument,
			 strerror(errno));
		return -EINVAL;
	}
	snprintf(found->debug, sizeof(found->debug), "%s", path);
	return 0;
}

int exact_kernels_open(const struct exact_options *exact, struct exact_kernels *ret_kernels,
		       char *error)
{
	char path[PATH_MAX], kernel_error[KERNEL_ERROR] = "";
	int ret = 0;

	memset(ret_kernels, 0, sizeof(*ret_kernels));
	if (!exact->nr_kernels) {
		ret = kernel_find(path, kernel_error);
		if (ret)
			snprintf(error, EXACT_ERROR, "%.*s", EXACT_ERROR - 1, kernel_error);
		else
			ret = open_one(ret_kernels, path, error);
	}
	for (size_t i = 0; i < exact->nr_kernels && !ret; i++)
		ret = open_one(ret_kernels, exact->kernels[i], error);
	for (size_t i = 0; i < exact->nr_debug_infos && !ret; i++)
		ret = set_debug_info(ret_kernels, exact->debug_infos[i], error);
	if (ret) {
		blot_controls(error);
		exact_kernels_close(ret_kernels);
	}
	return ret;
}

static int load_one(struct exact_kernels *kernels, size_t index, const char *image, char *error)
{
	char kernel_error[KERNEL_ERROR] = "", what[KERNEL_NAME + 16];
	struct kernel *kernel = &kernels->kernels[index];
	int ret;

	snprintf(what, sizeof(what), "symbols of %s", kernel->name);
	progress_show(0, 0, what);
	ret = kernel_load_symbols(kernel, image, kernel_error);
	progress_clear();
	if (ret)
		snprintf(error, EXACT_ERROR, "%.*s", EXACT_ERROR - 1, kernel_error);
	else if (kernel_error[0])
		fprintf(stderr, "umemcg bench: %s\n", kernel_error);
	if (ret)
		return ret;
	ret = files_of_kernel(kernel, &kernels->files[index], kernels->why_no_files[index]);
	if (ret)
		snprintf(error, EXACT_ERROR, "%s",
			 kernels->why_no_files[index][0] ? kernels->why_no_files[index]
							 : strerror(-ret));
	return ret;
}

int exact_kernels_load(struct exact_kernels *kernels, const struct exact_folder *folder,
		       char *error)
{
	char image[PATH_MAX];
	int ret = 0;

	exact_folder_image(folder, false, image);
	for (size_t i = 0; i < kernels->nr_kernels && !ret; i++)
		ret = load_one(kernels, i, image, error);
	return ret;
}

void exact_kernels_close(struct exact_kernels *kernels)
{
	for (size_t i = 0; i < kernels->nr_kernels; i++) {
		files_destroy(kernels->files[i]);
		kernel_close(&kernels->kernels[i]);
	}
	kernels->nr_kernels = 0;
}
