/* SPDX-License-Identifier: MIT */
/* A mark of umemcg-marks.h as bytes: the guest looks for them and writes ids, the plug-in reads. */
#ifndef BENCH_METERS_EXACT_MARK_H
#define BENCH_METERS_EXACT_MARK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MARK_NR_BYTES  7
#define MARK_ID_OFFSET 3 /* of 16 bits, the low byte first */

/** mark_read - are these MARK_NR_BYTES a mark? */
static inline bool mark_read(const uint8_t *bytes, unsigned int *ret_id)
{
	if (memcmp(bytes, "\x0f\x1f\x80", 3) || memcmp(bytes + 5, "\x43\x4d", 2))
		return false;
	*ret_id = bytes[MARK_ID_OFFSET] | (unsigned int)bytes[MARK_ID_OFFSET + 1] << 8;
	return true;
}

#endif
