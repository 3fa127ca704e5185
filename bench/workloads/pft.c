/* SPDX-License-Identifier: MIT */
/*
 * The second seed's page fault test: one anonymous mapping cut evenly among the workers, each of
 * which writes one byte a page of its part. For the kernel the mapping is made before the gate; for
 * the library each worker maps a region behind the gate, which is where it is charged in states of
 * the library, and on systems, where that is not done at touch.
 * Unmapping, where the charge is given back, is timed apart.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "workloads/user_pages.h"
#include "workloads/workload.h"

struct part {
	char *address; /* of the next page to be written */
	void *region;  /* lib: this worker's own */
	size_t nr_bytes_region;
} __attribute__((aligned(256)));

struct pft {
	void *mapping; /* kernel: all parts, one after another */
	size_t nr_bytes;
	size_t page_size;
	uint64_t nr_charged_before;
	_Atomic unsigned int nr_done; /* workers that have touched all of their region */
	struct part parts[];
};

static int pft_setup(struct workload_context *context, struct workload_worker *worker)
{
	size_t size = sizeof(struct pft) + context->nr_workers * sizeof(struct part);
	size_t nr_pages = context->nr_operations + context->nr_warm_up;
	struct pft *pft = aligned_alloc(256, (size + 255) & ~(size_t)255);
	int error;

	if (!pft)
		return workload_fail(worker, "aligned_alloc");
	pft->page_size = (size_t)sysconf(_SC_PAGESIZE);
	pft->nr_bytes = nr_pages * pft->page_size * context->nr_workers;
	pft->mapping = NULL;
	pft->nr_charged_before = user_pages_charged(context);
	atomic_init(&pft->nr_done, 0);
	context->data = pft;
	for (unsigned int i = 0; i < context->nr_workers; i++)
		pft->parts[i] = (struct part){ 0 };
	if (context->target == WORKLOAD_LIB)
		return 0;
	error = user_pages_map(context, worker, pft->nr_bytes, &pft->mapping);
	if (error)
		return error;
	for (unsigned int i = 0; i < context->nr_workers; i++)
		pft->parts[i].address = (char *)pft->mapping + i * nr_pages * pft->page_size;
	return 0;
}

static int part_unmap(struct workload_context *context, struct workload_worker *worker,
		      struct part *part)
{
	void *region = part->region;

	part->region = NULL;
	return region ? user_pages_unmap(context, worker, region, part->nr_bytes_region) : 0;
}

/* A warm-up's region is its own; the other is for all that follows, however it is cut into runs. */
static int part_map(struct workload_context *context, struct workload_worker *worker,
		    struct part *part, uint64_t nr_operations)
{
	const struct pft *pft = context->data;
	uint64_t nr_pages = worker->warming_up ? nr_operations : context->nr_operations;
	int error;

	part->nr_bytes_region = nr_pages * pft->page_size;
	error = user_pages_map(context, worker, part->nr_bytes_region, &part->region);
	part->address = part->region;
	return error;
}

/* The last worker is told how many pages all of them were charged. */
static void check_when_all_are_done(const struct workload_context *context,
				    struct workload_worker *worker, const struct part *part)
{
	struct pft *pft = context->data;

	if (!part->region || part->address < (char *)part->region + part->nr_bytes_region)
		return;
	/* acq_rel: pairs with those of the others, whose pages are charged. */
	if (atomic_fetch_add_explicit(&pft->nr_done, 1, memory_order_acq_rel) + 1 ==
	    context->nr_workers)
		worker->nr_checked += user_pages_charged(context) - pft->nr_charged_before;
}

static int pft_run(struct workload_context *context, struct workload_worker *worker,
		   uint64_t nr_operations)
{
	struct pft *pft = context->data;
	struct part *part = &pft->parts[worker->index];
	size_t page_size = pft->page_size;
	volatile char *address;

	if (context->target == WORKLOAD_LIB && !part->region) {
		int error = part_map(context, worker, part, nr_operations);

		if (error)
			return error;
	}
	address = part->address;
	for (uint64_t i = 0; i < nr_operations; i++, address += page_size)
		*address = 1;
	part->address = (char *)address;
	worker->nr_units += nr_operations;
	if (worker->warming_up)
		return part_unmap(context, worker, part);
	check_when_all_are_done(context, worker, part);
	return 0;
}

static int pft_finish(struct workload_context *context, struct workload_worker *worker,
		      uint64_t *ret_nr_apart)
{
	struct pft *pft = context->data;
	int error = 0;

	if (context->target == WORKLOAD_KERNEL) {
		error = user_pages_unmap(context, worker, pft->mapping, pft->nr_bytes);
		pft->mapping = NULL;
		*ret_nr_apart = pft->nr_bytes / pft->page_size;
		return error;
	}
	for (unsigned int i = 0; i < context->nr_workers && !error; i++)
		error = part_unmap(context, worker, &pft->parts[i]);
	*ret_nr_apart = context->nr_operations * context->nr_workers;
	return error;
}

static void pft_teardown(struct workload_context *context)
{
	free(context->data);
}

static double faults_per_cpu(const struct workload_totals *totals)
{
	double cpu_s = totals->user_s + totals->system_s;

	return cpu_s > 0 ? (double)totals->nr_units / cpu_s : -1;
}

static double pages_unmapped(const struct workload_totals *totals)
{
	return totals->apart_s > 0 ? (double)totals->nr_apart / totals->apart_s : -1;
}

const struct workload workload_pft = {
	.name = "pft",
	.description = "one anonymous mapping cut among workers, each writes a byte a page",
	.title = {
		[WORKLOAD_LIB] = "pft faults (lib: regions)",
		[WORKLOAD_KERNEL] = "pft faults (kernel)",
	},
	.workers = WORKLOAD_THREADS,
	.check = WORKLOAD_CHECK_FAULTS,
	.mmtests = true,
	.metrics = {
		{ "faults/cpu", "faults/cpu-sec", WORKLOAD_HIGHER, faults_per_cpu },
		{ "faults/sec", "faults/sec", WORKLOAD_HIGHER, workload_units_per_second },
		{ "unmapped/sec", "pages/sec", WORKLOAD_HIGHER, pages_unmapped },
	},
	.max_operations = 65536,
	.operation = "fault",
	.operation_apart = "page unmapped",
	.nr_operations_exact = 8192,
	.one_by_one = { [WORKLOAD_KERNEL] = true },
	.setup = pft_setup,
	.run = pft_run,
	.finish = pft_finish,
	.teardown = pft_teardown,
};
