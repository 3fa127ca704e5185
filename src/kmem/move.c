/* SPDX-License-Identifier: MIT */
/*
 * Moving pages.
 *
 * mremap() takes the pages to a new address in time that hardly depends on their number. What it
 * costs is a mapping of the system's for each piece moved, as the pages keep where they came from,
 * and a process may have few of those: so there is a bound, only large objects are moved, and a
 * run that was moved to is mapped anew when its object goes, whereupon its mapping joins those
 * around it.
 *
 * MREMAP_FIXED unmaps its target before it can fail, and another thread may map something of its
 * own there at once. So after a failure the target is left alone for good, and nothing is moved
 * any more: whatever the system lacks, it is likely to lack it again. To fail half way it is given
 * no occasion: each piece lies in one mapping.
 */
#include "kmem/move.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "base/system.h"
#include "kmem/page.h"

/* From here on moving is always cheaper than copying. */
#define MOVE_MIN_BYTES ((size_t)2 << 20)

/* Of the 65530 that Linux lets a process have by default, and each may split another one. */
#define MAPPINGS_MAX 512u

/* An object has a few if it grew where it lies between two moves. */
#define NR_PIECES 16u

#define SYSTEM_PAGE ((size_t)4096)

struct pieces {
	unsigned int nr;
	size_t ends[NR_PIECES];
};

/* Relaxed, both: a bound that may be missed by as many as there are threads, and a hint. */
static _Atomic unsigned int nr_mappings;
static _Atomic bool has_failed;

/* A mapping can only be asked to grow as a whole, and none here can grow into what follows it. */
static bool is_one_mapping(char *start, size_t nr_bytes)
{
	return system_mremap(start, nr_bytes, nr_bytes + SYSTEM_PAGE, 0, NULL) != MAP_FAILED ||
	       errno != EFAULT;
}

/* How much of a range, from its beginning, lies in one mapping. */
static size_t first_piece(char *start, size_t nr_bytes)
{
	size_t low = 1, high = nr_bytes / SYSTEM_PAGE;

	if (is_one_mapping(start, nr_bytes))
		return nr_bytes;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (is_one_mapping(start, middle * SYSTEM_PAGE))
			low = middle;
		else
			high = middle;
	}
	return low * SYSTEM_PAGE;
}

/* False if they are too many. */
static bool find_pieces(char *start, size_t nr_bytes, struct pieces *pieces)
{
	size_t end = 0;

	for (pieces->nr = 0; end < nr_bytes; pieces->nr++) {
		if (pieces->nr == NR_PIECES)
			return false;
		end += first_piece(start + end, nr_bytes - end);
		pieces->ends[pieces->nr] = end;
	}
	return true;
}

bool move_is_wise(const struct page *from, size_t nr_bytes)
{
	struct pieces pieces;

	return nr_bytes > MOVE_MIN_BYTES &&
	       !atomic_load_explicit(&has_failed, memory_order_relaxed) &&
	       atomic_load_explicit(&nr_mappings, memory_order_relaxed) < MAPPINGS_MAX &&
	       find_pieces(page_start(from), nr_bytes, &pieces);
}

static bool move_piece(char *to, char *from, size_t nr_bytes)
{
	return system_mremap(from, nr_bytes, nr_bytes,
			     MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to) != MAP_FAILED;
}

/* Bring back what was moved already; the memory that it came from is still there. */
static void undo(char *to, char *from, size_t nr_bytes)
{
	memcpy(from, to, nr_bytes);
	system_madvise(to, nr_bytes, MADV_DONTNEED);
	atomic_store_explicit(&has_failed, true, memory_order_relaxed);
}

bool move_pages(struct page *to, struct page *from, size_t nr_bytes)
{
	char *new = page_start(to), *old = page_start(from);
	struct pieces pieces;
	size_t done = 0;

	if (!find_pieces(old, nr_bytes, &pieces))
		return false;
	for (unsigned int i = 0; i < pieces.nr; i++) {
		if (!move_piece(new + done, old + done, pieces.ends[i] - done)) {
			undo(new, old, done);
			return false;
		}
		done = pieces.ends[i];
	}
	to->nr_mappings = pieces.nr;
	atomic_fetch_add_explicit(&nr_mappings, pieces.nr, memory_order_relaxed);
	return true;
}

bool move_has_mappings(const struct page *run)
{
	return run->nr_mappings != 0;
}

bool move_restore(struct page *run, uint32_t first)
{
	char *start = page_start(run) + ((size_t)first << SLICE_SHIFT);
	size_t nr_bytes = (size_t)(run->nr_slices - first) << SLICE_SHIFT;
	int saved_errno = errno;

	if (!first) {
		atomic_fetch_sub_explicit(&nr_mappings, run->nr_mappings, memory_order_relaxed);
		run->nr_mappings = 0;
	}
	/* Over memory that is there: no other thread's mapping can come to lie in between. */
	if (system_mmap(start, nr_bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
			0) != MAP_FAILED)
		return true;
	system_madvise(start, nr_bytes, MADV_DONTNEED);
	atomic_store_explicit(&has_failed, true, memory_order_relaxed);
	/* free() keeps it. */
	errno = saved_errno;
	return false;
}
