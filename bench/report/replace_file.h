/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file that is replaced whole or not at all. */
#ifndef UMEMCG_BENCH_REPORT_REPLACE_FILE_H
#define UMEMCG_BENCH_REPORT_REPLACE_FILE_H

#include <stddef.h>

/**
 * replace_file - give a file new content
 * @path:     file to make or replace; a symbolic link stays one
 * @content:  what it will hold
 * @nr_bytes: its length
 *
 * The content is written to a file beside @path and on the disk before it is
 * renamed into place, so no reader and no crash finds half of it; nothing else
 * stays in the directory. What is there and is no regular file (a pipe, a
 * terminal) is written to directly.
 *
 * Return: 0; the negative errno of the step that failed, and @path as it was.
 */
int replace_file(const char *path, const void *content, size_t nr_bytes);

#endif
