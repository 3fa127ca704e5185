/* SPDX-License-Identifier: MIT */
/*
 * One descriptor, passed to another process through a socket, and some bytes beside it; and how
 * many there may be.
 */
#ifndef UMEMCG_CMD_DESCRIPTOR_H
#define UMEMCG_CMD_DESCRIPTOR_H

#include <stddef.h>

/** descriptor_send - pass a descriptor, and some bytes; 0 or -errno */
int descriptor_send(int socket, int descriptor, void *bytes, size_t nr_bytes);

/** descriptor_receive - one that was passed so; -EPIPE once the other end is gone */
int descriptor_receive(int socket, void *ret_bytes, size_t nr_bytes);

/** descriptor_raise_limit - this process may have as many as it is ever allowed */
void descriptor_raise_limit(void);

#endif
