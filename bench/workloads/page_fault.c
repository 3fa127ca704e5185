/* SPDX-License-Identifier: MIT */
/*
 * After will-it-scale: map 128 MiB, write a byte a page, unmap, again and again. The memory is
 * anonymous (1), a private mapping of a file (2), or a shared one (3). Where instructions are
 * counted it is 16 MiB: a fault takes as many.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "workloads/user_pages.h"
#include "workloads/workload.h"

#define NR_BYTES         (128ul << 20)
#define NR_BYTES_COUNTED (16ul << 20)

static size_t mapping_size(const struct workload_context *context)
{
	return context->counted ? NR_BYTES_COUNTED : NR_BYTES;
}

static void touch(struct workload_worker *worker, volatile char *address, size_t nr_bytes)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t offset = 0; offset < nr_bytes; offset += page_size)
		address[offset] = 1;
	worker->nr_units += nr_bytes / page_size;
}

static int anonymous_run(struct workload_context *context, struct workload_worker *worker,
			 uint64_t nr_operations)
{
	size_t nr_bytes = mapping_size(context);

	for (; nr_operations > 0; nr_operations--) {
		uint64_t nr_before = user_pages_charged(context);
		void *address;
		int error = user_pages_map(context, worker, nr_bytes, &address);

		if (error)
			return error;
		touch(worker, address, nr_bytes);
		worker->nr_checked += user_pages_charged(context) - nr_before;
		error = user_pages_unmap(context, worker, address, nr_bytes);
		if (error)
			return error;
	}
	return 0;
}

/* The file has no name left once it is open, so nothing stays behind whatever happens. */
static int file_worker_setup(struct workload_context *context, struct workload_worker *worker)
{
	char path[] = "/tmp/umemcg-bench-XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0)
		return workload_fail(worker, "mkstemp");
	unlink(path);
	worker->data = (void *)(intptr_t)fd;
	if (ftruncate(fd, (off_t)mapping_size(context)))
		return workload_fail(worker, "ftruncate");
	/* No reading ahead: it would fill the file in large folios, which one fault maps whole. */
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	return 0;
}

static void file_worker_teardown(struct workload_context *context, struct workload_worker *worker)
{
	(void)context;
	close((int)(intptr_t)worker->data);
}

static int file_run(const struct workload_context *context, struct workload_worker *worker,
		    uint64_t nr_operations, int flags)
{
	size_t nr_bytes = mapping_size(context);
	int fd = (int)(intptr_t)worker->data;

	for (; nr_operations > 0; nr_operations--) {
		void *address = mmap(NULL, nr_bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

		if (address == MAP_FAILED)
			return workload_fail(worker, "mmap");
		madvise(address, nr_bytes, MADV_RANDOM);
		touch(worker, address, nr_bytes);
		if (munmap(address, nr_bytes))
			return workload_fail(worker, "munmap");
	}
	return 0;
}

static int private_run(struct workload_context *context, struct workload_worker *worker,
		       uint64_t nr_operations)
{
	return file_run(context, worker, nr_operations, MAP_PRIVATE);
}

static int shared_run(struct workload_context *context, struct workload_worker *worker,
		      uint64_t nr_operations)
{
	return file_run(context, worker, nr_operations, MAP_SHARED);
}

#define FAULTS_METRIC                                                                              \
	{                                                                                          \
		{                                                                                  \
			"faults/sec", "faults/sec", WORKLOAD_HIGHER, workload_units_per_second     \
		}                                                                                  \
	}
#define NO_FILES "libumemcg does not count mappings of files"

const struct workload workload_page_fault1 = {
	.name = "page_fault1",
	.description = "map 128 MiB of anonymous memory, write a byte a page, unmap",
	.title = {
		[WORKLOAD_LIB] = "page_fault1 (lib: regions)",
		[WORKLOAD_KERNEL] = "page_fault1 (kernel)",
	},
	.workers = WORKLOAD_PROCESSES,
	.check = WORKLOAD_CHECK_FAULTS,
	.metrics = FAULTS_METRIC,
	.operation = "fault",
	.nr_operations_exact = 2,
	.run = anonymous_run,
};

const struct workload workload_page_fault2 = {
	.name = "page_fault2",
	.description = "the same with a private mapping of a file",
	.title = { [WORKLOAD_KERNEL] = "page_fault2 (kernel)" },
	.why_not = { [WORKLOAD_LIB] = NO_FILES },
	.workers = WORKLOAD_PROCESSES,
	.check = WORKLOAD_CHECK_FAULTS,
	.metrics = FAULTS_METRIC,
	.operation = "fault",
	.nr_operations_exact = 2,
	.worker_setup = file_worker_setup,
	.run = private_run,
	.worker_teardown = file_worker_teardown,
};

const struct workload workload_page_fault3 = {
	.name = "page_fault3",
	.description = "the same with a shared mapping of a file",
	.title = { [WORKLOAD_KERNEL] = "page_fault3 (kernel)" },
	.why_not = { [WORKLOAD_LIB] = NO_FILES },
	.workers = WORKLOAD_PROCESSES,
	.check = WORKLOAD_CHECK_FAULTS,
	.metrics = FAULTS_METRIC,
	.operation = "fault",
	.nr_operations_exact = 2,
	.worker_setup = file_worker_setup,
	.run = shared_run,
	.worker_teardown = file_worker_teardown,
};
