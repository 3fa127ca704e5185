/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"
#include "pressure_trigger.h"
#include "run_pressure.h"

/* "some 200000 2000000" and a NUL, as systemd has it: 200 ms of two seconds. */
#define DEFAULT_TRIGGER_BASE64 "c29tZSAyMDAwMDAgMjAwMDAwMAA="

#define NR_CLIENTS_MAX 64
#define TRIGGER_MAX    64

/* As run_watch.c's: within another run it is charged to that run's group. */
#define STACK_BYTES (256u << 10)

#define SHUT_US 1000000u
#define NEVER   UINT64_MAX

struct client {
	int connection;
	char text[TRIGGER_MAX]; /* of the trigger, as far as it has come */
	size_t length;
	struct pressure_trigger trigger;
	uint64_t due_us; /* next look; NEVER: no trigger yet */
};

/* For how long threads below the group were stalled so far. */
struct totals {
	uint64_t some_us, full_us;
};

static struct {
	const struct place *place;
	struct umemcg_tree *tree; /* the thread's own; NULL: nobody has asked yet */
	int door, path, end;      /* the socket, what leads to it, and an eventfd */
	struct client clients[NR_CLIENTS_MAX];
	unsigned int nr_clients;
	bool is_shut; /* there was no descriptor for the next one: for a second */
	pthread_t thread;
	bool has_thread;
} pressure = { .door = -1, .path = -1, .end = -1 };

static uint64_t now_us(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000;
}

/* ---- the socket ---- */

/*
 * A socket needs a name to be connected to, but no longer than until it has been opened: then the
 * descriptor's link leads to it.
 */
static int open_door(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int length = snprintf(address.sun_path, sizeof(address.sun_path), "%s/.umemcg-pressure.%d",
			      umemcg_tree_directory(), (int)getpid());
	int r = 0;

	if (length < 0 || (size_t)length >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	pressure.door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (pressure.door < 0)
		return -errno;
	/* One of this number that was killed between the next two lines left it. */
	unlink(address.sun_path);
	if (bind(pressure.door, (struct sockaddr *)&address, sizeof(address)))
		return -errno;
	pressure.path = open(address.sun_path, O_PATH | O_CLOEXEC);
	if (pressure.path < 0 || listen(pressure.door, SOMAXCONN))
		r = -errno;
	unlink(address.sun_path);
	return r;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void drop(unsigned int number)
{
	close(pressure.clients[number].connection);
	pressure.clients[number] = pressure.clients[--pressure.nr_clients];
}

/* Of the same user only, as the tree itself. */
static void let_in(void)
{
	int connection = accept4(pressure.door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (connection < 0) {
		/* It would be said again and again that somebody is there. */
		pressure.is_shut = errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
		return;
	}
	if (pressure.nr_clients == NR_CLIENTS_MAX ||
	    getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) ||
	    peer.uid != geteuid()) {
		close(connection);
		return;
	}
	pressure.clients[pressure.nr_clients++] =
		(struct client){ .connection = connection, .due_us = NEVER };
}

/* ---- triggers ---- */

static bool begin(struct client *client, const char *text)
{
	if (pressure_trigger_parse(text, &client->trigger))
		return false;
	client->due_us = now_us();
	return true;
}

/*
 * A trigger ends with a NUL or a line's end, as kernels take it, or is all that came at once.
 * False: the client is gone, or wants what there is not.
 */
static bool listen_to(struct client *client)
{
	size_t room = sizeof(client->text) - 1 - client->length;
	ssize_t nr = recv(client->connection, client->text + client->length, room, MSG_DONTWAIT);

	if (nr < 0)
		return errno == EAGAIN || errno == EINTR;
	if (!nr || client->due_us != NEVER)
		return nr;
	client->length += (size_t)nr;
	client->text[client->length] = '\0';
	if (begin(client, client->text))
		return true;
	return client->length < sizeof(client->text) - 1 &&
	       !memchr(client->text, '\0', client->length) &&
	       !memchr(client->text, '\n', client->length);
}

/* 0 if there is no such line. */
static uint64_t total_of(const char *text, const char *line)
{
	const char *total = strstr(text, line);

	total = total ? strstr(total, "total=") : NULL;
	return total ? strtoull(total + strlen("total="), NULL, 10) : 0;
}

/* False if they cannot be read, as of a group that is no more. */
static bool read_totals(struct totals *totals)
{
	const struct place *place = pressure.place;
	char text[512];

	if (!pressure.tree && umemcg_tree_open(place->tree_name, 0, &pressure.tree))
		return false;
	if (umemcg_tree_read(pressure.tree, place->path, "memory.pressure", text, sizeof(text)) < 0)
		return false;
	totals->some_us = total_of(text, "some ");
	totals->full_us = total_of(text, "full ");
	return true;
}

/* At the same time as others of its period, so that one reading, which asks whether all processes
 * of the tree live, is enough for them. */
static uint64_t next_look_us(const struct client *client)
{
	uint64_t period_us = pressure_trigger_period_us(&client->trigger);

	return (now_us() / period_us + 1) * period_us;
}

static void look(struct client *client, const struct totals *totals)
{
	uint64_t total_us = client->trigger.is_full ? totals->full_us : totals->some_us;

	if (pressure_trigger_look(&client->trigger, total_us, now_us()))
		/* One that does not read its bytes knows already; one that is gone says so next. */
		(void)!send(client->connection, "1", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* All that are due. */
static void look_at_all(void)
{
	uint64_t now = now_us();
	struct totals totals;
	bool is_read = false, can_be_read = false;

	for (unsigned int i = 0; i < pressure.nr_clients; i++) {
		struct client *client = &pressure.clients[i];

		if (client->due_us > now)
			continue;
		if (!is_read)
			can_be_read = read_totals(&totals);
		is_read = true;
		if (can_be_read)
			look(client, &totals);
		client->due_us = next_look_us(client);
	}
}

static int timeout_ms(void)
{
	uint64_t due_us = NEVER, now = now_us();

	for (unsigned int i = 0; i < pressure.nr_clients; i++)
		if (pressure.clients[i].due_us < due_us)
			due_us = pressure.clients[i].due_us;
	if (pressure.is_shut && due_us > now + SHUT_US)
		due_us = now + SHUT_US;
	if (due_us == NEVER)
		return -1;
	return due_us > now ? (int)((due_us - now + 999) / 1000) : 0;
}

static void *serve(void *arg)
{
	struct pollfd polled[NR_CLIENTS_MAX + 2];

	(void)arg;
	for (;;) {
		unsigned int nr = pressure.nr_clients;

		polled[0] = (struct pollfd){ .fd = pressure.end, .events = POLLIN };
		polled[1] = (struct pollfd){ .fd = pressure.is_shut ? -1 : pressure.door,
					     .events = POLLIN };
		for (unsigned int i = 0; i < nr; i++)
			polled[2 + i] = (struct pollfd){ .fd = pressure.clients[i].connection,
							 .events = POLLIN };
		if (poll(polled, nr + 2, timeout_ms()) < 0 && errno != EINTR)
			break;
		pressure.is_shut = false;
		if (polled[0].revents)
			break;
		/* From the last one: what takes the place of one that is dropped was seen already.
		 */
		while (nr--) {
			struct client *client = &pressure.clients[nr];

			if (polled[2 + nr].revents && !listen_to(client))
				drop(nr);
		}
		look_at_all();
		if (polled[1].revents)
			let_in();
	}
	return NULL;
}

/* ---- beginning and end ---- */

static int set_variables(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), pressure.path);
	if (setenv("MEMORY_PRESSURE_WATCH", path, 1) ||
	    setenv("MEMORY_PRESSURE_WRITE", DEFAULT_TRIGGER_BASE64, 1))
		return -ENOMEM;
	return 0;
}

static int start_thread(void)
{
	pthread_attr_t attributes;
	int error = pthread_attr_init(&attributes);

	if (error)
		return -error;
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	error = pthread_create(&pressure.thread, &attributes, serve, NULL);
	pthread_attr_destroy(&attributes);
	pressure.has_thread = !error;
	return -error;
}

int run_pressure_start(const struct place *place)
{
	const char *watch = getenv("MEMORY_PRESSURE_WATCH");
	int r;

	if (watch && *watch)
		return 0;
	pressure.place = place;
	r = open_door();
	if (!r) {
		pressure.end = eventfd(0, EFD_CLOEXEC);
		r = pressure.end < 0 ? -errno : start_thread();
	}
	r = r ? r : set_variables();
	if (r)
		run_pressure_stop();
	return r;
}

void run_pressure_stop(void)
{
	if (pressure.has_thread) {
		eventfd_write(pressure.end, 1);
		pthread_join(pressure.thread, NULL);
		pressure.has_thread = false;
	}
	while (pressure.nr_clients)
		drop(0);
	close_one(&pressure.door);
	close_one(&pressure.path);
	close_one(&pressure.end);
	umemcg_tree_close(pressure.tree);
	pressure.tree = NULL;
}
