/* SPDX-License-Identifier: MIT */
#include "group/rare.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define NR_RARE_MAX (1u << 24)

struct table rare_table;
static struct rare first_rares[TABLE_NR_FIRST];

/* Of the table's rows; innermost, as an event may come under any other lock. */
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

void rare_lock(void)
{
	pthread_mutex_lock(&table_lock);
}

void rare_unlock(void)
{
	pthread_mutex_unlock(&table_lock);
}

static void set_defaults(uint32_t row)
{
	struct rare *rare = table_row(&rare_table, row);

	memset(rare, 0, sizeof(*rare));
	rare->max_depth = UINT32_MAX;
	rare->max_descendants = UINT32_MAX;
}

int rare_init(void)
{
	if (table_init(&rare_table, sizeof(struct rare), NR_RARE_MAX, first_rares))
		return -ENOMEM;
	set_defaults(0);
	return 0;
}

static int make_one(struct umemcg *group)
{
	uint32_t row;

	if (atomic_load_explicit(&group->rare, memory_order_relaxed))
		return 0;
	row = table_get(&rare_table);
	if (!row)
		return -ENOMEM;
	set_defaults(row);
	/* Release pairs with rare_of(). */
	atomic_store_explicit(&group->rare, row, memory_order_release);
	return 0;
}

int rare_make(struct umemcg *group)
{
	int r = 0;

	rare_lock();
	for (; group && !r; group = group_parent(group))
		r = make_one(group);
	rare_unlock();
	return r;
}

void rare_free(struct umemcg *group)
{
	uint32_t row = atomic_load_explicit(&group->rare, memory_order_relaxed);

	if (!row)
		return;
	rare_lock();
	table_put(&rare_table, row);
	rare_unlock();
}
