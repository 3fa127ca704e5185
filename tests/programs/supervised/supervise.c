/* SPDX-License-Identifier: MIT */
/*
 * supervise MAX PROCESS_MAX STATISTICS PROGRAM [ARGUMENT]...
 *
 * Runs a program under the supervisor and a tree of its own, hands its exit status on, and writes
 * the numbers into a file. SIGUSR1 with a value: that process becomes a leaf of its own.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/supervisor.h"
#include "preload/filter.h"
#include "tree.h"

static struct umemcg_tree *tree;
static const char *group;

static void start_program(const char *name, char **argv)
{
	int r;

	setenv(FILTER_ENVIRONMENT, name, 1);
	r = filter_prepare(name);
	if (r) {
		fprintf(stderr, "supervise: %s: %s: %s\n", argv[0], filter_reason(r), strerror(-r));
		if (r == -ENOSYS)
			_exit(77);
		if (r != -EBUSY)
			_exit(125);
	}
	execv(argv[0], argv);
	fprintf(stderr, "supervise: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* A guardian that has nobody left to guard takes a moment to end. */
static int has_children(void)
{
	const struct timespec moment = { .tv_nsec = 10000000 };

	for (int i = 0; i < 200 && waitpid(-1, NULL, WNOHANG) >= 0; i++)
		nanosleep(&moment, NULL);
	return waitpid(-1, NULL, WNOHANG) >= 0;
}

static void write_statistics(const char *path, const struct supervisor *supervisor)
{
	struct umemcg_tree_stat stat;
	struct supervisor_stat seen;
	FILE *file = fopen(path, "w");

	if (!file)
		exit(125);
	umemcg_tree_get_stat(tree, group, &stat);
	supervisor_get_stat(supervisor, &seen);
	fprintf(file,
		"{\"current\": %lu, \"peak\": %lu, \"refused\": %u, \"processes\": %u,\n"
		" \"calls\": %lu, \"refused_calls\": %lu, \"looks\": %lu, \"claimed\": %lu,\n"
		" \"unaccounted\": %lu, \"uncounted\": %lu, \"living\": %lu, \"children\": %d}\n",
		stat.nr_bytes_current, stat.nr_bytes_peak, stat.nr_refused, stat.nr_processes,
		seen.nr_calls, seen.nr_refused, seen.nr_looks, seen.nr_claimed, seen.nr_unaccounted,
		seen.nr_uncounted, seen.nr_living, has_children());
	fclose(file);
}

static pid_t wait_for(pid_t child, int *ret_status)
{
	pid_t pid;

	do {
		pid = waitpid(child, ret_status, 0);
	} while (pid < 0 && errno == EINTR);
	return pid;
}

static void join(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	/* The process asks for itself, and waits for nothing else meanwhile. */
	tree_join(tree, info->si_value.sival_int);
	kill(info->si_value.sival_int, SIGUSR2);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = join, .sa_flags = SA_SIGINFO };
	struct supervisor *supervisor;
	int r, status;
	pid_t child;

	if (argc < 5) {
		fputs("usage: supervise MAX PROCESS_MAX STATISTICS PROGRAM [ARGUMENT]...\n",
		      stderr);
		return 125;
	}
	r = supervisor_create(&supervisor);
	if (r) {
		fprintf(stderr, "supervise: %s\n", strerror(-r));
		return 125;
	}
	tree = tree_create(strtoull(argv[1], NULL, 0), &group);
	sigaction(SIGUSR1, &action, NULL);
	child = fork();
	if (!child)
		start_program(supervisor_name(supervisor), argv + 4);
	r = supervisor_start(supervisor, tree, group, strtoull(argv[2], NULL, 0));
	if (r || wait_for(child, &status) < 0)
		return 125;
	supervisor_stop(supervisor);
	write_statistics(argv[3], supervisor);
	supervisor_destroy(supervisor);
	tree_destroy(tree);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
