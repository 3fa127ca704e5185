/* SPDX-License-Identifier: MIT */
/*
 * A workload: a description and the few functions that do the work. It knows nothing of meters,
 * statistics or files: whoever measures it starts the workers, reads the clock and counts.
 * Workloads use libc and the public header alone, so that the same files run inside a guest.
 */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whose accounting is measured. */
enum workload_target {
	WORKLOAD_LIB,
	WORKLOAD_KERNEL,
	WORKLOAD_NR_TARGETS,
};

enum workload_better {
	WORKLOAD_LOWER,
	WORKLOAD_HIGHER,
};

/* How several workers run side by side. */
enum workload_workers {
	WORKLOAD_ALONE, /* there is only ever one */
	WORKLOAD_THREADS,
	WORKLOAD_PROCESSES,
};

/* Metrics of a workload, and values of its parameter, at most. */
#define WORKLOAD_NR_METRICS 3
#define WORKLOAD_NR_VALUES  8

struct umemcg;

struct workload_context {
	enum workload_target target;
	unsigned int nr_workers;
	uint64_t nr_operations; /* of each worker while it is measured */
	uint64_t nr_warm_up;    /* operations of each worker before that */
	uint64_t value;         /* of the workload's parameter, 0 if it has none */
	uint64_t seed;
	bool counted;         /* instructions, not time: an operation need not be long to be told */
	unsigned int depth;   /* of the group that the worker is in; 0 for the root */
	const char *cgroup;   /* kernel: directory in which groups can be made, or NULL */
	const char *program;  /* the worker's executable: with --true it ends at once */
	struct umemcg *group; /* lib: that the worker's threads are in, or NULL */
	void (*enter)(
		const struct workload_context *context); /* called at a thread's start, or NULL */
	void *data;                                      /* the workload's own, from setup() */
};

/*
 * One worker's state. It is written in the inner loops, so two of them lie further apart than any
 * prefetcher reaches.
 */
struct workload_worker {
	unsigned int index;
	uint64_t random;     /* state of the worker's own sequence */
	uint64_t nr_units;   /* what the operations are counted in: faults, forks, records */
	uint64_t nr_checked; /* the same, as the system says, where there is no rusage for it */
	void *data;          /* the worker's own, for as long as it runs */
	bool warming_up;
	const char *failed; /* call that failed */
} __attribute__((aligned(256)));

/* What the measured part of a block came to, summed over its workers. */
struct workload_totals {
	unsigned int nr_workers;
	uint64_t nr_operations;
	uint64_t nr_units;
	double elapsed_s; /* latest end - earliest start */
	double user_s;
	double system_s;
	uint64_t nr_apart; /* of what finish() did, timed apart */
	double apart_s;
	double measured[WORKLOAD_NR_METRICS]; /* by a workload that measures itself */
};

struct workload_metric {
	const char *name;
	const char *unit;
	enum workload_better better;
	/* The metric's value, or a negative number where it cannot be had in this block. */
	double (*value)(const struct workload_totals *totals);
};

/* Against what the counted units are held. */
enum workload_check {
	WORKLOAD_UNCHECKED,
	WORKLOAD_CHECK_FAULTS,  /* units against ru_minflt, or nr_checked where that was counted */
	WORKLOAD_CHECK_COUNTED, /* units against nr_checked */
};

/*
 * Functions return 0 or a negative errno, with the call's name in worker->failed. Only run() must
 * be there. Order: setup, then in each worker worker_setup, run(nr_warm_up), the gate,
 * run(nr_operations), worker_teardown; then finish (timed apart) and teardown.
 */
struct workload {
	const char *name;
	const char *description;
	const char *title[WORKLOAD_NR_TARGETS];   /* heads the tables */
	const char *why_not[WORKLOAD_NR_TARGETS]; /* NULL where it has a meaning */
	enum workload_workers workers;
	enum workload_check check;
	bool mmtests;      /* its tables are laid out as mmtests does; worker counts by its rule */
	bool needs_swap;   /* kernel: pages must have somewhere to go */
	bool makes_groups; /* kernel: needs a group that groups can be made in */
	bool shares_tree;  /* lib: where it is accounted, as processes of a shared tree */
	bool makes_groups_at_root; /* even where no group is in use */
	struct workload_metric metrics[WORKLOAD_NR_METRICS];

	const char *parameter; /* name of the value that varies, or NULL */
	uint64_t values[WORKLOAD_NR_VALUES];
	unsigned int nr_values;
	unsigned int nr_values_quick; /* how many of them --quick runs */
	uint64_t max_operations;      /* of a worker in one block; 0 for no bound */

	/* For a meter that counts: what one unit, and one of what finish() does, is called. */
	const char *operation;        /* "fault" */
	const char *operation_apart;  /* "page unmapped", or NULL */
	uint64_t nr_operations_exact; /* of one block: enough for a mean, few enough to emulate */
	/* run(1) N times does what run(N) does, and an operation is a unit. */
	bool one_by_one[WORKLOAD_NR_TARGETS];

	int (*setup)(struct workload_context *context, struct workload_worker *worker);
	int (*worker_setup)(struct workload_context *context, struct workload_worker *worker);
	int (*run)(struct workload_context *context, struct workload_worker *worker,
		   uint64_t nr_operations);
	void (*worker_teardown)(struct workload_context *context, struct workload_worker *worker);
	int (*finish)(struct workload_context *context, struct workload_worker *worker,
		      uint64_t *ret_nr_apart);
	/* For a workload that measures itself: adds to totals->measured. */
	int (*report)(struct workload_context *context, struct workload_totals *totals);
	void (*teardown)(struct workload_context *context);
};

/** workload_table - every workload, in the order of the documentation; the last is NULL */
extern const struct workload *const workload_table[];

/** workload_find - the workload of that name, or NULL */
const struct workload *workload_find(const char *name);

/** workload_fail - remember which call failed; returns its negative errno */
int workload_fail(struct workload_worker *worker, const char *call);

/** workload_random - the next number of the worker's own sequence (xorshift64*) */
static inline uint64_t workload_random(struct workload_worker *worker)
{
	uint64_t x = worker->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	worker->random = x;
	return x * 0x2545f4914f6cdd1dull;
}

/* Metrics that several workloads share. */
double workload_us_per_unit(const struct workload_totals *totals);
double workload_ns_per_unit(const struct workload_totals *totals);
double workload_units_per_second(const struct workload_totals *totals);
double workload_elapsed(const struct workload_totals *totals);

#endif
