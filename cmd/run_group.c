/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"
#include "run_group.h"
#include "run_wait.h"
#include "verb.h"

/* How much of a command's name is used: less than UMEMCG_NAME_MAX, with room for a number. */
#define COMMAND_PART 64

/* How long, and how often, a tree is tried to be removed that others look at. */
#define LOOK_NS  2000000
#define NR_LOOKS 5

/* How often a group is made that others remove. */
#define NR_TRIES 100

/* The path up to level @level; returns its length, or 0 beyond the last level. */
static size_t path_length_of_level(const char *path, unsigned int level)
{
	size_t length = 0;

	while (level--) {
		if (!path[length])
			return 0;
		length += 1 + strcspn(path + length + 1, "/");
	}
	return length;
}

/* Makes the group and what is missing above it; *@ret_made as run_group.level_made. */
static int make_path(struct run_group *group, unsigned int *ret_made)
{
	const char *path = group->place.path;
	char upper[UMEMCG_PATH_MAX];
	unsigned int made = 0;
	size_t length;

	for (unsigned int level = 1; (length = path_length_of_level(path, level)); level++) {
		int error;

		if (level > place_level(path))
			break;
		memcpy(upper, path, length);
		upper[length] = '\0';
		error = umemcg_tree_create(group->place.tree, upper);
		if (error && error != -EEXIST) {
			group->level_made = made;
			return error;
		}
		if (error)
			made = 0;
		else if (!made)
			made = level;
	}
	*ret_made = made;
	return 0;
}

/* The last part of CMD, as far as it can be in a group's name. */
static void name_after(const char *command, char name[COMMAND_PART])
{
	const char *slash = strrchr(command, '/');

	snprintf(name, COMMAND_PART, "%s", slash ? slash + 1 : command);
	for (char *c = name; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '_';
	if (!*name || *name == '@' || !strncmp(name, "memory.", 7) || !strncmp(name, "cgroup.", 7))
		snprintf(name, COMMAND_PART, "run");
}

/* A name may be taken by a group that somebody else of this pid has left behind. */
static int make_fresh(struct run_group *group, const char *command)
{
	char top[UMEMCG_PATH_MAX], name[COMMAND_PART];
	int error = -EEXIST;

	name_after(command, name);
	strcpy(top, strcmp(group->place.path, "/") ? group->place.path : "");
	for (unsigned int i = 0; error == -EEXIST && i < 1000; i++) {
		char suffix[32] = "";
		int length;

		if (i)
			snprintf(suffix, sizeof(suffix), ".%u", i);
		length = snprintf(group->place.path, sizeof(group->place.path), "%s/%s-%d%s", top,
				  name, (int)getpid(), suffix);
		if ((size_t)length >= sizeof(group->place.path))
			return -ENAMETOOLONG;
		error = umemcg_tree_create(group->place.tree, group->place.path);
	}
	if (!error)
		group->level_made = place_level(group->place.path);
	return error;
}

static int set_file(struct run_group *group, const char *option, const char *file,
		    const char *value)
{
	int error = umemcg_tree_write(group->place.tree, group->place.path, file, value);

	switch (error) {
	case 0:
		return 0;
	case -EBUSY:
		arguments_refuse("run",
				 "warning: %s holds more than %s already; nothing more is "
				 "admitted until it holds less",
				 group->place.path, option);
		return 0;
	case -ENOENT:
		arguments_refuse("run", "%s: not supported by this tree yet", option);
		break;
	case -EINVAL:
		arguments_refuse("run", "%s: %s takes no such limit; another --group is accepted",
				 option, group->place.path);
		break;
	default:
		arguments_refuse("run", "%s: %s", option, strerror(-error));
		break;
	}
	return EXIT_RUN_FAILED;
}

static int set_limit(struct run_group *group, const char *option, const char *file,
		     uint64_t nr_bytes)
{
	char value[24];

	snprintf(value, sizeof(value), "%" PRIu64, nr_bytes);
	return set_file(group, option, file, nr_bytes == UMEMCG_MAX ? "max" : value);
}

static int set_limits(struct run_group *group, const struct run_options *options)
{
	const struct {
		const char *option, *file;
		const struct run_limit *limit;
	} limits[] = {
		{ "--max", "memory.max", &options->max },
		{ "--reserve", "memory.reserve", &options->reserve },
		{ "--high", "memory.high", &options->high },
		{ "--min", "memory.min", &options->min },
		{ "--low", "memory.low", &options->low },
	};
	int status = 0;

	for (size_t i = 0; !status && i < sizeof(limits) / sizeof(limits[0]); i++)
		/* A reserve is also there if it was not asked for. */
		if (limits[i].limit->text || limits[i].limit->nr_bytes)
			status = set_limit(group, limits[i].option, limits[i].file,
					   limits[i].limit->nr_bytes);
	if (!status && options->oom_policy)
		status = set_file(group, "--oom", "memory.oom.policy", options->oom_policy);
	return status;
}

int run_group_make(struct run_group *group, const struct run_options *options)
{
	int status = place_init(&group->place, "run", options->tree_name,
				options->group ? options->group : ".");
	int error = 0;

	group->level_made = 0;
	group->has_orphans = false;
	if (status || place_open(&group->place, true))
		return EXIT_RUN_FAILED;
	/* Whoever ran in it before may be removing it, until it is held. */
	for (unsigned int i = 0; i < NR_TRIES; i++) {
		error = options->group ? make_path(group, &group->level_made)
				       : make_fresh(group, options->command[0]);
		if (!error)
			error = umemcg_tree_hold(group->place.tree, group->place.path);
		if (error != -ENOENT)
			break;
	}
	if (error)
		place_complain_group(&group->place, group->place.path, error);
	if (error || set_limits(group, options)) {
		run_group_remove(group);
		return EXIT_RUN_FAILED;
	}
	return 0;
}

/* Somebody who only looks holds a tree up for a moment; processes that stay are not waited for. */
static void remove_tree(const char *name, unsigned int nr_looks)
{
	const struct timespec moment = { .tv_nsec = LOOK_NS };

	while (umemcg_tree_unlink(name) == -EBUSY && --nr_looks)
		nanosleep(&moment, NULL);
}

/*
 * A tree without processes would be made anew by whoever comes next, so it goes, whoever has made
 * it: several runs end in any order.
 */
void run_group_remove(struct run_group *group)
{
	char *path = group->place.path;
	unsigned int level = group->level_made ? place_level(path) : 0;
	char upper[UMEMCG_PATH_MAX];
	struct umemcg_tree_stat stat;
	bool is_empty;

	/* Whoever lives on may leave the tree to a child that has not begun. */
	if (group->has_orphans && run_wait_reap()) {
		place_close(&group->place);
		return;
	}
	umemcg_tree_hold(group->place.tree, NULL);
	for (; level && level >= group->level_made; level--) {
		size_t length = path_length_of_level(path, level);

		memcpy(upper, path, length);
		upper[length] = '\0';
		if (umemcg_tree_destroy(group->place.tree, upper))
			break;
	}
	is_empty = !umemcg_tree_get_stat(group->place.tree, "/", &stat) && !stat.nr_processes;
	/* Closed first: of several that end at once, the last one finds nobody. */
	place_close(&group->place);
	remove_tree(group->place.tree_name, is_empty ? NR_LOOKS : 1);
}
