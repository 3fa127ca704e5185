/* SPDX-License-Identifier: MIT */
#include "reclaim/trigger.h"

#include <errno.h>
#include <string.h>

#define NS_PER_US 1000u

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* A number after blanks, of which there must be one. False: there is none, or it is too large. */
static bool read_number(const char **text, uint64_t *ret_number)
{
	uint64_t number = 0;
	const char *c = *text;

	if (!is_blank(*c))
		return false;
	while (is_blank(*c))
		c++;
	if (*c < '0' || *c > '9')
		return false;
	for (; *c >= '0' && *c <= '9'; c++) {
		number = number * 10 + (uint64_t)(*c - '0');
		if (number > TRIGGER_WINDOW_MAX_US)
			return false;
	}
	*text = c;
	*ret_number = number;
	return true;
}

static bool read_state(const char **text, enum average_state *ret_state)
{
	bool is_full = !strncmp(*text, "full", strlen("full"));

	if (!is_full && strncmp(*text, "some", strlen("some")) != 0)
		return false;
	*text += strlen("some");
	*ret_state = is_full ? AVERAGE_FULL : AVERAGE_SOME;
	return true;
}

int trigger_parse(const char *text, struct trigger *ret_trigger)
{
	uint64_t stall_us, window_us;
	enum average_state state;

	if (!read_state(&text, &state) || !read_number(&text, &stall_us) ||
	    !read_number(&text, &window_us))
		return -EINVAL;
	while (is_blank(*text) || *text == '\n')
		text++;
	if (*text || !stall_us || stall_us > window_us || window_us < TRIGGER_WINDOW_MIN_US)
		return -EINVAL;
	*ret_trigger = (struct trigger){ .state = state,
					 .stall_ns = stall_us * NS_PER_US,
					 .window_ns = window_us * NS_PER_US };
	return 0;
}

static void begin_window(struct trigger *trigger, uint64_t now_ns, uint64_t total_ns,
			 uint64_t last_growth_ns)
{
	trigger->start_ns = now_ns;
	trigger->start_total_ns = total_ns;
	trigger->last_growth_ns = last_growth_ns;
}

void trigger_begin(struct trigger *trigger, uint64_t now_ns, uint64_t total_ns)
{
	begin_window(trigger, now_ns, total_ns, 0);
	trigger->seen_total_ns = total_ns;
	trigger->wake_ns = now_ns;
	trigger->is_pending = false;
}

/* Of what came in the window before. The product is below 10^7 times 10^10. */
static uint64_t part_of_last(const struct trigger *trigger, uint64_t elapsed_ns)
{
	uint64_t growth_ns = trigger->last_growth_ns;

	if (growth_ns > trigger->window_ns)
		growth_ns = trigger->window_ns;
	return growth_ns / NS_PER_US * (trigger->window_ns - elapsed_ns) /
	       (trigger->window_ns / NS_PER_US);
}

/* What came within the last window's length. */
static uint64_t growth(struct trigger *trigger, uint64_t now_ns, uint64_t total_ns)
{
	uint64_t elapsed_ns = now_ns - trigger->start_ns;
	uint64_t growth_ns = total_ns - trigger->start_total_ns;

	if (elapsed_ns > trigger->window_ns)
		begin_window(trigger, now_ns, total_ns, growth_ns);
	else
		growth_ns += part_of_last(trigger, elapsed_ns);
	return growth_ns;
}

bool trigger_update(struct trigger *trigger, uint64_t now_ns, uint64_t total_ns)
{
	if (total_ns != trigger->seen_total_ns) {
		trigger->seen_total_ns = total_ns;
		if (growth(trigger, now_ns, total_ns) >= trigger->stall_ns)
			trigger->is_pending = true;
	} else if (now_ns - trigger->start_ns > 2 * trigger->window_ns) {
		/* Nothing came for so long that nothing of before counts any more. */
		begin_window(trigger, now_ns, total_ns, 0);
	}
	if (!trigger->is_pending || now_ns < trigger->wake_ns)
		return false;
	trigger->is_pending = false;
	trigger->wake_ns = now_ns + trigger->window_ns;
	return true;
}
