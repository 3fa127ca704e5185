/* SPDX-License-Identifier: MIT */
/*
 * Files of segments: where they lie, and that nobody but their owner can have put them there.
 *
 * A file is made whole before it gets its name. To lose its name it is locked (flock) first, and by
 * then still the one that the name leads to; so nobody removes a newer one.
 */
#ifndef UMEMCG_SHARED_FILE_H
#define UMEMCG_SHARED_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "umemcg-tree.h"

/** file_directory - umemcg_tree_directory() */
const char *file_directory(void);

/** file_check_name - 0, or -EINVAL if no tree may be called so; NULL too */
int file_check_name(const char *name);

/** file_open - open a segment's file and check it; 0; -ENOENT; -EPERM; -ENOMEM. It may have lost
 * its name since */
int file_open(const char *name, int *ret_fd, struct stat *ret_stat);

/** file_is - does the name lead to this very file? */
bool file_is(const char *name, dev_t device, ino_t inode);

/**
 * file_create - an empty file of mode 0600
 * @is_unnamed: without a name, where the file system has such files
 * @temporary:  path of the temporary name that it has got else, or ""; for the next two
 */
int file_create(bool is_unnamed, char temporary[PATH_MAX], int *ret_fd);

/** file_publish - give it its name; 0; -EEXIST, or another error: then file_discard() it */
int file_publish(int fd, const char *temporary, const char *name);
void file_discard(const char *temporary);

/** file_lock - have the right to remove an open file; 0; -EBUSY if another has it for a second */
int file_lock(int fd);

/** file_unlock - said before closing, since a child forked meanwhile has the file open, too */
void file_unlock(int fd);

/** file_unlink - remove the name of a file that is locked, if it still leads there */
void file_unlink(const char *name, const struct stat *stat);

/** file_walk - call @visit for the name of each file that file_open() would open */
int file_walk(int (*visit)(const char *name, void *arg), void *arg);

#endif
