/* SPDX-License-Identifier: MIT */
/* Counts of events: where they are counted, and that groups without any have no row for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "group/event.h"
#include "group/rare.h"
#include "umemcg.h"

static struct umemcg *top, *middle, *bottom;

static int create_branch(void **state)
{
	(void)state;
	return umemcg_create(NULL, "top", &top) || umemcg_create(top, "middle", &middle) ||
	       umemcg_create(middle, "bottom", &bottom);
}

static int destroy_branch(void **state)
{
	(void)state;
	return umemcg_destroy(bottom) || umemcg_destroy(middle) || umemcg_destroy(top);
}

static uint32_t nr(const struct umemcg *group, enum umemcg_event event)
{
	return atomic_load(&rare_of(group)->events[event]);
}

static uint32_t nr_local(const struct umemcg *group, enum umemcg_event event)
{
	return atomic_load(&rare_of(group)->events_local[event]);
}

static void an_event_is_counted_where_it_happens_and_above(void **state)
{
	(void)state;
	group_event(middle, UMEMCG_EVENT_HIGH);
	group_event(middle, UMEMCG_EVENT_HIGH);
	group_event(bottom, UMEMCG_EVENT_HIGH);
	group_event(bottom, UMEMCG_EVENT_LOW);
	assert_int_equal(nr(bottom, UMEMCG_EVENT_HIGH), 1);
	assert_int_equal(nr(middle, UMEMCG_EVENT_HIGH), 3);
	assert_int_equal(nr(top, UMEMCG_EVENT_HIGH), 3);
	assert_int_equal(nr(top, UMEMCG_EVENT_LOW), 1);
	assert_int_equal(nr_local(bottom, UMEMCG_EVENT_HIGH), 1);
	assert_int_equal(nr_local(middle, UMEMCG_EVENT_HIGH), 2);
	assert_int_equal(nr_local(top, UMEMCG_EVENT_HIGH), 0);
	assert_int_equal(nr(bottom, UMEMCG_EVENT_MAX), 0);
}

static void a_group_in_which_nothing_happened_takes_no_memory(void **state)
{
	(void)state;
	assert_int_equal(atomic_load(&bottom->rare), 0);
	group_event(middle, UMEMCG_EVENT_MAX);
	assert_int_equal(atomic_load(&bottom->rare), 0);
	assert_int_not_equal(atomic_load(&middle->rare), 0);
	assert_int_equal(nr(bottom, UMEMCG_EVENT_MAX), 0);
}

static void a_new_group_does_not_inherit_the_counts_of_one_that_is_gone(void **state)
{
	struct umemcg *group;

	(void)state;
	assert_int_equal(umemcg_create(bottom, "gone", &group), 0);
	group_event(group, UMEMCG_EVENT_OOM);
	assert_int_equal(umemcg_destroy(group), 0);
	assert_int_equal(umemcg_create(bottom, "gone", &group), 0);
	assert_int_equal(rare_make(group), 0);
	assert_int_equal(nr(group, UMEMCG_EVENT_OOM), 0);
	assert_int_equal(nr_local(group, UMEMCG_EVENT_OOM), 0);
	assert_int_equal(nr(bottom, UMEMCG_EVENT_OOM), 1);
	assert_int_equal(umemcg_destroy(group), 0);
}

static struct umemcg *woken[8];
static bool was_local[8];
static unsigned int nr_woken;

static void note_wake(struct umemcg *group, enum umemcg_event event, bool is_local)
{
	assert_int_equal(event, UMEMCG_EVENT_MAX);
	woken[nr_woken] = group;
	was_local[nr_woken++] = is_local;
}

static void only_groups_with_subscribers_are_told(void **state)
{
	void (*before)(struct umemcg * group, enum umemcg_event event, bool is_local) = event_wake;
	struct umemcg *group;

	(void)state;
	event_wake = note_wake;
	assert_int_equal(umemcg_create(bottom, "watched", &group), 0);
	assert_int_equal(rare_make(group), 0);
	atomic_store(&rare_of(group)->waker, 1);
	atomic_store(&rare_of(top)->waker, 2);
	group_event(group, UMEMCG_EVENT_MAX);
	assert_int_equal(nr_woken, 2);
	assert_ptr_equal(woken[0], group);
	assert_true(was_local[0]);
	assert_ptr_equal(woken[1], top);
	assert_false(was_local[1]);

	atomic_store(&rare_of(group)->waker, 0);
	atomic_store(&rare_of(top)->waker, 0);
	event_wake = before;
	assert_int_equal(umemcg_destroy(group), 0);
}

#define test_in_branch(name) cmocka_unit_test_setup_teardown(name, create_branch, destroy_branch)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_branch(an_event_is_counted_where_it_happens_and_above),
		test_in_branch(a_group_in_which_nothing_happened_takes_no_memory),
		test_in_branch(a_new_group_does_not_inherit_the_counts_of_one_that_is_gone),
		test_in_branch(only_groups_with_subscribers_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
