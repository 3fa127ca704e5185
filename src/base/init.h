/* SPDX-License-Identifier: MIT */
/*
 * Getting ready: every public call that needs a table, a lock or the switch comes by here first.
 */
#ifndef UMEMCG_BASE_INIT_H
#define UMEMCG_BASE_INIT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/compiler.h"

/* A bit for each kind that is counted, and one that says whether anything is. */
#define LIBRARY_COUNTS (1u << 31)
/* And one that says that the others are known. */
#define LIBRARY_DECIDED (1u << 30)

/* Both are written once, by make_ready() in src/init.c. */
extern hidden _Atomic bool library_is_ready;
extern hidden _Atomic unsigned int library_counted;

/* Makes the library ready, once; defined where all floors are in sight (src/init.c). */
void library_init_once(void);

/**
 * library_init - make the library ready, if it is not
 *
 * A load and a branch after the first time. From any thread, before main() and from constructors
 * too. A call from within the making itself returns at once.
 */
static always_inline void library_init(void)
{
	/* acquire: pairs with the release in make_ready(); what was made is visible. */
	if (unlikely(!atomic_load_explicit(&library_is_ready, memory_order_acquire)))
		library_init_once();
}

/** library_counts - is any of these counted? Makes the library ready if it is not */
static always_inline bool library_counts(unsigned int bits)
{
	/* acquire: as above. */
	if (likely(atomic_load_explicit(&library_counted, memory_order_acquire) & bits))
		return true;
	library_init();
	return atomic_load_explicit(&library_counted, memory_order_acquire) & bits;
}

/** library_counts_none - is it known that none of these is counted? Makes nothing ready */
static always_inline bool library_counts_none(unsigned int bits)
{
	/* acquire: as above. */
	unsigned int counted = atomic_load_explicit(&library_counted, memory_order_acquire);

	return (counted & (bits | LIBRARY_DECIDED)) == LIBRARY_DECIDED;
}

#endif
