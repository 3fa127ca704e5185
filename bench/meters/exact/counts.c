/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <umemcg-marks.h>

#include "meters/exact/counts.h"
#include "meters/exact/words.h"
#include "array.h"

static const char *const contexts[] = {
	[COUNT_TASK] = "task",
	[COUNT_INTERRUPT] = "interrupt",
	[COUNT_DEFERRED] = "deferred",
	[COUNT_IDLE] = "idle",
};

/* The part whose lines are read, or NULL before the first. */
static struct count_part *last_part(struct counts *counts)
{
	return counts->nr_parts ? &counts->parts[counts->nr_parts - 1] : NULL;
}

static int add_part(struct counts *counts, const struct count_part *part)
{
	struct count_part *parts =
		array_grown(counts->parts, counts->nr_parts, sizeof(*counts->parts));

	if (!parts)
		return -ENOMEM;
	counts->parts = parts;
	parts[counts->nr_parts++] = *part;
	return 0;
}

static int parse_part(char *line, struct counts *counts)
{
	struct count_part part = { 0 };

	if (!words_take_unsigned(&line, &part.id) || !words_take_u64(&line, &part.nr_entered) ||
	    !words_take_u64(&line, &part.nr_interrupts) || *line)
		return -EPROTO;
	if (!part.id || part.id >= UMEMCG_MARK_ITERATION_ID)
		return -EPROTO;
	return add_part(counts, &part);
}

static bool take_context(char **line, unsigned int *ret_context)
{
	const char *word = words_take(line);

	for (unsigned int i = 0; word && i < COUNT_NR_CONTEXTS; i++) {
		if (!strcmp(word, contexts[i])) {
			*ret_context = i;
			return true;
		}
	}
	return false;
}

/* One context of a symbol; its contexts come together in merge_symbols(). */
static int parse_symbol(char *line, struct count_part *part)
{
	struct count_symbol symbol = { 0 }, *symbols;
	uint64_t nr_instructions, nr_repetitions;
	unsigned int context;

	if (!take_context(&line, &context) || !words_take_address(&line, &symbol.address) ||
	    !words_take_u64(&line, &nr_instructions) || !words_take_u64(&line, &nr_repetitions))
		return -EPROTO;
	if (!*line || strchr(line, ' ') || nr_repetitions > nr_instructions)
		return -EPROTO;
	symbols = array_grown(part->symbols, part->nr_symbols, sizeof(*symbols));
	if (!symbols)
		return -ENOMEM;
	part->symbols = symbols;
	symbol.name = strdup(line);
	if (!symbol.name)
		return -ENOMEM;
	symbol.user = symbol.address ? !(symbol.address >> 63) : !strcmp(line, "[user]");
	symbol.nr_instructions[context] = nr_instructions;
	symbol.nr_repetitions[context] = nr_repetitions;
	symbols[part->nr_symbols++] = symbol;
	return 0;
}

static int parse_iteration(char *line, struct count_part *part)
{
	struct count_iteration iteration, *iterations;

	if (!words_take_u64(&line, &iteration.nr_kernel) ||
	    !words_take_u64(&line, &iteration.nr_user) ||
	    !words_take_u64(&line, &iteration.nr_interrupts) || *line)
		return -EPROTO;
	iterations = array_grown(part->iterations, part->nr_iterations, sizeof(*iterations));
	if (!iterations)
		return -ENOMEM;
	part->iterations = iterations;
	iterations[part->nr_iterations++] = iteration;
	return 0;
}

static int parse_call(char *line, struct count_part *part)
{
	struct count_call call, *calls;

	if (!words_take_address(&line, &call.caller) || !words_take_address(&line, &call.callee) ||
	    !words_take_u64(&line, &call.nr_calls) ||
	    !words_take_u64(&line, &call.nr_instructions) || *line)
		return -EPROTO;
	calls = array_grown(part->calls, part->nr_calls, sizeof(*calls));
	if (!calls)
		return -ENOMEM;
	part->calls = calls;
	calls[part->nr_calls++] = call;
	return 0;
}

/* Any line but the first and the last. */
static int parse_line(char *line, struct counts *counts)
{
	static const struct {
		const char *word;
		int (*parse)(char *line, struct count_part *part);
	} lines[] = {
		{ "symbol", parse_symbol },
		{ "iteration", parse_iteration },
		{ "call", parse_call },
	};
	struct count_part *part = last_part(counts);
	const char *word = words_take(&line);
	unsigned int id;

	if (!word)
		return -EPROTO;
	if (!strcmp(word, "part"))
		return parse_part(line, counts);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (strcmp(word, lines[i].word))
			continue;
		if (!part || !words_take_unsigned(&line, &id) || id != part->id)
			return -EPROTO;
		return lines[i].parse(line, part);
	}
	return -EPROTO;
}

static int compare_symbols(const void *first, const void *second)
{
	const struct count_symbol *a = first, *b = second;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return b->user - a->user;
}

static int compare_parts(const void *first, const void *second)
{
	const struct count_part *a = first, *b = second;

	return (a->id > b->id) - (a->id < b->id);
}

/* Puts the contexts of @from beside those of @into; none may be in both. */
static bool join(struct count_symbol *into, const struct count_symbol *from)
{
	if (strcmp(into->name, from->name))
		return false;
	for (unsigned int i = 0; i < COUNT_NR_CONTEXTS; i++) {
		if (into->nr_instructions[i] && from->nr_instructions[i])
			return false;
		into->nr_instructions[i] += from->nr_instructions[i];
		into->nr_repetitions[i] += from->nr_repetitions[i];
	}
	return true;
}

static bool merge_symbols(struct count_part *part)
{
	size_t nr_lines = part->nr_symbols, nr = 0;
	bool merged = true;

	if (!nr_lines)
		return true;
	qsort(part->symbols, nr_lines, sizeof(*part->symbols), compare_symbols);
	for (size_t i = 0; i < nr_lines; i++) {
		if (!nr || compare_symbols(&part->symbols[nr - 1], &part->symbols[i])) {
			part->symbols[nr++] = part->symbols[i];
			continue;
		}
		merged = join(&part->symbols[nr - 1], &part->symbols[i]) && merged;
		free(part->symbols[i].name);
	}
	part->nr_symbols = nr;
	return merged;
}

/* What must hold between lines. */
static int finish(struct counts *counts, const char *path, char *error)
{
	if (counts->nr_parts)
		qsort(counts->parts, counts->nr_parts, sizeof(*counts->parts), compare_parts);
	for (size_t i = 0; i < counts->nr_parts; i++) {
		if (i && counts->parts[i].id == counts->parts[i - 1].id) {
			snprintf(error, COUNTS_ERROR, "%s: part %u is there twice", path,
				 counts->parts[i].id);
			return -EPROTO;
		}
		if (!merge_symbols(&counts->parts[i])) {
			snprintf(error, COUNTS_ERROR, "%s: a symbol of part %u is there twice",
				 path, counts->parts[i].id);
			return -EPROTO;
		}
	}
	return 0;
}

/* One line of the file. Return: 1 for the last one, else 0 or an error. */
static int read_line(char *line, unsigned long number, struct counts *counts)
{
	size_t length = strlen(line);

	/* The last line without its line feed is one that was cut short. */
	if (!length || line[length - 1] != '\n')
		return -ENODATA;
	line[length - 1] = '\0';
	if (number == 1)
		return strcmp(line, COUNTS_FIRST_LINE) ? -EPROTO : 0;
	if (!strcmp(line, "end"))
		return 1;
	return parse_line(line, counts);
}

static int read_lines(FILE *file, const char *path, struct counts *counts, char *error)
{
	unsigned long number = 0;
	size_t nr_room = 0;
	char *line = NULL;
	int ret = 0;

	while (!ret && getline(&line, &nr_room, file) > 0)
		ret = read_line(line, ++number, counts);
	free(line);
	if (ret > 0)
		return finish(counts, path, error);
	if (!ret)
		ret = ferror(file) ? -errno : -ENODATA;
	if (ret == -EPROTO)
		snprintf(error, COUNTS_ERROR, "%s: line %lu is not one of the counting plug-in's",
			 path, number);
	else if (ret == -ENODATA)
		snprintf(error, COUNTS_ERROR, "%s: no last line: the guest was cut short", path);
	else
		snprintf(error, COUNTS_ERROR, "%s: %s", path, strerror(-ret));
	return ret;
}

int counts_read(const char *path, struct counts **ret_counts, char *error)
{
	struct counts *counts = calloc(1, sizeof(*counts));
	FILE *file = counts ? fopen(path, "re") : NULL;
	int ret;

	if (!file) {
		ret = -errno;
		snprintf(error, COUNTS_ERROR, "%s: %s", path, strerror(errno));
		free(counts);
		return ret;
	}
	ret = read_lines(file, path, counts, error);
	fclose(file);
	if (ret)
		counts_destroy(counts);
	else
		*ret_counts = counts;
	return ret;
}

void counts_destroy(struct counts *counts)
{
	if (!counts)
		return;
	for (size_t i = 0; i < counts->nr_parts; i++) {
		struct count_part *part = &counts->parts[i];

		for (size_t j = 0; j < part->nr_symbols; j++)
			free(part->symbols[j].name);
		free(part->symbols);
		free(part->iterations);
		free(part->calls);
	}
	free(counts->parts);
	free(counts);
}

const struct count_part *counts_part(const struct counts *counts, unsigned int id)
{
	const struct count_part key = { .id = id };

	if (!counts->nr_parts)
		return NULL;
	return bsearch(&key, counts->parts, counts->nr_parts, sizeof(key), compare_parts);
}

uint64_t count_part_sum(const struct count_part *part, enum count_context context, bool user)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < part->nr_symbols; i++) {
		if (part->symbols[i].user == user)
			sum += part->symbols[i].nr_instructions[context];
	}
	return sum;
}
