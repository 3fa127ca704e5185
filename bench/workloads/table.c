/* SPDX-License-Identifier: MIT */
/* The list of all workloads, and the metrics that several of them share. */
#include <errno.h>
#include <string.h>

#include "workloads/workload.h"

extern const struct workload workload_fork, workload_fork_touch, workload_pft, workload_page_fault1,
	workload_page_fault2, workload_page_fault3, workload_page_test, workload_brk_test,
	workload_exec_test, workload_fork_test, workload_ebizzy, workload_slab, workload_pipe,
	workload_stack, workload_charge, workload_siblings, workload_groups, workload_reclaim,
	workload_protect;

const struct workload *const workload_table[] = {
	&workload_fork,        &workload_fork_touch,  &workload_pft,       &workload_page_fault1,
	&workload_page_fault2, &workload_page_fault3, &workload_page_test, &workload_brk_test,
	&workload_exec_test,   &workload_fork_test,   &workload_ebizzy,    &workload_slab,
	&workload_pipe,        &workload_stack,       &workload_charge,    &workload_siblings,
	&workload_groups,      &workload_reclaim,     &workload_protect,   NULL,
};

const struct workload *workload_find(const char *name)
{
	for (unsigned int i = 0; workload_table[i]; i++) {
		if (!strcmp(workload_table[i]->name, name))
			return workload_table[i];
	}
	return NULL;
}

int workload_fail(struct workload_worker *worker, const char *call)
{
	worker->failed = call;
	return errno ? -errno : -EIO;
}

/* Workers run side by side, so the time that each unit took its worker is P times the rate's. */
static double seconds_per_unit(const struct workload_totals *totals)
{
	return totals->elapsed_s * totals->nr_workers / (double)totals->nr_units;
}

double workload_us_per_unit(const struct workload_totals *totals)
{
	return seconds_per_unit(totals) * 1e6;
}

double workload_ns_per_unit(const struct workload_totals *totals)
{
	return seconds_per_unit(totals) * 1e9;
}

double workload_units_per_second(const struct workload_totals *totals)
{
	return (double)totals->nr_units / totals->elapsed_s;
}

double workload_elapsed(const struct workload_totals *totals)
{
	return totals->elapsed_s;
}
