/* SPDX-License-Identifier: MIT */
/* Reads every control file of very many groups, each of which holds something. */
#include <errno.h>

#include "probe.h"

enum { NR_SAMPLES = 5 };

static uint64_t read_all(struct umemcg *group)
{
	uint64_t nr_files = 0;
	char buffer[4096];

	for (unsigned int i = 0; umemcg_control_file(i); i++) {
		int length = umemcg_read(group, umemcg_control_file(i), buffer, sizeof(buffer));

		/* memory.reclaim is only written. */
		if (length == -EACCES)
			continue;
		probe_expect(length >= 0, "a control file could not be read");
		nr_files++;
	}
	return nr_files;
}

void probe_files(uint64_t nr_groups)
{
	struct umemcg **groups = probe_groups_create(NULL, nr_groups);
	double samples[NR_SAMPLES];
	uint64_t nr_files = 0;

	for (uint64_t i = 0; i < nr_groups; i++)
		probe_expect(umemcg_malloc_in(groups[i], 64 + i % 512), "an allocation failed");
	for (unsigned int i = 0; i < NR_SAMPLES; i++) {
		double start = probe_cpu_ns();

		nr_files = 0;
		for (uint64_t j = 0; j < nr_groups; j++)
			nr_files += read_all(groups[j]);
		samples[i] = (probe_cpu_ns() - start) / 1e6;
	}
	probe_expect(nr_files >= nr_groups, "no control file could be read");
	probe_print("files_each", (double)nr_files / (double)nr_groups);
	probe_print("files_ms", probe_median(samples, NR_SAMPLES));
}
