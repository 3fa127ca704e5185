/* SPDX-License-Identifier: MIT */
/* The user's own program as a workload: started, and waited for, once an operation. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "meters/exact/guest/block.h"
#include "meters/exact/guest/program.h"
#include "meters/exact/mark.h"
#include "umemcg-marks.h"

#define EXIT_EXEC 127

static void child_exec(char **arguments)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execv(BLOCK_PROGRAM, arguments);
	_exit(EXIT_EXEC);
}

/* What ended it is said in words, since whoever reads them wrote the program. */
static const char *explain(int status)
{
	static char text[64];

	if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "the program, killed by SIG%s",
			 sigabbrev_np(WTERMSIG(status)));
	else if (WEXITSTATUS(status) == EXIT_EXEC)
		snprintf(text, sizeof(text), "the program, not executable or exit status 127");
	else
		snprintf(text, sizeof(text), "the program, exit status %d", WEXITSTATUS(status));
	return text;
}

static int program_run(struct workload_context *context, struct workload_worker *worker,
		       uint64_t nr_operations)
{
	for (; nr_operations > 0; nr_operations--) {
		pid_t pid = fork();
		int status;

		if (pid < 0)
			return workload_fail(worker, "fork");
		if (pid == 0)
			child_exec(context->data);
		if (waitpid(pid, &status, 0) != pid)
			return workload_fail(worker, "waitpid");
		worker->nr_units++;
		if (status) {
			worker->failed = explain(status);
			return -ECHILD;
		}
	}
	return 0;
}

const struct workload program_workload = {
	.name = "program",
	.one_by_one = { true, true },
	.run = program_run,
};

static bool has_mark(const uint8_t *text, size_t nr_bytes)
{
	unsigned int id;

	for (size_t i = 0; i + MARK_NR_BYTES <= nr_bytes; i++) {
		if (mark_read(text + i, &id) && id >= 1 && id <= UMEMCG_MARK_MAX)
			return true;
	}
	return false;
}

bool program_has_marks(void)
{
	int fd = open(BLOCK_PROGRAM, O_RDONLY | O_CLOEXEC);
	bool found = false;
	struct stat status;
	void *text;

	if (fd < 0)
		return false;
	if (!fstat(fd, &status) && status.st_size > 0) {
		text = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (text != MAP_FAILED) {
			found = has_mark(text, (size_t)status.st_size);
			munmap(text, (size_t)status.st_size);
		}
	}
	close(fd);
	return found;
}
