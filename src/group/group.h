/* SPDX-License-Identifier: MIT */
/*
 * The tree of groups.
 *
 * A group is two rows of the same number in two tables: its counter (charge/counter.h), which
 * charging needs, and this, which it does not. Rows name each other by number, never by pointer.
 */
#ifndef UMEMCG_GROUP_GROUP_H
#define UMEMCG_GROUP_GROUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "charge/counter.h"
#include "charge/flight.h"
#include "charge/switch.h"
#include "umemcg.h"

struct umemcg {
	/* What others may look at while the row is free, or changes hands. */
	uint32_t link; /* the table's, while the row is free */
	_Atomic bool is_live;
	_Atomic uint32_t holdings;         /* reclaim/holdings.h */
	_Atomic uint64_t nr_bytes_claimed; /* that threads are about to reclaim */
	_Atomic int64_t nr_bytes_due; /* to reclaim; less than 0: it gave more than its share */
	uint32_t id; /* of this row: set once, and the same for all groups that have it */
	_Atomic uint32_t nr_cancels; /* times that waits of this row's groups were ended */
	/* What a new group has anew. */
	uint32_t owner; /* charges of this group go through it */
	uint32_t first_child;
	uint32_t next_sibling;
	uint32_t prev_sibling;
	uint32_t next_named;       /* in the index of names */
	uint32_t name;             /* in the pool of names; 0: named after its id */
	_Atomic uint32_t rare;     /* group/rare.h */
	_Atomic uint32_t pressure; /* reclaim/pressure.h */
	uint32_t nr_descendants;
	uint32_t nr_visits; /* walks that are at this group; it is not destroyed meanwhile */
	uint64_t name_hash; /* of a group with a name: of that and the parent */
	_Atomic bool has_inherited; /* from a group that was destroyed below it */
	/* Own charges by kind; slab is the rest. Relaxed: they order nothing. */
	_Atomic uint64_t nr_bytes_stack;
	_Atomic uint64_t nr_bytes_anon;
};

/* What a floor above hands over when a group is destroyed. */
struct group_bequest {
	/* The tree is locked; nothing is charged to the group any more, and its id is still its
	 * own.
	 */
	void (*bequeath)(struct umemcg *group, struct umemcg *heir);
	struct group_bequest *next;
};

/** group_add_bequest - with the tree locked, or before there is any group but the root */
void group_add_bequest(struct group_bequest *bequest);

/**
 * group_init - make the tables and the root; called once, before anything is charged
 *
 * Return: 0 or -ENOMEM.
 */
int group_init(void);

/** group_row - the group with this id, which a live group, counter or owner gave */
struct umemcg *group_row(uint32_t id);

/* The first rows. */
extern hidden struct umemcg first_groups[TABLE_NR_FIRST];

static always_inline struct umemcg *group_root(void)
{
	return &first_groups[ROOT_COUNTER];
}

static inline struct counter *group_counter(const struct umemcg *group)
{
	return counter_row(group->id);
}

/** group_of_owner - the live group that an owner's objects are charged to */
struct umemcg *group_of_owner(uint32_t owner);

/** group_is_live - for checks of arguments: the pointer is a group that is not destroyed */
bool group_is_live(const struct umemcg *group);

/* Held over a fork, and by whoever walks or changes the tree. */
void group_lock(void);
void group_unlock(void);

/*
 * As their namesakes in umemcg.h, for live groups and never NULL; @flight is the calling thread's,
 * or NULL if there was no memory for one: -ENOMEM, and nothing is drained. group_destroy() leaves
 * it to the caller to know that no thread is in the group, and is -EAGAIN while a walk is there,
 * whose visit may need locks that the caller holds.
 */
int group_create(struct umemcg *parent, const char *name, struct umemcg **ret_group);
int group_destroy(struct flight *flight, struct umemcg *group);
int group_lookup(const char *path, struct umemcg **ret_group);
struct umemcg *group_parent(const struct umemcg *group);
size_t group_name(const struct umemcg *group, char *buffer, size_t size);
size_t group_path(const struct umemcg *group, char *buffer, size_t size);
size_t group_path_length_locked(const struct umemcg *group);
size_t group_path_locked(const struct umemcg *group, char *buffer, size_t size);
int group_walk(struct umemcg *top, int (*visit)(struct umemcg *group, void *arg), void *arg);
int group_set_max(struct flight *flight, struct umemcg *group, uint64_t max);
int group_set_reserve(struct umemcg *group, uint64_t nr_bytes);
int group_set_min(struct umemcg *group, uint64_t nr_bytes);
int group_set_low(struct umemcg *group, uint64_t nr_bytes);
int group_set_high(struct umemcg *group, uint64_t nr_bytes);
void group_drain(struct flight *flight, struct umemcg *group);

/** group_next - the group after @group in a walk below @top, parents first; NULL at the end.
 * The caller holds the lock */
struct umemcg *group_next(const struct umemcg *group, const struct umemcg *top);

#endif
