/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/surroundings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/layout.h"
#include "report/text.h"

void surroundings_wrap(FILE *out, const char *text, size_t nr_columns)
{
	size_t nr_taken = 0;

	if (!nr_columns)
		nr_columns = 80;
	while (*text) {
		size_t nr_word = strcspn(text, " ");
		size_t nr_word_columns = 0;

		for (size_t i = 0; i < nr_word; i++)
			nr_word_columns += ((unsigned char)text[i] & 0xc0) != 0x80;
		if (nr_taken && nr_taken + 1 + nr_word_columns > nr_columns) {
			fputc('\n', out);
			nr_taken = 0;
		}
		if (nr_taken)
			fputc(' ', out);
		fwrite(text, 1, nr_word, out);
		nr_taken += (nr_taken > 0) + nr_word_columns;
		text += nr_word;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

/* As surroundings_wrap(), of what @print writes. */
static void wrap_line(FILE *out, const struct render_options *options, char *line)
{
	if (line)
		surroundings_wrap(out, line, options->nr_columns);
	free(line);
}

static char *line_of_run(const struct run *run)
{
	const struct bench_environment *e = &run->result->environment;
	char *line;

	if (asprintf(&line, "%s: %s x %u, %.1f GiB, kernel %s, cgroup %s, %s, seed %llu",
		     run->label, *e->cpu ? e->cpu : "unknown processor", e->cpus,
		     (double)e->memory_bytes / (1 << 30), *e->kernel ? e->kernel : "unknown",
		     *e->cgroup ? e->cgroup : "unknown", *e->started ? e->started : "unknown time",
		     (unsigned long long)e->seed) < 0)
		return NULL;
	return line;
}

void surroundings_head(const struct comparison *comparison, const struct render_options *options,
		       FILE *out)
{
	for (size_t i = 0; i < comparison->nr_runs; i++) {
		const struct bench_result *result = comparison->runs[i].result;

		wrap_line(out, options, line_of_run(&comparison->runs[i]));
		for (size_t j = 0; j < result->nr_notes; j++) {
			char *line;

			if (asprintf(&line, "Note: %s", result->notes[j]) >= 0)
				wrap_line(out, options, line);
		}
	}
	for (size_t i = 0; i < comparison->nr_warnings; i++) {
		char *line;

		if (asprintf(&line, "Flagged: %s", comparison->warnings[i]) >= 0)
			wrap_line(out, options, line);
	}
	fputc('\n', out);
}

static bool is_same_target(const struct table *left, const struct table *right)
{
	return strcmp(left->target, right->target) == 0 && strcmp(left->meter, right->meter) == 0;
}

static bool has_several_targets(const struct comparison *comparison)
{
	for (size_t i = 1; i < comparison->nr_tables; i++) {
		if (!is_same_target(&comparison->tables[0], &comparison->tables[i]))
			return true;
	}
	return false;
}

void surroundings_target(const struct comparison *comparison, const struct table *table,
			 const struct render_options *options, FILE *out)
{
	const struct bench_environment *e = &comparison->runs[0].result->environment;

	if (table != comparison->tables && is_same_target(table - 1, table))
		return;
	if (options->plain && !has_several_targets(comparison))
		return;
	fprintf(out, "Target %s", table->target);
	if (comparison->nr_runs == 1 && strcmp(table->target, "lib") == 0 && *e->umemcg_version)
		fprintf(out, " (umemcg %s)", e->umemcg_version);
	if (comparison->nr_runs == 1 && strcmp(table->target, "kernel") == 0 && *e->kernel)
		fprintf(out, " (%s)", e->kernel);
	fprintf(out, ", %s meter%s\n\n", table->meter,
		strcmp(table->meter, "exact") == 0 ? ": instructions, not time" : "");
}

/* A verdict that the control, where nothing differs, could have got as well. */
static bool is_within_noise(const struct cell *cell)
{
	return (cell->verdict == VERDICT_COSTS || cell->verdict == VERDICT_SAVES) &&
	       fabs(cell->bootstrap.change_percent) <= cell->noise_percent;
}

const char *surroundings_verdict(const struct cell *cell, enum direction direction, char *text)
{
	char numbers[3][LAYOUT_NUMBER_BYTES];
	double low, high;
	int nr_bytes;

	if (!cell->bootstrap.has_change)
		return strcpy(text, "unclear (no ratio: a mean is 0)");
	nr_bytes = sprintf(text, "%-7s", verdict_name(cell->verdict));
	if (cell->bootstrap.has_interval) {
		direction_interval(&cell->bootstrap, cell->series->better, direction, &low, &high);
		nr_bytes += sprintf(text + nr_bytes, " [%s,%s]", layout_short(low, 1, numbers[0]),
				    layout_short(high, 1, numbers[1]));
	}
	if (isfinite(cell->noise_percent))
		sprintf(text + nr_bytes, " noise %s%s",
			layout_short(cell->noise_percent, 0, numbers[2]),
			is_within_noise(cell) ? "!" : "");
	return text;
}

const char *surroundings_runs(const struct cell *cell, char *text, size_t nr_bytes)
{
	snprintf(text, nr_bytes, "about %zu more %s would tell", cell->runs_needed,
		 cell->runs_needed == 1 ? "run" : "runs");
	return text;
}

static const char *label_of(const struct comparison *comparison, const struct column *column)
{
	return comparison->nr_runs > 1 ? comparison->runs[column->run].label : "";
}

/* "+12.08% unclear [-13.4,+10.8] noise 10.5 ~1234 more" */
#define VERDICT_COLUMNS 52

struct verdict_widths {
	size_t name; /* 0: above the lines, which are indented */
	size_t label;
	size_t config;
};

static bool is_compared(const struct table *table, size_t column)
{
	for (size_t i = 0; i < table->nr_rows; i++) {
		if (table->rows[i].cells[column].base)
			return true;
	}
	return false;
}

static struct verdict_widths measure_verdicts(const struct comparison *comparison,
					      const struct table *table,
					      const struct render_options *options)
{
	struct verdict_widths widths = { 0 };
	size_t room = options->nr_columns ? options->nr_columns : 80;

	for (size_t i = 0; i < table->nr_rows; i++)
		widths.name = layout_widen(widths.name, table->rows[i].name);
	for (size_t i = 0; i < table->nr_columns; i++) {
		const struct column *column = &table->columns[i];

		if (!is_compared(table, i))
			continue;
		widths.config = layout_widen(widths.config, column->config);
		widths.label = layout_widen(widths.label, label_of(comparison, column));
	}
	if (widths.name + widths.label + widths.config + 3 + VERDICT_COLUMNS > room)
		widths.name = 0;
	return widths;
}

static void print_verdict(const struct comparison *comparison, const struct table *table,
			  const struct row *row, size_t column, const struct verdict_widths *widths,
			  enum direction direction, FILE *out)
{
	char text[SURROUNDINGS_VERDICT_BYTES], number[LAYOUT_NUMBER_BYTES];
	const struct cell *cell = &row->cells[column];

	if (widths->name)
		layout_left(out, row->name, widths->name + 1);
	else
		fputs("  ", out);
	layout_left(out, label_of(comparison, &table->columns[column]),
		    widths->label + (widths->label > 0));
	layout_left(out, table->columns[column].config, widths->config + 1);
	if (cell->bootstrap.has_change)
		fprintf(out, "%6s%% ",
			layout_number(direction_percent(cell->bootstrap.change_percent,
							cell->series->better, direction),
				      2, 1, number));
	fputs(surroundings_verdict(cell, direction, text), out);
	if (cell->verdict == VERDICT_UNCLEAR)
		fprintf(out, " ~%zu more", cell->runs_needed);
	fputc('\n', out);
}

void surroundings_verdicts(const struct comparison *comparison, const struct table *table,
			   const struct render_options *options, enum direction direction,
			   FILE *out)
{
	const struct verdict_widths widths = measure_verdicts(comparison, table, options);

	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct row *row = &table->rows[i];
		bool is_first = true;

		for (size_t j = 0; j < table->nr_columns; j++) {
			if (!row->cells[j].base)
				continue;
			if (is_first && !widths.name)
				fprintf(out, "%s\n", row->name);
			is_first = false;
			print_verdict(comparison, table, row, j, &widths, direction, out);
		}
	}
}

void surroundings_skipped(const struct comparison *comparison, const struct render_options *options,
			  FILE *out)
{
	for (size_t i = 0; i < comparison->nr_runs; i++) {
		const struct run *run = &comparison->runs[i];

		for (size_t j = 0; j < run->result->nr_skipped; j++) {
			const struct bench_skipped *skipped = &run->result->skipped[j];
			bool several = comparison->nr_runs > 1;
			char *line;

			if (asprintf(&line, "Not measured: %s%s%s: %s", several ? run->label : "",
				     several ? ": " : "", skipped->what, skipped->why) >= 0)
				wrap_line(out, options, line);
		}
		if (run->result->nr_skipped)
			fputc('\n', out);
	}
}

static char *legend(const struct comparison *comparison, enum direction direction)
{
	static const char *const senses[] = {
		[PLUS_IS_LARGER] = "+ is larger",
		[PLUS_IS_SLOWER] = "+ is slower",
		[PLUS_IS_BETTER] = "positive is better",
	};
	char *line;

	if (asprintf(&line,
		     "Changes are of the mean (harmonic for rates) against the base, in percent; "
		     "%s. In brackets their 95 %% bootstrap interval, blocks resampled. noise: the "
		     "furthest end of the interval of AA, the base measured a second time (! marks "
		     "a verdict on a smaller change). equal: "
		     "the interval lies within +-%g %%; costs, saves: it does not and excludes "
		     "zero; unclear: neither, ~N more runs would tell. %zu %s; chance alone would "
		     "give about %.2f false verdicts%s.",
		     senses[direction], comparison->options.effect_percent,
		     comparison->nr_comparisons,
		     comparison->nr_comparisons == 1 ? "comparison" : "comparisons",
		     comparison->false_verdicts,
		     comparison->options.adjust_holm
			     ? " among all of them, as adjusted by Holm's method (a verdict may be "
			       "unclear although its own interval excludes zero)"
			     : " (--adjust holm corrects for that)") < 0)
		return NULL;
	return line;
}

void surroundings_foot(const struct comparison *comparison, const struct render_options *options,
		       enum direction direction, FILE *out)
{
	surroundings_skipped(comparison, options, out);
	if (!options->plain && comparison->nr_tables)
		wrap_line(out, options, legend(comparison, direction));
}
