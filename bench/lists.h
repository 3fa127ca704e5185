/* SPDX-License-Identifier: MIT */
/* `umemcg bench --list`: the four choices, and why some of them cannot be made here. */
#ifndef BENCH_LISTS_H
#define BENCH_LISTS_H

#include <stdio.h>

#include "targets/kernel/cgroup.h"

/** lists_print - all four lists, one line each */
void lists_print(FILE *out, const struct cgroup *cgroup);

#endif
