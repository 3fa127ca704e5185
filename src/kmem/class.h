/* SPDX-License-Identifier: MIT */
/*
 * Size classes: which block an object of a size gets.
 *
 * Steps of 16 up to 256, then 8 classes a doubling up to 1 KiB and 4 a doubling up to 64 KiB. A
 * class is the gate of the same number in a stock, and an object is charged its block.
 */
#ifndef UMEMCG_KMEM_CLASS_H
#define UMEMCG_KMEM_CLASS_H

#include <stddef.h>
#include <stdint.h>

#include "charge/stock.h"

#define CLASS_GRAIN     16
#define CLASS_MAX_BYTES ((size_t)64 << 10)
#define NR_CLASSES      56

/* By size in grains, rounded up: where the gate of the size's class lies among a stock's gates. */
extern hidden uint16_t class_gate_offsets[CLASS_MAX_BYTES / CLASS_GRAIN + 1];

void class_init(void);

/** class_list - the bytes of each class's blocks, also before class_init() */
void class_list(uint32_t ret_nr_bytes[NR_CLASSES]);

/** class_of - the smallest class for an object of at most CLASS_MAX_BYTES */
static always_inline unsigned int class_of(size_t nr_bytes)
{
	return class_gate_offsets[(nr_bytes + CLASS_GRAIN - 1) / CLASS_GRAIN] /
	       sizeof(struct stock_gate);
}

/** class_gate - the gate of the class that class_of() gives */
static always_inline struct stock_gate *class_gate(struct stock *stock, size_t nr_bytes)
{
	return (struct stock_gate
			*)((char *)stock->gates +
			   class_gate_offsets[(nr_bytes + CLASS_GRAIN - 1) / CLASS_GRAIN]);
}

static inline uint32_t class_block_bytes(unsigned int size_class)
{
	return stock_gate_bytes[size_class];
}

/** class_slices - slices of a page of this class: eight blocks or more fit */
static inline uint32_t class_slices(unsigned int size_class)
{
	uint32_t nr_bytes = class_block_bytes(size_class);

	if (nr_bytes <= 8 << 10)
		return 1;
	return nr_bytes <= 16 << 10 ? 4 : 8;
}

/** class_aligned - the smallest class whose blocks have an alignment; NR_CLASSES if there is none
 */
unsigned int class_aligned(size_t nr_bytes, size_t alignment);

#endif
