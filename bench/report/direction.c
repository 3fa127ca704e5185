/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/direction.h"

#include <math.h>

double direction_percent(double change_percent, enum bench_better better, enum direction direction)
{
	if (direction == PLUS_IS_SLOWER && better == BENCH_HIGHER)
		return 100 / (1 + change_percent / 100) - 100;
	if (direction == PLUS_IS_BETTER && better == BENCH_LOWER)
		return -change_percent;
	return change_percent;
}

void direction_interval(const struct bootstrap *bootstrap, enum bench_better better,
			enum direction direction, double *ret_low, double *ret_high)
{
	double one = direction_percent(bootstrap->low_percent, better, direction);
	double other = direction_percent(bootstrap->high_percent, better, direction);

	*ret_low = fmin(one, other);
	*ret_high = fmax(one, other);
}
