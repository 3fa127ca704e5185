/* SPDX-License-Identifier: MIT */
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOWEST_DESCRIPTOR 512

/* The kernel gives an address, or -1 through syscall(), which is MAP_FAILED. */
static void *address_of(long result)
{
	return (void *)result;
}

void *system_mmap(void *address, size_t nr_bytes, int protection, int flags, int fd, off_t offset)
{
	return address_of(syscall(SYS_mmap, address, nr_bytes, (long)protection, (long)flags,
				  (long)fd, offset));
}

int system_munmap(void *address, size_t nr_bytes)
{
	return syscall(SYS_munmap, address, nr_bytes);
}

int system_mprotect(void *address, size_t nr_bytes, int protection)
{
	return syscall(SYS_mprotect, address, nr_bytes, (long)protection);
}

int system_madvise(void *address, size_t nr_bytes, int advice)
{
	return syscall(SYS_madvise, address, nr_bytes, (long)advice);
}

void system_drop(void *address, size_t nr_bytes)
{
	if (!system_madvise(address, nr_bytes, MADV_DONTNEED))
		return;
	syscall(SYS_munlock, address, nr_bytes);
	system_madvise(address, nr_bytes, MADV_DONTNEED);
}

void *system_mremap(void *address, size_t nr_bytes_old, size_t nr_bytes_new, int flags,
		    void *new_address)
{
	return address_of(
		syscall(SYS_mremap, address, nr_bytes_old, nr_bytes_new, (long)flags, new_address));
}

ssize_t system_read_file(const char *path, void *buffer, size_t nr_bytes)
{
	int fd = system_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	ssize_t nr_read;

	if (fd < 0)
		return -errno;
	do {
		nr_read = syscall(SYS_read, (long)fd, buffer, nr_bytes);
	} while (nr_read < 0 && errno == EINTR);
	if (nr_read < 0)
		nr_read = -errno;
	system_close(fd);
	return nr_read;
}

int system_openat(int directory, const char *path, int flags, mode_t mode)
{
	return syscall(SYS_openat, (long)directory, path, (long)flags, (long)mode);
}

void system_close(int fd)
{
	syscall(SYS_close, (long)fd);
}

ssize_t system_pread(int fd, void *buffer, size_t nr_bytes, off_t offset)
{
	return syscall(SYS_pread64, (long)fd, buffer, nr_bytes, offset);
}

ssize_t system_pwrite(int fd, const void *buffer, size_t nr_bytes, off_t offset)
{
	return syscall(SYS_pwrite64, (long)fd, buffer, nr_bytes, offset);
}

uint64_t system_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int system_move_away(int fd)
{
	int away = fcntl(fd, F_DUPFD_CLOEXEC, LOWEST_DESCRIPTOR);

	if (away < 0)
		return fd;
	system_close(fd);
	return away;
}

__attribute__((weak)) int system_thread_create(pthread_t *ret_thread, const pthread_attr_t *attr,
					       void *(*start)(void *arg), void *arg)
{
	return pthread_create(ret_thread, attr, start, arg);
}
