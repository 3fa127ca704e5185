/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every format over the same comparison: what each of them must say. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "made.h"

static const double ten[] = { 10, 10.01, 9.99, 10.02, 9.98, 10, 10.01, 9.99 };
static const double eleven[] = { 11, 11.02, 10.98, 11.01, 10.99, 11, 11.01, 10.99 };
static const double noisy[] = { 10, 12, 9, 11.5, 8.5, 10.2, 11.9, 9.1 };

/* Four configurations, something that was not measured, and a note. */
static struct bench_result *usual_result(void)
{
	struct bench_result *result = made_result("6.1.0");

	made_times(result, "base-NotCompiled", ten, 8);
	made_times(result, "Unset", ten, 8);
	made_times(result, "child", noisy, 8);
	made_times(result, "Set", eleven, 8);
	made_times(result, "AA", ten, 8);
	assert_int_equal(result_add_skipped(result, "kernel disabled", "needs a boot"), 0);
	assert_int_equal(result_add_note(result, "THP was off"), 0);
	return result;
}

struct usual {
	struct bench_result *result;
	struct run run;
	struct comparison *comparison;
};

static int set_up(void **state)
{
	struct usual *usual = calloc(1, sizeof(*usual));

	usual->result = usual_result();
	usual->run = (struct run){ "here", usual->result };
	usual->comparison = made_comparison(&usual->run, 1);
	*state = usual;
	return 0;
}

static int tear_down(void **state)
{
	struct usual *usual = *state;

	comparison_destroy(usual->comparison);
	result_destroy(usual->result);
	free(usual);
	return 0;
}

static void assert_says(const char *text, const char *expected)
{
	if (!strstr(text, expected))
		fail_msg("no\n%s\nin\n%s", expected, text);
}

static size_t longest_line(const char *text)
{
	size_t longest = 0;

	while (*text) {
		size_t nr_bytes = strcspn(text, "\n");

		longest = nr_bytes > longest ? nr_bytes : longest;
		text += nr_bytes + (text[nr_bytes] == '\n');
	}
	return longest;
}

static void perf_puts_verdict_and_interval_behind_the_bracket(void **state)
{
	const struct usual *usual = *state;
	char *text = rendered(&render_perf, usual->comparison, false, 80);

	assert_says(text, "\nbase-NotCompiled: 10.00 +- 0.05% [ +  0.00 % ]\n");
	assert_says(text, "\nUnset           : 10.00 +- 0.05% [ +  0.00 % ] equal   [+0.00,+0.00] "
			  "noise 0.00\n");
	assert_says(text, "\nSet             : 11.00 +- 0.04% [ + 10.00 % ] costs   [+9.9");
	assert_says(text, "\nchild           : 10.28 +- 4.75% [ +  2.75 % ] unclear [-");
	assert_says(text, "\nchild: about ");
	assert_says(text, " more runs would tell\n");
	free(text);
}

static void every_text_says_what_it_means_and_what_is_missing(void **state)
{
	const struct usual *usual = *state;
	const struct renderer *const texts[] = { &render_perf, &render_mmtests };

	for (size_t i = 0; i < NR(texts); i++) {
		char *text = rendered(texts[i], usual->comparison, false, 80);

		assert_says(text, "here: A processor x 8, 16.0 GiB, kernel 6.1.0");
		assert_says(text, "Note: THP was off\n");
		assert_says(text, "Target lib (umemcg 0.1.0), time meter\n");
		assert_says(text, "Not measured: kernel disabled: needs a boot\n");
		assert_says(text, "3 comparisons; chance");
		assert_says(text, "about 0.15 false verdicts");
		assert_says(text, i ? "positive is better" : "+ is\nslower");
		free(text);
	}
}

static void plain_is_the_tables_and_what_is_missing(void **state)
{
	const struct usual *usual = *state;
	const struct renderer *const texts[] = { &render_perf, &render_mmtests, &render_markdown };

	for (size_t i = 0; i < NR(texts); i++) {
		char *text = rendered(texts[i], usual->comparison, true, 80);

		assert_null(strstr(text, "costs"));
		assert_null(strstr(text, "A processor"));
		assert_null(strstr(text, "comparisons"));
		assert_says(text, "Not measured: kernel disabled");
		free(text);
	}
}

static void texts_keep_to_80_columns(void **state)
{
	const struct usual *usual = *state;
	struct bench_result *other = usual_result();
	const struct run runs[] = { { "a-laptop", usual->result }, { "a-server", other } };
	struct comparison *several = made_comparison(runs, 2);
	const struct renderer *const texts[] = { &render_perf, &render_mmtests };

	for (size_t i = 0; i < NR(texts); i++) {
		char *text = rendered(texts[i], usual->comparison, false, 80);

		assert_true(longest_line(text) <= 80);
		free(text);
		text = rendered(texts[i], several, false, 80);
		assert_true(longest_line(text) <= 80);
		free(text);
	}
	comparison_destroy(several);
	result_destroy(other);
}

static void mmtests_judges_below_its_table_where_positive_is_better(void **state)
{
	const struct usual *usual = *state;
	char *text = rendered(&render_mmtests, usual->comparison, false, 200);

	/* The wildest spread makes all percentages as wide. */
	assert_says(text, "\nAmean    elapsed time      10.0000 (     0.00%)      10.0000 "
			  "(     0.00%)      10.2750 (    -2.75%)      11.0000 (   -10.00%)"
			  "      10.0000 (     0.00%)\n");
	assert_says(text, "\nelapsed time Set   -10.00% costs   [-10.");
	assert_says(text, "\nelapsed time child  -2.75% unclear [");
	assert_says(text, " more\n");
	/* A smaller spread is better too. */
	assert_says(text, "\nStddev   elapsed time       0.0131 (     0.00%)       0.0131 "
			  "(     0.00%)       1.3813 (-10449.49%)");
	assert_says(text, "\nCoeffVar elapsed time ");
	assert_says(text, "\nBAmean95 elapsed time ");
	free(text);
}

static void a_rate_that_falls_is_slower(void **state)
{
	struct bench_result *result = made_result("6.1.0");
	const struct run run = { "here", result };
	struct comparison *comparison;
	double halved[8];
	char *text;

	(void)state;
	for (size_t i = 0; i < 8; i++)
		halved[i] = ten[i] / 2;
	made_series(result, "pft", "Unset", "faults/sec", "faults/sec", ten, 8);
	made_series(result, "pft", "Set", "faults/sec", "faults/sec", halved, 8);
	comparison = made_comparison(&run, 1);
	text = rendered(&render_perf, comparison, false, 80);
	assert_says(text, "\npft, faults/sec:\n");
	/* Half the rate: each takes twice as long. */
	assert_says(text, "\nSet  :  5.00 +- 0.05% [ + 100.00 % ] costs   [+100,+100]\n");
	free(text);
	text = rendered(&render_mmtests, comparison, false, 80);
	assert_says(text, "\nHmean    faults/sec      10.0000 (  0.00%)       5.0000 (-50.00%)\n");
	assert_says(text, "\nfaults/sec Set -50.00% costs   [-50.0,-50.0]\n");
	free(text);
	comparison_destroy(comparison);
	result_destroy(result);
}

static void small_times_are_shown_in_a_unit_that_tells_something(void **state)
{
	const double small[] = { 0.00012, 0.00013 };
	struct bench_result *result = made_result("6.1.0");
	const struct run run = { "here", result };
	struct comparison *comparison;
	char *text;

	(void)state;
	made_times(result, "Unset", small, 2);
	comparison = made_comparison(&run, 1);
	text = rendered(&render_perf, comparison, true, 80);
	assert_says(text, "fork, elapsed time (us):\n");
	assert_says(text, "\nUnset: 125.00 +- 4.00% [ + 0.00 % ]\n");
	free(text);
	text = rendered(&render_markdown, comparison, true, 80);
	assert_says(text, "(us, lower is better;");
	assert_says(text, "| 125.00 +- 4.00 % |");
	free(text);
	comparison_destroy(comparison);
	result_destroy(result);
}

static void several_machines_get_a_column_each(void **state)
{
	const struct usual *usual = *state;
	struct bench_result *other = made_result("6.1.0");
	const struct run runs[] = { { "laptop", usual->result }, { "server", other } };
	struct comparison *several;
	char *text;

	made_times(other, "base-NotCompiled", eleven, 8);
	made_times(other, "Set", ten, 8);
	several = made_comparison(runs, 2);
	text = rendered(&render_perf, several, false, 80);
	assert_says(text, "\n                  laptop                        server\n");
	assert_says(text, "\nSet             : 11.00 +- 0.04% [ + 10.00 % ]  10.00 +- 0.05% [ -  "
			  "9.09 % ]\n");
	assert_says(text, "\nUnset           : 10.00 +- 0.05% [ +  0.00 % ]  not measured\n");
	assert_says(text, "\nelapsed time server Set    -9.09% saves   [-9.1");
	free(text);
	text = rendered(&render_markdown, several, false, 80);
	assert_says(text, "\n| configuration | laptop | server |\n|---|---:|---:|\n");
	assert_says(text, "\n| Set | 11.00 +- 0.04 %, +10.00 % (costs) | 10.00 +- 0.05 %, -9.09 % "
			  "(saves) |\n");
	assert_says(text, "| Unset | 10.00 +- 0.05 %, +0.00 % (equal) | not measured |\n");
	free(text);
	text = rendered(&render_mmtests, several, true, 400);
	assert_says(text, " laptop                    server");
	free(text);
	comparison_destroy(several);
	result_destroy(other);
}

static void a_verdict_on_less_than_the_noise_is_marked(void **state)
{
	double slower[8], noisier[8];
	struct bench_result *result = made_result("6.1.0");
	const struct run run = { "here", result };
	struct comparison *comparison;
	char *text, *set, *control;

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		slower[i] = noisy[i] * 1.03;
		noisier[i] = noisy[(i + 3) % 8];
	}
	made_times(result, "Unset", noisy, 8);
	made_times(result, "Set", slower, 8);
	made_times(result, "AA", noisier, 8);
	comparison = made_comparison(&run, 1);
	text = rendered(&render_perf, comparison, false, 80);
	assert_says(text, "[ + 3.00 % ] costs   [+3.00,+3.00] noise ");
	set = rendered_lines(text, "Set ");
	control = rendered_lines(text, "AA ");
	assert_says(set, "!\n");
	assert_null(strchr(control, '!'));
	free(control);
	free(set);
	free(text);
	comparison_destroy(comparison);
	result_destroy(result);
}

static void markdown_lets_no_text_become_markup(void **state)
{
	struct bench_result *result = made_result("6.1.0");
	const struct run run = { "a|b", result };
	struct comparison *comparison;
	char *text;

	(void)state;
	made_times(result, "x|<b>", ten, 8);
	comparison = made_comparison(&run, 1);
	text = rendered(&render_markdown, comparison, false, 80);
	assert_says(text, "\n| x\\|\\<b\\> | 10.00 +- 0.05 % |");
	assert_says(text, "a\\|b: A processor");
	free(text);
	comparison_destroy(comparison);
	result_destroy(result);
}

/* The fields of a line of CSV without quotes; returns how many. */
static size_t split(char *line, char **fields, size_t nr_most)
{
	size_t nr_fields = 0;

	for (char *field; nr_fields < nr_most && (field = strsep(&line, ",")); nr_fields++)
		fields[nr_fields] = field;
	return nr_fields;
}

static void csv_has_a_line_for_each_configuration(void **state)
{
	const struct usual *usual = *state;
	char *text = rendered(&render_csv, usual->comparison, false, 80);
	char *names[40], *fields[40], *rest = text, *line;
	size_t nr_names = split(strsep(&rest, "\r"), names, 40), nr_lines = 0;

	while ((line = strsep(&rest, "\r")) && *++line) {
		assert_int_equal(split(line, fields, 40), nr_names);
		nr_lines++;
		if (strcmp(fields[9], "Set") == 0) {
			assert_string_equal(names[9], "config");
			assert_string_equal(fields[10], "8");
			assert_string_equal(names[17], "base");
			assert_string_equal(fields[17], "base-NotCompiled");
			assert_string_equal(names[18], "delta_percent");
			assert_true(strtod(fields[18], NULL) > 9.9);
			assert_string_equal(names[22], "verdict");
			assert_string_equal(fields[22], "costs");
		}
	}
	assert_int_equal(nr_lines, 6);
	assert_string_equal(fields[0], "skipped");
	assert_string_equal(fields[nr_names - 1], "needs a boot");
	free(text);
}

static void csv_quotes_what_needs_it(void **state)
{
	struct bench_result *result = made_result("6.1.0");
	const struct run run = { "here", result };
	struct comparison *comparison;
	char *text;

	(void)state;
	made_times(result, "a,\"b\"", ten, 8);
	comparison = made_comparison(&run, 1);
	text = rendered(&render_csv, comparison, false, 80);
	assert_says(text, ",lower,\"a,\"\"b\"\"\",8,10,");
	free(text);
	comparison_destroy(comparison);
	result_destroy(result);
}

static void json_is_the_result_with_comparisons(void **state)
{
	const struct usual *usual = *state;
	char *text = rendered(&render_json, usual->comparison, false, 80);
	struct bench_result *read;
	struct report_error error;
	json_t *json = json_loads(text, 0, NULL), *set;

	assert_non_null(json);
	assert_int_equal(json_array_size(json_object_get(json, "comparisons")), 4);
	set = json_array_get(json_object_get(json, "comparisons"), 2);
	assert_string_equal(json_string_value(json_object_get(set, "workload")), "fork");
	assert_string_equal(json_string_value(json_object_get(set, "metric")), "elapsed time");
	assert_string_equal(json_string_value(json_object_get(set, "base")), "base-NotCompiled");
	assert_string_equal(json_string_value(json_object_get(set, "config")), "Set");
	assert_string_equal(json_string_value(json_object_get(set, "verdict")), "costs");
	assert_true(json_is_null(json_object_get(set, "runs_needed")));
	assert_true(json_real_value(json_object_get(set, "delta_percent")) > 9.9);
	assert_int_equal(json_array_size(json_object_get(set, "ci95_percent")), 2);
	/* And it can be compared again. */
	assert_int_equal(result_parse(text, strlen(text), "again", &read, &error), 0);
	assert_int_equal(read->nr_series, 5);
	result_destroy(read);
	json_decref(json);
	free(text);
}

static void json_of_several_names_them(void **state)
{
	const struct usual *usual = *state;
	struct bench_result *other = usual_result();
	const struct run runs[] = { { "one", usual->result }, { "two", other } };
	struct comparison *several = made_comparison(runs, 2);
	char *text = rendered(&render_json, several, false, 80);
	json_t *json = json_loads(text, 0, NULL), *last;

	assert_non_null(json);
	assert_int_equal(json_integer_value(json_object_get(json, "umemcg_comparison")), 1);
	assert_int_equal(json_array_size(json_object_get(json, "results")), 2);
	last = json_array_get(json_object_get(json, "comparisons"), 7);
	assert_string_equal(json_string_value(json_object_get(last, "result")), "two");
	assert_true(json_is_true(json_object_get(last, "control")));
	json_decref(json);
	free(text);
	comparison_destroy(several);
	result_destroy(other);
}

static void a_result_without_measurements_says_so(void **state)
{
	struct bench_result *result = made_result("6.1.0");
	const struct run run = { "here", result };
	struct comparison *comparison = made_comparison(&run, 1);

	(void)state;
	assert_int_equal(result_add_skipped(result, "everything", "no permission"), 0);
	for (size_t i = 0; renderers[i]; i++) {
		char *text = rendered(renderers[i], comparison, false, 80);

		assert_says(text, "no permission");
		free(text);
	}
	comparison_destroy(comparison);
	result_destroy(result);
}

static void formats_are_found_by_name(void **state)
{
	(void)state;
	assert_ptr_equal(renderer_find("mmtests"), &render_mmtests);
	assert_ptr_equal(renderer_find("html"), &render_html);
	assert_null(renderer_find("HTML"));
	assert_null(renderer_find(""));
	for (size_t i = 0; renderers[i]; i++)
		assert_non_null(renderers[i]->description);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perf_puts_verdict_and_interval_behind_the_bracket),
		cmocka_unit_test(every_text_says_what_it_means_and_what_is_missing),
		cmocka_unit_test(plain_is_the_tables_and_what_is_missing),
		cmocka_unit_test(texts_keep_to_80_columns),
		cmocka_unit_test(mmtests_judges_below_its_table_where_positive_is_better),
		cmocka_unit_test(a_rate_that_falls_is_slower),
		cmocka_unit_test(small_times_are_shown_in_a_unit_that_tells_something),
		cmocka_unit_test(several_machines_get_a_column_each),
		cmocka_unit_test(a_verdict_on_less_than_the_noise_is_marked),
		cmocka_unit_test(markdown_lets_no_text_become_markup),
		cmocka_unit_test(csv_has_a_line_for_each_configuration),
		cmocka_unit_test(csv_quotes_what_needs_it),
		cmocka_unit_test(json_is_the_result_with_comparisons),
		cmocka_unit_test(json_of_several_names_them),
		cmocka_unit_test(a_result_without_measurements_says_so),
		cmocka_unit_test(formats_are_found_by_name),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
