/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arguments.h"
#include "own_folder.h"
#include "run_child.h"
#include "umemcg-tree.h"
#include "umemcg.h"
#include "verb.h"

#define OBJECT "libumemcg-preload.so"

/*
 * Beside the command in a build, else where it is installed: relative to the command, so that a
 * whole installation can be moved.
 */
static const char *const object_places[] = {
	"%s/" OBJECT,
	"%s/../" COMMAND_LIBDIR "/" OBJECT,
};

char *run_child_find_object(void)
{
	char folder[PATH_MAX], path[PATH_MAX + sizeof(COMMAND_LIBDIR) + 64];
	int error = own_folder(folder);
	char *object;

	if (error) {
		arguments_refuse("run", "/proc is needed: %s", strerror(-error));
		return NULL;
	}
	for (size_t i = 0; i < sizeof(object_places) / sizeof(object_places[0]); i++) {
		snprintf(path, sizeof(path), object_places[i], folder);
		object = realpath(path, NULL);
		if (object && !access(object, R_OK))
			break;
		free(object);
		object = NULL;
	}
	if (!object)
		arguments_refuse("run",
				 OBJECT " is neither in %s nor in its libraries' folder %s/../%s",
				 folder, folder, COMMAND_LIBDIR);
	else if (strpbrk(object, ": "))
		arguments_refuse("run", "%s: the loader accepts no path with blanks or colons",
				 object);
	else
		return object;
	free(object);
	return NULL;
}

/* Objects that are preloaded already stay, behind ours. */
static int prepare_preload(const char *object)
{
	const char *others = getenv("LD_PRELOAD");
	size_t length = strlen(object);
	char *value;
	int failed;

	if (others && !strncmp(others, object, length) && strchr(": ", others[length]))
		return 0;
	if (asprintf(&value, "%s%s%s", object, others && *others ? ":" : "", others ? others : "") <
	    0)
		return -ENOMEM;
	failed = setenv("LD_PRELOAD", value, 1);
	free(value);
	return failed ? -ENOMEM : 0;
}

/* Within another run a process is never allowed more than that run allows it. */
static int prepare_process_max(uint64_t process_max)
{
	const char *outer = getenv("UMEMCG_PROCESS_MAX");
	char value[24];

	if (process_max == UMEMCG_MAX)
		return 0;
	if (outer && *outer >= '0' && *outer <= '9' && strtoull(outer, NULL, 10) < process_max)
		return 0;
	snprintf(value, sizeof(value), "%" PRIu64, process_max);
	return setenv("UMEMCG_PROCESS_MAX", value, 1) ? -ENOMEM : 0;
}

int run_child_prepare(const struct run_environment *environment, const char *object)
{
	int error = prepare_preload(object);

	error = error ? error : prepare_process_max(environment->process_max);
	if (error || setenv("UMEMCG_TREE", environment->tree_name, 1) ||
	    setenv("UMEMCG_RUNTIME_DIR", umemcg_tree_directory(), 1) ||
	    setenv("UMEMCG_GROUP", environment->group, 1) ||
	    (environment->is_strict && setenv("UMEMCG_STRICT", "1", 1)))
		return -ENOMEM;
	if (!environment->supervisor)
		return unsetenv("UMEMCG_SUPERVISOR") ? -ENOMEM : 0;
	return setenv("UMEMCG_SUPERVISOR", environment->supervisor, 1) ? -ENOMEM : 0;
}

static char **make_words(char *const *command)
{
	static char name[] = "umemcg", verb[] = "run-program";
	size_t nr_words = 0;
	char **words;

	while (command[nr_words])
		nr_words++;
	words = calloc(nr_words + 3, sizeof(*words));
	if (!words)
		return NULL;
	words[0] = name;
	words[1] = verb;
	memcpy(words + 2, command, nr_words * sizeof(*words));
	return words;
}

int run_child_start(char *const *command, const struct run_wait *wait, pid_t *ret_pid)
{
	char **words = make_words(command);
	pid_t pid;

	if (!words)
		return -ENOMEM;
	pid = fork();
	if (!pid) {
		run_wait_restore(wait);
		/* By number: within another run the object would put its environment back. */
		syscall(SYS_execve, "/proc/self/exe", words, environ);
		arguments_refuse("run", "/proc/self/exe: %s", strerror(errno));
		_exit(EXIT_RUN_FAILED);
	}
	free(words);
	if (pid < 0)
		return -errno;
	*ret_pid = pid;
	return 0;
}
