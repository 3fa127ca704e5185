/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The short form of profiles that stands below the prices of operations. */
#include "report/render_exact_profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/params.h"
#include "report/profile_base.h"
#include "report/profile_difference.h"
#include "report/profile_table.h"

/* The kernel's sources that hold its memory controller and nothing else. */
static const char *const accounting[] = { "memcontrol.c", "memcontrol-v1.c", "page_counter.c",
					  "swap_cgroup.c", "vmpressure.c" };

/* Of the library all is shown: what it does is accounting. */
#define LIBRARY "src/"
#define OUTSIDE "user space outside the library"

/* In which configuration a profile tells most, the first that was measured. */
static const char *const preferred[] = { "Set", "slab-Set", "kmemcg-slab-Set", "child" };

static bool is_of_library(const struct bench_profile *profile)
{
	return strcmp(profile->target, "lib") == 0;
}

static bool is_accounting(const struct bench_profile *profile, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (is_of_library(profile))
		return strncmp(path, LIBRARY, strlen(LIBRARY)) == 0;
	for (size_t i = 0; i < sizeof(accounting) / sizeof(accounting[0]); i++) {
		if (strcmp(slash ? slash + 1 : path, accounting[i]) == 0)
			return true;
	}
	return false;
}

static bool is_exact(const struct bench_profile *profile)
{
	return profile->meter && strcmp(profile->meter, "exact") == 0;
}

/* The less, the rather is it the one to print; of equals the later one. */
static size_t rank_of(const struct bench_profile *profile)
{
	size_t rank = 0;

	while (rank < sizeof(preferred) / sizeof(preferred[0]) &&
	       strcmp(profile->config, preferred[rank]))
		rank++;
	return rank;
}

/* The parameters that are not the workload's, but say of which machine it is. */
static bool is_same_machine(const struct bench_profile *left, const struct bench_profile *right)
{
	static const char *const names[] = { PARAM_KERNEL, "cgroup" };
	const struct bench_series one = { .params = left->params, .nr_params = left->nr_params };
	const struct bench_series other = { .params = right->params,
					    .nr_params = right->nr_params };

	return strcmp(left->target, right->target) == 0 && !params_differ(&one, &other, names[0]) &&
	       !params_differ(&one, &other, names[1]);
}

/* The profile that stands for its workload in all configurations. */
static const struct bench_profile *choose(const struct bench_result *result,
					  const struct bench_profile *first)
{
	const struct bench_profile *chosen = first;

	for (size_t i = 0; i < result->nr_profiles; i++) {
		const struct bench_profile *other = result->profiles[i];

		if (is_exact(other) && other->part == first->part &&
		    strcmp(other->workload, first->workload) == 0 &&
		    is_same_machine(other, first) && rank_of(other) <= rank_of(chosen))
			chosen = other;
	}
	return chosen;
}

/* Is there an earlier one of the same machine? Then that stood for it. */
static bool is_first(const struct bench_result *result, size_t index, bool of_workload)
{
	const struct bench_profile *profile = result->profiles[index];

	for (size_t i = 0; i < index; i++) {
		const struct bench_profile *other = result->profiles[i];

		if (is_exact(other) && is_same_machine(other, profile) &&
		    (!of_workload || (strcmp(other->workload, profile->workload) == 0 &&
				      other->part == profile->part)))
			return false;
	}
	return true;
}

static void print_heading(const struct comparison *comparison, const struct profile_place *place,
			  FILE *out)
{
	const struct bench_profile *profile = place->profile;

	fputc('\n', out);
	profile_print_heading(comparison->nr_runs > 1 ? comparison->runs[place->run].label : NULL,
			      profile, "", out);
	fprintf(out,
		"instructions of %" PRIu64 " operations, %s, interrupts and put off included\n",
		profile->operations, is_of_library(profile) ? "the kernel" : "user space");
}

/* Whole files of the accounting; and of the library's other user space the files' sums. */
static void take_accounting(const struct bench_profile *profile, struct bench_profile *part,
			    struct bench_file *outside)
{
	for (size_t i = 0; i < profile->nr_files; i++) {
		const struct bench_file *file = &profile->files[i];

		if (is_accounting(profile, file->path)) {
			part->files[part->nr_files++] = *file;
		} else if (is_of_library(profile)) {
			outside->symbols[outside->nr_symbols++] =
				(struct bench_symbol){ .name = file->path, .count = file->count };
			outside->count += file->count;
		}
	}
	if (outside->nr_symbols)
		part->files[part->nr_files++] = *outside;
}

static int print_accounting(const struct bench_profile *profile, FILE *out,
			    struct report_error *error)
{
	struct bench_profile part = *profile;
	struct bench_file outside = { .path = (char *)OUTSIDE };
	int ret;

	/* Before counts are summed that might not be right. */
	ret = profile_check_sums(profile, error);
	if (ret)
		return ret;
	part.nr_files = 0;
	part.files = calloc(profile->nr_files + 1, sizeof(*part.files));
	outside.symbols = calloc(profile->nr_files + 1, sizeof(*outside.symbols));
	if (part.files && outside.symbols) {
		take_accounting(profile, &part, &outside);
		ret = profile_table_print(&part, out, error);
	} else {
		ret = -ENOMEM;
	}
	free(part.files);
	free(outside.symbols);
	return ret;
}

static bool differs(const struct profile_difference *difference)
{
	for (size_t i = 0; i < difference->nr_symbols; i++) {
		if (difference->symbols[i].count.added)
			return true;
	}
	return false;
}

static int print_difference(const struct bench_profile *base, const struct bench_profile *profile,
			    FILE *out, struct report_error *error)
{
	struct profile_difference *difference;
	int ret = profile_difference_create(base, profile, &difference, error);

	if (ret)
		return ret;
	fputc('\n', out);
	profile_difference_title(difference, "", differs(difference) ? "" : ": no symbol differs",
				 out);
	if (differs(difference))
		profile_difference_print(difference, out);
	profile_difference_destroy(difference);
	return 0;
}

static int print_place(const struct comparison *comparison, const struct profile_place *place,
		       FILE *out, struct report_error *error)
{
	struct profile_place base;
	int ret;

	print_heading(comparison, place, out);
	ret = print_accounting(place->profile, out, error);
	if (!ret && profile_find_base(comparison, place, &base))
		ret = print_difference(base.profile, place->profile, out, error);
	return ret;
}

int render_exact_profiles(const struct comparison *comparison, FILE *out,
			  struct report_error *error)
{
	int ret = 0;

	for (size_t run = 0; run < comparison->nr_runs; run++) {
		const struct bench_result *result = comparison->runs[run].result;

		for (size_t i = 0; i < result->nr_profiles && !ret; i++) {
			struct profile_place place = { run, result->profiles[i] }, older;

			if (!is_exact(place.profile) || !is_first(result, i, true))
				continue;
			place.profile = choose(result, place.profile);
			if (is_first(result, i, false))
				ret = print_place(comparison, &place, out, error);
			if (!ret && profile_find_kernel(comparison, &place, &older))
				ret = print_difference(older.profile, place.profile, out, error);
		}
	}
	return ret;
}
