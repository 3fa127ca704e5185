/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verb bench with the exact meter: from options to tables. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "bench_exact.h"
#include "block.h"
#include "machine.h"
#include "meters/exact/image.h"
#include "meters/exact/ladder.h"
#include "output.h"
#include "output_exact.h"
#include "output_explain.h"

#define EXIT_WRONG_INPUT 2
#define EXIT_INTERRUPTED (128 + SIGINT)

static int refuse(const char *what)
{
	output_complain(what);
	return EXIT_WRONG_INPUT;
}

static int out_of_memory(void)
{
	output_complain("out of memory");
	return 1;
}

/* What depends on nothing but this machine and the command line is said before anything runs. */
static int check(const struct bench_options *options)
{
	const char *why_not = exact_why_not();
	char error[IMAGE_ERROR];

	/* What was interrupted has no fault of its own to tell. */
	if (block_interrupted)
		return EXIT_INTERRUPTED;
	if (why_not)
		return refuse(why_not);
	if (options->command && image_check_program(options->program, error))
		return refuse(error);
	return 0;
}

static bool is_measured(const struct bench_result *result)
{
	return result->nr_series > 0;
}

static int publish(const struct exact_output *exact, char **argv)
{
	const struct bench_options *options = exact->plan->options;
	struct output output = { .options = options, .machine = exact->machine, .argv = argv };
	struct bench_result *result;
	int status;

	if (output_exact_result(exact, &result))
		return out_of_memory();
	output.exact = result;
	if (options->exact.explain && is_measured(result))
		status = output_explain(&output);
	else
		status = output_publish(&output);
	if (exact->interrupted)
		status = EXIT_INTERRUPTED;
	else if (!status && !is_measured(result))
		status = refuse("nothing could be measured; the reasons stand above");
	result_destroy(result);
	return status;
}

static int measure(const struct bench_options *options, const struct machine *machine,
		   struct exact_folder *folder, const struct exact_kernels *kernels, char **argv)
{
	struct exact_output output = { .kernels = kernels, .machine = machine };
	char why_not[FILES_ERROR];
	struct exact_plan *plan;
	int status;

	if (exact_plan_create(options, kernels->kernels, kernels->nr_kernels, &plan))
		return out_of_memory();
	output.plan = plan;
	/* Without debug information the profile's functions have no files, and no more. */
	for (int i = 0; i < 2 && options->targets[WORKLOAD_LIB]; i++) {
		if (files_of_program(folder->guests[i], &output.program_files[i], why_not))
			output.program_files[i] = NULL;
	}
	status = ladder_run(plan, folder, ladder_width());
	/* Before anything is printed: whatever happens to the output, no file stays behind. */
	exact_folder_remove(folder);
	if (status) {
		status = out_of_memory();
	} else {
		output.interrupted = block_interrupted;
		status = publish(&output, argv);
	}
	files_destroy(output.program_files[0]);
	files_destroy(output.program_files[1]);
	exact_plan_destroy(plan);
	return status;
}

static int measure_in_folder(const struct bench_options *options, const struct machine *machine,
			     struct exact_kernels *kernels, char **argv)
{
	struct exact_folder folder;
	char error[EXACT_ERROR] = "";
	int ret, status;

	if (exact_folder_make(options->command ? options->program : NULL, &folder, error))
		return refuse(error);
	ret = exact_kernels_load(kernels, &folder, error);
	if (ret == -EINTR)
		status = EXIT_INTERRUPTED;
	else if (ret)
		status = refuse(error);
	else
		status = measure(options, machine, &folder, kernels, argv);
	exact_folder_remove(&folder);
	return status;
}

int bench_exact(const struct bench_options *options, const struct cgroup *cgroup, char **argv)
{
	static struct exact_kernels kernels;
	static struct machine machine;
	char error[EXACT_ERROR] = "";
	int status;

	/* The emulator is started already to ask what it is. */
	bench_catch_signals();
	status = check(options);
	if (status)
		return status;
	machine_read(&machine, cgroup);
	if (exact_kernels_open(&options->exact, &kernels, error))
		return block_interrupted ? EXIT_INTERRUPTED : refuse(error);
	status = measure_in_folder(options, &machine, &kernels, argv);
	exact_kernels_close(&kernels);
	return status;
}

int bench_exact_get_kernel(const struct bench_options *options)
{
	char error[KERNEL_ERROR] = "";
	int ret;

	bench_catch_signals();
	ret = kernel_get(options->get_kernel, options->yes, error);
	if (ret == -EINTR)
		return EXIT_INTERRUPTED;
	return ret ? refuse(error) : 0;
}
