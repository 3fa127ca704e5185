/* SPDX-License-Identifier: MIT */
/*
 * The allocator under a workload, chosen when it is compiled: the library's calls with
 * ALLOC_UMEMCG, otherwise libc's names, which LD_PRELOAD can point at any other allocator.
 */
#ifndef ALLOCATOR_ALLOC_H
#define ALLOCATOR_ALLOC_H

#include <stddef.h>

#ifdef ALLOC_UMEMCG

#include <umemcg.h>

#define alloc_malloc(nr_bytes)          umemcg_malloc(nr_bytes)
#define alloc_calloc(nr, nr_bytes)      umemcg_calloc(nr, nr_bytes)
#define alloc_realloc(object, nr_bytes) umemcg_realloc(object, nr_bytes)
#define alloc_free(object)              umemcg_free(object)

#else

#include <stdlib.h>

#define alloc_malloc(nr_bytes)          malloc(nr_bytes)
#define alloc_calloc(nr, nr_bytes)      calloc(nr, nr_bytes)
#define alloc_realloc(object, nr_bytes) realloc(object, nr_bytes)
#define alloc_free(object)              free(object)

#endif

#endif
