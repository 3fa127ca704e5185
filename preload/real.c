/* SPDX-License-Identifier: MIT */
#include "real.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/compiler.h"

/* Two threads may look at once, and find the same. relaxed: what is there was there before us. */
static void *find(struct real *real, void *where)
{
	void *address = atomic_load_explicit(&real->address, memory_order_relaxed);

	if (likely(address != NULL))
		return address;
	address = dlsym(where, real->name);
	atomic_store_explicit(&real->address, address, memory_order_relaxed);
	return address;
}

void *real_find(struct real *real)
{
	return find(real, RTLD_NEXT);
}

void *real_find_first(struct real *real)
{
	return find(real, RTLD_DEFAULT);
}
