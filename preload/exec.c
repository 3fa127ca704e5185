/* SPDX-License-Identifier: MIT */
/*
 * The order before an exec: recognise the program, have it accounted from outside if this object
 * will not be in it, put the environment back, leave the tree, execute.
 *
 * The call goes to the next object's execve(), which is libc's, a bare system call, unless another
 * preloaded library stands there. `umemcg run' sets the variables of its program on purpose, so it
 * uses the bare system call, which nobody stands before.
 */
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exec.h"
#include "filter.h"
#include "own_memory.h"
#include "raw.h"
#include "real.h"
#include "tell.h"

/* An environment of some 500 strings. Threads' stacks may be as small as 16 KiB. */
#define MAX_STACK_BYTES 4096

static int (*real_execve)(const char *path, char *const argv[], char *const envp[]);
static int (*real_execveat)(int directory, const char *path, char *const argv[], char *const envp[],
			    int flags);
static uid_t tree_uid;

void exec_init(void)
{
	static struct real execve_found = { .name = "execve" };
	static struct real execveat_found = { .name = "execveat" };

	/* Now, since a child of vfork may not ask the loader. */
	real_execve = real_find(&execve_found);
	real_execveat = real_find(&execveat_found);
	tree_uid = program_ids_now().effective_uid;
}

static int call_next(const struct exec_call *call, char *const envp[])
{
	if (call->directory == AT_FDCWD && !call->flags)
		return real_execve ? real_execve(call->path, call->argv, envp)
				   : (int)syscall(SYS_execve, call->path, call->argv, envp);
	return real_execveat
		       ? real_execveat(call->directory, call->path, call->argv, envp, call->flags)
		       : (int)syscall(SYS_execveat, call->directory, call->path, call->argv, envp,
				      call->flags);
}

enum program_kind exec_recognise(const struct exec_call *call, const struct program_ids *ids)
{
	enum program_kind kind = program_recognise(call->directory, call->path, call->flags, ids);

	if (kind != PROGRAM_PRELOADED)
		return kind;
	/* The tree's file is there for its owner alone. */
	if (ids->effective_uid != tree_uid)
		return PROGRAM_OTHER_USER;
	return program_may(AT_FDCWD, environment_object(), 0, R_OK) ? kind : PROGRAM_OUT_OF_REACH;
}

/* Adds what fits. Returns the new end, which has the NUL. */
static char *append(char *end, const char *limit, const char *text)
{
	while (*text && end + 1 < limit)
		*end++ = *text++;
	*end = '\0';
	return end;
}

int exec_let_unseen(const struct exec_call *call, enum program_kind kind, int error)
{
	const char *name = call->path, *outcome = ": not accounted";
	char text[192], *limit = text + sizeof(text), *end = text;

	if (!*name)
		name = call->argv && call->argv[0] ? call->argv[0] : "a program";
	if (kind == PROGRAM_UNREADABLE)
		outcome = ": perhaps not accounted";
	if (environment_is_strict())
		outcome = ": refused";
	end = append(end, limit, program_why(kind));
	if (error) {
		end = append(end, limit, ", ");
		end = append(end, limit, filter_reason(error));
	}
	append(end, limit, outcome);
	tell_unseen(name, text);
	return environment_is_strict() ? -EPERM : 0;
}

/* Gives a program that this object will not be in to the supervisor, if there is one. */
static int admit(const struct exec_call *call, enum program_kind kind)
{
	int r = 0;

	/* Nothing is prepared or said for an exec that is going to fail. */
	if (program_is_seen(kind) || !program_may_execute(call->directory, call->path, call->flags))
		return 0;
	if (program_is_filterable(kind) && environment_supervisor()) {
		r = filter_prepare(environment_supervisor());
		/* Under a filter that nobody answers, the program could map nothing. */
		if (!r || r == -EIO)
			return r;
	}
	return exec_let_unseen(call, kind, r);
}

static int execute(const struct exec_call *call, char *const envp[])
{
	call_next(call, envp);
	return -1;
}

/* A function of its own, so that only who needs the room has it on the stack. */
static __attribute__((__noinline__)) int execute_on_stack(const struct exec_call *call,
							  const struct environment_change *change)
{
	return execute(call, environment_make(change, call->envp, alloca(change->nr_bytes)));
}

/*
 * What a child of vfork maps stays in its parent, so it is kept for the thread's next child: that
 * thread waits until its child has executed or exited, and uses no memory of an earlier one's.
 * Another model of thread-local memory might allocate here.
 */
static __thread struct {
	void *memory;
	size_t nr_bytes;
} kept_for_children __attribute__((tls_model("initial-exec")));

static int execute_mapped(const struct exec_call *call, const struct environment_change *change)
{
	bool ours = own_memory_is_ours();
	void *memory = ours ? NULL : kept_for_children.memory;
	int error;

	if (!memory || kept_for_children.nr_bytes < change->nr_bytes) {
		if (memory)
			raw_unmap(memory, kept_for_children.nr_bytes);
		memory = raw_map(change->nr_bytes);
		if (!ours) {
			kept_for_children.memory = memory;
			kept_for_children.nr_bytes = change->nr_bytes;
		}
		if (!memory) {
			errno = ENOMEM;
			return -1;
		}
	}
	execute(call, environment_make(change, call->envp, memory));
	error = errno;
	if (ours)
		raw_unmap(memory, change->nr_bytes);
	errno = error;
	return -1;
}

int exec_program(const struct exec_call *call)
{
	struct environment_change change;
	struct program_ids ids;
	enum program_kind kind;
	int r;

	if (!environment_is_limited())
		return call_next(call, call->envp);
	ids = program_ids_now();
	kind = exec_recognise(call, &ids);
	r = admit(call, kind);
	if (r < 0) {
		errno = -r;
		return -1;
	}
	change = environment_look(call->envp, program_is_preloaded(kind));
	if (!change.is_needed)
		return execute(call, call->envp);
	if (change.nr_bytes <= MAX_STACK_BYTES)
		return execute_on_stack(call, &change);
	return execute_mapped(call, &change);
}
