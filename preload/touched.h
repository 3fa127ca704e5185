/* SPDX-License-Identifier: MIT */
/*
 * Released memory that was touched again, which nobody is told of: the system is asked now and then
 * which of its pages are there, and those are charged.
 *
 * So what an allocator releases and uses again is missing from the books until the program makes
 * another call that is seen: by no more than was released, so a process alone in its group stays
 * below a limit that it has once been below. Seen with jemalloc's own malloc: redis filled, flushed
 * and filled again had 17 MB charged of 80; a program that frees and allocates 300 MB in turns, 82
 * to 363 MB of 327. Whoever wants never too little has mappings_ops.keeps_released. What the system
 * has swapped out is not found.
 */
#ifndef UMEMCG_PRELOAD_TOUCHED_H
#define UMEMCG_PRELOAD_TOUCHED_H

#include <stdint.h>

/**
 * touched_find - look at up to so many released bytes, from where the last look ended
 *
 * In no entry. Looks once around at most.
 *
 * Return: 0; -ENOMEM: some was found that does not fit. It stays uncharged.
 */
int touched_find(uint64_t nr_bytes);

/** touched_find_at_times - the same, a part each few ms; always if the last found too much */
int touched_find_at_times(void);

#endif
