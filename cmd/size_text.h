/* SPDX-License-Identifier: MIT */
/* Bytes as people read them: the command's only way of writing a size. */
#ifndef UMEMCG_CMD_SIZE_TEXT_H
#define UMEMCG_CMD_SIZE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/** Room for any size, with the terminating NUL. */
#define SIZE_TEXT_BYTES 24

/**
 * size_text - write a size: "1.2M", "300M", "max"
 * @is_exact: all its bytes in decimal instead
 *
 * Return: @text.
 */
const char *size_text(uint64_t nr_bytes, bool is_exact, char text[SIZE_TEXT_BYTES]);

#endif
