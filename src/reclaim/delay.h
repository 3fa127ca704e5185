/* SPDX-License-Identifier: MIT */
/*
 * The delay of memory.high, as the kernel computes it: it grows with the square of the overage,
 * which is what usage has above high, in parts of high.
 */
#ifndef UMEMCG_RECLAIM_DELAY_H
#define UMEMCG_RECLAIM_DELAY_H

#include <stdint.h>

/* The longest delay at a time. */
#define DELAY_MAX_US 2000000u

/* Bytes charged since the last delay that bring the delay of the curve; fewer bring a part. */
#define DELAY_BATCH_BYTES ((uint64_t)256 << 10)

/* An overage is a fixed-point number: this much is all of high once more. */
#define DELAY_OVERAGE_ONE ((uint64_t)1 << 20)

/** delay_overage - of one level that is @nr_bytes_over above @high */
uint64_t delay_overage(uint64_t nr_bytes_over, uint64_t high);

/**
 * delay_us - how long to wait
 * @overage:  the greatest of the group's and those of all above it
 * @nr_bytes: charged since the last delay
 */
uint64_t delay_us(uint64_t overage, uint64_t nr_bytes);

#endif
