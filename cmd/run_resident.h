/* SPDX-License-Identifier: MIT */
/* What the kernel says that processes really hold, from /proc/PID/smaps_rollup. */
#ifndef UMEMCG_CMD_RUN_RESIDENT_H
#define UMEMCG_CMD_RUN_RESIDENT_H

#include <stdint.h>
#include <sys/types.h>

/** struct run_resident - bytes; a page that several processes hold counts in shares */
struct run_resident {
	uint64_t nr_bytes_anon;
	uint64_t nr_bytes_shmem; /* shared memory, and files in memory */
	uint64_t nr_bytes_file;
};

/** run_resident_add - add those of a process; one that is gone has none */
void run_resident_add(struct run_resident *resident, pid_t pid);

uint64_t run_resident_sum(const struct run_resident *resident);

#endif
