/* SPDX-License-Identifier: MIT */
/* The files memory.oom.*: what follows a charge that does not fit. */
#include "control/files.h"

#include <errno.h>
#include <stdint.h>

#include "base/size.h"
#include "reclaim/policy.h"

static const char *const policy_names[] = {
	[UMEMCG_OOM_FAIL] = "fail",
	[UMEMCG_OOM_KILL] = "kill",
	[UMEMCG_OOM_CALLBACK] = "callback",
};

void memory_oom_group_show(struct umemcg *group, struct text *text)
{
	text_put_number(text, policy_get_group_kill(group));
	text_put(text, "\n");
}

int memory_oom_group_write(struct umemcg *group, const char *value)
{
	uint64_t number;
	int r = size_parse(value, &number);

	if (r)
		return r;
	return number <= 1 ? policy_set_group_kill(group, number) : -EINVAL;
}

void memory_oom_policy_show(struct umemcg *group, struct text *text)
{
	text_put(text, policy_names[policy_get(group)]);
	text_put(text, "\n");
}

/* A callback cannot be written. */
int memory_oom_policy_write(struct umemcg *group, const char *value)
{
	for (unsigned int policy = 0; policy < UMEMCG_OOM_CALLBACK; policy++)
		if (text_is_word(value, policy_names[policy]))
			return policy_set(group, policy, NULL, NULL);
	return -EINVAL;
}
