/* SPDX-License-Identifier: MIT */
/*
 * Streams: is the calling thread touching page after page? A few places that it goes on from are
 * kept, so that reading one region while writing another are two streams.
 */
#ifndef UMEMCG_USER_STREAM_H
#define UMEMCG_USER_STREAM_H

#include <stdint.h>

/** stream_window - how many pages to fill at a fault at this page; stream_went_on() follows, if
 * they were */
uint32_t stream_window(uintptr_t address);

/** stream_went_on - the page at which the next fault of this stream is expected */
void stream_went_on(uintptr_t next);

#endif
