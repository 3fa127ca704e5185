/* SPDX-License-Identifier: MIT */
/*
 * The header of a segment: filling in one's own, judging another's.
 *
 * Both work on a copy. What a judgement let pass is used from that copy for ever, since the header
 * itself can change under whoever looks.
 */
#ifndef UMEMCG_SHARED_FORMAT_H
#define UMEMCG_SHARED_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "shared/layout.h"

#define FORMAT_HEADER_BYTES 4096u

enum format_verdict {
	FORMAT_OURS,
	FORMAT_NO_TREE,
	FORMAT_OTHER_BOOT,      /* nobody of it can live */
	FORMAT_OTHER_NAMESPACE, /* who lives in it cannot be told */
	FORMAT_REMOVED,         /* its header says dead */
	FORMAT_OTHER_LAYOUT,
};

/**
 * format_fill - a header for this boot and pid namespace, of a file that is empty else
 * @nr_rows: of each region, row 0 included
 *
 * Return: 0; -EXDEV if it cannot be told what boot and what namespace this is.
 */
int format_fill(struct segment_header *header, const uint32_t nr_rows[NR_REGIONS]);

/** format_judge - judge a header of a file of so many bytes; 0, or -EXDEV as above */
int format_judge(const struct segment_header *header, uint64_t nr_bytes,
		 enum format_verdict *ret_verdict);

#endif
