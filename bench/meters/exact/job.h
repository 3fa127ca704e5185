/* SPDX-License-Identifier: MIT */
/*
 * What the driver asks of a guest, and what the guest answers, both as lines of text. The job
 * reaches the guest through the emulator's firmware configuration device, so that neither the
 * kernel's command line nor the guest's image differs from one configuration to the next. The
 * answer leaves it through the debug console. A job:
 *
 *	umemcg-job 1
 *	target kernel|lib
 *	cgroup v1|v2|none
 *	depth N				of the group to run in; 0 for the root
 *	max none|far|near		its limit; near is found by the guest: 2 % above use
 *	environment UMEMCG_CMDLINE=...	of the blocks, any number of lines
 *	block INDEX WORKLOAD VALUE NR_OPERATIONS NR_WARM_UP LAYOUT
 *	program INDEX NR_RUNS LAYOUT ARGUMENT...	the user's program /program; arguments, the
 *			first its name, percent-encoded, an empty one is "%"
 *	end
 *
 * Or, of a kernel that is met for the first time: the line "umemcg-job 1", "symbols", "end".
 *
 * An answer:
 *
 *	umemcg-guest 1
 *	kernel RELEASE			uname -r
 *	memcg compiled|absent		whether the kernel has the controller at all
 *	quiet INDEX			block INDEX's quiet part was counted
 *	block INDEX NR_OPERATIONS NR_APART	a block is over; in units, as the workload counted
 *	failed INDEX TEXT		instead of that
 *	symbol ADDRESS NAME		text symbols of the kernel, one a line
 *	error TEXT			the guest can do nothing more
 *	end				without it, the guest died
 *
 * Blocks are run in the order of the job, but those that make groups in every configuration last.
 * Each block is a process of its own. Its parts have the ids of job_part_id(). What a program marks
 * itself keeps its ids, and there is no JOB_PART_RUN for it.
 *
 * In the guest's user space the marks lie in functions of JOB_COUNTING_PREFIX. Whatever is counted
 * there in a JOB_PART_RUN or JOB_PART_APART is the meter's own and is to be subtracted; so is, of
 * every single iteration, the same share of it.
 */
#ifndef BENCH_METERS_EXACT_JOB_H
#define BENCH_METERS_EXACT_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "configurations.h"
#include "workloads/workload.h"

#define JOB_FIRST_LINE    "umemcg-job 1"
#define ANSWER_FIRST_LINE "umemcg-guest 1"

#define JOB_NR_BLOCKS  4096
#define JOB_NR_LAYOUTS 16
#define JOB_ERROR      192
#define JOB_SIZE_MAX   (1u << 20)

#define JOB_COUNTING_PREFIX "counting_"

/* What is counted of a block, one after another. */
enum job_part {
	JOB_PART_RUN,            /* the operations */
	JOB_PART_DEFERRED,       /* a grace period: what they put off */
	JOB_PART_APART,          /* finish() */
	JOB_PART_APART_DEFERRED, /* a grace period: what that put off */
	JOB_PART_QUIET,          /* a grace period after which nothing was put off */
	JOB_NR_PARTS,
};

enum job_cgroup {
	JOB_CGROUP_NONE,
	JOB_CGROUP_V1,
	JOB_CGROUP_V2,
};

struct job_block {
	unsigned int index;
	char workload[32]; /* "" for the user's program */
	uint64_t value;
	uint64_t nr_operations; /* or runs of the program */
	uint64_t nr_warm_up;
	unsigned int layout; /* start offset, stack and bss padding number so-and-so */
	char **argv;         /* of the program, else NULL; NULL-terminated */
};

struct guest_job {
	bool symbols; /* nothing but these */
	enum workload_target target;
	enum job_cgroup cgroup;
	unsigned int depth;
	enum configuration_limit limit;
	char **environment; /* NULL-terminated, "NAME=value", or NULL */
	struct job_block *blocks;
	size_t nr_blocks;
};

/* What became of one block. */
struct guest_block {
	unsigned int index;
	bool over;  /* else only its beginning was heard of */
	bool quiet; /* it has a quiet part */
	uint64_t nr_operations;
	uint64_t nr_apart;
	char failed[JOB_ERROR]; /* empty if it did not */
};

struct guest_symbol {
	uint64_t address;
	char *name;
};

struct guest_answer {
	char kernel[128];
	bool memcg_compiled;
	struct guest_block *blocks;
	size_t nr_blocks;
	struct guest_symbol *symbols; /* as they came: /proc/kallsyms is sorted by address */
	size_t nr_symbols;
	char error[JOB_ERROR]; /* empty if there was none */
};

/** job_part_id - id of a mark: above UMEMCG_MARK_MAX, below that of iterations */
unsigned int job_part_id(unsigned int index, enum job_part part);

/** job_format - a job as text, for free(); NULL without memory */
char *job_format(const struct guest_job *job);

/**
 * job_parse - read what job_format() wrote
 * @text:    NUL-terminated; is changed
 * @ret_job: for job_destroy()
 *
 * Return: 0; -EPROTO for a line of another form; -ENODATA without the last line; -ENOMEM.
 */
int job_parse(char *text, struct guest_job **ret_job);

void job_destroy(struct guest_job *job);

/**
 * answer_parse - read what the guest said
 * @text:       NUL-terminated; is changed
 * @ret_answer: for answer_destroy()
 *
 * Return: as job_parse(); with -ENODATA ret_answer is set, to what was said before the guest died.
 */
int answer_parse(char *text, struct guest_answer **ret_answer);

void answer_destroy(struct guest_answer *answer);

#endif
