/* SPDX-License-Identifier: MIT */
/*
 * The ten promises of the account, through the public calls alone. Each test is named after its
 * promise. The build with a stock of one byte forces every charge through the slow path.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "umemcg.h"

#define NR_THREADS 16

static pthread_barrier_t start;

static uint64_t rounds(uint64_t usual)
{
	const char *scale = getenv("UMEMCG_TEST_SCALE");
	uint64_t nr = scale ? usual * strtoull(scale, NULL, 10) / 100 : usual;

	return nr ? nr : 1;
}

static struct umemcg *group_below(struct umemcg *parent, uint64_t max)
{
	struct umemcg *group;

	assert_int_equal(umemcg_create(parent, NULL, &group), 0);
	if (max != UMEMCG_MAX)
		assert_int_equal(umemcg_set_max(group, max), 0);
	return group;
}

static void assert_books_balance(void)
{
	struct umemcg_audit audit;
	int r = umemcg_audit(&audit);

	if (r)
		fprintf(stderr,
			"audit: %" PRIu64 " objects, %" PRIu64 " bytes walked, %" PRIu64
			" charged\n",
			audit.nr_objects, audit.nr_bytes_walked, audit.nr_bytes_charged);
	assert_int_equal(r, 0);
	assert_int_equal(audit.nr_bytes_difference, 0);
}

static void assert_kinds_add_up(struct umemcg *group)
{
	struct umemcg_stat stat;

	assert_int_equal(umemcg_get_stat(group, &stat), 0);
	assert_int_equal(stat.nr_bytes_slab + stat.nr_bytes_stack + stat.nr_bytes_anon +
				 stat.nr_bytes_external + stat.nr_bytes_stock,
			 stat.nr_bytes_current);
}

/* Used, once the stocks are given back. */
static uint64_t committed(struct umemcg *group)
{
	umemcg_drain(group);
	return umemcg_get_current(group);
}

static void in_threads(unsigned int nr, void *(*body)(void *), void *args, size_t arg_size)
{
	pthread_t threads[NR_THREADS];

	pthread_barrier_init(&start, NULL, nr);
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, body, (char *)args + i * arg_size), 0);
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	pthread_barrier_destroy(&start);
}

/* ---- 1 ---- */

struct hog {
	struct umemcg *group;
	struct umemcg *limited;
	uint64_t nr_rounds;
	unsigned int seed;
	bool seen_above;
};

static void *hog(void *arg)
{
	struct hog *hog = arg;
	void *held[64] = { NULL };

	umemcg_enter(hog->group);
	pthread_barrier_wait(&start);
	for (uint64_t round = 0; round < hog->nr_rounds; round++) {
		unsigned int slot = rand_r(&hog->seed) % 64;

		umemcg_free(held[slot]);
		held[slot] = umemcg_malloc(1 + rand_r(&hog->seed) % 20000);
		if (umemcg_get_current(hog->limited) > umemcg_get_max(hog->limited))
			hog->seen_above = true;
	}
	for (unsigned int slot = 0; slot < 64; slot++)
		umemcg_free(held[slot]);
	return NULL;
}

static void never_above_max(void **state)
{
	struct umemcg *top = group_below(NULL, 2000000), *leaf = group_below(top, UMEMCG_MAX);
	struct hog hogs[NR_THREADS];

	(void)state;
	for (unsigned int i = 0; i < NR_THREADS; i++)
		hogs[i] = (struct hog){ .group = i % 2 ? leaf : top,
					.limited = top,
					.nr_rounds = rounds(20000),
					.seed = i };
	in_threads(NR_THREADS, hog, hogs, sizeof(*hogs));
	for (unsigned int i = 0; i < NR_THREADS; i++)
		assert_false(hogs[i].seen_above);
	assert_true(umemcg_get_peak(top) <= 2000000);
	assert_int_equal(committed(top), 0);
	assert_int_equal(umemcg_destroy(leaf), 0);
	assert_int_equal(umemcg_destroy(top), 0);
}

/* ---- 2 ---- */

struct filler {
	struct umemcg *group;
	size_t size;
	void **objects;
	uint64_t nr;
	int error; /* errno of the refusal */
};

static void *fill(void *arg)
{
	struct filler *filler = arg;
	void *last = NULL, *object;

	filler->nr = 0;
	umemcg_enter(filler->group);
	pthread_barrier_wait(&start);
	while ((object = umemcg_malloc(filler->size))) {
		*(void **)object = last;
		last = object;
		filler->nr++;
	}
	filler->error = errno;
	filler->objects = last;
	return NULL;
}

static void empty(struct filler *filler)
{
	void *object = filler->objects;

	while (object) {
		void *next = *(void **)object;

		umemcg_free(object);
		object = next;
	}
}

static void fill_exactly(struct umemcg *limited, struct umemcg *charged, unsigned int nr_threads,
			 size_t size)
{
	struct filler fillers[NR_THREADS];
	void *probe = umemcg_malloc(size);
	uint64_t charged_size = umemcg_usable_size(probe), nr = 0;
	uint64_t max = charged_size * 1000 + charged_size / 2;

	umemcg_free(probe);
	assert_int_equal(umemcg_set_max(limited, max), 0);
	for (unsigned int i = 0; i < nr_threads; i++)
		fillers[i] = (struct filler){ .group = charged, .size = size };
	in_threads(nr_threads, fill, fillers, sizeof(*fillers));
	for (unsigned int i = 0; i < nr_threads; i++) {
		assert_int_equal(fillers[i].error, ENOMEM);
		nr += fillers[i].nr;
	}
	assert_int_equal(nr, max / charged_size);
	for (unsigned int i = 0; i < nr_threads; i++)
		empty(&fillers[i]);
	assert_int_equal(committed(limited), 0);
	assert_int_equal(umemcg_set_max(limited, UMEMCG_MAX), 0);
}

static void never_refused_while_it_would_fit(void **state)
{
	struct umemcg *top = group_below(NULL, UMEMCG_MAX), *middle = group_below(top, UMEMCG_MAX),
		      *leaf = group_below(middle, UMEMCG_MAX);
	static const size_t sizes[] = { 16, 64, 100, 1000, 5000, 40000, 200000 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		fill_exactly(leaf, leaf, 1, sizes[i]);
		fill_exactly(leaf, leaf, NR_THREADS, sizes[i]);
		fill_exactly(middle, leaf, NR_THREADS, sizes[i]);
		fill_exactly(top, leaf, 5, sizes[i]);
	}
	assert_int_equal(umemcg_destroy(leaf), 0);
	assert_int_equal(umemcg_destroy(middle), 0);
	assert_int_equal(umemcg_destroy(top), 0);
}

/* ---- 3 ---- */

struct charger {
	struct umemcg *group;
	uint64_t nr_bytes;
	uint64_t nr_rounds;
	uint64_t nr_charged;
};

static void *charge(void *arg)
{
	struct charger *charger = arg;

	pthread_barrier_wait(&start);
	for (uint64_t round = 0; round < charger->nr_rounds; round++) {
		if (umemcg_try_charge(charger->group, charger->nr_bytes))
			continue;
		charger->nr_charged++;
		umemcg_uncharge(charger->group, charger->nr_bytes);
	}
	return NULL;
}

static void a_charge_that_fails_does_not_make_another_fail(void **state)
{
	struct umemcg *parent = group_below(NULL, 50), *child = group_below(parent, 100);
	struct charger chargers[4];

	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		chargers[i] = (struct charger){ .group = child,
						.nr_bytes = i ? 60 : 50,
						.nr_rounds = rounds(20000) };
	in_threads(4, charge, chargers, sizeof(*chargers));
	assert_int_equal(chargers[0].nr_charged, chargers[0].nr_rounds);
	for (unsigned int i = 1; i < 4; i++)
		assert_int_equal(chargers[i].nr_charged, 0);
	assert_int_equal(committed(parent), 0);
	assert_int_equal(umemcg_destroy(child), 0);
	assert_int_equal(umemcg_destroy(parent), 0);
}

/* ---- 4 ---- */

static void the_books_balance_to_the_byte(void **state)
{
	struct umemcg *top = group_below(NULL, UMEMCG_MAX), *a = group_below(top, UMEMCG_MAX),
		      *b = group_below(top, UMEMCG_MAX), *old;
	static void *objects[20000];
	unsigned int seed = 4;
	void *region, *stack;

	(void)state;
	for (uint64_t i = 0; i < rounds(200000); i++) {
		void **slot = &objects[rand_r(&seed) % 20000];

		old = umemcg_enter(rand_r(&seed) % 2 ? a : b);
		if (*slot && rand_r(&seed) % 3 == 0) {
			void *grown = umemcg_realloc(*slot, 1 + rand_r(&seed) % 5000);

			assert_non_null(grown);
			*slot = grown;
		} else {
			umemcg_free(*slot);
			*slot = rand_r(&seed) % 4 ? umemcg_malloc(rand_r(&seed) % 500)
						  : umemcg_calloc(3, rand_r(&seed) % 70000 / 7);
		}
		umemcg_enter(old);
	}
	assert_int_equal(umemcg_map(a, 123456, &region), 0);
	old = umemcg_enter(b);
	assert_int_equal(umemcg_stack_alloc(65536, &stack), 0);
	umemcg_enter(old);
	assert_int_equal(umemcg_try_charge(b, 777), 0);
	assert_kinds_add_up(a);
	assert_kinds_add_up(b);
	assert_kinds_add_up(top);
	assert_kinds_add_up(umemcg_root());
	assert_int_equal(umemcg_get_current(top), umemcg_get_current(a) + umemcg_get_current(b));
	assert_books_balance();
	for (unsigned int i = 0; i < 20000; i++) {
		umemcg_free(objects[i]);
		objects[i] = NULL;
	}
	umemcg_uncharge(b, 777);
	umemcg_stack_free(stack);
	assert_int_equal(umemcg_unmap(region), 0);
	assert_int_equal(committed(top), 0);
	assert_books_balance();
	assert_int_equal(umemcg_destroy(a), 0);
	assert_int_equal(umemcg_destroy(b), 0);
	assert_int_equal(umemcg_destroy(top), 0);
}

/* ---- 5 ---- */

static void one_size_function_both_ways(void **state)
{
	struct umemcg *group = group_below(NULL, UMEMCG_MAX);
	struct umemcg *old = umemcg_enter(group);

	(void)state;
	for (size_t size = 0; size < 300000; size = size * 9 / 8 + 1) {
		void *object = umemcg_malloc(size);
		void *zeroed = umemcg_calloc(1, size);
		void *aligned = umemcg_aligned_alloc(256, size);
		void *moved;
		uint64_t sum;

		assert_true(object && zeroed && aligned);
		assert_true(umemcg_usable_size(object) >= size);
		assert_int_equal((uintptr_t)aligned % 256, 0);
		sum = umemcg_usable_size(object) + umemcg_usable_size(zeroed) +
		      umemcg_usable_size(aligned);
		assert_int_equal(committed(group), sum);
		sum -= umemcg_usable_size(object);
		moved = umemcg_realloc(object, size * 2 + 100);
		assert_non_null(moved);
		assert_int_equal(committed(group), sum + umemcg_usable_size(moved));
		object = umemcg_realloc(moved, size / 2 + 1);
		assert_non_null(object);
		assert_int_equal(committed(group), sum + umemcg_usable_size(object));
		umemcg_free(object);
		umemcg_free(zeroed);
		umemcg_free(aligned);
		assert_int_equal(committed(group), 0);
	}
	/* A realloc that must move holds both copies; refused, it has changed nothing. */
	{
		char *object = umemcg_malloc(60000), *grown;
		uint64_t usable = umemcg_usable_size(object);

		memset(object, 'x', 60000);
		umemcg_drain(group);
		assert_int_equal(umemcg_set_max(group, usable), 0);
		errno = 0;
		grown = umemcg_realloc(object, 4000000);
		assert_null(grown);
		assert_int_equal(errno, ENOMEM);
		assert_int_equal(object[59999], 'x');
		assert_int_equal(committed(group), usable);
		assert_null(umemcg_malloc(SIZE_MAX / 2));
		assert_null(umemcg_calloc(SIZE_MAX / 2, 3));
		assert_int_equal(committed(group), usable);
		umemcg_free(object);
	}
	umemcg_enter(old);
	assert_int_equal(committed(group), 0);
	assert_int_equal(umemcg_destroy(group), 0);
}

/* ---- 6 ---- */

struct freer {
	void **objects;
	unsigned int nr;
	struct umemcg *group;
};

static void *free_them(void *arg)
{
	struct freer *freer = arg;

	umemcg_enter(freer->group);
	pthread_barrier_wait(&start);
	for (unsigned int i = 0; i < freer->nr; i++)
		umemcg_free(freer->objects[i]);
	return NULL;
}

static void the_owner_pays_and_is_repaid(void **state)
{
	struct umemcg *parent = group_below(NULL, UMEMCG_MAX),
		      *other = group_below(NULL, UMEMCG_MAX);
	enum { NR = 4000 };
	static void *objects[NR];

	(void)state;
	/* By another thread, by one that is in another group, and after the group is gone. */
	for (unsigned int variant = 0; variant < 4; variant++) {
		struct umemcg *group = group_below(parent, UMEMCG_MAX), *old = umemcg_enter(group);
		struct freer freer = { objects, NR, variant % 2 ? other : NULL };
		uint64_t sum = 0;

		for (unsigned int i = 0; i < NR; i++) {
			objects[i] = umemcg_malloc(1 + i % 3000);
			assert_ptr_equal(umemcg_owner(objects[i]), group);
			sum += umemcg_usable_size(objects[i]);
		}
		umemcg_enter(old);
		assert_int_equal(committed(parent), sum);
		assert_int_equal(umemcg_get_current(group), sum);
		if (variant / 2) {
			assert_int_equal(umemcg_destroy(group), 0);
			assert_ptr_equal(umemcg_owner(objects[0]), parent);
			assert_int_equal(committed(parent), sum);
		}
		in_threads(1, free_them, &freer, sizeof(freer));
		assert_int_equal(committed(parent), 0);
		assert_int_equal(committed(other), 0);
		if (!(variant / 2))
			assert_int_equal(umemcg_destroy(group), 0);
	}
	assert_books_balance();
	assert_int_equal(umemcg_destroy(other), 0);
	assert_int_equal(umemcg_destroy(parent), 0);
}

/* ---- 7 ---- */

static void *allocate_and_leave(void *arg)
{
	struct freer *freer = arg;

	umemcg_enter(freer->group);
	pthread_barrier_wait(&start);
	for (unsigned int i = 0; i < 100; i++)
		umemcg_free(umemcg_malloc(i * 10));
	if (freer->nr == 1)
		pthread_exit(NULL);
	if (freer->nr == 2) {
		pthread_cancel(pthread_self());
		pthread_testcancel();
	}
	return NULL;
}

static void nothing_drifts(void **state)
{
	struct umemcg *group = group_below(NULL, UMEMCG_MAX);
	struct freer leavers[NR_THREADS];
	struct umemcg *old;
	void *object;
	int status;
	pid_t pid;

	(void)state;
	for (uint64_t round = 0; round < rounds(50); round++) {
		for (unsigned int i = 0; i < NR_THREADS; i++)
			leavers[i] = (struct freer){ .nr = i % 3, .group = group };
		in_threads(NR_THREADS, allocate_and_leave, leavers, sizeof(*leavers));
		/* Without a drain: a thread that ends gives its stocks back itself. */
		assert_int_equal(umemcg_get_current(group), 0);
	}
	old = umemcg_enter(group);
	object = umemcg_malloc(1000);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		/* The child's copy of the tree works, and is its own. */
		void *mine = umemcg_malloc(5000);
		struct umemcg_audit audit;
		bool right = mine && umemcg_get_current(group) >= 6000 && !umemcg_audit(&audit);

		umemcg_free(mine);
		umemcg_free(object);
		right = right && !committed(group) && !umemcg_audit(&audit);
		_exit(right ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(committed(group), umemcg_usable_size(object));
	umemcg_free(object);
	umemcg_enter(old);
	assert_int_equal(committed(group), 0);
	assert_books_balance();
	assert_int_equal(umemcg_destroy(group), 0);
}

/* ---- 8 ---- */

static void underflow_cannot_poison_a_group(void **state)
{
	struct umemcg *parent = group_below(NULL, UMEMCG_MAX), *group = group_below(parent, 10000);
	char events[256];

	(void)state;
	assert_int_equal(umemcg_try_charge(parent, 500), 0);
	assert_int_equal(umemcg_try_charge(group, 100), 0);
	umemcg_uncharge(group, 1000);
	assert_int_equal(committed(group), 0);
	assert_int_equal(committed(parent), 500);
	umemcg_uncharge(group, 1);
	assert_int_equal(committed(parent), 500);
	assert_true(umemcg_read(group, "memory.events", events, sizeof(events)) > 0);
	assert_non_null(strstr(events, "underflow 2\n"));
	/* It goes on, with the limit as exact as before. */
	assert_int_equal(umemcg_try_charge(group, 10000), 0);
	assert_int_equal(umemcg_try_charge(group, 1), -ENOMEM);
	umemcg_uncharge(group, 10000);
	umemcg_uncharge(parent, 500);
	assert_int_equal(committed(parent), 0);
	assert_int_equal(umemcg_destroy(group), 0);
	assert_int_equal(umemcg_destroy(parent), 0);
}

/* ---- 9 ---- */

static void the_emergency_path_needs_no_memory(void **state)
{
	struct umemcg *parent = group_below(NULL, UMEMCG_MAX),
		      *small = group_below(parent, UMEMCG_MAX),
		      *large = group_below(parent, UMEMCG_MAX);
	struct rlimit limit, none;
	struct umemcg_failure failure;
	struct umemcg *old;
	char path[64];
	void *object;
	int r;

	(void)state;
	assert_int_equal(umemcg_try_charge(small, 300), 0);
	assert_int_equal(umemcg_try_charge(large, 700), 0);
	umemcg_drain(parent);
	assert_int_equal(umemcg_set_max(parent, 1000), 0);
	old = umemcg_enter(small);
	umemcg_free(umemcg_malloc(0));
	/* From here on the system gives no memory to anybody. */
	assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
	errno = 0;
	object = umemcg_malloc(100);
	r = umemcg_last_failure(&failure);
	setrlimit(RLIMIT_AS, &limit);
	assert_null(object);
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(r, 0);
	umemcg_path(parent, path, sizeof(path));
	assert_string_equal(failure.group, path);
	umemcg_path(small, path, sizeof(path));
	assert_string_equal(failure.charged, path);
	assert_true(failure.nr_bytes_asked >= 100 && failure.nr_bytes_asked < 200);
	assert_int_equal(failure.nr_bytes_max, 1000);
	assert_int_equal(failure.nr_consumers, 2);
	assert_int_equal(failure.consumers[0].nr_bytes, 700);
	assert_int_equal(failure.consumers[1].nr_bytes, 300);
	assert_string_equal(failure.consumers[1].group, path);
	umemcg_enter(old);
	umemcg_uncharge(small, 300);
	umemcg_uncharge(large, 700);
	/* The reserve is for whoever has to say what happened. */
	assert_int_equal(umemcg_set_reserve(parent, 400), 0);
	assert_int_equal(umemcg_try_charge(small, 700), -ENOMEM);
	umemcg_reserve_enter();
	assert_int_equal(umemcg_try_charge(small, 700), 0);
	umemcg_reserve_leave();
	assert_int_equal(umemcg_try_charge(small, 200), -ENOMEM);
	umemcg_uncharge(small, 700);
	assert_int_equal(committed(parent), 0);
	assert_int_equal(umemcg_destroy(small), 0);
	assert_int_equal(umemcg_destroy(large), 0);
	assert_int_equal(umemcg_destroy(parent), 0);
}

/* ---- 10 ---- */

static void ids_never_run_out(void **state)
{
	uint64_t nr = rounds(1000000);
	void **left = calloc(nr, sizeof(*left));
	struct umemcg *parent = group_below(NULL, UMEMCG_MAX);
	uint64_t nr_many = rounds(100000);
	struct umemcg **many = calloc(nr_many, sizeof(*many));

	(void)state;
	assert_true(left && many);
	for (uint64_t i = 0; i < nr; i++) {
		struct umemcg *group = group_below(parent, UMEMCG_MAX), *old = umemcg_enter(group);

		left[i] = umemcg_malloc(16);
		assert_non_null(left[i]);
		umemcg_enter(old);
		assert_int_equal(umemcg_destroy(group), 0);
	}
	assert_int_equal(committed(parent), nr * 16);
	for (uint64_t i = 0; i < nr; i++)
		umemcg_free(left[i]);
	assert_int_equal(committed(parent), 0);
	for (uint64_t i = 0; i < nr_many; i++) {
		many[i] = group_below(i < 1000 ? parent : many[i / 1000], UMEMCG_MAX);
		assert_int_equal(umemcg_try_charge(many[i], i), 0);
	}
	assert_int_equal(committed(parent), nr_many * (nr_many - 1) / 2);
	for (uint64_t i = nr_many; i--;)
		assert_int_equal(umemcg_destroy(many[i]), 0);
	umemcg_uncharge(parent, nr_many * (nr_many - 1) / 2);
	assert_int_equal(committed(parent), 0);
	assert_int_equal(umemcg_destroy(parent), 0);
	free(many);
	free(left);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(never_above_max),
		cmocka_unit_test(never_refused_while_it_would_fit),
		cmocka_unit_test(a_charge_that_fails_does_not_make_another_fail),
		cmocka_unit_test(the_books_balance_to_the_byte),
		cmocka_unit_test(one_size_function_both_ways),
		cmocka_unit_test(the_owner_pays_and_is_repaid),
		cmocka_unit_test(nothing_drifts),
		cmocka_unit_test(underflow_cannot_poison_a_group),
		cmocka_unit_test(the_emergency_path_needs_no_memory),
		cmocka_unit_test(ids_never_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
