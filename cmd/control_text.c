/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "control_text.h"
#include "limit.h"
#include "verb.h"

int control_text_read(const struct place *place, const char *path, const char *file,
		      char **ret_text)
{
	size_t size = 512;
	char *text = NULL;
	int length;

	/* The text may grow between two readings. */
	for (;;) {
		char *room = realloc(text, size);

		if (!room) {
			free(text);
			return -ENOMEM;
		}
		text = room;
		length = umemcg_tree_read(place->tree, path, file, text, size);
		if (length < 0) {
			free(text);
			return length;
		}
		if ((size_t)length < size)
			break;
		size = (size_t)length + 256;
	}
	if (length && text[length - 1] == '\n')
		text[length - 1] = '\0';
	*ret_text = text;
	return 0;
}

bool control_text_is_file(const char *file)
{
	const char *name;

	for (unsigned int i = 0; (name = umemcg_tree_control_file(i)); i++)
		if (!strcmp(name, file))
			return true;
	return false;
}

static void list_files(void)
{
	const char *name;

	for (unsigned int i = 0; (name = umemcg_tree_control_file(i)); i++)
		fprintf(stderr, "%s%s", i ? ", " : "", name);
	fputc('\n', stderr);
}

/* What a file takes that is no size. */
static const char *accepted_by(const char *file)
{
	static const char *const words[][2] = {
		{ "memory.fork", "share and copy" },
		{ "memory.oom.group", "0 and 1" },
		{ "memory.oom.policy", "fail and kill" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i][0], file))
			return words[i][1];
	return LIMIT_ACCEPTED;
}

int control_text_complain(const struct place *place, const char *file, const char *value, int error)
{
	const char *verb = place->verb;

	if (error == -ENOENT && control_text_is_file(file))
		return place_complain_group(place, place->path, error);
	switch (error) {
	case -ENOENT:
		fprintf(stderr, "umemcg %s: no control file \"%s\"; there are: ", verb, file);
		list_files();
		return EXIT_WRONG_INPUT;
	case -EINVAL:
		if (!strcmp(place->path, "/"))
			arguments_refuse(verb,
					 "%s of the root cannot be set; a group below it is "
					 "accepted",
					 file);
		else
			arguments_refuse(verb, "%s=%s: accepted are %s", file, value,
					 accepted_by(file));
		return EXIT_WRONG_INPUT;
	case -ERANGE:
		arguments_refuse(verb, "%s=%s: that is too large; accepted are " LIMIT_ACCEPTED,
				 file, value);
		return EXIT_WRONG_INPUT;
	case -EAGAIN:
		arguments_refuse(verb, "%s of %s: less than %s could be given back", file,
				 place->path, value);
		return EXIT_FAILURE;
	case -EACCES:
		if (!strcmp(verb, "get")) {
			arguments_refuse(verb, "%s can only be written", file);
			return EXIT_WRONG_INPUT;
		}
		arguments_refuse(verb,
				 "%s can only be read; `umemcg set --help' names those that "
				 "are accepted",
				 file);
		return EXIT_WRONG_INPUT;
	case -ETIME:
	case -ETIMEDOUT:
		arguments_refuse(verb, "%s of %s: a process is stopped in the middle of a charge",
				 file, place->path);
		return EXIT_FAILURE;
	default:
		arguments_refuse(verb, "%s of %s: %s", file, place->path, strerror(-error));
		return EXIT_FAILURE;
	}
}
