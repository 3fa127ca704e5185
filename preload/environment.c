/* SPDX-License-Identifier: MIT */
/*
 * A variable that the program began with is put back where it is missing, changed or there twice.
 * One that it began without is its own affair. LD_PRELOAD names the preload object first, then
 * whatever else the environment at hand lists.
 *
 * UMEMCG_CMDLINE decides whether there is accounting at all: an environment without it gets it
 * back, one that sets it means it.
 */
#include <limits.h>
#include <string.h>

#include "environment.h"

/* Longer values than fit are not kept; paths of the tree's groups are the longest. */
#define VALUES_BYTES 16384

struct variable {
	char name[24]; /* with the equals sign */
	bool may_change;
	char *text; /* NAME=VALUE, or NULL: the program began without it */
};

enum { VARIABLE_TREE, VARIABLE_STRICT, VARIABLE_SUPERVISOR };

static struct variable variables[] = {
	[VARIABLE_TREE] = { .name = "UMEMCG_TREE=" },
	[VARIABLE_STRICT] = { .name = "UMEMCG_STRICT=" },
	[VARIABLE_SUPERVISOR] = { .name = "UMEMCG_SUPERVISOR=" },
	{ .name = "UMEMCG_GROUP=" },
	{ .name = "UMEMCG_RUNTIME_DIR=" },
	{ .name = "UMEMCG_PROCESS_MAX=" },
	{ .name = "UMEMCG_CMDLINE=", .may_change = true },
};

#define NR_VARIABLES (sizeof(variables) / sizeof(*variables))
#define PRELOAD_NAME "LD_PRELOAD="

static char values[VALUES_BYTES];
static size_t nr_bytes_of_values;
static char object_path[PATH_MAX];
static size_t object_length;

static bool begins_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static bool is_separator(char c)
{
	return c == ':' || c == ' ';
}

/* Returns the variable that a string of an environment sets, or NULL. */
static struct variable *variable_of(const char *text)
{
	if (!begins_with(text, "UMEMCG_"))
		return NULL;
	for (size_t i = 0; i < NR_VARIABLES; i++)
		if (begins_with(text, variables[i].name))
			return &variables[i];
	return NULL;
}

void environment_init(const char *object, char *const envp[])
{
	object_length = strlen(object);
	if (object_length >= sizeof(object_path))
		object_length = 0;
	memcpy(object_path, object, object_length);
	for (; envp && *envp; envp++) {
		struct variable *variable = variable_of(*envp);
		size_t nr_bytes = strlen(*envp) + 1;

		/* Of two, getenv() sees the first. */
		if (!variable || variable->text || nr_bytes > VALUES_BYTES - nr_bytes_of_values)
			continue;
		variable->text = memcpy(values + nr_bytes_of_values, *envp, nr_bytes);
		nr_bytes_of_values += nr_bytes;
	}
}

bool environment_is_limited(void)
{
	return object_length && variables[VARIABLE_TREE].text;
}

const char *environment_object(void)
{
	return object_path;
}

/* What a variable was set to; NULL: to nothing, or not at all. */
static const char *value_of(const struct variable *variable)
{
	const char *value = variable->text ? variable->text + strlen(variable->name) : "";

	return *value ? value : NULL;
}

const char *environment_supervisor(void)
{
	return value_of(&variables[VARIABLE_SUPERVISOR]);
}

bool environment_is_strict(void)
{
	const char *strict = value_of(&variables[VARIABLE_STRICT]);

	return strict && !strcmp(strict, "1");
}

/* Is the preload object the first of a list? */
static bool names_object_first(const char *list)
{
	return list && !strncmp(list, object_path, object_length) &&
	       (!list[object_length] || is_separator(list[object_length]));
}

/* The next entry of a list at or after @at; its length is 0 at the end. */
static const char *next_entry(const char *at, size_t *ret_length)
{
	size_t length = 0;

	while (is_separator(*at))
		at++;
	while (at[length] && !is_separator(at[length]))
		length++;
	*ret_length = length;
	return at;
}

static bool is_object(const char *entry, size_t length)
{
	return length == object_length && !memcmp(entry, object_path, length);
}

static bool names_object(const char *list)
{
	size_t length;

	for (const char *entry = list; entry; entry += length) {
		entry = next_entry(entry, &length);
		if (!length)
			return false;
		if (is_object(entry, length))
			return true;
	}
	return false;
}

struct environment_change environment_look(char *const envp[], bool is_preloaded)
{
	struct environment_change change = { .is_preloaded = is_preloaded };
	unsigned int nr_seen[NR_VARIABLES] = {}, nr_preloads = 0;
	size_t nr_strings = 0;

	for (; envp && envp[nr_strings]; nr_strings++) {
		const char *text = envp[nr_strings];
		struct variable *variable;

		if (begins_with(text, PRELOAD_NAME)) {
			/* Of two, the loader heeds the last. */
			change.preload = text + strlen(PRELOAD_NAME);
			nr_preloads++;
			continue;
		}
		variable = variable_of(text);
		if (!variable || !variable->text)
			continue;
		nr_seen[variable - variables]++;
		if (!variable->may_change && strcmp(text, variable->text))
			change.is_needed = true;
	}
	for (size_t i = 0; i < NR_VARIABLES; i++)
		if (variables[i].text && nr_seen[i] != 1 &&
		    !(variables[i].may_change && nr_seen[i]))
			change.is_needed = true;
	if (is_preloaded)
		change.is_needed |= nr_preloads != 1 || !names_object_first(change.preload);
	else
		change.is_needed |= names_object(change.preload);
	change.nr_pointer_bytes = (nr_strings + NR_VARIABLES + 2) * sizeof(char *);
	change.nr_bytes = change.nr_pointer_bytes + strlen(PRELOAD_NAME) + object_length + 2 +
			  (change.preload ? strlen(change.preload) : 0);
	return change;
}

/* Writes LD_PRELOAD=..., and returns false if it would list nothing. */
static bool make_preload(const struct environment_change *change, char *text)
{
	char *to = text + strlen(PRELOAD_NAME), *first = to;
	size_t length;

	memcpy(text, PRELOAD_NAME, strlen(PRELOAD_NAME));
	if (change->is_preloaded) {
		memcpy(to, object_path, object_length);
		to += object_length;
	}
	for (const char *entry = change->preload; entry; entry += length) {
		entry = next_entry(entry, &length);
		if (!length)
			break;
		if (is_object(entry, length))
			continue;
		if (to != first)
			*to++ = ':';
		memcpy(to, entry, length);
		to += length;
	}
	*to = '\0';
	return to != first;
}

char **environment_make(const struct environment_change *change, char *const envp[], void *memory)
{
	char **made = memory, **to = made;
	char *preload = (char *)memory + change->nr_pointer_bytes;
	bool keeps_own[NR_VARIABLES] = {};

	for (; envp && *envp; envp++) {
		struct variable *variable = variable_of(*envp);

		if (begins_with(*envp, PRELOAD_NAME))
			continue;
		if (variable && variable->text) {
			if (!variable->may_change)
				continue;
			keeps_own[variable - variables] = true;
		}
		*to++ = *envp;
	}
	for (size_t i = 0; i < NR_VARIABLES; i++)
		if (variables[i].text && !keeps_own[i])
			*to++ = variables[i].text;
	if (make_preload(change, preload))
		*to++ = preload;
	*to = NULL;
	return made;
}
