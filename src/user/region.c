/* SPDX-License-Identifier: MIT */
#include "user/region.h"

#include <errno.h>
#include <stdint.h>

#include "base/system.h"
#include "kmem/mapping.h"
#include "user/store.h"
#include "user/touch.h"

/* A constant where the controller is not compiled in, so that nothing behind it is linked. */
#define is_at_touch() (CONFIG_MEMCG && touch_is_usable())

enum umemcg_map_mode region_map_mode(void)
{
	return is_at_touch() ? UMEMCG_MAP_AT_TOUCH : UMEMCG_MAP_AT_MAP;
}

/* Mapped before it is charged: until then it is address space alone. */
static int map_and_charge(struct umemcg *group, size_t nr_bytes, void **ret_address)
{
	void *address;
	int r;

	address = system_mmap(NULL, nr_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);
	if (address == MAP_FAILED)
		return -ENOMEM;
	r = mapping_charge(group, KIND_ANON, address, nr_bytes);
	if (r) {
		system_munmap(address, nr_bytes);
		return r;
	}
	*ret_address = address;
	return 0;
}

int region_map(struct umemcg *group, size_t nr_bytes, void **ret_address)
{
	int r;

	if (!nr_bytes)
		return -EINVAL;
	r = mapping_whole_pages(nr_bytes, &nr_bytes);
	if (r)
		return r;
	/* Not between these, where a fork would wait for it; without it nothing is at touch. */
	if (is_at_touch())
		(void)store_prepare();
	mapping_begin();
	r = is_at_touch() ? touch_map(group, nr_bytes, ret_address) : -EOPNOTSUPP;
	if (r == -EOPNOTSUPP)
		r = map_and_charge(group, nr_bytes, ret_address);
	mapping_end();
	return r;
}

static void unmap_forgotten(const struct mapping *mapping)
{
	if (!CONFIG_MEMCG || !touch_unmap(mapping))
		system_munmap((void *)(uintptr_t)mapping->key, mapping->nr_bytes);
	mapping_uncharge(mapping);
}

int region_unmap(void *address)
{
	struct mapping mapping;
	int r;

	mapping_begin();
	r = mapping_forget(KIND_ANON, address, &mapping);
	if (!r)
		unmap_forgotten(&mapping);
	mapping_end();
	return r;
}

void region_free_all(struct umemcg *group)
{
	struct mapping mapping;

	mapping_begin();
	while (!mapping_forget_region_of(group->owner, &mapping))
		unmap_forgotten(&mapping);
	mapping_end();
}
