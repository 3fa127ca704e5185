/* SPDX-License-Identifier: MIT */
#include "shared/stamp.h"

#include <stddef.h>

#include "base/compiler.h"
#include "charge/barrier.h"
#include "charge/stock.h"
#include "charge/window.h"
#include "kmem/class.h"
#include "shared/segment.h"

#define AT(row, field) offsetof(struct row, field)

/* Where each field begins; the next one's beginning, or the row's size, is where it ends. */
static const uint32_t layout[] = {
	/* clang-format off */
	AT(segment_header, state), AT(segment_header, boot_id), AT(segment_header, pid_namespace),
	AT(segment_header, names), AT(segment_header, layout_stamp), AT(segment_header, nr_bytes),
	AT(segment_header, regions), AT(segment_header, gate_bytes), AT(segment_header, nr_used),
	AT(segment_header, recovering), AT(segment_header, has_high),
	AT(segment_header, nr_recoveries),
	AT(segment_header, tree_lock), AT(segment_header, nr_waiting),
	AT(segment_header, report_futex), AT(segment_header, nr_reports),
	sizeof(struct segment_header),

	AT(process_name, word), AT(process_name, image), sizeof(struct process_name),

	AT(shared_process, state), AT(shared_process, group), AT(shared_process, used),
	AT(shared_process, owed), AT(shared_process, image), AT(shared_process, flags),
	AT(shared_process, max), AT(shared_process, peak), AT(shared_process, first_thread),
	AT(shared_process, claimer), AT(shared_process, claimed_s), AT(shared_process, nr_bytes_stack),
	AT(shared_process, nr_bytes_anon), AT(shared_process, nr_threads), AT(shared_process, command),
	AT(shared_process, first_chunk), AT(shared_process, reclaim_wanted),
	AT(shared_process, reclaim_asked), AT(shared_process, reclaim_served),
	AT(shared_process, nr_reclaimed), AT(shared_process, can_reclaim),
	AT(shared_process, killed),
	sizeof(struct shared_process),

	AT(counter, frozen), AT(counter, parent), AT(counter, depth), AT(counter, usage),
	AT(counter, max), AT(counter, peak), AT(counter, nr_uncharges), sizeof(struct counter),
	AT(shared_group, counter), AT(shared_group, state), AT(shared_group, nr_processes_ever),
	AT(shared_group, reserve), AT(shared_group, refused_size), AT(shared_group, refused_at),
	AT(shared_group, copies_on_fork), AT(shared_group, sum), AT(shared_group, high),
	AT(shared_group, high_futex), AT(shared_group, oom_policy), AT(shared_group, oom_group),
	AT(shared_group, min), AT(shared_group, low), AT(shared_group, events_local),
	AT(shared_group, events), AT(shared_group, stalls), AT(shared_stall, word),
	AT(shared_stall, nr_us), sizeof(struct shared_stall), AT(shared_group, averaging),
	AT(shared_group, average), AT(average, period_end_ns), AT(average, total_ns),
	AT(average, sample_ns), AT(average, loads), sizeof(struct average),
	sizeof(struct shared_group),
	AT(group_place, name), sizeof(struct group_place),

	AT(flight_row, charging), AT(flight_row, uncharging), AT(flight_row, stalled),
	sizeof(struct flight_row),
	AT(shared_thread, flight), AT(shared_thread, process), AT(shared_thread, next),
	AT(shared_thread, state), AT(shared_thread, stall), sizeof(struct shared_thread),

	AT(shared_chunk, state), AT(shared_chunk, process), AT(shared_chunk, next),
	AT(shared_chunk, nr_rows), sizeof(struct shared_chunk),
	AT(stock_words, taken), AT(stock_words, in_hand), AT(stock_words, state),
	AT(stock_words, stamp), AT(stock_words, moving), AT(stock_words, chunk),
	AT(stock_words, stuck),
	AT(stock_words, words),
	sizeof(struct stock_words), WORD_ROOM, WORD_SPARE, WORD_GATES, STOCK_NR_WORDS,
	/* What a word means, and by which instructions its owner changes it. */
	STOCK_ROOM_BYTES, FAST_PATH_IS_PLAIN,

	AT(shared_image, nr_bytes), AT(shared_image, group), AT(shared_image, previous),
	AT(shared_image, state), AT(shared_image, merged), sizeof(struct shared_image),

	AT(shared_report, sequence), AT(shared_report, kind), AT(shared_report, pid),
	AT(shared_report, command), AT(shared_report, nr_bytes), AT(shared_report, nr_bytes_max),
	AT(shared_report, group), AT(shared_report, text), AT(shared_report, consumers),
	AT(shared_report, nr_consumers), sizeof(struct shared_report),
	/* clang-format on */
};

/* FNV-1a, by bytes from the lowest. */
static uint64_t hash(uint64_t hash, const uint32_t *numbers, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		for (unsigned int shift = 0; shift < 32; shift += 8)
			hash = (hash ^ (numbers[i] >> shift & 0xff)) * 1099511628211u;
	return hash;
}

uint64_t stamp_layout(void)
{
	uint32_t nr_bytes[NR_CLASSES], nr_events = NR_SHARED_EVENTS;
	uint64_t stamp = 14695981039346656037u;

	class_list(nr_bytes);
	stamp = hash(stamp, layout, ARRAY_SIZE(layout));
	stamp = hash(stamp, segment_row_bytes, NR_REGIONS);
	stamp = hash(stamp, &nr_events, 1);
	return hash(stamp, nr_bytes, NR_CLASSES);
}
