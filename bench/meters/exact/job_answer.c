/* SPDX-License-Identifier: MIT */
/* What a guest answers, read from its lines of text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "meters/exact/job.h"
#include "meters/exact/words.h"

/* The block of that index, made if it was not spoken of yet. */
static struct guest_block *answer_block(struct guest_answer *answer, unsigned int index)
{
	struct guest_block *blocks;

	for (size_t i = answer->nr_blocks; i > 0; i--) {
		if (answer->blocks[i - 1].index == index)
			return &answer->blocks[i - 1];
	}
	blocks = array_grown(answer->blocks, answer->nr_blocks, sizeof(*blocks));
	if (!blocks)
		return NULL;
	answer->blocks = blocks;
	blocks += answer->nr_blocks++;
	*blocks = (struct guest_block){ .index = index };
	return blocks;
}

static int parse_block(const char *key, char *line, struct guest_answer *answer)
{
	struct guest_block *block;
	unsigned int index;

	if (!words_take_unsigned(&line, &index) || index >= JOB_NR_BLOCKS)
		return -EPROTO;
	block = answer_block(answer, index);
	if (!block)
		return -ENOMEM;
	if (!strcmp(key, "quiet")) {
		block->quiet = true;
		return words_take(&line) ? -EPROTO : 0;
	}
	if (block->over)
		return -EPROTO;
	block->over = true;
	if (!strcmp(key, "failed")) {
		snprintf(block->failed, sizeof(block->failed), "%s", line);
		return *line ? 0 : -EPROTO;
	}
	if (!words_take_u64(&line, &block->nr_operations) ||
	    !words_take_u64(&line, &block->nr_apart) || words_take(&line))
		return -EPROTO;
	return 0;
}

static int parse_symbol(char *line, struct guest_answer *answer)
{
	struct guest_symbol symbol, *symbols;

	if (!words_take_address(&line, &symbol.address) || !*line || strchr(line, ' '))
		return -EPROTO;
	symbols = array_grown(answer->symbols, answer->nr_symbols, sizeof(*symbols));
	if (!symbols)
		return -ENOMEM;
	answer->symbols = symbols;
	symbol.name = strdup(line);
	if (!symbol.name)
		return -ENOMEM;
	symbols[answer->nr_symbols++] = symbol;
	return 0;
}

static int parse_line(char *line, void *data)
{
	struct guest_answer *answer = data;
	const char *key = words_take(&line);

	if (!key)
		return -EPROTO;
	if (!strcmp(key, "symbol"))
		return parse_symbol(line, answer);
	if (!strcmp(key, "block") || !strcmp(key, "failed") || !strcmp(key, "quiet"))
		return parse_block(key, line, answer);
	if (!strcmp(key, "kernel") && *line) {
		snprintf(answer->kernel, sizeof(answer->kernel), "%s", line);
		return 0;
	}
	if (!strcmp(key, "error") && *line) {
		snprintf(answer->error, sizeof(answer->error), "%s", line);
		return 0;
	}
	if (!strcmp(key, "memcg") && (!strcmp(line, "compiled") || !strcmp(line, "absent"))) {
		answer->memcg_compiled = !strcmp(line, "compiled");
		return 0;
	}
	return -EPROTO;
}

int answer_parse(char *text, struct guest_answer **ret_answer)
{
	struct guest_answer *answer = calloc(1, sizeof(*answer));
	int error;

	if (!answer)
		return -ENOMEM;
	error = words_parse_lines(text, ANSWER_FIRST_LINE, parse_line, answer);
	if (error && error != -ENODATA)
		answer_destroy(answer);
	else
		*ret_answer = answer;
	return error;
}

void answer_destroy(struct guest_answer *answer)
{
	if (!answer)
		return;
	for (size_t i = 0; i < answer->nr_symbols; i++)
		free(answer->symbols[i].name);
	free(answer->symbols);
	free(answer->blocks);
	free(answer);
}
