/* SPDX-License-Identifier: MIT */
/*
 * The mappings of an unmodified program: what each call charges and gives back.
 *
 *	private, anonymous, writable	its whole pages, when it is mapped
 *	the same, not writable		nothing until mprotect makes it writable; from then on it
 *					stays charged, whatever mprotect makes of it
 *	MAP_NORESERVE			the same; one longer than any limit allows is let through
 *					uncounted, and reported
 *	brk, sbrk			whole pages below the break
 *	munmap, a mapping over it	give back what is charged there
 *	MADV_DONTNEED and its like	give back what is charged there; charged again by mprotect,
 *					MADV_WILLNEED or _POPULATE, or when it is found touched
 *	MADV_FREE			the same; where all is known it is released at once, which
 *					the system may do anyhow
 *	mremap				what grows is charged to the caller's group; all else moves
 *
 * Each of them returns what the system call returns, with its errno; refused is ENOMEM, and changes
 * nothing. Of calls that fail half way through (mprotect, madvise over a hole) nothing is written
 * down, but for madvise, which goes on after a hole.
 *
 * Not seen: shared memory, memfd; files, those mapped private and written to as well, /dev/zero
 * among them; huge pages of hugetlbfs; what libc and ld.so map for themselves; calls by number;
 * another process's process_madvise.
 */
#ifndef UMEMCG_PRELOAD_MAPPINGS_H
#define UMEMCG_PRELOAD_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What whoever watches the program may say about it; it may be called at any time. */
struct mappings_ops {
	/* The lowest limit above this process's own groups; UINT64_MAX: none. */
	uint64_t (*limit)(void);
	/* A mapping of so many bytes was let through uncounted. */
	void (*passed)(uint64_t nr_bytes);
	/*
	 * Keep what madvise releases charged until it is unmapped or mapped over: never too little
	 * is charged then, and for an allocator that keeps addresses its peak for ever.
	 */
	bool keeps_released;
};

extern struct mappings_ops mappings_ops;

void *mappings_map(void *address, size_t nr_bytes, int protection, int flags, int fd, off_t offset);
int mappings_unmap(void *address, size_t nr_bytes);

/* @key: of pkey_mprotect; MAPPINGS_NO_KEY: mprotect. */
#define MAPPINGS_NO_KEY (-2)
int mappings_protect(void *address, size_t nr_bytes, int protection, int key);
int mappings_advise(void *address, size_t nr_bytes, int advice);
void *mappings_remap(void *old, size_t nr_old_bytes, size_t nr_bytes, int flags, void *address);

/** mappings_set_break - as brk(2) of libc: 0, or -1 with ENOMEM */
int mappings_set_break(void *address);

/** mappings_move_break - as sbrk(2): the old break, or (void *)-1 with ENOMEM */
void *mappings_move_break(intptr_t nr_bytes);

#endif
