/* SPDX-License-Identifier: MIT */
#include "reclaim/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/system.h"

/* What is to be written is a trigger's text; this is plenty. */
#define WRITE_MAX 4096u

static struct {
	_Atomic bool is_on; /* acquire and release: who starts it owns the rest */
	/* Less than 0: none is open. Relaxed: it is read by its thread, and by a child. */
	_Atomic int fd;
	short events;
	void (*reclaim)(void);
} watch = { .fd = -1 };

/* A child may be made at any time: it must not close what has the number next. */
static void close_watched(void)
{
	int fd = atomic_exchange_explicit(&watch.fd, -1, memory_order_relaxed);

	if (fd >= 0)
		system_close(fd);
}

static int digit(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (int)(found - digits) : -1;
}

int watch_decode(const char *text, void *buffer, size_t size, size_t *ret_nr_bytes)
{
	unsigned char *bytes = buffer;
	size_t nr_digits = 0, nr_padding = 0, nr_bytes = 0;
	uint32_t bits = 0;

	for (; *text && *text != '='; text++, nr_digits++) {
		int value = digit(*text);

		if (value < 0)
			return -EINVAL;
		bits = bits << 6 | (uint32_t)value;
		/* The first digit of four completes no byte. */
		if (nr_digits % 4 == 0)
			continue;
		if (nr_bytes == size)
			return -E2BIG;
		bytes[nr_bytes++] = bits >> (6 - 2 * (nr_digits % 4));
	}
	for (; *text == '='; text++)
		nr_padding++;
	if (*text || nr_digits % 4 == 1 || (nr_padding && (nr_digits + nr_padding) % 4))
		return -EINVAL;
	*ret_nr_bytes = nr_bytes;
	return 0;
}

static int open_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, r;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return fd;
	r = -errno;
	close(fd);
	return r;
}

/* A FIFO for writing as well, even if nothing is: else it ends with its last writer. */
static int open_file(const char *path, mode_t mode, bool writes)
{
	int access = writes || S_ISFIFO(mode) ? O_RDWR : O_RDONLY;
	int fd = open(path, access | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

/* A socket whose other side is gone already raises no signal. */
static int write_all(int fd, bool is_socket, const void *data, size_t nr_bytes)
{
	ssize_t nr_written =
		is_socket ? send(fd, data, nr_bytes, MSG_NOSIGNAL) : write(fd, data, nr_bytes);

	if (nr_written < 0)
		return -errno;
	return (size_t)nr_written == nr_bytes ? 0 : -EIO;
}

int watch_open(const char *path, const void *data, size_t nr_bytes, short *ret_events)
{
	struct stat stat_of_path;
	int fd, r;

	if (stat(path, &stat_of_path))
		return -errno;
	if (S_ISSOCK(stat_of_path.st_mode))
		fd = open_socket(path);
	else if (S_ISFIFO(stat_of_path.st_mode) || S_ISREG(stat_of_path.st_mode))
		fd = open_file(path, stat_of_path.st_mode, nr_bytes > 0);
	else
		return -EINVAL;
	if (fd < 0)
		return fd;
	r = nr_bytes ? write_all(fd, S_ISSOCK(stat_of_path.st_mode), data, nr_bytes) : 0;
	if (r) {
		close(fd);
		return r;
	}
	*ret_events = S_ISREG(stat_of_path.st_mode) ? POLLPRI : POLLIN;
	return fd;
}

/* What comes says nothing but that it came. False: nothing will any more. */
static bool discard(int fd)
{
	char buffer[512];
	ssize_t nr_read;

	do
		nr_read = read(fd, buffer, sizeof(buffer));
	while (nr_read > 0 || (nr_read < 0 && errno == EINTR));
	return nr_read < 0 && errno == EAGAIN;
}

/* One wait. False: what was watched is gone. A file that is removed stays ready with POLLERR. */
static bool wait_for_pressure(void)
{
	struct pollfd polled = {
		.fd = atomic_load_explicit(&watch.fd, memory_order_relaxed),
		.events = watch.events,
	};

	/* In a child made by a callback of this thread's. */
	if (polled.fd < 0)
		return false;
	while (poll(&polled, 1, -1) < 0)
		if (errno != EINTR)
			return false;
	if (polled.revents & (POLLERR | POLLNVAL))
		return false;
	if (watch.events == POLLIN)
		return (polled.revents & POLLIN) && discard(polled.fd);
	return polled.revents & POLLPRI;
}

static void *run(void *arg)
{
	(void)arg;
	while (wait_for_pressure())
		watch.reclaim();
	close_watched();
	/* Release pairs with the acquire in watch_start(). */
	atomic_store_explicit(&watch.is_on, false, memory_order_release);
	return NULL;
}

/* Detached, and with all signals blocked: the program's handlers run in its own threads. */
static int start_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;
	int r;

	if (pthread_attr_init(&attr))
		return -EAGAIN;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	/* What it evicts, and callbacks that it calls, may be faults (user/fault.h). */
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = system_thread_create(&thread, &attr, run, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return r ? -EAGAIN : 0;
}

static int open_and_start(const char *path, const char *write, void (*reclaim)(void))
{
	unsigned char data[WRITE_MAX];
	size_t nr_bytes = 0;
	int r = write ? watch_decode(write, data, sizeof(data), &nr_bytes) : 0;
	int fd;

	if (r)
		return -EINVAL;
	fd = watch_open(path, data, nr_bytes, &watch.events);
	if (fd < 0)
		return fd;
	atomic_store_explicit(&watch.fd, fd, memory_order_relaxed);
	watch.reclaim = reclaim;
	r = start_thread();
	if (r)
		close_watched();
	return r;
}

int watch_start(const char *path, const char *write, void (*reclaim)(void))
{
	int r, cancel_state;

	if (!path || !*path || !strcmp(path, "/dev/null"))
		return -ENOENT;
	if (*path != '/')
		return -EINVAL;
	/* Acquire pairs with the end of the thread before. */
	if (atomic_exchange_explicit(&watch.is_on, true, memory_order_acq_rel))
		return -EALREADY;
	/* A thread that is cancelled in here would leave it on, with nobody there. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	r = open_and_start(path, write, reclaim);
	if (r)
		atomic_store_explicit(&watch.is_on, false, memory_order_release);
	pthread_setcancelstate(cancel_state, NULL);
	return r;
}

void watch_forget(void)
{
	/* The descriptor is the parent's as well, and harmless; what it names wakes the parent. */
	close_watched();
	atomic_store_explicit(&watch.is_on, false, memory_order_relaxed);
}
