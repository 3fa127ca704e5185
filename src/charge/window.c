/* SPDX-License-Identifier: MIT */
#include "charge/window.h"

const struct window_ops *window_shared;

/* Where nobody else has to see it, the memory that is there will do. */
int window_map(void *chunk)
{
	return window_shared ? window_shared->map((char *)chunk + WINDOW_DISTANCE) : 0;
}

int window_commit(const void *stock)
{
	return window_shared ? window_shared->commit((const char *)stock + WINDOW_DISTANCE) : 0;
}
