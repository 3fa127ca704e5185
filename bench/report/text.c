/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/text.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

/* C0 is below the space, DEL follows '~'; C1 is U+0080 to U+009F, 0xc2 0x80 to 0xc2 0x9f. */
static bool has_control_character(const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c < 0x20 || *c == 0x7f)
			return true;
		if (*c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f)
			return true;
	}
	return false;
}

bool text_is_printable(const char *text)
{
	json_t *utf8;

	if (has_control_character(text))
		return false;
	/* jansson makes strings of valid UTF-8 only. */
	utf8 = json_string(text);
	json_decref(utf8);
	return utf8 != NULL;
}

size_t text_columns(const char *text)
{
	size_t nr_columns = 0;

	for (; *text; text++)
		nr_columns += ((unsigned char)*text & 0xc0) != 0x80;
	return nr_columns;
}

static int copy(const char *text, size_t nr_max, char **ret_copy)
{
	char *copied;

	if (strlen(text) > nr_max || !text_is_printable(text))
		return -EINVAL;
	copied = strdup(text);
	if (!copied)
		return -ENOMEM;
	*ret_copy = copied;
	return 0;
}

int text_copy_name(const char *name, char **ret_copy)
{
	if (!name || !*name)
		return -EINVAL;
	return copy(name, TEXT_NAME_MAX, ret_copy);
}

int text_copy_line(const char *line, char **ret_copy)
{
	return copy(line ? line : "", TEXT_LINE_MAX, ret_copy);
}
