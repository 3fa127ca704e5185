/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "place.h"
#include "tree_names.h"
#include "verb.h"

#define NAMES_LISTED 8

bool place_is_below(const char *path, const char *top)
{
	size_t length = strlen(top);

	if (!strcmp(top, "/"))
		return true;
	return !strncmp(path, top, length) && (path[length] == '/' || path[length] == '\0');
}

unsigned int place_level(const char *path)
{
	unsigned int level = 0;

	if (!strcmp(path, "/"))
		return 0;
	for (; *path; path++)
		level += *path == '/';
	return level;
}

/* "/" and what stands before and behind a path's names is put right; empty names are not. */
static bool write_path(char path[UMEMCG_PATH_MAX], const char *top, const char *below)
{
	size_t length;

	if (!strcmp(top, "/") || below[0] == '/')
		top = "";
	if (below[0] == '/')
		below++;
	length = (size_t)snprintf(path, UMEMCG_PATH_MAX, "%s%s%s", top, *below ? "/" : "", below);
	if (length >= UMEMCG_PATH_MAX)
		return false;
	if (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	if (!length)
		snprintf(path, UMEMCG_PATH_MAX, "/");
	return true;
}

int place_init(struct place *place, const char *verb, const char *tree_name, const char *path)
{
	const char *own_tree = getenv("UMEMCG_TREE");
	const char *own_group = getenv("UMEMCG_GROUP");
	const char *top = "/";

	*place = (struct place){ .verb = verb };
	if (own_tree && !*own_tree)
		own_tree = NULL;
	if (tree_name && !*tree_name) {
		place->tree_name = "";
		return place_complain_tree(place, -EINVAL);
	}
	place->tree_name = tree_name ? tree_name : own_tree ? own_tree : UMEMCG_TREE_DEFAULT;
	if (own_tree && own_group && own_group[0] == '/' && !strcmp(own_tree, place->tree_name))
		top = own_group;
	if (path && !*path) {
		arguments_refuse(verb, "\"\" is no group; a path such as /web/a is accepted, or /");
		return EXIT_WRONG_INPUT;
	}
	if (!path)
		path = "/";
	else if (!strcmp(path, "."))
		path = "";
	if (!write_path(place->path, top, path))
		return place_complain_group(place, path, -ENAMETOOLONG);
	return 0;
}

/* Where no file can be made it is the directory that is at fault, whatever became of the file. */
static bool complain_directory(const struct place *place)
{
	const char *directory = umemcg_tree_directory();
	char itself[PATH_MAX];

	/* Nothing but a directory has one of that name. */
	if ((size_t)snprintf(itself, sizeof(itself), "%s/.", directory) >= sizeof(itself) ||
	    !access(itself, W_OK | X_OK))
		return false;
	arguments_refuse(place->verb,
			 "no tree can be made in %.200s: %s; another $XDG_RUNTIME_DIR is accepted",
			 directory, strerror(errno));
	return true;
}

int place_open(struct place *place, bool creates)
{
	int error =
		umemcg_tree_open(place->tree_name, creates ? UMEMCG_TREE_CREATE : 0, &place->tree);

	if (!error)
		return 0;
	if (creates && error != -EINVAL && complain_directory(place))
		return EXIT_FAILURE;
	return place_complain_tree(place, error);
}

void place_close(struct place *place)
{
	if (place->tree)
		umemcg_tree_close(place->tree);
	place->tree = NULL;
}

int place_enter(struct place *place, const char *verb, const char *tree_name, const char *path)
{
	int status = place_init(place, verb, tree_name, path);
	struct umemcg_tree_stat stat;
	int error;

	status = status ? status : place_open(place, false);
	if (status)
		return status;
	error = umemcg_tree_get_stat(place->tree, place->path, &stat);
	if (!error)
		return 0;
	place_close(place);
	return place_complain_group(place, place->path, error);
}

struct names {
	char text[NAMES_LISTED * (UMEMCG_TREE_NAME_MAX + 2) + 8];
	unsigned int nr;
};

static int add_name(const char *name, void *arg)
{
	struct names *names = arg;

	if (names->nr++ == NAMES_LISTED) {
		strcat(names->text, ", ...");
		return 1;
	}
	if (names->nr > 1)
		strcat(names->text, ", ");
	strncat(names->text, name, UMEMCG_TREE_NAME_MAX);
	return 0;
}

static int complain_no_tree(const struct place *place)
{
	struct names names = { 0 };

	tree_names_walk(add_name, &names);
	if (names.nr)
		arguments_refuse(place->verb, "no tree \"%s\"; there are: %s", place->tree_name,
				 names.text);
	else
		arguments_refuse(place->verb,
				 "no tree \"%s\", nor any other; `umemcg run' makes one",
				 place->tree_name);
	return EXIT_WRONG_INPUT;
}

static const char *words_for_tree(int error)
{
	switch (error) {
	case -EPERM:
		return "its file is another user's, or not of mode 0600, or no regular file";
	case -EPROTO:
		return "its file holds no tree; `umemcg rm --tree NAME /' cannot remove it, rm can";
	case -EPROTONOSUPPORT:
		return "processes of another version of umemcg use it; another --tree is accepted";
	case -EXDEV:
		return "it belongs to another pid namespace; another --tree is accepted";
	case -ENOSPC:
		return "it has no room for one more process";
	case -ENOMEM:
		return "no memory is left, or no room where it lies";
	case -EOPNOTSUPP:
		return "this umemcg was built without its controller";
	case -EBUSY:
		return "processes live in it; `umemcg ps' lists them";
	default:
		return strerror(-error);
	}
}

int place_complain_tree(const struct place *place, int error)
{
	if (error == -ENOENT)
		return complain_no_tree(place);
	if (error == -EINVAL) {
		arguments_refuse(place->verb,
				 "\"%s\" is no name of a tree; 1 to %d letters, digits, '-', '_' "
				 "and '.', not beginning with '.', are accepted",
				 place->tree_name, UMEMCG_TREE_NAME_MAX);
		return EXIT_WRONG_INPUT;
	}
	arguments_refuse(place->verb, "tree \"%s\": %s", place->tree_name, words_for_tree(error));
	return EXIT_FAILURE;
}

int place_complain_group(const struct place *place, const char *path, int error)
{
	const char *verb = place->verb;

	switch (error) {
	case -ENOENT:
		arguments_refuse(verb,
				 "no group %s in tree \"%s\"; `umemcg ls --tree %s' lists them",
				 path, place->tree_name, place->tree_name);
		return EXIT_WRONG_INPUT;
	case -EINVAL:
		arguments_refuse(
			verb,
			"%s is no path of a group; names of 1 to %d bytes after slashes are "
			"accepted, but for \".\", \"..\", control characters, and \"@\", "
			"\"memory.\" or \"cgroup.\" in front",
			path, UMEMCG_NAME_MAX);
		return EXIT_WRONG_INPUT;
	case -ENAMETOOLONG:
		arguments_refuse(verb,
				 "that path is too long; names of up to %d bytes and paths of less "
				 "than %d are accepted",
				 UMEMCG_NAME_MAX, UMEMCG_PATH_MAX);
		return EXIT_WRONG_INPUT;
	case -EAGAIN:
		arguments_refuse(verb, "%s: more than 64 levels; fewer are accepted", path);
		return EXIT_WRONG_INPUT;
	case -EBUSY:
		arguments_refuse(verb,
				 "%s has processes or groups below it; `umemcg ps' and "
				 "`umemcg ls' list them",
				 path);
		return EXIT_FAILURE;
	case -ENOSPC:
		arguments_refuse(verb, "%s: tree \"%s\" has no room for one more group", path,
				 place->tree_name);
		return EXIT_FAILURE;
	case -ETIMEDOUT:
		arguments_refuse(verb, "%s: a process that makes or removes groups is stopped",
				 path);
		return EXIT_FAILURE;
	default:
		arguments_refuse(verb, "%s: %s", path, strerror(-error));
		return EXIT_FAILURE;
	}
}
