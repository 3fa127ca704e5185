/* SPDX-License-Identifier: MIT */
/*
 * Control files under any name and any value: what is refused changes nothing, what is taken is
 * read back, and a text is cut exactly where the buffer ends.
 *
 * An input is a name, a line end, and a value.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "umemcg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TEXT_BYTES 4096

static struct umemcg *group;

static void check(bool holds)
{
	if (!holds)
		abort();
}

static bool is_known(const char *file)
{
	const char *name;

	for (unsigned int i = 0; (name = umemcg_control_file(i)); i++)
		if (!strcmp(name, file))
			return true;
	return false;
}

/* Whose values are no sizes that are kept: words, and what is done at once. */
static bool has_own_grammar(const char *file)
{
	static const char *const files[] = { "memory.oom.policy", "memory.pressure",
					     "memory.reclaim" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!strcmp(files[i], file))
			return true;
	return false;
}

/* All files that keep what is written, one after the other; they say what the group's state is. */
static void read_state(char text[TEXT_BYTES])
{
	static const char *const files[] = { "cgroup.max.depth", "cgroup.max.descendants",
					     "memory.high",      "memory.low",
					     "memory.max",       "memory.min",
					     "memory.oom.group", "memory.oom.policy",
					     "memory.reserve",   "memory.swap.max" };
	size_t length = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		length += (size_t)umemcg_read(group, files[i], text + length, TEXT_BYTES - length);
}

static void check_refused(const char *file, const char *value, int r)
{
	uint64_t number;
	int parsed = size_parse(value, &number);

	if (!is_known(file))
		check(r == -ENOENT);
	else if (has_own_grammar(file))
		check(r == -EINVAL || r == -ERANGE || r == -EAGAIN || r == -EOPNOTSUPP);
	else if (r != -EACCES)
		/* A count has a narrower range than the grammar, and a switch two values. */
		check(r == parsed || (r == -ERANGE && !parsed && number > UINT32_MAX - 1) ||
		      (r == -EINVAL && !parsed && number > 1 && !strcmp(file, "memory.oom.group")));
}

static void check_taken(const char *file, const char *value)
{
	char text[TEXT_BYTES];
	uint64_t wanted, number;

	/* Nothing is kept of it. */
	if (!strcmp(file, "memory.reclaim"))
		return;
	check(umemcg_read(group, file, text, sizeof(text)) > 0);
	if (!strcmp(file, "memory.oom.policy")) {
		*strchr(text, '\n') = '\0';
		check(strstr(value, text));
		return;
	}
	check(!size_parse(value, &wanted) && !size_parse(text, &number) && number == wanted);
}

static void check_read(const char *file, size_t size)
{
	char whole[TEXT_BYTES], cut[TEXT_BYTES];
	int length = umemcg_read(group, file, whole, sizeof(whole));

	if (!is_known(file)) {
		check(length == -ENOENT);
		return;
	}
	if (!strcmp(file, "memory.reclaim")) {
		check(length == -EACCES);
		return;
	}
	check(length >= 0 && (size_t)length == strlen(whole));
	memset(cut, '#', sizeof(cut));
	check(umemcg_read(group, file, cut, size) == length);
	check(cut[size] == '#');
	if (size)
		check(strlen(cut) == (size < (size_t)length + 1 ? size - 1 : (size_t)length) &&
		      !memcmp(cut, whole, strlen(cut)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char before[TEXT_BYTES], after[TEXT_BYTES];
	const char *file, *value = "";
	char *input, *end;
	int r;

	if (!group)
		check(!umemcg_create(NULL, "fuzz", &group));
	input = malloc(size + 1);
	if (!input)
		return 0;
	if (size)
		memcpy(input, data, size);
	input[size] = '\0';
	file = input;
	end = strchr(input, '\n');
	if (end) {
		*end = '\0';
		value = end + 1;
	}
	read_state(before);
	r = umemcg_write(group, file, value);
	read_state(after);
	if (r) {
		check_refused(file, value, r);
		check(!strcmp(before, after));
	} else {
		check_taken(file, value);
	}
	check_read(file, strlen(value) % 64);
	free(input);
	return 0;
}
