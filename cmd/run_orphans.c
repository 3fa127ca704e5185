/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process_stat.h"
#include "run_orphans.h"
#include "run_wait.h"

/* A parent that cannot be seen has ended, or is hidden, and then nobody of ours. */
#define NR_TRIES 10

static bool is_descendant(pid_t pid)
{
	struct process_stat stat;
	unsigned int nr_tries = 0;
	pid_t at = pid;

	while (at > 0) {
		if (!process_stat_read(at, &stat)) {
			if (stat.parent == getpid())
				return true;
			at = stat.parent;
		} else if (at == pid || ++nr_tries == NR_TRIES) {
			return false;
		} else {
			/* It has ended meanwhile, so that its children have another parent. */
			at = pid;
		}
	}
	return false;
}

/*
 * Does its environment lead to the group, or to one below? Not that of children which this process
 * had before it was `umemcg run'. In the middle of exec, or of one too long to be read, it cannot
 * be told: then it is taken for one of the group.
 */
static bool is_of_group(const struct place *place, pid_t pid)
{
	static struct process_environment environment;
	const char *tree, *group;

	if (process_stat_read_environment(pid, &environment))
		return false;
	if (!environment.length || environment.length == sizeof(environment.text) - 1)
		return true;
	tree = process_stat_variable(&environment, "UMEMCG_TREE");
	group = process_stat_variable(&environment, "UMEMCG_GROUP");
	return tree && group && !strcmp(tree, place->tree_name) &&
	       place_is_below(group, place->path);
}

/* In the order of pids, so that one that is made meanwhile is met later. */
bool run_orphans_claim(const struct place *place)
{
	bool has_any = false;
	struct dirent *entry;
	DIR *directory;

	if (!run_wait_reap())
		return false;
	directory = opendir("/proc");
	if (!directory)
		return true;
	while ((entry = readdir(directory))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		uint32_t leaf;

		if (pid <= 0 || !is_descendant(pid) || !is_of_group(place, pid))
			continue;
		if (umemcg_tree_is_accounted(place->tree, pid) ||
		    umemcg_tree_claim(place->tree, place->path, pid, UMEMCG_MAX, &leaf) != -ESRCH)
			has_any = true;
	}
	closedir(directory);
	return has_any;
}
