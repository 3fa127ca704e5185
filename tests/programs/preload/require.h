/* SPDX-License-Identifier: MIT */
/* What the programs that run under the preload object share. */
#ifndef TESTS_PROGRAMS_PRELOAD_REQUIRE_H
#define TESTS_PROGRAMS_PRELOAD_REQUIRE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "umemcg.h"

/* Whose contents the compiler does not know, so that it cannot warn of what a test does wrong. */
static inline void *hide(void *pointer)
{
	__asm__("" : "+r"(pointer));
	return pointer;
}

/* In a child, which says by its exit status how it went. */
static inline int status_of_child(int (*body)(void))
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child)
		_exit(body());
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static inline struct umemcg *make_group(void)
{
	struct umemcg *group;

	assert_int_equal(umemcg_create(NULL, NULL, &group), 0);
	return group;
}

static inline uint64_t bytes_in_use(struct umemcg *group)
{
	umemcg_drain(group);
	return umemcg_get_current(group);
}

#endif
