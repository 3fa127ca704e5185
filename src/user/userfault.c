/* SPDX-License-Identifier: MIT */
#include "user/userfault.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system.h"
#include "user/region.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

#define FEATURES (UFFD_FEATURE_SIGBUS | UFFD_FEATURE_PAGEFAULT_FLAG_WP)

enum { NOT_ASKED = -1, NOT_THERE = -2 };

/* The descriptor. Written under the lock; once it is there it stays, but for a fork. */
static _Atomic int descriptor = NOT_ASKED;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int open_descriptor(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = FEATURES };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (fd < 0)
		return NOT_THERE;
	if (ioctl(fd, UFFDIO_API, &api)) {
		system_close(fd);
		return NOT_THERE;
	}
	return system_move_away(fd);
}

bool userfault_is_usable(void)
{
	/* acquire: pairs with the release below. */
	int fd = atomic_load_explicit(&descriptor, memory_order_acquire);
	int saved_errno = errno;

	if (fd != NOT_ASKED)
		return fd >= 0;
	pthread_mutex_lock(&lock);
	fd = atomic_load_explicit(&descriptor, memory_order_relaxed);
	if (fd == NOT_ASKED) {
		fd = open_descriptor();
		atomic_store_explicit(&descriptor, fd, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	errno = saved_errno;
	return fd >= 0;
}

static int control(unsigned long request, void *argument)
{
	/* relaxed: whoever has a region has seen the descriptor. */
	int fd = atomic_load_explicit(&descriptor, memory_order_relaxed);

	return ioctl(fd, request, argument) ? -errno : 0;
}

int userfault_register(void *address, size_t nr_bytes)
{
	struct uffdio_register argument = {
		.range = { .start = (uintptr_t)address, .len = nr_bytes },
		.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP,
	};
	int r = control(UFFDIO_REGISTER, &argument);

	if (!r && !(argument.ioctls & (uint64_t)1 << _UFFDIO_WRITEPROTECT))
		r = -EOPNOTSUPP;
	return r;
}

/* The kernel stops in the middle, and says how far it came, where somebody else changes the map. */
static int copy(void *address, const void *source, size_t nr_bytes, uint64_t mode,
		size_t *ret_nr_bytes)
{
	size_t done = 0;
	int r = 0;

	while (!r && done < nr_bytes) {
		struct uffdio_copy argument = {
			.dst = (uintptr_t)address + done,
			.src = (uintptr_t)source + done,
			.len = nr_bytes - done,
			.mode = mode,
		};

		r = control(UFFDIO_COPY, &argument);
		if (argument.copy > 0)
			done += argument.copy;
		if (r == -EAGAIN)
			r = 0;
	}
	*ret_nr_bytes = done;
	return r;
}

int userfault_copy(void *address, const void *source, size_t nr_bytes, size_t *ret_nr_bytes)
{
	return copy(address, source, nr_bytes, 0, ret_nr_bytes);
}

int userfault_copy_protected(void *address, const void *source)
{
	size_t done;

	return copy(address, source, REGION_PAGE_BYTES, UFFDIO_COPY_MODE_WP, &done);
}

static int set_protection(void *address, size_t nr_bytes, uint64_t mode)
{
	struct uffdio_writeprotect argument = {
		.range = { .start = (uintptr_t)address, .len = nr_bytes },
		.mode = mode,
	};
	int r;

	do {
		r = control(UFFDIO_WRITEPROTECT, &argument);
	} while (r == -EAGAIN);
	return r;
}

int userfault_protect(void *address, size_t nr_bytes)
{
	return set_protection(address, nr_bytes, UFFDIO_WRITEPROTECT_MODE_WP);
}

int userfault_unprotect(void *address, size_t nr_bytes)
{
	/* Nobody waits for it: there is no thread that could be woken. */
	return set_protection(address, nr_bytes, UFFDIO_WRITEPROTECT_MODE_DONTWAKE);
}

/* Only the thread that forked is here: the lock may have been another's. */
void userfault_forget(void)
{
	int fd = atomic_load_explicit(&descriptor, memory_order_relaxed);

	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	if (fd >= 0)
		system_close(fd);
	if (fd != NOT_THERE)
		atomic_store_explicit(&descriptor, NOT_ASKED, memory_order_relaxed);
}
