/* SPDX-License-Identifier: MIT */
/*
 * A parser's many sizes: a text of nested lists is cut into tokens, each in a buffer of its own
 * that grows and is then trimmed to an exact copy; lists grow by doubling; each tree is rewritten
 * once, copying what it touches, before it is freed. Checked by printing it again: the text must
 * come back. A round is one parse.
 */
#include <string.h>

#include "alloc.h"
#include "workloads.h"

enum { TEXT_BYTES = 96 * 1024, DEPTH_MAX = 12, ROUNDS_A_TEXT = 16 };

struct node {
	char *word; /* of a leaf */
	struct node **children;
	uint32_t nr_children;
	uint32_t nr_allocated;
};

struct parser {
	const char *at;
	uint64_t nr_operations;
};

/* Words of 1 to 12 letters, some of 300: identifiers, and now and then a string. */
static char *text_put_word(char *at, uint64_t *seed)
{
	uint32_t nr_letters = 1 + random_below(seed, 12);

	if (random_below(seed, 40) == 0)
		nr_letters = 20 + random_below(seed, 280);
	for (uint32_t i = 0; i < nr_letters; i++)
		*at++ = (char)('a' + random_below(seed, 26));
	return at;
}

static void text_make(char *text, uint64_t *seed)
{
	char *at = text, *end = text + TEXT_BYTES - 512;
	int depth = 1;

	*at++ = '(';
	while (at < end) {
		uint32_t choice = random_below(seed, 8);

		if (choice == 0 && depth < DEPTH_MAX) {
			*at++ = '(';
			depth++;
		} else if (choice == 1 && depth > 1) {
			*at++ = ')';
			depth--;
		} else {
			at = text_put_word(at, seed);
			*at++ = ' ';
		}
	}
	while (depth-- > 0)
		*at++ = ')';
	*at = '\0';
}

static char *parse_word(struct parser *parser)
{
	size_t nr_bytes = 0, nr_allocated = 16;
	char *buffer = must_malloc(nr_allocated), *word;

	while (*parser->at >= 'a') {
		if (nr_bytes + 1 == nr_allocated) {
			buffer = must_realloc(buffer, nr_allocated *= 2);
			parser->nr_operations++;
		}
		buffer[nr_bytes++] = *parser->at++;
	}
	buffer[nr_bytes++] = '\0';
	word = memcpy(must_malloc(nr_bytes), buffer, nr_bytes);
	alloc_free(buffer);
	parser->nr_operations += 2;
	return word;
}

static struct node *node_new(struct parser *parser, char *word)
{
	struct node *node = must_malloc(sizeof(*node));

	*node = (struct node){ .word = word };
	parser->nr_operations++;
	return node;
}

static void node_append(struct parser *parser, struct node *list, struct node *child)
{
	if (list->nr_children == list->nr_allocated) {
		list->nr_allocated = list->nr_allocated ? 2 * list->nr_allocated : 2;
		list->children =
			must_realloc(list->children, list->nr_allocated * sizeof(struct node *));
		parser->nr_operations++;
	}
	list->children[list->nr_children++] = child;
}

/* At the '(' of a list. */
static struct node *parse_list(struct parser *parser)
{
	struct node *list = node_new(parser, NULL);

	for (parser->at++; *parser->at != ')';) {
		if (*parser->at == '(')
			node_append(parser, list, parse_list(parser));
		else if (*parser->at == ' ')
			parser->at++;
		else
			node_append(parser, list, node_new(parser, parse_word(parser)));
	}
	parser->at++;
	return list;
}

/* A copy in fresh objects; frees the original behind itself, as a rewriting pass does. */
static struct node *node_rewrite(struct parser *parser, struct node *node)
{
	struct node *copy;
	char *word = NULL;

	if (node->word) {
		word = strcpy(must_malloc(strlen(node->word) + 1), node->word);
		parser->nr_operations++;
	}
	copy = node_new(parser, word);
	for (uint32_t i = 0; i < node->nr_children; i++)
		node_append(parser, copy, node_rewrite(parser, node->children[i]));
	alloc_free(node->word);
	alloc_free(node->children);
	alloc_free(node);
	return copy;
}

/* Compares with the text while it frees; returns where the text of @node ends. */
static const char *node_check_and_free(struct node *node, const char *text)
{
	if (node->word) {
		size_t nr_letters = strlen(node->word);

		workload_expect(!memcmp(text, node->word, nr_letters), "word of espresso");
		text += nr_letters + 1;
	} else {
		workload_expect(*text++ == '(', "list of espresso");
		for (uint32_t i = 0; i < node->nr_children; i++)
			text = node_check_and_free(node->children[i], text);
		workload_expect(*text++ == ')', "end of a list of espresso");
	}
	alloc_free(node->word);
	alloc_free(node->children);
	alloc_free(node);
	return text;
}

uint64_t espresso_run(const struct parameters *parameters)
{
	uint64_t seed = parameters->seed, nr_operations = 0;
	char *text = must_malloc(TEXT_BYTES);

	for (uint64_t i = 0; i < parameters->nr_rounds; i++) {
		struct parser parser = { .at = text };
		struct node *tree;

		if (i % ROUNDS_A_TEXT == 0)
			text_make(text, &seed);
		tree = node_rewrite(&parser, parse_list(&parser));
		workload_expect(*node_check_and_free(tree, text) == '\0', "length of espresso");
		nr_operations += parser.nr_operations;
	}
	alloc_free(text);
	return nr_operations + 1;
}
