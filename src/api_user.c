/* SPDX-License-Identifier: MIT */
/* The public calls about pages of regions, and where they go. */
#include <errno.h>

#include "base/init.h"
#include "kmem/mapping.h"
#include "umemcg.h"
#include "user/pin.h"
#include "user/region.h"
#include "user/store.h"

enum umemcg_map_mode umemcg_map_mode(void)
{
	library_init();
	return region_map_mode();
}

/* Nothing is ever taken away there. */
static int without_pins(const void *address, size_t nr_bytes)
{
	return mapping_has_region(address, nr_bytes) ? 0 : -EINVAL;
}

int umemcg_pin(const void *address, size_t nr_bytes)
{
	library_init();
	if (!CONFIG_MEMCG)
		return without_pins(address, nr_bytes);
	return pin_range(address, nr_bytes);
}

int umemcg_unpin(const void *address, size_t nr_bytes)
{
	library_init();
	if (!CONFIG_MEMCG)
		return without_pins(address, nr_bytes);
	return pin_release(address, nr_bytes);
}

int umemcg_set_swap(const char *directory, uint64_t nr_bytes)
{
	if (directory && !nr_bytes)
		return -EINVAL;
	/* Where nothing is counted nothing is evicted. */
	if (!CONFIG_MEMCG || !library_counts(LIBRARY_COUNTS))
		return 0;
	return store_set_swap(directory, nr_bytes);
}
