/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text that comes from outside and ends in files and on terminals. */
#ifndef UMEMCG_BENCH_REPORT_TEXT_H
#define UMEMCG_BENCH_REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A name (workload, configuration, symbol, path) and a line (command line, note), in bytes. */
#define TEXT_NAME_MAX 512
#define TEXT_LINE_MAX 8192

/**
 * text_is_printable - may this be written to a terminal and to a file?
 * @text: any bytes
 *
 * Return: true for UTF-8 without control characters.
 */
bool text_is_printable(const char *text);

/**
 * text_columns - columns that a text takes on a terminal
 * @text: UTF-8
 *
 * Return: its number of code points; wide and combining ones count as one.
 */
size_t text_columns(const char *text);

/**
 * text_copy_name - copy a name
 * @name:     printable, 1 to TEXT_NAME_MAX bytes
 * @ret_copy: for free()
 *
 * Return: 0; -EINVAL for anything else; -ENOMEM.
 */
int text_copy_name(const char *name, char **ret_copy);

/** text_copy_line - as text_copy_name(); NULL and "" give "", up to TEXT_LINE_MAX bytes */
int text_copy_line(const char *line, char **ret_copy);

#endif
