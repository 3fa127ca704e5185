/* SPDX-License-Identifier: MIT */
/* How much memory the test itself has resident. Sanitizers' shadow memory counts as well. */
#ifndef UMEMCG_TESTS_RESIDENT_H
#define UMEMCG_TESTS_RESIDENT_H

#include <stddef.h>
#include <stdio.h>

/* Of every mapping at this moment: the counters in /proc/self/status lag behind. */
static inline size_t resident_bytes(void)
{
	char line[256];
	size_t nr_kib = 0;
	FILE *file = fopen("/proc/self/smaps_rollup", "r");

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Rss: %zu", &nr_kib) == 1)
			break;
	}
	if (file)
		fclose(file);
	return nr_kib << 10;
}

#endif
