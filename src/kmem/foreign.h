/* SPDX-License-Identifier: MIT */
/*
 * Pointers that do not lie in the heap.
 *
 * To the library they are a fault of the program. To the preload object, which has its own in place
 * of these weak functions, they are what others allocated before it was there, or beside it.
 */
#ifndef UMEMCG_KMEM_FOREIGN_H
#define UMEMCG_KMEM_FOREIGN_H

#include <stddef.h>

/** foreign_notice - somebody freed, or asked about, what is not NULL and does not lie in the heap
 */
void foreign_notice(const void *pointer);

/** foreign_realloc - an object with the contents of such a one; NULL with errno set to ENOMEM */
void *foreign_realloc(void *pointer, size_t nr_bytes);

#endif
