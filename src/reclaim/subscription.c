/* SPDX-License-Identifier: MIT */
#include "reclaim/subscription.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/index.h"
#include "base/table.h"
#include "reclaim/waker.h"
#include "reclaim/worker.h"

/* More eventfds than a process may have open. */
#define NR_SUBSCRIPTIONS_MAX (1u << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Made with the first subscription. */
static struct table table;
static struct index by_eventfd;
static bool has_tables;

void subscription_lock(void)
{
	pthread_mutex_lock(&lock);
}

void subscription_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

struct subscription *subscription_row(uint32_t row)
{
	return table_row(&table, row);
}

static int make_tables(void)
{
	if (!has_tables)
		has_tables =
			!table_init(&table, sizeof(struct subscription), NR_SUBSCRIPTIONS_MAX,
				    NULL) &&
			!index_init(&by_eventfd, &table, offsetof(struct subscription, eventfd),
				    offsetof(struct subscription, next_found));
	return has_tables ? 0 : -ENOMEM;
}

int subscription_make(uint32_t events, uint32_t *ret_row)
{
	int r = make_tables();
	uint32_t row;
	int fd;

	if (r)
		return r;
	row = table_get(&table);
	if (!row)
		return -ENOMEM;
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0) {
		r = -errno;
		table_put(&table, row);
		return r;
	}
	*subscription_row(row) = (struct subscription){
		.eventfd = (uint64_t)fd,
		.events = events,
	};
	index_add(&by_eventfd, row);
	*ret_row = row;
	return 0;
}

static void forget(uint32_t row)
{
	index_remove(&by_eventfd, row);
	subscription_row(row)->events = 0;
	table_put(&table, row);
}

void subscription_free(uint32_t row)
{
	int fd = (int)subscription_row(row)->eventfd;

	forget(row);
	/* The system call itself, here and below: libc's functions are cancellation points. */
	syscall(SYS_close, fd);
}

uint32_t subscription_find(int eventfd)
{
	return has_tables ? index_find(&by_eventfd, (uint64_t)eventfd) : 0;
}

void subscription_tell(struct subscription *subscription)
{
	uint64_t nr_events = subscription->nr_pending;
	int saved_errno = errno;

	if (!nr_events)
		return;
	/*
	 * Never blocks. It can only fail if the program closed the eventfd, or never reads it until
	 * 2^64 events have come.
	 */
	if (syscall(SYS_write, (int)subscription->eventfd, &nr_events, sizeof(nr_events)) < 0)
		errno = saved_errno;
	subscription->nr_pending = 0;
}

static void hold(void)
{
	subscription_lock();
	if (CONFIG_MEMCG)
		worker_lock();
}

static void release(void)
{
	if (CONFIG_MEMCG)
		worker_unlock();
	subscription_unlock();
}

static void forget_worker(void)
{
	worker_forget();
	worker_unlock();
	waker_forget_all();
}

/*
 * The child has the eventfds, but they are those of its parent, which must not be woken by what
 * happens in the child. They stay open: the program may close them as it does others.
 */
static void in_child(void)
{
	/* relaxed: there is no other thread. */
	uint32_t nr_used = atomic_load_explicit(&table.nr_used, memory_order_relaxed);

	if (CONFIG_MEMCG)
		forget_worker();
	for (uint32_t row = 1; row < nr_used; row++)
		if (subscription_row(row)->events)
			forget(row);
	subscription_unlock();
}

/*
 * Before the heap's handlers are registered, so that these locks are taken after charges have been
 * stopped: who is in flight may be about to take them, for an event.
 */
int subscription_init(void)
{
	return -pthread_atfork(hold, release, in_child);
}
