/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "instructions.h"

/* The opcode's offset: behind legacy prefixes and REX. */
static size_t opcode_offset(const uint8_t *bytes, size_t nr_bytes, bool *ret_repeats)
{
	size_t offset;

	*ret_repeats = false;
	for (offset = 0; offset < nr_bytes; offset++) {
		switch (bytes[offset]) {
		case 0xf2:
		case 0xf3:
			*ret_repeats = true;
			continue;
		case 0x26: /* segments */
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0x66: /* operand size */
		case 0x67: /* address size */
			continue;
		}
		break;
	}
	if (offset < nr_bytes && (bytes[offset] & 0xf0) == 0x40)
		offset++;
	return offset;
}

enum instruction_repeats instruction_repeats(const uint8_t *bytes, size_t nr_bytes)
{
	bool repeats;
	size_t offset = opcode_offset(bytes, nr_bytes, &repeats);

	if (!repeats || offset + 1 != nr_bytes)
		return REPEATS_NOT;
	switch (bytes[offset] & 0xfe) {
	case 0xa4: /* movs */
		return REPEATS_COPY;
	case 0xaa: /* stos */
	case 0xac: /* lods */
	case 0x6c: /* ins */
	case 0x6e: /* outs */
		return REPEATS_ACCESS;
	case 0xa6: /* cmps */
	case 0xae: /* scas */
		return REPEATS_COMPARE;
	}
	return REPEATS_NOT;
}

bool instruction_is_call(const uint8_t *bytes, size_t nr_bytes)
{
	bool repeats;
	size_t offset = opcode_offset(bytes, nr_bytes, &repeats);

	if (offset + 1 >= nr_bytes)
		return false;
	return bytes[offset] == 0xe8 ||
	       (bytes[offset] == 0xff && (bytes[offset + 1] >> 3 & 7) == 2);
}

bool instruction_is_return(const uint8_t *bytes, size_t nr_bytes)
{
	bool repeats;
	size_t offset = opcode_offset(bytes, nr_bytes, &repeats);

	return offset < nr_bytes && (bytes[offset] & 0xfe) == 0xc2;
}

bool instruction_is_kernel_return(const uint8_t *bytes, size_t nr_bytes)
{
	bool repeats;
	size_t offset = opcode_offset(bytes, nr_bytes, &repeats);

	if (offset < nr_bytes && bytes[offset] == 0xcf)
		return true;
	return offset + 1 < nr_bytes && bytes[offset] == 0x0f &&
	       (bytes[offset + 1] == 0x07 || bytes[offset + 1] == 0x35);
}

bool instruction_is_jump(const uint8_t *bytes, size_t nr_bytes, uint64_t address,
			 uint64_t *ret_target)
{
	bool repeats;
	size_t offset = opcode_offset(bytes, nr_bytes, &repeats);
	int32_t distance;

	if (offset + 5 == nr_bytes && bytes[offset] == 0xe9)
		memcpy(&distance, bytes + offset + 1, sizeof(distance));
	else if (offset + 2 == nr_bytes && bytes[offset] == 0xeb)
		distance = (int8_t)bytes[offset + 1];
	else
		return false;
	*ret_target = address + nr_bytes + (uint64_t)(int64_t)distance;
	return true;
}
