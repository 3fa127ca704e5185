/* SPDX-License-Identifier: MIT */
/*
 * Which address ranges of an unmodified program are accounted, and how.
 *
 * Spans are disjoint, ordered by address, and those that touch differ in state or owner. A search
 * tree over rows of 32 bytes: every operation takes time in the logarithm of their number, besides
 * the spans that it removes. The rows are mapped by the library itself, and charged to nobody.
 *
 * The caller serialises everything here.
 */
#ifndef UMEMCG_PRELOAD_SPANS_H
#define UMEMCG_PRELOAD_SPANS_H

#include <stdbool.h>
#include <stdint.h>

enum span_state {
	SPAN_NONE,     /* not in the table: no private anonymous memory, or not seen */
	SPAN_RESERVED, /* private and anonymous, not writable since it was mapped: no memory yet */
	SPAN_RELEASED, /* was charged, its memory was given back by madvise, may be touched again */
	SPAN_CHARGED,  /* charged to its owner, each byte */
	SPAN_UNCOUNTED, /* writable, but longer than any limit allows: let through */
	NR_SPAN_STATES,
};

struct span {
	uint64_t start;
	uint64_t end;
	enum span_state state;
	uint32_t owner; /* 0 unless charged: an owner without bytes may be gone */
};

/** spans_init - once, before anything else; 0 or -ENOMEM */
int spans_init(void);

/**
 * spans_make_room - have rows at hand for this many calls of spans_set()
 *
 * Return: 0; -ENOMEM.
 */
int spans_make_room(uint64_t nr_changes);

/**
 * spans_set - say what a range is, whatever it was
 *
 * It cannot fail: there is room for it.
 */
void spans_set(uint64_t start, uint64_t end, enum span_state state, uint32_t owner);

/**
 * spans_next - the first span with an address in a range, cut down to it
 *
 * Return: false if there is none.
 */
bool spans_next(uint64_t start, uint64_t end, struct span *ret_span);

/** spans_nr_bytes - the sum of all spans in a state */
uint64_t spans_nr_bytes(enum span_state state);

/** spans_nr - how many there are */
uint64_t spans_nr(void);

#endif
