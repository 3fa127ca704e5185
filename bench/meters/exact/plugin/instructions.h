/* SPDX-License-Identifier: MIT */
/* What an x86-64 instruction does, told by its bytes; each holds them and nothing more. */
#ifndef EXACT_PLUGIN_INSTRUCTIONS_H
#define EXACT_PLUGIN_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum instruction_repeats {
	REPEATS_NOT,
	REPEATS_ACCESS,  /* rep stos, lods, ins, outs: each round accesses memory once */
	REPEATS_COPY,    /* rep movs: each round loads once and stores once */
	REPEATS_COMPARE, /* rep cmps, scas: may end before its counter is zero */
};

/** instruction_repeats - is it a string instruction with a prefix to repeat it? */
enum instruction_repeats instruction_repeats(const uint8_t *bytes, size_t nr_bytes);

bool instruction_is_call(const uint8_t *bytes, size_t nr_bytes);

/** instruction_is_return - to the caller */
bool instruction_is_return(const uint8_t *bytes, size_t nr_bytes);

/** instruction_is_kernel_return - iret, sysret, sysexit: back to what was interrupted */
bool instruction_is_kernel_return(const uint8_t *bytes, size_t nr_bytes);

/**
 * instruction_is_jump - does it jump, always, to an address that stands in it?
 * @address: where it lies
 */
bool instruction_is_jump(const uint8_t *bytes, size_t nr_bytes, uint64_t address,
			 uint64_t *ret_target);

#endif
