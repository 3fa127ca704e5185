/* SPDX-License-Identifier: MIT */
/*
 * A treap: a search tree by address, and a heap by a priority that each row has from its number,
 * so that it stays balanced whatever the program does. No node knows its parent; every walk starts
 * at the root.
 */
#include "spans.h"

#include <errno.h>

#include "base/table.h"

#define NR_SPANS_MAX (1u << 26)

struct node {
	uint32_t left; /* or the next one at hand */
	uint32_t right;
	uint64_t start;
	uint64_t end;
	uint32_t owner;
	uint32_t state;
};

_Static_assert(sizeof(struct node) == 32, "two to a cache line");

static struct table nodes;
static uint32_t root;
static uint32_t at_hand; /* rows without a span; they are never given back to the table */
static uint64_t nr_at_hand;
static uint64_t nr_spans;
static uint64_t nr_bytes[NR_SPAN_STATES];

static struct node *node(uint32_t row)
{
	return table_row(&nodes, row);
}

/* Each step can be undone, so no two rows have the same. */
static uint32_t priority(uint32_t row)
{
	row = (row ^ row >> 16) * 0x7feb352du;
	row = (row ^ row >> 15) * 0x846ca68bu;
	return row ^ row >> 16;
}

int spans_init(void)
{
	return table_init(&nodes, sizeof(struct node), NR_SPANS_MAX, NULL);
}

uint64_t spans_nr_bytes(enum span_state state)
{
	return nr_bytes[state];
}

uint64_t spans_nr(void)
{
	return nr_spans;
}

static void put_at_hand(uint32_t row)
{
	node(row)->left = at_hand;
	at_hand = row;
	nr_at_hand++;
}

/* A change adds two rows at most: what is left behind the range, and the range itself. */
int spans_make_room(uint64_t nr_changes)
{
	while (nr_at_hand < 2 * nr_changes) {
		uint32_t row = table_get(&nodes);

		if (!row)
			return -ENOMEM;
		put_at_hand(row);
	}
	return 0;
}

/* The first span that ends behind an address: the one that holds it, or the next. */
static uint32_t find(uint64_t address)
{
	uint32_t found = 0;

	for (uint32_t row = root; row;) {
		if (node(row)->end > address) {
			found = row;
			row = node(row)->left;
		} else {
			row = node(row)->right;
		}
	}
	return found;
}

/* Where the link to a row is, or would be: below all rows that come before it by priority. */
static uint32_t *find_link(uint64_t start, uint32_t row)
{
	uint32_t *link = &root;

	while (*link && *link != row && priority(*link) > priority(row))
		link = start < node(*link)->start ? &node(*link)->left : &node(*link)->right;
	return link;
}

/* Cut a subtree in two at an address that lies in no span of it. */
static void split(uint32_t row, uint64_t address, uint32_t *left, uint32_t *right)
{
	while (row) {
		if (node(row)->start < address) {
			*left = row;
			left = &node(row)->right;
			row = *left;
		} else {
			*right = row;
			right = &node(row)->left;
			row = *right;
		}
	}
	*left = 0;
	*right = 0;
}

static void join(uint32_t *link, uint32_t left, uint32_t right)
{
	while (left && right) {
		if (priority(left) > priority(right)) {
			*link = left;
			link = &node(left)->right;
			left = *link;
		} else {
			*link = right;
			link = &node(right)->left;
			right = *link;
		}
	}
	*link = left ? left : right;
}

static void add(uint64_t start, uint64_t end, uint32_t state, uint32_t owner)
{
	uint32_t row = at_hand;
	uint32_t *link = find_link(start, row);
	uint32_t below = *link;
	struct node *new = node(row);

	at_hand = new->left;
	nr_at_hand--;
	new->start = start;
	new->end = end;
	new->state = state;
	new->owner = owner;
	*link = row;
	split(below, start, &new->left, &new->right);
	nr_bytes[state] += end - start;
	nr_spans++;
}

static void remove_row(uint32_t row)
{
	uint32_t *link = find_link(node(row)->start, row);

	nr_bytes[node(row)->state] -= node(row)->end - node(row)->start;
	nr_spans--;
	join(link, node(row)->left, node(row)->right);
	put_at_hand(row);
}

/* The order of the spans stays as it is. */
static void resize(uint32_t row, uint64_t start, uint64_t end)
{
	nr_bytes[node(row)->state] += (end - start) - (node(row)->end - node(row)->start);
	node(row)->start = start;
	node(row)->end = end;
}

/* Take a range out of all spans. */
static void clear(uint64_t start, uint64_t end)
{
	uint32_t row;

	while ((row = find(start)) && node(row)->start < end) {
		struct span old = { node(row)->start, node(row)->end, node(row)->state,
				    node(row)->owner };

		if (old.start < start)
			resize(row, old.start, start);
		else if (old.end > end)
			resize(row, end, old.end);
		else
			remove_row(row);
		if (old.start < start && old.end > end)
			add(end, old.end, old.state, old.owner);
	}
}

static bool is_like(uint32_t row, enum span_state state, uint32_t owner)
{
	return row && node(row)->state == (uint32_t)state && node(row)->owner == owner;
}

void spans_set(uint64_t start, uint64_t end, enum span_state state, uint32_t owner)
{
	uint32_t before, after;

	if (start >= end)
		return;
	clear(start, end);
	if (state == SPAN_NONE)
		return;
	after = find(end);
	if (is_like(after, state, owner) && node(after)->start == end) {
		end = node(after)->end;
		remove_row(after);
	}
	before = start ? find(start - 1) : 0;
	if (is_like(before, state, owner) && node(before)->end == start)
		resize(before, node(before)->start, end);
	else
		add(start, end, state, owner);
}

bool spans_next(uint64_t start, uint64_t end, struct span *ret_span)
{
	uint32_t row = find(start);

	if (!row || start >= end || node(row)->start >= end)
		return false;
	*ret_span = (struct span){
		.start = node(row)->start > start ? node(row)->start : start,
		.end = node(row)->end < end ? node(row)->end : end,
		.state = node(row)->state,
		.owner = node(row)->owner,
	};
	return true;
}
