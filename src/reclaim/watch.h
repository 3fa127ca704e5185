/* SPDX-License-Identifier: MIT */
/*
 * Watching the pressure that the system tells of, as systemd's protocol has it: two variables of
 * the environment name a file, a FIFO or a socket, and what is to be written to it first.
 */
#ifndef UMEMCG_RECLAIM_WATCH_H
#define UMEMCG_RECLAIM_WATCH_H

#include <stddef.h>

/** watch_start - as umemcg_pressure_watch(); @reclaim is called at each sign of pressure */
int watch_start(const char *path, const char *write, void (*reclaim)(void));

/** watch_forget - in a fork child, which has no such thread: it may start one */
void watch_forget(void);

/* ---- the parts of it ---- */

/**
 * watch_decode - Base64, the usual alphabet, with or without its padding
 *
 * Return: 0; -EINVAL; -E2BIG.
 */
int watch_decode(const char *text, void *buffer, size_t size, size_t *ret_nr_bytes);

/**
 * watch_open - open what @path names, and write to it
 * @ret_events: to be polled for
 *
 * Return: a descriptor; an error of open(2), connect(2) or write(2); -EINVAL: it can be none.
 */
int watch_open(const char *path, const void *data, size_t nr_bytes, short *ret_events);

#endif
