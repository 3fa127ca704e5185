/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "environment.h"

#define OBJECT "/lib/object.so"

/* Longer than what is asked for by one byte, which must stay as it is. */
static char **make(const struct environment_change *change, char **envp)
{
	char *memory = malloc(change->nr_bytes + 1);
	char **made;

	assert_non_null(memory);
	memory[change->nr_bytes] = 42;
	made = environment_make(change, envp, memory);
	assert_int_equal(memory[change->nr_bytes], 42);
	return made;
}

static const char *value_of(char **envp, const char *name)
{
	const char *value = NULL;

	for (; *envp; envp++) {
		if (strncmp(*envp, name, strlen(name)) || (*envp)[strlen(name)] != '=')
			continue;
		/* Each is there once. */
		assert_null(value);
		value = *envp + strlen(name) + 1;
	}
	return value;
}

static char tree[] = "UMEMCG_TREE=t", group[] = "UMEMCG_GROUP=/g", elsewhere[] = "UMEMCG_GROUP=/e";
static char preload[] = "LD_PRELOAD=" OBJECT, other[] = "X=1", similar[] = "UMEMCG_TREES=1";

static void a_whole_environment_needs_nothing(void **state)
{
	char *envp[] = { other, group, preload, tree, similar, NULL };

	(void)state;
	assert_false(environment_look(envp, true).is_needed);
}

static void what_is_missing_changed_or_twice_is_put_back(void **state)
{
	char *cases[][6] = {
		{ NULL },
		{ other, tree, preload, NULL },
		{ other, tree, group, NULL },
		{ other, tree, elsewhere, preload, NULL },
		{ elsewhere, group, tree, tree, preload, NULL },
		{ preload, tree, group, preload, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct environment_change change = environment_look(cases[i], true);
		char **made;

		assert_true(change.is_needed);
		made = make(&change, cases[i]);
		assert_string_equal(value_of(made, "UMEMCG_TREE"), "t");
		assert_string_equal(value_of(made, "UMEMCG_GROUP"), "/g");
		assert_string_equal(value_of(made, "LD_PRELOAD"), OBJECT);
		assert_int_equal(!!value_of(made, "X"), cases[i][0] == other);
		assert_false(environment_look(made, true).is_needed);
		free(made);
	}
	assert_true(environment_look(NULL, true).is_needed);
}

static void other_objects_keep_their_order(void **state)
{
	static const struct {
		char before[64];
		const char *with, *without;
	} cases[] = {
		{ "LD_PRELOAD=a.so:b.so", OBJECT ":a.so:b.so", NULL },
		{ "LD_PRELOAD=a.so " OBJECT " b.so", OBJECT ":a.so:b.so", "a.so:b.so" },
		{ "LD_PRELOAD=::" OBJECT, OBJECT, "" },
		{ "LD_PRELOAD=" OBJECT ".1", OBJECT ":" OBJECT ".1", NULL },
		{ "LD_PRELOAD=", OBJECT, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *envp[] = { tree, (char *)cases[i].before, group, NULL };
		struct environment_change change = environment_look(envp, true);
		char **made = make(&change, envp);

		assert_true(change.is_needed);
		assert_string_equal(value_of(made, "LD_PRELOAD"), cases[i].with);
		free(made);
		change = environment_look(envp, false);
		assert_int_equal(change.is_needed, !!cases[i].without);
		if (!change.is_needed)
			continue;
		made = make(&change, envp);
		if (*cases[i].without)
			assert_string_equal(value_of(made, "LD_PRELOAD"), cases[i].without);
		else
			assert_null(value_of(made, "LD_PRELOAD"));
		free(made);
	}
}

static int begin(void **state)
{
	char *envp[] = { tree, other, group, elsewhere, NULL };

	(void)state;
	environment_init(OBJECT, envp);
	return environment_is_limited() ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_environment_needs_nothing),
		cmocka_unit_test(what_is_missing_changed_or_twice_is_put_back),
		cmocka_unit_test(other_objects_keep_their_order),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
