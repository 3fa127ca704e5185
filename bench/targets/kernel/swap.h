/* SPDX-License-Identifier: MIT */
/* Whether the kernel has somewhere to put anonymous memory that it reclaims. */
#ifndef BENCH_TARGETS_KERNEL_SWAP_H
#define BENCH_TARGETS_KERNEL_SWAP_H

#include <stdbool.h>

/** swap_is_there - is a swap device or file in use? */
bool swap_is_there(void);

#endif
