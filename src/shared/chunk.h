/* SPDX-License-Identifier: MIT */
/*
 * Chunks of the segment as windows of a process's stocks: the memory of the words that other
 * processes close.
 */
#ifndef UMEMCG_SHARED_CHUNK_H
#define UMEMCG_SHARED_CHUNK_H

#include <stdint.h>

#include "charge/window.h"
#include "shared/segment.h"

/** chunk_map - claim a chunk for a process, and map it at @window as well; -ENOSPC; -ENOMEM */
int chunk_map(struct segment *segment, uint32_t process, void *window);

/** chunk_commit_row - have the memory of a row of a window that was mapped; 0 or -ENOMEM */
int chunk_commit_row(struct segment *segment, const void *row);

/** chunk_words - of row @index of a chunk, from 0; NULL if it has no memory */
struct stock_words *chunk_words(const struct segment *segment, uint32_t chunk, uint32_t index);

/** chunk_free_all - as thread_free_all() */
void chunk_free_all(struct segment *segment, uint32_t process);

#endif
