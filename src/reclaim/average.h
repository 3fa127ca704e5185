/* SPDX-License-Identifier: MIT */
/*
 * The averages of pressure, as the kernel's PSI computes them: shares of time that somebody, or
 * everybody, was stalled, averaged over 10, 60 and 300 seconds by a step each 2 seconds.
 */
#ifndef UMEMCG_RECLAIM_AVERAGE_H
#define UMEMCG_RECLAIM_AVERAGE_H

#include <stdbool.h>
#include <stdint.h>

enum average_state {
	AVERAGE_SOME, /* at least one thread is stalled */
	AVERAGE_FULL, /* all are */
	AVERAGE_NR_STATES
};

enum average_span { AVERAGE_10S, AVERAGE_60S, AVERAGE_300S, AVERAGE_NR_SPANS };

#define AVERAGE_PERIOD_NS 2000000000ull

/* Averages are fixed-point percents: this much is 1 %. */
#define AVERAGE_ONE 2048u

struct average {
	uint64_t at_ns;         /* all before this is counted */
	uint64_t period_end_ns; /* when the averages make their next step */
	uint64_t total_ns[AVERAGE_NR_STATES];
	uint64_t sample_ns[AVERAGE_NR_STATES]; /* of the period under way */
	uint32_t loads[AVERAGE_NR_STATES][AVERAGE_NR_SPANS];
};

/** average_init - nothing was stalled until @now_ns, of a clock that never goes back */
void average_init(struct average *average, uint64_t now_ns);

/**
 * average_advance - count the time since the last call
 * @is_stalled: of each state: did it last all that time?
 *
 * An earlier @now_ns than the last one counts nothing.
 */
void average_advance(struct average *average, const bool is_stalled[AVERAGE_NR_STATES],
		     uint64_t now_ns);

/** average_hundredths - an average in hundredths of a percent, for "12.34" */
unsigned int average_hundredths(const struct average *average, enum average_state state,
				enum average_span span);

#endif
