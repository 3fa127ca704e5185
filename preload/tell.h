/* SPDX-License-Identifier: MIT */
/* What the tree is told besides refusals: a line that says what is not accounted, and why. */
#ifndef UMEMCG_PRELOAD_TELL_H
#define UMEMCG_PRELOAD_TELL_H

/**
 * tell_unseen - say in one line that a program's memory will not be accounted
 * @why: for people; names the outcome as well if the program is refused
 *
 * Async-signal-safe; also for children of vfork.
 */
void tell_unseen(const char *program, const char *why);

#endif
