/* SPDX-License-Identifier: MIT */
/*
 * userfaultfd, as regions use it: a touch of a missing page, or a write to a protected one, is a
 * SIGBUS to the thread that did it. Works without privilege; faults of the kernel's own are not
 * delivered then.
 *
 * A signal costs two thirds of what a thread that reads the descriptor costs, since nobody has to
 * be woken. Copying zeros costs half of the zero page, which is copied at the first write.
 */
#ifndef UMEMCG_USER_USERFAULT_H
#define UMEMCG_USER_USERFAULT_H

#include <stdbool.h>
#include <stddef.h>

/** userfault_is_usable - has the system what regions need, for this user? Asked once a process */
bool userfault_is_usable(void);

/** userfault_register - fill and protect pages of this mapping from now on, until it is unmapped */
int userfault_register(void *address, size_t nr_bytes);

/**
 * userfault_copy - make missing pages present
 * @ret_nr_bytes: that are present now; set on failure, too
 *
 * Return: 0; -EEXIST: the page after them is present already; -ENOMEM; -ENOENT: not registered.
 */
int userfault_copy(void *address, const void *source, size_t nr_bytes, size_t *ret_nr_bytes);

/** userfault_copy_protected - one page, protected as by userfault_protect() */
int userfault_copy_protected(void *address, const void *source);

/** userfault_protect - keep present pages from being written to; when it returns nobody does */
int userfault_protect(void *address, size_t nr_bytes);
int userfault_unprotect(void *address, size_t nr_bytes);

/** userfault_forget - in a fork child: the descriptor is its parent's */
void userfault_forget(void);

#endif
