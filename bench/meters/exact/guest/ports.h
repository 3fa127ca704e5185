/* SPDX-License-Identifier: MIT */
/*
 * The guest's way in and out: ports of the emulated machine, of which the kernel knows nothing. Its
 * tasks get access for the length of a call only, since a task that has it is slower to switch to.
 */
#ifndef BENCH_METERS_EXACT_GUEST_PORTS_H
#define BENCH_METERS_EXACT_GUEST_PORTS_H

#include <stddef.h>

/**
 * ports_read_job - the text of the job
 * @ret_text: for free()
 *
 * Return: 0; -ENODEV where there is no such device; -ENOENT without a job; -EFBIG; -ENOMEM; the
 * errno of getting access.
 */
int ports_read_job(char **ret_text);

/** ports_write - to the driver; returns 0 or a negative errno */
int ports_write(const char *text, size_t nr_bytes);

/** ports_say - the same, as printf(), one line of an answer */
__attribute__((format(printf, 1, 2))) void ports_say(const char *format, ...);

#endif
