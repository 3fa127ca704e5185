/* SPDX-License-Identifier: MIT */
/* Stacks that the program asks for. */
#ifndef UMEMCG_KMEM_STACK_H
#define UMEMCG_KMEM_STACK_H

#include <stddef.h>

#include "umemcg.h"

/** stack_alloc - umemcg_stack_alloc(), charged to @group */
int stack_alloc(struct umemcg *group, size_t nr_bytes, void **ret_stack);

/** stack_free - umemcg_stack_free(); anything but such a stack is left alone and reported */
void stack_free(void *stack);

#endif
