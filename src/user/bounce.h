/* SPDX-License-Identifier: MIT */
/*
 * Where pages lie on their way from the store, which the kernel copies from; the stack that a fault
 * is handled on may be too small. And zeros, from which new pages are copied.
 */
#ifndef UMEMCG_USER_BOUNCE_H
#define UMEMCG_USER_BOUNCE_H

/* Pages of one area; so many are read ahead, at most. */
#define BOUNCE_NR_PAGES 16u

/** bounce_prepare - before the first region; 0 or -ENOMEM */
int bounce_prepare(void);

/** bounce_get - an area for the calling thread alone; waits for one, for as long as a page is read
 */
char *bounce_get(void);
void bounce_put(char *area);

/** bounce_zeros - as many pages of zeros as a chunk has */
const char *bounce_zeros(void);

/** bounce_forget - in a fork child, where nobody has one */
void bounce_forget(void);

#endif
