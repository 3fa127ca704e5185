/* SPDX-License-Identifier: MIT */
/* The target `lib`: the worker puts itself into a group of libumemcg's before its block starts. */
#include <umemcg.h>

#include "targets/lib/lib.h"

static void lib_enter_thread(const struct workload_context *context)
{
	umemcg_enter(context->group);
}

int lib_enter(struct workload_context *context, unsigned int depth, uint64_t max)
{
	struct umemcg *group = NULL;

	/* With accounting off there is the root alone, and nothing to enter or to limit. */
	if ((depth == 0 && !max) || umemcg_state() != UMEMCG_ENABLED)
		return 0;
	for (unsigned int i = 0; i < (depth ? depth : 1); i++) {
		int error = umemcg_create(group, NULL, &group);

		if (error)
			return error;
	}
	if (max) {
		int error = umemcg_set_max(group, max);

		if (error)
			return error;
	}
	if (depth == 0)
		return 0;
	umemcg_enter(group);
	context->group = group;
	context->enter = lib_enter_thread;
	return 0;
}

uint64_t lib_peak(const struct workload_context *context)
{
	return context->group ? umemcg_get_peak(context->group) : 0;
}
