/* SPDX-License-Identifier: MIT */
#include "meters/exact/run_captured.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "block.h"
#include "meters/time/clock.h"

/* How often a program that runs is looked at. */
#define LOOK_MS 100

/* This process's environment with messages in English; the strings remain the environment's. */
static char **english_environment(void)
{
	size_t nr = 0, kept = 0;
	char **copy;

	while (environ[nr])
		nr++;
	copy = calloc(nr + 2, sizeof(*copy));
	for (size_t i = 0; copy && i < nr; i++) {
		if (strncmp(environ[i], "LC_ALL=", 7) && strncmp(environ[i], "LANGUAGE=", 9))
			copy[kept++] = environ[i];
	}
	if (copy)
		copy[kept] = (char *)"LC_ALL=C";
	return copy;
}

static int start(const char *const *argv, const char *folder, int output, pid_t *ret_pid)
{
	char **environment = english_environment();
	posix_spawn_file_actions_t actions;
	int error;

	if (!environment)
		return -ENOMEM;
	posix_spawn_file_actions_init(&actions);
	error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	error = error ? error : posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	error = error ? error : posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
	if (!error && folder)
		error = posix_spawn_file_actions_addchdir_np(&actions, folder);
	if (!error)
		error = posix_spawnp(ret_pid, argv[0], &actions, NULL, (char *const *)argv,
				     environment);
	posix_spawn_file_actions_destroy(&actions);
	free(environment);
	return -error;
}

/* Reads until the program and all it started have closed their ends. */
static int read_output(int fd, double deadline_s, char *text)
{
	size_t length = 0;
	char beyond[4096];

	for (;;) {
		struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
		size_t room = RUN_CAPTURED_SIZE - 1 - length;
		ssize_t nr_read;

		text[length] = '\0';
		if (block_interrupted)
			return -EINTR;
		if (deadline_s > 0 && clock_now_s() > deadline_s)
			return -ETIME;
		if (poll(&poll_fd, 1, LOOK_MS) <= 0)
			continue;
		nr_read = read(fd, room ? text + length : beyond, room ? room : sizeof(beyond));
		if (nr_read == 0)
			return 0;
		if (nr_read < 0 && errno != EINTR)
			return -errno;
		if (nr_read > 0 && room)
			length += (size_t)nr_read;
	}
}

int run_captured(const char *const *argv, const char *folder, double timeout_s, char **ret_text,
		 int *ret_status)
{
	double deadline_s = timeout_s > 0 ? clock_now_s() + timeout_s : 0;
	int fds[2], error;
	pid_t pid;

	*ret_text = malloc(RUN_CAPTURED_SIZE);
	if (!*ret_text)
		return -ENOMEM;
	error = pipe2(fds, O_CLOEXEC) ? -errno : 0;
	if (!error) {
		error = start(argv, folder, fds[1], &pid);
		close(fds[1]);
		if (error)
			close(fds[0]);
	}
	if (error) {
		free(*ret_text);
		*ret_text = NULL;
		return error;
	}
	error = read_output(fds[0], deadline_s, *ret_text);
	close(fds[0]);
	if (error)
		kill(pid, SIGKILL);
	while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR)
		;
	return error;
}
