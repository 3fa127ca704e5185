/* SPDX-License-Identifier: MIT */
/* Fork in a program with threads: what the child finds. */
#ifndef UMEMCG_KMEM_FORK_H
#define UMEMCG_KMEM_FORK_H

struct heap;

/** fork_init - have the heap held at every fork; 0 or a negative errno */
int fork_init(void);

void heap_list_hold(void);
void heap_list_release(void);

/** heap_forget_threads - in a fork child: all heaps but the caller's wait for a thread */
void heap_forget_threads(void);

/** heap_repair - count what the pages of a heap have, whose thread was lost in a fork */
void heap_repair(struct heap *heap);

/** heap_make_idle - give back what is charged ahead, and let the heap wait for a thread */
void heap_make_idle(struct heap *heap);

#endif
