/* SPDX-License-Identifier: MIT */
#include "control/text.h"

#include <string.h>

#include "base/compiler.h"
#include "base/size.h"

void text_put_bytes(struct text *text, const char *bytes, size_t nr_bytes)
{
	if (text->length < text->size)
		memcpy(text->buffer + text->length, bytes,
		       min(nr_bytes, text->size - text->length));
	text->length += nr_bytes;
}

void text_put(struct text *text, const char *string)
{
	text_put_bytes(text, string, strlen(string));
}

void text_put_number(struct text *text, uint64_t number)
{
	char digits[SIZE_TEXT_BYTES];

	text_put_bytes(text, digits, size_print_decimal(number, digits));
}

void text_put_size(struct text *text, uint64_t nr_bytes)
{
	char size[SIZE_TEXT_BYTES];

	text_put_bytes(text, size, size_print(nr_bytes, size));
	text_put_bytes(text, "\n", 1);
}

void text_put_pair(struct text *text, const char *key, uint64_t number)
{
	text_put(text, key);
	text_put_bytes(text, " ", 1);
	text_put_number(text, number);
	text_put_bytes(text, "\n", 1);
}

bool text_is_word(const char *value, const char *word)
{
	static const char spaces[] = " \t\n\v\f\r";
	size_t length = strlen(word);

	value += strspn(value, spaces);
	return !strncmp(value, word, length) &&
	       value[length + strspn(value + length, spaces)] == '\0';
}

size_t text_end(struct text *text)
{
	if (text->size)
		text->buffer[min(text->length, text->size - 1)] = '\0';
	return text->length;
}
