/* SPDX-License-Identifier: MIT */
/* Arrays that grow by one: their room is the next power of two, so nobody keeps it. */
#ifndef BENCH_ARRAY_H
#define BENCH_ARRAY_H

#include <stddef.h>
#include <stdlib.h>

/**
 * array_grown - an array with room for one more element
 * @array:            from an earlier call, or NULL when @nr_elements is 0
 * @nr_elements:      in it now, be that fewer than before
 * @nr_element_bytes: size of one
 *
 * Return: the array in place of @array, which is gone if the pointers differ;
 * NULL without memory, then @array is as it was.
 */
static inline void *array_grown(void *array, size_t nr_elements, size_t nr_element_bytes)
{
	size_t nr_room = nr_elements ? 2 * nr_elements : 1;

	if (nr_elements & (nr_elements - 1))
		return array;
	return reallocarray(array, nr_room, nr_element_bytes);
}

#endif
