/* SPDX-License-Identifier: MIT */
/* What cannot be counted is said in one line on stderr; no count is better than a wrong one. */
#ifndef EXACT_PLUGIN_FAILURE_H
#define EXACT_PLUGIN_FAILURE_H

#include <stddef.h>

/** complain - one line on stderr, behind the plug-in's name */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);

/**
 * allocate - zeroed memory, for free()
 *
 * A plug-in has no way to hand an error to the emulator, so without memory the emulator ends with a
 * line, and what was counted has no last line.
 */
void *allocate(size_t nr_elements, size_t nr_element_bytes)
	__attribute__((malloc, returns_nonnull));

/** allocate_next - as array_grown(); what is new is not zeroed */
void *allocate_next(void *array, size_t nr_elements, size_t nr_element_bytes)
	__attribute__((returns_nonnull));

/** allocate_more - as reallocarray(); what is new is not zeroed */
void *allocate_more(void *array, size_t nr_elements, size_t nr_element_bytes)
	__attribute__((returns_nonnull));

#endif
