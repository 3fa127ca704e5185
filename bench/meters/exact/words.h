/* SPDX-License-Identifier: MIT */
/*
 * Taking a text of lines apart: lines at line feeds, words at single spaces. What takes a number
 * returns false for a word of another form, or a number that does not fit.
 */
#ifndef BENCH_METERS_EXACT_WORDS_H
#define BENCH_METERS_EXACT_WORDS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The next line, or NULL. A last line without its line feed was cut off, and is none. */
static inline char *words_take_line(char **text)
{
	char *line = *text, *end = strchr(line, '\n');

	if (!end)
		return NULL;
	*end = '\0';
	*text = end + 1;
	return line;
}

/**
 * words_parse_lines - parse a text from its first line to the line "end"
 * @first: the line that it must begin with
 * @parse: for each line between them; returns 0 or a negative errno, which is the end
 * @data:  for @parse
 *
 * Return: 0; -EPROTO for another first line; -ENODATA without the last one; what @parse returned.
 */
static inline int words_parse_lines(char *text, const char *first,
				    int (*parse)(char *line, void *data), void *data)
{
	char *line = words_take_line(&text);
	int error = 0;

	if (!line)
		return -ENODATA;
	if (strcmp(line, first))
		return -EPROTO;
	while (!error && (line = words_take_line(&text))) {
		if (!strcmp(line, "end"))
			return 0;
		error = parse(line, data);
	}
	return error ? error : -ENODATA;
}

/* The next word of a line, or NULL behind the last one. */
static inline char *words_take(char **line)
{
	char *word = *line;

	if (!*word)
		return NULL;
	*line += strcspn(word, " ");
	if (**line)
		*(*line)++ = '\0';
	return word;
}

/* The next word, of @digits alone: strtoull() would take a sign, white space and "0x" too. */
static inline bool words_take_digits(char **line, const char *digits, int base,
				     uint64_t *ret_number)
{
	const char *word = words_take(line);

	if (!word || !*word || word[strspn(word, digits)])
		return false;
	errno = 0;
	*ret_number = strtoull(word, NULL, base);
	return !errno;
}

static inline bool words_take_u64(char **line, uint64_t *ret_number)
{
	return words_take_digits(line, "0123456789", 10, ret_number);
}

static inline bool words_take_address(char **line, uint64_t *ret_address)
{
	return words_take_digits(line, "0123456789abcdef", 16, ret_address);
}

static inline bool words_take_unsigned(char **line, unsigned int *ret_number)
{
	uint64_t number;

	if (!words_take_u64(line, &number) || number > UINT32_MAX)
		return false;
	*ret_number = (unsigned int)number;
	return true;
}

/* Frees a list of texts that NULL ends. */
static inline void words_free(char **list)
{
	for (char **text = list; text && *text; text++)
		free(*text);
	free(list);
}

#endif
