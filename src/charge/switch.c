/* SPDX-License-Identifier: MIT */
#include "charge/switch.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/report.h"
#include "base/size.h"

static const char *const kind_names[NR_KINDS] = {
	[KIND_SLAB] = "slab",
	[KIND_STACK] = "stack",
	[KIND_ANON] = "anon",
	[KIND_EXTERNAL] = "external",
};

#define ALL_KINDS ((1u << NR_KINDS) - 1)

/* Written before the first charge and only read afterwards. */
static bool is_on;
static unsigned int counted = ALL_KINDS;
static bool maps_at_map;
static char swap_directory[PATH_MAX];
static uint64_t nr_bytes_swap;

static bool word_is(const char *word, size_t length, const char *expected)
{
	return length == strlen(expected) && !memcmp(word, expected, length);
}

static unsigned int kind_bit(const char *word, size_t length)
{
	for (unsigned int kind = 0; kind < NR_KINDS; kind++) {
		if (word_is(word, length, kind_names[kind]))
			return 1u << kind;
	}
	report("UMEMCG_CMDLINE: unknown kind \"%.*s\" is ignored (known: slab, stack, anon, external)",
	       (int)length, word);
	return 0;
}

static void read_kinds(const char *list, size_t length)
{
	unsigned int kinds = 0;

	while (length) {
		const char *comma = memchr(list, ',', length);
		size_t first = comma ? (size_t)(comma - list) : length;

		if (first)
			kinds |= kind_bit(list, first);
		length -= comma ? first + 1 : first;
		list += first + 1;
	}
	counted = kinds;
}

/* Directory and size, with a colon between them: the last one, for a directory may have some. */
static bool parse_swap(const char *text, size_t length)
{
	const char *colon = memrchr(text, ':', length);
	size_t nr_chars = colon ? (size_t)(colon - text) : 0;
	char size[SIZE_TEXT_BYTES + 1] = "";

	if (!nr_chars || nr_chars >= sizeof(swap_directory) || length - nr_chars > sizeof(size))
		return false;
	memcpy(size, colon + 1, length - nr_chars - 1);
	if (size_parse(size, &nr_bytes_swap))
		return false;
	memcpy(swap_directory, text, nr_chars);
	swap_directory[nr_chars] = '\0';
	return true;
}

static void read_swap(const char *text, size_t length)
{
	if (!parse_swap(text, length))
		report("UMEMCG_CMDLINE: \"umemcg.swap=%.*s\" is ignored (it takes DIRECTORY:SIZE)",
		       (int)length, text);
}

static void read_token(const char *token, size_t length)
{
	static const char kinds[] = "umemcg.kinds=", swap[] = "umemcg.swap=";
	size_t prefix = sizeof(kinds) - 1, swap_prefix = sizeof(swap) - 1;

	if (word_is(token, length, "cgroup_disable=memory"))
		is_on = false;
	else if (word_is(token, length, "cgroup_enable=memory"))
		is_on = true;
	else if (word_is(token, length, "cgroup.memory=nokmem"))
		counted &= ~(1u << KIND_SLAB | 1u << KIND_STACK);
	else if (word_is(token, length, "umemcg.map=at_map"))
		maps_at_map = true;
	else if (length >= prefix && !memcmp(token, kinds, prefix))
		read_kinds(token + prefix, length - prefix);
	else if (length >= swap_prefix && !memcmp(token, swap, swap_prefix))
		read_swap(token + swap_prefix, length - swap_prefix);
	else
		report("UMEMCG_CMDLINE: unknown word \"%.*s\" is ignored", (int)length, token);
}

void switch_read(const char *command_line)
{
	static const char blanks[] = " \t\n";

	is_on = CONFIG_MEMCG && CONFIG_MEMCG_DEFAULT_ON;
	counted = ALL_KINDS;
	maps_at_map = false;
	swap_directory[0] = '\0';
	if (!CONFIG_MEMCG || !command_line)
		return;
	while (*(command_line += strspn(command_line, blanks))) {
		size_t length = strcspn(command_line, blanks);

		read_token(command_line, length);
		command_line += length;
	}
}

void switch_init(void)
{
	switch_read(getenv("UMEMCG_CMDLINE"));
}

bool switch_is_on(void)
{
	return is_on;
}

const char *switch_swap(uint64_t *ret_nr_bytes)
{
	*ret_nr_bytes = nr_bytes_swap;
	return swap_directory[0] ? swap_directory : NULL;
}

bool switch_maps_at_map(void)
{
	return maps_at_map;
}

bool switch_counts(enum kind kind)
{
	return is_on && (counted >> kind & 1);
}
