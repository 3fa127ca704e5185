/* SPDX-License-Identifier: MIT */
/*
 * After ebizzy, a web server's lookups: pick one of ten chunks, copy it into fresh memory, search
 * the copy for a random key, free it. A record is one such lookup.
 */
#include <errno.h>
#include <string.h>

#include "workloads/workload.h"
#include "workloads/workload_alloc.h"

#define NR_CHUNKS        10
#define NR_BYTES_CHUNK   (512u << 10)
#define NR_RECORDS_CHUNK (NR_BYTES_CHUNK / sizeof(uint64_t))

struct ebizzy {
	uint64_t *chunks[NR_CHUNKS];
};

static int ebizzy_setup(struct workload_context *context, struct workload_worker *worker)
{
	struct ebizzy *ebizzy = workload_malloc(context, sizeof(*ebizzy));

	if (!ebizzy)
		return workload_fail(worker, "malloc");
	memset(ebizzy, 0, sizeof(*ebizzy));
	context->data = ebizzy;
	for (unsigned int i = 0; i < NR_CHUNKS; i++) {
		ebizzy->chunks[i] = workload_malloc(context, NR_BYTES_CHUNK);
		if (!ebizzy->chunks[i])
			return workload_fail(worker, "malloc");
		for (uint64_t key = 0; key < NR_RECORDS_CHUNK; key++)
			ebizzy->chunks[i][key] = key;
	}
	return 0;
}

static uint64_t search(const uint64_t *chunk, uint64_t key)
{
	uint64_t low = 0, high = NR_RECORDS_CHUNK;

	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (chunk[middle] <= key)
			low = middle;
		else
			high = middle;
	}
	return chunk[low];
}

static int ebizzy_run(struct workload_context *context, struct workload_worker *worker,
		      uint64_t nr_operations)
{
	const struct ebizzy *ebizzy = context->data;

	for (; nr_operations > 0; nr_operations--) {
		uint64_t random = workload_random(worker);
		uint64_t key = (random >> 16) % NR_RECORDS_CHUNK;
		uint64_t *copy = workload_malloc(context, NR_BYTES_CHUNK);

		if (!copy)
			return workload_fail(worker, "malloc");
		memcpy(copy, ebizzy->chunks[(random & 0xffff) % NR_CHUNKS], NR_BYTES_CHUNK);
		if (search(copy, key) == key)
			worker->nr_checked++;
		workload_free(context, copy);
		worker->nr_units++;
	}
	return 0;
}

static void ebizzy_teardown(struct workload_context *context)
{
	struct ebizzy *ebizzy = context->data;

	if (!ebizzy)
		return;
	for (unsigned int i = 0; i < NR_CHUNKS; i++)
		workload_free(context, ebizzy->chunks[i]);
	workload_free(context, ebizzy);
}

const struct workload workload_ebizzy = {
	.name = "ebizzy",
	.description = "threads copy a chunk of 512 KiB, search the copy, free it",
	.title = {
		[WORKLOAD_LIB] = "ebizzy (lib: copies from its heap)",
		[WORKLOAD_KERNEL] = "ebizzy (kernel)",
	},
	.workers = WORKLOAD_THREADS,
	.check = WORKLOAD_CHECK_COUNTED,
	.metrics = { { "records/sec", "records/sec", WORKLOAD_HIGHER, workload_units_per_second } },
	.operation = "record",
	.nr_operations_exact = 64,
	.one_by_one = { [WORKLOAD_LIB] = true, [WORKLOAD_KERNEL] = true },
	.setup = ebizzy_setup,
	.run = ebizzy_run,
	.teardown = ebizzy_teardown,
};
