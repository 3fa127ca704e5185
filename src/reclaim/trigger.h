/* SPDX-License-Identifier: MIT */
/*
 * A trigger of pressure: so much stall within a window. The kernel's grammar, read strictly, and
 * its sliding window: what the last one had is taken to have come evenly.
 */
#ifndef UMEMCG_RECLAIM_TRIGGER_H
#define UMEMCG_RECLAIM_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "reclaim/average.h"

#define TRIGGER_WINDOW_MIN_US 500000u
#define TRIGGER_WINDOW_MAX_US 10000000u

struct trigger {
	enum average_state state;
	uint64_t stall_ns;
	uint64_t window_ns;
	uint64_t start_ns;       /* of the window under way */
	uint64_t start_total_ns; /* stalled until then */
	uint64_t last_growth_ns; /* in the window before */
	uint64_t seen_total_ns;  /* at the last update */
	uint64_t wake_ns;        /* when it may wake at the earliest */
	bool is_pending;         /* it is to wake then */
};

/**
 * trigger_parse - read "some 150000 1000000": state, and microseconds of stall and window
 * @text: blanks between the words, and white space after the last one, as echo leaves it
 *
 * Return: 0; -EINVAL. The window is not begun.
 */
int trigger_parse(const char *text, struct trigger *ret_trigger);

/** trigger_begin - count from now on, when @total_ns of its state were stalled */
void trigger_begin(struct trigger *trigger, uint64_t now_ns, uint64_t total_ns);

/**
 * trigger_update - is it to wake now? Once a window at most: else it stays pending
 * @total_ns: stalled until now
 */
bool trigger_update(struct trigger *trigger, uint64_t now_ns, uint64_t total_ns);

#endif
