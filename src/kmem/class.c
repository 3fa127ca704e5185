/* SPDX-License-Identifier: MIT */
#include "kmem/class.h"

uint16_t class_gate_offsets[CLASS_MAX_BYTES / CLASS_GRAIN + 1];

static uint32_t step_after(uint32_t nr_bytes)
{
	uint32_t doubling = 1u << (31 - __builtin_clz(nr_bytes));

	if (nr_bytes < 256)
		return CLASS_GRAIN;
	return nr_bytes < 1024 ? doubling / 8 : doubling / 4;
}

void class_list(uint32_t ret_nr_bytes[NR_CLASSES])
{
	uint32_t nr_bytes = CLASS_GRAIN;

	for (unsigned int size_class = 0; size_class < NR_CLASSES; size_class++) {
		ret_nr_bytes[size_class] = nr_bytes;
		nr_bytes += step_after(nr_bytes);
	}
}

void class_init(void)
{
	uint32_t grains = 0;

	_Static_assert(NR_CLASSES <= STOCK_NR_GATES, "each class needs a gate");
	class_list(stock_gate_bytes);
	for (unsigned int size_class = 0; size_class < NR_CLASSES; size_class++)
		for (; grains <= stock_gate_bytes[size_class] / CLASS_GRAIN; grains++)
			class_gate_offsets[grains] = size_class * sizeof(struct stock_gate);
}

unsigned int class_aligned(size_t nr_bytes, size_t alignment)
{
	unsigned int size_class;

	if (nr_bytes > CLASS_MAX_BYTES || alignment > CLASS_MAX_BYTES)
		return NR_CLASSES;
	/* Pages begin at slices, which have any alignment that a block can have. */
	for (size_class = class_of(nr_bytes); size_class < NR_CLASSES; size_class++) {
		if (class_block_bytes(size_class) % alignment == 0)
			break;
	}
	return size_class;
}
