/* SPDX-License-Identifier: MIT */
/*
 * Its life: collect listeners while the channel is open, then answer. It keeps nothing of its
 * maker's but a door and the channel, and runs in a session of its own, so that no signal to a
 * group meets it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptor.h"
#include "door.h"
#include "guardian.h"
#include "listener.h"

/* A process whose listener was on its way to the supervisor comes again within that time. */
#define LINGER_MS 1000

/* Descriptors after tidy_up(); all above are listeners, until it takes over. */
enum { DOOR = 3, CHANNEL = 4, EPOLL = 5 };

enum watched { WATCH_DOOR = 1, WATCH_CHANNEL, WATCH_CONNECTION, WATCH_LISTENER };

/* In last_ids, the place of no listener: set once the supervisor leaves in good order. */
#define PLACE_OF_LEAVING 0

/* Calls of one listener behind the last that was noted, among which the lost one is looked for. */
#define NR_IDS_TRIED 1024

static struct guardian {
	const uint64_t *last_ids;
	unsigned int nr_listeners;
	int highest; /* descriptor of a listener so far */
	bool has_taken_over;
	uint16_t places[GUARDIAN_NR_PLACES]; /* in last_ids, by descriptor; 0: none */
} guardian;

static void watch(int operation, enum watched watched, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events };

	event.data.u64 = (uint64_t)watched << 32 | (uint32_t)fd;
	epoll_ctl(EPOLL, operation, fd, &event);
}

/* The supervisor may hold the same file, and closing would not end the watch then. */
static void unwatch_and_close(int fd)
{
	epoll_ctl(EPOLL, EPOLL_CTL_DEL, fd, NULL);
	close(fd);
}

static void tidy_up(int door, int channel)
{
	sigset_t all;
	int null;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "umemcg-guardian");
	(void)!chdir("/");
	/* Above all that is to be closed, then down to their places. */
	door = fcntl(door, F_DUPFD, EPOLL + 1);
	channel = fcntl(channel, F_DUPFD, EPOLL + 1);
	null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	dup2(door, DOOR);
	dup2(channel, CHANNEL);
	dup2(epoll_create1(0), EPOLL);
	close_range(EPOLL + 1, ~0u, 0);
	descriptor_raise_limit();
}

/* While the supervisor lives, only that a listener's last thread has ended is of interest. */
static void add_listener(int listener, uint16_t place)
{
	watch(EPOLL_CTL_ADD, WATCH_LISTENER, listener, guardian.has_taken_over ? EPOLLIN : 0);
	guardian.nr_listeners++;
	if (listener > guardian.highest)
		guardian.highest = listener;
	if (listener < GUARDIAN_NR_PLACES)
		guardian.places[listener] = place;
}

/* Ids that are answered, or not taken yet, are refused by the kernel. */
static void answer_lost_call(int listener)
{
	uint16_t place = listener < GUARDIAN_NR_PLACES ? guardian.places[listener] : 0;
	struct call call = { .id = place ? guardian.last_ids[place] : 0 };

	if (!call.id)
		return;
	for (unsigned int i = 0; i < NR_IDS_TRIED; i++, call.id++)
		if (!listener_allow(listener, &call))
			return;
}

/* Programs that have ended by now need nobody. */
static void forget_ended(void)
{
	struct epoll_event event;

	while (epoll_wait(EPOLL, &event, 1, 0) > 0) {
		unwatch_and_close((int)(uint32_t)event.data.u64);
		guardian.nr_listeners--;
	}
}

static void take_over(void)
{
	guardian.has_taken_over = true;
	epoll_ctl(EPOLL, EPOLL_CTL_DEL, CHANNEL, NULL);
	forget_ended();
	if (guardian.last_ids[PLACE_OF_LEAVING] && !guardian.nr_listeners)
		_exit(0);
	/* One byte: it stays. Nobody may be there to read it. */
	(void)!send(CHANNEL, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(CHANNEL);
	for (int fd = EPOLL + 1; fd <= guardian.highest; fd++) {
		answer_lost_call(fd);
		watch(EPOLL_CTL_MOD, WATCH_LISTENER, fd, EPOLLIN);
	}
	watch(EPOLL_CTL_ADD, WATCH_DOOR, DOOR, EPOLLIN);
}

static void collect(void)
{
	uint16_t place;
	int listener = descriptor_receive(CHANNEL, &place, sizeof(place));

	if (listener >= 0)
		add_listener(listener, place);
	else if (listener == -EPIPE || listener == -ECONNRESET)
		take_over();
}

static void let_in(int connection)
{
	int listener = door_receive(connection);

	if (listener >= 0) {
		add_listener(listener, 0);
		door_acknowledge(connection);
	}
	unwatch_and_close(connection);
}

static void answer(int listener, uint32_t events)
{
	struct call call;

	if (events & EPOLLIN) {
		if (!listener_receive(listener, &call))
			listener_allow(listener, &call);
	} else if (events & (EPOLLHUP | EPOLLERR)) {
		unwatch_and_close(listener);
		guardian.nr_listeners--;
	}
}

static void serve(const struct epoll_event *event)
{
	int fd = (int)(uint32_t)event->data.u64, connection;

	switch ((enum watched)(event->data.u64 >> 32)) {
	case WATCH_DOOR:
		connection = door_accept(DOOR);
		if (connection >= 0)
			watch(EPOLL_CTL_ADD, WATCH_CONNECTION, connection, EPOLLIN);
		break;
	case WATCH_CHANNEL:
		collect();
		break;
	case WATCH_CONNECTION:
		let_in(fd);
		break;
	case WATCH_LISTENER:
		answer(fd, event->events);
		break;
	}
}

static _Noreturn void guard(int door, int channel)
{
	struct epoll_event event;

	setsid();
	tidy_up(door, channel);
	watch(EPOLL_CTL_ADD, WATCH_CHANNEL, CHANNEL, EPOLLIN);
	for (;;) {
		bool is_needed = !guardian.has_taken_over || guardian.nr_listeners;
		int n = epoll_wait(EPOLL, &event, 1, is_needed ? -1 : LINGER_MS);

		if (n > 0)
			serve(&event);
		else if (!n || errno != EINTR)
			_exit(0);
	}
}

static int start(int door, struct guardian_link *link)
{
	/* A guardian that is stopped keeps the supervisor for no longer. */
	const struct timeval limit = { .tv_usec = 100000 };
	int ends[2], r = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	/*
	 * By number: within another run libc's fork would make the copy a process of that run's
	 * group, which would not be empty when the run ends. It allocates nothing.
	 */
	link->pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (!link->pid) {
		close(ends[0]);
		guard(door, ends[1]);
	}
	if (link->pid < 0)
		r = -errno;
	close(ends[1]);
	if (r) {
		close(ends[0]);
		return r;
	}
	setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	link->channel = ends[0];
	return 0;
}

int guardian_create(int door, struct guardian_link *ret_link)
{
	struct guardian_link link;
	int r;

	link.last_ids = mmap(NULL, GUARDIAN_NR_PLACES * sizeof(*link.last_ids),
			     PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (link.last_ids == MAP_FAILED)
		return -errno;
	guardian.last_ids = link.last_ids;
	r = start(door, &link);
	if (r)
		munmap(link.last_ids, GUARDIAN_NR_PLACES * sizeof(*link.last_ids));
	else
		*ret_link = link;
	return r;
}

void guardian_guard(const struct guardian_link *link, int listener)
{
	uint16_t place = listener < GUARDIAN_NR_PLACES ? (uint16_t)listener : 0;

	/* Relaxed, as guardian_note(): what is sent next makes it seen. */
	if (place)
		__atomic_store_n(&link->last_ids[place], 0, __ATOMIC_RELAXED);
	descriptor_send(link->channel, listener, &place, sizeof(place));
}

/* It is the channel's end that the guardian waits for, and its own end that is waited for here. */
void guardian_leave(struct guardian_link *link)
{
	char byte;

	if (link->channel < 0)
		return;
	/* Relaxed: the end of the channel, a system call on either side, comes after it. */
	__atomic_store_n(&link->last_ids[PLACE_OF_LEAVING], 1, __ATOMIC_RELAXED);
	shutdown(link->channel, SHUT_WR);
	if (!recv(link->channel, &byte, 1, 0))
		waitpid(link->pid, NULL, 0);
	close(link->channel);
	munmap(link->last_ids, GUARDIAN_NR_PLACES * sizeof(*link->last_ids));
	link->channel = -1;
}
