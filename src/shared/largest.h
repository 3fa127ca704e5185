/* SPDX-License-Identifier: MIT */
/* The largest processes below a group, for messages. */
#ifndef UMEMCG_SHARED_LARGEST_H
#define UMEMCG_SHARED_LARGEST_H

#include <stdint.h>

#include "shared/segment.h"

struct largest {
	uint32_t process;
	uint64_t nr_bytes; /* of its own */
};

/** largest_find - the largest first; how many. A pass over all processes; allocates nothing */
unsigned int largest_find(const struct segment *segment, uint32_t group,
			  struct largest ret[UMEMCG_NR_CONSUMERS]);

/** largest_command - a process's command, terminated, and nothing in it that moves a cursor */
void largest_command(const struct segment *segment, uint32_t process, char command[16]);

#endif
