/* SPDX-License-Identifier: MIT */
/* The files memory.*: what a group has charged, what it may, and what became of that. */
#include "control/files.h"

#include <errno.h>
#include <stdatomic.h>

#include "base/size.h"
#include "charge/counter.h"
#include "group/failure.h"
#include "group/rare.h"
#include "group/stat.h"
#include "kmem/heap.h"
#include "reclaim/limit.h"
#include "reclaim/pressure.h"

/* Each of these numbers stands alone; relaxed, for it orders nothing else. */
static uint64_t read_word(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

void memory_current_show(struct umemcg *group, struct text *text)
{
	text_put_size(text, read_word(&counter_row(group->id)->usage));
}

void memory_peak_show(struct umemcg *group, struct text *text)
{
	text_put_size(text, read_word(&counter_row(group->id)->peak));
}

void memory_max_show(struct umemcg *group, struct text *text)
{
	text_put_size(text, read_word(&counter_row(group->id)->max));
}

int memory_max_write(struct umemcg *group, const char *value)
{
	uint64_t max;
	int r = size_parse(value, &max);

	return r ? r : limit_set_max(thread_flight(), group, max);
}

static int write_setting(struct umemcg *group, const char *value,
			 int (*set)(struct umemcg *group, uint64_t nr_bytes))
{
	uint64_t nr_bytes;
	int r = size_parse(value, &nr_bytes);

	return r ? r : set(group, nr_bytes);
}

void memory_min_show(struct umemcg *group, struct text *text)
{
	text_put_size(text, read_word(&counter_limit(group_counter(group))->min));
}

int memory_min_write(struct umemcg *group, const char *value)
{
	return write_setting(group, value, group_set_min);
}

void memory_low_show(struct umemcg *group, struct text *text)
{
	text_put_size(text, read_word(&counter_limit(group_counter(group))->low));
}

int memory_low_write(struct umemcg *group, const char *value)
{
	return write_setting(group, value, group_set_low);
}

void memory_high_show(struct umemcg *group, struct text *text)
{
	text_put_size(text, read_word(&counter_limit(group_counter(group))->high));
}

int memory_high_write(struct umemcg *group, const char *value)
{
	return write_setting(group, value, group_set_high);
}

void memory_reserve_show(struct umemcg *group, struct text *text)
{
	text_put_size(text, read_word(&counter_limit(group_counter(group))->reserve));
}

int memory_reserve_write(struct umemcg *group, const char *value)
{
	return write_setting(group, value, group_set_reserve);
}

int memory_reclaim_write(struct umemcg *group, const char *value)
{
	uint64_t nr_bytes;
	int r = size_parse(value, &nr_bytes);

	return r ? r : limit_reclaim(thread_flight(), group, nr_bytes);
}

static const char *const event_names[UMEMCG_NR_EVENTS] = {
	[UMEMCG_EVENT_LOW] = "low",
	[UMEMCG_EVENT_HIGH] = "high",
	[UMEMCG_EVENT_MAX] = "max",
	[UMEMCG_EVENT_OOM] = "oom",
	[UMEMCG_EVENT_OOM_KILL] = "oom_kill",
	[UMEMCG_EVENT_OOM_GROUP_KILL] = "oom_group_kill",
	[UMEMCG_EVENT_UNDERFLOW] = "underflow",
};

static void show_events(const _Atomic uint32_t events[UMEMCG_NR_EVENTS], struct text *text)
{
	for (unsigned int i = 0; i < UMEMCG_NR_EVENTS; i++)
		text_put_pair(text, event_names[i],
			      atomic_load_explicit(&events[i], memory_order_relaxed));
}

void memory_events_show(struct umemcg *group, struct text *text)
{
	show_events(rare_of(group)->events, text);
}

void memory_events_local_show(struct umemcg *group, struct text *text)
{
	show_events(rare_of(group)->events_local, text);
}

static void show_pressure(const struct average *average, enum average_state state, const char *name,
			  struct text *text)
{
	static const char *const spans[AVERAGE_NR_SPANS] = { " avg10=", " avg60=", " avg300=" };

	text_put(text, name);
	for (unsigned int span = 0; span < AVERAGE_NR_SPANS; span++) {
		unsigned int hundredths = average_hundredths(average, state, span);

		text_put(text, spans[span]);
		text_put_number(text, hundredths / 100);
		text_put(text, hundredths % 100 < 10 ? ".0" : ".");
		text_put_number(text, hundredths % 100);
	}
	text_put(text, " total=");
	text_put_number(text, average->total_ns[state] / 1000);
	text_put(text, "\n");
}

void memory_pressure_show(struct umemcg *group, struct text *text)
{
	struct average average;

	pressure_read(group, &average);
	show_pressure(&average, AVERAGE_SOME, "some", text);
	show_pressure(&average, AVERAGE_FULL, "full", text);
}

/* A trigger would be that of the descriptor which it is written to; there is none here. */
int memory_pressure_write(struct umemcg *group, const char *value)
{
	(void)group;
	(void)value;
	return -EOPNOTSUPP;
}

/*
 * The kinds under their own names; "anon" and "slab" are also cgroup v2's. Its kernel_stack is
 * another thing: what is counted here are stacks of user space.
 */
void memory_stat_show(struct umemcg *group, struct text *text)
{
	struct umemcg_stat stat;

	group_get_stat(group, &stat);
	text_put_pair(text, "anon", stat.nr_bytes_anon);
	text_put_pair(text, "slab", stat.nr_bytes_slab);
	text_put_pair(text, "stack", stat.nr_bytes_stack);
	text_put_pair(text, "external", stat.nr_bytes_external);
	text_put_pair(text, "stock", stat.nr_bytes_stock);
	swap_stat_show(group, text);
}

/*
 * A name may hold blanks, so the number is what follows the last one. Locked, so that a group that
 * is being destroyed is shown as it was or not at all.
 */
void memory_consumers_show(struct umemcg *group, struct text *text)
{
	struct failure_consumer consumers[UMEMCG_NR_CONSUMERS];
	unsigned int nr_consumers;
	char path[UMEMCG_PATH_MAX];

	group_lock();
	nr_consumers = group_largest(group, consumers);
	for (unsigned int i = 0; i < nr_consumers; i++) {
		group_path_locked(group_row(consumers[i].group), path, sizeof(path));
		text_put_pair(text, path, consumers[i].nr_bytes);
	}
	group_unlock();
}
