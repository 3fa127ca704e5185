/* SPDX-License-Identifier: MIT */
/* Starting one block, and waiting until it is over: init's side. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "meters/exact/guest/block.h"
#include "targets/kernel/cgroup.h"

/* Of the guest's clock, which idle time does not slow down: a block takes a fraction of a second.
 */
#define TIMEOUT_S 60

/* What the child says of itself before exec. */
enum { FAILED_CGROUP = 125, FAILED_EXEC = 127 };

/*
 * Strings and pointers of the environment take the same room in every configuration, whatever is in
 * it, and a little more from one layout to the next.
 */
#define ENVIRONMENT_NR_ENTRIES 16
#define ENVIRONMENT_NR_BYTES   4096
#define LAYOUT_NR_BYTES        272
#define PADDING                "UMEMCG_BENCH_PADDING="

static int write_request(const struct block_request *request, char **arguments)
{
	FILE *file = fopen(BLOCK_REQUEST, "we");
	bool failed;

	if (!file)
		return -errno;
	fwrite(request, sizeof(*request), 1, file);
	for (; arguments && *arguments; arguments++)
		fwrite(*arguments, strlen(*arguments) + 1, 1, file);
	failed = ferror(file);
	return fclose(file) || failed ? -EIO : 0;
}

/* Fills @entries, ended by NULL; the last one is text in @padding. */
static int make_environment(char *const *environment, unsigned int layout, char **entries,
			    char *padding)
{
	size_t room = ENVIRONMENT_NR_BYTES + layout * LAYOUT_NR_BYTES, nr_entries = 0;

	for (; environment && environment[nr_entries]; nr_entries++) {
		size_t taken = strlen(environment[nr_entries]) + 1 + sizeof(char *);

		if (nr_entries == ENVIRONMENT_NR_ENTRIES || taken + sizeof(PADDING) >= room)
			return -E2BIG;
		room -= taken;
		entries[nr_entries] = environment[nr_entries];
	}
	strcpy(padding, PADDING);
	memset(padding + strlen(PADDING), '-', room - sizeof(PADDING));
	padding[room - 1] = '\0';
	entries[nr_entries] = padding;
	entries[nr_entries + 1] = NULL;
	return 0;
}

static void child_exec(const char *procs, char *const *entries)
{
	char *const arguments[] = { (char *)BLOCK_SELF, (char *)BLOCK_OPTION, NULL };
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (procs[0] && cgroup_enter(procs))
		_exit(FAILED_CGROUP);
	execve(BLOCK_SELF, arguments, entries);
	_exit(FAILED_EXEC);
}

/* Waits for @pid, and for whoever was left to init meanwhile; false if it does not end in time. */
static bool await(pid_t pid, int *ret_status)
{
	static const struct timespec timeout = { .tv_sec = TIMEOUT_S };
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		pid_t ended = waitpid(-1, ret_status, WNOHANG);

		if (ended == pid)
			return true;
		if (ended == 0 && sigtimedwait(&child, NULL, &timeout) < 0 && errno == EAGAIN)
			return false;
		if (ended < 0 && errno != EINTR)
			return false;
	}
}

/* Ends all that runs in user space but init itself. */
static void end_all(void)
{
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

static void explain_status(int status, const char *procs, char *failed)
{
	if (WIFSIGNALED(status))
		snprintf(failed, JOB_ERROR, "killed by SIG%s%s", sigabbrev_np(WTERMSIG(status)),
			 WTERMSIG(status) == SIGKILL && procs[0]
				 ? " (its cgroup's limit, as a rule)"
				 : "");
	else if (WEXITSTATUS(status) == FAILED_CGROUP)
		snprintf(failed, JOB_ERROR, "could not enter %.100s", procs);
	else if (WEXITSTATUS(status) == FAILED_EXEC)
		snprintf(failed, JOB_ERROR, "could not execute " BLOCK_SELF);
	else
		snprintf(failed, JOB_ERROR, "exited with status %d", WEXITSTATUS(status));
}

static bool read_report(struct block_report *report)
{
	FILE *file = fopen(BLOCK_REPORT, "re");
	bool complete = file && fread(report, sizeof(*report), 1, file) == 1 && report->over;

	if (file)
		fclose(file);
	return complete;
}

void block_run(const struct guest_job *job, const struct block_request *request, char **arguments,
	       const char *procs, struct block_report *ret_report)
{
	char *entries[ENVIRONMENT_NR_ENTRIES + 2];
	static char padding[ENVIRONMENT_NR_BYTES + JOB_NR_LAYOUTS * LAYOUT_NR_BYTES];
	int error, status;
	bool ended;
	pid_t pid;

	memset(ret_report, 0, sizeof(*ret_report));
	unlink(BLOCK_REPORT);
	error = make_environment(job->environment, request->block.layout, entries, padding);
	if (!error)
		error = write_request(request, arguments);
	pid = error ? 0 : fork();
	if (error || pid < 0) {
		snprintf(ret_report->failed, JOB_ERROR, "starting the block: %s",
			 strerror(error ? -error : errno));
		return;
	}
	if (pid == 0)
		child_exec(procs, entries);
	ended = await(pid, &status);
	end_all();
	if (ended && read_report(ret_report))
		return;
	memset(ret_report, 0, sizeof(*ret_report));
	if (ended)
		explain_status(status, procs, ret_report->failed);
	else
		snprintf(ret_report->failed, JOB_ERROR, "did not end within %d s of the guest's",
			 TIMEOUT_S);
}
