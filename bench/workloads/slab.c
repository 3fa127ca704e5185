/* SPDX-License-Identifier: MIT */
/*
 * Small objects. For the library, objects of mixed sizes that replace one another in a live set;
 * for the kernel, what its accounted caches hold: pipes, sockets, and a file's name and inode.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "workloads/workload.h"
#include "workloads/workload_alloc.h"

#define NR_LIVE 1024

struct live_set {
	void *objects[NR_LIVE];
	char path[64];
};

/* Sizes as programs have them: most are small, each doubling is half as frequent. */
static size_t random_size(uint64_t random)
{
	unsigned int shift = (unsigned int)__builtin_ctzll(random | 1u << 7);

	return (16u << shift) + (random >> 32) % (16u << shift);
}

static int slab_worker_setup(struct workload_context *context, struct workload_worker *worker)
{
	struct live_set *live = malloc(sizeof(*live));

	(void)context;
	if (!live)
		return workload_fail(worker, "malloc");
	memset(live, 0, sizeof(*live));
	snprintf(live->path, sizeof(live->path), "%s/umemcg-bench-%d-%u",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", getpid(), worker->index);
	worker->data = live;
	return 0;
}

static int objects_run(struct workload_context *context, struct workload_worker *worker,
		       uint64_t nr_operations)
{
	struct live_set *live = worker->data;

	for (; nr_operations > 0; nr_operations--) {
		uint64_t random = workload_random(worker);
		void **slot = &live->objects[(random >> 20) % NR_LIVE];

		workload_free(context, *slot);
		*slot = workload_malloc(context, random_size(random));
		if (!*slot)
			return workload_fail(worker, "malloc");
		*(volatile char *)*slot = 1;
		worker->nr_units++;
	}
	return 0;
}

static int kernel_objects_run(struct workload_worker *worker, uint64_t nr_operations)
{
	const struct live_set *live = worker->data;

	for (; nr_operations > 0; nr_operations--) {
		int fds[2], fd;

		if (pipe(fds))
			return workload_fail(worker, "pipe");
		close(fds[0]);
		close(fds[1]);
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		if (fd < 0)
			return workload_fail(worker, "socket");
		close(fd);
		fd = open(live->path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
		if (fd < 0)
			return workload_fail(worker, "open");
		unlink(live->path);
		close(fd);
		worker->nr_units += 3;
	}
	return 0;
}

static int slab_run(struct workload_context *context, struct workload_worker *worker,
		    uint64_t nr_operations)
{
	if (context->target == WORKLOAD_KERNEL)
		return kernel_objects_run(worker, nr_operations);
	return objects_run(context, worker, nr_operations);
}

static void slab_worker_teardown(struct workload_context *context, struct workload_worker *worker)
{
	struct live_set *live = worker->data;

	for (unsigned int i = 0; live && i < NR_LIVE; i++)
		workload_free(context, live->objects[i]);
	free(live);
}

const struct workload workload_slab = {
	.name = "slab",
	.description = "small objects of mixed sizes; kernel: pipes, sockets, files' names",
	.title = {
		[WORKLOAD_LIB] = "slab, objects replaced in a live set of 1024 (lib)",
		[WORKLOAD_KERNEL] = "slab, pipes, sockets and files' names (kernel)",
	},
	.workers = WORKLOAD_THREADS,
	.metrics = { { "time per pair", "ns", WORKLOAD_LOWER, workload_ns_per_unit } },
	.operation = "pair",
	.nr_operations_exact = 1024,
	.one_by_one = { [WORKLOAD_LIB] = true },
	.worker_setup = slab_worker_setup,
	.run = slab_run,
	.worker_teardown = slab_worker_teardown,
};
