/* SPDX-License-Identifier: MIT */
/*
 * Control files: the names, units and grammar of cgroup v2, in one table.
 */
#ifndef UMEMCG_CONTROL_CONTROL_H
#define UMEMCG_CONTROL_CONTROL_H

#include <stddef.h>

#include "group/group.h"

/** control_file_name - name of file number @index, or NULL beyond the last one */
const char *control_file_name(unsigned int index);

/** control_read - umemcg_read() */
int control_read(struct umemcg *group, const char *file, char *buffer, size_t size);

/** control_write - umemcg_write() */
int control_write(struct umemcg *group, const char *file, const char *value);

#endif
