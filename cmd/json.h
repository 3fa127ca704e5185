/* SPDX-License-Identifier: MIT */
/* What all verbs' JSON has in common: sizes in bytes, null for no limit. */
#ifndef UMEMCG_CMD_JSON_H
#define UMEMCG_CMD_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** json_size - bytes; null for UMEMCG_MAX */
json_t *json_size(uint64_t nr_bytes);

/** json_text - a string; bytes that are not UTF-8 become '?' */
json_t *json_text(const char *text);

/** json_counts - an object of a text with lines like "max 3"; of NULL an empty one */
json_t *json_counts(const char *text);

/**
 * json_print - print @json, indented unless @is_line, with a newline, and free it
 * @json: NULL: there was no memory for it, which is said
 *
 * Return: the verb's exit status; the stream may have failed, too.
 */
int json_print(json_t *json, FILE *stream, bool is_line, const char *verb);

#endif
