/* SPDX-License-Identifier: MIT */
/*
 * The size parser on any text: it agrees with a second, slower reading of the same grammar, touches
 * its result only on success, and what it read is printed and read again to the same number.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define UNTOUCHED 0x5ca1ab1e

/* The grammar once more, written in another way: by hand from both ends, in 128 bits. */
static int expected(char *text, uint64_t *ret_nr_bytes)
{
	static const char suffixes[] = "kmgtpe";
	size_t length = strlen(text);
	unsigned __int128 number = 0;
	const char *suffix;

	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	while (isspace((unsigned char)*text))
		text++, length--;
	if (!strcmp(text, "max")) {
		*ret_nr_bytes = UINT64_MAX;
		return 0;
	}
	if (!length)
		return -EINVAL;
	suffix = strchr(suffixes, tolower((unsigned char)text[length - 1]));
	if (suffix)
		text[--length] = '\0';
	if (!length || strspn(text, "0123456789") != length)
		return -EINVAL;
	for (; *text; text++) {
		number = number * 10 + (unsigned int)(*text - '0');
		if (number > UINT64_MAX)
			return -ERANGE;
	}
	if (suffix)
		number <<= 10 * (suffix - suffixes + 1);
	if (number > UINT64_MAX)
		return -ERANGE;
	*ret_nr_bytes = (uint64_t)number;
	return 0;
}

static void check(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t parsed = UNTOUCHED, again = UNTOUCHED, wanted = UNTOUCHED;
	char *text = malloc(size + 1);
	int r;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	r = size_parse(text, &parsed);
	if (r) {
		check(parsed == UNTOUCHED);
	} else {
		char printed[SIZE_TEXT_BYTES];

		check(size_print(parsed, printed) == strlen(printed));
		check(!size_parse(printed, &again) && again == parsed);
	}
	check(expected(text, &wanted) == r);
	check(wanted == parsed);
	free(text);
	return 0;
}
