/* SPDX-License-Identifier: MIT */
/*
 * The public calls but for those about objects, which the heap defines (src/kmem): check arguments,
 * delegate. Where nothing is counted there is no tree, and group/null.h answers.
 */
#include "umemcg.h"

#include <errno.h>

#include "base/compiler.h"
#include "base/init.h"
#include "charge/external.h"
#include "charge/pause.h"
#include "charge/switch.h"
#include "control/audit.h"
#include "control/control.h"
#include "group/failure.h"
#include "group/group.h"
#include "group/null.h"
#include "group/stat.h"
#include "kmem/again.h"
#include "kmem/heap.h"
#include "kmem/mapping.h"
#include "kmem/spawn.h"
#include "kmem/stack.h"
#include "reclaim/limit.h"
#include "reclaim/policy.h"
#include "user/region.h"

/* More than any machine has, and far enough below 2^62 for what stocks compute with. */
#define EXPLICIT_BYTES_MAX ((uint64_t)1 << 60)

/* Constants where the controller is not compiled in, so that nothing behind them is linked. */
#define is_counting()              (CONFIG_MEMCG && library_counts(LIBRARY_COUNTS))
#define is_counting_external()     (CONFIG_MEMCG && library_counts(1u << KIND_EXTERNAL))
#define is_not_counting_external() (!CONFIG_MEMCG || library_counts_none(1u << KIND_EXTERNAL))

const char *umemcg_version(void)
{
	return CONFIG_VERSION;
}

enum umemcg_state umemcg_state(void)
{
	if (!CONFIG_MEMCG)
		return UMEMCG_NOT_COMPILED;
	return is_counting() ? UMEMCG_ENABLED : UMEMCG_DISABLED;
}

/* ---- groups ---- */

struct umemcg *umemcg_root(void)
{
	library_init();
	return group_root();
}

int umemcg_create(struct umemcg *parent, const char *name, struct umemcg **ret_group)
{
	if (!ret_group)
		return -EINVAL;
	if (!is_counting())
		return null_create(umemcg_root(), ret_group);
	if (!parent)
		parent = group_root();
	return group_is_live(parent) ? group_create(parent, name, ret_group) : -EINVAL;
}

static int destroy(struct umemcg *group)
{
	uint32_t owner, heir;
	int r;

	if (!group_is_live(group) || group == group_root())
		return -EINVAL;
	if (spawn_is_beginning_in(group) || heap_thread_is_in(group))
		return -EBUSY;
	owner = group->owner;
	heir = group_parent(group)->owner;
	for (unsigned int round = 0;; round++) {
		mapping_lock();
		r = group_destroy(thread_flight(), group);
		if (!r)
			mapping_bequeath(owner, heir);
		mapping_unlock();
		if (!r)
			policy_wait(group);
		if (r != -EAGAIN)
			return r;
		pause_briefly(round);
	}
}

int umemcg_destroy(struct umemcg *group)
{
	if (!group || !is_counting())
		return 0;
	return destroy(group);
}

static int free_all(struct umemcg *group)
{
	if (!group_is_live(group))
		return -EINVAL;
	region_free_all(group);
	heap_free_all(group);
	return 0;
}

int umemcg_free_all(struct umemcg *group)
{
	/* The root, which is all there is while nothing is counted, may own the program itself. */
	if (!group || !is_counting() || group == group_root())
		return -EINVAL;
	return free_all(group);
}

int umemcg_lookup(const char *path, struct umemcg **ret_group)
{
	if (!path || !ret_group)
		return -EINVAL;
	if (!is_counting())
		return null_lookup(umemcg_root(), path, ret_group);
	return group_lookup(path, ret_group);
}

struct umemcg *umemcg_parent(const struct umemcg *group)
{
	if (!group || !is_counting() || !group_is_live(group))
		return NULL;
	return group_parent(group);
}

/* What @group names in a call that reads: NULL is the root; a group that is gone is none. */
static const struct umemcg *to_read(const struct umemcg *group)
{
	if (!group)
		return group_root();
	return group_is_live(group) ? group : NULL;
}

size_t umemcg_name(const struct umemcg *group, char *buffer, size_t size)
{
	if (!is_counting() || !to_read(group))
		return null_name(buffer, size);
	return group_name(to_read(group), buffer, size);
}

size_t umemcg_path(const struct umemcg *group, char *buffer, size_t size)
{
	if (!is_counting() || !to_read(group))
		return null_path(buffer, size);
	return group_path(to_read(group), buffer, size);
}

int umemcg_walk(struct umemcg *top, int (*visit)(struct umemcg *group, void *arg), void *arg)
{
	if (!visit)
		return -EINVAL;
	if (!is_counting())
		return visit(umemcg_root(), arg);
	if (!top)
		top = group_root();
	return group_is_live(top) ? group_walk(top, visit, arg) : -EINVAL;
}

/* ---- stacks, threads, regions ---- */

/* The thread's group; if that was destroyed while the thread was in it the root, as for malloc. */
static struct umemcg *to_charge(void)
{
	struct umemcg *group = umemcg_current();

	return is_counting() && !group_is_live(group) ? group_root() : group;
}

int umemcg_stack_alloc(size_t nr_bytes, void **ret_stack)
{
	struct charge_attempt attempt = { 0 };
	int r;

	library_init();
	if (!ret_stack)
		return -EINVAL;
	do {
		r = stack_alloc(to_charge(), nr_bytes, ret_stack);
	} while (r == -ENOMEM && thread_try_again(&attempt));
	if (!r)
		thread_throttle(to_charge());
	return r;
}

void umemcg_stack_free(void *stack)
{
	library_init();
	stack_free(stack);
}

int umemcg_thread_create(pthread_t *ret_thread, const pthread_attr_t *attr,
			 void *(*start)(void *arg), void *arg)
{
	struct charge_attempt attempt = { 0 };
	int r;

	library_init();
	if (!ret_thread || !start || spawn_brings_stack(attr))
		return -EINVAL;
	/* What libc needs for a thread may be refused as well, under preload. */
	do {
		r = spawn_thread(to_charge(), ret_thread, attr, start, arg);
	} while ((r == -ENOMEM || r == -EAGAIN) && thread_try_again(&attempt));
	return r;
}

int umemcg_map(struct umemcg *group, size_t nr_bytes, void **ret_address)
{
	struct charge_attempt attempt = { 0 };
	int r;

	if (!ret_address)
		return -EINVAL;
	if (!group)
		group = umemcg_root();
	do {
		if (is_counting() && !group_is_live(group))
			return -EINVAL;
		r = region_map(group, nr_bytes, ret_address);
	} while (r == -ENOMEM && thread_try_again(&attempt));
	if (!r)
		thread_throttle(group);
	return r;
}

int umemcg_unmap(void *address)
{
	library_init();
	return region_unmap(address);
}

/* ---- explicit charges ---- */

/* The first call, the root by NULL, an absurd amount, a group that the thread has no stock for. */
static noinline int try_charge_slowly(struct umemcg *group, uint64_t nr_bytes)
{
	struct stock *stock;

	if (!is_counting_external())
		return 0;
	if (nr_bytes > EXPLICIT_BYTES_MAX)
		return -ENOMEM;
	if (!group)
		group = group_root();
	if (!group_is_live(group))
		return -EINVAL;
	stock = thread_stock(group);
	return stock ? external_try_charge(stock, nr_bytes) : -ENOMEM;
}

/* Refused: as often as room is made, which may destroy the group. */
static cold int try_charge_again(struct umemcg *group, uint64_t nr_bytes)
{
	struct charge_attempt attempt = { 0 };
	int r = -ENOMEM;

	while (r == -ENOMEM && thread_try_again(&attempt))
		r = try_charge_slowly(group, nr_bytes);
	return r;
}

static noinline int try_charge_at_first(struct umemcg *group, uint64_t nr_bytes)
{
	int r = try_charge_slowly(group, nr_bytes);

	return r == -ENOMEM ? try_charge_again(group, nr_bytes) : r;
}

/* Beyond what the thread's stock has: its word is to be restored. */
static noinline int try_charge_beyond(struct stock *stock, struct umemcg *group, uint64_t nr_bytes)
{
	int r = external_try_charge_slowly(stock, nr_bytes);

	return r == -ENOMEM ? try_charge_again(group, nr_bytes) : r;
}

static noinline void uncharge_slowly(struct umemcg *group, uint64_t nr_bytes)
{
	struct stock *stock;

	if (!is_counting_external())
		return;
	if (!group)
		group = group_root();
	stock = group_is_live(group) ? thread_stock(group) : NULL;
	/* No group, or no memory for this thread's first record: then it stays charged. */
	if (stock)
		external_uncharge(stock, min(nr_bytes, EXPLICIT_BYTES_MAX));
}

/*
 * A group for which this thread has a stock at hand, or NULL. Nothing is called here, so that the
 * compiler keeps both functions below free of a stack frame. Who has a group has made the library
 * ready.
 */
static always_inline struct stock *stock_at_hand(const struct umemcg *group, uint64_t nr_bytes)
{
	if (unlikely(!group) || unlikely(nr_bytes > EXPLICIT_BYTES_MAX))
		return NULL;
	return thread_stock_at_hand(group);
}

int umemcg_try_charge(struct umemcg *group, uint64_t nr_bytes)
{
	struct stock *stock;

	if (is_not_counting_external())
		return 0;
	stock = stock_at_hand(group, nr_bytes);
	if (unlikely(!stock))
		return try_charge_at_first(group, nr_bytes);
	if (unlikely(!word_subtract(stock_spare(stock), (int64_t)nr_bytes)))
		return try_charge_beyond(stock, group, nr_bytes);
	if (unlikely(!word_add(stock_external(stock), (int64_t)nr_bytes)))
		return external_count_slowly(stock, nr_bytes);
	return 0;
}

void umemcg_uncharge(struct umemcg *group, uint64_t nr_bytes)
{
	struct stock *stock;

	if (is_not_counting_external())
		return;
	stock = stock_at_hand(group, nr_bytes);
	if (unlikely(!stock))
		uncharge_slowly(group, nr_bytes);
	else
		external_uncharge(stock, nr_bytes);
}

/* ---- limits and control files ---- */

int umemcg_set_max(struct umemcg *group, uint64_t max)
{
	if (!is_counting())
		return 0;
	if (!group || !group_is_live(group))
		return -EINVAL;
	return limit_set_max(thread_flight(), group, max);
}

static int set(struct umemcg *group, uint64_t nr_bytes,
	       int (*setter)(struct umemcg *group, uint64_t nr_bytes))
{
	return group && group_is_live(group) ? setter(group, nr_bytes) : -EINVAL;
}

int umemcg_set_reserve(struct umemcg *group, uint64_t nr_bytes)
{
	return is_counting() ? set(group, nr_bytes, group_set_reserve) : 0;
}

int umemcg_set_min(struct umemcg *group, uint64_t nr_bytes)
{
	return is_counting() ? set(group, nr_bytes, group_set_min) : 0;
}

int umemcg_set_low(struct umemcg *group, uint64_t nr_bytes)
{
	return is_counting() ? set(group, nr_bytes, group_set_low) : 0;
}

int umemcg_set_high(struct umemcg *group, uint64_t nr_bytes)
{
	return is_counting() ? set(group, nr_bytes, group_set_high) : 0;
}

/* One number of a group's counter; relaxed, for it orders nothing else. */
#define read_counter(group, field)                                                                 \
	atomic_load_explicit(&group_counter(to_read(group))->field, memory_order_relaxed)

uint64_t umemcg_get_current(const struct umemcg *group)
{
	return is_counting() && to_read(group) ? read_counter(group, usage) : 0;
}

uint64_t umemcg_get_peak(const struct umemcg *group)
{
	return is_counting() && to_read(group) ? read_counter(group, peak) : 0;
}

uint64_t umemcg_get_max(const struct umemcg *group)
{
	return is_counting() && to_read(group) ? read_counter(group, max) : UMEMCG_MAX;
}

/* One setting of a group, as it was set; relaxed likewise. */
#define read_limit(group, field)                                                                   \
	atomic_load_explicit(&counter_limit(group_counter(to_read(group)))->field,                 \
			     memory_order_relaxed)

uint64_t umemcg_get_reserve(const struct umemcg *group)
{
	return is_counting() && to_read(group) ? read_limit(group, reserve) : 0;
}

uint64_t umemcg_get_min(const struct umemcg *group)
{
	return is_counting() && to_read(group) ? read_limit(group, min) : 0;
}

uint64_t umemcg_get_low(const struct umemcg *group)
{
	return is_counting() && to_read(group) ? read_limit(group, low) : 0;
}

uint64_t umemcg_get_high(const struct umemcg *group)
{
	return is_counting() && to_read(group) ? read_limit(group, high) : UMEMCG_MAX;
}

int umemcg_get_stat(const struct umemcg *group, struct umemcg_stat *ret_stat)
{
	if (!ret_stat)
		return -EINVAL;
	if (!is_counting()) {
		null_get_stat(ret_stat);
		return 0;
	}
	if (!to_read(group))
		return -EINVAL;
	group_get_stat(to_read(group), ret_stat);
	return 0;
}

int umemcg_read(struct umemcg *group, const char *file, char *buffer, size_t size)
{
	if (!file || (!buffer && size))
		return -EINVAL;
	if (!is_counting())
		return -EOPNOTSUPP;
	if (!group)
		group = group_root();
	return group_is_live(group) ? control_read(group, file, buffer, size) : -EINVAL;
}

int umemcg_write(struct umemcg *group, const char *file, const char *value)
{
	if (!file || !value)
		return -EINVAL;
	if (!is_counting())
		return -EOPNOTSUPP;
	if (!group)
		group = group_root();
	return group_is_live(group) ? control_write(group, file, value) : -EINVAL;
}

const char *umemcg_control_file(unsigned int index)
{
	return is_counting() ? control_file_name(index) : NULL;
}

void umemcg_drain(struct umemcg *group)
{
	if (!is_counting())
		return;
	if (!group)
		group = group_root();
	if (group_is_live(group))
		group_drain(thread_flight(), group);
}

/* ---- at the limit, audit ---- */

int umemcg_last_failure(struct umemcg_failure *ret_failure)
{
	if (!ret_failure)
		return -EINVAL;
	return is_counting() ? failure_last(ret_failure) : -ENOENT;
}

/* A thread without memory for its record has none for a charge either, with the reserve or not. */
void umemcg_reserve_enter(void)
{
	struct flight *flight = is_counting() ? thread_flight() : NULL;

	if (flight)
		flight->reserve_depth++;
}

void umemcg_reserve_leave(void)
{
	struct flight *flight = is_counting() ? thread_flight() : NULL;

	/* One leave too many is a fault of the program that must not open the reserve for good. */
	if (flight && flight->reserve_depth)
		flight->reserve_depth--;
}

int umemcg_audit(struct umemcg_audit *ret_audit)
{
	if (!ret_audit)
		return -EINVAL;
	return is_counting() ? audit(ret_audit) : -EOPNOTSUPP;
}
