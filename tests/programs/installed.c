/* SPDX-License-Identifier: MIT */
/*
 * A user's first program, compiled against the installed library, as C and as C++: a group with a
 * limit, an object that fits, one that does not, and the books empty at the end.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <umemcg.h>

#define LIMIT (UINT64_C(1) << 20)

static int fail(const char *what)
{
	fprintf(stderr, "installed: %s\n", what);
	return 1;
}

int main(void)
{
	struct umemcg *group;
	struct umemcg *before;
	char *object;
	void *refused;

	if (umemcg_create(NULL, "tenant", &group) < 0)
		return fail("no group could be made");
	if (umemcg_set_max(group, LIMIT) < 0)
		return fail("the group could not be limited");

	before = umemcg_enter(group);
	object = (char *)umemcg_malloc(1000);
	errno = 0;
	refused = umemcg_malloc(2 * LIMIT);
	umemcg_enter(before);

	if (!object)
		return fail("an object that fits was refused");
	memset(object, 'x', 1000);
	if (umemcg_state() == UMEMCG_ENABLED) {
		if (refused || errno != ENOMEM)
			return fail("an object above the limit was not refused with ENOMEM");
		if (umemcg_owner(object) != group)
			return fail("the object has another owner");
		if (umemcg_get_current(group) < 1000 || umemcg_get_current(group) > LIMIT)
			return fail("the group counts something else than its object");
	}

	umemcg_free(refused);
	umemcg_free(object);
	umemcg_drain(group);
	if (umemcg_get_current(group) != 0)
		return fail("something is left in the group");
	if (umemcg_destroy(group) < 0)
		return fail("the group could not be destroyed");
	printf("umemcg %s\n", umemcg_version());
	return 0;
}
