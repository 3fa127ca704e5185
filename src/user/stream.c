/* SPDX-License-Identifier: MIT */
#include "user/stream.h"

#include "base/compiler.h"
#include "user/page_state.h"

#define NR_STREAMS    4u
#define WINDOW_GROWTH 4u

struct stream {
	uintptr_t next;
	uint32_t window; /* pages, at the last fault */
};

/* The last of them is the oldest. */
static thread_local_fast struct stream streams[NR_STREAMS];

/* The stream that an address goes on from; else the oldest. It comes first then. */
uint32_t stream_window(uintptr_t address)
{
	struct stream stream = { .next = address };
	unsigned int i = 0;

	while (i < NR_STREAMS - 1 && streams[i].next != address)
		i++;
	if (streams[i].next == address)
		stream.window = streams[i].window;
	for (; i; i--)
		streams[i] = streams[i - 1];
	stream.window = stream.window ? min(stream.window * WINDOW_GROWTH, CHUNK_NR_PAGES) : 1;
	streams[0] = stream;
	return stream.window;
}

void stream_went_on(uintptr_t next)
{
	streams[0].next = next;
}
