/* SPDX-License-Identifier: MIT */
/*
 * exec_calls CALL PROGRAM ARGUMENT...: executes a program by one of the calls there are, with an
 * environment that has lost everything. "show" says what has arrived.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include "exec_calls.h"

char *nothing[] = { NULL };
char **arguments;

int wait_for(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child)
		return 99;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

int failed(void)
{
	printf("errno %d\n", errno);
	return 1;
}

/* What has arrived. */
static int show(void)
{
	sigset_t mask;
	size_t nr = 0;

	for (; environ[nr]; nr++)
		if (!strncmp(environ[nr], "UMEMCG_", 7) || !strncmp(environ[nr], "LD_PRELOAD", 10))
			puts(environ[nr]);
	printf("strings %zu\nname %s\ndescriptors", nr, program_invocation_name);
	for (int file = 0; file < 256; file++)
		if (fcntl(file, F_GETFD) >= 0)
			printf(" %d", file);
	printf("\nmask");
	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int number = 1; number < 64; number++)
		if (sigismember(&mask, number) == 1)
			printf(" %d", number);
	puts("");
	for (char **argument = arguments; *argument; argument++)
		printf("argument %s\n", *argument);
	return 0;
}

static int call_execve(void)
{
	execve(arguments[0], arguments, nothing);
	return failed();
}

static int call_execve_null(void)
{
	execve(arguments[0], arguments, NULL);
	return failed();
}

static int call_execv(void)
{
	environ = NULL;
	execv(arguments[0], arguments);
	return failed();
}

static int call_execvp(void)
{
	execvp(arguments[0], arguments);
	return failed();
}

static int call_execvpe(void)
{
	execvpe(arguments[0], arguments, nothing);
	return failed();
}

static int call_execl(void)
{
	clearenv();
	execl(arguments[0], arguments[0], arguments[1], "2", "3", "4", "5", "6", "7", (char *)NULL);
	return failed();
}

static int call_execle(void)
{
	execle(arguments[0], arguments[0], arguments[1], "2", "3", (char *)NULL, nothing);
	return failed();
}

static int call_execlp(void)
{
	execlp(arguments[0], arguments[0], arguments[1], "2", "3", (char *)NULL);
	return failed();
}

static int call_execveat(void)
{
	char *slash = strrchr(arguments[0], '/');
	int folder;

	*slash = '\0';
	folder = open(arguments[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*slash = '/';
	execveat(folder, slash + 1, arguments, nothing, 0);
	return failed();
}

static int call_fexecve(void)
{
	int file = open(arguments[0], O_RDONLY | O_CLOEXEC);

	lseek(file, 3, SEEK_SET);
	fexecve(file, arguments, nothing);
	if (lseek(file, 0, SEEK_CUR) != 3)
		return 98;
	return failed();
}

static int call_fexecve_path(void)
{
	fexecve(open(arguments[0], O_PATH | O_CLOEXEC), arguments, nothing);
	return failed();
}

static int spawned(int error, pid_t child)
{
	errno = error;
	return error ? failed() : wait_for(child);
}

static int call_spawn(void)
{
	pid_t child = -1;
	int error = posix_spawn(&child, arguments[0], NULL, NULL, arguments, nothing);

	return spawned(error, child);
}

static int call_spawnp(void)
{
	pid_t child = -1;
	int error = posix_spawnp(&child, arguments[0], NULL, NULL, arguments, nothing);

	return spawned(error, child);
}

/* Descriptor 7 is a copy of standard output, SIGUSR1 is blocked. */
static int call_spawn_actions(void)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	pid_t child = -1;
	sigset_t mask;
	int error;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, 1, 7);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &mask);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	error = posix_spawn(&child, arguments[0], &actions, &attributes, arguments, nothing);
	return spawned(error, child);
}

static int call_system(void)
{
	clearenv();
	return WEXITSTATUS(system(arguments[0]));
}

static int call_popen(void)
{
	char text[4096];
	FILE *stream;

	clearenv();
	stream = popen(arguments[0], "r");
	while (stream && fgets(text, sizeof(text), stream))
		fputs(text, stdout);
	return stream ? WEXITSTATUS(pclose(stream)) : failed();
}

static int call_wordexp(void)
{
	wordexp_t words;

	clearenv();
	if (wordexp(arguments[0], &words, 0))
		return failed();
	for (size_t i = 0; i < words.we_wordc; i++)
		puts(words.we_wordv[i]);
	return 0;
}

static int call_mask(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return call_execve();
}

static int execute_with(char **strings)
{
	execve(arguments[0], arguments, strings);
	return failed();
}

static int call_changed(void)
{
	static char group[] = "UMEMCG_GROUP=/elsewhere",
		    tree[] = "UMEMCG_TREE=", strict[] = "UMEMCG_STRICT=2",
		    twice[] = "UMEMCG_GROUP=/twice";

	return execute_with((char *[]){ group, tree, strict, twice, NULL });
}

static int call_cmdline(void)
{
	static char meant[] = "UMEMCG_CMDLINE=meant";

	return execute_with((char *[]){ meant, NULL });
}

static int call_preloads(void)
{
	char *strings[] = { arguments[0], NULL };

	execve(arguments[1], arguments + 1, strings);
	return failed();
}

/* A child in a copy of the memory, made behind everybody's back, does not know that it is one. */
static int call_raw_fork(void)
{
	pid_t child = (pid_t)_Fork();

	if (!child)
		return call_execve();
	return wait_for(child);
}

static int call_fork(void)
{
	pid_t child = fork();

	if (!child)
		return call_execve();
	return wait_for(child);
}

static int call_exec_errno(void)
{
	execv(arguments[0], arguments);
	return failed();
}

static const struct {
	const char *name;
	int (*run)(void);
} calls[] = {
	{ "show", show },
	{ "execve", call_execve },
	{ "execve_null", call_execve_null },
	{ "execv", call_execv },
	{ "execvp", call_execvp },
	{ "execvpe", call_execvpe },
	{ "execl", call_execl },
	{ "execle", call_execle },
	{ "execlp", call_execlp },
	{ "execveat", call_execveat },
	{ "fexecve", call_fexecve },
	{ "fexecve_path", call_fexecve_path },
	{ "spawn", call_spawn },
	{ "spawnp", call_spawnp },
	{ "spawn_actions", call_spawn_actions },
	{ "system", call_system },
	{ "popen", call_popen },
	{ "wordexp", call_wordexp },
	{ "vfork_loop", call_vfork_loop },
	{ "vfork_fail", call_vfork_fail },
	{ "vfork_big", call_vfork_big },
	{ "thread", call_thread },
	{ "small_stack", call_small_stack },
	{ "big", call_big },
	{ "big_fail", call_big_fail },
	{ "too_big", call_too_big },
	{ "mask", call_mask },
	{ "changed", call_changed },
	{ "cmdline", call_cmdline },
	{ "preloads", call_preloads },
	{ "raw_fork", call_raw_fork },
	{ "fork", call_fork },
	{ "errno", call_exec_errno },
};

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	arguments = argv + 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(calls[i].name, argv[1]))
			return calls[i].run();
	return 2;
}
