/* SPDX-License-Identifier: MIT */
/* Closing and emptying other threads' stocks; the protocol stands in charge/word.h. */
#ifndef UMEMCG_CHARGE_DRAIN_H
#define UMEMCG_CHARGE_DRAIN_H

#include <stdint.h>

/** drain_below - close and empty every stock for @counter and below; exclusive mode only */
void drain_below(uint32_t counter);

/** drain_bytes_below - sum of the stocks for @counter and below */
uint64_t drain_bytes_below(uint32_t counter);

#endif
