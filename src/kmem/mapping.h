/* SPDX-License-Identifier: MIT */
/*
 * What was charged by whole mappings: regions and stacks, each with its length and its owner.
 *
 * A record outlives the group that was charged: it names the owner. The regions of an owner hang
 * together in a list, and destroying a group hands its list on to its heir, so that a group finds
 * all regions that are its own now without looking at any others.
 */
#ifndef UMEMCG_KMEM_MAPPING_H
#define UMEMCG_KMEM_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "group/group.h"

struct mapping {
	uint32_t next_free; /* while nobody has the row: table.h */
	uint32_t owner;     /* charged through it; 0 if this kind is not counted */
	uint64_t key;       /* first address; or, of the head of a list, whose it is */
	uint64_t nr_bytes;  /* 0: not a record of memory */
	uint32_t kind;
	uint32_t link; /* the index's */
	uint32_t next; /* the owner's list of regions, a ring through its head */
	uint32_t prev;
};

/** mapping_init - called once, before anything is recorded; 0 or -ENOMEM */
int mapping_init(void);

/** mapping_whole_pages - round up to pages; -ENOMEM if that is more than there can be */
int mapping_whole_pages(size_t nr_bytes, size_t *ret_nr_bytes);

/*
 * Between these two the calling thread makes, changes or ends mappings or large objects, and
 * another thread's fork waits: the child must not find one charged without a record, or the other
 * way round. They nest.
 */
void mapping_begin(void);
void mapping_end(void);

/** mapping_is_inside - is the calling thread between them? */
bool mapping_is_inside(void);

/** mapping_others_are_inside - is any other thread, now? */
bool mapping_others_are_inside(void);

/** mapping_fork_begin - before a fork, ahead of anything that keeps charges from ending */
void mapping_fork_begin(void);
void mapping_fork_end(void);
void mapping_fork_end_in_child(void);

/** mapping_thread_forks - is the calling thread between these, in a handler of somebody else's? */
bool mapping_thread_forks(void);

/**
 * mapping_charge - charge a mapping to a group, and record it
 * @address: unlike that of any other record until it is forgotten
 *
 * Return: 0; -ENOMEM: nothing is charged or recorded.
 */
int mapping_charge(struct umemcg *group, enum kind kind, const void *address, uint64_t nr_bytes);

/**
 * mapping_forget - take a record out; its bytes stay charged until mapping_uncharge()
 *
 * In between, the caller unmaps: not before, or another thread could record the same address; not
 * after, or the memory would be there uncharged.
 *
 * Return: 0; -EINVAL if there is no record of this kind.
 */
int mapping_forget(enum kind kind, const void *address, struct mapping *ret_mapping);
void mapping_uncharge(const struct mapping *mapping);

/** mapping_forget_region_of - take out any one region that an owner has; -ENOENT if it has none */
int mapping_forget_region_of(uint32_t owner, struct mapping *ret_mapping);

/** mapping_next_region_of - the address of the one of an owner's regions whose turn it is; 0: none
 */
uint64_t mapping_next_region_of(uint32_t owner);

/** mapping_has_region - is all of this range in one region? Looks at every record */
bool mapping_has_region(const void *address, uint64_t nr_bytes);

/** mapping_walk - show every record to @visit, which may not come back here */
void mapping_walk(void (*visit)(const struct mapping *mapping, void *arg), void *arg);

/* Shows what others keep records of, if there is anybody; set once. */
extern hidden void (*mapping_walk_others)(void (*visit)(const struct mapping *mapping, void *arg),
					  void *arg);

/**
 * mapping_lock - keep all records as they are
 *
 * Around the destruction of a group up to mapping_bequeath(): in between, the number of its owner
 * may already be another's.
 */
void mapping_lock(void);
void mapping_unlock(void);

/** mapping_bequeath - hand the regions of an owner that is gone on to its heir; locked */
void mapping_bequeath(uint32_t owner, uint32_t heir);

#endif
