/* SPDX-License-Identifier: MIT */
/* The public call that gives regions a swap file. */
#include <errno.h>

#include "base/init.h"
#include "umemcg.h"
#include "user/store.h"

int umemcg_set_swap(const char *directory, uint64_t nr_bytes)
{
	if (directory && !nr_bytes)
		return -EINVAL;
	/* Where nothing is counted nothing is evicted. */
	if (!CONFIG_MEMCG || !library_counts(LIBRARY_COUNTS))
		return 0;
	return store_set_swap(directory, nr_bytes);
}
