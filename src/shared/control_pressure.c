/* SPDX-License-Identifier: MIT */
#include "shared/control_pressure.h"

#include <errno.h>

#include "base/size.h"
#include "reclaim/limit.h"
#include "shared/ask.h"
#include "shared/stall.h"
#include "shared/throttle.h"

/* Each number stands alone; relaxed, for it orders nothing else. */
#define read_relaxed(word)         atomic_load_explicit(&(word), memory_order_relaxed)
#define write_relaxed(word, value) atomic_store_explicit(&(word), value, memory_order_relaxed)

/* ---- protection ---- */

void control_show_min(const struct segment *segment, uint32_t group, struct text *text)
{
	text_put_size(text, read_relaxed(segment_group(segment, group)->min));
}

void control_show_low(const struct segment *segment, uint32_t group, struct text *text)
{
	text_put_size(text, read_relaxed(segment_group(segment, group)->low));
}

static int write_size(uint32_t group, const char *value, _Atomic uint64_t *word)
{
	uint64_t nr_bytes;
	int r = size_parse(value, &nr_bytes);

	if (r)
		return r;
	if (group == SHARED_ROOT)
		return -EINVAL;
	write_relaxed(*word, nr_bytes);
	return 0;
}

int control_write_min(struct segment *segment, uint32_t group, const char *value)
{
	return write_size(group, value, &segment_group(segment, group)->min);
}

int control_write_low(struct segment *segment, uint32_t group, const char *value)
{
	return write_size(group, value, &segment_group(segment, group)->low);
}

/* ---- high ---- */

void control_show_high(const struct segment *segment, uint32_t group, struct text *text)
{
	text_put_size(text, read_relaxed(segment_group(segment, group)->high));
}

int control_write_high(struct segment *segment, uint32_t group, const char *value)
{
	int r = write_size(group, value, &segment_group(segment, group)->high);

	if (!r)
		throttle_high_changed(segment, group);
	return r;
}

/* ---- pressure ---- */

static void put_average(struct text *text, const char *name, unsigned int hundredths)
{
	const char digits[2] = { (char)('0' + hundredths / 10 % 10),
				 (char)('0' + hundredths % 10) };

	text_put(text, name);
	text_put_number(text, hundredths / 100);
	text_put(text, ".");
	text_put_bytes(text, digits, sizeof(digits));
}

void control_show_pressure(const struct segment *segment, uint32_t group, struct text *text)
{
	static const char *const states[AVERAGE_NR_STATES] = { "some", "full" };
	static const char *const spans[AVERAGE_NR_SPANS] = { " avg10=", " avg60=", " avg300=" };
	struct average average = stall_average(segment, group);

	for (unsigned int state = 0; state < AVERAGE_NR_STATES; state++) {
		text_put(text, states[state]);
		for (unsigned int span = 0; span < AVERAGE_NR_SPANS; span++)
			put_average(text, spans[span], average_hundredths(&average, state, span));
		text_put(text, " total=");
		text_put_number(text, average.total_ns[state] / 1000);
		text_put(text, "\n");
	}
}

/* ---- reclaim ---- */

/* Whoever is asked has a deadline of its own for what it does. */
int control_write_reclaim(struct segment *segment, uint32_t group, const char *value)
{
	uint64_t nr_bytes;
	int r = size_parse(value, &nr_bytes);

	if (r)
		return r;
	return ask_below(segment, 0, group, nr_bytes, limit_request_deadline()) < nr_bytes ? -EAGAIN
											   : 0;
}

/* ---- the policy ---- */

void control_show_oom_group(const struct segment *segment, uint32_t group, struct text *text)
{
	text_put(text, read_relaxed(segment_group(segment, group)->oom_group) ? "1\n" : "0\n");
}

int control_write_oom_group(struct segment *segment, uint32_t group, const char *value)
{
	bool kills_all = text_is_word(value, "1");

	if (group == SHARED_ROOT || (!kills_all && !text_is_word(value, "0")))
		return -EINVAL;
	write_relaxed(segment_group(segment, group)->oom_group, kills_all);
	return 0;
}

void control_show_oom_policy(const struct segment *segment, uint32_t group, struct text *text)
{
	bool kills = read_relaxed(segment_group(segment, group)->oom_policy) == SHARED_POLICY_KILL;

	text_put(text, kills ? "kill\n" : "fail\n");
}

int control_write_oom_policy(struct segment *segment, uint32_t group, const char *value)
{
	bool kills = text_is_word(value, "kill");

	if (group == SHARED_ROOT || (!kills && !text_is_word(value, "fail")))
		return -EINVAL;
	write_relaxed(segment_group(segment, group)->oom_policy,
		      kills ? SHARED_POLICY_KILL : SHARED_POLICY_FAIL);
	return 0;
}
