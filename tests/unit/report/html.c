/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page: whole, alone, safe, with its answer first, and with or without gnuplot. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "made.h"
#include "whole_page.h"

static const double ten[] = { 10, 10.01, 9.99, 10.02, 9.98, 10, 10.01, 9.99 };
static const double eleven[] = { 11, 11.02, 10.98, 11.01, 10.99, 11, 11.01, 10.99 };

/* Marks of drawings in the page; the shapes and the legends have other view boxes. */
#define DRAWING "<svg viewBox=\"0 0 440 "

static bool has_gnuplot(void)
{
	char *path = strdup(getenv("PATH")), *rest = path, *folder, name[4096];
	bool found = false;

	while (!found && (folder = strsep(&rest, ":"))) {
		snprintf(name, sizeof(name), "%s/gnuplot", folder);
		found = access(name, X_OK) == 0;
	}
	free(path);
	return found;
}

static void needs_gnuplot(void)
{
	if (has_gnuplot())
		return;
	print_message("gnuplot is not installed\n");
	skip();
}

static void exact_series(struct bench_result *result, const char *config, const char *metric,
			 double value)
{
	const struct bench_series_name name = { .workload = "pft",
						.target = "kernel",
						.meter = "exact",
						.config = config,
						.metric = metric,
						.unit = "instructions" };
	struct bench_series *series;

	assert_int_equal(result_add_series(result, &name, &series), 0);
	/* Layouts differ by 0, 1, 2, 3, 4: the median is two more than the least. */
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(
			series_add_sample(series,
					  &(struct bench_sample){
						  .block = i,
						  .value = value + (strchr(metric, ',') ? 0 : i),
						  .user_s = BENCH_NOT_MEASURED,
						  .system_s = BENCH_NOT_MEASURED,
						  .elapsed_s = BENCH_NOT_MEASURED,
					  }),
			0);
}

static void exact_profile(struct bench_result *result, const char *config, uint64_t charge)
{
	struct bench_profile *profile;

	assert_int_equal(
		result_add_profile(result, "pft", "kernel", config, 2000 + charge, &profile), 0);
	assert_int_equal(profile_add_symbol(profile, "mm/memory.c", "handle_mm_fault", 1200), 0);
	assert_int_equal(profile_add_symbol(profile, "mm/memory.c", "do_anonymous_page", 300), 0);
	if (charge)
		assert_int_equal(
			profile_add_symbol(profile, "mm/memcontrol.c", "charge_memcg", charge), 0);
}

/* Prices of a fault, with profiles, in a result that has every section. */
static struct bench_result *exact_result(void)
{
	static const struct {
		const char *config;
		double price;
	} prices[] = { { "disabled", 2882 },
		       { "Unset", 3299 },
		       { "child", 3431 },
		       { "depth-2", 3462 },
		       { "depth-16", 3896 } };
	struct bench_result *result = made_result("6.1.0");

	for (size_t i = 0; i < NR(prices); i++) {
		exact_series(result, prices[i].config, "instructions/fault", prices[i].price);
		exact_series(result, prices[i].config, "instructions/fault, mode",
			     prices[i].price - 500);
		exact_series(result, prices[i].config, "put off/fault", 116);
	}
	exact_profile(result, "disabled", 0);
	exact_profile(result, "child", 482);
	assert_int_equal(result_add_skipped(result, "kernel base-NotCompiled", "no kernel"), 0);
	return result;
}

/* A metric in five worker counts, one over depths, one alone. */
static struct bench_result *time_result(void)
{
	static const char *const configs[] = { "base-NotCompiled", "Unset", "Set", "AA" };
	struct bench_result *result = made_result("6.1.0");

	for (size_t i = 0; i < NR(configs); i++) {
		const double *samples = strcmp(configs[i], "Set") ? ten : eleven;

		made_times(result, configs[i], samples, 8);
		for (int64_t n = 1; n <= 8; n *= 2) {
			struct bench_series *series = made_series(
				result, "pft", configs[i], "faults/sec", "faults/sec", samples, 8);

			assert_int_equal(series_set_param_integer(series, "workers", n), 0);
			series = made_series(result, "charge", configs[i], "time per pair", "ns",
					     samples, 8);
			assert_int_equal(series_set_param_integer(series, "depth", n), 0);
		}
	}
	return result;
}

/* Frees the result. */
static char *page_of(struct bench_result *result, bool plain)
{
	const struct run run = { "here", result };
	struct comparison *comparison = made_comparison(&run, 1);
	char *text = rendered(&render_html, comparison, plain, 80);

	comparison_destroy(comparison);
	result_destroy(result);
	return text;
}

static void the_page_is_well_formed(void **state)
{
	char *exact = page_of(exact_result(), false), *time = page_of(time_result(), false);
	char *plain = page_of(time_result(), true), *empty = page_of(made_result("6.1.0"), false);

	(void)state;
	assert_whole_page(exact);
	assert_whole_page(time);
	assert_whole_page(plain);
	assert_whole_page(empty);
	assert_page_says(empty, "Nothing was measured.");
	free(exact);
	free(time);
	free(plain);
	free(empty);
}

static void the_page_needs_nothing_from_elsewhere(void **state)
{
	static const char *const elsewhere[] = { "http:", "https:",  " src=",   "@import", "url(",
						 "<link", "<script", "<iframe", "href=\"/" };
	char *page = page_of(exact_result(), false);

	(void)state;
	for (size_t i = 0; i < NR(elsewhere); i++) {
		if (strstr(page, elsewhere[i]))
			fail_msg("%s", elsewhere[i]);
	}
	free(page);
}

static void verdicts_come_first(void **state)
{
	char *page = page_of(time_result(), false), *verdicts = strstr(page, "<h2>");

	(void)state;
	assert_non_null(verdicts);
	assert_memory_equal(verdicts, "<h2>Verdicts</h2>", 17);
	assert_page_says(verdicts, "<dt>costs</dt><dd><b>5</b>");
	assert_page_says(verdicts, "<dt>saves</dt><dd><b>4</b>");
	assert_page_says(verdicts, "<dt>equal</dt><dd><b>9</b>");
	assert_page_says(verdicts, "<dt>unclear</dt><dd><b>0</b>");
	assert_page_says(verdicts,
			 "18 comparisons; chance alone would give about 0.90 false verdicts");
	assert_true(strstr(verdicts, "+10.0\xe2\x80\xaf%") < strstr(verdicts, "<h2>Workloads"));
	free(page);
}

static void every_metric_has_a_plot(void **state)
{
	char *page;

	(void)state;
	needs_gnuplot();
	page = page_of(time_result(), false);
	/* The time, faults over workers, charges over depth, and those again in how cost grows. */
	assert_int_equal(page_count(page, DRAWING), 4);
	assert_page_says(page,
			 ">Change of elapsed time of fork against base-NotCompiled in percent");
	assert_page_says(page,
			 ">faults/sec of pft over workers, a line for each configuration</title>");
	assert_page_says(page, "<h3>With the depth of the group</h3>");
	assert_page_says(page, "var(--plot-3)");
	assert_null(strstr(page, "rgb("));
	assert_null(strstr(page, "No plots"));
	free(page);
	page = page_of(exact_result(), false);
	assert_int_equal(page_count(page, DRAWING), 2);
	assert_page_says(page, ">Change of pft against the base over depth</title>");
	free(page);
}

static void without_gnuplot_one_line_says_why(void **state)
{
	char *path = strdup(getenv("PATH")), *page;

	(void)state;
	setenv("PATH", "/nonexistent", 1);
	page = page_of(time_result(), false);
	setenv("PATH", path, 1);
	free(path);
	assert_whole_page(page);
	assert_int_equal(
		page_count(page, "No plots: gnuplot is not installed (package gnuplot-nox)"), 1);
	assert_null(strstr(page, "<figure"));
	assert_null(strstr(page, "id=\"scaling\""));
	assert_page_says(page, "<td>11.00");
	free(page);
}

static char directory[] = "/tmp/umemcg-test-html-XXXXXX";

/* A gnuplot of our own, which fails, or draws nothing. */
static char *page_with_gnuplot(const char *script)
{
	char *path = strdup(getenv("PATH")), *page, name[64];
	FILE *file;

	assert_non_null(mkdtemp(directory));
	snprintf(name, sizeof(name), "%s/gnuplot", directory);
	file = fopen(name, "w");
	assert_non_null(file);
	fputs(script, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(name, 0700), 0);
	setenv("PATH", directory, 1);
	page = page_of(time_result(), false);
	setenv("PATH", path, 1);
	free(path);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(rmdir(directory), 0);
	memset(strrchr(directory, '-') + 1, 'X', 6);
	return page;
}

static void what_gnuplot_complains_about_is_said(void **state)
{
	char *page = page_with_gnuplot("#!/bin/sh\necho 'line 3: <no> such' >&2\nexit 1\n");

	(void)state;
	assert_whole_page(page);
	assert_page_says(page, "No plots: gnuplot: line 3: &lt;no&gt; such. The tables");
	free(page);
	page = page_with_gnuplot("#!/bin/sh\necho '<svg><defs></defs></svg>'\n");
	assert_whole_page(page);
	assert_page_says(page, "No plots: gnuplot drew 1 of 4. The tables");
	free(page);
}

static void no_text_becomes_markup_or_a_command(void **state)
{
	static const char config[] = "<b>\"x'&`touch pwned`\\$(id)%s";
	struct bench_result *result = made_result("<i>6.1</i>");
	char *page;

	(void)state;
	assert_non_null(mkdtemp(directory));
	assert_int_equal(chdir(directory), 0);
	made_times(result, "Unset", ten, 8);
	made_times(result, config, eleven, 8);
	assert_int_equal(result_add_note(result, "<script>alert(1)</script>"), 0);
	assert_int_equal(result_add_skipped(result, "\"><b>", "</dd>"), 0);
	page = page_of(result, false);
	assert_whole_page(page);
	assert_null(strstr(page, "<script"));
	assert_null(strstr(page, "<i>6.1"));
	assert_null(strstr(page, "<b>\""));
	assert_page_says(page, "&lt;b&gt;&quot;x&#39;&amp;`touch pwned`\\$(id)%s");
	assert_page_says(page, "&lt;script&gt;alert(1)&lt;/script&gt;");
	assert_null(strstr(page, has_gnuplot() ? "No plots" : "<figure"));
	free(page);
	assert_int_equal(chdir("/"), 0);
	/* It is empty: no command was run. */
	assert_int_equal(rmdir(directory), 0);
	memset(strrchr(directory, '-') + 1, 'X', 6);
}

static void a_price_has_median_range_and_mode(void **state)
{
	char *page = page_of(exact_result(), false);

	(void)state;
	assert_page_says(page,
			 "<tr><th scope=\"row\">disabled</th><td class=\"main\">2884</td>"
			 "<td class=\"range\">2882 to 2886</td><td><span>base</span></td><td></td>"
			 "<td>2382</td><td></td><td>118</td>");
	assert_page_says(page, "<tr><th scope=\"row\">child</th><td class=\"main\">3433</td>"
			       "<td class=\"range\">3431 to 3435</td><td>+549</td>"
			       "<td>+19.0\xe2\x80\xaf%</td><td>2931</td><td>+549</td><td>118</td>");
	assert_page_says(page, "instructions, not time");
	free(page);
}

static void a_profile_shows_what_a_configuration_adds(void **state)
{
	char *page = page_of(exact_result(), false);

	(void)state;
	assert_page_says(page, "child: what it changes against disabled, +482</summary>");
	assert_page_says(page,
			 "<tr><th scope=\"row\">charge_memcg</th><td class=\"bar\" "
			 "aria-hidden=\"true\"><i class=\"more\" style=\"width:100.0%\"></i></td>"
			 "<td>0</td><td>+482</td><td>+24.1\xe2\x80\xaf%</td></tr>");
	assert_page_says(page,
			 "<tr><th scope=\"row\">do_anonymous_page</th><td class=\"bar\" "
			 "aria-hidden=\"true\"><i class=\"share\" style=\"width:25.0%\"></i></td>"
			 "<td>300</td><td>15.0\xe2\x80\xaf%</td></tr>");
	/* 500 of 2000 are in no file. */
	assert_page_says(page, "in none of the files</th><td>500</td><td>25.0\xe2\x80\xaf%</td>");
	free(page);
}

static void a_profile_that_contradicts_itself_is_refused(void **state)
{
	struct bench_result *result = made_result("6.1.0");
	const struct run run = { "here", result };
	const struct render_options options = { .nr_columns = 80 };
	struct comparison *comparison;
	struct report_error error;
	char *text = NULL;
	size_t nr_bytes;
	FILE *out = open_memstream(&text, &nr_bytes);

	(void)state;
	exact_profile(result, "disabled", 0);
	result->profiles[0]->files[0].count++;
	comparison = made_comparison(&run, 1);
	assert_int_equal(render_html.render(comparison, &options, out, &error), -EINVAL);
	assert_page_says(error.text, "mm/memory.c has 1501, its symbols 1500");
	fclose(out);
	assert_string_equal(text, "");
	free(text);
	comparison_destroy(comparison);
	result_destroy(result);
}

static void the_page_says_how_to_repeat_it(void **state)
{
	char *page = page_of(time_result(), false);

	(void)state;
	assert_page_says(page,
			 "umemcg bench -t lib -m time -w fork,pft,charge -c "
			 "base-NotCompiled,Unset,Set --workers 1,2,4,8 --runs 8 --seed 42 "
			 "--json here.json\n"
			 "umemcg compare --format html --effect 1 here.json &gt; report.html\n");
	assert_page_says(page, "<dt>processor</dt><dd>A processor</dd>");
	free(page);
}

static void plain_is_the_tables_alone(void **state)
{
	char *page = page_of(time_result(), true);

	(void)state;
	assert_null(strstr(page, "<figure"));
	assert_null(strstr(page, "class=\"verdict"));
	assert_null(strstr(page, "Environment"));
	assert_page_says(page, "+10.0\xe2\x80\xaf%");
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_is_well_formed),
		cmocka_unit_test(the_page_needs_nothing_from_elsewhere),
		cmocka_unit_test(verdicts_come_first),
		cmocka_unit_test(every_metric_has_a_plot),
		cmocka_unit_test(without_gnuplot_one_line_says_why),
		cmocka_unit_test(what_gnuplot_complains_about_is_said),
		cmocka_unit_test(no_text_becomes_markup_or_a_command),
		cmocka_unit_test(a_price_has_median_range_and_mode),
		cmocka_unit_test(a_profile_shows_what_a_configuration_adds),
		cmocka_unit_test(a_profile_that_contradicts_itself_is_refused),
		cmocka_unit_test(the_page_says_how_to_repeat_it),
		cmocka_unit_test(plain_is_the_tables_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
