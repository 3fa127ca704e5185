/* SPDX-License-Identifier: MIT */
/* Running one block as a process of its own: a worker of the lab, or a command of the user's. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "block.h"
#include "meters/time/clock.h"
#include "targets/kernel/cgroup.h"
#include "targets/lib/tree.h"

#define REPORT_FD 3
/* How often a block in flight looks whether it is to end. */
#define LOOK_MS 100

volatile sig_atomic_t block_interrupted;

/* What the child says of itself before exec: where the failure was. */
enum { FAILED_CGROUP = 125, FAILED_EXEC = 127 };

/* The child: into its group, its own process group, a quiet standard input. Never returns. */
static void child_exec(const struct block_request *request, int report_fd, bool quiet)
{
	int null = open("/dev/null", O_RDWR);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(null, STDIN_FILENO);
	if (quiet) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	if (report_fd >= 0) {
		dup2(report_fd, REPORT_FD);
		if (report_fd == REPORT_FD)
			fcntl(REPORT_FD, F_SETFD, 0);
	}
	if (request->command_line)
		setenv("UMEMCG_CMDLINE", request->command_line, 1);
	else
		unsetenv("UMEMCG_CMDLINE");
	unsetenv("UMEMCG_TREE");
	if (request->tree_directory) {
		setenv("XDG_RUNTIME_DIR", request->tree_directory, 1);
		setenv("UMEMCG_TREE", LIB_TREE_NAME, 1);
		setenv("UMEMCG_GROUP", "/" LIB_TREE_NAME, 1);
	}
	if (request->procs && cgroup_enter(request->procs))
		_exit(FAILED_CGROUP);
	execvp(request->program, request->argv);
	_exit(FAILED_EXEC);
}

static bool is_over(const struct block_request *request, double start_s)
{
	return block_interrupted ||
	       (request->timeout_s > 0 && clock_now_s() - start_s > request->timeout_s);
}

/* Reads all that comes until the worker closes its end; false if the block was to end before. */
static bool read_report(const struct block_request *request, int fd, double start_s, char *text)
{
	size_t length = 0;

	for (;;) {
		struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
		ssize_t nr_read;

		text[length] = '\0';
		if (is_over(request, start_s))
			return false;
		if (poll(&poll_fd, 1, LOOK_MS) <= 0)
			continue;
		nr_read = read(fd, text + length, PROTOCOL_SIZE - 1 - length);
		if (nr_read == 0 || length == PROTOCOL_SIZE - 1)
			return true;
		length += nr_read > 0 ? (size_t)nr_read : 0;
	}
}

/* Says why a process that ended did not do what it was to do; returns its errno. */
static int explain_status(const struct block_request *request, int status, char *error)
{
	if (WIFSIGNALED(status)) {
		snprintf(error, PROTOCOL_ERROR, "killed by SIG%s%s", sigabbrev_np(WTERMSIG(status)),
			 WTERMSIG(status) == SIGKILL && request->procs
				 ? " (its cgroup's limit, as a rule)"
				 : "");
		return -ECHILD;
	}
	if (WEXITSTATUS(status) == FAILED_CGROUP && request->procs)
		snprintf(error, PROTOCOL_ERROR, "could not enter %.150s", request->procs);
	else if (WEXITSTATUS(status) == FAILED_EXEC)
		snprintf(error, PROTOCOL_ERROR, "could not execute %.150s", request->program);
	else
		snprintf(error, PROTOCOL_ERROR, "exited with status %d", WEXITSTATUS(status));
	return -ECHILD;
}

static int explain_end(const struct block_request *request, char *error)
{
	if (block_interrupted) {
		snprintf(error, PROTOCOL_ERROR, "interrupted");
		return -EINTR;
	}
	snprintf(error, PROTOCOL_ERROR, "did not end within %.0f s", request->timeout_s);
	return -ETIMEDOUT;
}

int block_run_worker(const struct block_request *request, struct protocol_block *ret_block)
{
	char text[PROTOCOL_SIZE];
	int fds[2], status, error;
	double start_s = clock_now_s();
	bool complete;
	pid_t pid;

	memset(ret_block, 0, sizeof(*ret_block));
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid == 0)
		child_exec(request, fds[1], false);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return -errno;
	}
	/* Here as in the child: whichever comes first, it can be ended as a group from now on. */
	setpgid(pid, pid);
	complete = read_report(request, fds[0], start_s, text);
	close(fds[0]);
	/* Its children too: a worker that has reported has no more use for any of them. */
	if (!complete)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	kill(-pid, SIGKILL);
	if (!complete)
		return explain_end(request, ret_block->error);
	error = protocol_parse(text, ret_block);
	if (error)
		return explain_status(request, status, ret_block->error);
	return ret_block->error[0] ? -EBADE : 0;
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

/* Waits for the command; false if it was to end before it did. */
static bool await(const struct block_request *request, pid_t pid, double start_s, int *ret_status,
		  struct rusage *ret_usage)
{
	bool complete = true;

	/* A signal interrupts wait4() and is_over() sees its flag: no need to look every so often.
	 */
	while (wait4(pid, ret_status, 0, ret_usage) < 0 && errno == EINTR) {
		if (complete && is_over(request, start_s)) {
			complete = false;
			kill(-pid, SIGKILL);
		}
	}
	return complete;
}

int block_run_command(const struct block_request *request, struct protocol_block *ret_block)
{
	struct rusage usage = { 0 };
	double start_s, end_s;
	int status;
	pid_t pid;

	memset(ret_block, 0, sizeof(*ret_block));
	start_s = clock_now_s();
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		child_exec(request, -1, true);
	setpgid(pid, pid);
	if (!await(request, pid, start_s, &status, &usage))
		return explain_end(request, ret_block->error);
	end_s = clock_now_s();
	kill(-pid, SIGKILL);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return explain_status(request, status, ret_block->error);
	ret_block->nr_operations = 1;
	ret_block->has_metric[0] = true;
	ret_block->metrics[0] = end_s - start_s;
	ret_block->has_times = true;
	ret_block->user_s = seconds(usage.ru_utime);
	ret_block->system_s = seconds(usage.ru_stime);
	ret_block->elapsed_s = end_s - start_s;
	return 0;
}
