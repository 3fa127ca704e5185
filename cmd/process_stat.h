/* SPDX-License-Identifier: MIT */
/* What /proc/PID/stat, auxv and environ say of a process. */
#ifndef UMEMCG_CMD_PROCESS_STAT_H
#define UMEMCG_CMD_PROCESS_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** struct process_stat - addresses are 0 if the process may not be looked into */
struct process_stat {
	pid_t parent;
	bool has_not_executed; /* since the fork that made it */
	uint64_t end_data;     /* of the program's file; what follows on the next page is .bss */
	uint64_t start_brk;    /* where the heap begins */
};

/** process_stat_read - 0 or -errno: -ENOENT, -ESRCH if there is no such process */
int process_stat_read(pid_t pid, struct process_stat *ret_stat);

/** process_stat_of_thread - the process that a thread belongs to, or a negative errno */
pid_t process_stat_of_thread(pid_t tid);

/** process_stat_has_thread - is a living thread one of this process's? One short system call */
bool process_stat_has_thread(pid_t pid, pid_t tid);

/** struct process_environment - what a program was started with; what does not fit is not seen */
struct process_environment {
	size_t length; /* 0 also while it is being executed */
	char text[256u << 10];
};

/** process_stat_read_environment - 0 or -errno: -EACCES if the process may not be looked into */
int process_stat_read_environment(pid_t pid, struct process_environment *environment);

/** process_stat_variable - a variable's value, as getenv() has it */
const char *process_stat_variable(const struct process_environment *environment, const char *name);

/**
 * process_stat_may_account_itself - has it a dynamic linker, and the preload object to load?
 *
 * Whether it does is seen only when it has become a leaf of the tree.
 */
bool process_stat_may_account_itself(pid_t pid);

#endif
