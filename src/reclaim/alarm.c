/* SPDX-License-Identifier: MIT */
#include "reclaim/alarm.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/system.h"
#include "base/table.h"
#include "reclaim/pressure.h"
#include "reclaim/worker.h"

#define NR_ALARMS_MAX (1u << 20)

/* As often as the kernel looks while something is stalled. */
#define LOOKS_A_WINDOW 10u

struct alarm {
	uint32_t link;        /* the table's, while the row is free */
	uint32_t next;        /* of the same row of pressure, or 0 */
	int eventfd;          /* -1: this row is free */
	struct umemcg *group; /* NULL: it is gone */
	struct trigger trigger;
};

static struct table alarm_table;
static struct alarm first_alarms[TABLE_NR_FIRST];

static struct alarm *row_of(uint32_t row)
{
	return table_row(&alarm_table, row);
}

int alarm_init(void)
{
	return table_init(&alarm_table, sizeof(struct alarm), NR_ALARMS_MAX, first_alarms);
}

/* The system calls themselves: libc's functions are cancellation points. */
static void wake(const struct alarm *alarm)
{
	uint64_t one = 1;
	int saved_errno = errno;

	/* Fails only while nobody has read 2^64 - 2 wakes, and then it is readable. */
	syscall(SYS_write, alarm->eventfd, &one, sizeof(one));
	errno = saved_errno;
}

static int add(struct umemcg *group, const struct trigger *trigger, int fd)
{
	uint64_t now_ns = system_now_ns();
	struct pressure *pressure = pressure_make(group, now_ns);
	uint32_t row = pressure ? table_get(&alarm_table) : 0;
	struct alarm *alarm;

	if (!row)
		return -ENOMEM;
	pressure_account(pressure, now_ns);
	alarm = row_of(row);
	*alarm = (struct alarm){
		.next = pressure->alarms, .eventfd = fd, .group = group, .trigger = *trigger
	};
	trigger_begin(&alarm->trigger, now_ns, pressure->average.total_ns[trigger->state]);
	pressure->alarms = row;
	pressure_refresh(pressure, now_ns);
	return 0;
}

int alarm_add(struct umemcg *group, const struct trigger *trigger, int *ret_eventfd)
{
	int r = worker_start();
	int fd;

	if (r)
		return r;
	fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* Locked, so that it is not destroyed in between. */
	group_lock();
	pressure_lock();
	r = group_is_live(group) ? add(group, trigger, fd) : -EINVAL;
	pressure_unlock();
	group_unlock();
	if (r) {
		syscall(SYS_close, fd);
		return r;
	}
	*ret_eventfd = fd;
	return 0;
}

static void unlink_from(struct pressure *pressure, uint32_t row)
{
	uint32_t *link = &pressure->alarms;

	while (*link != row)
		link = &row_of(*link)->next;
	*link = row_of(row)->next;
}

static uint32_t find(int fd)
{
	uint32_t row;

	for (row = 1; table_has(&alarm_table, row); row++)
		if (row_of(row)->eventfd == fd)
			return row;
	return 0;
}

static int remove_locked(int fd)
{
	uint32_t row = find(fd);
	struct alarm *alarm;

	if (!row)
		return -EINVAL;
	alarm = row_of(row);
	if (alarm->group)
		unlink_from(pressure_of(alarm->group), row);
	alarm->eventfd = -1;
	table_put(&alarm_table, row);
	/* Locked, so that nobody writes to what has the number next. */
	syscall(SYS_close, fd);
	return 0;
}

int alarm_remove(int fd)
{
	int saved_errno = errno;
	int r = -EINVAL;

	if (fd >= 0) {
		pressure_lock();
		r = remove_locked(fd);
		pressure_unlock();
	}
	errno = saved_errno;
	return r;
}

static void look(struct work *work)
{
	uint64_t now_ns;

	(void)work;
	pressure_lock();
	/* Locked: triggers have to be shown times in their order. */
	now_ns = system_now_ns();
	for (uint32_t row = 1; table_has(&alarm_table, row); row++)
		if (row_of(row)->eventfd >= 0 && row_of(row)->group)
			pressure_refresh(pressure_of(row_of(row)->group), now_ns);
	pressure_unlock();
}

/* For what nobody else would look at in time: stalls that go on, and wakes that are put off. */
static struct work look_later = { .run = look };

void alarm_update(const struct pressure *pressure, uint64_t now_ns)
{
	for (uint32_t row = pressure->alarms; row; row = row_of(row)->next) {
		struct trigger *trigger = &row_of(row)->trigger;

		if (trigger_update(trigger, now_ns, pressure->average.total_ns[trigger->state]))
			wake(row_of(row));
	}
}

void alarm_look_later(const struct pressure *pressure, uint64_t now_ns)
{
	uint64_t due_ns = UINT64_MAX;

	for (uint32_t row = pressure->alarms; row; row = row_of(row)->next) {
		const struct trigger *trigger = &row_of(row)->trigger;

		if (trigger->is_pending)
			due_ns = min(due_ns, trigger->wake_ns);
		else if (pressure->nr_stalled)
			due_ns = min(due_ns, now_ns + trigger->window_ns / LOOKS_A_WINDOW);
	}
	if (due_ns != UINT64_MAX)
		worker_queue(&look_later, due_ns);
}

void alarm_end(struct pressure *pressure)
{
	for (uint32_t row = pressure->alarms; row; row = row_of(row)->next) {
		wake(row_of(row));
		row_of(row)->group = NULL;
	}
	pressure->alarms = 0;
}

void alarm_forget_all(void)
{
	for (uint32_t row = 1; table_has(&alarm_table, row); row++) {
		struct alarm *alarm = row_of(row);

		if (alarm->eventfd < 0)
			continue;
		if (alarm->group)
			pressure_of(alarm->group)->alarms = 0;
		alarm->eventfd = -1;
		table_put(&alarm_table, row);
	}
}
