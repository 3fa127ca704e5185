/* SPDX-License-Identifier: MIT */
/* The fast paths in nanoseconds: entering a group, and a charge that the stock covers. */
#include <stdio.h>

#include "probe.h"

enum { NR_SAMPLES = 15, DEPTH_MAX = 16 };

void probe_enter(uint64_t nr_rounds)
{
	struct umemcg *group = probe_group(NULL, "enter", 1 << 30);
	double samples[NR_SAMPLES];

	for (unsigned int i = 0; i < NR_SAMPLES; i++) {
		double start = probe_cpu_ns();

		for (uint64_t j = 0; j < nr_rounds; j++)
			umemcg_enter(umemcg_enter(group));
		samples[i] = (probe_cpu_ns() - start) / (double)nr_rounds;
	}
	probe_print("enter_pair_ns", probe_median(samples, NR_SAMPLES));
	umemcg_destroy(group);
}

static double charge_ns(struct umemcg *group, uint64_t nr_rounds)
{
	double start;

	umemcg_enter(group);
	/* The first charge in a group finds no stock. */
	probe_expect(umemcg_try_charge(group, 64) == 0, "a charge failed");
	umemcg_uncharge(group, 64);
	start = probe_cpu_ns();
	for (uint64_t i = 0; i < nr_rounds; i++) {
		if (umemcg_try_charge(group, 64) != 0)
			probe_expect(false, "a charge failed");
		umemcg_uncharge(group, 64);
	}
	start = (probe_cpu_ns() - start) / (double)nr_rounds;
	umemcg_enter(NULL);
	return start;
}

/* The two depths take turns, so that a change of clock frequency meets both. */
void probe_charge(uint64_t nr_rounds)
{
	struct umemcg *groups[DEPTH_MAX];
	double shallow[NR_SAMPLES], deep[NR_SAMPLES], ratios[NR_SAMPLES];

	for (unsigned int i = 0; i < DEPTH_MAX; i++) {
		char name[32];

		snprintf(name, sizeof(name), "depth%u", i + 1);
		groups[i] = probe_group(i ? groups[i - 1] : NULL, name, 1 << 30);
	}
	for (unsigned int i = 0; i < NR_SAMPLES; i++) {
		shallow[i] = charge_ns(groups[0], nr_rounds);
		deep[i] = charge_ns(groups[DEPTH_MAX - 1], nr_rounds);
		ratios[i] = deep[i] / shallow[i];
	}
	probe_print("charge_pair_ns_depth_1", probe_median(shallow, NR_SAMPLES));
	probe_print("charge_pair_ns_depth_16", probe_median(deep, NR_SAMPLES));
	probe_print("charge_depth_ratio", probe_median(ratios, NR_SAMPLES));
}
