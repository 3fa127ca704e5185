/* SPDX-License-Identifier: MIT */
/* The names by which a program maps memory: the object stands in front of libc with them. */
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "interpose.h"
#include "mappings.h"

/* By their names for the linker: the headers may make one of the two. */
interposed void *map(void *address, size_t nr_bytes, int protection, int flags, int fd,
		     off_t offset) __asm__("mmap");
interposed void *map64(void *address, size_t nr_bytes, int protection, int flags, int fd,
		       off64_t offset) __asm__("mmap64");

void *map(void *address, size_t nr_bytes, int protection, int flags, int fd, off_t offset)
{
	return mappings_map(address, nr_bytes, protection, flags, fd, offset);
}

void *map64(void *address, size_t nr_bytes, int protection, int flags, int fd, off64_t offset)
{
	return mappings_map(address, nr_bytes, protection, flags, fd, offset);
}

interposed int munmap(void *address, size_t nr_bytes)
{
	return mappings_unmap(address, nr_bytes);
}

interposed int mprotect(void *address, size_t nr_bytes, int protection)
{
	return mappings_protect(address, nr_bytes, protection, MAPPINGS_NO_KEY);
}

interposed int pkey_mprotect(void *address, size_t nr_bytes, int protection, int key)
{
	/* Without a key it is mprotect, also where the system knows no keys. */
	return mappings_protect(address, nr_bytes, protection, key == -1 ? MAPPINGS_NO_KEY : key);
}

interposed int madvise(void *address, size_t nr_bytes, int advice)
{
	return mappings_advise(address, nr_bytes, advice);
}

interposed void *mremap(void *old, size_t nr_old_bytes, size_t nr_bytes, int flags, ...)
{
	void *address = NULL;

	if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) {
		va_list rest;

		va_start(rest, flags);
		address = va_arg(rest, void *);
		va_end(rest);
	}
	return mappings_remap(old, nr_old_bytes, nr_bytes, flags, address);
}

interposed int brk(void *address)
{
	return mappings_set_break(address);
}

interposed void *sbrk(intptr_t nr_bytes)
{
	return mappings_move_break(nr_bytes);
}
