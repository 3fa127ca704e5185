/* SPDX-License-Identifier: MIT */
/*
 * Threads allocate in many groups, some of them too small, and pass what they get to each other;
 * each object carries what it must still hold, and whose it is, when somebody else gets it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "umemcg.h"

enum { NR_GROUPS = 90, NR_SLOTS = 1500, NR_THREADS = 6 };

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { NR_STEPS = 20000 };
#else
enum { NR_STEPS = 150000 };
#endif

/* What each object begins with; its last byte repeats the stamp. */
struct header {
	size_t nr_bytes;
	struct umemcg *owner;
	uint8_t stamp;
};

static struct umemcg *groups[NR_GROUPS];
static struct header *_Atomic slots[NR_SLOTS];
static atomic_uint nr_faults;

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static size_t random_size(uint64_t *seed)
{
	uint64_t r = next(seed);

	switch (r % 64) {
	case 0:
		return sizeof(struct header) + 1 + (r >> 8) % (400 << 10);
	case 1 ... 6:
		return sizeof(struct header) + 1 + (r >> 8) % (12 << 10);
	default:
		return sizeof(struct header) + 1 + (r >> 8) % 400;
	}
}

static void expect(bool condition)
{
	if (!condition)
		atomic_fetch_add_explicit(&nr_faults, 1, memory_order_relaxed);
}

static void fill(struct header *object, size_t nr_bytes, struct umemcg *owner, uint8_t stamp)
{
	*object = (struct header){ .nr_bytes = nr_bytes, .owner = owner, .stamp = stamp };
	((uint8_t *)object)[nr_bytes - 1] = stamp;
	expect(umemcg_usable_size(object) >= nr_bytes);
}

static void check(const struct header *object)
{
	expect(((const uint8_t *)object)[object->nr_bytes - 1] == object->stamp);
	expect(umemcg_owner(object) == object->owner);
}

static struct header *make(uint64_t *seed)
{
	size_t nr_bytes = random_size(seed);
	struct umemcg *group = groups[next(seed) % NR_GROUPS];
	size_t alignment = (size_t)16 << next(seed) % 10;
	struct header *object;

	switch (next(seed) % 4) {
	case 0:
		object = umemcg_malloc_in(group, nr_bytes);
		break;
	case 1:
		umemcg_enter(group);
		object = umemcg_aligned_alloc(alignment, nr_bytes);
		expect((uintptr_t)object % alignment == 0);
		break;
	case 2:
		umemcg_enter(group);
		object = umemcg_calloc(1, nr_bytes);
		expect(!object || !((uint8_t *)object)[nr_bytes - 1]);
		break;
	default:
		group = umemcg_current();
		object = umemcg_malloc(nr_bytes);
		break;
	}
	if (!object)
		expect(errno == ENOMEM);
	else
		fill(object, nr_bytes, group, next(seed));
	return object;
}

/* Somebody made it, now it is ours: change it, or end it. Returns what is left. */
static struct header *use(struct header *object, uint64_t *seed)
{
	struct umemcg *group = groups[next(seed) % NR_GROUPS];
	size_t nr_bytes = random_size(seed);
	struct header *moved;

	check(object);
	switch (next(seed) % 8) {
	case 0:
		if (!umemcg_recharge(object, group))
			object->owner = group;
		return object;
	case 1:
		moved = umemcg_realloc(object, nr_bytes);
		if (!moved)
			return object;
		if (moved->nr_bytes <= nr_bytes)
			check(moved);
		fill(moved, nr_bytes, moved->owner, next(seed));
		return moved;
	default:
		umemcg_free(object);
		return NULL;
	}
}

static void *work(void *arg)
{
	uint64_t seed = (uintptr_t)arg;

	for (unsigned int step = 0; step < NR_STEPS; step++) {
		struct header *_Atomic *slot = &slots[next(&seed) % NR_SLOTS];
		struct header *object = atomic_exchange_explicit(slot, NULL, memory_order_acq_rel);

		object = object ? use(object, &seed) : make(&seed);
		if (object)
			object = atomic_exchange_explicit(slot, object, memory_order_acq_rel);
		umemcg_free(object);
	}
	return NULL;
}

static void run_threads(unsigned int round)
{
	pthread_t threads[NR_THREADS];

	for (uintptr_t i = 0; i < NR_THREADS; i++) {
		uintptr_t seed = 0x9e3779b97f4a7c15u * (i + 1 + round * NR_THREADS);

		assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)seed), 0);
	}
	for (unsigned int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(nr_faults, 0);
}

static void make_groups(void)
{
	for (unsigned int i = 0; i < NR_GROUPS; i++) {
		struct umemcg *parent = i < 10 ? NULL : groups[i % 10];

		assert_int_equal(umemcg_create(parent, NULL, &groups[i]), 0);
		if (i % 3 == 0)
			assert_int_equal(umemcg_set_max(groups[i], (i + 1) * 20000), 0);
	}
}

static void the_books_balance_after_threads_have_passed_objects_around(void **state)
{
	struct umemcg_audit audit;

	(void)state;
	make_groups();
	for (unsigned int round = 0; round < 3; round++) {
		run_threads(round);
		assert_int_equal(umemcg_audit(&audit), 0);
		assert_true(audit.nr_objects > 0);
	}
}

static void nothing_is_left_when_every_object_is_freed(void **state)
{
	struct umemcg_audit audit;

	(void)state;
	for (unsigned int i = 0; i < NR_SLOTS; i += 2)
		umemcg_free(atomic_exchange(&slots[i], NULL));
	assert_int_equal(umemcg_audit(&audit), 0);
	for (unsigned int i = NR_GROUPS; i-- > 0;)
		assert_int_equal(umemcg_free_all(groups[i]), 0);
	assert_int_equal(umemcg_audit(&audit), 0);
	assert_int_equal(audit.nr_objects, 0);
	for (unsigned int i = NR_GROUPS; i-- > 0;) {
		umemcg_drain(groups[i]);
		assert_int_equal(umemcg_get_current(groups[i]), 0);
		assert_int_equal(umemcg_destroy(groups[i]), 0);
	}
	assert_int_equal(umemcg_audit(&audit), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_books_balance_after_threads_have_passed_objects_around),
		cmocka_unit_test(nothing_is_left_when_every_object_is_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
