/* SPDX-License-Identifier: MIT */
/* The compressor of this build: a test that holds the library itself is not beside it. */
#ifndef UMEMCG_TESTS_COMPRESSOR_PATH_H
#define UMEMCG_TESTS_COMPRESSOR_PATH_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "user/compressor.h"

/** load_compressor - 0, or a negative errno where it was not built */
static inline int load_compressor(void)
{
	const char *build = getenv("UMEMCG_BUILD");
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/libumemcg-lz4.so", build ? build : ".");
	return compressor_load(path);
}

#endif
