/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which way a percentage points. Inside, a change is that of the value, + is
 * larger; a report speaks one language throughout and says which.
 */
#ifndef UMEMCG_BENCH_REPORT_DIRECTION_H
#define UMEMCG_BENCH_REPORT_DIRECTION_H

#include "report/bootstrap.h"

enum direction {
	PLUS_IS_LARGER, /* the value's change itself */
	PLUS_IS_SLOWER, /* perf: of a rate, the change of the time for one operation */
	PLUS_IS_BETTER, /* mmtests: of a time, the share of it that is saved */
};

/** direction_percent - a change of a value, in percent, as a report speaks of it */
double direction_percent(double change_percent, enum bench_better better, enum direction direction);

/**
 * direction_interval - the interval of a change, whose ends may change places
 * @bootstrap: with an interval
 * @better:    of its series
 * @direction: of the report
 * @ret_low:   the lower end in percent
 * @ret_high:  the upper end
 */
void direction_interval(const struct bootstrap *bootstrap, enum bench_better better,
			enum direction direction, double *ret_low, double *ret_high);

#endif
