/* SPDX-License-Identifier: MIT */
/* Allocating from a view that the caller names. */
#ifndef UMEMCG_KMEM_ALLOC_H
#define UMEMCG_KMEM_ALLOC_H

#include <stddef.h>

struct view;

/** view_alloc_bytes - an object of any size; NULL: thread_try_again() is to follow */
void *view_alloc_bytes(struct view *view, size_t nr_bytes);

#endif
