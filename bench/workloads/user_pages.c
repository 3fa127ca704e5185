/* SPDX-License-Identifier: MIT */
/* "User pages": anonymous memory for the kernel, a charged region for the library. No huge pages.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <umemcg.h>

#include "workloads/user_pages.h"

int user_pages_map(struct workload_context *context, struct workload_worker *worker,
		   size_t nr_bytes, void **ret_address)
{
	void *address;

	if (context->target == WORKLOAD_LIB) {
		int error = umemcg_map(umemcg_current(), nr_bytes, &address);

		if (error) {
			worker->failed = "umemcg_map";
			return error;
		}
	} else {
		address = mmap(NULL, nr_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);
		if (address == MAP_FAILED)
			return workload_fail(worker, "mmap");
	}
	/* A kernel without huge pages refuses the advice and has no need of it. */
	madvise(address, nr_bytes, MADV_NOHUGEPAGE);
	*ret_address = address;
	return 0;
}

uint64_t user_pages_charged(const struct workload_context *context)
{
	struct umemcg_stat stat;

	if (context->target != WORKLOAD_LIB || umemcg_map_mode() != UMEMCG_MAP_AT_TOUCH ||
	    umemcg_get_stat(umemcg_current(), &stat))
		return 0;
	return stat.nr_bytes_anon / (uint64_t)sysconf(_SC_PAGESIZE);
}

int user_pages_unmap(struct workload_context *context, struct workload_worker *worker,
		     void *address, size_t nr_bytes)
{
	if (context->target == WORKLOAD_LIB) {
		int error = umemcg_unmap(address);

		if (error)
			worker->failed = "umemcg_unmap";
		return error;
	}
	if (munmap(address, nr_bytes))
		return workload_fail(worker, "munmap");
	return 0;
}
