/* SPDX-License-Identifier: MIT */
#include "meters/exact/emulator.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "block.h"
#include "meters/exact/temporary_folder.h"
#include "meters/exact/emulator_left.h"
#include "meters/exact/emulator_program.h"
#include "meters/time/clock.h"
#include "write_all.h"

/* How often those who wait look whether a signal came just before they began to. */
#define LOOK_MS 100

/*
 * From a guest's start to its first word, if none is given. It takes a tenth of that, or less. A
 * kernel that hangs takes processor time too, even where it has halted; that of a busy machine,
 * which others take, does not count.
 */
#define SILENT_CPU_S 60

struct emulator {
	struct temporary_folder folder;
	pid_t pid;
	/* Its other end is open as long as the emulator lives. */
	int lifeline_fd;
	double timeout_s;
	double deadline_s; /* 0 for none */
	double silent_cpu_s;
	bool has_answered;
	bool ended;
	struct emulator_end end;
	char counts[PATH_MAX];
};

/* The child: alone in its process group, in its directory. Says in @failed_fd why it could not. */
static __attribute__((noreturn)) void child_exec(struct emulator *emulator, char *const *argv,
						 int lifeline_fd, int failed_fd, pid_t parent)
{
	static const struct rlimit no_core;
	int error, null, output;

	/* A terminal's Ctrl-C is for the driver alone; should that be killed, so is this. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	setrlimit(RLIMIT_CORE, &no_core);
	fcntl(lifeline_fd, F_SETFD, 0);
	if (fchdir(emulator->folder.lock_fd))
		goto failed;
	null = open("/dev/null", O_RDONLY);
	output = open(EMULATOR_FILE_OUTPUT, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (null < 0 || output < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)
		goto failed;
	execv(argv[0], argv);
failed:
	error = errno;
	if (write(failed_fd, &error, sizeof(error)) < 0)
		_exit(2);
	_exit(1);
}

/* Forks, and waits until the child has become the emulator or says why not. */
static int spawn(struct emulator *emulator, char *const *argv)
{
	int lifeline[2], failed[2], error = 0;
	pid_t parent = getpid();
	ssize_t nr_read;

	if (pipe2(lifeline, O_CLOEXEC))
		return -errno;
	if (pipe2(failed, O_CLOEXEC)) {
		error = -errno;
		close(lifeline[0]);
		close(lifeline[1]);
		return error;
	}
	emulator->pid = fork();
	if (emulator->pid == 0)
		child_exec(emulator, argv, lifeline[1], failed[1], parent);
	error = emulator->pid < 0 ? errno : 0;
	close(lifeline[1]);
	close(failed[1]);
	emulator->lifeline_fd = lifeline[0];
	if (!error) {
		/* Here as in the child: whichever comes first, it can be ended as a group. */
		setpgid(emulator->pid, emulator->pid);
		do
			nr_read = read(failed[0], &error, sizeof(error));
		while (nr_read < 0 && errno == EINTR);
	}
	close(failed[0]);
	return -error;
}

static int write_job(const struct emulator *emulator, const char *job)
{
	int fd = openat(emulator->folder.lock_fd, EMULATOR_FILE_JOB,
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int error = fd < 0 ? -errno : write_all(fd, job, strlen(job));

	if (fd >= 0 && close(fd) && !error)
		error = -errno;
	return error;
}

static int start(struct emulator *emulator, const struct emulator_boot *boot,
		 const struct emulator_program *program, char *error)
{
	struct emulator_arguments arguments;
	int ret = emulator_program_arguments(program, boot, &arguments, error);

	if (ret) {
		emulator_program_free_arguments(&arguments);
		return ret;
	}
	ret = temporary_folder_create(NULL, &emulator->folder);
	if (!ret)
		ret = write_job(emulator, boot->job);
	if (ret)
		emulator_left_explain_folder(&emulator->folder, ret, error);
	if (!ret) {
		ret = spawn(emulator, arguments.argv);
		if (ret)
			snprintf(error, EMULATOR_ERROR, "%.300s cannot be started: %s",
				 program->path, strerror(-ret));
	}
	emulator_program_free_arguments(&arguments);
	return ret;
}

int emulator_start(const struct emulator_boot *boot, struct emulator **ret_emulator, char *error)
{
	const struct emulator_program *program = emulator_program_find();
	struct emulator *emulator;
	int ret;

	if (program->why_not[0]) {
		snprintf(error, EMULATOR_ERROR, "%s", program->why_not);
		return -ENOENT;
	}
	emulator = calloc(1, sizeof(*emulator));
	if (!emulator) {
		snprintf(error, EMULATOR_ERROR, "out of memory");
		return -ENOMEM;
	}
	emulator->lifeline_fd = -1;
	emulator->folder.lock_fd = -1;
	emulator->end.counted = boot->symbols != NULL;
	emulator->timeout_s = boot->timeout_s;
	emulator->silent_cpu_s = boot->silent_cpu_s > 0 ? boot->silent_cpu_s : SILENT_CPU_S;
	emulator->deadline_s = boot->timeout_s > 0 ? clock_now_s() + boot->timeout_s : 0;
	ret = start(emulator, boot, program, error);
	if (ret) {
		emulator_finish(emulator);
		return ret;
	}
	snprintf(emulator->counts, sizeof(emulator->counts), "%s/" EMULATOR_FILE_COUNTS,
		 emulator->folder.path);
	*ret_emulator = emulator;
	return 0;
}

static void reap(struct emulator *emulator)
{
	while (waitpid(emulator->pid, &emulator->end.status, 0) < 0 && errno == EINTR)
		;
	emulator->ended = true;
}

/* It has not been waited for, so that its number is its own. */
static double cpu_time_s(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
		return 0;
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool is_silent(struct emulator *emulator)
{
	emulator->has_answered =
		emulator->has_answered || !emulator_left_is_silent(&emulator->folder);
	return !emulator->has_answered && cpu_time_s(emulator->pid) > emulator->silent_cpu_s;
}

/* Ends it if nothing more is to be expected of it. */
static void end_if_stuck(struct emulator *emulator, double now_s)
{
	struct emulator_end *end = &emulator->end;

	end->halted = emulator_left_has_halted(&emulator->folder);
	if (!end->halted && emulator->deadline_s && now_s > emulator->deadline_s)
		end->timed_out_s = emulator->timeout_s;
	else if (!end->halted && is_silent(emulator))
		end->silent_s = emulator->silent_cpu_s;
	end->killed = end->halted || end->timed_out_s > 0 || end->silent_s > 0;
	if (!end->killed)
		return;
	kill(-emulator->pid, SIGKILL);
	reap(emulator);
}

/* Ends those that are stuck; the first one that has ended, or SIZE_MAX. */
static size_t find_ended(struct emulator *const *emulators, size_t nr_emulators)
{
	double now_s = clock_now_s();

	for (size_t i = 0; i < nr_emulators; i++) {
		struct emulator *emulator = emulators[i];

		if (!emulator)
			continue;
		if (!emulator->ended)
			end_if_stuck(emulator, now_s);
		if (emulator->ended)
			return i;
	}
	return SIZE_MAX;
}

/* Waits for an end, at most @wait_ms, and takes note of those that came. */
static void poll_ends(struct emulator *const *emulators, struct pollfd *poll_fds,
		      size_t nr_emulators, int wait_ms)
{
	for (size_t i = 0; i < nr_emulators; i++)
		poll_fds[i] = (struct pollfd){ .fd = emulators[i] ? emulators[i]->lifeline_fd : -1,
					       .events = POLLIN };
	if (poll(poll_fds, nr_emulators, wait_ms) <= 0)
		return;
	for (size_t i = 0; i < nr_emulators; i++) {
		if (emulators[i] && poll_fds[i].revents)
			reap(emulators[i]);
	}
}

static bool are_none(struct emulator *const *emulators, size_t nr_emulators)
{
	for (size_t i = 0; i < nr_emulators; i++) {
		if (emulators[i])
			return false;
	}
	return true;
}

int emulator_await(struct emulator *const *emulators, size_t nr_emulators, double timeout_s,
		   size_t *ret_index)
{
	double end_s = clock_now_s() + timeout_s, left_s;
	struct pollfd *poll_fds;
	int ret = -EAGAIN;

	if (are_none(emulators, nr_emulators))
		return -EINVAL;
	poll_fds = calloc(nr_emulators, sizeof(*poll_fds));
	if (!poll_fds)
		return -ENOMEM;
	do {
		size_t index = find_ended(emulators, nr_emulators);

		if (index != SIZE_MAX) {
			*ret_index = index;
			ret = 0;
			break;
		}
		if (block_interrupted) {
			ret = -EINTR;
			break;
		}
		left_s = end_s - clock_now_s();
		if (left_s > 0)
			poll_ends(emulators, poll_fds, nr_emulators,
				  left_s * 1000 < LOOK_MS ? (int)(left_s * 1000) + 1 : LOOK_MS);
	} while (left_s > 0);
	free(poll_fds);
	return ret;
}

unsigned int emulator_progress(const struct emulator *emulator)
{
	return emulator_left_blocks(&emulator->folder);
}

int emulator_result(struct emulator *emulator, char **ret_answer, const char **ret_counts,
		    char *error)
{
	*ret_counts = emulator->counts;
	return emulator_left_read(&emulator->folder, &emulator->end, ret_answer, error);
}

void emulator_doubts(const struct emulator *emulator, char *ret_doubts)
{
	emulator_left_doubts(&emulator->folder, ret_doubts);
}

void emulator_finish(struct emulator *emulator)
{
	if (!emulator)
		return;
	if (emulator->pid > 0 && !emulator->ended) {
		kill(-emulator->pid, SIGKILL);
		reap(emulator);
	}
	if (emulator->lifeline_fd >= 0)
		close(emulator->lifeline_fd);
	temporary_folder_remove(&emulator->folder);
	free(emulator);
}
