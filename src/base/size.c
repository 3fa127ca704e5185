/* SPDX-License-Identifier: MIT */
#include "base/size.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Not isspace() and its kin: the grammar does not depend on the program's locale. */
static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *skip_spaces(const char *text)
{
	while (is_space(*text))
		text++;
	return text;
}

/* The power of two that a suffix stands for, or 0 if it is none. */
static unsigned int suffix_shift(char suffix)
{
	switch (suffix) {
	case 'k':
	case 'K':
		return 10;
	case 'm':
	case 'M':
		return 20;
	case 'g':
	case 'G':
		return 30;
	case 't':
	case 'T':
		return 40;
	case 'p':
	case 'P':
		return 50;
	case 'e':
	case 'E':
		return 60;
	default:
		return 0;
	}
}

/* The form is judged to its end before the range is: "99999999999999999999x" is no size at all. */
static int parse_number(const char *text, uint64_t *ret_nr_bytes)
{
	bool overflow = false;
	uint64_t number = 0;
	unsigned int shift;

	if (!is_digit(*text))
		return -EINVAL;
	for (; is_digit(*text); text++) {
		overflow |= __builtin_mul_overflow(number, 10, &number);
		overflow |= __builtin_add_overflow(number, (uint64_t)(*text - '0'), &number);
	}
	shift = suffix_shift(*text);
	if (shift)
		text++;
	if (*skip_spaces(text) != '\0')
		return -EINVAL;
	if (overflow || number > UINT64_MAX >> shift)
		return -ERANGE;
	*ret_nr_bytes = number << shift;
	return 0;
}

int size_parse(const char *text, uint64_t *ret_nr_bytes)
{
	text = skip_spaces(text);
	if (strncmp(text, "max", 3) == 0) {
		if (*skip_spaces(text + 3) != '\0')
			return -EINVAL;
		*ret_nr_bytes = UINT64_MAX;
		return 0;
	}
	return parse_number(text, ret_nr_bytes);
}

size_t size_print_decimal(uint64_t number, char text[SIZE_TEXT_BYTES])
{
	char digits[SIZE_TEXT_BYTES];
	size_t start = sizeof(digits) - 1;
	size_t length;

	digits[start] = '\0';
	do {
		digits[--start] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	length = sizeof(digits) - 1 - start;
	memcpy(text, digits + start, length + 1);
	return length;
}

size_t size_print(uint64_t nr_bytes, char text[SIZE_TEXT_BYTES])
{
	if (nr_bytes == UINT64_MAX) {
		memcpy(text, "max", sizeof("max"));
		return strlen("max");
	}
	return size_print_decimal(nr_bytes, text);
}
