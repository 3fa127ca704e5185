/* SPDX-License-Identifier: MIT */
/*
 * Runs the fast paths between marks for callgrind, which writes the instructions of each stretch.
 * Every stretch has a twin, named "none-...", that calls functions which return at once; the
 * difference is what happens inside the library, without loop, arguments and call. A stretch is
 * long ("mean": slow paths that come along now and then are in it) or one operation ("single").
 *
 * Arguments: unset, or set (in a group with a limit), or mixed (in many groups, whose objects
 * share their slabs).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

#include <umemcg.h>

#include "count.h"

enum { NR_PAIRS = 10000, NR_WARM = 20000, NR_SINGLES = 32, NR_SLOTS = 512 };
enum { NR_FIRST = 8, NR_GROUPS = 32, NR_ROUNDS = 8, NR_PAIRS_A_TURN = 4, NR_OBJECTS = 10 };

static const size_t sizes[] = { 16, 64, 256, 1024 };

/* What a stretch calls: the library, or functions that return at once. */
struct calls {
	const char *prefix;
	void *(*malloc)(size_t nr_bytes);
	void (*free)(void *object);
	struct umemcg *(*enter)(struct umemcg *group);
	int (*try_charge)(struct umemcg *group, uint64_t nr_bytes);
	void (*uncharge)(struct umemcg *group, uint64_t nr_bytes);
};

static const struct calls library = { "",           umemcg_malloc,     umemcg_free,
				      umemcg_enter, umemcg_try_charge, umemcg_uncharge };
static const struct calls none = { "none-",    none_malloc,     none_free,
				   none_enter, none_try_charge, none_uncharge };

static char stretch_name[64];

/*
 * Named before it begins, so that the naming is not in it: what it does, the size of its objects,
 * and how many operations it holds.
 */
static void stretch_begin(const struct calls *calls, const char *what, size_t size,
			  unsigned int nr_operations)
{
	snprintf(stretch_name, sizeof(stretch_name), "%s%s-%zu:%u", calls->prefix, what, size,
		 nr_operations);
	CALLGRIND_ZERO_STATS;
	CALLGRIND_TOGGLE_COLLECT;
}

static void stretch_end(void)
{
	CALLGRIND_TOGGLE_COLLECT;
	CALLGRIND_DUMP_STATS_AT(stretch_name);
}

static void expect(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "budget-count: wrong: %s\n", what);
	exit(1);
}

/* noinline: the loop must be the same code for both sets of calls. */
static __attribute__((noinline)) void pairs(const struct calls *calls, size_t size, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		calls->free(calls->malloc(size));
}

/* Replaces objects of a live set in an order that looks random. */
static __attribute__((noinline)) void replace(const struct calls *calls, void **slots, size_t size,
					      unsigned int nr)
{
	static uint32_t state = 1;

	for (unsigned int i = 0; i < nr; i++) {
		void **slot;

		state = state * 1664525 + 1013904223;
		slot = &slots[(state >> 16) % NR_SLOTS];
		calls->free(*slot);
		*slot = calls->malloc(size);
	}
}

static void count_pairs(const struct calls *calls, size_t size)
{
	pairs(calls, size, NR_WARM);
	stretch_begin(calls, "pair-mean", size, NR_PAIRS);
	pairs(calls, size, NR_PAIRS);
	stretch_end();
	for (unsigned int i = 0; i < NR_SINGLES; i++) {
		stretch_begin(calls, "pair-single", size, 1);
		pairs(calls, size, 1);
		stretch_end();
	}
}

static void count_replacement(const struct calls *calls, size_t size)
{
	static void *slots[NR_SLOTS];

	replace(calls, slots, size, NR_WARM);
	stretch_begin(calls, "replace-mean", size, NR_PAIRS);
	replace(calls, slots, size, NR_PAIRS);
	stretch_end();
	for (unsigned int i = 0; i < NR_SLOTS; i++) {
		calls->free(slots[i]);
		slots[i] = NULL;
	}
}

static __attribute__((noinline)) void enter_pairs(const struct calls *calls, struct umemcg *group,
						  unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		calls->enter(calls->enter(group));
}

static __attribute__((noinline)) void charge_pairs(const struct calls *calls, struct umemcg *group,
						   unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		calls->try_charge(group, 64);
		calls->uncharge(group, 64);
	}
}

static void count_paths(const struct calls *calls, struct umemcg *group)
{
	enter_pairs(calls, group, NR_WARM);
	stretch_begin(calls, "enter-mean", 0, NR_PAIRS);
	enter_pairs(calls, group, NR_PAIRS);
	stretch_end();
	charge_pairs(calls, group, NR_WARM);
	stretch_begin(calls, "charge-mean", 64, NR_PAIRS);
	charge_pairs(calls, group, NR_PAIRS);
	stretch_end();
}

static struct umemcg *limited_group(const char *name)
{
	struct umemcg *group;

	expect(umemcg_create(NULL, name, &group) == 0, "a group could not be created");
	if (umemcg_state() == UMEMCG_ENABLED)
		expect(umemcg_set_max(group, 1 << 30) == 0, "a limit could not be set");
	return group;
}

static int compare_pages(const void *left, const void *right)
{
	uintptr_t a = *(const uintptr_t *)left, b = *(const uintptr_t *)right;

	return (a > b) - (a < b);
}

/* The heap may give the first few groups pages of their own: these take them. */
static void use_first_groups(size_t size)
{
	char name[32];

	for (unsigned int i = 0; i < NR_FIRST; i++) {
		snprintf(name, sizeof(name), "first%u", i);
		umemcg_enter(limited_group(name));
		expect(umemcg_malloc(size) != NULL, "an allocation failed");
	}
}

/* The objects must really share pages, or "mixed" would measure something else. */
static void expect_mixed(void *objects[NR_GROUPS][NR_OBJECTS])
{
	uintptr_t pages[NR_GROUPS * NR_OBJECTS];
	unsigned int nr_pages = 1;

	for (unsigned int i = 0; i < NR_GROUPS; i++) {
		for (unsigned int j = 0; j < NR_OBJECTS; j++)
			pages[i * NR_OBJECTS + j] = (uintptr_t)objects[i][j] / 4096;
	}
	qsort(pages, NR_GROUPS * NR_OBJECTS, sizeof(pages[0]), compare_pages);
	for (unsigned int i = 1; i < NR_GROUPS * NR_OBJECTS; i++)
		nr_pages += pages[i] != pages[i - 1];
	expect(nr_pages < NR_GROUPS, "objects of several groups share no page");
}

/*
 * Many groups take turns. The first pair after a change of group finds its stock and is the
 * change's price ("turn"); those after it are counted as "mixed".
 */
static void count_turns(const struct calls *calls, struct umemcg **groups, size_t size)
{
	for (unsigned int round = 0; round < NR_ROUNDS; round++) {
		for (unsigned int i = 0; i < NR_GROUPS; i++) {
			stretch_begin(calls, "turn-single", size, 1);
			calls->enter(groups[i]);
			pairs(calls, size, 1);
			stretch_end();
			stretch_begin(calls, "mixed-single", size, NR_PAIRS_A_TURN);
			pairs(calls, size, NR_PAIRS_A_TURN);
			stretch_end();
		}
	}
}

static void count_mixed(size_t size)
{
	static void *objects[NR_GROUPS][NR_OBJECTS];
	struct umemcg *groups[NR_GROUPS];
	char name[32];

	use_first_groups(size);
	for (unsigned int i = 0; i < NR_GROUPS; i++) {
		snprintf(name, sizeof(name), "mixed%u", i);
		groups[i] = limited_group(name);
	}
	for (unsigned int j = 0; j < NR_OBJECTS; j++) {
		for (unsigned int i = 0; i < NR_GROUPS; i++) {
			umemcg_enter(groups[i]);
			objects[i][j] = umemcg_malloc(size);
			expect(objects[i][j] != NULL, "an allocation failed");
		}
	}
	expect_mixed(objects);
	count_turns(&library, groups, size);
	count_turns(&none, groups, size);
	umemcg_enter(NULL);
}

static void count_single_owner(struct umemcg *group)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		count_pairs(&library, sizes[i]);
		count_pairs(&none, sizes[i]);
		count_replacement(&library, sizes[i]);
		count_replacement(&none, sizes[i]);
	}
	count_paths(&library, group);
	count_paths(&none, group);
}

int main(int argc, char **argv)
{
	struct umemcg *group;

	if (argc != 2 || (strcmp(argv[1], "unset") != 0 && strcmp(argv[1], "set") != 0 &&
			  strcmp(argv[1], "mixed") != 0)) {
		fprintf(stderr, "usage: budget-count unset|set|mixed\n");
		return 2;
	}
	if (!strcmp(argv[1], "mixed")) {
		count_mixed(64);
		return 0;
	}
	group = limited_group("counted");
	if (!strcmp(argv[1], "set"))
		umemcg_enter(group);
	count_single_owner(group);
	return 0;
}
