/* SPDX-License-Identifier: MIT */
/*
 * What programs ask about glibc's heap and tell it: answered for ours, as far as it has such a
 * thing.
 */
#include <limits.h>
#include <malloc.h>

#include "base/compiler.h"
#include "base/report.h"
#include "interpose.h"
#include "kmem/run.h"
#include "umemcg.h"

interposed int malloc_trim(size_t nr_bytes_kept)
{
	run_clean(nr_bytes_kept);
	return 1;
}

/* There is nothing to set, and no reason for a program to give up. */
interposed int mallopt(int what, int value)
{
	(void)what;
	(void)value;
	return 1;
}

/* All zero while nothing is counted. */
interposed struct mallinfo2 mallinfo2(void)
{
	struct umemcg_stat stat = { 0 };

	umemcg_get_stat(NULL, &stat);
	return (struct mallinfo2){
		.arena = stat.nr_bytes_slab + stat.nr_bytes_stock,
		.uordblks = stat.nr_bytes_slab,
		.fordblks = stat.nr_bytes_stock,
	};
}

static int clamp(size_t nr_bytes)
{
	return (int)min(nr_bytes, (size_t)INT_MAX);
}

interposed struct mallinfo mallinfo(void)
{
	struct mallinfo2 info = mallinfo2();

	return (struct mallinfo){
		.arena = clamp(info.arena),
		.uordblks = clamp(info.uordblks),
		.fordblks = clamp(info.fordblks),
	};
}

interposed void malloc_stats(void)
{
	struct mallinfo2 info = mallinfo2();

	report("%zu bytes in objects, %zu charged ahead", info.uordblks, info.fordblks);
}
