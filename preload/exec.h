/* SPDX-License-Identifier: MIT */
/*
 * Executing a program so that it stays limited: what all the functions of the exec family, and to
 * some extent those of posix_spawn, come down to.
 *
 * All of it may run in a child of vfork: it allocates on the stack or by raw system calls, takes no
 * lock, and changes nothing of the parent's but errno, as libc's own functions do.
 */
#ifndef UMEMCG_PRELOAD_EXEC_H
#define UMEMCG_PRELOAD_EXEC_H

#include "environment.h"
#include "program.h"

struct exec_call {
	int directory;
	const char *path;
	int flags; /* of execveat() */
	char *const *argv;
	char *const *envp;
};

/** exec_init - find out what stands behind this object, and who began the tree */
void exec_init(void);

/** exec_program - as execveat(): -1 and errno, or it does not return */
int exec_program(const struct exec_call *call);

/** exec_recognise - program_recognise(), and whether the tree is there for its user */
enum program_kind exec_recognise(const struct exec_call *call, const struct program_ids *ids);

/**
 * exec_let_unseen - a program that nothing can account: say so
 * @error: of filter_prepare(); 0: it was not asked
 *
 * Return: 0; -EPERM if it is to be refused.
 */
int exec_let_unseen(const struct exec_call *call, enum program_kind kind, int error);

#endif
