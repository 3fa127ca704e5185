/* SPDX-License-Identifier: MIT */
/*
 * Memory for the heap's own records: heaps, views, owner tags. Not charged to anyone.
 *
 * Blocks of powers of two, cut from chunks that the system gives; never given back to it, but used
 * again.
 */
#ifndef UMEMCG_KMEM_META_H
#define UMEMCG_KMEM_META_H

#include <stddef.h>

/** meta_alloc - zeroed memory, aligned to a cache line, or NULL */
void *meta_alloc(size_t nr_bytes);
void meta_free(void *block, size_t nr_bytes);

/** meta_hold - keep others out, as before a fork; meta_release() lets them in again */
void meta_hold(void);
void meta_release(void);

#endif
