/* SPDX-License-Identifier: MIT */
/* What an ELF file says of the loader it needs: will that load the preload object? */
#ifndef UMEMCG_PRELOAD_PROGRAM_ELF_H
#define UMEMCG_PRELOAD_PROGRAM_ELF_H

#include <stddef.h>

#include "program.h"

/**
 * program_elf_kind - tell what an ELF file is
 * @file: for whatever lies beyond @head
 * @head: its first bytes
 *
 * Return: PROGRAM_PRELOADED, _STATIC, _FOREIGN, _OTHER_LOADER; PROGRAM_OTHER_FORMAT for what is no
 * ELF program.
 */
enum program_kind program_elf_kind(int file, const char *head, size_t nr_bytes);

#endif
