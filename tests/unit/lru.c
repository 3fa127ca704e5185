/* SPDX-License-Identifier: MIT */
/* Lists of objects that can be evicted: in which order, whose they are, and who may remove them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "umemcg.h"

#define NR_OBJECTS 16u
#define OBJECT     ((uint64_t)4096)
#define MAX        (NR_OBJECTS * OBJECT)

struct object {
	struct umemcg *group;
	struct umemcg_lru_entry *entry; /* NULL once it was evicted */
};

static struct umemcg *group;
static struct umemcg_lru *lru;
static struct object objects[NR_OBJECTS];
static unsigned int nr_objects;

/* In the order in which they were asked. */
static struct object *asked[256];
static unsigned int nr_asked;

static enum umemcg_lru_status (*answer)(struct object *object);

static enum umemcg_lru_status evict(void *arg, void *lru_arg)
{
	struct object *object = arg;
	enum umemcg_lru_status status;

	assert_ptr_equal(lru_arg, &lru);
	if (nr_asked < 256)
		asked[nr_asked] = object;
	nr_asked++;
	status = answer ? answer(object) : UMEMCG_LRU_REMOVED;
	if (status == UMEMCG_LRU_REMOVED) {
		umemcg_uncharge(object->group, OBJECT);
		object->entry = NULL;
	}
	return status;
}

static int begin(void **state)
{
	(void)state;
	nr_objects = nr_asked = 0;
	answer = NULL;
	/* Beyond what a busy machine takes. */
	umemcg_set_reclaim_timeout(60000000);
	if (umemcg_create(NULL, NULL, &group) || umemcg_set_max(group, MAX))
		return -1;
	return umemcg_lru_create(evict, &lru, &lru);
}

static int end(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < nr_objects; i++) {
		if (!objects[i].entry)
			continue;
		if (umemcg_lru_remove(objects[i].entry))
			return -1;
		umemcg_uncharge(objects[i].group, OBJECT);
	}
	umemcg_drain(NULL);
	if (umemcg_get_current(group))
		return -1;
	return umemcg_destroy(group) || umemcg_lru_destroy(lru);
}

static struct object *add(struct umemcg *to)
{
	struct object *object = &objects[nr_objects++];

	object->group = to;
	assert_int_equal(umemcg_try_charge(to, OBJECT), 0);
	assert_int_equal(umemcg_lru_add(lru, to, object, OBJECT, &object->entry), 0);
	return object;
}

static void fill(struct umemcg *to, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		add(to);
}

static void what_is_no_object_is_refused(void **state)
{
	struct umemcg_lru_entry *entry;
	struct umemcg_lru *other;

	(void)state;
	assert_int_equal(umemcg_lru_create(NULL, NULL, &other), -EINVAL);
	assert_int_equal(umemcg_lru_create(evict, NULL, NULL), -EINVAL);
	assert_int_equal(umemcg_lru_add(NULL, group, NULL, 1, &entry), -EINVAL);
	assert_int_equal(umemcg_lru_add(lru, group, NULL, 1, NULL), -EINVAL);
	assert_int_equal(umemcg_lru_destroy(NULL), 0);
}

static void the_oldest_goes_first(void **state)
{
	(void)state;
	fill(group, NR_OBJECTS);
	assert_int_equal(umemcg_reclaim(group, 3 * OBJECT), 0);
	assert_int_equal(nr_asked, 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_ptr_equal(asked[i], &objects[i]);
	assert_int_equal(umemcg_get_current(group), (NR_OBJECTS - 3) * OBJECT);
}

static void a_charge_that_does_not_fit_evicts(void **state)
{
	(void)state;
	fill(group, NR_OBJECTS);
	assert_int_equal(umemcg_try_charge(group, OBJECT), 0);
	assert_null(objects[0].entry);
	assert_non_null(objects[NR_OBJECTS - 1].entry);
	umemcg_uncharge(group, OBJECT);
}

static void what_was_touched_outlives_what_was_not(void **state)
{
	(void)state;
	fill(group, NR_OBJECTS);
	for (unsigned int i = 0; i < 4; i++)
		umemcg_lru_touch(objects[i].entry);
	assert_int_equal(umemcg_reclaim(group, 8 * OBJECT), 0);
	for (unsigned int i = 0; i < 4; i++)
		assert_non_null(objects[i].entry);
	for (unsigned int i = 4; i < 12; i++)
		assert_null(objects[i].entry);
	/* Without another touch they go in the end, too. */
	assert_int_equal(umemcg_reclaim(group, 8 * OBJECT), 0);
	assert_int_equal(umemcg_get_current(group), 0);
}

static void all_go_even_if_all_were_touched(void **state)
{
	(void)state;
	fill(group, NR_OBJECTS);
	for (unsigned int i = 0; i < NR_OBJECTS; i++)
		umemcg_lru_touch(objects[i].entry);
	assert_int_equal(umemcg_reclaim(group, MAX), 0);
	assert_int_equal(nr_asked, NR_OBJECTS);
}

static enum umemcg_lru_status rotate_first(struct object *object)
{
	return object == &objects[0] ? UMEMCG_LRU_ROTATE : UMEMCG_LRU_REMOVED;
}

static void what_is_in_use_becomes_active(void **state)
{
	(void)state;
	fill(group, NR_OBJECTS);
	answer = rotate_first;
	assert_int_equal(umemcg_reclaim(group, (NR_OBJECTS - 1) * OBJECT), 0);
	assert_non_null(objects[0].entry);
	answer = NULL;
	assert_int_equal(umemcg_reclaim(group, OBJECT), 0);
	assert_null(objects[0].entry);
}

static enum umemcg_lru_status skip_first(struct object *object)
{
	return object == &objects[0] ? UMEMCG_LRU_SKIP : UMEMCG_LRU_REMOVED;
}

static void what_is_skipped_is_the_next_to_go(void **state)
{
	(void)state;
	fill(group, NR_OBJECTS);
	answer = skip_first;
	assert_int_equal(umemcg_reclaim(group, OBJECT), 0);
	assert_non_null(objects[0].entry);
	assert_null(objects[1].entry);
	answer = NULL;
	assert_int_equal(umemcg_reclaim(group, OBJECT), 0);
	assert_null(objects[0].entry);
}

static enum umemcg_lru_status skip_all(struct object *object)
{
	(void)object;
	return UMEMCG_LRU_SKIP;
}

static enum umemcg_lru_status rotate_all(struct object *object)
{
	(void)object;
	return UMEMCG_LRU_ROTATE;
}

static void what_cannot_go_keeps_nobody_for_ever(void **state)
{
	(void)state;
	fill(group, NR_OBJECTS);
	answer = skip_all;
	assert_int_equal(umemcg_try_charge(group, OBJECT), -ENOMEM);
	answer = rotate_all;
	assert_int_equal(umemcg_try_charge(group, OBJECT), -ENOMEM);
	assert_true(nr_asked < 16 * NR_OBJECTS);
}

/* It says that it was removed, and nothing was given back. */
static enum umemcg_lru_status keep(struct object *object)
{
	assert_int_equal(umemcg_try_charge(object->group, OBJECT), 0);
	return UMEMCG_LRU_REMOVED;
}

static void a_callback_that_gives_nothing_is_not_believed(void **state)
{
	(void)state;
	assert_int_equal(umemcg_set_max(group, 2 * MAX), 0);
	fill(group, NR_OBJECTS);
	answer = keep;
	assert_int_equal(umemcg_reclaim(group, OBJECT), -EAGAIN);
	umemcg_uncharge(group, nr_asked * OBJECT);
}

static struct umemcg_lru_entry *removed;

static enum umemcg_lru_status remove_it(struct object *object)
{
	removed = object->entry;
	assert_int_equal(umemcg_lru_remove(object->entry), -EBUSY);
	assert_int_equal(umemcg_lru_destroy(lru), -EBUSY);
	/* Any other one can be. */
	if (objects[5].entry) {
		assert_int_equal(umemcg_lru_remove(objects[5].entry), 0);
		umemcg_uncharge(group, OBJECT);
		objects[5].entry = NULL;
	}
	return UMEMCG_LRU_REMOVED;
}

static void what_is_being_evicted_cannot_be_removed(void **state)
{
	(void)state;
	fill(group, NR_OBJECTS);
	answer = remove_it;
	assert_int_equal(umemcg_reclaim(group, OBJECT), 0);
	assert_non_null(removed);
	assert_int_equal(umemcg_lru_destroy(lru), -EBUSY);
}

static void entries_of_a_destroyed_group_are_its_heirs(void **state)
{
	struct umemcg *child, *grandchild;

	(void)state;
	assert_int_equal(umemcg_create(group, NULL, &child), 0);
	assert_int_equal(umemcg_create(child, NULL, &grandchild), 0);
	fill(group, 2);
	fill(child, 2);
	fill(grandchild, 4);
	/* Explicit charges are inherited as well; what is still named is the heir. */
	for (unsigned int i = 2; i < 8; i++)
		objects[i].group = group;
	assert_int_equal(umemcg_destroy(grandchild), 0);
	assert_int_equal(umemcg_lru_remove(objects[7].entry), 0);
	umemcg_uncharge(child, OBJECT);
	objects[7].entry = NULL;
	assert_int_equal(umemcg_destroy(child), 0);
	assert_int_equal(umemcg_reclaim(group, 7 * OBJECT), 0);
	assert_int_equal(nr_asked, 7);
}

static enum umemcg_lru_status destroy_group_of(struct object *object)
{
	struct umemcg *child = object->group;

	if (child == group)
		return UMEMCG_LRU_REMOVED;
	for (unsigned int i = 0; i < nr_objects; i++)
		objects[i].group = group;
	assert_int_equal(umemcg_destroy(child), 0);
	return object == &objects[0] ? UMEMCG_LRU_SKIP : UMEMCG_LRU_REMOVED;
}

static void a_callback_may_destroy_the_group(void **state)
{
	struct umemcg *child;

	(void)state;
	assert_int_equal(umemcg_create(group, NULL, &child), 0);
	fill(child, 8);
	answer = destroy_group_of;
	assert_int_equal(umemcg_reclaim(group, 8 * OBJECT), 0);
	assert_int_equal(umemcg_get_current(group), 0);
}

static struct object *last;

/* All are left alone but the last one, and by then the group is gone. */
static enum umemcg_lru_status destroy_at_last(struct object *object)
{
	answer = object == last ? NULL : answer;
	return object == last ? destroy_group_of(object) : UMEMCG_LRU_SKIP;
}

static void what_was_skipped_in_a_group_that_is_gone_is_its_heirs(void **state)
{
	struct umemcg *child;

	(void)state;
	assert_int_equal(umemcg_create(group, NULL, &child), 0);
	for (unsigned int i = 0; i < 8; i++)
		last = add(child);
	answer = destroy_at_last;
	assert_int_equal(umemcg_reclaim(child, MAX), -EAGAIN);
	umemcg_drain(group);
	assert_int_equal(umemcg_get_current(group), 7 * OBJECT);
	assert_int_equal(umemcg_reclaim(group, 7 * OBJECT), 0);
}

static void a_group_is_not_spared_for_one_that_was_destroyed_while_it_gave(void **state)
{
	struct umemcg *child;

	(void)state;
	/* Each has the row of the one before it. */
	answer = destroy_group_of;
	for (unsigned int i = 0; i < 16; i++) {
		nr_objects = 0;
		assert_int_equal(umemcg_create(group, NULL, &child), 0);
		fill(child, 2);
		assert_int_equal(umemcg_reclaim(group, 2 * OBJECT), 0);
	}
	answer = NULL;
	assert_int_equal(umemcg_create(group, NULL, &child), 0);
	fill(child, 2);
	assert_int_equal(umemcg_reclaim(child, 2 * OBJECT), 0);
	assert_int_equal(umemcg_destroy(child), 0);
}

static pid_t child_pid;

static enum umemcg_lru_status fork_once(struct object *object)
{
	(void)object;
	if (child_pid < 0)
		child_pid = fork();
	return UMEMCG_LRU_REMOVED;
}

static void a_forked_child_has_its_own_lists(void **state)
{
	int status;

	(void)state;
	child_pid = -1;
	fill(group, NR_OBJECTS);
	answer = fork_once;
	assert_int_equal(umemcg_reclaim(group, 2 * OBJECT), 0);
	if (!child_pid) {
		bool is_right = !umemcg_reclaim(group, (NR_OBJECTS - 2) * OBJECT) &&
				!umemcg_get_current(group) && !umemcg_lru_destroy(lru);

		_exit(is_right ? 0 : 1);
	}
	assert_int_equal(waitpid(child_pid, &status, 0), child_pid);
	assert_int_equal(status, 0);
}

#define NR_THREADS 8u

static _Atomic unsigned int nr_inside;
static _Atomic bool may_go_on;

static enum umemcg_lru_status wait_inside(void *object, void *arg)
{
	(void)arg;
	nr_inside++;
	while (!may_go_on)
		usleep(1000);
	umemcg_uncharge(group, OBJECT);
	((struct object *)object)->entry = NULL;
	return UMEMCG_LRU_REMOVED;
}

static void *reclaim_all(void *arg)
{
	(void)arg;
	umemcg_reclaim(group, MAX);
	return NULL;
}

static void in_a_forked_child_nobody_else_is_about_to_reclaim(void **state)
{
	struct umemcg_lru *slow, *quick = lru;
	pthread_t threads[NR_THREADS];
	int status;

	(void)state;
	assert_int_equal(umemcg_lru_create(wait_inside, NULL, &slow), 0);
	lru = slow;
	fill(group, NR_OBJECTS);
	lru = quick;
	for (unsigned int i = 0; i < NR_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, reclaim_all, NULL), 0);
	while (nr_inside < NR_THREADS)
		usleep(1000);
	child_pid = fork();
	may_go_on = true;
	if (!child_pid)
		_exit(umemcg_reclaim(group, MAX) ? 1 : 0);
	for (unsigned int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(waitpid(child_pid, &status, 0), child_pid);
	assert_int_equal(status, 0);
	assert_int_equal(umemcg_lru_destroy(slow), 0);
}

static void groups_give_in_proportion(void **state)
{
	struct umemcg *small, *large;
	unsigned int nr_small = 0;

	(void)state;
	assert_int_equal(umemcg_create(group, NULL, &small), 0);
	assert_int_equal(umemcg_create(group, NULL, &large), 0);
	fill(small, 4);
	fill(large, 12);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(umemcg_reclaim(group, OBJECT), 0);
	for (unsigned int i = 0; i < 4; i++)
		nr_small += objects[i].entry != NULL;
	assert_int_equal(nr_asked, 8);
	assert_true(nr_small >= 1 && nr_small <= 3);
	for (unsigned int i = 0; i < NR_OBJECTS; i++)
		objects[i].group = group;
	assert_int_equal(umemcg_destroy(small), 0);
	assert_int_equal(umemcg_destroy(large), 0);
}

#define test_in_group(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_group(what_is_no_object_is_refused),
		test_in_group(the_oldest_goes_first),
		test_in_group(a_charge_that_does_not_fit_evicts),
		test_in_group(what_was_touched_outlives_what_was_not),
		test_in_group(all_go_even_if_all_were_touched),
		test_in_group(what_is_in_use_becomes_active),
		test_in_group(what_is_skipped_is_the_next_to_go),
		test_in_group(what_cannot_go_keeps_nobody_for_ever),
		test_in_group(a_callback_that_gives_nothing_is_not_believed),
		test_in_group(what_is_being_evicted_cannot_be_removed),
		test_in_group(entries_of_a_destroyed_group_are_its_heirs),
		test_in_group(a_callback_may_destroy_the_group),
		test_in_group(what_was_skipped_in_a_group_that_is_gone_is_its_heirs),
		test_in_group(a_group_is_not_spared_for_one_that_was_destroyed_while_it_gave),
		test_in_group(a_forked_child_has_its_own_lists),
		test_in_group(in_a_forked_child_nobody_else_is_about_to_reclaim),
		test_in_group(groups_give_in_proportion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
