/* SPDX-License-Identifier: MIT */
/*
 * Control files of shared groups: as control/control.h has them for private ones.
 */
#ifndef UMEMCG_SHARED_CONTROL_FILES_H
#define UMEMCG_SHARED_CONTROL_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "shared/segment.h"

/** control_files_name - name of file number @index, or NULL beyond the last one */
const char *control_files_name(unsigned int index);

/** control_files_read - umemcg_tree_read(), of a live group's row */
int control_files_read(struct segment *segment, uint32_t group, const char *file, char *buffer,
		       size_t size);

/** control_files_write - umemcg_tree_write() */
int control_files_write(struct segment *segment, uint32_t group, const char *file,
			const char *value);

/** control_files_get_stat - umemcg_tree_get_stat() */
void control_files_get_stat(const struct segment *segment, uint32_t group,
			    struct umemcg_tree_stat *ret_stat);

#endif
