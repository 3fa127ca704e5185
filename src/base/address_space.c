/* SPDX-License-Identifier: MIT */
#include "base/address_space.h"

#include <stdint.h>
#include <sys/resource.h>

size_t address_space_share(unsigned int divisor)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return SIZE_MAX;
	return limit.rlim_cur / divisor;
}
