/* SPDX-License-Identifier: MIT */
/*
 * The swap file: an unnamed file of one page a slot, for pages that are not worth compressing.
 *
 * Slots are taken one after the other, so that pages evicted together lie together and the system
 * writes them together. The file never grows beyond the size it was made for.
 *
 * What takes and gives slots is for callers with the lock of the store; reading and writing are for
 * those without it, who have the slot to themselves.
 */
#ifndef UMEMCG_USER_SWAP_FILE_H
#define UMEMCG_USER_SWAP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No slot. */
#define SWAP_FILE_NONE UINT32_MAX

/**
 * swap_file_set - use a file in this directory from now on; NULL: none
 * @nr_bytes: at least a page; no more than the process may write to a file (RLIMIT_FSIZE) counts
 *
 * Return: 0; -EINVAL; -EBUSY while slots are taken; -ENOMEM; an error of open(2). After an error
 * the file is what it was.
 */
int swap_file_set(const char *directory, uint64_t nr_bytes, size_t page_size);

/** swap_file_is_there - is there one, full or not? */
bool swap_file_is_there(void);

/** swap_file_take - a free slot, for an account; SWAP_FILE_NONE if there is none */
uint32_t swap_file_take(uint32_t account);

/** swap_file_give - give it back; returns the account */
uint32_t swap_file_give(uint32_t slot);

/** swap_file_account - for whom a slot was taken */
uint32_t swap_file_account(uint32_t slot);

/** swap_file_write - 0; -ENOSPC if there is no room on the disk; -EBADF if the program has closed
 * the file: nothing is written; -EIO for any other error */
int swap_file_write(uint32_t slot, const void *page);

/** swap_file_read - 0; -EIO */
int swap_file_read(uint32_t slot, void *page);

/**
 * swap_file_forget - in a child of fork: no slots are taken, and the file is the parent's
 *
 * One of its own is made in the same directory when it takes its first slot.
 */
void swap_file_forget(void);

#endif
