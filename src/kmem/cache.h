/* SPDX-License-Identifier: MIT */
/* Caches of typed objects, as far as other files of the heap take part in them. */
#ifndef UMEMCG_KMEM_CACHE_H
#define UMEMCG_KMEM_CACHE_H

#include <stddef.h>

/** cache_forget - an object is freed by other means than its cache; it may be of none */
void cache_forget(void *object, size_t nr_bytes_charged);

#endif
