/* SPDX-License-Identifier: MIT */
/*
 * What the library asks of the system for itself.
 *
 * Of memory and descriptors it is the system call itself: of libc's functions, those that open,
 * read, write and close are points where a thread is cancelled, and it may hold locks here.
 *
 * The preload object offers functions of these names to the program, which charge; what is called
 * here never comes by them. Memory is asked of the kernel; a thread of libc.
 */
#ifndef UMEMCG_BASE_SYSTEM_H
#define UMEMCG_BASE_SYSTEM_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/types.h>

/* As their namesakes, errno included. */
void *system_mmap(void *address, size_t nr_bytes, int protection, int flags, int fd, off_t offset);
int system_munmap(void *address, size_t nr_bytes);
int system_mprotect(void *address, size_t nr_bytes, int protection);
int system_madvise(void *address, size_t nr_bytes, int advice);

/**
 * system_drop - give back pages that are charged, and are uncharged next
 *
 * Locks of the program's own, of mlock() and mlockall(), are undone: the memory is short.
 */
void system_drop(void *address, size_t nr_bytes);

/** system_mremap - mremap(); @new_address counts only with MREMAP_FIXED or MREMAP_DONTUNMAP */
void *system_mremap(void *address, size_t nr_bytes_old, size_t nr_bytes_new, int flags,
		    void *new_address);

/**
 * system_read_file - the beginning of a file, such as one of /proc
 *
 * Neither a cancellation point nor beyond what a signal's handler may call.
 *
 * Return: bytes, or a negative errno.
 */
ssize_t system_read_file(const char *path, void *buffer, size_t nr_bytes);

/** system_close - close(), no cancellation point */
void system_close(int fd);

/**
 * system_move_away - of a descriptor of the library's own: to where no program expects one of its
 *
 * Return: the descriptor to use, that one if there is none so high. Close-on-exec.
 */
int system_move_away(int fd);

/* As openat(), pread() and pwrite(), but no cancellation points. */
int system_openat(int directory, const char *path, int flags, mode_t mode);
ssize_t system_pread(int fd, void *buffer, size_t nr_bytes, off_t offset);
ssize_t system_pwrite(int fd, const void *buffer, size_t nr_bytes, off_t offset);

/** system_now_ns - of CLOCK_MONOTONIC, in nanoseconds */
uint64_t system_now_ns(void);

/** system_thread_create - pthread_create(), libc's own; weak: the preload object has another way */
int system_thread_create(pthread_t *ret_thread, const pthread_attr_t *attr,
			 void *(*start)(void *arg), void *arg);

#endif
