/* SPDX-License-Identifier: MIT */
/*
 * A balanced search tree (a treap) of nodes with values of their own sizes: it grows, half of its
 * keys are replaced by new ones, and it is torn down in the order of another sequence. Checked: a
 * value's stamp when it is removed, and that nothing is left. A round is one whole life.
 */
#include "alloc.h"
#include "workloads.h"

enum { NR_KEYS = 30000, VALUE_BYTES_MIN = 16, VALUE_BYTES_MAX = 112 };

struct node {
	struct node *left, *right;
	uint64_t key;
	uint64_t *value;
};

static uint64_t nr_operations;

/* The heap order of the treap: a fixed hash of the key, so that no random number is stored. */
static uint64_t priority(uint64_t key)
{
	return random_next(&key);
}

static struct node *rotate_right(struct node *node)
{
	struct node *left = node->left;

	node->left = left->right;
	left->right = node;
	return left;
}

static struct node *rotate_left(struct node *node)
{
	struct node *right = node->right;

	node->right = right->left;
	right->left = node;
	return right;
}

static struct node *node_new(uint64_t key, uint64_t *seed)
{
	struct node *node = must_malloc(sizeof(*node));
	uint32_t nr_bytes = VALUE_BYTES_MIN + random_below(seed, VALUE_BYTES_MAX - VALUE_BYTES_MIN);

	*node = (struct node){ .key = key, .value = must_malloc(nr_bytes) };
	*node->value = ~key;
	nr_operations += 2;
	return node;
}

static struct node *tree_insert(struct node *tree, struct node *node)
{
	if (!tree)
		return node;
	if (node->key < tree->key) {
		tree->left = tree_insert(tree->left, node);
		if (priority(tree->left->key) > priority(tree->key))
			return rotate_right(tree);
	} else {
		tree->right = tree_insert(tree->right, node);
		if (priority(tree->right->key) > priority(tree->key))
			return rotate_left(tree);
	}
	return tree;
}

/* Merges the two halves that a removed node leaves. */
static struct node *tree_join(struct node *left, struct node *right)
{
	if (!left || !right)
		return left ? left : right;
	if (priority(left->key) > priority(right->key)) {
		left->right = tree_join(left->right, right);
		return left;
	}
	right->left = tree_join(left, right->left);
	return right;
}

static struct node *tree_remove(struct node *tree, uint64_t key)
{
	struct node **link = &tree, *node;

	while ((node = *link) != NULL && node->key != key)
		link = key < node->key ? &node->left : &node->right;
	workload_expect(node && *node->value == ~key, "value of rbstress");
	*link = tree_join(node->left, node->right);
	alloc_free(node->value);
	alloc_free(node);
	return tree;
}

static void shuffle(uint64_t *keys, uint64_t *seed)
{
	for (uint32_t i = NR_KEYS - 1; i > 0; i--) {
		uint32_t other = random_below(seed, i + 1);
		uint64_t key = keys[i];

		keys[i] = keys[other];
		keys[other] = key;
	}
}

uint64_t rbstress_run(const struct parameters *parameters)
{
	uint64_t seed = parameters->seed;
	uint64_t *keys = must_malloc(NR_KEYS * sizeof(*keys));

	nr_operations = 1;
	for (uint64_t round = 0; round < parameters->nr_rounds; round++) {
		struct node *tree = NULL;

		for (uint32_t i = 0; i < NR_KEYS; i++) {
			keys[i] = random_next(&seed);
			tree = tree_insert(tree, node_new(keys[i], &seed));
		}
		shuffle(keys, &seed);
		for (uint32_t i = 0; i < NR_KEYS / 2; i++) {
			tree = tree_remove(tree, keys[i]);
			keys[i] = random_next(&seed);
			tree = tree_insert(tree, node_new(keys[i], &seed));
		}
		shuffle(keys, &seed);
		for (uint32_t i = 0; i < NR_KEYS; i++)
			tree = tree_remove(tree, keys[i]);
		workload_expect(!tree, "an empty tree of rbstress");
	}
	alloc_free(keys);
	return nr_operations;
}
