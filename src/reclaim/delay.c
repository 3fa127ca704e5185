/* SPDX-License-Identifier: MIT */
#include "reclaim/delay.h"

#include "base/compiler.h"

/* Makes the curve of the square: at a tenth above high, 0.64 s. */
#define SCALING_SHIFT 14

/* Beyond this a single byte brings the longest delay, so more need not be told apart. */
#define OVERAGE_MAX ((uint64_t)1 << 28)

uint64_t delay_overage(uint64_t nr_bytes_over, uint64_t high)
{
	high = max(high, (uint64_t)1);
	if (nr_bytes_over / high >= OVERAGE_MAX / DELAY_OVERAGE_ONE)
		return OVERAGE_MAX;
	/* Below 2^64 as long as usage is below 2^44; else in parts of a larger unit. */
	while (nr_bytes_over >> 44) {
		nr_bytes_over >>= 1;
		high >>= 1;
	}
	return nr_bytes_over * DELAY_OVERAGE_ONE / high;
}

uint64_t delay_us(uint64_t overage, uint64_t nr_bytes)
{
	uint64_t square = min(overage, OVERAGE_MAX) * min(overage, OVERAGE_MAX);
	/* In this order it stays below 2^63: 2^56 >> 14, times less than 2^20, and down again. */
	uint64_t batch_us = ((square >> SCALING_SHIFT) * 1000000) / DELAY_OVERAGE_ONE;

	if (!batch_us || !nr_bytes)
		return 0;
	/* Compared before multiplying, which might overflow. */
	if (nr_bytes >= DELAY_MAX_US * DELAY_BATCH_BYTES / batch_us + 1)
		return DELAY_MAX_US;
	return min(batch_us * nr_bytes / DELAY_BATCH_BYTES, (uint64_t)DELAY_MAX_US);
}
