/* SPDX-License-Identifier: MIT */
/* The marks of a block, around what is counted of it. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "meters/exact/guest/counting.h"
#include "meters/exact/job.h"
#include "meters/exact/mark.h"
#include "umemcg-marks.h"

/*
 * Long enough for what was put off to be over: RCU's grace periods, of a few ticks each, one after
 * another; workqueues; what those put off in turn. Twice the time finds nothing more.
 */
#define GRACE_MS 200

/* As UMEMCG_MARK(0), and it is noted where it lies. A compiler may make several of one. */
#define COUNTING_MARK(part)                                                                        \
	__asm__ volatile("8:\t.byte 0x0f, 0x1f, 0x80\n\t.short 0\n\t"                              \
			 ".byte 0x43, 0x4d\n\t"                                                    \
			 ".pushsection counting_marks, \"aw\"\n\t.quad 8b, %c0\n\t"                \
			 ".popsection"                                                             \
			 :                                                                         \
			 : "i"(part)                                                               \
			 : "memory")

struct counting_mark {
	uint64_t address;
	uint64_t part;
};

/* The linker sets these around the section. */
extern const struct counting_mark __start_counting_marks[], __stop_counting_marks[];

static int counting_arm_one(const struct counting_mark *mark, unsigned int index)
{
	uintptr_t page_mask = ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
	uintptr_t start = mark->address & page_mask;
	size_t nr_bytes = mark->address + MARK_NR_BYTES - start;
	uint16_t id = (uint16_t)job_part_id(index, (enum job_part)mark->part);

	/* What does the writing may lie in the same page, so that must stay executable. */
	if (mprotect((void *)start, nr_bytes, PROT_READ | PROT_WRITE | PROT_EXEC))
		return -errno;
	memcpy((void *)(mark->address + MARK_ID_OFFSET), &id, sizeof(id));
	return mprotect((void *)start, nr_bytes, PROT_READ | PROT_EXEC) ? -errno : 0;
}

int counting_arm(unsigned int index)
{
	int error = 0;

	for (const struct counting_mark *mark = __start_counting_marks;
	     mark < __stop_counting_marks && !error; mark++)
		error = counting_arm_one(mark, index);
	return error;
}

static const struct timespec counting_grace = { .tv_nsec = GRACE_MS * 1000000 };

__attribute__((noinline)) int counting_run(const struct workload *workload,
					   struct workload_context *context,
					   struct workload_worker *worker)
{
	int (*run)(struct workload_context *, struct workload_worker *, uint64_t) = workload->run;
	bool one_by_one = workload->one_by_one[context->target];
	uint64_t nr_operations = context->nr_operations;
	int error = 0;

	COUNTING_MARK(JOB_PART_RUN);
	if (!one_by_one) {
		error = run(context, worker, nr_operations);
	} else {
		for (; nr_operations > 0 && !error; nr_operations--) {
			error = run(context, worker, 1);
			UMEMCG_MARK_ITERATION();
		}
	}
	COUNTING_MARK(JOB_PART_DEFERRED);
	nanosleep(&counting_grace, NULL);
	UMEMCG_MARK(0);
	return error;
}

__attribute__((noinline)) int counting_finish(const struct workload *workload,
					      struct workload_context *context,
					      struct workload_worker *worker,
					      uint64_t *ret_nr_apart)
{
	int error;

	COUNTING_MARK(JOB_PART_APART);
	error = workload->finish(context, worker, ret_nr_apart);
	COUNTING_MARK(JOB_PART_APART_DEFERRED);
	nanosleep(&counting_grace, NULL);
	UMEMCG_MARK(0);
	return error;
}

__attribute__((noinline)) void counting_quiet(void)
{
	COUNTING_MARK(JOB_PART_QUIET);
	nanosleep(&counting_grace, NULL);
	UMEMCG_MARK(0);
}

void counting_rest(void)
{
	nanosleep(&counting_grace, NULL);
}
