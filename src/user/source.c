/* SPDX-License-Identifier: MIT */
#include "user/source.h"

#include <stddef.h>

const struct reclaim_source *_Atomic page_source;
