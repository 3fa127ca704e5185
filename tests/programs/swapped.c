/* SPDX-License-Identifier: MIT */
/*
 * A region of four times its group's limit: what was written comes back, from memory where it
 * shrinks, if the compressor lies beside the library, and from the file that $UMEMCG_CMDLINE names.
 * With an argument the compressor has to be there.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <umemcg.h>
#include <unistd.h>

#define LIMIT (UINT64_C(4) << 20)

static int fail(const char *what)
{
	fprintf(stderr, "swapped: %s\n", what);
	return 1;
}

static bool lies_in_build(const char *name)
{
	const char *build = getenv("UMEMCG_BUILD");
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", build ? build : "", name);
	return build && !access(path, R_OK);
}

static uint64_t line_of(struct umemcg *group, const char *key)
{
	char text[1024];
	const char *found = NULL;

	if (umemcg_read(group, "memory.stat", text, sizeof(text)) > 0)
		found = strstr(text, key);
	return found ? strtoull(found + strlen(key), NULL, 10) : UINT64_MAX;
}

/* Half of the pages shrink, the others do not. */
static uint64_t word_of(size_t page, size_t i)
{
	uint64_t word = page * 512 + i + 1;

	return page % 2 ? word % 7 + page : word * UINT64_C(0x9e3779b97f4a7c15) ^ word << 29;
}

int main(int argc, char **argv)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE), nr_words = page_size / sizeof(uint64_t);
	size_t nr_pages = 4 * LIMIT / page_size;
	bool compresses = argc > 1 || lies_in_build("libumemcg-lz4.so");
	struct umemcg *group;
	uint64_t *region;

	(void)argv;
	setenv("UMEMCG_CMDLINE", "cgroup_enable=memory umemcg.swap=/tmp:64M", 1);
	if (umemcg_state() != UMEMCG_ENABLED || umemcg_map_mode() != UMEMCG_MAP_AT_TOUCH) {
		puts("SKIP: regions are not charged at touch here");
		return 77;
	}
	if (umemcg_create(NULL, NULL, &group) || umemcg_set_max(group, LIMIT) ||
	    umemcg_map(group, nr_pages * page_size, (void **)&region))
		return fail("a region of four times the limit could not be made");
	for (size_t page = 0; page < nr_pages; page++)
		for (size_t i = 0; i < nr_words; i++)
			region[page * nr_words + i] = word_of(page, i);
	for (size_t page = 0; page < nr_pages; page++)
		for (size_t i = 0; i < nr_words; i++)
			if (region[page * nr_words + i] != word_of(page, i))
				return fail("a page is not what was written");
	if (umemcg_get_peak(group) > LIMIT)
		return fail("the limit was passed");
	if ((line_of(group, "zswpout ") > 0) != compresses)
		return fail(compresses ? "nothing was compressed" : "something was compressed");
	if (!line_of(group, "pswpout "))
		return fail("nothing was written to the file");
	if (umemcg_unmap(region) || line_of(group, "zswap ") || umemcg_get_current(group))
		return fail("something is left");
	return umemcg_destroy(group) ? fail("the group cannot be destroyed") : 0;
}
