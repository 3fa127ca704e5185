/* SPDX-License-Identifier: MIT */
/* Groups of the lab's own in the kernel's memory controller: made, limited, removed. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "targets/kernel/cgroup.h"
#include "targets/kernel/cgroup_file.h"

#define NAME "umemcg-bench-"

const char *cgroup_version_name(enum cgroup_version version)
{
	static const char *const names[] = { "none", "v1", "v2" };

	return names[version];
}

int cgroup_enter(const char *procs)
{
	return cgroup_file_write(procs, "0");
}

/* A process that has been waited for may still be in its group for a moment. */
static int remove_directory(const char *path)
{
	for (unsigned int attempt = 0; attempt < 200; attempt++) {
		if (!rmdir(path) || errno == ENOENT)
			return 0;
		if (errno != EBUSY)
			break;
		usleep(1000);
	}
	return -errno;
}

/* Removes a group and all below it, the lowest first; a group has no files that need removing. */
static int remove_tree(const char *path)
{
	struct dirent *entry;
	DIR *directory = opendir(path);

	if (!directory)
		return errno == ENOENT ? 0 : -errno;
	while ((entry = readdir(directory))) {
		char below[PATH_MAX];

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		if (!cgroup_file_path(below, path, entry->d_name))
			remove_tree(below);
	}
	closedir(directory);
	return remove_directory(path);
}

/* Switches the controller on for the groups below a v2 group. */
static int enable_below(const char *path)
{
	char file[PATH_MAX], text[512];

	if (cgroup_file_path(file, path, "cgroup.subtree_control"))
		return -ENAMETOOLONG;
	if (cgroup_file_read(file, text, sizeof(text)) >= 0 && strstr(text, "memory"))
		return -EALREADY;
	return cgroup_file_write(file, "+memory");
}

/* A v2 group has processes or children with controllers, not both: so this process makes room. */
static int leave_own_group(struct cgroup *cgroup)
{
	char path[PATH_MAX], name[64], procs[PATH_MAX];
	int error;

	snprintf(name, sizeof(name), NAME "%d-driver", getpid());
	if (cgroup_file_path(path, cgroup->parent, name) ||
	    cgroup_file_path(procs, path, "cgroup.procs"))
		return -ENAMETOOLONG;
	if (mkdir(path, 0755) && errno != EEXIST)
		return -errno;
	error = cgroup_enter(procs);
	cgroup->moved = !error;
	return error;
}

static void return_to_own_group(struct cgroup *cgroup)
{
	char procs[PATH_MAX];

	if (cgroup->moved && !cgroup_file_path(procs, cgroup->own, "cgroup.procs"))
		cgroup_enter(procs);
	cgroup->moved = false;
}

void cgroup_prepare(struct cgroup *cgroup)
{
	bool own = strcmp(cgroup->parent, cgroup->root);
	int error;

	if (!cgroup->can_make || cgroup->version != CGROUP_V2)
		return;
	error = own ? leave_own_group(cgroup) : 0;
	if (!error)
		error = enable_below(cgroup->parent);
	cgroup->enabled = !error;
	if (!error || error == -EALREADY)
		return;
	cgroup->can_make = false;
	snprintf(cgroup->why_not, CGROUP_REASON,
		 error == -EBUSY
			 ? "%.120s holds other processes: start the lab alone in a delegated "
			   "group (systemd-run --user --scope -p Delegate=yes)"
			 : "%.120s cannot have memory cgroups below it",
		 cgroup->parent);
	cgroup_finish(cgroup);
}

/*
 * Removes the lab's groups below the parent that were made by processes which @wanted picks;
 * returns how many could not be removed.
 */
static unsigned int remove_groups(const struct cgroup *cgroup, bool (*wanted)(pid_t pid))
{
	struct dirent *entry;
	unsigned int nr_left = 0;
	DIR *directory = opendir(cgroup->parent);

	if (!directory)
		return 0;
	while ((entry = readdir(directory))) {
		char path[PATH_MAX], *end;
		long pid;

		if (strncmp(entry->d_name, NAME, strlen(NAME)))
			continue;
		pid = strtol(entry->d_name + strlen(NAME), &end, 10);
		if (pid <= 0 || (*end && *end != '-') || !wanted((pid_t)pid))
			continue;
		if (cgroup_file_path(path, cgroup->parent, entry->d_name) || remove_tree(path))
			nr_left++;
	}
	closedir(directory);
	return nr_left;
}

/* A pid may have been given to another program since: only a lab that runs keeps its groups. */
static bool is_stale(pid_t pid)
{
	char path[64], name[32] = "";

	if (pid == getpid())
		return false;
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if (cgroup_file_read(path, name, sizeof(name)) < 0)
		return kill(pid, 0) && errno == ESRCH;
	return strncmp(name, "umemcg-bench", 12) != 0;
}

static bool is_own(pid_t pid)
{
	return pid == getpid();
}

unsigned int cgroup_sweep(const struct cgroup *cgroup)
{
	return cgroup->can_make ? remove_groups(cgroup, is_stale) : 0;
}

void cgroup_finish(struct cgroup *cgroup)
{
	char file[PATH_MAX];

	if (!cgroup->parent[0])
		return;
	/* The groups below must be gone before the controller can be switched off for them. */
	remove_groups(cgroup, is_own);
	if (cgroup->enabled && !cgroup_file_path(file, cgroup->parent, "cgroup.subtree_control"))
		cgroup_file_write(file, "-memory");
	cgroup->enabled = false;
	if (!cgroup->moved)
		return;
	/* And only then does a v2 group take processes again, this one, whose leaf goes last. */
	return_to_own_group(cgroup);
	remove_groups(cgroup, is_own);
}

/* Makes the directories of a group, one for each level; the caller removes what was made. */
static int make_levels(const struct cgroup *cgroup, unsigned int depth, struct cgroup_group *group)
{
	char above[PATH_MAX];

	memcpy(group->directory, group->top, PATH_MAX);
	for (unsigned int level = 1;; level++) {
		int error;

		if (mkdir(group->directory, 0755))
			return -errno;
		if (level == depth)
			return 0;
		error = cgroup->version == CGROUP_V2 ? enable_below(group->directory) : 0;
		if (error && error != -EALREADY)
			return error;
		memcpy(above, group->directory, PATH_MAX);
		if (cgroup_file_path(group->directory, above, "below"))
			return -ENAMETOOLONG;
	}
}

/* A leaf beside the groups that will be made, for the worker that makes them. */
static int make_leaf(const struct cgroup *cgroup, struct cgroup_group *group)
{
	char leaf[PATH_MAX];
	int error = 0;

	if (cgroup_file_path(leaf, group->directory, "worker"))
		return -ENAMETOOLONG;
	if (mkdir(leaf, 0755))
		return -errno;
	if (cgroup->version == CGROUP_V2)
		error = enable_below(group->directory);
	if (error && error != -EALREADY)
		return error;
	return cgroup_file_path(group->procs, leaf, "cgroup.procs");
}

int cgroup_group_create(const struct cgroup *cgroup, const char *name, unsigned int depth,
			bool inner, struct cgroup_group *ret_group)
{
	struct cgroup_group group;
	char full[NAME_MAX + 1];
	int error;

	if (!cgroup->can_make)
		return -EPERM;
	snprintf(full, sizeof(full), NAME "%d-%s", getpid(), name);
	if (cgroup_file_path(group.top, cgroup->parent, full))
		return -ENAMETOOLONG;
	error = make_levels(cgroup, depth, &group);
	if (!error && inner)
		error = make_leaf(cgroup, &group);
	else if (!error)
		error = cgroup_file_path(group.procs, group.directory, "cgroup.procs");
	if (error) {
		remove_tree(group.top);
		return error;
	}
	*ret_group = group;
	return 0;
}

int cgroup_group_destroy(struct cgroup_group *group)
{
	return remove_tree(group->top);
}

int cgroup_group_set_max(const struct cgroup *cgroup, const struct cgroup_group *group,
			 uint64_t nr_bytes)
{
	char path[PATH_MAX], text[32];
	int error;

	error = cgroup_file_path(path, group->directory,
				 cgroup->version == CGROUP_V2 ? "memory.max"
							      : "memory.limit_in_bytes");
	if (error)
		return error;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)nr_bytes);
	return cgroup_file_write(path, text);
}

uint64_t cgroup_group_peak(const struct cgroup *cgroup, const struct cgroup_group *group)
{
	char path[PATH_MAX], text[32];

	if (cgroup_file_path(path, group->directory,
			     cgroup->version == CGROUP_V2 ? "memory.peak"
							  : "memory.max_usage_in_bytes"))
		return 0;
	if (cgroup_file_read(path, text, sizeof(text)) < 0)
		return 0;
	return strtoull(text, NULL, 10);
}
