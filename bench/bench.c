/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verb bench: from a command line to tables. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_exact.h"
#include "block.h"
#include "lists.h"
#include "machine.h"
#include "options.h"
#include "output.h"
#include "plan.h"
#include "programs.h"
#include "run.h"
#include "targets/kernel/cgroup.h"

static void note_signal(int signal)
{
	(void)signal;
	block_interrupted = 1;
}

/* Without SA_RESTART: whoever waits for a block is to wake up. A second one ends the hard way. */
void bench_catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND };

	for (unsigned int i = 0; i < 3; i++)
		sigaction(signals[i], &action, NULL);
}

static int complain(const char *what)
{
	output_complain(what);
	return 1;
}

static int find_workers(char *worker, char *worker_not_compiled)
{
	if (programs_find("umemcg-bench-worker", worker) ||
	    programs_find("umemcg-bench-worker-notcompiled", worker_not_compiled))
		return complain(
			"umemcg-bench-worker is neither beside umemcg-bench nor in its libexec/umemcg");
	return 0;
}

/* A plan of which nothing was measured is a failure, however well it is explained. */
static int exit_status(const struct plan *plan, const struct run_outcome *outcome)
{
	if (outcome->interrupted)
		return 128 + SIGINT;
	for (size_t s = 0; s < plan->nr_suites; s++) {
		for (size_t j = 0; j < plan->suites[s].nr_jobs; j++) {
			if (plan->suites[s].jobs[j].nr_samples)
				return 0;
		}
	}
	return complain("nothing could be measured; the reasons stand above");
}

static int measure(const struct bench_options *options, struct cgroup *cgroup, char **argv,
		   const char *notes)
{
	static struct machine machine;
	char worker[PATH_MAX], worker_not_compiled[PATH_MAX];
	struct run_setting setting = { .options = options,
				       .cgroup = cgroup,
				       .worker = worker,
				       .worker_not_compiled = worker_not_compiled,
				       .cpus = machine.cpus };
	struct machine_use start, end;
	struct run_outcome outcome;
	struct plan *plan;
	int status;

	if (find_workers(worker, worker_not_compiled))
		return 1;
	machine_read(&machine, cgroup);
	if (plan_create(options, cgroup, machine.nr_cpus, &plan))
		return complain("out of memory");
	bench_catch_signals();
	start = machine_use();
	status = run_plan(&setting, plan, &outcome);
	end = machine_use();
	/* Before anything is printed: whatever happens to the output, no group stays behind. */
	cgroup_finish(cgroup);
	if (status)
		status = complain("out of memory");
	else
		status = output_publish(&(struct output){ .options = options,
							  .plan = plan,
							  .machine = &machine,
							  .outcome = &outcome,
							  .others = machine_others(&start, &end),
							  .notes = notes,
							  .argv = argv });
	status = status ? status : exit_status(plan, &outcome);
	plan_destroy(plan);
	return status;
}

int bench_main(int argc, char **argv)
{
	struct bench_options options;
	static struct cgroup cgroup;
	const char *notes = NULL;
	int status;

	if (options_parse(argc, argv, &options))
		return 2;
	if (options.get_kernel)
		return bench_exact_get_kernel(&options);
	if (cgroup_find("", &cgroup))
		return complain("/proc/self/mountinfo cannot be read: is /proc mounted?");
	if (options.list) {
		lists_print(stdout, &cgroup);
		return 0;
	}
	if (options.meter == METER_EXACT)
		return bench_exact(&options, &cgroup, argv);
	if (options.targets[WORKLOAD_KERNEL]) {
		if (cgroup_sweep(&cgroup))
			notes = "groups of an earlier run could not be removed: something runs in them";
		cgroup_prepare(&cgroup);
	}
	status = measure(&options, &cgroup, argv, notes);
	cgroup_finish(&cgroup);
	return status;
}
