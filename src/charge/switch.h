/* SPDX-License-Identifier: MIT */
/* The switch: what is counted, decided once from the build and $UMEMCG_CMDLINE. */
#ifndef UMEMCG_CHARGE_SWITCH_H
#define UMEMCG_CHARGE_SWITCH_H

#include <stdbool.h>
#include <stdint.h>

/* What charged memory is. */
enum kind { KIND_SLAB, KIND_STACK, KIND_ANON, KIND_EXTERNAL, NR_KINDS };

/** switch_init - read the environment, and report unknown words once */
void switch_init(void);

/** switch_is_on - is anything counted at all? */
bool switch_is_on(void);

/** switch_counts - is this kind counted? */
bool switch_counts(enum kind kind);

/** switch_swap - where $UMEMCG_CMDLINE wants a swap file, and how large; NULL if nowhere */
const char *switch_swap(uint64_t *ret_nr_bytes);

/** switch_maps_at_map - are regions to be charged when they are mapped, wherever they are? */
bool switch_maps_at_map(void);

/** switch_read - the same from a given line; for tests. NULL: the build's default */
void switch_read(const char *command_line);

#endif
