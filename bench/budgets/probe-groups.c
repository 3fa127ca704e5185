/* SPDX-License-Identifier: MIT */
/* What a group costs in time and memory, and an object in one of very many groups. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

enum { NR_OBJECTS = 10, OBJECT_BYTES = 64, NR_REPEATS = 1000, NR_FEW = 100, NR_MORE = 1000 };

static void groups_destroy(struct umemcg **groups, uint64_t nr_groups)
{
	for (uint64_t i = 0; i < nr_groups; i++)
		probe_expect(umemcg_destroy(groups[i]) == 0, "a group could not be destroyed");
	free(groups);
}

/*
 * Bytes of a group: of all where there are many. Where there are few their pages are mostly empty,
 * so it is what each of a thousand more would take.
 */
static double group_bytes(uint64_t nr_groups)
{
	bool few = nr_groups <= NR_FEW;
	uint64_t nr_counted = few ? NR_MORE : nr_groups;
	struct umemcg **existing = probe_groups_create(NULL, few ? nr_groups : 1);
	struct umemcg **counted;
	uint64_t before, after;

	before = probe_anonymous_bytes();
	counted = probe_groups_create(existing[0], nr_counted);
	/* The list of pointers is the probe's own. */
	after = probe_anonymous_bytes() - nr_counted * sizeof(struct umemcg *);
	groups_destroy(counted, nr_counted);
	groups_destroy(existing, few ? nr_groups : 1);
	return (double)(after - before) / (double)nr_counted;
}

/* Few groups are made and removed again and again, many only once. */
void probe_groups(uint64_t nr_groups)
{
	unsigned int nr_repeats = nr_groups <= NR_FEW ? NR_REPEATS : 1;
	double start, create_ns = 0, destroy_ns = 0;
	double nr_bytes = group_bytes(nr_groups);

	for (unsigned int i = 0; i < nr_repeats; i++) {
		struct umemcg **groups;

		start = probe_cpu_ns();
		groups = probe_groups_create(NULL, nr_groups);
		create_ns += probe_cpu_ns() - start;
		start = probe_cpu_ns();
		groups_destroy(groups, nr_groups);
		destroy_ns += probe_cpu_ns() - start;
	}
	probe_print("group_create_us", create_ns / 1e3 / (double)nr_groups / nr_repeats);
	probe_print("group_destroy_us", destroy_ns / 1e3 / (double)nr_groups / nr_repeats);
	probe_print("group_bytes", nr_bytes);
}

static const char *writable_cgroup_folder(void)
{
	static const char *const folders[] = { "/sys/fs/cgroup/memory", "/sys/fs/cgroup",
					       "/sys/fs/cgroup/unified" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char procs[256];

		snprintf(procs, sizeof(procs), "%s/cgroup.procs", folders[i]);
		if (access(procs, F_OK) == 0 && access(folders[i], W_OK) == 0)
			return folders[i];
	}
	return NULL;
}

/* The kernel's side: a folder of our own with a name that tells whose it is, and all below it. */
void probe_cgroups(uint64_t nr_groups)
{
	const char *folder = writable_cgroup_folder();
	double start, create_ns, destroy_ns;
	char path[256], name[32];
	uint64_t nr_made = 0;
	int top;

	if (!folder)
		probe_skip("no cgroup folder that this user may write");
	snprintf(path, sizeof(path), "%s/umemcg-budgets-%d", folder, (int)getpid());
	if (mkdir(path, 0755) != 0)
		probe_skip("the cgroup folder does not take a new group");
	top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	start = probe_now_ns();
	for (; nr_made < nr_groups; nr_made++) {
		snprintf(name, sizeof(name), "g%llu", (unsigned long long)nr_made);
		if (mkdirat(top, name, 0755) != 0)
			break;
	}
	create_ns = probe_now_ns() - start;
	start = probe_now_ns();
	for (uint64_t i = 0; i < nr_made; i++) {
		snprintf(name, sizeof(name), "g%llu", (unsigned long long)i);
		unlinkat(top, name, AT_REMOVEDIR);
	}
	destroy_ns = probe_now_ns() - start;
	close(top);
	rmdir(path);
	probe_expect(nr_made == nr_groups, "a kernel cgroup could not be created");
	probe_print("kernel_mkdir_us", create_ns / 1e3 / (double)nr_groups);
	probe_print("kernel_rmdir_us", destroy_ns / 1e3 / (double)nr_groups);
}

/* What this process takes with so many groups, and so many objects in each. */
static void print_resident(uint64_t nr_groups, uint64_t nr_objects_each)
{
	struct umemcg **groups = probe_groups_create(NULL, nr_groups);

	for (uint64_t i = 0; i < nr_groups; i++) {
		umemcg_enter(groups[i]);
		for (uint64_t j = 0; j < nr_objects_each; j++) {
			uint64_t *object = umemcg_malloc(OBJECT_BYTES);

			probe_expect(object, "an allocation failed");
			*object = j;
		}
	}
	probe_print("resident_bytes", (double)probe_resident_bytes());
}

void probe_resident_many(uint64_t nr_groups)
{
	print_resident(nr_groups, NR_OBJECTS);
}

void probe_resident_one(uint64_t nr_groups)
{
	print_resident(1, nr_groups * NR_OBJECTS);
}

void probe_resident_groups(uint64_t nr_groups)
{
	print_resident(nr_groups, 0);
}

/* In a program of its own, so that no measurement sees another's memory, or lacks what it shares.
 */
static double resident_of(const char *probe, uint64_t number)
{
	char argument[24], line[64] = "";
	double resident = 0;
	int ends[2], status;
	ssize_t length;
	pid_t child;

	snprintf(argument, sizeof(argument), "%llu", (unsigned long long)number);
	probe_expect(pipe2(ends, O_CLOEXEC) == 0, "no pipe");
	child = fork();
	probe_expect(child >= 0, "no child");
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execl("/proc/self/exe", "budget-probe", probe, argument, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	length = read(ends[0], line, sizeof(line) - 1);
	close(ends[0]);
	probe_expect(waitpid(child, &status, 0) == child && status == 0 && length > 0 &&
			     sscanf(line, "resident_bytes=%lf", &resident) == 1,
		     "the child failed");
	return resident;
}

/* All objects in one group against ten in each of many; and both without any object. */
void probe_tags(uint64_t nr_groups)
{
	double one = resident_of("resident-one", nr_groups);
	double many = resident_of("resident-many", nr_groups);
	double empty = resident_of("resident-groups", nr_groups);
	double nothing = resident_of("resident-groups", 1);

	probe_print("tags_one_group_mib", one / 0x1p20);
	probe_print("tags_many_groups_mib", many / 0x1p20);
	probe_print("tags_ratio", many / one);
	/* The objects alone, without what the process and the groups themselves take. */
	probe_print("tags_objects_ratio", (many - empty) / (one - nothing));
}
