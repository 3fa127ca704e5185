/* SPDX-License-Identifier: MIT */
/* libumemcg-lz4.so: cold pages by LZ4. The library loads it, if it is there. */
#include <lz4.h>

#include "user/compressor.h"

static size_t compress_page(void *state, const void *from, size_t nr_bytes, void *to,
			    size_t nr_bytes_max)
{
	return LZ4_compress_fast_extState(state, from, to, (int)nr_bytes, (int)nr_bytes_max, 1);
}

static bool decompress_page(const void *from, size_t nr_bytes, void *to, size_t nr_bytes_to)
{
	return LZ4_decompress_safe(from, to, (int)nr_bytes, (int)nr_bytes_to) == (int)nr_bytes_to;
}

/* Its size is that of the header which the library is linked with, too. */
__attribute__((visibility("default"))) const struct compressor umemcg_compressor = {
	.version = COMPRESSOR_VERSION,
	.nr_bytes_state = sizeof(LZ4_stream_t),
	.compress = compress_page,
	.decompress = decompress_page,
};
