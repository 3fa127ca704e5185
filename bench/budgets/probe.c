/* SPDX-License-Identifier: MIT */
/* Picks the probe that the command line names; and what the probes have in common. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "probe.h"

static const struct {
	const char *name;
	void (*run)(uint64_t number);
	uint64_t number;
	const char *meaning;
} probes[] = {
	{ "enter", probe_enter, 2000000, "enters another group and comes back so many times" },
	{ "charge", probe_charge, 2000000, "charges and uncharges so often at depth 1 and 16" },
	{ "scaling", probe_scaling, 250, "one and two threads in a group, so many ms each" },
	{ "groups", probe_groups, 1000000, "creates and destroys so many groups" },
	{ "cgroups", probe_cgroups, 1000, "mkdir and rmdir of so many kernel cgroups" },
	{ "tags", probe_tags, 10000, "so many groups with ten objects of 64 bytes each" },
	{ "resident-one", probe_resident_one, 10000, "its part: all objects in one group" },
	{ "resident-many", probe_resident_many, 10000, "its part: ten in each of so many groups" },
	{ "resident-groups", probe_resident_groups, 10000, "its part: so many groups, no object" },
	{ "hammer", probe_hammer, 1500, "fills a group from four threads for so many ms" },
	{ "refusal", probe_refusal, 100000, "a refusal beside so many siblings" },
	{ "files", probe_files, 10000, "reads every file of so many groups" },
};

void probe_expect(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "budget-probe: wrong: %s\n", what);
	exit(1);
}

void probe_skip(const char *why)
{
	printf("SKIP: %s\n", why);
	exit(77);
}

void probe_print(const char *name, double value)
{
	printf("%s=%.9g\n", name, value);
}

struct umemcg *probe_group(struct umemcg *parent, const char *name, uint64_t max)
{
	struct umemcg *group;

	probe_expect(umemcg_create(parent, name, &group) == 0, "a group could not be created");
	if (max != UMEMCG_MAX)
		probe_expect(umemcg_set_max(group, max) == 0, "a limit could not be set");
	return group;
}

struct umemcg **probe_groups_create(struct umemcg *parent, uint64_t nr_groups)
{
	struct umemcg **groups = calloc(nr_groups, sizeof(struct umemcg *));
	char name[32];

	probe_expect(groups, "no memory");
	for (uint64_t i = 0; i < nr_groups; i++) {
		snprintf(name, sizeof(name), "g%llu", (unsigned long long)i);
		probe_expect(umemcg_create(parent, name, &groups[i]) == 0,
			     "a group could not be created");
	}
	return groups;
}

static double clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

double probe_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

double probe_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

double probe_median(double *values, unsigned int nr_values)
{
	qsort(values, nr_values, sizeof(values[0]), compare_doubles);
	return (values[(nr_values - 1) / 2] + values[nr_values / 2]) / 2;
}

/* From smaps_rollup: the counters behind statm and status lag behind by some pages a processor. */
static uint64_t rollup_bytes(const char *format)
{
	FILE *rollup = fopen("/proc/self/smaps_rollup", "re");
	unsigned long long nr_kib = 0;
	char line[256];

	probe_expect(rollup, "/proc/self/smaps_rollup cannot be read");
	while (fgets(line, sizeof(line), rollup)) {
		if (sscanf(line, format, &nr_kib) == 1)
			break;
	}
	fclose(rollup);
	return nr_kib * 1024;
}

uint64_t probe_resident_bytes(void)
{
	return rollup_bytes("Rss: %llu kB");
}

uint64_t probe_anonymous_bytes(void)
{
	return rollup_bytes("Anonymous: %llu kB");
}

static int usage(void)
{
	fprintf(stderr, "usage: budget-probe PROBE [NUMBER], where PROBE is one of\n");
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		fprintf(stderr, "  %-8s %s (%llu)\n", probes[i].name, probes[i].meaning,
			(unsigned long long)probes[i].number);
	return 2;
}

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 3)
		return usage();
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		uint64_t number = probes[i].number;

		if (strcmp(argv[1], probes[i].name) != 0)
			continue;
		if (argc == 3) {
			char *end;

			errno = 0;
			number = strtoull(argv[2], &end, 10);
			if (errno || *end || argv[2][0] < '0' || argv[2][0] > '9' || !number)
				return usage();
		}
		probes[i].run(number);
		return 0;
	}
	return usage();
}
