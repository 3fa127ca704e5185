/* SPDX-License-Identifier: MIT */
/*
 * The first seed's "fork + user mem": the child writes one byte in each of N anonymous pages. For
 * the kernel they are its parent's, copied as they are written; for the library they are a charged
 * region of the child's own, since what a child inherits is already charged.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <umemcg.h>

#include "workloads/process.h"
#include "workloads/workload.h"

struct pages {
	volatile char *address;
	size_t nr_bytes;
	size_t page_size;
};

static void pages_touch(const struct pages *pages, volatile char *address)
{
	for (size_t offset = 0; offset < pages->nr_bytes; offset += pages->page_size)
		address[offset] = 1;
}

static int touch_child(struct workload_context *context)
{
	const struct pages *pages = context->data;
	void *region;

	if (context->target == WORKLOAD_KERNEL) {
		pages_touch(pages, pages->address);
		return 0;
	}
	if (umemcg_map(umemcg_current(), pages->nr_bytes, &region))
		return 1;
	pages_touch(pages, region);
	return umemcg_unmap(region) ? 1 : 0;
}

static int fork_touch_worker_setup(struct workload_context *context, struct workload_worker *worker)
{
	static struct pages pages; /* workers are processes: each has its own */

	pages.page_size = (size_t)sysconf(_SC_PAGESIZE);
	pages.nr_bytes = context->value * pages.page_size;
	context->data = &pages;
	/* The parent is the first to use what its children will. */
	if (context->target == WORKLOAD_LIB && touch_child(context)) {
		worker->failed = "umemcg_map";
		return -ENOMEM;
	}
	if (context->target == WORKLOAD_LIB)
		return 0;
	pages.address = mmap(NULL, pages.nr_bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages.address == MAP_FAILED)
		return workload_fail(worker, "mmap");
	pages_touch(&pages, pages.address);
	return 0;
}

static int fork_touch_run(struct workload_context *context, struct workload_worker *worker,
			  uint64_t nr_operations)
{
	for (; nr_operations > 0; nr_operations--) {
		int error = process_fork_and_wait(context, worker, touch_child);

		if (error)
			return error;
	}
	return 0;
}

static void fork_touch_worker_teardown(struct workload_context *context,
				       struct workload_worker *worker)
{
	struct pages *pages = context->data;

	(void)worker;
	if (pages->address)
		munmap((void *)pages->address, pages->nr_bytes);
	pages->address = NULL;
}

const struct workload workload_fork_touch = {
	.name = "fork_touch",
	.description = "as fork, but the child writes a byte in each of N anonymous pages",
	.title = {
		[WORKLOAD_LIB] = "fork + user mem (lib: in a shared tree, the child's region)",
		[WORKLOAD_KERNEL] = "fork + user mem (kernel)",
	},
	.workers = WORKLOAD_PROCESSES,
	.check = WORKLOAD_CHECK_COUNTED,
	.shares_tree = true,
	.metrics = {
		{ "elapsed time", "s", WORKLOAD_LOWER, workload_elapsed },
		{ "time per fork", "us", WORKLOAD_LOWER, workload_us_per_unit },
	},
	.parameter = "pages",
	.values = { 256 },
	.nr_values = 1,
	.nr_values_quick = 1,
	.operation = "fork",
	.nr_operations_exact = 32,
	.one_by_one = { [WORKLOAD_LIB] = true, [WORKLOAD_KERNEL] = true },
	.worker_setup = fork_touch_worker_setup,
	.run = fork_touch_run,
	.worker_teardown = fork_touch_worker_teardown,
};
