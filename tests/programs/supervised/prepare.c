/* SPDX-License-Identifier: MIT */
/*
 * prepare HOW PROGRAM [ARGUMENT]...: what a process does that is about to execute a static program.
 * HOW: "plain"; "filtered", below another filter; "forbidden", where seccomp() is EPERM.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/filter.h"

static void install_filter(unsigned int forbidden)
{
	struct sock_filter instructions[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, forbidden, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, instructions };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)) {
		perror("prepare: seccomp");
		exit(125);
	}
}

int main(int argc, char **argv)
{
	const char *name = getenv(FILTER_ENVIRONMENT);
	int r;

	if (argc < 3 || !name)
		return 125;
	if (!strcmp(argv[1], "filtered"))
		install_filter(SYS_personality);
	else if (!strcmp(argv[1], "forbidden"))
		install_filter(SYS_seccomp);
	r = filter_prepare(name);
	if (r)
		fprintf(stderr, "prepare: %s: %s\n", argv[2], filter_reason(r));
	execv(argv[2], argv + 2);
	return 127;
}
