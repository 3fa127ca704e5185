/* SPDX-License-Identifier: MIT */
/*
 * What a file would be as a program, told before it is executed: will the preload object be there?
 *
 * Everything here may run in a child of vfork: system calls and the stack, nothing else. What a
 * file holds is believed for as long as it does no harm: reads are bounded, and whatever makes no
 * sense is left to the kernel, which says so to the caller of exec.
 */
#ifndef UMEMCG_PRELOAD_PROGRAM_H
#define UMEMCG_PRELOAD_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

enum program_kind {
	PROGRAM_PRELOADED,    /* of this machine, with glibc's loader */
	PROGRAM_ABSENT,       /* nothing there that could be executed */
	PROGRAM_OTHER_FORMAT, /* neither ELF nor script: ENOEXEC, unless the kernel knows more */
	PROGRAM_UNREADABLE,   /* may be executed, perhaps, but not looked at */
	PROGRAM_SECURE,       /* gains privileges: its loader ignores the preload */
	PROGRAM_STATIC,
	PROGRAM_FOREIGN,      /* another machine's, or of another word size */
	PROGRAM_OTHER_LOADER, /* another libc's: the preload object would stop it from starting */
	PROGRAM_SANITIZED,    /* built with a runtime that ends it if another object comes first */
	PROGRAM_OTHER_USER,   /* may not open the tree of the user who began it */
	PROGRAM_OUT_OF_REACH, /* its loader would not find the preload object, as in a chroot */
	NR_PROGRAM_KINDS
};

/* The ids that a program is executed with. */
struct program_ids {
	uid_t real_uid, effective_uid;
	gid_t real_gid, effective_gid;
};

struct program_ids program_ids_now(void);

/**
 * program_recognise - tell what execveat() of the same arguments would run
 * @flags: AT_EMPTY_PATH and AT_SYMLINK_NOFOLLOW, as for execveat()
 * @ids:   of whoever executes it
 *
 * Follows "#!" as deep as the kernel does. Leaves no descriptor open; changes errno.
 */
enum program_kind program_recognise(int directory, const char *path, int flags,
				    const struct program_ids *ids);

/**
 * program_may - access() for the effective ids
 * @mode: X_OK: is it worth preparing for? Only exec itself can tell for sure
 */
bool program_may(int directory, const char *path, int flags, int mode);

static inline bool program_may_execute(int directory, const char *path, int flags)
{
	return program_may(directory, path, flags, X_OK);
}

/** program_is_seen - nothing needs doing for it but the environment */
static inline bool program_is_seen(enum program_kind kind)
{
	return kind <= PROGRAM_OTHER_FORMAT;
}

/** program_is_filterable - may its memory be accounted from outside, as far as one can tell? */
static inline bool program_is_filterable(enum program_kind kind)
{
	return kind >= PROGRAM_STATIC;
}

/**
 * program_is_preloaded - should its loader be told of the preload object?
 *
 * Those last ones would not start, complain, or find that they may not join the tree, and so would
 * all that they execute. The others pass it on to what they execute.
 */
static inline bool program_is_preloaded(enum program_kind kind)
{
	return kind < PROGRAM_OTHER_LOADER;
}

/** program_why - why the preload object cannot account it, for people */
const char *program_why(enum program_kind kind);

#endif
