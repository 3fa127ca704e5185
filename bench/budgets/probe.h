/* SPDX-License-Identifier: MIT */
/*
 * A probe measures what one budget is about, in a process of its own, and prints its results as
 * lines of name=value. It judges nothing: that is done by the script that knows the budgets.
 */
#ifndef BUDGETS_PROBE_H
#define BUDGETS_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include <umemcg.h>

/* Each takes the number that the command line gives it, or its default. */
void probe_enter(uint64_t nr_rounds);
void probe_charge(uint64_t nr_rounds);
void probe_scaling(uint64_t duration_ms);
void probe_groups(uint64_t nr_groups);
void probe_cgroups(uint64_t nr_groups);
void probe_tags(uint64_t nr_groups);
void probe_resident_one(uint64_t nr_groups);
void probe_resident_many(uint64_t nr_groups);
void probe_resident_groups(uint64_t nr_groups);
void probe_hammer(uint64_t duration_ms);
void probe_refusal(uint64_t nr_siblings);
void probe_files(uint64_t nr_groups);

/* Ends the program with one line on standard error unless @condition holds. */
void probe_expect(bool condition, const char *what);

/* Ends the program with one line on standard output and status 77: it cannot be measured here. */
void probe_skip(const char *why) __attribute__((noreturn));

void probe_print(const char *name, double value);

/* A group with that limit below @parent; UMEMCG_MAX for none. */
struct umemcg *probe_group(struct umemcg *parent, const char *name, uint64_t max);

/* Groups "g0", "g1" ... below @parent. */
struct umemcg **probe_groups_create(struct umemcg *parent, uint64_t nr_groups);

double probe_now_ns(void);

/* Of this thread alone: for work that waits for nobody, on a machine that others may use too. */
double probe_cpu_ns(void);

/* Sorts @values. */
double probe_median(double *values, unsigned int nr_values);

/* Resident memory of this process, to the page. */
uint64_t probe_resident_bytes(void);

/* The part of it that lies in no file: without code that happened to run for the first time. */
uint64_t probe_anonymous_bytes(void);

#endif
