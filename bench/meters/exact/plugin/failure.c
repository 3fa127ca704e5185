/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "array.h"
#include "failure.h"

void complain(const char *format, ...)
{
	char line[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	fprintf(stderr, "umemcg-count: %s\n", line);
}

__attribute__((noreturn)) static void give_up(void)
{
	complain("out of memory");
	_exit(1);
}

void *allocate(size_t nr_elements, size_t nr_element_bytes)
{
	void *memory = calloc(nr_elements ? nr_elements : 1, nr_element_bytes);

	if (!memory)
		give_up();
	return memory;
}

void *allocate_next(void *array, size_t nr_elements, size_t nr_element_bytes)
{
	array = array_grown(array, nr_elements, nr_element_bytes);
	if (!array)
		give_up();
	return array;
}

void *allocate_more(void *array, size_t nr_elements, size_t nr_element_bytes)
{
	array = reallocarray(array, nr_elements, nr_element_bytes);
	if (!array)
		give_up();
	return array;
}
