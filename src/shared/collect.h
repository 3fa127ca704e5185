/* SPDX-License-Identifier: MIT */
/*
 * Collecting what lies in the stocks of other processes, as charge/drain.h does in one's own.
 *
 * The bytes are given back at one store to the ledger of their process, which says in which round:
 * whoever dies before has taken nothing (charge/window.h).
 */
#ifndef UMEMCG_SHARED_COLLECT_H
#define UMEMCG_SHARED_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/segment.h"

/**
 * collect_below - close and empty the stocks of all processes at or below a group but one
 *
 * In exclusive mode there, in flight.
 *
 * Return: false if one was left as it is, since its thread is stopped at an awkward place.
 */
bool collect_below(struct segment *segment, uint32_t group, uint32_t but);

#endif
