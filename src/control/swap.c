/* SPDX-License-Identifier: MIT */
/*
 * The files memory.swap.* and memory.zswap.current: pages of regions that are stored elsewhere.
 * memory.swap.current is what lies in the swap file; cgroup v2 counts compressed pages there, too.
 */
#include <errno.h>

#include "base/size.h"
#include "control/files.h"
#include "user/account.h"
#include "user/store.h"

static struct account_counts counts_of(const struct umemcg *group)
{
	struct account_counts counts;
	uint64_t swap_max;

	account_read(group, &counts, &swap_max);
	return counts;
}

void memory_swap_current_show(struct umemcg *group, struct text *text)
{
	text_put_size(text, counts_of(group).nr_bytes_swap);
}

void memory_swap_peak_show(struct umemcg *group, struct text *text)
{
	text_put_size(text, counts_of(group).nr_bytes_swap_peak);
}

void memory_swap_max_show(struct umemcg *group, struct text *text)
{
	struct account_counts counts;
	uint64_t swap_max;

	account_read(group, &counts, &swap_max);
	text_put_size(text, swap_max);
}

int memory_swap_max_write(struct umemcg *group, const char *value)
{
	uint64_t nr_bytes;
	int r = size_parse(value, &nr_bytes);

	if (r)
		return r;
	if (group == group_root())
		return -EINVAL;
	r = store_prepare();
	return r ? r : account_set_swap_max(group, nr_bytes);
}

void memory_swap_events_show(struct umemcg *group, struct text *text)
{
	struct account_counts counts = counts_of(group);

	text_put_pair(text, "max", counts.nr_swap_max);
	text_put_pair(text, "fail", counts.nr_swap_fail);
}

void memory_zswap_current_show(struct umemcg *group, struct text *text)
{
	text_put_size(text, counts_of(group).nr_bytes_pool);
}

void swap_stat_show(struct umemcg *group, struct text *text)
{
	struct account_counts counts = counts_of(group);

	text_put_pair(text, "zswap", counts.nr_bytes_pool);
	text_put_pair(text, "zswapped", counts.nr_bytes_compressed);
	text_put_pair(text, "zswpin", counts.nr_pages_pool_in);
	text_put_pair(text, "zswpout", counts.nr_pages_pool_out);
	text_put_pair(text, "pswpin", counts.nr_pages_swap_in);
	text_put_pair(text, "pswpout", counts.nr_pages_swap_out);
}
