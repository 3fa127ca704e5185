/* SPDX-License-Identifier: MIT */
/*
 * Bodies under gravity: each time step builds an octree of cells and leaves, walks it for every
 * body, moves the bodies, and frees the tree. Checked: the tree holds every body's mass, and the
 * walk visits all of it. A round is one time step.
 */
#include <math.h>

#include "alloc.h"
#include "workloads.h"

enum { NR_BODIES = 12000, DEPTH_MAX = 40 };

struct body {
	double position[3], velocity[3];
};

struct cell {
	double mass, centre[3]; /* sums while it is built, then the centre of mass */
	struct leaf *leaves;    /* of a cell that is not divided */
	struct cell **children; /* 8 of them, or NULL */
	uint32_t nr_leaves;
};

struct leaf {
	struct leaf *next;
	const struct body *body;
};

static uint64_t nr_operations;

static struct cell *cell_new(void)
{
	struct cell *cell = must_malloc(sizeof(*cell));

	nr_operations++;
	*cell = (struct cell){ 0 };
	return cell;
}

static unsigned int octant_of(const struct body *body, const double middle[3])
{
	return (unsigned int)(body->position[0] >= middle[0]) |
	       (unsigned int)(body->position[1] >= middle[1]) << 1 |
	       (unsigned int)(body->position[2] >= middle[2]) << 2;
}

static void cell_insert(struct cell *cell, struct leaf *leaf, const double middle[3], double half,
			unsigned int depth);

static void cell_insert_below(struct cell *cell, struct leaf *leaf, const double middle[3],
			      double half, unsigned int depth)
{
	unsigned int octant = octant_of(leaf->body, middle);
	double below[3];

	for (unsigned int i = 0; i < 3; i++)
		below[i] = middle[i] + (octant >> i & 1 ? half : -half) / 2;
	if (!cell->children[octant])
		cell->children[octant] = cell_new();
	cell_insert(cell->children[octant], leaf, below, half / 2, depth + 1);
}

static void cell_insert(struct cell *cell, struct leaf *leaf, const double middle[3], double half,
			unsigned int depth)
{
	cell->mass += 1;
	for (unsigned int i = 0; i < 3; i++)
		cell->centre[i] += leaf->body->position[i];
	if (cell->children) {
		cell_insert_below(cell, leaf, middle, half, depth);
		return;
	}
	leaf->next = cell->leaves;
	cell->leaves = leaf;
	if (++cell->nr_leaves <= 4 || depth == DEPTH_MAX)
		return;
	cell->children = alloc_calloc(8, sizeof(struct cell *));
	nr_operations++;
	workload_expect(cell->children, "an allocation failed");
	while ((leaf = cell->leaves) != NULL) {
		cell->leaves = leaf->next;
		cell_insert_below(cell, leaf, middle, half, depth);
	}
	cell->nr_leaves = 0;
}

static struct cell *tree_build(const struct body *bodies, double half)
{
	static const double middle[3];
	struct cell *root = cell_new();

	for (unsigned int i = 0; i < NR_BODIES; i++) {
		struct leaf *leaf = must_malloc(sizeof(*leaf));

		nr_operations++;
		leaf->body = &bodies[i];
		cell_insert(root, leaf, middle, half, 0);
	}
	return root;
}

/* Returns how many bodies it freed. */
static uint32_t tree_free(struct cell *cell)
{
	uint32_t nr_bodies = 0;
	struct leaf *leaf;

	while ((leaf = cell->leaves) != NULL) {
		cell->leaves = leaf->next;
		alloc_free(leaf);
		nr_bodies++;
	}
	for (unsigned int i = 0; cell->children && i < 8; i++) {
		if (cell->children[i])
			nr_bodies += tree_free(cell->children[i]);
	}
	alloc_free(cell->children);
	alloc_free(cell);
	return nr_bodies;
}

static void pull(const double from[3], double mass, const double to[3], double acceleration[3])
{
	double distance[3], square = 1e-3, factor;

	for (unsigned int i = 0; i < 3; i++) {
		distance[i] = from[i] - to[i];
		square += distance[i] * distance[i];
	}
	factor = mass / (square * sqrt(square));
	for (unsigned int i = 0; i < 3; i++)
		acceleration[i] += factor * distance[i];
}

/* A cell that looks smaller than its distance counts as one body. Returns the mass it met. */
static double cell_pull(const struct cell *cell, const double to[3], double half,
			double acceleration[3])
{
	double centre[3], square = 0, mass = 0;

	for (unsigned int i = 0; i < 3; i++) {
		centre[i] = cell->centre[i] / cell->mass;
		square += (centre[i] - to[i]) * (centre[i] - to[i]);
	}
	if (half * half < square) {
		pull(centre, cell->mass, to, acceleration);
		return cell->mass;
	}
	for (const struct leaf *leaf = cell->leaves; leaf; leaf = leaf->next) {
		pull(leaf->body->position, 1, to, acceleration);
		mass += 1;
	}
	for (unsigned int i = 0; cell->children && i < 8; i++) {
		if (cell->children[i])
			mass += cell_pull(cell->children[i], to, half / 2, acceleration);
	}
	return mass;
}

static void bodies_move(struct body *bodies, const struct cell *root, double half)
{
	for (unsigned int i = 0; i < NR_BODIES; i++) {
		double acceleration[3] = { 0 };
		double mass = cell_pull(root, bodies[i].position, half, acceleration);

		workload_expect(mass == NR_BODIES, "mass that a body of barnes feels");
		for (unsigned int j = 0; j < 3; j++)
			bodies[i].velocity[j] += acceleration[j] * 1e-8;
	}
	for (unsigned int i = 0; i < NR_BODIES; i++) {
		for (unsigned int j = 0; j < 3; j++)
			bodies[i].position[j] += bodies[i].velocity[j];
	}
}

uint64_t barnes_run(const struct parameters *parameters)
{
	const double half = 4;
	uint64_t seed = parameters->seed;
	struct body *bodies = must_malloc(NR_BODIES * sizeof(*bodies));

	nr_operations = 1;
	for (unsigned int i = 0; i < NR_BODIES; i++) {
		for (unsigned int j = 0; j < 3; j++) {
			bodies[i].position[j] = random_below(&seed, 1u << 30) / 0x1p30 - 0.5;
			bodies[i].velocity[j] = 0;
		}
	}
	for (uint64_t i = 0; i < parameters->nr_rounds; i++) {
		struct cell *root = tree_build(bodies, half);

		bodies_move(bodies, root, half);
		workload_expect(tree_free(root) == NR_BODIES, "number of bodies of barnes");
	}
	alloc_free(bodies);
	return nr_operations;
}
