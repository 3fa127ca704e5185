/* SPDX-License-Identifier: MIT */
/*
 * Memory for rows. A file is sparse at first; a row that is given out has memory, so that a full
 * file system is an error then and there, and never a signal later.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system.h"
#include "shared/file.h"
#include "shared/segment.h"

/* Needs no descriptor: a daemon closes those that it does not know. */
static int populate(char *first, char *end)
{
	uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = (uintptr_t)first / page_bytes * page_bytes;
	int r;

	do {
		r = system_madvise((void *)from, (uintptr_t)end - from, MADV_POPULATE_WRITE);
	} while (r && (errno == EINTR || errno == EAGAIN));
	return r ? -errno : 0;
}

/* For kernels before 5.14. With locks held, so that nothing here is a cancellation point. */
static int allocate(const struct segment *segment, const char *first, const char *end)
{
	struct stat stat;
	int fd, r = file_open(segment->name, &fd, &stat);

	if (r)
		return r;
	if (stat.st_dev != segment->device || stat.st_ino != segment->inode)
		r = -ENOENT;
	else if (syscall(SYS_fallocate, (long)fd, 0L, first - (char *)segment->header,
			 end - first) &&
		 errno != EOPNOTSUPP)
		r = -errno;
	system_close(fd);
	return r;
}

static void raise_nr_used(_Atomic uint32_t *nr_used, uint32_t nr)
{
	uint32_t old = atomic_load_explicit(nr_used, memory_order_relaxed);

	/* Release pairs with segment_nr_used(): whoever finds a row finds its memory. */
	while (old < nr && !atomic_compare_exchange_weak_explicit(
				   nr_used, &old, nr, memory_order_release, memory_order_relaxed))
		;
}

int segment_commit_row(struct segment *segment, enum segment_region region, uint32_t row)
{
	uint32_t nr_used = segment_nr_used(segment, region);
	char *first, *end;
	int r;

	if (row < nr_used)
		return 0;
	if (row >= segment->nr_rows[region])
		return -ENOMEM;
	/* Of a window each row is had when it is needed (shared/chunk.c). */
	if (region == REGION_CHUNKS) {
		raise_nr_used(&segment->header->nr_used[region], row + 1);
		return 0;
	}
	first = segment->regions[region] + (size_t)nr_used * segment_row_bytes[region];
	end = segment->regions[region] + ((size_t)row + 1) * segment_row_bytes[region];
	r = populate(first, end);
	if (r == -EINVAL)
		r = allocate(segment, first, end);
	if (r)
		return -ENOMEM;
	raise_nr_used(&segment->header->nr_used[region], row + 1);
	return 0;
}
