/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pressure_trigger.h"

#define WINDOW_MIN_US 500000u
#define WINDOW_MAX_US 10000000u

int pressure_trigger_parse(const char *text, struct pressure_trigger *ret_trigger)
{
	struct pressure_trigger trigger = { 0 };
	char kind[5], rest;
	int nr = sscanf(text, " %4s %10" SCNu64 " %10" SCNu64 " %c", kind, &trigger.threshold_us,
			&trigger.window_us, &rest);

	if (nr != 3 || (strcmp(kind, "some") && strcmp(kind, "full")))
		return -EINVAL;
	trigger.is_full = kind[0] == 'f';
	if (trigger.window_us < WINDOW_MIN_US || trigger.window_us > WINDOW_MAX_US ||
	    !trigger.threshold_us || trigger.threshold_us > trigger.window_us)
		return -EINVAL;
	*ret_trigger = trigger;
	return 0;
}

bool pressure_trigger_look(struct pressure_trigger *trigger, uint64_t total_us, uint64_t now_us)
{
	unsigned int place = trigger->nr_looks % PRESSURE_TRIGGER_NR_LOOKS;
	/* A window ago, or, before there was one, at the first look. */
	unsigned int oldest = trigger->nr_looks < PRESSURE_TRIGGER_NR_LOOKS ? 0 : place;
	uint64_t before_us = trigger->nr_looks ? trigger->totals_us[oldest] : total_us;

	trigger->totals_us[place] = total_us;
	trigger->nr_looks++;
	if (total_us - before_us < trigger->threshold_us || now_us < trigger->quiet_until_us)
		return false;
	trigger->quiet_until_us = now_us + trigger->window_us;
	return true;
}
