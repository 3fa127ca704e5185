/* SPDX-License-Identifier: MIT */
/*
 * Notices: between claiming a page's notice and pushing the page to its heap a thread is counted,
 * so that a fork does not catch it there: in the child nobody would push the page.
 */
#ifndef UMEMCG_KMEM_NOTICE_H
#define UMEMCG_KMEM_NOTICE_H

#include <stdbool.h>

/** notice_begin - false while a fork goes on: no notice then; the page's thread looks by itself */
bool notice_begin(void);
void notice_end(void);

/** notice_hold - wait until nobody is at it, and keep it so until notice_release() */
void notice_hold(void);
void notice_release(void);

#endif
