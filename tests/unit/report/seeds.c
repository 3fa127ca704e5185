/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rows of the two mailing-list posts, byte for byte: the layout from their
 * printed means, errors and percentages, the arithmetic from samples that were
 * made to give them. Two faults of theirs are not copied: in the first post
 * "16.71 [ + 0.28 % ]" against 16.76 has the sign of slower on a faster mean; in
 * the second, long names of runs touch each other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "made.h"
#include "report/profile_table.h"

struct seed_row {
	const char *config;
	double mean;
	double error_percent;
	double change_percent;
};

static const struct seed_row fork_rows[] = {
	{ "base-NotCompiled", 16.76, 0.87, 0 },    { "kmemcg-stack-Unset", 16.28, 1.10, -2.86 },
	{ "kmemcg-stack-Set", 16.96, 0.65, 1.19 }, { "kmemcg-slab-Unset", 16.71, 1.16, 0.28 },
	{ "kmemcg-slab-Set", 17.11, 0.48, 2.08 },
};

static const char fork_text[] = "fork intensive workload, elapsed time:\n"
				"===============================================\n"
				"base-NotCompiled  : 16.76 +- 0.87% [ + 0.00 % ]\n"
				"kmemcg-stack-Unset: 16.28 +- 1.10% [ - 2.86 % ]\n"
				"kmemcg-stack-Set  : 16.96 +- 0.65% [ + 1.19 % ]\n"
				"kmemcg-slab-Unset : 16.71 +- 1.16% [ + 0.28 % ]\n"
				"kmemcg-slab-Set   : 17.11 +- 0.48% [ + 2.08 % ]\n";

static const struct seed_row user_mem_rows[] = {
	{ "base-NotCompiled", 4.88, 0.35, 0 },     { "kmemcg-stack-Unset", 4.87, 0.36, -0.34 },
	{ "kmemcg-stack-Set", 4.85, 0.37, -0.76 }, { "kmemcg-slab-Unset", 4.84, 0.39, -0.79 },
	{ "kmemcg-slab-Set", 4.84, 0.35, -0.78 },
};

static const char user_mem_text[] = "fork + user mem, elapsed time:\n"
				    "===============================================\n"
				    "base-NotCompiled  :  4.88 +- 0.35% [ + 0.00 % ]\n"
				    "kmemcg-stack-Unset:  4.87 +- 0.36% [ - 0.34 % ]\n"
				    "kmemcg-stack-Set  :  4.85 +- 0.37% [ - 0.76 % ]\n"
				    "kmemcg-slab-Unset :  4.84 +- 0.39% [ - 0.79 % ]\n"
				    "kmemcg-slab-Set   :  4.84 +- 0.35% [ - 0.78 % ]\n";

static struct bench_series *titled_series(struct bench_result *result, const char *title,
					  const char *config)
{
	const struct bench_series_name name = { title,          "kernel", "time",      config,
						"elapsed time", "s",      BENCH_LOWER, title };
	struct bench_series *series;

	assert_int_equal(result_add_series(result, &name, &series), 0);
	return series;
}

/* The layout alone: figures are put where the comparison would have put them. */
static char *laid_out(const char *title, const struct seed_row *rows, size_t nr_rows)
{
	struct bench_result *result = made_result("3.6.0");
	const struct run run = { "seed", result };
	struct comparison *comparison;
	char *text;

	for (size_t i = 0; i < nr_rows; i++)
		titled_series(result, title, rows[i].config);
	comparison = made_comparison(&run, 1);
	for (size_t i = 0; i < nr_rows; i++) {
		struct cell *cell = cell_of(comparison, 0, rows[i].config);

		cell->statistics.mean = rows[i].mean;
		cell->statistics.standard_error_percent = rows[i].error_percent;
		cell->bootstrap.change_percent = rows[i].change_percent;
		cell->bootstrap.has_change = true;
	}
	text = rendered(&render_perf, comparison, true, 80);
	comparison_destroy(comparison);
	result_destroy(result);
	return text;
}

static void assert_starts_with(const char *text, const char *expected)
{
	if (strncmp(text, expected, strlen(expected)))
		fail_msg("got\n%s\nexpected\n%s", text, expected);
}

static void perf_tables_look_like_those_of_the_first_post(void **state)
{
	char *text = laid_out("fork intensive workload", fork_rows, NR(fork_rows));

	(void)state;
	assert_starts_with(text, fork_text);
	free(text);
	text = laid_out("fork + user mem", user_mem_rows, NR(user_mem_rows));
	assert_starts_with(text, user_mem_text);
	free(text);
}

/* Two samples with that mean and that standard error, which is half their distance. */
static void add_pair(struct bench_series *series, double mean, double error_percent)
{
	for (uint32_t i = 0; i < 2; i++) {
		double value = mean * (1 + (i ? 1 : -1) * error_percent / 100);
		const struct bench_sample sample = { i, value, value / 8, value / 2, value, 1000 };

		assert_int_equal(series_add_sample(series, &sample), 0);
	}
}

static void a_faster_mean_has_the_sign_of_faster(void **state)
{
	static const char expected[] = "fork intensive workload, elapsed time:\n"
				       "===============================================\n"
				       "base-NotCompiled  : 16.76 +- 0.87% [ + 0.00 % ]\n"
				       "kmemcg-stack-Unset: 16.28 +- 1.10% [ - 2.86 % ]\n"
				       "kmemcg-stack-Set  : 16.96 +- 0.65% [ + 1.19 % ]\n"
				       "kmemcg-slab-Unset : 16.71 +- 1.16% [ - 0.30 % ]\n"
				       "kmemcg-slab-Set   : 17.11 +- 0.48% [ + 2.09 % ]\n";
	struct bench_result *result = made_result("3.6.0");
	const struct run run = { "seed", result };
	struct comparison *comparison;
	char *text;

	(void)state;
	for (size_t i = 0; i < NR(fork_rows); i++)
		add_pair(titled_series(result, "fork intensive workload", fork_rows[i].config),
			 fork_rows[i].mean, fork_rows[i].error_percent);
	comparison = made_comparison(&run, 1);
	text = rendered(&render_perf, comparison, true, 80);
	assert_starts_with(text, expected);
	free(text);
	comparison_destroy(comparison);
	result_destroy(result);
}

static void what_rounds_to_zero_is_not_faster(void **state)
{
	static const struct seed_row rows[] = { { "base", 1, 0, 0 }, { "Set", 1, 0, -0.004 } };
	char *text = laid_out("w", rows, 2);

	(void)state;
	assert_non_null(strstr(text, "Set :  1.00 +- 0.00% [ + 0.00 % ]\n"));
	free(text);
}

/* Faults of the second post, for its two kernels. */
static const struct {
	const char *metric;
	int workers;
	double chargefirst;
	double disable;
} pft_rows[] = {
	{ "faults/cpu", 1, 1509075.7561, 1508934.4568 },
	{ "faults/cpu", 3, 1339160.7113, 1379512.0698 },
	{ "faults/cpu", 5, 874174.1255, 875741.7674 },
	{ "faults/cpu", 7, 601370.9977, 599938.2026 },
	{ "faults/cpu", 8, 510598.8214, 510663.5402 },
	{ "faults/sec", 1, 1497935.5274, 1496585.7400 },
	{ "faults/sec", 3, 3941920.1520, 4050811.9259 },
	{ "faults/sec", 5, 3869385.7553, 3922299.6112 },
	{ "faults/sec", 7, 3992181.4189, 3988511.0065 },
	{ "faults/sec", 8, 3986452.2204, 3977706.7883 },
};

static const char pft_header[] =
	"pft faults\n"
	"                                       4.0.0                  4.0.0\n"
	"                                 chargefirst                disable\n";

static const char pft_text[] =
	"Hmean    faults/cpu-1 1509075.7561 (  0.00%) 1508934.4568 ( -0.01%)\n"
	"Hmean    faults/cpu-3 1339160.7113 (  0.00%) 1379512.0698 (  3.01%)\n"
	"Hmean    faults/cpu-5  874174.1255 (  0.00%)  875741.7674 (  0.18%)\n"
	"Hmean    faults/cpu-7  601370.9977 (  0.00%)  599938.2026 ( -0.24%)\n"
	"Hmean    faults/cpu-8  510598.8214 (  0.00%)  510663.5402 (  0.01%)\n"
	"Hmean    faults/sec-1 1497935.5274 (  0.00%) 1496585.7400 ( -0.09%)\n"
	"Hmean    faults/sec-3 3941920.1520 (  0.00%) 4050811.9259 (  2.76%)\n"
	"Hmean    faults/sec-5 3869385.7553 (  0.00%) 3922299.6112 (  1.37%)\n"
	"Hmean    faults/sec-7 3992181.4189 (  0.00%) 3988511.0065 ( -0.09%)\n"
	"Hmean    faults/sec-8 3986452.2204 (  0.00%) 3977706.7883 ( -0.22%)\n";

static const char pft_times[] = "               4.0.0       4.0.0\n"
				"         chargefirst     disable\n"
				"User           41.81       41.45\n"
				"System        407.64      405.50\n"
				"Elapsed       128.17      127.06\n";

/* A pair of rates whose harmonic mean is @rate: their times lie evenly around its. */
static void add_rates(struct bench_series *series, double rate, const double *times_s)
{
	for (uint32_t i = 0; i < 2; i++) {
		double value = 1 / (1 / rate * (i ? 1.01 : 0.99));
		const struct bench_sample sample = {
			i, value, times_s[0] / 5, times_s[1] / 5, times_s[2] / 5, 1
		};

		assert_int_equal(series_add_sample(series, &sample), 0);
	}
}

static struct bench_result *pft_result(const char *first, const char *second)
{
	static const double times_s[2][3] = { { 41.81, 407.64, 128.17 },
					      { 41.45, 405.50, 127.06 } };
	const char *configs[] = { first, second };
	struct bench_result *result = made_result("4.0.0");

	for (size_t i = 0; i < NR(pft_rows); i++) {
		for (size_t j = 0; j < 2; j++) {
			const struct bench_series_name name = {
				"pft",        "kernel",           "time",
				configs[j],   pft_rows[i].metric, pft_rows[i].metric,
				BENCH_HIGHER, "pft faults"
			};
			struct bench_series *series;

			assert_int_equal(result_add_series(result, &name, &series), 0);
			assert_int_equal(
				series_set_param_integer(series, "workers", pft_rows[i].workers),
				0);
			add_rates(series, j ? pft_rows[i].disable : pft_rows[i].chargefirst,
				  times_s[j]);
		}
	}
	return result;
}

static void mmtests_tables_look_like_those_of_the_second_post(void **state)
{
	struct bench_result *result = pft_result("chargefirst", "disable");
	const struct run run = { "seed", result };
	struct comparison *comparison = made_comparison(&run, 1);
	char *text = rendered(&render_mmtests, comparison, true, 80);
	char *lines = rendered_lines(text, "Hmean ");

	(void)state;
	assert_starts_with(text, pft_header);
	assert_string_equal(lines, pft_text);
	if (!strstr(text, pft_times))
		fail_msg("got\n%s\nexpected\n%s", text, pft_times);
	free(lines);
	free(text);
	comparison_destroy(comparison);
	result_destroy(result);
}

static void long_names_do_not_touch_each_other(void **state)
{
	struct bench_result *result =
		pft_result("chargefirst-v2r1-and-more", "disable-v2r1-longer");
	const struct run run = { "seed", result };
	struct comparison *comparison = made_comparison(&run, 1);
	char *text = rendered(&render_mmtests, comparison, true, 80);
	size_t nr_headers = 0;

	(void)state;
	for (const char *at = text; (at = strstr(at, "chargefirst-v2r1-and-more"));
	     at++, nr_headers++)
		assert_int_equal(strncmp(at, "chargefirst-v2r1-and-more ", 26), 0);
	assert_int_equal(nr_headers, 2);
	assert_non_null(
		strstr(text, "\n         chargefirst-v2r1-and-more       disable-v2r1-longer\n"));
	free(text);
	comparison_destroy(comparison);
	result_destroy(result);
}

static const struct bench_symbol chargefirst_symbols[] = {
	{ (char *)"__mem_cgroup_count_vm_event", 67312 },
	{ (char *)"mem_cgroup_page_lruvec", 27403 },
	{ (char *)"mem_cgroup_commit_charge", 22452 },
	{ (char *)"uncharge_list", 19543 },
	{ (char *)"mem_cgroup_update_lru_size", 16704 },
	{ (char *)"get_mem_cgroup_from_mm", 15952 },
	{ (char *)"mem_cgroup_try_charge", 13982 },
	{ (char *)"memcg_check_events", 13058 },
	{ (char *)"mem_cgroup_charge_statistics.isra.22", 10920 },
	{ (char *)"commit_charge", 8235 },
	{ (char *)"try_charge", 7716 },
};

static const char chargefirst_text[] =
	"/usr/src/linux-4.0-chargefirst-v2r1/mm/memcontrol.c                  3.7907   223277\n"
	"  __mem_cgroup_count_vm_event                                                  1.143%    67312\n"
	"  mem_cgroup_page_lruvec                                                       0.465%    27403\n"
	"  mem_cgroup_commit_charge                                                     0.381%    22452\n"
	"  uncharge_list                                                                0.332%    19543\n"
	"  mem_cgroup_update_lru_size                                                   0.284%    16704\n"
	"  get_mem_cgroup_from_mm                                                       0.271%    15952\n"
	"  mem_cgroup_try_charge                                                        0.237%    13982\n"
	"  memcg_check_events                                                           0.222%    13058\n"
	"  mem_cgroup_charge_statistics.isra.22                                         0.185%    10920\n"
	"  commit_charge                                                                0.140%     8235\n"
	"  try_charge                                                                   0.131%     7716\n";

static const struct bench_symbol disable_symbols[] = {
	{ (char *)"mem_cgroup_page_lruvec", 9267 },
	{ (char *)"mem_cgroup_update_lru_size", 8872 },
	{ (char *)"mem_cgroup_try_charge", 8768 },
	{ (char *)"mem_cgroup_commit_charge", 2397 },
};

static const char disable_text[] =
	"/usr/src/linux-4.0-disable-v2r1/mm/memcontrol.c                      0.5100    29304\n"
	"  mem_cgroup_page_lruvec                                                       0.161%     9267\n"
	"  mem_cgroup_update_lru_size                                                   0.154%     8872\n"
	"  mem_cgroup_try_charge                                                        0.153%     8768\n"
	"  mem_cgroup_commit_charge                                                     0.042%     2397\n";

static void check_profile(uint64_t total, const char *path, const struct bench_symbol *symbols,
			  size_t nr_symbols, const char *expected)
{
	struct bench_result *result = made_result("4.0.0");
	struct bench_profile *profile;
	struct report_error error;
	char *text = NULL;
	size_t nr_bytes;
	FILE *out;

	assert_int_equal(result_add_profile(result, "pft", "kernel", "Unset", total, &profile), 0);
	/* From the smallest: the rows are sorted when they are printed. */
	for (size_t i = nr_symbols; i-- > 0;)
		assert_int_equal(
			profile_add_symbol(profile, path, symbols[i].name, symbols[i].count), 0);
	out = open_memstream(&text, &nr_bytes);
	assert_int_equal(profile_table_print(profile, out, &error), 0);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	result_destroy(result);
}

static void profiles_look_like_those_of_the_second_post(void **state)
{
	(void)state;
	check_profile(5890126, "/usr/src/linux-4.0-chargefirst-v2r1/mm/memcontrol.c",
		      chargefirst_symbols, NR(chargefirst_symbols), chargefirst_text);
	check_profile(5745882, "/usr/src/linux-4.0-disable-v2r1/mm/memcontrol.c", disable_symbols,
		      NR(disable_symbols), disable_text);
}

static void a_file_that_is_not_the_sum_of_its_symbols_is_refused(void **state)
{
	struct bench_result *result = made_result("4.0.0");
	struct bench_profile *profile;
	struct report_error error;
	char text[100] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	(void)state;
	assert_int_equal(result_add_profile(result, "pft", "kernel", "Unset", 100, &profile), 0);
	assert_int_equal(profile_add_symbol(profile, "mm/a.c", "one", 30), 0);
	assert_int_equal(profile_add_symbol(profile, "mm/a.c", "two", 30), 0);
	profile->files[0].count = 61;
	assert_int_equal(profile_table_print(profile, out, &error), -EINVAL);
	assert_non_null(strstr(error.text, "mm/a.c has 61, its symbols 60"));
	profile->files[0].count = 60;
	profile->total = 59;
	assert_int_equal(profile_table_print(profile, out, &error), -EINVAL);
	assert_non_null(strstr(error.text, "total is 59, its files have 60"));
	fclose(out);
	assert_string_equal(text, "");
	result_destroy(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perf_tables_look_like_those_of_the_first_post),
		cmocka_unit_test(a_faster_mean_has_the_sign_of_faster),
		cmocka_unit_test(what_rounds_to_zero_is_not_faster),
		cmocka_unit_test(mmtests_tables_look_like_those_of_the_second_post),
		cmocka_unit_test(long_names_do_not_touch_each_other),
		cmocka_unit_test(profiles_look_like_those_of_the_second_post),
		cmocka_unit_test(a_file_that_is_not_the_sum_of_its_symbols_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
