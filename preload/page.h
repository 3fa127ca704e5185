/* SPDX-License-Identifier: MIT */
/* The system's pages. */
#ifndef UMEMCG_PRELOAD_PAGE_H
#define UMEMCG_PRELOAD_PAGE_H

#include <stddef.h>
#include <unistd.h>

static inline size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

#endif
