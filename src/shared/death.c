/* SPDX-License-Identifier: MIT */
#include "shared/death.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/size.h"
#include "base/system.h"

/* Fields of /proc/PID/stat; the command in field 2, in brackets, may hold anything. */
enum {
	FIELD_AFTER_STATE = 4,
	FIELD_START_TIME = 22,
	FIELD_START_CODE = 26,
	FIELD_END_CODE,
	FIELD_START_STACK,
};

/* snprintf() is not async-signal-safe. */
void death_path(pid_t pid, const char *file, char path[DEATH_PATH_MAX])
{
	size_t length = strlen("/proc/");

	memcpy(path, "/proc/", length);
	length += size_print_decimal((uint64_t)pid, path + length);
	memcpy(path + length, file, strlen(file) + 1);
}

/* What is asked of /proc/PID/stat. */
struct stat_fields {
	uint32_t start_time; /* lower bits */
	uint64_t image;      /* of where its code and stack begin; 0 if that is not shown */
};

static bool parse_number(const char **at, uint64_t *ret_number)
{
	const char *digit = *at;

	if (*digit == '-')
		digit++;
	if (*digit < '0' || *digit > '9')
		return false;
	for (*ret_number = 0; *digit >= '0' && *digit <= '9'; digit++)
		*ret_number = *ret_number * 10 + (uint64_t)(*digit - '0');
	while (*digit == ' ')
		digit++;
	*at = digit;
	return true;
}

/* Who may not look is shown 1, 1 and 0; of a zombie all are 0. */
static uint64_t image_of(uint64_t start_code, uint64_t end_code, uint64_t start_stack)
{
	if (start_code <= 1 || !start_stack)
		return 0;
	return start_code * 11400714819323198485u ^ (end_code << 1) ^ start_stack;
}

static bool parse_stat(const char *text, struct stat_fields *ret)
{
	uint64_t numbers[FIELD_START_STACK + 1] = { 0 };
	const char *at = strrchr(text, ')');

	if (!at || at[1] != ' ' || !at[2] || at[3] != ' ')
		return false;
	/* Behind the command and the letter of the state. */
	at += 4;
	for (unsigned int field = FIELD_AFTER_STATE; field <= FIELD_START_STACK; field++) {
		if (!parse_number(&at, &numbers[field]))
			return false;
	}
	ret->start_time = (uint32_t)numbers[FIELD_START_TIME];
	ret->image = image_of(numbers[FIELD_START_CODE], numbers[FIELD_END_CODE],
			      numbers[FIELD_START_STACK]);
	return true;
}

/* 0; -ESRCH; or another error: it cannot be told. */
static int read_stat(pid_t pid, struct stat_fields *ret)
{
	char path[DEATH_PATH_MAX], text[1024];
	ssize_t length;

	death_path(pid, "/stat", path);
	length = system_read_file(path, text, sizeof(text) - 1);
	if (length < 0)
		return length == -ENOENT ? -ESRCH : (int)length;
	text[length] = '\0';
	return parse_stat(text, ret) ? 0 : -EIO;
}

int death_name_of(pid_t pid, uint64_t *ret_name)
{
	struct stat_fields fields;

	if (pid <= 0 || read_stat(pid, &fields))
		return -ESRCH;
	*ret_name = death_name(pid, fields.start_time);
	return 0;
}

uint64_t death_image_of(pid_t pid)
{
	struct stat_fields fields;

	return pid > 0 && !read_stat(pid, &fields) ? fields.image : 0;
}

enum life { LIVES, IS_DEAD, CANNOT_BE_TOLD };

/* Opened before anything else is asked, so that it is one process that all answers are about. */
static enum life look(pid_t pid, int *ret_pidfd)
{
	struct pollfd poll_fd = { .events = POLLIN };
	struct timespec at_once = { 0 };
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	*ret_pidfd = pidfd;
	if (pidfd < 0) {
		/* The pid is a thread's of another process by now (two words for that). */
		if (errno == ESRCH || errno == EINVAL || errno == ENOENT)
			return IS_DEAD;
		/* No descriptor left, or no pidfd_open(): a zombie is not told from the living. */
		return kill(pid, 0) && errno == ESRCH ? IS_DEAD : CANNOT_BE_TOLD;
	}
	poll_fd.fd = pidfd;
	/* Called so, it is no point where a thread is cancelled: locks may be held. */
	if (syscall(SYS_ppoll, &poll_fd, 1, &at_once, NULL, 0) != 1)
		return LIVES;
	return poll_fd.revents & POLLIN ? IS_DEAD : LIVES;
}

bool death_of_image(uint64_t name, uint64_t image)
{
	int saved_errno = errno, pidfd = -1;
	pid_t pid = death_pid(name);
	enum life life = IS_DEAD;
	struct stat_fields now;

	/* No process has such a pid, and kill() would take it for a group's. */
	if (pid > 0)
		life = look(pid, &pidfd);
	if (life != IS_DEAD && !read_stat(pid, &now) &&
	    (death_name(pid, now.start_time) != name || (image && now.image && now.image != image)))
		life = IS_DEAD;
	if (pidfd >= 0)
		system_close(pidfd);
	errno = saved_errno;
	return life == IS_DEAD;
}

bool death_of(uint64_t name)
{
	return death_of_image(name, 0);
}

bool death_of_pid(pid_t pid)
{
	int saved_errno = errno, pidfd = -1;
	enum life life = IS_DEAD;

	if (pid > 0)
		life = look(pid, &pidfd);
	if (pidfd >= 0)
		system_close(pidfd);
	errno = saved_errno;
	return life == IS_DEAD;
}

void death_bring(uint64_t name)
{
	int saved_errno = errno;
	pid_t pid = death_pid(name);
	int pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	uint64_t now;

	/* Opened first, so that it is that process's name which is looked at; where the system has
	 * no such descriptors it may be another's between the look and the signal. */
	if (pid > 0 && !death_name_of(pid, &now) && now == name) {
		if (pidfd < 0 ||
		    (syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) && errno != ESRCH))
			kill(pid, SIGKILL);
	}
	if (pidfd >= 0)
		system_close(pidfd);
	errno = saved_errno;
}
