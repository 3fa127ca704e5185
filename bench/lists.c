/* SPDX-License-Identifier: MIT */
/* `umemcg bench --list`: the four choices, and why some of them cannot be made here. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "configurations.h"
#include "lists.h"
#include "meters/exact/emulator.h"
#include "meters/exact/exact_folder.h"
#include "meters/exact/exact_plan.h"
#include "meters/exact/kernels.h"
#include "plan.h"
#include "workloads/workload.h"

#define INDENT "                    "

static void print_line(FILE *out, const char *name, const char *description)
{
	fprintf(out, "  %-17s %s\n", name, description);
}

/* Below the line: what of it cannot be had, and why. */
static void print_why_not(FILE *out, enum workload_target target, const char *why)
{
	if (why)
		fprintf(out, INDENT "not for %s: %s\n", target_name(target), why);
}

/* What the exact meter needs beside itself: an emulator, and for the kernel's accounting one to
 * boot. */
static void print_meters(FILE *out)
{
	const char *why_not = exact_why_not();
	char path[PATH_MAX], error[KERNEL_ERROR];

	fputs("\nmeters: how it is measured\n", out);
	print_line(out, "time", "this machine, this kernel, the clock");
	print_line(out, "exact", "instructions of an emulated machine that boots any kernel");
	if (why_not)
		fprintf(out, INDENT "not here: %s\n", why_not);
	else if (kernel_find(path, error))
		fprintf(out, INDENT "not here: %s\n", error);
	else
		fprintf(out, INDENT "found: QEMU %s; kernel %s\n", emulator_version(), path);
}

static void print_targets(FILE *out, const struct cgroup *cgroup)
{
	fputs("targets: whose accounting is measured\n", out);
	print_line(out, "lib", "libumemcg's");
	print_line(out, "kernel",
		   "that of a kernel's memory controller: the running one's, or with -m exact any");
	if (cgroup->version != CGROUP_NONE)
		fprintf(out, INDENT "found: memory cgroups %s\n",
			cgroup_version_name(cgroup->version));
	if (!cgroup->can_make)
		fprintf(out, INDENT "not in a group: %s\n", cgroup->why_not);
	if (!cgroup->can_use_root)
		fprintf(out, INDENT "not in the root group: %s\n", cgroup->why_not_root);
}

static void print_workloads(FILE *out, const struct cgroup *cgroup)
{
	fputs("\nworkloads: what is done meanwhile\n", out);
	for (unsigned int i = 0; workload_table[i]; i++) {
		const struct workload *workload = workload_table[i];

		print_line(out, workload->name, workload->description);
		for (unsigned int target = 0; target < WORKLOAD_NR_TARGETS; target++) {
			const char *why = plan_workload_why_not(workload, target, cgroup);
			const char *exact_why = exact_workload_why_not(workload, target);

			print_why_not(out, target, why);
			if (exact_why && !workload->why_not[target])
				fprintf(out, INDENT "not for %s with -m exact: %s\n",
					target_name(target), exact_why);
		}
	}
	print_line(out, "-- CMD ARGS",
		   "a command of yours, for kernel; with -m exact a static program");
}

static void print_configurations(FILE *out, const struct cgroup *cgroup)
{
	const char *name, *description;

	fputs("\nconfigurations: in which state the accounting is\n", out);
	for (unsigned int i = 0; configuration_list(i, &name, &description); i++) {
		struct configuration configuration;

		print_line(out, name, description);
		if (configuration_parse(strcmp(name, "depth-N") ? name : "depth-1", &configuration))
			continue;
		for (unsigned int target = 0; target < WORKLOAD_NR_TARGETS; target++)
			print_why_not(out, target, plan_why_not(&configuration, target, cgroup));
	}
}

void lists_print(FILE *out, const struct cgroup *cgroup)
{
	print_targets(out, cgroup);
	print_meters(out);
	print_workloads(out, cgroup);
	print_configurations(out, cgroup);
}
