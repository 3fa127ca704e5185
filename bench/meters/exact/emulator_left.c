/* SPDX-License-Identifier: MIT */
#include "meters/exact/emulator_left.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "meters/exact/emulator.h"
#include "meters/exact/console.h"
#include "meters/exact/emulator_program.h"

/* All symbols of a kernel are some 6 MB; what is longer was not written by the guest's init. */
#define ANSWER_BYTES_MAX (64u << 20)
/* A panic, its registers and its call trace. */
#define CONSOLE_BYTES_MAX 65536u

/*
 * Reads the last @nr_bytes_max of a file, as text: NUL-terminated, what follows a NUL in it left
 * out. NULL without memory or where it cannot be read.
 */
static char *read_end(const struct temporary_folder *folder, const char *name, size_t nr_bytes_max,
		      bool *ret_whole)
{
	int fd = openat(folder->lock_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	size_t length = 0, size;
	struct stat status;
	char *text = NULL;
	ssize_t nr_read;

	if (fd < 0 || fstat(fd, &status))
		goto out;
	size = (size_t)status.st_size < nr_bytes_max ? (size_t)status.st_size : nr_bytes_max;
	*ret_whole = size == (size_t)status.st_size;
	text = malloc(size + 1);
	while (text && length < size) {
		nr_read = pread(fd, text + length, size - length,
				status.st_size - (off_t)size + (off_t)length);
		if (nr_read <= 0)
			break;
		length += (size_t)nr_read;
	}
	if (text)
		text[length] = '\0';
out:
	if (fd >= 0)
		close(fd);
	return text;
}

static const char *next_line(const char *line)
{
	line = strchr(line, '\n');
	return line ? line + 1 : NULL;
}

unsigned int emulator_left_blocks(const struct temporary_folder *folder)
{
	bool whole;
	char *text = read_end(folder, EMULATOR_FILE_ANSWER, ANSWER_BYTES_MAX, &whole);
	unsigned int nr_blocks = 0;

	/* A line counts once it is whole. */
	for (const char *line = text; line && *line; line = next_line(line))
		nr_blocks += strchr(line, '\n') &&
			     (!strncmp(line, "block ", 6) || !strncmp(line, "failed ", 7));
	free(text);
	return nr_blocks;
}

bool emulator_left_is_silent(const struct temporary_folder *folder)
{
	struct stat status;

	return fstatat(folder->lock_fd, EMULATOR_FILE_ANSWER, &status, 0) || !status.st_size;
}

/* What comes last when a kernel gives up, and cannot or will not end the machine. */
bool emulator_left_has_halted(const struct temporary_folder *folder)
{
	bool whole;
	char *console = read_end(folder, EMULATOR_FILE_CONSOLE, CONSOLE_BYTES_MAX, &whole);
	bool halted = console && (strstr(console, "System halted") ||
				  strstr(console, "---[ end Kernel panic"));

	free(console);
	return halted;
}

/* The last line is "end". */
static bool is_complete(const char *text)
{
	size_t length = text ? strlen(text) : 0;

	return length >= 4 && !strcmp(text + length - 4, "end\n") &&
	       (length == 4 || text[length - 5] == '\n');
}

static bool counts_are_complete(const struct temporary_folder *folder)
{
	bool whole;
	char *text = read_end(folder, EMULATOR_FILE_COUNTS, 64, &whole);
	bool complete = is_complete(text);

	free(text);
	return complete;
}

/* What the guest itself said it could not do, or NULL. */
static const char *guest_error(const char *answer)
{
	for (const char *line = answer; line && *line; line = next_line(line)) {
		if (!strncmp(line, "error ", 6))
			return line + 6;
	}
	return NULL;
}

static char *read_clean(const struct temporary_folder *folder, const char *name)
{
	bool whole;
	char *text = read_end(folder, name, CONSOLE_BYTES_MAX, &whole);

	if (text)
		console_clean(text);
	return text ? text : strdup("");
}

void emulator_left_explain_folder(const struct temporary_folder *folder, int error_code,
				  char *error)
{
	if (error_code == -ENOSPC || error_code == -EDQUOT)
		snprintf(error, EMULATOR_ERROR, "no space left in %.300s", folder->parent);
	else
		snprintf(error, EMULATOR_ERROR, "temporary directory %.300s: %s", folder->parent,
			 strerror(-error_code));
}

/* The emulator gave up: its own last words, and what led to them if there is more. */
static int explain_emulator(const struct temporary_folder *folder, int status, char *error)
{
	char *output = read_clean(folder, EMULATOR_FILE_OUTPUT);
	char line[EMULATOR_ERROR / 4] = "";

	if (output)
		console_last(output, line, sizeof(line));
	if (WIFSIGNALED(status))
		snprintf(error, EMULATOR_ERROR, "the emulator was killed by SIG%s%s%s",
			 sigabbrev_np(WTERMSIG(status)), line[0] ? ": " : "", line);
	else
		snprintf(error, EMULATOR_ERROR, "the emulator gave up: %s",
			 line[0] ? line : "it said nothing");
	if (output && next_line(output) && next_line(output)[0])
		console_append(error, EMULATOR_ERROR, output);
	free(output);
	return -EIO;
}

/* The guest ended, but not as it should have: what it said, or its kernel. */
static int explain_guest(const struct temporary_folder *folder, const struct emulator_end *end,
			 const char *answer, char *error)
{
	const char *said = guest_error(answer);
	char *console = read_clean(folder, EMULATOR_FILE_CONSOLE);
	char reason[CONSOLE_WIDTH + 1];

	if (end->timed_out_s > 0)
		snprintf(error, EMULATOR_ERROR, "did not finish in %.*f s", end->timed_out_s < 10,
			 end->timed_out_s);
	else if (end->silent_s > 0)
		snprintf(error, EMULATOR_ERROR,
			 "did not start its program in %g s of processor time", end->silent_s);
	else if (console && console_panic(console, reason, sizeof(reason)))
		snprintf(error, EMULATOR_ERROR, "its kernel panicked: %s", reason);
	else if (end->halted)
		snprintf(error, EMULATOR_ERROR, "its kernel halted");
	else if (said)
		snprintf(error, EMULATOR_ERROR, "it gave up: %.*s",
			 (int)(strcspn(said, "\n") < 200 ? strcspn(said, "\n") : 200), said);
	else
		snprintf(error, EMULATOR_ERROR, "it ended before its job was done");
	console_clean(error);
	if (console)
		console_append(error, EMULATOR_ERROR, console);
	free(console);
	return end->timed_out_s > 0 || end->silent_s > 0 ? -ETIME : -EIO;
}

int emulator_left_read(const struct temporary_folder *folder, const struct emulator_end *end,
		       char **ret_answer, char *error)
{
	bool whole = true, done, counted;
	int space;

	*ret_answer = read_end(folder, EMULATOR_FILE_ANSWER, ANSWER_BYTES_MAX, &whole);
	if (*ret_answer && (!whole || !**ret_answer)) {
		free(*ret_answer);
		*ret_answer = NULL;
	}
	if (!whole) {
		snprintf(error, EMULATOR_ERROR, "it said more than %u MiB", ANSWER_BYTES_MAX >> 20);
		return -EIO;
	}
	done = is_complete(*ret_answer);
	counted = !end->counted || counts_are_complete(folder);
	if (!end->killed && end->status == 0 && done && counted)
		return 0;
	space = end->killed ? 0 : temporary_folder_check_space(folder);
	if (space) {
		emulator_left_explain_folder(folder, space, error);
		return space == -EDQUOT ? -ENOSPC : space;
	}
	if (!end->killed && end->status)
		return explain_emulator(folder, end->status, error);
	if (end->killed || !done)
		return explain_guest(folder, end, *ret_answer, error);
	snprintf(error, EMULATOR_ERROR, "the counting plug-in left its counts cut short");
	return -EIO;
}

void emulator_left_doubts(const struct temporary_folder *folder, char *ret_doubts)
{
	static const char prefix[] = "umemcg-count: ";
	char *output = read_clean(folder, EMULATOR_FILE_OUTPUT);
	const char *line = output ? strstr(output, prefix) : NULL;

	ret_doubts[0] = '\0';
	if (line) {
		line += strlen(prefix);
		snprintf(ret_doubts, EMULATOR_ERROR, "%.*s", (int)strcspn(line, "\n"), line);
	}
	free(output);
}
