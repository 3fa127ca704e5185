/* SPDX-License-Identifier: MIT */
/* One of everything that a thread may ask of the library, on objects that all threads share. */
#ifndef UMEMCG_TEST_TORTURE_OPERATIONS_H
#define UMEMCG_TEST_TORTURE_OPERATIONS_H

#include "slot.h"

struct umemcg_cache;

extern struct umemcg_cache *cache;

/** one_step - any operation; the caller holds the slot for reading, and is in its group */
void one_step(struct slot *slot, unsigned int *random);

/** free_shared - check and free what is left of the shared objects */
void free_shared(void);

#endif
