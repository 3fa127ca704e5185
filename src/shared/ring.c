/* SPDX-License-Identifier: MIT */
/*
 * A report's sequence is 0 while it is written. Words are copied one by one, each whole, and who
 * reads looks at the sequence before and after. A writer that is overtaken by the whole ring while
 * it writes may spoil one later report.
 */
#include "shared/ring.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shared/climb.h"
#include "shared/event.h"
#include "shared/largest.h"
#include "shared/recovery.h"
#include "shared/slot.h"
#include "shared/tree.h"

#define NR_REPORT_WORDS (sizeof(struct shared_report) / sizeof(uint64_t))

_Static_assert(sizeof(struct shared_report) % sizeof(uint64_t) == 0, "copied by words");
_Static_assert(offsetof(struct shared_report, sequence) == 0, "the first word");

/* Row of a report; the rows are the ring. */
static uint32_t row_of(const struct segment *segment, uint64_t sequence)
{
	return 1 + (uint32_t)((sequence - 1) % (segment->nr_rows[REGION_REPORTS] - 1));
}

/* ---- writing ---- */

static void write_row(struct shared_report *row, const struct shared_report *report,
		      uint64_t sequence)
{
	_Atomic uint64_t *to = (_Atomic uint64_t *)row;
	uint64_t words[NR_REPORT_WORDS];

	memcpy(words, report, sizeof(words));
	atomic_store_explicit(&row->sequence, 0, memory_order_relaxed);
	/* Pairs with the fence in read_row(): who sees a word of this sees the 0, too. */
	atomic_thread_fence(memory_order_release);
	for (unsigned int i = 1; i < NR_REPORT_WORDS; i++)
		atomic_store_explicit(&to[i], words[i], memory_order_relaxed);
	/* Release pairs with the acquire in read_row(). */
	atomic_store_explicit(&row->sequence, sequence, memory_order_release);
}

static void wake(struct segment_header *header)
{
	/* Seq_cst, both: who waits counts itself first and looks at the futex afterwards. */
	atomic_fetch_add_explicit(&header->report_futex, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&header->nr_waiting, memory_order_seq_cst))
		syscall(SYS_futex, &header->report_futex, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void ring_wake(struct segment *segment)
{
	int saved_errno = errno;

	wake(segment->header);
	errno = saved_errno;
}

static void put(struct segment *segment, const struct shared_report *report)
{
	int saved_errno = errno;
	/* Acq_rel: numbers are given out once; what they count is ordered by the rows. */
	uint64_t sequence = 1 + atomic_fetch_add_explicit(&segment->header->nr_reports, 1,
							  memory_order_acq_rel);
	uint32_t row = row_of(segment, sequence);

	/* Without memory for it the report is lost. */
	if (!segment_commit_row(segment, REGION_REPORTS, row))
		write_row(segment_row(segment, REGION_REPORTS, row), report, sequence);
	wake(segment->header);
	errno = saved_errno;
}

static void begin(const struct segment *segment, uint32_t process, uint32_t kind, uint64_t nr_bytes,
		  struct shared_report *report)
{
	memset(report, 0, sizeof(*report));
	report->kind = kind;
	report->pid = slot_pid(segment, process);
	report->nr_bytes = nr_bytes;
	report->nr_bytes_max = UMEMCG_MAX;
	largest_command(segment, process, report->command);
}

void ring_refused(struct segment *segment, uint32_t process, uint32_t group, uint64_t nr_bytes)
{
	struct shared_group *full = segment_group(segment, group);
	struct largest largest[UMEMCG_NR_CONSUMERS];
	struct shared_report report;
	unsigned int nr = 0;

	begin(segment, process, UMEMCG_REPORT_REFUSED, nr_bytes, &report);
	if (full) {
		report.nr_bytes_max =
			atomic_load_explicit(&full->counter.max, memory_order_relaxed);
		nr = largest_find(segment, group, largest);
		event_count(segment, group, SHARED_EVENT_MAX);
		event_count(segment, group, SHARED_EVENT_OOM);
	}
	tree_path_end(segment, full ? group : climb_group(segment, process), report.group,
		      sizeof(report.group));
	for (unsigned int i = 0; i < nr; i++) {
		report.consumers[i].pid = slot_pid(segment, largest[i].process);
		report.consumers[i].nr_bytes = largest[i].nr_bytes;
		largest_command(segment, largest[i].process, report.consumers[i].command);
	}
	report.nr_consumers = nr;
	put(segment, &report);
}

/* The process is the one that is killed, with what it held; who asked is the only consumer. */
void ring_killed(struct segment *segment, uint32_t process, uint32_t asking, uint32_t group,
		 uint64_t nr_bytes)
{
	const struct shared_group *full = segment_group(segment, group);
	struct shared_report report;

	begin(segment, process, UMEMCG_REPORT_KILLED, climb_own(segment, process), &report);
	if (full)
		report.nr_bytes_max =
			atomic_load_explicit(&full->counter.max, memory_order_relaxed);
	tree_path_end(segment, group, report.group, sizeof(report.group));
	report.consumers[0].pid = slot_pid(segment, asking);
	report.consumers[0].nr_bytes = nr_bytes;
	largest_command(segment, asking, report.consumers[0].command);
	report.nr_consumers = 1;
	put(segment, &report);
}

void ring_text(struct segment *segment, uint32_t process, enum umemcg_report_kind kind,
	       uint64_t nr_bytes, const char *text)
{
	struct shared_report report;

	begin(segment, process, kind, nr_bytes, &report);
	tree_path_end(segment, climb_group(segment, process), report.group, sizeof(report.group));
	memcpy(report.text, text, strnlen(text, sizeof(report.text) - 1));
	put(segment, &report);
}

/* ---- reading ---- */

static bool read_row(const struct shared_report *row, uint64_t sequence,
		     struct shared_report *report)
{
	const _Atomic uint64_t *from = (const _Atomic uint64_t *)row;
	uint64_t words[NR_REPORT_WORDS];

	/* Acquire pairs with the release of the whole report in write_row(). */
	if (atomic_load_explicit(&row->sequence, memory_order_acquire) != sequence)
		return false;
	words[0] = sequence;
	for (unsigned int i = 1; i < NR_REPORT_WORDS; i++)
		words[i] = atomic_load_explicit(&from[i], memory_order_relaxed);
	/* Pairs with the fence in write_row(). */
	atomic_thread_fence(memory_order_acquire);
	memcpy(report, words, sizeof(words));
	return atomic_load_explicit(&row->sequence, memory_order_relaxed) == sequence;
}

/* A text from the segment: terminated, and nothing in it that moves a cursor. */
static void copy_text(char *to, const char *from, size_t size)
{
	size_t length = strnlen(from, size - 1);

	for (size_t i = 0; i < length; i++)
		to[i] = (unsigned char)from[i] < ' ' || from[i] == 127 ? '?' : from[i];
	memset(to + length, 0, size - length);
}

static void translate(const struct shared_report *report, struct umemcg_report *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->sequence = atomic_load_explicit(&report->sequence, memory_order_relaxed);
	ret->kind = report->kind;
	ret->pid = report->pid;
	ret->nr_bytes = report->nr_bytes;
	ret->nr_bytes_max = report->nr_bytes_max;
	copy_text(ret->command, report->command, sizeof(ret->command));
	copy_text(ret->group, report->group, sizeof(ret->group));
	copy_text(ret->text, report->text, sizeof(ret->text));
	ret->nr_consumers = min(report->nr_consumers, (uint32_t)UMEMCG_NR_CONSUMERS);
	for (unsigned int i = 0; i < ret->nr_consumers; i++) {
		ret->consumers[i].pid = report->consumers[i].pid;
		ret->consumers[i].nr_bytes = report->consumers[i].nr_bytes;
		copy_text(ret->consumers[i].command, report->consumers[i].command,
			  sizeof(ret->consumers[i].command));
	}
}

/* The first whole report after @sequence. What is being written now is waited for only as long as
 * nothing later is there: its writer may be dead. */
static bool find(const struct segment *segment, uint64_t sequence, struct umemcg_report *ret)
{
	uint64_t last = atomic_load_explicit(&segment->header->nr_reports, memory_order_acquire);
	uint64_t nr_rows = segment->nr_rows[REGION_REPORTS] - 1;
	uint64_t at = last > nr_rows ? last - nr_rows : 0;
	struct shared_report report;

	for (at = max(at, sequence); at < last; at++) {
		uint32_t row = row_of(segment, at + 1);

		if (row >= segment_nr_used(segment, REGION_REPORTS) ||
		    !read_row(segment_row(segment, REGION_REPORTS, row), at + 1, &report))
			continue;
		translate(&report, ret);
		return true;
	}
	return false;
}

static struct timespec now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time;
}

static struct timespec later(struct timespec time, int ms)
{
	time.tv_sec += ms / 1000;
	time.tv_nsec += ms % 1000 * 1000000L;
	if (time.tv_nsec >= 1000000000L) {
		time.tv_sec++;
		time.tv_nsec -= 1000000000L;
	}
	return time;
}

/* An absolute deadline, which FUTEX_WAIT_BITSET takes by the monotonic clock. */
static int sleep_on(struct segment_header *header, uint32_t seen, const struct timespec *deadline)
{
	long r = syscall(SYS_futex, &header->report_futex, FUTEX_WAIT_BITSET, seen, deadline, NULL,
			 FUTEX_BITSET_MATCH_ANY);

	return r && errno != EAGAIN ? -errno : 0;
}

int ring_wait(struct segment *segment, uint64_t sequence, int timeout_ms,
	      struct umemcg_report *ret_report)
{
	struct segment_header *header = segment->header;
	struct timespec deadline = later(now(), max(timeout_ms, 0));
	int r = 0;

	if (sequence == UINT64_MAX)
		sequence = atomic_load_explicit(&header->nr_reports, memory_order_acquire);
	if (find(segment, sequence, ret_report))
		return 0;
	if (!timeout_ms)
		return -ETIMEDOUT;
	/* Seq_cst, as wake(). A process that dies here costs a system call a report. */
	atomic_fetch_add_explicit(&header->nr_waiting, 1, memory_order_seq_cst);
	for (;;) {
		uint32_t seen = atomic_load_explicit(&header->report_futex, memory_order_seq_cst);

		/* Once more after the deadline: it may have come with it. */
		if (find(segment, sequence, ret_report)) {
			r = 0;
			break;
		}
		if (r)
			break;
		r = sleep_on(header, seen, timeout_ms < 0 ? NULL : &deadline);
		/* It may have been ring_wake() that woke it. */
		if (!r)
			recovery_run(segment, false);
	}
	atomic_fetch_sub_explicit(&header->nr_waiting, 1, memory_order_relaxed);
	return r;
}
