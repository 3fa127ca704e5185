/* SPDX-License-Identifier: MIT */
#include "reclaim/average.h"

#include <string.h>

#include "base/compiler.h"

/* What is left of an average after a step: 2048 * e^(-2/10), e^(-2/60) and e^(-2/300). */
static const uint32_t decay[AVERAGE_NR_SPANS] = { 1677, 1981, 2034 };

/* After so many steps of the same sample each average has arrived at it, wherever it began. */
#define NR_STEPS_MAX 4096u

void average_init(struct average *average, uint64_t now_ns)
{
	memset(average, 0, sizeof(*average));
	average->at_ns = now_ns;
	average->period_end_ns = now_ns + AVERAGE_PERIOD_NS;
}

/* Rounded towards the sample from below, so that it is reached. */
static uint32_t step(uint32_t load, uint32_t left, uint32_t sample)
{
	uint64_t next = (uint64_t)load * left + (uint64_t)sample * (AVERAGE_ONE - left);

	if (sample >= load)
		next += AVERAGE_ONE - 1;
	return next / AVERAGE_ONE;
}

/* The sample is a whole number of percents, cut, as the kernel's is. */
static void step_all(struct average *average, enum average_state state, uint64_t nr_steps)
{
	uint32_t sample = average->sample_ns[state] * 100 / AVERAGE_PERIOD_NS * AVERAGE_ONE;

	for (uint64_t i = 0; i < nr_steps; i++)
		for (unsigned int span = 0; span < AVERAGE_NR_SPANS; span++)
			average->loads[state][span] =
				step(average->loads[state][span], decay[span], sample);
}

static void add(struct average *average, const bool is_stalled[AVERAGE_NR_STATES],
		uint64_t until_ns)
{
	uint64_t elapsed_ns = until_ns - average->at_ns;

	for (unsigned int state = 0; state < AVERAGE_NR_STATES; state++) {
		if (!is_stalled[state])
			continue;
		average->total_ns[state] += elapsed_ns;
		average->sample_ns[state] += elapsed_ns;
	}
	average->at_ns = until_ns;
}

/* The period under way has ended, and then @nr_more were of one kind throughout. */
static void end_periods(struct average *average, const bool is_stalled[AVERAGE_NR_STATES],
			uint64_t nr_more)
{
	for (unsigned int state = 0; state < AVERAGE_NR_STATES; state++) {
		step_all(average, state, 1);
		average->sample_ns[state] = is_stalled[state] ? AVERAGE_PERIOD_NS : 0;
		step_all(average, state, min(nr_more, (uint64_t)NR_STEPS_MAX));
		average->sample_ns[state] = 0;
		if (is_stalled[state])
			average->total_ns[state] += nr_more * AVERAGE_PERIOD_NS;
	}
	average->at_ns += nr_more * AVERAGE_PERIOD_NS;
	average->period_end_ns = average->at_ns + AVERAGE_PERIOD_NS;
}

void average_advance(struct average *average, const bool is_stalled[AVERAGE_NR_STATES],
		     uint64_t now_ns)
{
	if (now_ns <= average->at_ns)
		return;
	if (now_ns >= average->period_end_ns) {
		uint64_t nr_more = (now_ns - average->period_end_ns) / AVERAGE_PERIOD_NS;

		add(average, is_stalled, average->period_end_ns);
		end_periods(average, is_stalled, nr_more);
	}
	add(average, is_stalled, now_ns);
}

unsigned int average_hundredths(const struct average *average, enum average_state state,
				enum average_span span)
{
	return (uint64_t)average->loads[state][span] * 100 / AVERAGE_ONE;
}
