/* SPDX-License-Identifier: MIT */
/* One boot of a ladder: from the plan to a guest, and from what it left to figures. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "meters/exact/counts.h"
#include "meters/exact/ladder_boot.h"
#include "umemcg-marks.h"

/* A boot and a block take a few seconds on a processor of their own; a hang takes for ever. */
#define BOOT_TIMEOUT_S  60
#define BLOCK_TIMEOUT_S 8

/* A block's number is the same in every boot, whatever target the boot is of. */
static unsigned int block_index(const struct exact_plan *plan, size_t suite, unsigned int layout)
{
	return (unsigned int)suite * plan->options->exact.nr_layouts + layout;
}

static void fill_block(const struct exact_plan *plan, size_t s, unsigned int layout,
		       struct job_block *block)
{
	const struct exact_suite *suite = &plan->suites[s];
	bool is_command = suite->workload == &plan->command;

	*block = (struct job_block){ .index = block_index(plan, s, layout),
				     .value = suite->value,
				     .nr_operations = suite->nr_operations,
				     .nr_warm_up = suite->nr_warm_up,
				     .layout = layout,
				     .argv = is_command ? plan->options->command : NULL };
	if (!is_command)
		snprintf(block->workload, sizeof(block->workload), "%s", suite->workload->name);
}

static char *format_job(const struct exact_plan *plan, const struct exact_boot *boot)
{
	const struct configuration *configuration = boot->configuration;
	bool is_lib = boot->target == WORKLOAD_LIB;
	char command_line[256];
	char *environment[] = { command_line, NULL };
	struct guest_job job = { .target = boot->target,
				 .cgroup = boot->cgroup,
				 .depth = configuration->depth,
				 .limit = configuration->limit };
	char *text = NULL;

	if (is_lib && configuration->command_line) {
		snprintf(command_line, sizeof(command_line), "UMEMCG_CMDLINE=%s",
			 configuration->command_line);
		job.environment = environment;
	}
	job.blocks = calloc(exact_plan_nr_blocks(plan, boot->target), sizeof(*job.blocks));
	if (!job.blocks)
		return NULL;
	for (size_t s = 0; s < plan->nr_suites; s++) {
		for (unsigned int layout = 0; plan->suites[s].target == boot->target &&
					      layout < plan->options->exact.nr_layouts;
		     layout++)
			fill_block(plan, s, layout, &job.blocks[job.nr_blocks++]);
	}
	text = job_format(&job);
	free(job.blocks);
	return text;
}

int ladder_boot_start(const struct exact_plan *plan, const struct exact_folder *folder,
		      const struct exact_boot *boot, double slowness,
		      struct emulator **ret_emulator, char *error)
{
	const struct configuration *configuration = boot->configuration;
	bool is_lib = boot->target == WORKLOAD_LIB;
	bool not_compiled = is_lib && configuration->not_compiled;
	unsigned int nr_blocks = exact_plan_nr_blocks(plan, boot->target);
	char image[PATH_MAX], symbols[PATH_MAX], emulator_error[EMULATOR_ERROR] = "";
	char *job = format_job(plan, boot);
	int ret;

	if (!job) {
		snprintf(error, EXACT_ERROR, "out of memory");
		return -ENOMEM;
	}
	exact_folder_image(folder, not_compiled, image);
	ret = exact_folder_symbols(folder, boot->kernel, boot->target, not_compiled, symbols,
				   error);
	if (!ret) {
		ret = emulator_start(
			&(struct emulator_boot){
				.kernel = boot->kernel->path,
				.image = image,
				.command_line = is_lib ? NULL : configuration->switches,
				.job = job,
				.symbols = symbols,
				.calls = plan->options->exact.explain,
				.timeout_s = slowness *
					     (BOOT_TIMEOUT_S + BLOCK_TIMEOUT_S * (double)nr_blocks),
			},
			ret_emulator, emulator_error);
		if (ret)
			snprintf(error, EXACT_ERROR, "%s", emulator_error);
	}
	free(job);
	return ret;
}

static const struct guest_block *find_block(const struct guest_answer *answer, unsigned int index)
{
	for (size_t i = 0; i < answer->nr_blocks; i++) {
		if (answer->blocks[i].index == index)
			return &answer->blocks[i];
	}
	return NULL;
}

static int skip_block(struct exact_plan *plan, const struct exact_boot *boot, size_t suite,
		      const char *why)
{
	char boot_name[96], suite_name[64], what[sizeof(boot_name) + sizeof(suite_name)];

	snprintf(what, sizeof(what), "%s: %s",
		 exact_boot_name(plan, boot, boot_name, sizeof(boot_name)),
		 exact_suite_name(&plan->suites[suite], suite_name, sizeof(suite_name)));
	return skipped_add(&plan->skipped, what, why);
}

static int read_profile(unsigned int index, const struct counts *counts, enum job_part part,
			enum job_part grace, struct exact_profile *ret_profile)
{
	struct exact_profiled parts = {
		.work = counts_part(counts, job_part_id(index, part)),
		.grace = counts_part(counts, job_part_id(index, grace)),
		.quiet = counts_part(counts, job_part_id(index, JOB_PART_QUIET)),
	};

	return parts.work ? exact_profile_read(&parts, ret_profile) : 0;
}

static int read_profiles(unsigned int index, const struct counts *counts, struct exact_block *block)
{
	int ret = read_profile(index, counts, JOB_PART_RUN, JOB_PART_DEFERRED, &block->profile);

	if (!ret && block->has[EXACT_APART])
		ret = read_profile(index, counts, JOB_PART_APART, JOB_PART_APART_DEFERRED,
				   &block->apart);
	return ret;
}

static int read_block(struct exact_plan *plan, struct exact_boot *boot, size_t suite,
		      unsigned int layout, const struct guest_answer *answer,
		      const struct counts *counts)
{
	unsigned int index = block_index(plan, suite, layout);
	const struct guest_block *guest = find_block(answer, index);
	struct exact_block *block = &boot->blocks[index];
	int ret;

	if (!guest)
		return skip_block(plan, boot, suite, "the guest did not come to it");
	if (guest->failed[0])
		return skip_block(plan, boot, suite, guest->failed);
	ret = exact_figures(counts, index, boot->target, guest, block);
	if (!ret && layout == 0)
		ret = read_profiles(index, counts, block);
	/* A program with marks of its own has no other parts. */
	if (ret == -ENODATA && boot->nr_marks)
		return 0;
	if (ret == -ENODATA)
		return skip_block(plan, boot, suite, "its marks were not met: nothing was counted");
	return ret;
}

/* The parts that the user's program marked. */
static int read_marks(struct exact_boot *boot, const struct counts *counts)
{
	size_t nr_parts = 0;
	int ret = 0;

	while (nr_parts < counts->nr_parts && counts->parts[nr_parts].id <= UMEMCG_MARK_MAX)
		nr_parts++;
	boot->marks = calloc(nr_parts + 1, sizeof(*boot->marks));
	if (!boot->marks)
		return -ENOMEM;
	for (size_t i = 0; i < nr_parts && !ret; i++) {
		const struct count_part *part = &counts->parts[i];
		struct exact_mark *mark = &boot->marks[boot->nr_marks];

		if (!part->id || exact_figures_of_mark(part, boot->target, &mark->block))
			continue;
		mark->id = part->id;
		ret = exact_profile_read(&(struct exact_profiled){ .work = part },
					 &mark->block.profile);
		boot->nr_marks += !ret;
	}
	return ret;
}

static int read_blocks(struct exact_plan *plan, struct exact_boot *boot,
		       const struct guest_answer *answer, const struct counts *counts)
{
	int ret = read_marks(boot, counts);

	for (size_t s = 0; s < plan->nr_suites; s++) {
		for (unsigned int layout = 0; plan->suites[s].target == boot->target &&
					      layout < plan->options->exact.nr_layouts && !ret;
		     layout++)
			ret = read_block(plan, boot, s, layout, answer, counts);
	}
	return ret;
}

int ladder_boot_read(struct exact_plan *plan, struct exact_boot *boot, struct emulator *emulator,
		     char *error)
{
	char *text = NULL, emulator_error[EMULATOR_ERROR] = "", counts_error[COUNTS_ERROR] = "";
	const char *counts_path = NULL;
	struct guest_answer *answer = NULL;
	struct counts *counts = NULL;
	int ended = emulator_result(emulator, &text, &counts_path, emulator_error);
	int ret = text ? answer_parse(text, &answer) : -ENODATA;

	/* What the guest itself says went wrong is closer to the cause than how it ended. */
	if (answer && answer->error[0]) {
		snprintf(error, EXACT_ERROR, "%s", answer->error);
		ret = -EBADE;
	} else if (ended) {
		snprintf(error, EXACT_ERROR, "%s", emulator_error);
		ret = ended;
	} else if (ret) {
		snprintf(error, EXACT_ERROR, "the guest's answer is cut short or garbled");
	} else {
		ret = counts_read(counts_path, &counts, counts_error);
		if (ret)
			snprintf(error, EXACT_ERROR, "%s", counts_error);
	}
	if (!ret) {
		ret = read_blocks(plan, boot, answer, counts);
		if (ret)
			snprintf(error, EXACT_ERROR, "%s", strerror(-ret));
	}
	counts_destroy(counts);
	answer_destroy(answer);
	free(text);
	return ret;
}
