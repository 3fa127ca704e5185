/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/units.h"

#include <string.h>

/* Each is a thousand of the next. */
static const char *const units_of_time[] = { "s", "ms", "us", "ns" };
#define NR_UNITS_OF_TIME (sizeof(units_of_time) / sizeof(units_of_time[0]))

double units_scale(const struct table *table, const struct row *row, const char **ret_unit)
{
	double largest = 0, scale = 1;
	size_t unit = 0;

	*ret_unit = row->series->unit;
	for (size_t i = 0; i < table->nr_columns; i++) {
		if (row->cells[i].series && row->cells[i].statistics.mean > largest)
			largest = row->cells[i].statistics.mean;
	}
	while (unit < NR_UNITS_OF_TIME && strcmp(units_of_time[unit], *ret_unit))
		unit++;
	for (; largest > 0 && largest * scale < 1 && unit + 1 < NR_UNITS_OF_TIME; unit++) {
		scale *= 1000;
		*ret_unit = units_of_time[unit + 1];
	}
	return scale;
}

bool units_is_told(const struct row *row, const char *unit)
{
	/* A time is in seconds unless something else is said; a rate's metric names its unit. */
	return strcmp(unit, "s") == 0 || strcmp(unit, row->series->metric) == 0 ||
	       (row->series->better == BENCH_HIGHER && strchr(row->series->metric, '/'));
}
