/* SPDX-License-Identifier: MIT */
/*
 * posix_spawn() and its like. libc's child executes by calls that nobody stands before, so the
 * program is recognised and its environment made in the parent.
 *
 * A program that has to be accounted from outside needs a filter in the child. It is started by the
 * launcher (launch.c), which is seen, and executes it as any program would.
 *
 * Not covered: file actions that change the working folder, for a relative path. It is looked for
 * from the parent's folder; what is not found there is spawned as if it were seen.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <string.h>
#include <unistd.h>

#include "exec.h"
#include "exec_search.h"
#include "interpose.h"
#include "raw.h"
#include "real.h"
#include "spawn_program.h"

typedef int spawn_function(pid_t *ret_pid, const char *path,
			   const posix_spawn_file_actions_t *file_actions,
			   const posix_spawnattr_t *attributes, char *const argv[],
			   char *const envp[]);

/* Since glibc 2.39; instead of a pid they return a descriptor. */
spawn_function pidfd_spawn, pidfd_spawnp;

/* Which of them. */
enum { SPAWN, SPAWN_SEARCHED, SPAWN_PIDFD, SPAWN_PIDFD_SEARCHED, NR_SPAWNS };

/* Installed in a folder of its own below the object's; in a build, beside it. */
#define NR_LAUNCHERS 2

static char launchers[NR_LAUNCHERS][PATH_MAX];

struct spawn_call {
	unsigned int function;
	pid_t *ret_pid;
	const char *file;
	const posix_spawn_file_actions_t *file_actions;
	const posix_spawnattr_t *attributes;
	char *const *argv;
	char *const *envp;
};

static spawn_function *real_function(unsigned int which)
{
	static struct real next[NR_SPAWNS] = {
		[SPAWN] = { .name = "posix_spawn" },
		[SPAWN_SEARCHED] = { .name = "posix_spawnp" },
		[SPAWN_PIDFD] = { .name = "pidfd_spawn" },
		[SPAWN_PIDFD_SEARCHED] = { .name = "pidfd_spawnp" },
	};

	return real_find(&next[which]);
}

void spawn_program_init(const char *object)
{
	static const char places[NR_LAUNCHERS][24] = { "umemcg/umemcg-launch", "umemcg-launch" };
	size_t length = (size_t)(strrchr(object, '/') + 1 - object);

	for (int i = 0; i < NR_LAUNCHERS; i++) {
		if (length + sizeof(places[i]) > sizeof(launchers[i]))
			continue;
		memcpy(launchers[i], object, length);
		strcpy(launchers[i] + length, places[i]);
	}
	real_function(SPAWN);
	real_function(SPAWN_SEARCHED);
}

/* NULL: there is none that this process may execute. */
static char *find_launcher(void)
{
	for (int i = 0; i < NR_LAUNCHERS; i++)
		if (*launchers[i] && program_may_execute(AT_FDCWD, launchers[i], 0))
			return launchers[i];
	return NULL;
}

static int spawn_next(const struct spawn_call *call, char *const envp[])
{
	spawn_function *function = real_function(call->function);

	if (!function)
		return ENOSYS;
	return function(call->ret_pid, call->file, call->file_actions, call->attributes, call->argv,
			envp);
}

/* The child has executed, or is gone, when the parent goes on: what was made for it is free. */
static int spawn_with_environment(const struct spawn_call *call, bool is_preloaded)
{
	struct environment_change change = environment_look(call->envp, is_preloaded);
	char on_stack[4096] __attribute__((aligned(sizeof(char *))));
	void *memory = on_stack;
	int error;

	if (!change.is_needed)
		return spawn_next(call, call->envp);
	if (change.nr_bytes > sizeof(on_stack))
		memory = raw_map(change.nr_bytes);
	if (!memory)
		return ENOMEM;
	error = spawn_next(call, environment_make(&change, call->envp, memory));
	if (memory != on_stack)
		raw_unmap(memory, change.nr_bytes);
	return error;
}

static int spawn_by_launcher(const struct spawn_call *call, char *launcher, const char *path)
{
	struct spawn_call launch = *call;
	size_t nr = 0, nr_bytes;
	char **argv;
	int error;

	while (call->argv[nr])
		nr++;
	nr_bytes = (nr + 3) * sizeof(*argv);
	argv = raw_map(nr_bytes);
	if (!argv)
		return ENOMEM;
	argv[0] = launcher;
	argv[1] = (char *)path;
	memcpy(argv + 2, call->argv, (nr + 1) * sizeof(*argv));
	launch.file = launcher;
	launch.argv = argv;
	error = spawn_with_environment(&launch, true);
	raw_unmap(argv, nr_bytes);
	return error;
}

/* The ids that the child executes with. */
static struct program_ids child_ids(const posix_spawnattr_t *attributes)
{
	struct program_ids ids = program_ids_now();
	short flags;

	if (attributes && !posix_spawnattr_getflags(attributes, &flags) &&
	    flags & POSIX_SPAWN_RESETIDS) {
		ids.effective_uid = ids.real_uid;
		ids.effective_gid = ids.real_gid;
	}
	return ids;
}

/* Finds the file that would be executed; its path is the call's or search->path. */
static enum program_kind find(const struct spawn_call *call, struct exec_search *search,
			      const char **ret_path)
{
	const struct program_ids ids = child_ids(call->attributes);
	struct exec_call found = { .directory = AT_FDCWD, .path = call->file };
	bool is_searched =
		call->function == SPAWN_SEARCHED || call->function == SPAWN_PIDFD_SEARCHED;

	*ret_path = call->file;
	if (!is_searched)
		return exec_recognise(&found, &ids);
	if (exec_search_init(search, call->file) < 0)
		return PROGRAM_ABSENT;
	if (!search->rest)
		return exec_recognise(&found, &ids);
	found.path = *ret_path = search->path;
	while (exec_search_next(search)) {
		enum program_kind kind = exec_recognise(&found, &ids);

		if (kind != PROGRAM_ABSENT && program_may_execute(AT_FDCWD, search->path, 0))
			return kind;
	}
	return PROGRAM_ABSENT;
}

static int spawn(const struct spawn_call *call)
{
	struct exec_search search;
	struct exec_call found;
	enum program_kind kind;
	const char *path;
	int r;

	if (!environment_is_limited())
		return spawn_next(call, call->envp);
	kind = find(call, &search, &path);
	if (!program_is_seen(kind) && program_may_execute(AT_FDCWD, path, 0)) {
		bool is_filterable = program_is_filterable(kind) && environment_supervisor();
		char *launcher = is_filterable ? find_launcher() : NULL;

		if (launcher)
			return spawn_by_launcher(call, launcher, path);
		found = (struct exec_call){ .path = path, .argv = call->argv };
		r = exec_let_unseen(&found, kind, 0);
		if (r < 0)
			return -r;
	}
	return spawn_with_environment(call, program_is_preloaded(kind));
}

interposed int posix_spawn(pid_t *ret_pid, const char *path,
			   const posix_spawn_file_actions_t *file_actions,
			   const posix_spawnattr_t *attributes, char *const argv[],
			   char *const envp[])
{
	return spawn(
		&(struct spawn_call){ SPAWN, ret_pid, path, file_actions, attributes, argv, envp });
}

interposed int posix_spawnp(pid_t *ret_pid, const char *file,
			    const posix_spawn_file_actions_t *file_actions,
			    const posix_spawnattr_t *attributes, char *const argv[],
			    char *const envp[])
{
	return spawn(&(struct spawn_call){ SPAWN_SEARCHED, ret_pid, file, file_actions, attributes,
					   argv, envp });
}

interposed int pidfd_spawn(int *ret_pidfd, const char *path,
			   const posix_spawn_file_actions_t *file_actions,
			   const posix_spawnattr_t *attributes, char *const argv[],
			   char *const envp[])
{
	return spawn(&(struct spawn_call){ SPAWN_PIDFD, ret_pidfd, path, file_actions, attributes,
					   argv, envp });
}

interposed int pidfd_spawnp(int *ret_pidfd, const char *file,
			    const posix_spawn_file_actions_t *file_actions,
			    const posix_spawnattr_t *attributes, char *const argv[],
			    char *const envp[])
{
	return spawn(&(struct spawn_call){ SPAWN_PIDFD_SEARCHED, ret_pidfd, file, file_actions,
					   attributes, argv, envp });
}
