/* SPDX-License-Identifier: MIT */
/* The user's own program as a workload: started, and waited for, once an operation. */
#ifndef BENCH_METERS_EXACT_GUEST_PROGRAM_H
#define BENCH_METERS_EXACT_GUEST_PROGRAM_H

#include <stdbool.h>

#include "workloads/workload.h"

/** program_workload - context->data are the arguments of BLOCK_PROGRAM, ended by NULL */
extern const struct workload program_workload;

/** program_has_marks - does the program place marks of its own (umemcg-marks.h)? */
bool program_has_marks(void);

#endif
