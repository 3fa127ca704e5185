/* SPDX-License-Identifier: MIT */
#include "slot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "torture.h"
#include "umemcg.h"

struct umemcg *top;
struct slot slots[NR_SLOTS];

void slots_init(void)
{
	for (unsigned int i = 0; i < NR_SLOTS; i++) {
		require(!pthread_rwlock_init(&slots[i].lock, NULL));
		require(!umemcg_create(top, NULL, &slots[i].group));
	}
}

struct slot *any_slot(unsigned int *random)
{
	return &slots[rand_r(random) % NR_SLOTS];
}

/* Explicit charges go with the group to the top, and are given back there. */
void replace_group(struct slot *slot, unsigned int *random)
{
	char name[32];
	int r;

	if (pthread_rwlock_trywrlock(&slot->lock))
		return;
	r = umemcg_destroy(slot->group);
	/* Somebody may be about to leave it; nobody can come. */
	require(!r || r == -EBUSY);
	if (!r) {
		umemcg_uncharge(top, atomic_exchange(&slot->nr_explicit, 0));
		snprintf(name, sizeof(name), "slot%zu", (size_t)(slot - slots));
		require(!umemcg_create(top, rand_r(random) % 2 ? name : NULL, &slot->group));
		if (rand_r(random) % 2)
			require(!umemcg_set_max(slot->group, 4 << 20));
	}
	pthread_rwlock_unlock(&slot->lock);
}
