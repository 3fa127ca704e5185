/* SPDX-License-Identifier: MIT */
/*
 * Names of processes, and whether the process of a name is dead.
 *
 * A name is the pid with the start time's lower 32 bits, which take 497 days to come round. It is
 * good within one boot and one pid namespace.
 */
#ifndef UMEMCG_SHARED_DEATH_H
#define UMEMCG_SHARED_DEATH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

static inline uint64_t death_name(pid_t pid, uint32_t start_time)
{
	return (uint64_t)start_time << 32 | (uint32_t)pid;
}

static inline pid_t death_pid(uint64_t name)
{
	return (pid_t)(uint32_t)name;
}

#define DEATH_PATH_MAX 64

/** death_path - "/proc/PID" and a short name behind it. Async-signal-safe */
void death_path(pid_t pid, const char *file, char path[DEATH_PATH_MAX]);

/** death_name_of - the name of a process that lives; 0, or -ESRCH. Async-signal-safe */
int death_name_of(pid_t pid, uint64_t *ret_name);

/** death_image_of - tells the program that a process is now from the one that it executes next; 0
 * if it cannot be told. Async-signal-safe */
uint64_t death_image_of(pid_t pid);

/**
 * death_of - is the process of a name dead?
 *
 * There is none of its pid, or all of its threads have ended, or the start time is another's. False
 * if it cannot be told. About 4 us, 8 for the living. Async-signal-safe.
 */
bool death_of(uint64_t name);

/** death_of_image - the same, or does it execute another program by now? 0: not asked */
bool death_of_image(uint64_t name, uint64_t image);

/** death_bring - SIGKILL to the process of a name, and to no other that has its pid by now */
void death_bring(uint64_t name);

/** death_of_pid - the same, for who is known by its pid only */
bool death_of_pid(pid_t pid);

#endif
