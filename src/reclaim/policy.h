/* SPDX-License-Identifier: MIT */
/*
 * OOM policies: what follows when a charge does not fit and nothing can be reclaimed.
 *
 * The group whose limit was hit decides: the charge fails, the process is killed, or the program is
 * asked. It is asked by the thread that charges, with no lock held; what that thread is refused
 * meanwhile asks nobody.
 */
#ifndef UMEMCG_RECLAIM_POLICY_H
#define UMEMCG_RECLAIM_POLICY_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/compiler.h"
#include "umemcg.h"

struct flight;

/* How often one charge may ask. */
#define POLICY_CALLS_MAX 16u

/* Some group has, or had, another policy than to fail. Relaxed: who has set one charges later. */
extern hidden _Atomic bool policy_is_used;

/** policy_set - umemcg_set_oom_policy() of a live group */
int policy_set(struct umemcg *group, enum umemcg_oom_policy policy,
	       bool (*callback)(struct umemcg *group, const struct umemcg_failure *failure,
				void *arg),
	       void *arg);
enum umemcg_oom_policy policy_get(const struct umemcg *group);

/** policy_set_group_kill - memory.oom.group; 0, -EINVAL for the root, or -ENOMEM */
int policy_set_group_kill(struct umemcg *group, bool is_on);
bool policy_get_group_kill(const struct umemcg *group);

/** policy_wait - until no callback runs for a group that was just destroyed; as policy_set() does
 */
void policy_wait(const struct umemcg *group);

/**
 * policy_decides - a charge does not fit at @full: is it to be tried again?
 * @flight:  the thread's, which may begin a callback
 * @full:    perhaps destroyed meanwhile
 * @failure: of the charge
 *
 * With no lock held, and nothing half done.
 */
bool policy_decides(struct flight *flight, struct umemcg *full,
		    const struct umemcg_failure *failure);

/** policy_forget_others - in a child, which has the callbacks of one thread; the tree is locked */
void policy_forget_others(void);

#endif
