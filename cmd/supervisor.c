/* SPDX-License-Identifier: MIT */
/* The supervisor's thread: who comes through the door, what is asked, who has died. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "descriptor.h"
#include "door.h"
#include "guardian.h"
#include "ledger.h"
#include "listener.h"
#include "preload/filter.h"
#include "rules.h"
#include "settle.h"
#include "supervisor.h"

enum watched { WATCH_STOP = 1, WATCH_DOOR, WATCH_CONNECTION, WATCH_LISTENER, WATCH_PROCESS };

struct supervisor {
	char name[DOOR_NAME_MAX];
	int door;
	struct guardian_link guardian;
	int stop; /* an eventfd */
	int epoll;
	bool is_running;
	pthread_t thread;
	struct ledger ledger;
};

static uint64_t mark(enum watched watched)
{
	return (uint64_t)watched << 32;
}

static int watch(struct supervisor *supervisor, enum watched watched, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	event.data.u64 = mark(watched) | (uint32_t)fd;
	return epoll_ctl(supervisor->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* The guardian holds the same file, so that closing does not end the watch. */
static void unwatch_and_close(struct supervisor *supervisor, int fd)
{
	epoll_ctl(supervisor->epoll, EPOLL_CTL_DEL, fd, NULL);
	close(fd);
}

static void let_in(struct supervisor *supervisor)
{
	int connection = door_accept(supervisor->door);

	if (connection >= 0 && watch(supervisor, WATCH_CONNECTION, connection))
		close(connection);
}

/* The guardian has it before the program may run. */
static void take_listener(struct supervisor *supervisor, int connection)
{
	int listener = door_receive(connection);

	if (listener >= 0) {
		/* Each process costs two, and each listener one. The command runs by now. */
		descriptor_raise_limit();
		listener_hurry(listener);
		guardian_guard(&supervisor->guardian, listener);
		if (watch(supervisor, WATCH_LISTENER, listener))
			close(listener);
		else
			door_acknowledge(connection);
	}
	unwatch_and_close(supervisor, connection);
}

static void judge(struct supervisor *supervisor, int listener, const struct call *call)
{
	struct ledger *ledger = &supervisor->ledger;
	struct verdict verdict;
	struct thread *thread;
	int r;

	if (ledger_thread(ledger, listener, call, &thread)) {
		listener_allow(listener, call);
		return;
	}
	rules_judge(ledger, thread, call, &verdict);
	if (verdict.is_refused) {
		ledger_count(&ledger->stat.nr_refused, 1);
		umemcg_tree_tell_refused(ledger->tree, thread->process->leaf, verdict.nr_bytes);
		r = listener_answer(listener, call, verdict.value, verdict.error);
	} else {
		r = listener_allow(listener, call);
	}
	if (r && !verdict.is_refused)
		rules_undo(ledger, thread, &verdict);
}

static void answer(struct supervisor *supervisor, int listener)
{
	struct ledger *ledger = &supervisor->ledger;
	struct call call;

	if (listener_receive(listener, &call))
		return;
	guardian_note(&supervisor->guardian, listener, &call);
	ledger_count(&ledger->stat.nr_calls, 1);
	if (!call.tid) {
		listener_allow(listener, &call);
	} else if (rules_is_probe(&call)) {
		listener_answer(listener, &call, filter_token(supervisor->name), 0);
	} else if (rules_is_exec(&call)) {
		ledger_leaving(ledger, &call);
		listener_allow(listener, &call);
	} else {
		judge(supervisor, listener, &call);
	}
}

static void serve(struct supervisor *supervisor, const struct epoll_event *event)
{
	int fd = (int)(uint32_t)event->data.u64;

	switch ((enum watched)(event->data.u64 >> 32)) {
	case WATCH_STOP:
		break;
	case WATCH_DOOR:
		let_in(supervisor);
		break;
	case WATCH_CONNECTION:
		take_listener(supervisor, fd);
		break;
	case WATCH_LISTENER:
		if (event->events & EPOLLIN)
			answer(supervisor, fd);
		else
			unwatch_and_close(supervisor, fd);
		break;
	case WATCH_PROCESS:
		ledger_died(&supervisor->ledger, (pid_t)fd);
		break;
	}
}

/* Sleeps for ever only if nothing was asked since all processes were looked at. */
static void *run(void *argument)
{
	struct supervisor *supervisor = argument;
	struct epoll_event event = { 0 };
	uint64_t settle_at_us = 0;
	bool is_quiet = false;

	while (event.data.u64 >> 32 != WATCH_STOP) {
		uint64_t now = ledger_now_us();
		int n;

		if (now >= settle_at_us) {
			is_quiet = !settle_all(&supervisor->ledger);
			settle_at_us = now + SETTLE_PERIOD_US;
		}
		n = epoll_wait(supervisor->epoll, &event, 1,
			       is_quiet ? -1 : (int)((settle_at_us - now) / 1000 + 1));
		if (n > 0) {
			is_quiet = false;
			serve(supervisor, &event);
		}
	}
	return NULL;
}

int supervisor_create(struct supervisor **ret_supervisor)
{
	struct supervisor *supervisor = calloc(1, sizeof(*supervisor));
	int r;

	if (!supervisor)
		return -ENOMEM;
	supervisor->door = supervisor->guardian.channel = supervisor->stop = supervisor->epoll = -1;
	r = supervisor->door = door_open(supervisor->name);
	if (r >= 0)
		r = guardian_create(supervisor->door, &supervisor->guardian);
	if (r >= 0 && (supervisor->stop = eventfd(0, EFD_CLOEXEC)) < 0)
		r = -errno;
	if (r >= 0 && (supervisor->epoll = epoll_create1(EPOLL_CLOEXEC)) < 0)
		r = -errno;
	if (r >= 0)
		r = watch(supervisor, WATCH_STOP, supervisor->stop);
	if (r >= 0)
		r = watch(supervisor, WATCH_DOOR, supervisor->door);
	if (r < 0) {
		supervisor_destroy(supervisor);
		return r;
	}
	*ret_supervisor = supervisor;
	return 0;
}

const char *supervisor_name(const struct supervisor *supervisor)
{
	return supervisor->name;
}

int supervisor_start(struct supervisor *supervisor, struct umemcg_tree *tree, const char *group,
		     uint64_t process_max)
{
	sigset_t all, before;
	int r;

	if (supervisor->is_running)
		return -EALREADY;
	supervisor->ledger.tree = tree;
	supervisor->ledger.group = group;
	supervisor->ledger.process_max = process_max;
	supervisor->ledger.epoll = supervisor->epoll;
	supervisor->ledger.pidfd_mark = mark(WATCH_PROCESS);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	r = -pthread_create(&supervisor->thread, NULL, run, supervisor);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	supervisor->is_running = !r;
	return r;
}

void supervisor_get_stat(const struct supervisor *supervisor, struct supervisor_stat *ret_stat)
{
	const uint64_t *from = (const uint64_t *)&supervisor->ledger.stat;
	uint64_t *to = (uint64_t *)ret_stat;

	/* Relaxed, beside ledger_count(): each number for itself. */
	for (size_t i = 0; i < sizeof(*ret_stat) / sizeof(*to); i++)
		to[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
}

void supervisor_stop(struct supervisor *supervisor)
{
	if (!supervisor->is_running)
		return;
	eventfd_write(supervisor->stop, 1);
	pthread_join(supervisor->thread, NULL);
	supervisor->is_running = false;
	/* From here on the guardian answers. */
	guardian_leave(&supervisor->guardian);
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Listeners that still have threads stay open, as long as the process lives. */
void supervisor_destroy(struct supervisor *supervisor)
{
	if (!supervisor)
		return;
	supervisor_stop(supervisor);
	ledger_fini(&supervisor->ledger);
	close_if_open(supervisor->door);
	guardian_leave(&supervisor->guardian);
	close_if_open(supervisor->stop);
	close_if_open(supervisor->epoll);
	free(supervisor);
}
