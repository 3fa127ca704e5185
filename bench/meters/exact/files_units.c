/* SPDX-License-Identifier: MIT */
/*
 * Compilation units out of DWARF. Their ranges alone are read, no function: the inlined ones are
 * counted where they were inlined, and a unit's ranges hold what the compiler split off too.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "meters/exact/files_ranges.h"
#include "array.h"

struct unit {
	char *path;         /* belongs to the files */
	const char *folder; /* in which it was compiled; belongs to the Dwarf */
};

struct units {
	struct unit *units;
	size_t nr_units;
};

/*
 * Resolves "." and ".." in place, by the text alone: the source need not be on this machine. The
 * path ends with a slash, which is taken away.
 */
static void tidy_path(char *path)
{
	const char *from = path;
	char *to = path, *root;

	if (*from == '/')
		to++;
	root = to;
	while (*from) {
		size_t nr_bytes;

		from += strspn(from, "/");
		nr_bytes = strcspn(from, "/");
		if (nr_bytes == 2 && strncmp(from, "..", 2) == 0) {
			if (to > root)
				to--;
			while (to > root && to[-1] != '/')
				to--;
		} else if (nr_bytes && !(nr_bytes == 1 && *from == '.')) {
			memmove(to, from, nr_bytes);
			to += nr_bytes;
			*to++ = '/';
		}
		from += nr_bytes;
	}
	if (to > root)
		to--;
	*to = '\0';
}

static int unit_path(struct files *files, const char *folder, const char *name, char **ret_path)
{
	char *joined;
	int ret;

	/* The last slash is what tidy_path() needs. */
	if (*name == '/' || !*folder)
		ret = asprintf(&joined, "%s/", name);
	else
		ret = asprintf(&joined, "%s/%s/", folder, name);
	if (ret < 0)
		return -ENOMEM;
	tidy_path(joined);
	ret = files_add_path(files, joined, ret_path);
	free(joined);
	return ret;
}

static int add_ranges(struct files *files, Dwarf_Die *die, const char *path)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t offset = 0;
	int ret;

	while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
		/* What the linker threw away begins at 0. */
		if (!start || start >= end)
			continue;
		ret = files_add_range(files, start, end, path);
		if (ret)
			return ret;
	}
	return 0;
}

static int add_unit(struct files *files, struct units *units, Dwarf_Die *die)
{
	size_t nr_ranges = files->nr_ranges;
	const char *name = dwarf_diename(die);
	struct unit *all, unit = { .folder = "" };
	Dwarf_Attribute attribute;
	int ret;

	if (!name)
		return 0;
	if (dwarf_attr(die, DW_AT_comp_dir, &attribute) && dwarf_formstring(&attribute))
		unit.folder = dwarf_formstring(&attribute);
	all = array_grown(units->units, units->nr_units, sizeof(*all));
	if (!all)
		return -ENOMEM;
	units->units = all;
	ret = unit_path(files, unit.folder, name, &unit.path);
	if (!ret)
		ret = add_ranges(files, die, unit.path);
	/* A unit of data alone says nothing about where code comes from. */
	if (!ret && files->nr_ranges > nr_ranges)
		all[units->nr_units++] = unit;
	return ret;
}

/* The bytes of @path before @tail, if it ends with that. */
static bool ends_with(const char *path, const char *tail, size_t *ret_nr_bytes)
{
	size_t nr_path = strlen(path), nr_tail = strlen(tail);

	if (nr_path < nr_tail || strcmp(path + nr_path - nr_tail, tail))
		return false;
	if (nr_path > nr_tail && path[nr_path - nr_tail - 1] != '/')
		return false;
	*ret_nr_bytes = nr_path - nr_tail;
	return true;
}

static int by_folder(const void *a, const void *b)
{
	return strcmp(((const struct unit *)a)->folder, ((const struct unit *)b)->folder);
}

/* The units compiled in the folder in which most were: others came from elsewhere, as a libc. */
static const struct unit *most_usual(struct units *units, size_t *ret_nr_units)
{
	size_t best = 0, nr_best = 0, end;

	qsort(units->units, units->nr_units, sizeof(*units->units), by_folder);
	for (size_t start = 0; start < units->nr_units; start = end) {
		for (end = start + 1; end < units->nr_units; end++) {
			if (by_folder(&units->units[start], &units->units[end]))
				break;
		}
		if (end - start > nr_best) {
			best = start;
			nr_best = end - start;
		}
	}
	*ret_nr_units = nr_best;
	return &units->units[best];
}

/* Length of the path of the folder that holds them all, with its last slash. */
static size_t shared_folder(const struct unit *units, size_t nr_units)
{
	size_t nr_bytes = strlen(units[0].path);

	for (size_t i = 1; i < nr_units; i++) {
		size_t nr_same = 0;

		while (nr_same < nr_bytes && units[0].path[nr_same] == units[i].path[nr_same])
			nr_same++;
		nr_bytes = nr_same;
	}
	while (nr_bytes && units[0].path[nr_bytes - 1] != '/')
		nr_bytes--;
	return nr_bytes;
}

/* A path's start that is the same for the whole source, for free(); "" if there is none. */
static char *source_top(struct units *units, const char *top_file)
{
	const struct unit *usual;
	size_t nr_bytes, nr_usual;

	for (size_t i = 0; top_file && i < units->nr_units; i++) {
		if (ends_with(units->units[i].path, top_file, &nr_bytes))
			return strndup(units->units[i].path, nr_bytes);
	}
	usual = most_usual(units, &nr_usual);
	return strndup(usual->path, shared_folder(usual, nr_usual));
}

static int cut_paths(struct units *units, const char *top_file)
{
	char *top = source_top(units, top_file);
	size_t nr_top;

	if (!top)
		return -ENOMEM;
	nr_top = strlen(top);
	for (size_t i = 0; i < units->nr_units; i++) {
		char *path = units->units[i].path;

		if (strncmp(path, top, nr_top) == 0)
			memmove(path, path + nr_top, strlen(path + nr_top) + 1);
	}
	free(top);
	return 0;
}

int files_add_units(struct files *files, Elf *elf, const char *top_file)
{
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	struct units units = { 0 };
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	int ret = 0;

	if (!dwarf)
		return 0;
	while (!ret && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
		if (dwarf_tag(&die) == DW_TAG_compile_unit)
			ret = add_unit(files, &units, &die);
	}
	if (!ret && units.nr_units)
		ret = cut_paths(&units, top_file);
	if (!ret)
		ret = (int)units.nr_units;
	free(units.units);
	dwarf_end(dwarf);
	return ret;
}
