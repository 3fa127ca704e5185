/* SPDX-License-Identifier: MIT */
/* abort() has to be found early: who calls it may be in no state to ask the loader. */
#ifndef UMEMCG_PRELOAD_ABORT_H
#define UMEMCG_PRELOAD_ABORT_H

/** abort_init - find libc's abort() while the loader may still be asked */
void abort_init(void);

#endif
