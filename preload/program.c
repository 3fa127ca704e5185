/* SPDX-License-Identifier: MIT */
/*
 * Scripts are followed to what runs them, by the kernel's rules (fs/binfmt_script.c), and what
 * gains privileges is told by its file and the caller's ids, by the rules of fs/exec.c and
 * security/commoncap.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program.h"
#include "program_elf.h"

/* Greatest number of scripts that run scripts; the next one is ELOOP. */
#define MAX_DEPTH 5
/* What the kernel reads of a script's first line. */
#define SCRIPT_LINE_BYTES 256
/* Enough for the headers of nearly every program, so that one read does. */
#define HEAD_BYTES 1024

struct program_ids program_ids_now(void)
{
	struct program_ids ids;
	uid_t saved_uid;
	gid_t saved_gid;

	syscall(SYS_getresuid, &ids.real_uid, &ids.effective_uid, &saved_uid);
	syscall(SYS_getresgid, &ids.real_gid, &ids.effective_gid, &saved_gid);
	return ids;
}

/* A descriptor of one's own for a file that is given by descriptor, at its own position. */
static int open_again(int file)
{
	char path[sizeof("/proc/self/fd/") + 3 * sizeof(file)] = "/proc/self/fd/";
	char digits[3 * sizeof(file)];
	size_t nr_digits = 0, length = strlen(path);
	unsigned int number = (unsigned int)file;
	int again;

	do
		digits[nr_digits++] = (char)('0' + number % 10);
	while (number /= 10);
	while (nr_digits)
		path[length++] = digits[--nr_digits];
	path[length] = '\0';
	again = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	/* Without /proc: one that shares the position, which pread() leaves where it is. */
	return again >= 0 ? again : (int)syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, 0);
}

/*
 * Opens what is a regular file; a device or a pipe would notice. Whoever puts another file there
 * between asking and opening could as well do so between this and exec.
 */
static enum program_kind open_program(int directory, const char *path, int flags,
				      struct statx *status, int *ret_file)
{
	bool by_descriptor = flags & AT_EMPTY_PATH && path && !*path;

	/* As good as nobody's, if it cannot be asked for. */
	*status = (struct statx){};
	if (syscall(SYS_statx, directory, path, flags & (AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW),
		    STATX_TYPE | STATX_MODE | STATX_UID | STATX_GID, status) < 0)
		return errno == ENOSYS || errno == EPERM ? PROGRAM_UNREADABLE : PROGRAM_ABSENT;
	if (!S_ISREG(status->stx_mode) || !(status->stx_mode & 0111))
		return PROGRAM_ABSENT;
	if (by_descriptor)
		*ret_file = open_again(directory);
	else
		*ret_file = (int)syscall(SYS_openat, directory, path,
					 O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
						 (flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0));
	return *ret_file >= 0 ? PROGRAM_PRELOADED : PROGRAM_UNREADABLE;
}

/*
 * Copies the interpreter's name out of a script's first line; false if the kernel would not run it.
 * A name that reaches the end of what is read may be cut off, and is refused.
 */
static bool script_interpreter(const char *line, size_t nr_bytes, char *interpreter)
{
	size_t first = 2, end;

	if (nr_bytes > SCRIPT_LINE_BYTES)
		nr_bytes = SCRIPT_LINE_BYTES;
	while (first < nr_bytes && (line[first] == ' ' || line[first] == '\t'))
		first++;
	for (end = first; end < nr_bytes; end++)
		if (line[end] == ' ' || line[end] == '\t' || line[end] == '\n' || !line[end])
			break;
	if (end == first || end == SCRIPT_LINE_BYTES)
		return false;
	memcpy(interpreter, line + first, end - first);
	interpreter[end - first] = '\0';
	return true;
}

/* Capabilities of a file count for all but root, who has them anyway. */
static bool has_capabilities(int file)
{
	/* The current version and the two before it, of which only the sets' sizes differ. */
	struct {
		uint32_t magic; /* lowest bit: effective */
		struct {
			uint32_t permitted, inheritable;
		} sets[2];
		uint32_t root_id;
	} capabilities = {};

	if (syscall(SYS_fgetxattr, file, "security.capability", &capabilities,
		    sizeof(capabilities)) < 0)
		return false;
	return capabilities.magic & 1 || capabilities.sets[0].permitted ||
	       capabilities.sets[1].permitted;
}

/* Will the kernel set AT_SECURE? It compares the new effective ids with the old real ones. */
static bool is_secure(int file, const struct statx *status, const struct program_ids *ids)
{
	bool sets_uid = status->stx_mode & S_ISUID;
	bool sets_gid = (status->stx_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
	bool capable = ids->real_uid != 0 && file >= 0 && has_capabilities(file);
	struct statfs system;

	if ((sets_uid || sets_gid || capable) &&
	    ((file >= 0 && !syscall(SYS_fstatfs, file, &system) && system.f_flags & ST_NOSUID) ||
	     syscall(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1))
		sets_uid = sets_gid = capable = false;
	return (sets_uid ? status->stx_uid : ids->effective_uid) != ids->real_uid ||
	       (sets_gid ? status->stx_gid : ids->effective_gid) != ids->real_gid || capable;
}

/* True: it is a script, and its interpreter is the next to be looked at. */
static bool read_program(int file, const struct statx *status, const struct program_ids *ids,
			 char *interpreter, enum program_kind *ret_kind)
{
	char head[HEAD_BYTES];
	ssize_t nr_bytes = syscall(SYS_pread64, file, head, sizeof(head), 0);

	if (nr_bytes < 0) {
		*ret_kind = PROGRAM_UNREADABLE;
		return false;
	}
	if (nr_bytes > 2 && !memcmp(head, "#!", 2)) {
		*ret_kind = PROGRAM_OTHER_FORMAT;
		return script_interpreter(head, (size_t)nr_bytes, interpreter);
	}
	*ret_kind = program_elf_kind(file, head, (size_t)nr_bytes);
	if (*ret_kind != PROGRAM_OTHER_FORMAT && is_secure(file, status, ids))
		*ret_kind = PROGRAM_SECURE;
	return false;
}

enum program_kind program_recognise(int directory, const char *path, int flags,
				    const struct program_ids *ids)
{
	char interpreters[2][SCRIPT_LINE_BYTES];

	for (int depth = 0; depth <= MAX_DEPTH; depth++) {
		struct statx status;
		enum program_kind kind;
		bool is_script;
		int file;

		kind = open_program(directory, path, flags, &status, &file);
		if (kind == PROGRAM_UNREADABLE && is_secure(-1, &status, ids))
			return PROGRAM_SECURE;
		if (kind != PROGRAM_PRELOADED)
			return kind;
		is_script = read_program(file, &status, ids, interpreters[depth % 2], &kind);
		syscall(SYS_close, file);
		if (!is_script)
			return kind;
		directory = AT_FDCWD;
		path = interpreters[depth % 2];
		flags = 0;
	}
	return PROGRAM_ABSENT;
}

bool program_may(int directory, const char *path, int flags, int mode)
{
	/* Its number is the same everywhere; older headers do not name it. */
	const long faccessat2 = 439;

	if (!syscall(faccessat2, directory, path, mode,
		     AT_EACCESS | (flags & (AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))))
		return true;
	return errno == ENOSYS || errno == EINVAL || errno == EPERM;
}

const char *program_why(enum program_kind kind)
{
	static const char whys[NR_PROGRAM_KINDS][48] = {
		[PROGRAM_UNREADABLE] = "its file cannot be read",
		[PROGRAM_SECURE] = "it runs with other privileges",
		[PROGRAM_STATIC] = "it is statically linked",
		[PROGRAM_FOREIGN] = "it is for another machine",
		[PROGRAM_OTHER_LOADER] = "its loader is not glibc's",
		[PROGRAM_SANITIZED] = "it is built with a sanitizer",
		[PROGRAM_OTHER_USER] = "it runs as another user",
		[PROGRAM_OUT_OF_REACH] = "the preload object is out of its reach",
	};

	return whys[kind];
}
