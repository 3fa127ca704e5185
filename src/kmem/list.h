/* SPDX-License-Identifier: MIT */
/*
 * Lists of free blocks, linked through their first word.
 *
 * Hardened, the link is encoded with a secret, so that a program that writes to freed memory
 * cannot choose what is handed out next: a link that leads out of its page is reported.
 */
#ifndef UMEMCG_KMEM_LIST_H
#define UMEMCG_KMEM_LIST_H

#include <stdint.h>
#include <string.h>

#include "kmem/page.h"
#include "kmem/check.h"

extern uintptr_t list_secret;

/** list_init - choose the secret */
void list_init(void);

static always_inline void list_link(void *block, void *next)
{
	uintptr_t link = (uintptr_t)next;

	if (CONFIG_HARDENED)
		link ^= list_secret ^ (uintptr_t)block;
	memcpy(block, &link, sizeof(link));
}

static always_inline void *list_next(const void *block)
{
	uintptr_t link;

	memcpy(&link, block, sizeof(link));
	if (CONFIG_HARDENED) {
		link ^= list_secret ^ (uintptr_t)block;
		if (unlikely(link && !check_link(block, (const void *)link)))
			check_bad_link(block);
	}
	return (void *)link;
}

/** list_last - last block of a list that is not empty, and how many there are */
static inline void *list_last(void *first, uint32_t *ret_nr)
{
	void *last = first, *next;
	uint32_t nr = 1;

	for (; (next = list_next(last)); nr++)
		last = next;
	*ret_nr = nr;
	return last;
}

#endif
