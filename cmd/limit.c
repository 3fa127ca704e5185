/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "limit.h"
#include "umemcg.h"

static int write_somewhere(const char *file, const char *value, uint64_t *ret_max)
{
	struct umemcg *group;
	int error = umemcg_create(NULL, NULL, &group);

	if (error)
		return error;
	error = umemcg_write(group, file, value);
	if (!error && ret_max)
		*ret_max = umemcg_get_max(group);
	umemcg_destroy(group);
	return error;
}

int limit_parse(const char *text, uint64_t *ret_nr_bytes)
{
	return write_somewhere("memory.max", text, ret_nr_bytes);
}

int limit_try(const char *file, const char *value)
{
	return write_somewhere(file, value, NULL);
}
