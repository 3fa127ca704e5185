/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * User, System and Elapsed of one run of a workload: a block runs it once with
 * each of its parameters. Metrics that were taken from the same run carry the
 * same times, so of each parameters only one metric counts.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "report/params.h"
#include "report/tables.h"

struct block_times {
	uint32_t block;
	size_t nr_samples;
	double times[NR_CPU_TIMES];
};

struct all_blocks {
	struct block_times *blocks;
	size_t nr_blocks;
};

static int block_of(struct all_blocks *all, uint32_t number, struct block_times **ret_block)
{
	struct block_times *blocks;

	/* Samples come in the order of their blocks: look at the last one first. */
	for (size_t i = all->nr_blocks; i-- > 0;) {
		if (all->blocks[i].block == number) {
			*ret_block = &all->blocks[i];
			return 0;
		}
	}
	blocks = array_grown(all->blocks, all->nr_blocks, sizeof(*blocks));
	if (!blocks)
		return -ENOMEM;
	all->blocks = blocks;
	blocks[all->nr_blocks] = (struct block_times){ .block = number };
	*ret_block = &blocks[all->nr_blocks++];
	return 0;
}

static int add_series(struct all_blocks *all, const struct bench_series *series)
{
	for (size_t i = 0; i < series->nr_samples; i++) {
		const struct bench_sample *sample = &series->samples[i];
		struct block_times *block;
		int ret = block_of(all, sample->block, &block);

		if (ret)
			return ret;
		block->nr_samples++;
		block->times[CPU_USER] += sample->user_s;
		block->times[CPU_SYSTEM] += sample->system_s;
		block->times[CPU_ELAPSED] += sample->elapsed_s;
	}
	return 0;
}

/* An earlier metric of the column has the times of the same run. */
static bool is_counted(const struct table *table, size_t row, size_t column)
{
	const struct bench_series *series = table->rows[row].cells[column].series;

	for (size_t i = 0; i < row; i++) {
		const struct bench_series *earlier = table->rows[i].cells[column].series;

		if (earlier && earlier->has_times && params_compare(earlier, series) == 0)
			return true;
	}
	return false;
}

/* Leaves out blocks that were not finished. Returns the number of the others. */
static size_t finished_blocks(struct all_blocks *all)
{
	size_t nr_most = 0, nr_finished = 0, i;

	for (i = 0; i < all->nr_blocks; i++) {
		if (all->blocks[i].nr_samples > nr_most)
			nr_most = all->blocks[i].nr_samples;
	}
	for (i = 0; i < all->nr_blocks; i++) {
		if (all->blocks[i].nr_samples == nr_most)
			all->blocks[nr_finished++] = all->blocks[i];
	}
	return nr_finished;
}

static int measure_column(struct table *table, size_t index)
{
	struct column *column = &table->columns[index];
	struct all_blocks all = { 0 };
	double *values = NULL;
	size_t nr_blocks;
	int ret = 0;

	for (size_t i = 0; !ret && i < table->nr_rows; i++) {
		const struct bench_series *series = table->rows[i].cells[index].series;

		if (series && series->has_times && !is_counted(table, i, index))
			ret = add_series(&all, series);
	}
	nr_blocks = finished_blocks(&all);
	if (!ret && nr_blocks) {
		values = malloc(nr_blocks * sizeof(*values));
		ret = values ? 0 : -ENOMEM;
	}
	for (size_t kind = 0; values && kind < NR_CPU_TIMES; kind++) {
		for (size_t i = 0; i < nr_blocks; i++)
			values[i] = all.blocks[i].times[kind];
		column->times[kind] = (struct cpu_time){
			.mean_s = statistics_mean(values, nr_blocks),
			.error_percent =
				statistics_standard_error_percent(values, nr_blocks, BENCH_LOWER),
		};
	}
	column->has_times = values != NULL;
	free(values);
	free(all.blocks);
	return ret;
}

int tables_measure_times(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->nr_tables; i++) {
		struct table *table = &comparison->tables[i];

		for (size_t j = 0; j < table->nr_columns; j++) {
			int ret = measure_column(table, j);

			if (ret)
				return ret;
		}
	}
	return 0;
}
