/* SPDX-License-Identifier: MIT */
/*
 * The door that listeners come through: the socket that preload/filter.h speaks to. The supervisor
 * answers it, and the guardian once the supervisor is gone.
 */
#ifndef UMEMCG_CMD_DOOR_H
#define UMEMCG_CMD_DOOR_H

/** Room for an abstract name as the environment has it. */
#define DOOR_NAME_MAX 64

/** door_open - a listening socket of an abstract name that nobody can have taken; does not block */
int door_open(char ret_name[DOOR_NAME_MAX]);

/** door_accept - a connection, greeted; or -EAGAIN, or -EPERM for one that was sent away */
int door_accept(int door);

/** door_receive - the listener that the other end hands over, or a negative errno */
int door_receive(int connection);

/** door_acknowledge - the listener is served: the other end may execute its program */
void door_acknowledge(int connection);

#endif
