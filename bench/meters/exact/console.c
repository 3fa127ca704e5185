/* SPDX-License-Identifier: MIT */
#include "meters/exact/console.h"

#include <stdio.h>
#include <string.h>

#define ESCAPE '\033'
#define PREFIX "\n    | "

/* Past a control sequence, "ESC [ parameters letter", or an escape of one letter. */
static const char *skip_escape(const char *at)
{
	if (*++at != '[')
		return *at ? at + 1 : at;
	for (at++; *at && (*at < '@' || *at > '~'); at++)
		;
	return *at ? at + 1 : at;
}

void console_clean(char *text)
{
	const char *at = text;
	char *end = text;

	while (*at) {
		if (*at == ESCAPE) {
			at = skip_escape(at);
			continue;
		}
		if (*at == '\n' || (*at >= ' ' && *at <= '~'))
			*end++ = *at;
		else if (*at == '\t')
			*end++ = ' ';
		at++;
	}
	*end = '\0';
}

static size_t line_length(const char *line)
{
	size_t length = strcspn(line, "\n");

	return length < CONSOLE_WIDTH ? length : CONSOLE_WIDTH;
}

/* The lines of a text that are not empty: the last ones, newest first. */
static size_t last_lines(const char *text, const char **lines, size_t nr_max)
{
	size_t nr = 0;
	const char *end = text + strlen(text);

	while (nr < nr_max && end > text) {
		const char *start = end;

		while (start > text && start[-1] != '\n')
			start--;
		if (strspn(start, " ") < (size_t)(end - start))
			lines[nr++] = start;
		end = start > text ? start - 1 : text;
	}
	return nr;
}

void console_append(char *message, size_t size, const char *text)
{
	const char *lines[CONSOLE_LINES];
	size_t nr = last_lines(text, lines, CONSOLE_LINES);
	size_t room = size - 1 - strlen(message), fit = 0;

	while (fit < nr && room >= strlen(PREFIX) + line_length(lines[fit])) {
		room -= strlen(PREFIX) + line_length(lines[fit]);
		fit++;
	}
	while (fit-- > 0) {
		size_t length = strlen(message);

		snprintf(message + length, size - length, PREFIX "%.*s",
			 (int)line_length(lines[fit]), lines[fit]);
	}
}

bool console_panic(const char *text, char *ret_reason, size_t size)
{
	static const char words[] = "Kernel panic - not syncing: ";
	const char *start = strstr(text, words);

	if (!start)
		return false;
	start += strlen(words);
	snprintf(ret_reason, size, "%.*s", (int)line_length(start), start);
	return true;
}

void console_last(const char *text, char *ret_line, size_t size)
{
	const char *line;

	ret_line[0] = '\0';
	if (last_lines(text, &line, 1))
		snprintf(ret_line, size, "%.*s", (int)strcspn(line, "\n"), line);
}
