/* SPDX-License-Identifier: MIT */
/* posix_spawn() and its like need no preparation but this. */
#ifndef UMEMCG_PRELOAD_SPAWN_PROGRAM_H
#define UMEMCG_PRELOAD_SPAWN_PROGRAM_H

/** spawn_program_init - find libc's functions, and the launcher beside the preload object */
void spawn_program_init(const char *object);

#endif
