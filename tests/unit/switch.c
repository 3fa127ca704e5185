/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "charge/switch.h"

/* What the switch says on standard error while it reads a line. */
static ssize_t said(const char *line, char *buffer, size_t size)
{
	int pipe_fds[2], old = dup(2);
	ssize_t length;

	assert_int_equal(pipe(pipe_fds), 0);
	dup2(pipe_fds[1], 2);
	switch_read(line);
	dup2(old, 2);
	close(old);
	close(pipe_fds[1]);
	length = read(pipe_fds[0], buffer, size - 1);
	close(pipe_fds[0]);
	buffer[length > 0 ? length : 0] = '\0';
	return length;
}

static void the_kernels_words_turn_it_off_and_on(void **state)
{
	(void)state;
	switch_read("cgroup_enable=memory cgroup_disable=memory");
	assert_false(switch_is_on());
	assert_false(switch_counts(KIND_SLAB));
	switch_read("\tcgroup_disable=memory  cgroup_enable=memory\n");
	assert_true(switch_is_on());
	for (enum kind kind = 0; kind < NR_KINDS; kind++)
		assert_true(switch_counts(kind));
	switch_read("");
	assert_int_equal(switch_is_on(), CONFIG_MEMCG_DEFAULT_ON);
	switch_read(NULL);
	assert_int_equal(switch_is_on(), CONFIG_MEMCG_DEFAULT_ON);
}

static void nokmem_leaves_out_slab_and_stacks(void **state)
{
	(void)state;
	switch_read("cgroup_enable=memory cgroup.memory=nokmem");
	assert_false(switch_counts(KIND_SLAB));
	assert_false(switch_counts(KIND_STACK));
	assert_true(switch_counts(KIND_ANON));
	assert_true(switch_counts(KIND_EXTERNAL));
}

static void only_the_named_kinds_are_counted(void **state)
{
	(void)state;
	switch_read("cgroup_enable=memory umemcg.kinds=stack,anon");
	assert_false(switch_counts(KIND_SLAB));
	assert_true(switch_counts(KIND_STACK));
	assert_true(switch_counts(KIND_ANON));
	assert_false(switch_counts(KIND_EXTERNAL));
}

static void an_unknown_word_is_reported_and_ignored(void **state)
{
	char text[256];

	(void)state;
	assert_true(said("cgroup_enable=memory cgroup_disable=mem", text, sizeof(text)) > 0);
	assert_string_equal(
		text, "umemcg: UMEMCG_CMDLINE: unknown word \"cgroup_disable=mem\" is ignored\n");
	assert_true(switch_is_on());
	assert_true(said("umemcg.kinds=slab,heap", text, sizeof(text)) > 0);
	assert_string_equal(text,
			    "umemcg: UMEMCG_CMDLINE: unknown kind \"heap\" is ignored (known: "
			    "slab, stack, anon, external)\n");
	assert_int_equal(said("cgroup_enable=memory", text, sizeof(text)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernels_words_turn_it_off_and_on),
		cmocka_unit_test(nokmem_leaves_out_slab_and_stacks),
		cmocka_unit_test(only_the_named_kinds_are_counted),
		cmocka_unit_test(an_unknown_word_is_reported_and_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
