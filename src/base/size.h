/* SPDX-License-Identifier: MIT */
/*
 * Sizes as people write them, "64M" or "max", to bytes and back: the only converter.
 */
#ifndef UMEMCG_BASE_SIZE_H
#define UMEMCG_BASE_SIZE_H

#include <stddef.h>
#include <stdint.h>

/** Room for any size that size_print() writes, with the terminating NUL. */
#define SIZE_TEXT_BYTES 21

/**
 * size_parse - read a size
 * @text: white space, then "max" or decimal digits with at most one suffix out of K M G T P E in
 *        either case (powers of 1024), then white space
 *
 * Return: 0; -EINVAL for any other text; -ERANGE for one of that form whose bytes do not fit in 64
 * bits. *@ret_nr_bytes is UINT64_MAX for "max".
 */
int size_parse(const char *text, uint64_t *ret_nr_bytes);

/**
 * size_print - write a size as plain bytes, or as "max" for UINT64_MAX
 *
 * Exact: size_parse() of the text returns @nr_bytes again.
 *
 * Return: the length of the text.
 */
size_t size_print(uint64_t nr_bytes, char text[SIZE_TEXT_BYTES]);

/** size_print_decimal - write any number in decimal, UINT64_MAX too; returns the length */
size_t size_print_decimal(uint64_t number, char text[SIZE_TEXT_BYTES]);

#endif
