/* SPDX-License-Identifier: MIT */
/* Reading /proc of processes that may end, or become others, at any moment. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process_stat.h"

/* PF_FORKNOEXEC of include/linux/sched.h, which proc(5) shows. */
#define FLAG_FORKED_NOT_EXECUTED 0x40

/* Fields of proc(5), numbered from 1. */
enum {
	FIELD_STATE = 3,
	FIELD_PARENT = 4,
	FIELD_FLAGS = 9,
	FIELD_END_DATA = 46,
	FIELD_START_BRK = 47,
};

static ssize_t read_file(pid_t pid, const char *name, char *buffer, size_t size)
{
	char path[64];
	size_t length = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (length < size) {
		ssize_t n = read(fd, buffer + length, size - length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			n = -errno;
			close(fd);
			return n;
		}
		if (!n)
			break;
		length += (size_t)n;
	}
	close(fd);
	return (ssize_t)length;
}

int process_stat_read(pid_t pid, struct process_stat *ret_stat)
{
	char text[2048];
	ssize_t length = read_file(pid, "stat", text, sizeof(text) - 1);
	uint64_t fields[FIELD_START_BRK + 1] = { 0 };
	char *at;

	if (length < 0)
		return (int)length;
	text[length] = '\0';
	/* The command's name is in brackets, and may hold brackets and spaces. */
	at = strrchr(text, ')');
	if (!at || at + 4 >= text + length)
		return -EPROTO;
	at += 4;
	for (int field = FIELD_STATE + 1; field <= FIELD_START_BRK; field++)
		fields[field] = strtoull(at, &at, 10);
	*ret_stat = (struct process_stat){
		.parent = (pid_t)fields[FIELD_PARENT],
		.has_not_executed = fields[FIELD_FLAGS] & FLAG_FORKED_NOT_EXECUTED,
		.end_data = fields[FIELD_END_DATA],
		.start_brk = fields[FIELD_START_BRK],
	};
	return 0;
}

bool process_stat_has_thread(pid_t pid, pid_t tid)
{
	return !syscall(SYS_tgkill, pid, tid, 0) || errno == EPERM;
}

pid_t process_stat_of_thread(pid_t tid)
{
	char text[1024];
	ssize_t length;
	char *line;

	if (process_stat_has_thread(tid, tid))
		return tid;
	length = read_file(tid, "status", text, sizeof(text) - 1);
	if (length < 0)
		return (pid_t)length;
	text[length] = '\0';
	line = strstr(text, "\nTgid:");
	return line ? (pid_t)atoi(line + sizeof("\nTgid:") - 1) : -EPROTO;
}

static bool has_interpreter(pid_t pid)
{
	Elf64_auxv_t vector[64];
	ssize_t length = read_file(pid, "auxv", (char *)vector, sizeof(vector));

	for (ssize_t i = 0; i < length / (ssize_t)sizeof(vector[0]); i++)
		if (vector[i].a_type == AT_BASE)
			return vector[i].a_un.a_val != 0;
	return false;
}

int process_stat_read_environment(pid_t pid, struct process_environment *environment)
{
	ssize_t length =
		read_file(pid, "environ", environment->text, sizeof(environment->text) - 1);

	environment->length = length < 0 ? 0 : (size_t)length;
	environment->text[environment->length] = '\0';
	return length < 0 ? (int)length : 0;
}

const char *process_stat_variable(const struct process_environment *environment, const char *name)
{
	const char *end = environment->text + environment->length;
	size_t length = strlen(name);

	for (const char *at = environment->text; at < end; at += strlen(at) + 1)
		if (!strncmp(at, name, length) && at[length] == '=')
			return at + length + 1;
	return NULL;
}

/* LD_PRELOAD names it. */
bool process_stat_may_account_itself(pid_t pid)
{
	/* Of the one thread that asks. */
	static struct process_environment environment;
	const char *preload;

	if (!has_interpreter(pid) || process_stat_read_environment(pid, &environment))
		return false;
	preload = process_stat_variable(&environment, "LD_PRELOAD");
	return preload && strstr(preload, "umemcg");
}
