/* SPDX-License-Identifier: MIT */
/*
 * System calls that the library itself has no use for, or that are also made where only a few files
 * of this folder are linked (base/system.h has the others). They set errno as libc's do.
 */
#ifndef UMEMCG_PRELOAD_RAW_H
#define UMEMCG_PRELOAD_RAW_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int raw_pkey_mprotect(void *address, size_t nr_bytes, int protection, int key)
{
	return (int)syscall(SYS_pkey_mprotect, address, nr_bytes, (long)protection, (long)key);
}

static inline int raw_mincore(void *address, size_t nr_bytes, unsigned char *ret_pages)
{
	return (int)syscall(SYS_mincore, address, nr_bytes, ret_pages);
}

/* Memory of one's own, charged to nobody, as a child of vfork may take it; NULL without. */
static inline void *raw_map(size_t nr_bytes)
{
	void *memory = (void *)syscall(SYS_mmap, NULL, nr_bytes, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static inline void raw_unmap(void *memory, size_t nr_bytes)
{
	syscall(SYS_munmap, memory, nr_bytes);
}

/* The break afterwards: the old one if it was refused. */
static inline uint64_t raw_brk(uint64_t address)
{
	return (uint64_t)syscall(SYS_brk, address);
}

#endif
