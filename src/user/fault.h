/* SPDX-License-Identifier: MIT */
/*
 * The fault: a thread of the program touched a page of a region that is not there, or one that is
 * being evicted, and gets SIGBUS. The handler makes the page present, and the thread goes on.
 *
 * It runs in the middle of the program's code, as if that had called the library there, with all
 * other signals blocked; so it may charge, reclaim, and take locks, unless the thread was inside
 * the library. That is why a handler of another signal, which may interrupt the library, must not
 * touch pages that are not pinned. What is no fault of a region, or cannot be served, goes to the
 * handler that was there before.
 */
#ifndef UMEMCG_USER_FAULT_H
#define UMEMCG_USER_FAULT_H

/** fault_prepare - have the handler in place, before the first region; 0 or an error */
int fault_prepare(void);

#endif
