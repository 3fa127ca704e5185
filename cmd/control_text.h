/* SPDX-License-Identifier: MIT */
/* Control files of a group in a tree, read whole. */
#ifndef UMEMCG_CMD_CONTROL_TEXT_H
#define UMEMCG_CMD_CONTROL_TEXT_H

#include "place.h"

/**
 * control_text_read - a file's text without the newline at its end, to be freed
 *
 * Return: 0 or a negative errno.
 */
int control_text_read(const struct place *place, const char *path, const char *file,
		      char **ret_text);

/**
 * control_text_complain - say why @file could not be read or, with a @value, written
 *
 * Return: the exit status.
 */
int control_text_complain(const struct place *place, const char *file, const char *value,
			  int error);

/** control_text_is_file - is there such a control file? */
bool control_text_is_file(const char *file);

#endif
