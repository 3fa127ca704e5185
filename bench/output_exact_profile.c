/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of an exact run's result that are no series: where it was made, and profiles. */
#include <stdio.h>
#include <string.h>

#include "meters/exact/emulator.h"
#include "meters/exact/files.h"
#include "output_exact_profile.h"
#include "plan.h"

static uint64_t total_of(const struct exact_profile *profile)
{
	uint64_t total = profile->nr_interrupts + profile->nr_idle;

	for (size_t i = 0; i < profile->nr_symbols; i++)
		total += profile->symbols[i].nr_instructions;
	return total;
}

static const struct files *files_of(const struct exact_output *output,
				    const struct exact_boot *boot)
{
	if (boot->target == WORKLOAD_LIB)
		return output->program_files[boot->configuration->not_compiled];
	return output->kernels->files[boot->kernel - output->kernels->kernels];
}

/* What the kernel's accounting was measured with is the program; that is no part of the library. */
static int add_symbol(struct bench_profile *profile, const struct files *files, bool is_lib,
		      const struct exact_symbol *symbol)
{
	const char *path = NULL;

	if (is_lib && !symbol->user)
		return 0;
	if (!is_lib && symbol->user)
		return profile_add_symbol(profile, FILES_USER, FILES_USER, symbol->nr_instructions);
	if (files)
		path = files_path(files, symbol->address, symbol->name);
	if (!path)
		path = is_lib ? FILES_USER : FILES_KERNEL;
	return profile_add_symbol(profile, path, symbol->name, symbol->nr_instructions);
}

static int add_profile(struct bench_profile *profile, const struct files *files, bool is_lib,
		       const struct exact_profile *counted)
{
	int ret = 0;

	for (size_t i = 0; i < counted->nr_symbols && !ret; i++)
		ret = add_symbol(profile, files, is_lib, &counted->symbols[i]);
	for (size_t i = 0; i < counted->nr_calls && !ret; i++) {
		const struct exact_call *call = &counted->calls[i];

		ret = profile_add_call(profile, call->caller, call->callee, call->nr_calls,
				       call->nr_instructions);
	}
	return ret;
}

int output_exact_profile(struct bench_result *result, const struct exact_output *output,
			 const struct exact_suite *suite, const struct exact_boot *boot,
			 const struct exact_block *block, enum bench_part part,
			 struct bench_profile **ret_profile)
{
	bool is_apart = part == BENCH_PART_APART, is_lib = boot->target == WORKLOAD_LIB;
	const struct exact_profile *counted = is_apart ? &block->apart : &block->profile;
	uint64_t nr_operations = is_apart ? block->nr_apart : block->nr_operations;
	struct bench_profile *profile;
	int ret;

	ret = result_add_profile(result, suite->workload->name, target_name(boot->target),
				 boot->configuration->name, total_of(counted), &profile);
	if (ret)
		return ret;
	profile_set_part(profile, part);
	ret = profile_set_meter(profile, "exact");
	if (!ret)
		ret = profile_set_operations(profile, nr_operations);
	if (!ret)
		ret = add_profile(profile, files_of(output, boot), is_lib, counted);
	*ret_profile = profile;
	return ret;
}

/* Appends those with a controller, or those without, behind @before if there are any. */
static void append_kernels(const struct exact_kernels *kernels, bool has_memcg, const char *before,
			   char *text, size_t size)
{
	for (size_t k = 0; k < kernels->nr_kernels; k++) {
		const struct kernel *kernel = &kernels->kernels[k];
		bool named = kernels->nr_kernels > 1 && strcmp(kernel->name, kernel->release);
		size_t length = strlen(text);

		if (kernel->has_memcg != has_memcg)
			continue;
		snprintf(text + length, size - length, "%s%s%s%s", before,
			 named ? kernel->name : "", named ? ": " : "",
			 kernel->release[0] ? kernel->release : kernel->name);
		before = ", ";
	}
}

/* "6.1.0", or of several "old: 6.1.0, new: 6.2.0; base-NotCompiled: 6.1.0-nomemcg". */
static void name_kernels(const struct exact_kernels *kernels, char *text, size_t size)
{
	text[0] = '\0';
	append_kernels(kernels, true, "", text, size);
	append_kernels(kernels, false, text[0] ? "; base-NotCompiled: " : "", text, size);
}

static const char *name_memcg(const struct exact_kernels *kernels)
{
	bool with = false, without = false;

	for (size_t k = 0; k < kernels->nr_kernels; k++) {
		with = with || kernels->kernels[k].has_memcg;
		without = without || !kernels->kernels[k].has_memcg;
	}
	return with && without ? "" : with ? "y" : "n";
}

static bool has_several_workers(const struct exact_plan *plan)
{
	for (size_t i = 0; i < plan->options->nr_workers; i++) {
		if (plan->options->workers[i] > 1)
			return true;
	}
	return false;
}

static bool has_marks(const struct exact_plan *plan)
{
	for (size_t b = 0; b < plan->nr_boots; b++) {
		if (plan->boots[b].nr_marks)
			return true;
	}
	return false;
}

static int add_notes(struct bench_result *result, const struct exact_output *output)
{
	const struct exact_plan *plan = output->plan;
	unsigned int nr_layouts = plan->options->exact.nr_layouts;
	char note[FILES_ERROR + KERNEL_NAME];
	int ret;

	ret = result_add_note(result, "instructions, not time: they cannot show caches, atomics "
				      "or contention");
	snprintf(note, sizeof(note),
		 "counted by QEMU %s, processor %s, one of them; the same %u %s of memory for all "
		 "configurations, a sample each%s",
		 emulator_version(), emulator_processor(), nr_layouts,
		 nr_layouts == 1 ? "layout" : "layouts",
		 output->interrupted ? "; interrupted" : "");
	if (!ret)
		ret = result_add_note(result, note);
	if (!ret && has_marks(plan))
		ret = result_add_note(result, "what the program marks itself is counted over all "
					      "layouts together");
	if (!ret && has_several_workers(plan))
		ret = result_add_note(result, "one worker each: the guest has one processor");
	for (size_t k = 0; k < output->kernels->nr_kernels && !ret; k++) {
		if (!output->kernels->why_no_files[k][0])
			continue;
		snprintf(note, sizeof(note), "%s%s%s",
			 output->kernels->nr_kernels > 1 ? output->kernels->kernels[k].name : "",
			 output->kernels->nr_kernels > 1 ? ": " : "",
			 output->kernels->why_no_files[k]);
		ret = result_add_note(result, note);
	}
	return ret;
}

int output_exact_environment(struct bench_result *result, const struct exact_output *output)
{
	const struct exact_options *exact = &output->plan->options->exact;
	struct bench_environment environment = output->machine->environment;
	char kernels[512], processor[96];
	int ret;

	name_kernels(output->kernels, kernels, sizeof(kernels));
	snprintf(processor, sizeof(processor), "QEMU %s %s", emulator_version(),
		 emulator_processor());
	/* The emulated machine: the one below it does not show in any figure. */
	environment.kernel = kernels;
	environment.command_line = emulator_command_line();
	environment.config_memcg = name_memcg(output->kernels);
	environment.cpu = processor;
	environment.cpus = 1;
	environment.memory_bytes = EMULATOR_NR_BYTES;
	environment.thp = "";
	environment.cgroup = !exact->cgroup_v1 ? "v2" : exact->cgroup_v2 ? "v1, v2" : "v1";
	environment.seed = output->plan->options->seed;
	environment.aslr = "";
	environment.governor = "";
	environment.pinning = "";
	ret = result_set_environment(result, &environment);
	return ret ? ret : add_notes(result, output);
}
