/* SPDX-License-Identifier: MIT */
/* Places for groups that come and go, all below one. */
#ifndef UMEMCG_TEST_TORTURE_SLOT_H
#define UMEMCG_TEST_TORTURE_SLOT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#define NR_SLOTS 24u

struct umemcg;

/* Who charges to a group, or is in it, reads the slot; who destroys it writes. */
struct slot {
	pthread_rwlock_t lock;
	struct umemcg *group;
	_Atomic(uint64_t) nr_explicit;
};

extern struct umemcg *top;
extern struct slot slots[NR_SLOTS];

/** slots_init - a group below the top in each */
void slots_init(void);

struct slot *any_slot(unsigned int *random);

/** replace_group - unless somebody reads the slot, or charges remain: another group in its place */
void replace_group(struct slot *slot, unsigned int *random);

#endif
