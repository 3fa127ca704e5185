/* SPDX-License-Identifier: MIT */
/*
 * What of an address space counts: private anonymous mappings that are, or were, writable. Those
 * without any permission do not, nor .bss, the main stack, and what belongs to files.
 */
#ifndef UMEMCG_CMD_MAPS_H
#define UMEMCG_CMD_MAPS_H

#include <stddef.h>
#include <stdint.h>

/** maps_page_align - up to whole pages of 4 KiB, x86-64's; 0 for what no address space can hold */
static inline uint64_t maps_page_align(uint64_t nr_bytes)
{
	return (nr_bytes + 4095) & ~(uint64_t)4095;
}

/** struct maps_range - what to tell apart, and where the program's own parts lie */
struct maps_range {
	uint64_t start, end;      /* of interest; may be empty */
	uint64_t end_data;        /* of struct process_stat */
	uint64_t start_brk;       /* same */
	uint64_t nr_bytes_ignore; /* mappings as large as this were let through; 0: none */
};

/** struct maps_look - sums in bytes */
struct maps_look {
	uint64_t nr_bytes;          /* that count, in the whole address space */
	uint64_t nr_bytes_in_range; /* of these, in the range */
	uint64_t nr_bytes_reserved; /* in the range, private and anonymous, without permissions */
	uint64_t heap_end;          /* end of the pages of the heap, 0: none */
	size_t nr_mappings;
};

/**
 * maps_look_at - add up an open /proc/PID/maps, from its beginning
 *
 * The file stands for the address space that the process had when it was opened.
 *
 * Return: 0; -ESRCH once that address space is gone, by exec or death; another -errno.
 */
int maps_look_at(int fd, const struct maps_range *range, struct maps_look *ret_look);

#endif
