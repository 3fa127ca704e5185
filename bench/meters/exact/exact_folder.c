/* SPDX-License-Identifier: MIT */
/* What all boots of an exact run share, in a temporary directory. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "meters/exact/emulator.h"
#include "meters/exact/exact_folder.h"
#include "meters/exact/exact_symbols.h"
#include "meters/exact/image.h"
#include "programs.h"

void exact_folder_image(const struct exact_folder *folder, bool not_compiled, char *ret_path)
{
	snprintf(ret_path, PATH_MAX, "%s/image%s", folder->temporary.path,
		 not_compiled ? "-notcompiled" : "");
}

/* The programs in which blocks run: with the library, and with one without controller. */
static int find_guests(char (*ret_paths)[PATH_MAX])
{
	int ret = programs_find("umemcg-bench-guest", ret_paths[0]);

	return ret ? ret : programs_find("umemcg-bench-guest-notcompiled", ret_paths[1]);
}

const char *exact_why_not(void)
{
	const char *why_not = emulator_why_not();
	char guests[2][PATH_MAX];

	if (!why_not && find_guests(guests))
		why_not = "umemcg-bench-guest is neither beside umemcg-bench nor in its "
			  "libexec/umemcg: builds for x86-64 without sanitizers have it";
	return why_not;
}

int exact_folder_make(const char *program, struct exact_folder *ret_folder, char *error)
{
	char image[PATH_MAX], image_error[IMAGE_ERROR];
	int ret;

	memset(ret_folder, 0, sizeof(*ret_folder));
	ret = find_guests(ret_folder->guests);
	if (ret) {
		snprintf(error, EXACT_ERROR, "%s", exact_why_not());
		return ret;
	}
	ret_folder->program = program;
	ret = temporary_folder_create(NULL, &ret_folder->temporary);
	if (ret) {
		snprintf(error, EXACT_ERROR,
			 "%.900s: no directory can be made in it: %s; $TMPDIR names another one",
			 ret_folder->temporary.parent, strerror(-ret));
		return ret;
	}
	for (int i = 0; i < 2; i++) {
		exact_folder_image(ret_folder, i, image);
		ret = image_write(image, ret_folder->guests[i], program, image_error);
		if (ret) {
			snprintf(error, EXACT_ERROR, "%s", image_error);
			exact_folder_remove(ret_folder);
			return ret;
		}
	}
	return 0;
}

void exact_folder_remove(struct exact_folder *folder)
{
	temporary_folder_remove(&folder->temporary);
}

static int write_symbols(const char *path, const struct kernel *kernel, const char *program)
{
	FILE *out = fopen(path, "we");
	int ret = 0;

	if (!out)
		return -errno;
	if (program)
		ret = exact_symbols_of_program(program, out);
	for (size_t i = 0; i < kernel->nr_symbols; i++)
		fprintf(out, "%" PRIx64 " %s\n", kernel->symbols[i].address,
			kernel->symbols[i].name);
	if (ferror(out) && !ret)
		ret = -ENOSPC;
	if (fclose(out) && !ret)
		ret = -errno;
	return ret;
}

int exact_folder_symbols(const struct exact_folder *folder, const struct kernel *kernel,
			 enum workload_target target, bool not_compiled, char *ret_path,
			 char *error)
{
	const char *program = target == WORKLOAD_LIB ? folder->guests[not_compiled] : NULL;
	int ret;

	snprintf(ret_path, PATH_MAX, "%s/symbols-%.16s%s%s", folder->temporary.path, kernel->hash,
		 program ? "-lib" : "", program && not_compiled ? "-notcompiled" : "");
	if (!access(ret_path, R_OK))
		return 0;
	ret = write_symbols(ret_path, kernel, program);
	if (ret) {
		snprintf(error, EXACT_ERROR, "%.900s: %s", ret_path, strerror(-ret));
		unlink(ret_path);
	}
	return ret;
}
