/* SPDX-License-Identifier: MIT */
/* From symbols to files: kernels made up of names, and this test's own debug information. */
#include "meters/exact/files_ranges.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_test.h"

#define NR_SYMBOLS   512
#define SYMBOL_BYTES 0x10

/* A kernel whose symbols are 16 bytes each, in the order in which they are added. */
static struct kernel *made_kernel(void)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));

	assert_non_null(kernel);
	strcpy(kernel->release, "1.2.3");
	kernel->has_memcg = true;
	kernel->symbols = calloc(NR_SYMBOLS, sizeof(*kernel->symbols));
	assert_non_null(kernel->symbols);
	return kernel;
}

static uint64_t add_symbol(struct kernel *kernel, const char *name)
{
	struct kernel_symbol *symbol = &kernel->symbols[kernel->nr_symbols];

	assert_true(kernel->nr_symbols < NR_SYMBOLS);
	symbol->address = 0xffffffff81000000 + SYMBOL_BYTES * kernel->nr_symbols++;
	symbol->name = strdup(name);
	assert_non_null(symbol->name);
	return symbol->address;
}

static void free_kernel(struct kernel *kernel)
{
	for (size_t i = 0; i < kernel->nr_symbols; i++)
		free(kernel->symbols[i].name);
	free(kernel->symbols);
	free(kernel);
}

static void add_fillers(struct kernel *kernel, unsigned int nr_fillers)
{
	char name[32];

	for (unsigned int i = 0; i < nr_fillers; i++) {
		snprintf(name, sizeof(name), "filler_%zu", kernel->nr_symbols);
		add_symbol(kernel, name);
	}
}

static const char *const counter_names[] = {
	"propagate_protected_usage", "page_counter_cancel",   "page_counter_charge",
	"page_counter_try_charge",   "page_counter_uncharge", "page_counter_set_max",
	"page_counter_set_min",      "page_counter_memparse",
};
static const char *const memcontrol_names[] = {
	"try_charge_memcg",    "refill_stock",        "uncharge_batch",
	"vmpressure_to_memcg", "__mem_cgroup_charge", "mem_cgroup_swap_full",
};
static const char *const vmpressure_names[] = {
	"vmpressure_calc_level", "vmpressure_work_fn", "vmpressure",
	"vmpressure_prio",       "vmpressure_init",    "vmpressure_cleanup",
};

static void add_names(struct kernel *kernel, const char *const *names, size_t nr_names)
{
	for (size_t i = 0; i < nr_names; i++)
		add_symbol(kernel, names[i]);
}
#define ADD_NAMES(kernel, names) add_names(kernel, names, sizeof(names) / sizeof((names)[0]))

/* What lies around memcontrol.c in a kernel, with @nr_fillers functions of its own beside those. */
static struct kernel *memcg_kernel(unsigned int nr_fillers, const char *also)
{
	struct kernel *kernel = made_kernel();

	add_symbol(kernel, "madvise_collapse");
	ADD_NAMES(kernel, counter_names);
	add_fillers(kernel, nr_fillers);
	ADD_NAMES(kernel, memcontrol_names);
	if (also)
		add_symbol(kernel, also);
	ADD_NAMES(kernel, vmpressure_names);
	add_symbol(kernel, "swap_cgroup_cmpxchg");
	add_symbol(kernel, "swap_cgroup_record");
	add_symbol(kernel, "hugetlb_events_show");
	return kernel;
}

static uint64_t address_of(const struct kernel *kernel, const char *name)
{
	for (size_t i = 0; i < kernel->nr_symbols; i++) {
		if (strcmp(kernel->symbols[i].name, name) == 0)
			return kernel->symbols[i].address;
	}
	fail_msg("no symbol %s", name);
	return 0;
}

static const char *path_of(const struct files *files, const struct kernel *kernel, const char *name)
{
	return files_path(files, address_of(kernel, name), name);
}

static void a_file_is_what_lies_between_its_anchors(void **state)
{
	struct kernel *kernel = memcg_kernel(130, "__pfx_vmpressure_calc_level");
	char why_not[FILES_ERROR];
	struct files *files;

	(void)state;
	assert_int_equal(files_of_kernel(kernel, &files, why_not), 0);
	assert_string_equal(path_of(files, kernel, "page_counter_memparse"), "mm/page_counter.c");
	assert_string_equal(path_of(files, kernel, "filler_9"), "mm/memcontrol.c");
	assert_string_equal(path_of(files, kernel, "mem_cgroup_swap_full"), "mm/memcontrol.c");
	assert_string_equal(path_of(files, kernel, "__pfx_vmpressure_calc_level"),
			    "mm/vmpressure.c");
	assert_string_equal(path_of(files, kernel, "vmpressure_cleanup"), "mm/vmpressure.c");
	assert_null(path_of(files, kernel, "madvise_collapse"));
	assert_non_null(strstr(why_not, "1.2.3: 3 of its files"));
	assert_null(strstr(why_not, "mm/memcontrol.c"));
	assert_non_null(strstr(why_not, "; mm/swap_cgroup.c would have 2 functions, not"));
	files_destroy(files);
	free_kernel(kernel);
}

static void unlikely_parts_follow_their_function_and_clones_do_not(void **state)
{
	struct kernel *kernel = memcg_kernel(130, "reclaim_high.constprop.0");
	char why_not[FILES_ERROR];
	struct files *files;

	(void)state;
	add_symbol(kernel, "refill_stock.cold");
	add_symbol(kernel, "refill_stock.constprop.0");
	add_symbol(kernel, "reclaim_high.constprop.0.cold");
	add_symbol(kernel, "__pfx_vmpressure_prio");
	add_symbol(kernel, "swap_cgroup_record.cold");
	/* A second function of that name: the part may be of either. */
	add_symbol(kernel, "filler_20");
	add_symbol(kernel, "filler_20.cold");
	assert_int_equal(files_of_kernel(kernel, &files, why_not), 0);
	assert_string_equal(path_of(files, kernel, "refill_stock.cold"), "mm/memcontrol.c");
	assert_string_equal(path_of(files, kernel, "reclaim_high.constprop.0.cold"),
			    "mm/memcontrol.c");
	assert_string_equal(path_of(files, kernel, "__pfx_vmpressure_prio"), "mm/vmpressure.c");
	assert_null(path_of(files, kernel, "refill_stock.constprop.0"));
	assert_null(path_of(files, kernel, "swap_cgroup_record.cold"));
	assert_null(path_of(files, kernel, "filler_20.cold"));
	files_destroy(files);
	free_kernel(kernel);
}

/* The range is refused with a line that has @line in it. */
static void refuses(struct kernel *kernel, const char *line)
{
	char why_not[FILES_ERROR];
	struct files *files;

	assert_int_equal(files_of_kernel(kernel, &files, why_not), 0);
	if (!strstr(why_not, line))
		fail_msg("no \"%s\" in \"%s\"", line, why_not);
	assert_null(path_of(files, kernel, "refill_stock"));
	assert_string_equal(path_of(files, kernel, "vmpressure"), "mm/vmpressure.c");
	files_destroy(files);
	free_kernel(kernel);
}

static void a_wrong_range_is_a_line_and_no_file(void **state)
{
	struct kernel *kernel = memcg_kernel(130, "vmpressure_unknown");

	(void)state;
	free(kernel->symbols[9 + 130 + 1].name);
	kernel->symbols[9 + 130 + 1].name = strdup("refill_stocks");
	add_symbol(kernel, "refill_stock");
	refuses(kernel, "; mm/memcontrol.c would lack refill_stock");
	refuses(memcg_kernel(130, "memcg1_swapout"), "; mm/memcontrol.c would hold memcg1_swapout");
	refuses(memcg_kernel(20, NULL), "; mm/memcontrol.c would have 26 functions, not 120 to");
	refuses(memcg_kernel(400, NULL), "; mm/memcontrol.c would have 406 functions, not 120 to");
	/* An anchor behind which the end does not lie. */
	kernel = memcg_kernel(130, NULL);
	add_symbol(kernel, "page_counter_late");
	add_symbol(kernel, "last");
	refuses(kernel, "; mm/memcontrol.c would have 0 functions");
}

static void an_anchor_that_is_there_twice_is_none(void **state)
{
	struct kernel *kernel = memcg_kernel(130, "vmpressure_calc_level");
	char why_not[FILES_ERROR];
	struct files *files;

	(void)state;
	assert_int_equal(files_of_kernel(kernel, &files, why_not), 0);
	assert_non_null(strstr(why_not, "; mm/memcontrol.c lacks a bound"));
	assert_null(path_of(files, kernel, "refill_stock"));
	files_destroy(files);
	free_kernel(kernel);
}

static void a_kernel_without_the_controller_lacks_nothing(void **state)
{
	struct kernel *kernel = made_kernel();
	char why_not[FILES_ERROR];
	struct files *files;

	(void)state;
	kernel->has_memcg = false;
	add_fillers(kernel, 5);
	assert_int_equal(files_of_kernel(kernel, &files, why_not), 0);
	assert_null(strstr(why_not, "mm/memcontrol.c"));
	assert_non_null(strstr(why_not, "mm/vmscan.c lacks a bound"));
	assert_null(path_of(files, kernel, "filler_1"));
	files_destroy(files);
	free_kernel(kernel);
}

static void a_global_function_is_of_the_file_around_it(void **state)
{
	struct elf_function functions[] = {
		{ 0x1000, 16, "a_static", "a.c", 1, 1 }, { 0x1010, 16, "a_global", NULL, 1, 1 },
		{ 0x1010, 16, "a_other", NULL, 1, 1 },   { 0x1020, 0, "a_label", "a.c", 1, 1 },
		{ 0x1030, 16, "of_a_or_b", NULL, 1, 1 }, { 0x1040, 16, "b_static", "a.c", 2, 1 },
		{ 0x1050, 16, "b_cold", NULL, 2, 1 },    { 0x2000, 16, "b_init", "a.c", 2, 2 },
	};
	struct files *files = calloc(1, sizeof(*files));

	(void)state;
	assert_non_null(files);
	assert_int_equal(files_add_functions(files, functions, 8), 5);
	assert_string_equal(files_path(files, 0x100f, "x"), "a.c");
	assert_string_equal(files_path(files, 0x1010, "x"), "a.c");
	assert_string_equal(files_path(files, 0x1020, "x"), "a.c");
	assert_null(files_path(files, 0x1021, "x"));
	/* Two folders may each have an a.c: between them, and between sections, nothing is known.
	 */
	assert_null(files_path(files, 0x1030, "x"));
	assert_string_equal(files_path(files, 0x1040, "x"), "a.c");
	assert_null(files_path(files, 0x1050, "x"));
	assert_string_equal(files_path(files, 0x2000, "x"), "a.c");
	files_destroy(files);
}

static void a_known_range_names_the_rest_of_its_file(void **state)
{
	struct elf_function functions[] = {
		{ 0x1000, 16, "in_range", "a.c", 1, 1 },
		{ 0x1010, 16, "behind_it", "b.c", 2, 1 },
		{ 0x2000, 16, "in_range.cold", "a.c", 1, 1 },
	};
	struct files *files = calloc(1, sizeof(*files));
	char *path;

	(void)state;
	assert_non_null(files);
	assert_int_equal(files_add_path(files, "mm/a.c", &path), 0);
	assert_int_equal(files_add_range(files, 0x1000, 0x1010, path), 0);
	assert_int_equal(files_add_functions(files, functions, 3), 2);
	assert_string_equal(files_path(files, 0x1000, "x"), "mm/a.c");
	assert_string_equal(files_path(files, 0x1010, "x"), "b.c");
	assert_string_equal(files_path(files, 0x2000, "x"), "mm/a.c");
	files_destroy(files);
}

static int first_base(struct dl_phdr_info *info, size_t nr_bytes, void *ret_base)
{
	(void)nr_bytes;
	*(uint64_t *)ret_base = info->dlpi_addr;
	return 1;
}

/* The address of a function of this program as its file has it. */
static uint64_t own_address(uintptr_t function)
{
	uint64_t base = 0;

	dl_iterate_phdr(first_base, &base);
	return function - base;
}

static void a_program_tells_its_files_from_the_top_of_the_source(void **state)
{
	uint64_t address =
		own_address((uintptr_t)a_program_tells_its_files_from_the_top_of_the_source);
	char why_not[FILES_ERROR];
	struct files *files;

	(void)state;
	assert_int_equal(files_of_program("/proc/self/exe", &files, why_not), 0);
	if (strstr(why_not, "no debug information")) {
		files_destroy(files);
		skip();
	}
	assert_string_equal(why_not, "");
	assert_string_equal(files_path(files, address, "x"), "tests/unit/bench/files.c");
	assert_string_equal(files_path(files, own_address((uintptr_t)files_path), "x"),
			    "bench/meters/exact/files.c");
	assert_null(files_path(files, 1, "x"));
	files_destroy(files);
}

static void debug_information_must_be_of_the_kernel(void **state)
{
	struct kernel *kernel = made_kernel();
	char why_not[FILES_ERROR];
	struct files *files;

	(void)state;
	strcpy(kernel->debug, "/proc/self/exe");
	add_symbol(kernel, "files_path");
	assert_int_equal(files_of_kernel(kernel, &files, why_not), -EINVAL);
	assert_non_null(
		strstr(why_not, "/proc/self/exe: not of the kernel 1.2.3, only 0 of its 1"));
	kernel->symbols[0].address = own_address((uintptr_t)files_path);
	assert_int_equal(files_of_kernel(kernel, &files, why_not), 0);
	assert_non_null(path_of(files, kernel, "files_path"));
	files_destroy(files);
	/* One of many is not enough. */
	add_fillers(kernel, 99);
	assert_int_equal(files_of_kernel(kernel, &files, why_not), -EINVAL);
	assert_non_null(strstr(why_not, "only 1 of its 100"));
	strcpy(kernel->debug, "/proc/self/status");
	assert_int_equal(files_of_kernel(kernel, &files, why_not), -EINVAL);
	assert_non_null(strstr(why_not, "/proc/self/status: not an ELF file; accepted is"));
	strcpy(kernel->debug, "/proc/self/none");
	assert_int_equal(files_of_kernel(kernel, &files, why_not), -ENOENT);
	assert_non_null(strstr(why_not, "/proc/self/none: "));
	free_kernel(kernel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_what_lies_between_its_anchors),
		cmocka_unit_test(unlikely_parts_follow_their_function_and_clones_do_not),
		cmocka_unit_test(a_wrong_range_is_a_line_and_no_file),
		cmocka_unit_test(an_anchor_that_is_there_twice_is_none),
		cmocka_unit_test(a_kernel_without_the_controller_lacks_nothing),
		cmocka_unit_test(a_global_function_is_of_the_file_around_it),
		cmocka_unit_test(a_known_range_names_the_rest_of_its_file),
		cmocka_unit_test(a_program_tells_its_files_from_the_top_of_the_source),
		cmocka_unit_test(debug_information_must_be_of_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
