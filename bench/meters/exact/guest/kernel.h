/* SPDX-License-Identifier: MIT */
/* What the guest can say of the kernel that it runs on. */
#ifndef BENCH_METERS_EXACT_GUEST_KERNEL_H
#define BENCH_METERS_EXACT_GUEST_KERNEL_H

#include <stdbool.h>

/** kernel_has_memcg - was it built with the memory controller, be that switched off or not? */
bool kernel_has_memcg(void);

/** kernel_say_symbols - answer with the symbols of its text; returns 0 or a negative errno */
int kernel_say_symbols(void);

#endif
