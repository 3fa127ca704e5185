/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_wait.h"

/* All but those that this process would raise by a fault of its own. */
static void choose_signals(sigset_t *set)
{
	static const int faults[] = { SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP };

	sigfillset(set);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(set, faults[i]);
}

void run_wait_init(struct run_wait *wait)
{
	const struct sigaction reaped_by_us = { .sa_handler = SIG_DFL };
	sigset_t set;

	choose_signals(&set);
	sigprocmask(SIG_BLOCK, &set, &wait->mask);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	sigaction(SIGCHLD, &reaped_by_us, &wait->child_action);
}

void run_wait_restore(const struct run_wait *wait)
{
	sigaction(SIGCHLD, &wait->child_action, NULL);
	sigprocmask(SIG_SETMASK, &wait->mask, NULL);
}

static bool has_terminal(void)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/*
 * Stop by the same signal, so that the shell takes the terminal back and tells why. SIGSTOP is not
 * followed: without a shell that knows, nobody would make this process go on; a shell sends it to
 * the whole job anyhow.
 */
static void stop_alike(pid_t pid, int signal, pthread_mutex_t *lock)
{
	struct sigaction stopping = { .sa_handler = SIG_DFL }, before;
	sigset_t set, mask;

	if (signal == SIGSTOP || !has_terminal())
		return;
	sigemptyset(&set);
	sigaddset(&set, signal);
	pthread_mutex_lock(lock);
	sigaction(signal, &stopping, &before);
	/* Raised first: one from the terminal that waits as well ends with the same SIGCONT. */
	raise(signal);
	pthread_sigmask(SIG_UNBLOCK, &set, &mask);
	/* Here again after SIGCONT, which a shell has sent to the program as well. */
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	sigaction(signal, &before, NULL);
	pthread_mutex_unlock(lock);
	kill(pid, SIGCONT);
}

/*
 * Only what somebody sent to this process; neither what comes from the kernel, as on Ctrl-C, nor
 * what the program has sent to its whole group.
 */
static void pass_on(pid_t pid, const siginfo_t *info)
{
	if (info->si_signo == SIGCHLD || info->si_code > 0)
		return;
	if (info->si_pid == pid || info->si_pid == getpid())
		return;
	if (info->si_code == SI_QUEUE)
		sigqueue(pid, info->si_signo, info->si_value);
	else
		kill(pid, info->si_signo);
}

bool run_wait_reap(void)
{
	pid_t ended;

	do {
		ended = waitpid(-1, NULL, WNOHANG);
	} while (ended > 0);
	return !ended;
}

int run_wait_child(pid_t pid, pthread_mutex_t *lock)
{
	siginfo_t info;
	sigset_t set;
	int status;

	choose_signals(&set);
	for (;;) {
		pid_t changed = waitpid(-1, &status, WNOHANG | WUNTRACED);

		if (changed == pid && !WIFSTOPPED(status)) {
			/* Those that nobody has waited for are orphans from now on. */
			run_wait_reap();
			return status;
		}
		if (changed == pid)
			stop_alike(pid, WSTOPSIG(status), lock);
		else if (changed <= 0 && sigwaitinfo(&set, &info) > 0)
			pass_on(pid, &info);
	}
}

int run_wait_end(int status)
{
	const struct rlimit no_core = { 0, 0 };
	const struct sigaction deadly = { .sa_handler = SIG_DFL };
	sigset_t set;
	int signal;

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	signal = WTERMSIG(status);
	/* The core file is the program's, if there is one. */
	setrlimit(RLIMIT_CORE, &no_core);
	prctl(PR_SET_DUMPABLE, 0);
	sigaction(signal, &deadly, NULL);
	sigemptyset(&set);
	sigaddset(&set, signal);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(signal);
	return 128 + signal;
}
