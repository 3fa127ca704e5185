/* SPDX-License-Identifier: MIT */
/* A trigger of PSI's grammar, and whether it is met by totals that are looked at now and then. */
#ifndef UMEMCG_CMD_PRESSURE_TRIGGER_H
#define UMEMCG_CMD_PRESSURE_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

/* Looks in a window. */
#define PRESSURE_TRIGGER_NR_LOOKS 10u

struct pressure_trigger {
	bool is_full; /* all threads wait; else: at least one does */
	uint64_t threshold_us, window_us;
	/* Totals at the last looks, the oldest first to be overwritten. */
	uint64_t totals_us[PRESSURE_TRIGGER_NR_LOOKS];
	unsigned int nr_looks; /* so far */
	uint64_t quiet_until_us;
};

/**
 * pressure_trigger_parse - "some|full THRESHOLD WINDOW" in microseconds, with white space around it
 *
 * Return: 0; -EINVAL, also for a window that is not half a second to ten seconds, and a threshold
 * that is 0 or beyond the window.
 */
int pressure_trigger_parse(const char *text, struct pressure_trigger *ret_trigger);

/** pressure_trigger_period_us - how often it is to be looked at */
static inline uint64_t pressure_trigger_period_us(const struct pressure_trigger *trigger)
{
	return trigger->window_us / PRESSURE_TRIGGER_NR_LOOKS;
}

/** pressure_trigger_look - after another period, with the total of now: is it met? Once a window at
 * most */
bool pressure_trigger_look(struct pressure_trigger *trigger, uint64_t total_us, uint64_t now_us);

#endif
