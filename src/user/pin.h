/* SPDX-License-Identifier: MIT */
/* Pins: pages that are present, and not evicted; a page counts its own. */
#ifndef UMEMCG_USER_PIN_H
#define UMEMCG_USER_PIN_H

#include <stdint.h>

/** pin_range - umemcg_pin() */
int pin_range(const void *address, uint64_t nr_bytes);

/** pin_release - umemcg_unpin() */
int pin_release(const void *address, uint64_t nr_bytes);

#endif
