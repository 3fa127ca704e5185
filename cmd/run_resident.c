/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "run_resident.h"

void run_resident_add(struct run_resident *resident, pid_t pid)
{
	char path[64], line[128];
	FILE *file;
	uint64_t nr_kib;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Pss_Anon: %" SCNu64, &nr_kib) == 1)
			resident->nr_bytes_anon += nr_kib << 10;
		else if (sscanf(line, "Pss_Shmem: %" SCNu64, &nr_kib) == 1)
			resident->nr_bytes_shmem += nr_kib << 10;
		else if (sscanf(line, "Pss_File: %" SCNu64, &nr_kib) == 1)
			resident->nr_bytes_file += nr_kib << 10;
	}
	fclose(file);
}

uint64_t run_resident_sum(const struct run_resident *resident)
{
	return resident->nr_bytes_anon + resident->nr_bytes_shmem + resident->nr_bytes_file;
}
