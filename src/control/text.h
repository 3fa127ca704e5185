/* SPDX-License-Identifier: MIT */
/* Text of a control file, written into a buffer that may be too small for it. */
#ifndef UMEMCG_CONTROL_TEXT_H
#define UMEMCG_CONTROL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *buffer;
	size_t size;   /* of the buffer; may be 0 */
	size_t length; /* of the whole text, also of what did not fit */
};

void text_put_bytes(struct text *text, const char *bytes, size_t nr_bytes);
void text_put(struct text *text, const char *string);
void text_put_number(struct text *text, uint64_t number);

/** text_put_size - a line: plain bytes, or "max" */
void text_put_size(struct text *text, uint64_t nr_bytes);

/** text_put_pair - a line of a flat-keyed file: "KEY NUMBER" */
void text_put_pair(struct text *text, const char *key, uint64_t number);

/** text_is_word - is a value, without the white space around it, this word? */
bool text_is_word(const char *value, const char *word);

/** text_end - terminate what is in the buffer with a NUL; returns the length of the whole text */
size_t text_end(struct text *text);

#endif
