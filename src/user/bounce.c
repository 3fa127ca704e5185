/* SPDX-License-Identifier: MIT */
#include "user/bounce.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/system.h"
#include "charge/pause.h"
#include "user/region.h"

/* As many threads read at a time. Resident once used, and nobody's. */
#define NR_AREAS 4u

#define AREA_BYTES  ((size_t)BOUNCE_NR_PAGES * REGION_PAGE_BYTES)
#define ZEROS_BYTES ((size_t)CHUNK_NR_PAGES * REGION_PAGE_BYTES)

static char *_Atomic areas;
static _Atomic bool is_taken[NR_AREAS];

/* The zeros lie behind the areas. Read only, they are all the system's one page. */
int bounce_prepare(void)
{
	size_t nr_bytes = NR_AREAS * AREA_BYTES + ZEROS_BYTES;
	char *none = NULL;
	char *made;

	/* acquire, and release below: pair with each other. */
	if (atomic_load_explicit(&areas, memory_order_acquire))
		return 0;
	made = system_mmap(NULL, nr_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);
	if (made == MAP_FAILED)
		return -ENOMEM;
	system_madvise(made, nr_bytes, MADV_NOHUGEPAGE);
	system_mprotect(made + NR_AREAS * AREA_BYTES, ZEROS_BYTES, PROT_READ);
	if (!atomic_compare_exchange_strong_explicit(&areas, &none, made, memory_order_acq_rel,
						     memory_order_acquire))
		system_munmap(made, nr_bytes);
	return 0;
}

/* relaxed, here and below: whoever has a region has seen them made. */
const char *bounce_zeros(void)
{
	return atomic_load_explicit(&areas, memory_order_relaxed) + NR_AREAS * AREA_BYTES;
}

char *bounce_get(void)
{
	for (unsigned int round = 0;; round++) {
		unsigned int i = round % NR_AREAS;

		/* acquire: pairs with the release in bounce_put(). */
		if (!atomic_exchange_explicit(&is_taken[i], true, memory_order_acquire))
			return atomic_load_explicit(&areas, memory_order_relaxed) + i * AREA_BYTES;
		pause_briefly(round);
	}
}

void bounce_put(char *area)
{
	size_t offset = area - atomic_load_explicit(&areas, memory_order_relaxed);

	atomic_store_explicit(&is_taken[offset / AREA_BYTES], false, memory_order_release);
}

void bounce_forget(void)
{
	for (unsigned int i = 0; i < NR_AREAS; i++)
		atomic_store_explicit(&is_taken[i], false, memory_order_relaxed);
}
