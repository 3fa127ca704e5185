/* SPDX-License-Identifier: MIT */
/* Finding the memory controller: which of the mounts has it, and where this process is in it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "targets/kernel/cgroup.h"
#include "targets/kernel/cgroup_file.h"

/* The fields of a line of mountinfo that matter here. */
struct mount {
	char *root; /* of the file system, as far as it is mounted */
	char *point;
	char *type;
	char *options; /* of the file system itself */
};

/* Undoes mountinfo's \040 for a space and its like, in place. */
static void unescape(char *text)
{
	char *out = text;

	for (; *text; out++) {
		unsigned int code;

		if (*text == '\\' && sscanf(text + 1, "%3o", &code) == 1) {
			*out = (char)code;
			text += 4;
		} else {
			*out = *text++;
		}
	}
	*out = '\0';
}

/* "36 35 98:0 /root /point options optional... - type source super-options" */
static bool mount_parse(char *line, struct mount *ret_mount)
{
	char *separator = strstr(line, " - "), *position = NULL;
	char *fields[5];

	if (!separator)
		return false;
	*separator = '\0';
	for (unsigned int i = 0; i < 5; i++) {
		fields[i] = strtok_r(i ? NULL : line, " ", &position);
		if (!fields[i])
			return false;
	}
	ret_mount->root = fields[3];
	ret_mount->point = fields[4];
	ret_mount->type = strtok_r(separator + 3, " \n", &position);
	if (!ret_mount->type || !strtok_r(NULL, " \n", &position))
		return false;
	ret_mount->options = strtok_r(NULL, " \n", &position);
	if (!ret_mount->options)
		return false;
	unescape(ret_mount->root);
	unescape(ret_mount->point);
	return true;
}

/* Is @word one of the words of @text, between any of @separators? */
static bool has_word(const char *text, const char *word, const char *separators)
{
	size_t length = strlen(word);

	while (*(text += strspn(text, separators))) {
		size_t span = strcspn(text, separators);

		if (span == length && !strncmp(text, word, length))
			return true;
		text += span;
	}
	return false;
}

static enum cgroup_version mount_version(const char *prefix, const struct mount *mount)
{
	char path[PATH_MAX], controllers[512];

	if (!strcmp(mount->type, "cgroup") && has_word(mount->options, "memory", ","))
		return CGROUP_V1;
	if (strcmp(mount->type, "cgroup2"))
		return CGROUP_NONE;
	snprintf(path, sizeof(path), "%s%s/cgroup.controllers", prefix, mount->point);
	if (cgroup_file_read(path, controllers, sizeof(controllers)) < 0)
		return CGROUP_NONE;
	return has_word(controllers, "memory", " \n") ? CGROUP_V2 : CGROUP_NONE;
}

/* The path of this process's group in the hierarchy: "4:memory:/path" (v1) or "0::/path" (v2). */
static bool own_path(const char *prefix, enum cgroup_version version, char *ret_path)
{
	char path[PATH_MAX], line[PATH_MAX + 128];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/self/cgroup", prefix);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file)) {
		char *controllers = strchr(line, ':');
		char *group = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!group)
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		found = version == CGROUP_V1 ? has_word(controllers + 1, "memory", ",")
					     : !strncmp(line, "0:", 2) && !controllers[1];
		if (found)
			snprintf(ret_path, PATH_MAX, "%s", group);
	}
	fclose(file);
	return found;
}

/* Where a container sees only a part of the hierarchy, paths begin with that part's. */
static void own_directory(const char *prefix, const char *mount_root, struct cgroup *cgroup)
{
	char path[PATH_MAX] = "";
	size_t length = strlen(mount_root);
	const char *below = path;

	if (!own_path(prefix, cgroup->version, path))
		return;
	if (length > 1 && !strncmp(path, mount_root, length))
		below = path + length;
	if (!strcmp(below, "/"))
		below = "";
	if ((size_t)snprintf(cgroup->own, PATH_MAX, "%s%s", cgroup->root, below) >= PATH_MAX)
		cgroup->own[0] = '\0';
}

static bool writable(const char *directory, const char *file)
{
	char path[PATH_MAX];

	return !cgroup_file_path(path, directory, file) && !access(path, W_OK);
}

/* Groups can be made where the directory can be written, and workers can be put into the group. */
static bool usable(const char *directory)
{
	return directory[0] && !access(directory, W_OK) && writable(directory, "cgroup.procs");
}

static void find_permissions(struct cgroup *cgroup)
{
	bool in_root = !strcmp(cgroup->own, cgroup->root);

	cgroup->can_use_root = in_root || writable(cgroup->root, "cgroup.procs");
	if (!cgroup->can_use_root)
		snprintf(cgroup->why_not_root, CGROUP_REASON,
			 "needs permission to move a worker to the root group (root)");
	if (usable(cgroup->root))
		snprintf(cgroup->parent, PATH_MAX, "%s", cgroup->root);
	else if (usable(cgroup->own))
		snprintf(cgroup->parent, PATH_MAX, "%s", cgroup->own);
	cgroup->can_make = cgroup->parent[0];
	if (!cgroup->can_make)
		snprintf(cgroup->why_not, CGROUP_REASON,
			 "needs permission to make memory cgroups (%s): root, or a delegated group",
			 cgroup_version_name(cgroup->version));
}

int cgroup_find(const char *prefix, struct cgroup *ret_cgroup)
{
	char path[PATH_MAX], line[3 * PATH_MAX];
	FILE *file;

	memset(ret_cgroup, 0, sizeof(*ret_cgroup));
	snprintf(path, sizeof(path), "%s/proc/self/mountinfo", prefix);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (ret_cgroup->version == CGROUP_NONE && fgets(line, sizeof(line), file)) {
		struct mount mount;

		if (!mount_parse(line, &mount))
			continue;
		ret_cgroup->version = mount_version(prefix, &mount);
		if (ret_cgroup->version == CGROUP_NONE)
			continue;
		snprintf(ret_cgroup->root, PATH_MAX, "%s%s", prefix, mount.point);
		own_directory(prefix, mount.root, ret_cgroup);
	}
	fclose(file);
	if (ret_cgroup->version != CGROUP_NONE) {
		find_permissions(ret_cgroup);
		return 0;
	}
	snprintf(ret_cgroup->why_not, CGROUP_REASON, "no cgroup mount has the memory controller");
	snprintf(ret_cgroup->why_not_root, CGROUP_REASON, "%s", ret_cgroup->why_not);
	return 0;
}
