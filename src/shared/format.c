/* SPDX-License-Identifier: MIT */
#include "shared/format.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kmem/class.h"
#include "shared/segment.h"
#include "shared/stamp.h"

/* Regions begin at pages of any size that a kernel may have. */
#define REGION_ALIGNMENT ((uint64_t)64 << 10)

/* What a header may say. Rows of processes are counted in bits by who recovers. */
static const uint32_t nr_rows_max[NR_REGIONS] = {
	[REGION_NAMES] = SEGMENT_MAX_PROCESSES,
	[REGION_PROCESSES] = SEGMENT_MAX_PROCESSES,
	[REGION_GROUPS] = 1u << 20,
	[REGION_PLACES] = 1u << 20,
	[REGION_THREADS] = 1u << 22,
	[REGION_IMAGES] = 1u << 20,
	[REGION_CHUNKS] = 1u << 20,
	[REGION_CHUNK_HEADS] = 1u << 20,
	[REGION_REPORTS] = 1u << 16,
};

_Static_assert(STOCK_NR_GATES <= ARRAY_SIZE(((struct segment_header *)0)->gate_bytes), "all gates");

struct here {
	char boot_id[sizeof(((struct segment_header *)0)->boot_id)];
	uint64_t pid_namespace;
};

static int look_around(struct here *here)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t length;
	struct stat stat_of;

	if (fd < 0)
		return -EXDEV;
	memset(here, 0, sizeof(*here));
	length = read(fd, here->boot_id, sizeof(here->boot_id) - 1);
	close(fd);
	if (length <= 0 || stat("/proc/self/ns/pid", &stat_of))
		return -EXDEV;
	here->boot_id[strcspn(here->boot_id, "\n")] = '\0';
	here->pid_namespace = stat_of.st_ino;
	return 0;
}

int format_fill(struct segment_header *header, const uint32_t nr_rows[NR_REGIONS])
{
	uint64_t at = REGION_ALIGNMENT;
	struct here here;
	int r = look_around(&here);

	if (r)
		return r;
	memset(header, 0, sizeof(*header));
	memcpy(header->magic, SEGMENT_MAGIC, sizeof(header->magic));
	header->version = SEGMENT_VERSION;
	memcpy(header->boot_id, here.boot_id, sizeof(header->boot_id));
	header->pid_namespace = here.pid_namespace;
	header->layout_stamp = stamp_layout();
	class_list(header->gate_bytes);
	for (unsigned int i = 0; i < NR_REGIONS; i++) {
		struct segment_region_header *region = &header->regions[i];

		region->first_byte = at;
		region->row_bytes = segment_row_bytes[i];
		region->nr_rows = nr_rows[i];
		at += (uint64_t)region->row_bytes * region->nr_rows;
		at = (at + REGION_ALIGNMENT - 1) / REGION_ALIGNMENT * REGION_ALIGNMENT;
		/* Row 0 is nobody's. Relaxed, here and below: nobody else knows the file. */
		atomic_store_explicit(&header->nr_used[i], 1, memory_order_relaxed);
	}
	header->names = header->regions[REGION_NAMES];
	header->nr_bytes = at;
	atomic_store_explicit(&header->state, SEGMENT_LIVE, memory_order_relaxed);
	return 0;
}

static bool is_inside(const struct segment_region_header *region, uint64_t nr_bytes)
{
	/* Both factors are below 2^32, so the product does not overflow. */
	return region->first_byte >= FORMAT_HEADER_BYTES && region->first_byte <= nr_bytes &&
	       (uint64_t)region->row_bytes * region->nr_rows <= nr_bytes - region->first_byte;
}

/* The part that is the same in every version. */
static bool names_are_sound(const struct segment_region_header *names, uint64_t nr_bytes)
{
	return names->row_bytes == sizeof(struct process_name) && names->nr_rows > 1 &&
	       names->nr_rows <= nr_rows_max[REGION_NAMES] &&
	       names->first_byte % sizeof(struct process_name) == 0 && is_inside(names, nr_bytes);
}

static bool regions_are_sound(const struct segment_region_header regions[NR_REGIONS],
			      uint64_t nr_bytes)
{
	uint64_t end = FORMAT_HEADER_BYTES;

	for (unsigned int i = 0; i < NR_REGIONS; i++) {
		if (regions[i].row_bytes != segment_row_bytes[i] || regions[i].nr_rows < 2 ||
		    regions[i].nr_rows > nr_rows_max[i] ||
		    regions[i].first_byte % REGION_ALIGNMENT || !is_inside(&regions[i], nr_bytes))
			return false;
		/* In this order, so that none lies in another. */
		if (regions[i].first_byte < end)
			return false;
		end = regions[i].first_byte + (uint64_t)regions[i].row_bytes * regions[i].nr_rows;
	}
	return regions[REGION_NAMES].nr_rows == regions[REGION_PROCESSES].nr_rows &&
	       regions[REGION_PLACES].nr_rows == regions[REGION_GROUPS].nr_rows &&
	       regions[REGION_CHUNK_HEADS].nr_rows == regions[REGION_CHUNKS].nr_rows;
}

static enum format_verdict judge(const struct segment_header *header, uint64_t nr_bytes,
				 const struct here *here)
{
	uint32_t nr_gate_bytes[STOCK_NR_GATES];

	if (memcmp(header->magic, SEGMENT_MAGIC, sizeof(header->magic)) ||
	    !names_are_sound(&header->names, nr_bytes))
		return FORMAT_NO_TREE;
	if (memcmp(header->boot_id, here->boot_id, sizeof(header->boot_id)))
		return FORMAT_OTHER_BOOT;
	if (header->pid_namespace != here->pid_namespace)
		return FORMAT_OTHER_NAMESPACE;
	/* Acquire, though of a copy: nothing is concluded from it but to look again. */
	if (atomic_load_explicit(&header->state, memory_order_acquire) != SEGMENT_LIVE)
		return FORMAT_REMOVED;
	if (header->version != SEGMENT_VERSION || header->layout_stamp != stamp_layout())
		return FORMAT_OTHER_LAYOUT;
	class_list(nr_gate_bytes);
	if (header->nr_bytes != nr_bytes || nr_bytes % REGION_ALIGNMENT ||
	    !regions_are_sound(header->regions, nr_bytes) ||
	    memcmp(&header->names, &header->regions[REGION_NAMES], sizeof(header->names)) ||
	    memcmp(header->gate_bytes, nr_gate_bytes, sizeof(nr_gate_bytes)))
		return FORMAT_NO_TREE;
	return FORMAT_OURS;
}

int format_judge(const struct segment_header *header, uint64_t nr_bytes,
		 enum format_verdict *ret_verdict)
{
	struct here here;
	int r = look_around(&here);

	if (r)
		return r;
	*ret_verdict = judge(header, nr_bytes, &here);
	return 0;
}
