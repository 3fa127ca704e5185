/* SPDX-License-Identifier: MIT */
/*
 * The levels above the root: those of a shared tree, of which the process is a leaf.
 *
 * A private tree has none. They are reached by charges that climb past the root, and by whoever
 * looks whether its path is frozen; levels there are named by their row, marked by ABOVE.
 */
#ifndef UMEMCG_CHARGE_ABOVE_H
#define UMEMCG_CHARGE_ABOVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "charge/switch.h"

struct flight;
struct flight_row;

/* Marks the number of a level above the root; no counter has one as large. */
#define ABOVE (1u << 31)

struct charge_above {
	/** is_frozen - does somebody decide at a level above, or recover? seq_cst */
	bool (*is_frozen)(void);
	/** frees_wait - must who gives back wait? While others recover; with an image, as charges
	 */
	bool (*frees_wait)(void);
	/** wait_thawed - in no flight: until nobody does, as it seems */
	void (*wait_thawed)(void);
	/** try_add - in flight; 0, or the level where it does not fit: nothing is charged then */
	uint32_t (*try_add)(uint64_t nr_bytes, bool use_reserve);
	/** sub - in flight, or uncharging */
	void (*sub)(uint64_t nr_bytes);
	/** headroom - the most that fits above, now */
	uint64_t (*headroom)(bool use_reserve);
	/** refused - a level that is known to refuse so much, or 0 */
	uint32_t (*refused)(uint64_t nr_bytes);
	/** is_certain - in no flight: is a refusal that is known still right? Else try again */
	bool (*is_certain)(uint32_t at);
	/** decide - charge_decide() at a level above */
	int (*decide)(struct flight *flight, uint32_t owner, uint64_t nr_bytes, uint32_t at,
		      uint32_t *ret_at);
	/** nr_flights - threads that charge the tree, at most */
	uint32_t (*nr_flights)(void);
	/** round - of the last closing by another process that was given back: 0 or 1 */
	uint32_t (*round)(void);
	/** settle - in flight: what others gave back for the process is off its own books, too */
	void (*settle)(uint64_t nr_bytes);
	/** count_kind - of what is charged: so much more stacks or mappings, or less */
	void (*count_kind)(enum kind kind, int64_t nr_bytes);
	/** row - where others can see a thread's flight; NULL: there is no room left */
	struct flight_row *(*row)(void);
	/** throttle - after a charge, in no flight and with no lock held: wait, if a group above is
	 * above its high; @in_allocation: only once the thread has charged a good deal there.
	 * Bounded; no cancellation point. Microseconds that it was to wait */
	uint64_t (*throttle)(struct flight *flight, bool in_allocation);
	/** stall_begin - the thread waits for memory; not nested */
	void (*stall_begin)(struct flight *flight);
	void (*stall_end)(struct flight *flight);
	/** relieve - the same, of a charge that a level refuses still after what this process can
	 * give back: others give back, until the deadline, or the group's policy makes room. True:
	 * try again */
	bool (*relieve)(struct flight *flight, uint32_t at, uint64_t nr_bytes,
			uint64_t deadline_ns);
	/** tell - a charge was refused; the group's path, cut in front, its max and usage in bytes
	 */
	void (*tell)(uint32_t at, uint64_t nr_bytes, char *path, size_t size, uint64_t *ret_max,
		     uint64_t *ret_usage);
};

/* NULL in a private tree. Set once, before anything is charged. */
extern hidden const struct charge_above *charge_above;

#endif
