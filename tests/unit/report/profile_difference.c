/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two profiles, symbol by symbol: which are compared, what is printed, and that it adds up. */
#include "report/profile_difference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "made.h"
#include "report/explain.h"
#include "report/profile_table.h"

struct made_symbol {
	const char *path;
	const char *name;
	uint64_t disabled;
	uint64_t set;
};

/* Of 100 faults. */
static const struct made_symbol made_symbols[] = {
	{ "mm/memcontrol.c", "try_charge_memcg", 0, 10000 },
	{ "mm/memcontrol.c", "charge_memcg", 0, 8000 },
	{ "mm/memcontrol.c", "mem_cgroup_from_task", 0, 40 },
	{ "mm/memory.c", "handle_mm_fault", 40000, 40700 },
	{ "mm/memory.c", "do_anonymous_page", 20000, 17000 },
	{ "mm/swap.c", "folio_add_lru", 5000, 5000 },
	{ "[kernel]", "a_function_whose_name_leaves_no_room_for_numbers", 10, 2010 },
	{ "[kernel]", "clear_page_rep", 51400, 51399 },
};

static struct bench_profile *add_profile(struct bench_result *result, const char *config,
					 const char *kernel, uint64_t nr_elsewhere)
{
	bool is_set = strcmp(config, "Set") == 0;
	struct bench_profile *profile;

	assert_int_equal(result_add_profile(result, "pft", "kernel", config, 0, &profile), 0);
	for (size_t i = 0; i < NR(made_symbols); i++) {
		const struct made_symbol *symbol = &made_symbols[i];
		uint64_t count = is_set ? symbol->set : symbol->disabled;

		if (count)
			assert_int_equal(
				profile_add_symbol(profile, symbol->path, symbol->name, count), 0);
		profile->total += count;
	}
	profile->total += nr_elsewhere;
	if (kernel)
		assert_int_equal(profile_set_param_text(profile, "kernel", kernel), 0);
	return profile;
}

static void add_operations(struct bench_result *result)
{
	for (size_t i = 0; i < result->nr_profiles; i++)
		assert_int_equal(profile_set_operations(result->profiles[i], 100), 0);
}

static struct profile_difference *made_difference(const struct bench_profile *base,
						  const struct bench_profile *other)
{
	struct profile_difference *difference;
	struct report_error error;

	assert_int_equal(profile_difference_create(base, other, &difference, &error), 0);
	return difference;
}

static void the_sums_are_those_of_the_profiles(void **state)
{
	struct bench_result *result = made_result("6.1");
	struct bench_profile *disabled = add_profile(result, "disabled", NULL, 7);
	struct bench_profile *set = add_profile(result, "Set", NULL, 9);
	struct profile_difference *difference = made_difference(disabled, set);
	int64_t shown = 0, files = 0;

	(void)state;
	for (size_t i = 0; i < difference->nr_files; i++) {
		const struct file_difference *file = &difference->files[i];
		int64_t symbols = 0;

		for (size_t j = 0; j < file->nr_symbols; j++) {
			symbols += file->symbols[j].count.added;
			shown += file->symbols[j].explains ? file->symbols[j].count.added : 0;
		}
		assert_int_equal(symbols, file->count.added);
		assert_int_equal(file->count.other - file->count.base, file->count.added);
		files += symbols;
	}
	assert_int_equal(difference->total.added, set->total - disabled->total);
	assert_int_equal(files + difference->elsewhere.added, difference->total.added);
	assert_int_equal(shown + difference->rest.added + difference->elsewhere.added,
			 difference->total.added);
	assert_int_equal(difference->elsewhere.added, 2);
	profile_difference_destroy(difference);
	result_destroy(result);
}

static void the_largest_are_shown_until_nearly_all_is_explained(void **state)
{
	struct bench_result *result = made_result("6.1");
	struct bench_profile *disabled = add_profile(result, "disabled", NULL, 0);
	struct bench_profile *set = add_profile(result, "Set", NULL, 0);
	struct profile_difference *difference = made_difference(disabled, set);

	(void)state;
	/* 10000 + 8000 + 3000 less + 2000 are 97 % of 23741; without the last they are 88 %. */
	assert_int_equal(difference->nr_explaining, 4);
	assert_string_equal(difference->sorted[0]->name, "try_charge_memcg");
	assert_string_equal(difference->sorted[2]->name, "do_anonymous_page");
	assert_int_equal(difference->sorted[2]->count.added, -3000);
	assert_int_equal(difference->sorted[3]->count.added, 2000);
	assert_int_equal(difference->nr_symbols, 8);
	assert_int_equal(difference->rest.added, 40 + 700 - 1);
	profile_difference_destroy(difference);
	result_destroy(result);
}

static char *all_profiles(const struct run *runs, size_t nr_runs, bool across, const char *base)
{
	const struct comparison comparison = {
		.runs = runs,
		.nr_runs = nr_runs,
		.options = { .across = across, .base = base },
	};
	struct report_error error;
	char *text = NULL;
	size_t nr_bytes;
	FILE *out = open_memstream(&text, &nr_bytes);

	assert_int_equal(profile_tables_print(&comparison, out, &error), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* The lines that head a difference, one behind another. */
static void expect_titles(const struct run *runs, size_t nr_runs, bool across, const char *base,
			  const char *expected)
{
	char *text = all_profiles(runs, nr_runs, across, base), *titles, *line, *rest = text;

	titles = calloc(strlen(text) + 1, 1);
	while ((line = strsep(&rest, "\n"))) {
		if (strstr(line, " against "))
			strcat(strcat(titles, line), "\n");
	}
	assert_string_equal(titles, expected);
	free(titles);
	free(text);
}

static const char set_against_disabled[] =
	"\n"
	"pft (kernel): Set against disabled\n"
	"                                            base       count       added    each\n"
	"mm/memcontrol.c                                0       18040      +18040  +180.4\n"
	"  try_charge_memcg                             0       10000      +10000  +100.0\n"
	"  charge_memcg                                 0        8000       +8000   +80.0\n"
	"mm/memory.c                                60000       57700       -2300   -23.0\n"
	"  do_anonymous_page                        20000       17000       -3000   -30.0\n"
	"[kernel]                                   51410       53409       +1999   +20.0\n"
	"  a_function_whose_name_leaves_no_room_for_numbers\n"
	"                                              10        2010       +2000   +20.0\n"
	"4 more symbols                             96400       97139        +739    +7.4\n"
	"outside these files                            7           9          +2    +0.0\n"
	"all                                       116417      134158      +17741  +177.4\n";

static void a_difference_stands_below_its_profile(void **state)
{
	struct bench_result *result = made_result("6.1");
	const struct run run = { "r.json", result };
	char *text, *found;

	(void)state;
	add_profile(result, "disabled", NULL, 7);
	add_profile(result, "Set", NULL, 9);
	add_operations(result);
	text = all_profiles(&run, 1, false, NULL);
	found = strstr(text, "\npft (kernel): Set");
	assert_non_null(found);
	assert_string_equal(found, set_against_disabled);
	/* The base has none. */
	assert_true(found > strstr(text, "r.json: profile of pft (kernel), Set: percent"));
	free(text);
	result_destroy(result);
}

static void without_operations_there_is_no_column_for_each(void **state)
{
	struct bench_result *result = made_result("6.1");
	const struct run run = { "r.json", result };
	char *text, *lines;

	(void)state;
	add_profile(result, "disabled", NULL, 0);
	add_profile(result, "Set", NULL, 0);
	text = all_profiles(&run, 1, false, NULL);
	lines = rendered_lines(text, "all  ");
	assert_string_equal(lines, "all                                               116410      "
				   "134149      +17739\n");
	free(lines);
	free(text);
	result_destroy(result);
}

static void the_base_is_that_of_the_tables(void **state)
{
	struct bench_result *one = made_result("6.1"), *two = made_result("6.1");
	const struct run runs[] = { { "one", one }, { "two", two } };

	(void)state;
	add_profile(one, "Unset", NULL, 0);
	add_profile(one, "disabled", NULL, 0);
	add_profile(one, "Set", NULL, 0);
	expect_titles(runs, 1, false, NULL,
		      "pft (kernel): Unset against disabled\npft (kernel): Set against disabled\n");
	expect_titles(runs, 1, false, "Set",
		      "pft (kernel): Unset against Set\npft (kernel): disabled against Set\n");
	add_profile(two, "Set", NULL, 0);
	expect_titles(runs, 2, true, NULL, "two against one, pft (kernel): Set against Set\n");
	expect_titles(runs, 2, false, "Unset",
		      "pft (kernel): disabled against Unset\npft (kernel): Set against Unset\n"
		      "two against one, pft (kernel): Set against Unset\n");
	add_profile(two, "base-NotCompiled", NULL, 0);
	expect_titles(&runs[0], 2, false, NULL,
		      "one against two, pft (kernel): Unset against base-NotCompiled\n"
		      "one against two, pft (kernel): disabled against base-NotCompiled\n"
		      "one against two, pft (kernel): Set against base-NotCompiled\n"
		      "pft (kernel): Set against base-NotCompiled\n");
	result_destroy(one);
	result_destroy(two);
}

static void parts_meters_and_parameters_are_not_mixed(void **state)
{
	struct bench_result *result = made_result("6.1");
	const struct run run = { "r", result };
	struct bench_profile *profile;

	(void)state;
	profile = add_profile(result, "disabled", NULL, 0);
	assert_int_equal(profile_set_meter(profile, "exact"), 0);
	profile = add_profile(result, "Unset", NULL, 0);
	profile_set_part(profile, BENCH_PART_APART);
	assert_int_equal(profile_set_meter(profile, "exact"), 0);
	profile = add_profile(result, "Set", NULL, 0);
	profile = add_profile(result, "child", NULL, 0);
	assert_int_equal(profile_set_meter(profile, "exact"), 0);
	assert_int_equal(profile_set_param_integer(profile, "workers", 3), 0);
	expect_titles(&run, 1, false, NULL, "");
	profile = add_profile(result, "AA", NULL, 0);
	expect_titles(&run, 1, false, NULL, "pft (kernel): AA against Set\n");
	result_destroy(result);
}

static void a_second_kernel_is_compared_with_the_first(void **state)
{
	struct bench_result *result = made_result("6.1");
	const struct run run = { "r", result };

	(void)state;
	add_profile(result, "disabled", "old", 0);
	add_profile(result, "Set", "old", 0);
	add_profile(result, "disabled", "new", 0);
	add_profile(result, "Set", "new", 0);
	expect_titles(&run, 1, false, NULL,
		      "pft (kernel): Set, kernel old against disabled, kernel old\n"
		      "pft (kernel): disabled, kernel new against disabled, kernel old\n"
		      "pft (kernel): Set, kernel new against disabled, kernel new\n"
		      "pft (kernel): Set, kernel new against Set, kernel old\n");
	result_destroy(result);
}

static void what_does_not_add_up_is_refused(void **state)
{
	struct bench_result *result = made_result("6.1");
	struct bench_profile *disabled = add_profile(result, "disabled", NULL, 0);
	struct bench_profile *set = add_profile(result, "Set", NULL, 0);
	struct profile_difference *difference = NULL;
	struct report_error error;

	(void)state;
	set->files[0].symbols[0].count = INT64_MAX;
	set->files[0].symbols[1].count = INT64_MAX;
	set->files[0].count = INT64_MAX;
	assert_int_equal(profile_difference_create(disabled, set, &difference, &error), -EINVAL);
	assert_non_null(strstr(error.text, "(Set): mm/memcontrol.c has"));
	assert_null(difference);
	disabled->total--;
	assert_int_equal(profile_difference_create(disabled, set, &difference, &error), -EINVAL);
	assert_non_null(strstr(error.text, "(disabled): its total is"));
	result_destroy(result);
}

static char *explained(const struct bench_profile *base, const struct bench_profile *other,
		       uint64_t nr_operations)
{
	struct report_error error;
	char *text = NULL;
	size_t nr_bytes;
	FILE *out = open_memstream(&text, &nr_bytes);

	assert_int_equal(profile_explain_print(out, base, other, nr_operations, "fault", &error),
			 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static const char explanation[] =
	"pft (kernel): Set against disabled\n"
	"+177.4 in each fault, mean of 100\n"
	"\n"
	"by file                                                   base    count    added\n"
	"mm/memcontrol.c                                            0.0    180.4   +180.4\n"
	"mm/memory.c                                              600.0    577.0    -23.0\n"
	"[kernel]                                                 514.1    534.1    +20.0\n"
	"1 more file                                               50.0     50.0     +0.0\n"
	"outside these files                                        0.1      0.1     +0.0\n"
	"all                                                     1164.2   1341.6   +177.4\n";

static const char explanation_of_symbols[] =
	"\n"
	"by symbol                                                 base    count    added\n"
	"try_charge_memcg                mm/memcontrol.c            0.0    100.0   +100.0\n"
	"charge_memcg                    mm/memcontrol.c            0.0     80.0    +80.0\n"
	"do_anonymous_page               mm/memory.c              200.0    170.0    -30.0\n"
	"a_function_whose_name_leaves_no_room_for_numbers\n"
	"                                [kernel]                   0.1     20.1    +20.0\n"
	"4 more symbols                                           964.0    971.4     +7.4\n"
	"outside these files                                        0.1      0.1     +0.0\n"
	"all                                                     1164.2   1341.6   +177.4\n";

static const char explanation_of_calls[] =
	"\n"
	"called from; added with all that it calls                 base    calls    added\n"
	"try_charge_memcg\n"
	"  charge_memcg                                            0.00     1.00    +98.0\n"
	"  2 more                                                  0.00     0.02     +2.0\n"
	"charge_memcg\n"
	"  __mem_cgroup_charge                                     0.00     1.00   +180.0\n"
	"do_anonymous_page\n"
	"  handle_mm_fault                                         1.00     1.00   +150.0\n"
	"a_function_whose_name_leaves_no_room_for_numbers: no caller was seen\n";

static void an_explanation_says_where_it_goes(void **state)
{
	struct bench_result *result = made_result("6.1");
	struct bench_profile *disabled = add_profile(result, "disabled", NULL, 7);
	struct bench_profile *set = add_profile(result, "Set", NULL, 9);
	char *text, *expected;

	(void)state;
	add_operations(result);
	assert_int_equal(profile_add_call(set, "charge_memcg", "try_charge_memcg", 100, 9800), 0);
	assert_int_equal(profile_add_call(set, "b", "try_charge_memcg", 1, 100), 0);
	assert_int_equal(profile_add_call(set, "a", "try_charge_memcg", 1, 100), 0);
	assert_int_equal(profile_add_call(set, "__mem_cgroup_charge", "charge_memcg", 100, 18000),
			 0);
	assert_int_equal(
		profile_add_call(disabled, "handle_mm_fault", "do_anonymous_page", 100, 30000), 0);
	assert_int_equal(profile_add_call(set, "handle_mm_fault", "do_anonymous_page", 100, 45000),
			 0);
	text = explained(disabled, set, 0);
	assert_true(asprintf(&expected, "%s%s%s", explanation, explanation_of_symbols,
			     explanation_of_calls) >= 0);
	assert_string_equal(text, expected);
	free(text);
	text = explained(disabled, set, 200);
	assert_non_null(strstr(text, "+88.7 in each fault, mean of 200\n"));
	free(text);
	free(expected);
	result_destroy(result);
}

static void without_calls_an_explanation_says_so(void **state)
{
	struct bench_result *result = made_result("6.1");
	struct bench_profile *set = add_profile(result, "Set", NULL, 0);
	char *text = explained(set, set, 100);

	(void)state;
	assert_non_null(strstr(text, "\n+0.0 in each fault, mean of 100\n"));
	assert_non_null(strstr(text, "\ncalled from: calls were not counted\n"));
	free(text);
	result_destroy(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sums_are_those_of_the_profiles),
		cmocka_unit_test(the_largest_are_shown_until_nearly_all_is_explained),
		cmocka_unit_test(a_difference_stands_below_its_profile),
		cmocka_unit_test(without_operations_there_is_no_column_for_each),
		cmocka_unit_test(the_base_is_that_of_the_tables),
		cmocka_unit_test(parts_meters_and_parameters_are_not_mixed),
		cmocka_unit_test(a_second_kernel_is_compared_with_the_first),
		cmocka_unit_test(what_does_not_add_up_is_refused),
		cmocka_unit_test(an_explanation_says_where_it_goes),
		cmocka_unit_test(without_calls_an_explanation_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
