/* SPDX-License-Identifier: MIT */
/*
 * The socket through which listeners come. Its name is abstract, so that it needs no folder and
 * leaves nothing behind; anybody can find it, so that only processes of the same user are let in,
 * and, of other users, those that this process started (a server that gave up root).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "descriptor.h"
#include "door.h"
#include "listener.h"
#include "preload/filter.h"
#include "process_stat.h"

/* Generations between a process of another user and this one; more are another tree's. */
#define NR_ANCESTORS_MAX 64

int door_open(char ret_name[DOOR_NAME_MAX])
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	uint64_t number;
	int door, length;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -errno;
	door = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (door < 0)
		return -errno;
	length = snprintf(ret_name, DOOR_NAME_MAX, "@umemcg.%016" PRIx64, number);
	memcpy(address.sun_path + 1, ret_name + 1, (size_t)length - 1);
	if (bind(door, (struct sockaddr *)&address,
		 offsetof(struct sockaddr_un, sun_path) + (socklen_t)length) ||
	    listen(door, SOMAXCONN)) {
		int r = -errno;

		close(door);
		return r;
	}
	return door;
}

static bool is_descendant(pid_t pid)
{
	for (int i = 0; i < NR_ANCESTORS_MAX && pid > 1; i++) {
		struct process_stat stat;

		if (pid == getpid())
			return true;
		if (process_stat_read(pid, &stat))
			return false;
		pid = stat.parent;
	}
	return false;
}

static bool is_welcome(int connection)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return false;
	return peer.uid == geteuid() || is_descendant(peer.pid);
}

static void say(int connection, enum filter_message message)
{
	char byte = (char)message;

	/* If the other end is gone, its connection says so next. */
	(void)!send(connection, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int door_accept(int door)
{
	int connection = accept4(door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (connection < 0)
		return -errno;
	if (!is_welcome(connection)) {
		say(connection, FILTER_REFUSED);
		close(connection);
		return -EPERM;
	}
	say(connection, FILTER_GREETING);
	return connection;
}

/* Anything can be sent as a descriptor; only a listener knows this call's error. */
static bool is_listener(int descriptor)
{
	const struct call none = { .id = UINT64_MAX };

	return !listener_waits(descriptor, &none) && errno == ENOENT;
}

int door_receive(int connection)
{
	char byte = 0;
	int listener = descriptor_receive(connection, &byte, sizeof(byte));

	if (listener < 0)
		return listener;
	if (byte != FILTER_LISTENER || !is_listener(listener)) {
		close(listener);
		return -EPROTO;
	}
	return listener;
}

void door_acknowledge(int connection)
{
	say(connection, FILTER_TAKEN);
}
