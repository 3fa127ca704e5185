/* SPDX-License-Identifier: MIT */
/*
 * Temporary directories that outlive nobody: each is named after its process and locked by it, so
 * that one which a killed process left behind is known as such and removed by the next.
 */
#ifndef BENCH_METERS_EXACT_TEMPORARY_FOLDER_H
#define BENCH_METERS_EXACT_TEMPORARY_FOLDER_H

#include <limits.h>

struct temporary_folder {
	/* Absolute; "" for none. A path of any file in it fits into PATH_MAX. */
	char path[PATH_MAX - NAME_MAX - 1];
	char parent[PATH_MAX]; /* which it lies in, for a message */
	int lock_fd;
};

/**
 * temporary_folder_create - make a directory umemcg-bench-PID-XXXXXX
 * @parent:     where, or NULL for $TMPDIR, else /tmp
 * @ret_folder: for temporary_folder_remove(); its parent is set even on failure
 *
 * Those of this user in @parent whose process is gone are removed.
 *
 * Return: 0 or a negative errno.
 */
int temporary_folder_create(const char *parent, struct temporary_folder *ret_folder);

/** temporary_folder_remove - remove it and the files in it; a no-op for one without a path */
void temporary_folder_remove(struct temporary_folder *folder);

/**
 * temporary_folder_check_space - can a file there still grow?
 *
 * Return: 0; -ENOSPC, -EDQUOT or another errno of writing one.
 */
int temporary_folder_check_space(const struct temporary_folder *folder);

#endif
