/* SPDX-License-Identifier: MIT */
#include "reclaim/protection.h"

#include "base/compiler.h"

/* No counter goes beyond 2^62, so products need more than 64 bits. */
static uint64_t scale(uint64_t nr_bytes, uint64_t part, uint64_t whole)
{
	return (uint64_t)((unsigned __int128)nr_bytes * part / whole);
}

uint64_t protection_used(uint64_t nr_bytes_usage, uint64_t nr_bytes_setting)
{
	return min(nr_bytes_usage, nr_bytes_setting);
}

uint64_t protection_effective(uint64_t nr_bytes_used, uint64_t nr_bytes_siblings,
			      uint64_t nr_bytes_parent)
{
	if (nr_bytes_siblings <= nr_bytes_parent)
		return nr_bytes_used;
	return scale(nr_bytes_used, nr_bytes_parent, nr_bytes_siblings);
}

uint64_t protection_part(uint64_t nr_bytes, uint64_t nr_bytes_usage, uint64_t nr_bytes_protected)
{
	uint64_t whole = max(nr_bytes_usage, nr_bytes_protected);

	if (!nr_bytes_protected)
		return nr_bytes;
	return nr_bytes - scale(nr_bytes, nr_bytes_protected, whole + 1);
}
