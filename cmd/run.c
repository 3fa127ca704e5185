/* SPDX-License-Identifier: MIT */
/* run: an unmodified program in a group of a shared tree. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "run_child.h"
#include "run_group.h"
#include "run_options.h"
#include "run_orphans.h"
#include "run_pressure.h"
#include "run_summary.h"
#include "run_wait.h"
#include "run_watch.h"
#include "supervise.h"
#include "verb.h"

static struct run {
	struct run_options options;
	struct run_group group;
	struct run_summary summary;
	struct run_watch watch;
	struct run_wait wait;
	char *object;
} run;

/* A limit that nothing enforces is said, and refused where strictness was asked for. */
static int check_state(void)
{
	if (umemcg_state() == UMEMCG_ENABLED)
		return 0;
	if (run.options.is_strict || umemcg_state() == UMEMCG_NOT_COMPILED) {
		arguments_refuse("run", "nothing is counted: accounting is %s",
				 umemcg_state() == UMEMCG_DISABLED ? "off, see $UMEMCG_CMDLINE"
								   : "not built in");
		return EXIT_RUN_FAILED;
	}
	arguments_refuse("run", "warning: nothing is counted: accounting is off, see "
				"$UMEMCG_CMDLINE");
	return 0;
}

static int start(pid_t *ret_pid)
{
	struct run_environment environment = {
		.tree_name = run.group.place.tree_name,
		.group = run.group.place.path,
		.process_max = run.options.max_process.text ? run.options.max_process.nr_bytes
							    : UMEMCG_MAX,
		.is_strict = run.options.is_strict,
	};
	int error;

	/* Without a supervisor the preload object says of each such program that nobody accounts
	 * it. */
	supervise_start(environment.tree_name, environment.group, environment.process_max,
			&environment.supervisor);
	/* Without it programs do as if they were not told of pressure anywhere. */
	run_pressure_start(&run.group.place);
	error = run_child_prepare(&environment, run.object);
	error = error ? error : run_child_start(run.options.command, &run.wait, ret_pid);
	if (!error)
		return 0;
	run_pressure_stop();
	supervise_stop();
	arguments_refuse("run", "no process could be started: %s", strerror(-error));
	return EXIT_RUN_FAILED;
}

/* From the program's start to its end; its status as of wait() in *@ret_status. */
static int run_program(int *ret_status)
{
	struct run_summary *summary = run.options.wants_summary ? &run.summary : NULL;
	int exit_status;
	int error;
	pid_t pid;

	run_watch_init(&run.watch, &run.group.place, summary);
	exit_status = start(&pid);
	if (exit_status)
		return exit_status;
	error = run_watch_start(&run.watch, pid);
	if (error)
		arguments_refuse("run", "warning: what happens will be told at the end: %s",
				 strerror(-error));
	*ret_status = run_wait_child(pid, &run.watch.lock);
	run_watch_stop(&run.watch);
	run_pressure_stop();
	supervise_stop();
	run.group.has_orphans = run_orphans_claim(&run.group.place);
	if (summary)
		run_summary_end(summary, *ret_status);
	return 0;
}

int verb_run(int argc, char **argv)
{
	int exit_status;
	int status = 0;
	int error;

	if (run_options_parse(argc, argv, &run.options))
		return EXIT_RUN_FAILED;
	exit_status = check_state();
	if (exit_status)
		return exit_status;
	run.object = run_child_find_object();
	if (!run.object)
		return EXIT_RUN_FAILED;
	exit_status = run_group_make(&run.group, &run.options);
	if (exit_status)
		return exit_status;
	error = run_summary_init(&run.summary, &run.group.place, run.options.command,
				 run.options.summary_file);
	if (error) {
		arguments_refuse("run", "--summary=%s: %s; a file that can be written is accepted",
				 run.options.summary_file, strerror(-error));
		run_group_remove(&run.group);
		return EXIT_RUN_FAILED;
	}
	run_wait_init(&run.wait);
	exit_status = run_program(&status);
	run_group_remove(&run.group);
	return exit_status ? exit_status : run_wait_end(status);
}
