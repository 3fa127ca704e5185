/* SPDX-License-Identifier: MIT */
/*
 * Threads that do everything at once, at random, beside a model that knows what must come of it.
 *
 * UMEMCG_TEST_SEED repeats a schedule as far as threads allow, UMEMCG_TEST_SCALE is percent of the
 * usual length.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "umemcg.h"

#define NR_THREADS 16u
#define NR_SLOTS   24u
#define NR_SHARED  256u

/* ThreadSanitizer has taken a thread's state down before its last destructors run. */
#if defined(__SANITIZE_THREAD__)
#define NR_LATE_ROUNDS 0u
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NR_LATE_ROUNDS 0u
#endif
#endif
#ifndef NR_LATE_ROUNDS
#define NR_LATE_ROUNDS 3u
#endif

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN true
#else
#define UNDER_ASAN false
#endif

static unsigned int seed;

#define NR_LOST      6u
#define LARGEST_LOST ((uint64_t)1 << 20)

static uint64_t rounds(uint64_t usual)
{
	const char *scale = getenv("UMEMCG_TEST_SCALE");
	uint64_t nr = scale ? usual * strtoull(scale, NULL, 10) / 100 : usual;

	return nr ? nr : 1;
}

static int choose_seed(void **state)
{
	const char *wanted = getenv("UMEMCG_TEST_SEED");

	(void)state;
	seed = wanted ? (unsigned int)strtoul(wanted, NULL, 10) : (unsigned int)getpid();
	fprintf(stderr, "UMEMCG_TEST_SEED=%u\n", seed);
	return 0;
}

/* A hang is a failure that no assertion sees. */
static void give_up_after(unsigned int seconds)
{
	alarm(seconds);
}

/* cmocka's assertions belong to the main thread. */
#define require(condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* ---- objects that know what they hold -------------------------------------------------------- */

struct object {
	size_t nr_bytes;
	unsigned char mark;
	unsigned char rest[];
};

static struct object *fill(void *memory, size_t nr_bytes, unsigned int mark)
{
	struct object *object = memory;

	object->nr_bytes = nr_bytes;
	object->mark = (unsigned char)mark;
	memset(object->rest, object->mark, nr_bytes - offsetof(struct object, rest));
	return object;
}

static void check(const struct object *object)
{
	size_t nr_rest = object->nr_bytes - offsetof(struct object, rest);

	require(umemcg_usable_size(object) >= object->nr_bytes);
	require(!nr_rest ||
		(object->rest[0] == object->mark && object->rest[nr_rest / 2] == object->mark &&
		 object->rest[nr_rest - 1] == object->mark));
}

static size_t any_size(unsigned int *random)
{
	unsigned int kind = rand_r(random) % 64;
	size_t nr_bytes = kind < 56   ? rand_r(random) % 1024
			  : kind < 63 ? rand_r(random) % 32768
				      : rand_r(random) % 800000;

	return nr_bytes + sizeof(struct object);
}

/* ---- groups that come and go ------------------------------------------------------------------
 */

/* Who charges to a group, or is in it, reads the slot; who destroys it writes. */
struct slot {
	pthread_rwlock_t lock;
	struct umemcg *group;
	_Atomic(uint64_t) nr_explicit;
};

static struct umemcg *top;
static struct slot slots[NR_SLOTS];
static struct object *_Atomic shared[NR_SHARED];
static struct umemcg_cache *cache;

static void slots_init(void)
{
	for (unsigned int i = 0; i < NR_SLOTS; i++) {
		require(!pthread_rwlock_init(&slots[i].lock, NULL));
		require(!umemcg_create(top, NULL, &slots[i].group));
	}
}

static struct slot *any_slot(unsigned int *random)
{
	return &slots[rand_r(random) % NR_SLOTS];
}

/* Explicit charges go with the group to the top, and are given back there. */
static void replace_group(struct slot *slot, unsigned int *random)
{
	char name[32];
	int r;

	if (pthread_rwlock_trywrlock(&slot->lock))
		return;
	r = umemcg_destroy(slot->group);
	/* Somebody may be about to leave it; nobody can come. */
	require(!r || r == -EBUSY);
	if (!r) {
		umemcg_uncharge(top, atomic_exchange(&slot->nr_explicit, 0));
		snprintf(name, sizeof(name), "slot%zu", (size_t)(slot - slots));
		require(!umemcg_create(top, rand_r(random) % 2 ? name : NULL, &slot->group));
		if (rand_r(random) % 2)
			require(!umemcg_set_max(slot->group, 4 << 20));
	}
	pthread_rwlock_unlock(&slot->lock);
}

/* ---- one of everything ------------------------------------------------------------------------
 */

static struct object *make(struct umemcg *group, unsigned int *random)
{
	size_t nr_bytes = any_size(random);
	void *memory;

	switch (rand_r(random) % 4) {
	case 0:
		memory = umemcg_malloc_in(group, nr_bytes);
		break;
	case 1:
		memory = umemcg_calloc(1, nr_bytes);
		for (size_t i = 0; memory && i < nr_bytes; i += 97)
			require(!((char *)memory)[i]);
		break;
	case 2:
		memory = umemcg_aligned_alloc((size_t)16 << rand_r(random) % 9, nr_bytes);
		break;
	default:
		memory = umemcg_malloc(nr_bytes);
		break;
	}
	return memory ? fill(memory, nr_bytes, rand_r(random)) : NULL;
}

static void make_and_share(struct umemcg *group, unsigned int *random)
{
	struct object *object = make(group, random);
	struct object *other;

	if (!object)
		return;
	other = atomic_exchange(&shared[rand_r(random) % NR_SHARED], object);
	if (!other)
		return;
	check(other);
	umemcg_free(other);
}

static void resize(unsigned int *random)
{
	struct object *_Atomic *place = &shared[rand_r(random) % NR_SHARED];
	struct object *object = atomic_exchange(place, NULL), *resized;
	size_t nr_bytes = any_size(random);

	if (!object)
		return;
	check(object);
	resized = umemcg_realloc(object, nr_bytes);
	if (resized) {
		size_t nr_kept = nr_bytes < resized->nr_bytes ? nr_bytes : resized->nr_bytes;

		resized->nr_bytes = nr_kept;
		check(resized);
		object = fill(resized, nr_bytes, resized->mark);
	}
	object = atomic_exchange(place, object);
	umemcg_free(object);
}

static void recharge(struct umemcg *group, unsigned int *random)
{
	struct object *_Atomic *place = &shared[rand_r(random) % NR_SHARED];
	struct object *object = atomic_exchange(place, NULL);
	int r;

	if (!object)
		return;
	r = umemcg_recharge(object, group);
	require(!r || r == -ENOMEM);
	require(r || umemcg_owner(object) == group);
	check(object);
	umemcg_free(atomic_exchange(place, object));
}

static void map_and_unmap(struct umemcg *group, unsigned int *random)
{
	void *address;

	if (umemcg_map(group, 1 + rand_r(random) % 100000, &address))
		return;
	*(char *)address = 1;
	require(!umemcg_unmap(address));
}

static void use_stack(void)
{
	void *stack;

	if (umemcg_stack_alloc(65536, &stack))
		return;
	*(char *)stack = 1;
	umemcg_stack_free(stack);
}

static void charge_explicitly(struct slot *slot, unsigned int *random)
{
	uint64_t nr_bytes = rand_r(random) % 5000, nr_back;

	if (!umemcg_try_charge(slot->group, nr_bytes))
		atomic_fetch_add(&slot->nr_explicit, nr_bytes);
	nr_back = atomic_load(&slot->nr_explicit);
	while (nr_back && !atomic_compare_exchange_weak(&slot->nr_explicit, &nr_back, nr_back / 2))
		;
	umemcg_uncharge(slot->group, nr_back - nr_back / 2);
}

static void look(struct umemcg *group, unsigned int *random)
{
	struct umemcg_failure failure;
	struct umemcg_stat stat;
	char text[UMEMCG_PATH_MAX];
	const char *file = umemcg_control_file(rand_r(random) % 14);
	int r = umemcg_read(group, file, text, rand_r(random) % sizeof(text));

	require(r >= 0);
	require(!umemcg_get_stat(group, &stat));
	require(stat.nr_bytes_current <= (uint64_t)1 << 40);
	(void)umemcg_last_failure(&failure);
	require(umemcg_path(group, text, sizeof(text)) < sizeof(text));
	require(umemcg_parent(group) == top);
}

static void limit(struct umemcg *group, unsigned int *random)
{
	uint64_t max = rand_r(random) % 3 ? rand_r(random) % (8u << 20) : UMEMCG_MAX;
	int r = umemcg_set_max(group, max);

	require(!r || r == -EBUSY);
	require(!umemcg_set_reserve(group, rand_r(random) % 65536));
	r = umemcg_write(group, "memory.max", " 6m ");
	require(!r || r == -EBUSY);
}

/* A group of the thread's own, with one below that leaves its objects to it. */
static void end_a_tenant(struct umemcg *group, unsigned int *random)
{
	struct umemcg *tenant, *below;
	unsigned int nr_left = 0;
	void *address;

	require(!umemcg_create(group, NULL, &tenant));
	require(!umemcg_create(tenant, NULL, &below));
	for (unsigned int i = 0; i < 20; i++) {
		umemcg_free(make(tenant, random));
		nr_left += umemcg_malloc_in(tenant, any_size(random)) != NULL;
		nr_left += umemcg_malloc_in(below, any_size(random)) != NULL;
	}
	nr_left += !umemcg_map(below, 10000, &address);
	require(!umemcg_destroy(below));
	require(!umemcg_free_all(tenant));
	umemcg_drain(tenant);
	require(!nr_left || !umemcg_get_current(tenant));
	require(!umemcg_destroy(tenant));
}

static void use_cache(void)
{
	void *object = umemcg_cache_alloc(cache);

	if (object)
		umemcg_cache_free(cache, object);
}

static void in_reserve(struct umemcg *group, unsigned int *random)
{
	umemcg_reserve_enter();
	umemcg_reserve_enter();
	make_and_share(group, random);
	umemcg_reserve_leave();
	make_and_share(group, random);
	umemcg_reserve_leave();
	umemcg_reserve_leave();
}

static void one_step(struct slot *slot, unsigned int *random)
{
	switch (rand_r(random) % 24) {
	case 0:
		map_and_unmap(slot->group, random);
		break;
	case 1:
		use_stack();
		break;
	case 2:
		charge_explicitly(slot, random);
		break;
	case 3:
		if (rand_r(random) % 8 == 0)
			look(slot->group, random);
		break;
	case 4:
		if (rand_r(random) % 8 == 0)
			limit(slot->group, random);
		break;
	case 5:
		use_cache();
		if (rand_r(random) % 32 == 0)
			end_a_tenant(slot->group, random);
		break;
	case 6:
		in_reserve(slot->group, random);
		break;
	case 7:
		if (rand_r(random) % 16 == 0)
			umemcg_drain(rand_r(random) % 2 ? slot->group : NULL);
		break;
	case 8:
	case 9:
		recharge(slot->group, random);
		break;
	case 10:
	case 11:
	case 12:
		resize(random);
		break;
	default:
		make_and_share(slot->group, random);
		break;
	}
}

/* ---- threads ----------------------------------------------------------------------------------
 */

static _Atomic(uint64_t) nr_steps_left;
static _Atomic unsigned int nr_running;
static pthread_key_t late_key;

/* Runs after the heap's own destructor as well, and allocates there. */
static void late_destructor(void *object)
{
	uintptr_t rounds_left = *(uintptr_t *)object;

	umemcg_free(object);
	if (!rounds_left)
		return;
	object = umemcg_malloc(sizeof(rounds_left));
	if (!object)
		return;
	*(uintptr_t *)object = rounds_left - 1;
	pthread_setspecific(late_key, object);
}

static void leave_something_late(unsigned int *random)
{
	uintptr_t *object = umemcg_malloc(sizeof(*object));

	if (!object)
		return;
	*object = NR_LATE_ROUNDS ? rand_r(random) % (NR_LATE_ROUNDS + 1) : 0;
	pthread_setspecific(late_key, object);
}

static uint64_t take_steps(uint64_t nr)
{
	uint64_t left = atomic_load(&nr_steps_left);

	while (left &&
	       !atomic_compare_exchange_weak(&nr_steps_left, &left, left > nr ? left - nr : 0))
		;
	return left < nr ? left : nr;
}

static void *live(void *arg);

/* A thread in some group, whose slot it holds, so that the group stays until the new one is in. */
static void start_another(unsigned int *random)
{
	pthread_attr_t attr;
	pthread_t other;
	int r;

	atomic_fetch_add(&nr_running, 1);
	require(!pthread_attr_init(&attr));
	require(!pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED));
	require(!pthread_attr_setstacksize(&attr, 1 << 18));
	do {
		void *arg = (void *)(uintptr_t)rand_r(random);

		if (rand_r(random) % 2)
			r = umemcg_thread_create(&other, &attr, live, arg);
		else
			r = -pthread_create(&other, &attr, live, arg);
		require(!r || r == -ENOMEM || r == -EAGAIN);
	} while (r);
	pthread_attr_destroy(&attr);
}

static void *live(void *arg)
{
	unsigned int random = (unsigned int)(uintptr_t)arg ^ seed;
	uint64_t nr_steps = take_steps(200 + rand_r(&random) % 2000);

	umemcg_enter(NULL);
	while (nr_steps) {
		struct slot *slot = any_slot(&random);
		struct umemcg *before;

		if (rand_r(&random) % 64 == 0)
			replace_group(slot, &random);
		if (pthread_rwlock_tryrdlock(&slot->lock))
			continue;
		before = umemcg_enter(slot->group);
		for (unsigned int i = rand_r(&random) % 16; i && nr_steps; i--, nr_steps--)
			one_step(slot, &random);
		umemcg_enter(before);
		pthread_rwlock_unlock(&slot->lock);
	}
	leave_something_late(&random);
	if (rand_r(&random) % 4 == 0)
		umemcg_reserve_enter();
	if (atomic_load(&nr_steps_left))
		start_another(&random);
	atomic_fetch_sub(&nr_running, 1);
	return NULL;
}

static void wait_for_threads(void)
{
	char threads[64];

	while (atomic_load(&nr_running))
		usleep(1000);
	/* Their last destructors, too: nobody is listed any more but perhaps this thread. */
	for (unsigned int i = 0; i < 2000; i++) {
		if (umemcg_read(NULL, "cgroup.threads", threads, sizeof(threads)) < 16)
			break;
		usleep(1000);
	}
	usleep(20000);
}

static void assert_books_balance(void)
{
	struct umemcg_audit audit;
	int r = umemcg_audit(&audit);

	if (r)
		fprintf(stderr, "audit: %d, off by %" PRIu64 " bytes\n", r,
			audit.nr_bytes_difference);
	assert_int_equal(r, 0);
}

static void free_shared(void)
{
	for (unsigned int i = 0; i < NR_SHARED; i++) {
		struct object *object = atomic_exchange(&shared[i], NULL);

		if (object)
			check(object);
		umemcg_free(object);
	}
}

static void everything_at_once_leaves_nothing_behind(void **state)
{
	(void)state;
	give_up_after(120);
	assert_int_equal(umemcg_create(NULL, "torture", &top), 0);
	assert_int_equal(umemcg_cache_create("torture", 72, 0, NULL, &cache), 0);
	assert_int_equal(pthread_key_create(&late_key, late_destructor), 0);
	slots_init();
	for (uint64_t round = 0; round < rounds(2); round++) {
		unsigned int random = seed + (unsigned int)round;

		atomic_store(&nr_steps_left, 60000);
		for (unsigned int i = 0; i < NR_THREADS; i++)
			start_another(&random);
		wait_for_threads();
		assert_books_balance();
	}
	free_shared();
	for (unsigned int i = 0; i < NR_SLOTS; i++) {
		umemcg_uncharge(slots[i].group, atomic_load(&slots[i].nr_explicit));
		umemcg_drain(slots[i].group);
		assert_int_equal(umemcg_get_current(slots[i].group), 0);
		assert_int_equal(umemcg_destroy(slots[i].group), 0);
	}
	umemcg_drain(top);
	assert_int_equal(umemcg_get_current(top), 0);
	assert_int_equal(umemcg_destroy(top), 0);
	assert_int_equal(umemcg_cache_destroy(cache), 0);
	assert_books_balance();
	alarm(0);
}

/* ---- a model of what may be refused ------------------------------------------------------------
 */

/*
 * The model counts what may be charged below the limit: from before a charge is asked for until it
 * was refused or its free has returned. For each thread that asks, it keeps the most that was so at
 * any instant since. If that and the request are not above the limit, no refusal can be right.
 */
static pthread_mutex_t model_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t model_bytes;
static uint64_t most_since[NR_THREADS];
static struct umemcg *limited;
static struct slot children[4];
static _Atomic(uint64_t) nr_refused, nr_false;
static bool many_ask;

#define MODEL_MAX ((uint64_t)3 << 20)

static void model_add(int64_t nr_bytes)
{
	pthread_mutex_lock(&model_lock);
	model_bytes += (uint64_t)nr_bytes;
	for (unsigned int i = 0; i < NR_THREADS; i++)
		most_since[i] = model_bytes > most_since[i] ? model_bytes : most_since[i];
	pthread_mutex_unlock(&model_lock);
}

static void model_begin(unsigned int self, uint64_t nr_bytes)
{
	pthread_mutex_lock(&model_lock);
	model_bytes += nr_bytes;
	for (unsigned int i = 0; i < NR_THREADS; i++)
		most_since[i] = model_bytes > most_since[i] ? model_bytes : most_since[i];
	most_since[self] = model_bytes;
	pthread_mutex_unlock(&model_lock);
}

static void ask(unsigned int self, unsigned int *random)
{
	static const uint32_t sizes[] = { 48, 48, 512, 4096, 40960, 131072 };
	uint64_t nr_bytes = sizes[rand_r(random) % 6], most;
	struct slot *slot = &children[rand_r(random) % 4];
	void *object, *other;

	pthread_rwlock_rdlock(&slot->lock);
	model_begin(self, nr_bytes);
	object = umemcg_malloc_in(slot->group, nr_bytes);
	pthread_mutex_lock(&model_lock);
	most = most_since[self];
	pthread_mutex_unlock(&model_lock);
	pthread_rwlock_unlock(&slot->lock);
	if (!object) {
		model_add(-(int64_t)nr_bytes);
		atomic_fetch_add(&nr_refused, 1);
		/* What the thread itself asks for is in there once. */
		if (most <= MODEL_MAX)
			atomic_fetch_add(&nr_false, 1);
		return;
	}
	require(umemcg_usable_size(object) == nr_bytes);
	other = atomic_exchange(&shared[rand_r(random) % NR_SHARED], object);
	if (!other)
		return;
	nr_bytes = umemcg_usable_size(other);
	umemcg_free(other);
	model_add(-(int64_t)nr_bytes);
}

static void give_back(unsigned int *random)
{
	void *object = atomic_exchange(&shared[rand_r(random) % NR_SHARED], NULL);
	uint64_t nr_bytes = umemcg_usable_size(object);

	umemcg_free(object);
	if (object)
		model_add(-(int64_t)nr_bytes);
}

static void replace_child(unsigned int *random)
{
	struct slot *slot = &children[rand_r(random) % 4];

	pthread_rwlock_wrlock(&slot->lock);
	if (!umemcg_destroy(slot->group))
		require(!umemcg_create(limited, NULL, &slot->group));
	pthread_rwlock_unlock(&slot->lock);
}

static void *ask_and_give_back(void *arg)
{
	unsigned int self = (unsigned int)(uintptr_t)arg, random = seed + self;

	for (uint64_t i = 0; i < rounds(2000); i++) {
		if (many_ask || self == 0)
			ask(self, &random);
		if (rand_r(&random) % 3 || (!many_ask && self))
			give_back(&random);
		if (rand_r(&random) % 64 == 0)
			replace_child(&random);
		if (rand_r(&random) % 256 == 0)
			umemcg_drain(limited);
	}
	return NULL;
}

static void never_refused_while_it_fits(bool many)
{
	pthread_t threads[NR_THREADS];

	give_up_after(120);
	many_ask = many;
	model_bytes = 0;
	atomic_store(&nr_refused, 0);
	assert_int_equal(umemcg_create(NULL, NULL, &limited), 0);
	assert_int_equal(umemcg_set_max(limited, MODEL_MAX), 0);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(pthread_rwlock_init(&children[i].lock, NULL), 0);
		assert_int_equal(umemcg_create(limited, NULL, &children[i].group), 0);
	}
	for (unsigned int i = 0; i < NR_THREADS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, ask_and_give_back, (void *)(uintptr_t)i),
			0);
	for (unsigned int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	fprintf(stderr, "%" PRIu64 " refusals\n", atomic_load(&nr_refused));
	assert_int_equal(atomic_load(&nr_false), 0);
	for (unsigned int i = 0; i < NR_SHARED; i++)
		umemcg_free(atomic_exchange(&shared[i], NULL));
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(umemcg_destroy(children[i].group), 0);
	umemcg_drain(limited);
	assert_int_equal(umemcg_get_current(limited), 0);
	assert_int_equal(umemcg_destroy(limited), 0);
	alarm(0);
}

static void never_refused_while_it_fits_when_all_ask(void **state)
{
	(void)state;
	never_refused_while_it_fits(true);
}

/* The sharpest form: nothing but frees, and groups that go, beside the one that asks. */
static void never_refused_while_it_fits_when_one_asks(void **state)
{
	(void)state;
	never_refused_while_it_fits(false);
}

/* ---- walking, cancelling, forking beside it all ------------------------------------------------
 */

static _Atomic bool stop;
static struct umemcg *other_top;

static void *come_and_go(void *arg)
{
	unsigned int random = (unsigned int)(uintptr_t)arg + seed;

	while (!atomic_load(&stop)) {
		struct umemcg *groups[8];

		for (unsigned int i = 0; i < 8; i++)
			require(!umemcg_create(rand_r(&random) % 2 ? top : other_top, NULL,
					       &groups[i]));
		for (unsigned int i = 0; i < 8; i++)
			require(!umemcg_destroy(groups[i]));
	}
	return NULL;
}

static int count_visit(struct umemcg *group, void *arg)
{
	(void)group;
	++*(uint64_t *)arg;
	return 0;
}

static void a_walk_survives_groups_that_go(void **state)
{
	pthread_t threads[3];
	uint64_t nr_visits = 0, nr_walks = rounds(4000);

	(void)state;
	give_up_after(60);
	atomic_store(&stop, false);
	assert_int_equal(umemcg_create(NULL, NULL, &top), 0);
	assert_int_equal(umemcg_create(NULL, NULL, &other_top), 0);
	for (uintptr_t i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, (void *)i), 0);
	for (uint64_t i = 0; i < nr_walks; i++)
		assert_int_equal(umemcg_walk(top, count_visit, &nr_visits), 0);
	assert_true(nr_visits >= nr_walks);
	atomic_store(&stop, true);
	for (unsigned int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(umemcg_destroy(top), 0);
	assert_int_equal(umemcg_destroy(other_top), 0);
	alarm(0);
}

/* Set while the thread is in a call of the library, where no cancellation may take place. */
static _Thread_local volatile bool in_library;
static _Atomic unsigned int nr_cancelled_inside;

static void note_cancellation(void *object)
{
	if (in_library)
		atomic_fetch_add(&nr_cancelled_inside, 1);
	umemcg_free(*(void **)object);
}

static void *be_cancelled(void *arg)
{
	void *volatile object = NULL;

	pthread_cleanup_push(note_cancellation, (void *)&object);
	umemcg_enter(arg);
	for (;;) {
		in_library = true;
		umemcg_free(object);
		object = umemcg_malloc(100000);
		umemcg_drain(arg);
		(void)umemcg_set_max(arg, 2 << 20);
		in_library = false;
		pthread_testcancel();
	}
	pthread_cleanup_pop(1);
	return NULL;
}

static void *charge_and_free(void *arg)
{
	umemcg_enter(arg);
	while (!atomic_load(&stop))
		umemcg_free(umemcg_malloc(200000));
	return NULL;
}

static void pause_in_flight(int signal)
{
	struct timespec time = { .tv_nsec = 20000000 };

	(void)signal;
	nanosleep(&time, NULL);
}

/* A signal holds one thread up in the middle of a charge; the ones that wait are cancelled. */
static void no_call_is_a_cancellation_point(void **state)
{
	struct sigaction action = { .sa_handler = pause_in_flight };
	pthread_t charging, cancelled[4];
	struct umemcg *group;

	(void)state;
	give_up_after(60);
	atomic_store(&stop, false);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	assert_int_equal(umemcg_create(NULL, NULL, &group), 0);
	assert_int_equal(umemcg_set_max(group, 2 << 20), 0);
	assert_int_equal(pthread_create(&charging, NULL, charge_and_free, group), 0);
	for (uint64_t i = 0; i < rounds(20); i++) {
		for (unsigned int k = 0; k < 4; k++)
			assert_int_equal(pthread_create(&cancelled[k], NULL, be_cancelled, group),
					 0);
		usleep(2000);
		pthread_kill(charging, SIGUSR1);
		usleep(5000);
		for (unsigned int k = 0; k < 4; k++)
			pthread_cancel(cancelled[k]);
		for (unsigned int k = 0; k < 4; k++)
			pthread_join(cancelled[k], NULL);
	}
	atomic_store(&stop, true);
	pthread_join(charging, NULL);
	assert_int_equal(atomic_load(&nr_cancelled_inside), 0);
	umemcg_drain(group);
	assert_int_equal(umemcg_get_current(group), 0);
	assert_int_equal(umemcg_destroy(group), 0);
	alarm(0);
}

/*
 * To start a thread, AddressSanitizer allocates, and it does not hold its own allocator over a
 * fork: if a thread is starting then, the child's search for leaks may wait for ever for the lock
 * that one had. So under it the first fork waits until all have started; without it, none does.
 */
static pthread_barrier_t started;

static void *allocate_at_random(void *arg)
{
	unsigned int random = seed + (unsigned int)(uintptr_t)pthread_self();
	struct object *objects[64] = { NULL };

	if (UNDER_ASAN)
		pthread_barrier_wait(&started);
	umemcg_enter(arg);
	while (!atomic_load(&stop)) {
		unsigned int i = rand_r(&random) % 64;

		if (objects[i])
			check(objects[i]);
		umemcg_free(objects[i]);
		objects[i] = make(arg, &random);
	}
	for (unsigned int i = 0; i < 64; i++)
		umemcg_free(objects[i]);
	return NULL;
}

/*
 * What threads that a fork child has lost may leave wrong in its books: each was perhaps between an
 * object and its charge.
 */
static bool is_within_what_was_lost(const struct umemcg_audit *audit)
{
	return audit->nr_bytes_difference <= NR_LOST * LARGEST_LOST;
}

/* In the child: allocate, make a thread, fork again, and look at the books. */
static int be_a_child(struct umemcg *group, unsigned int depth)
{
	unsigned int random = seed + depth;
	struct umemcg_audit audit, later;
	struct umemcg *own;
	int status = 0;
	pid_t child;

	give_up_after(30);
	umemcg_audit(&audit);
	if (!is_within_what_was_lost(&audit))
		return 10;
	for (unsigned int i = 0; i < 300; i++)
		umemcg_free(make(group, &random));
	atomic_store(&stop, true);
	if (umemcg_create(group, NULL, &own) || !umemcg_malloc_in(own, 100))
		return 11;
	if (umemcg_free_all(own) || umemcg_destroy(own))
		return 12;
	if (depth) {
		child = fork();
		if (!child)
			_exit(be_a_child(group, depth - 1));
		if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
			return 13;
	}
	if (WEXITSTATUS(status))
		return WEXITSTATUS(status);
	/* Whatever the child and its own children did adds nothing to that. */
	umemcg_audit(&later);
	return later.nr_bytes_difference == audit.nr_bytes_difference ? 0 : 14;
}

static void a_child_finds_its_books_in_order(void **state)
{
	struct umemcg *group;
	pthread_t threads[NR_LOST];

	(void)state;
	give_up_after(120);
	atomic_store(&stop, false);
	pthread_barrier_init(&started, NULL, NR_LOST + 1);
	assert_int_equal(umemcg_create(NULL, NULL, &group), 0);
	assert_int_equal(umemcg_set_max(group, 64 << 20), 0);
	for (unsigned int i = 0; i < NR_LOST; i++) {
		int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
			i % 2 ? umemcg_thread_create : pthread_create;

		assert_int_equal(create(&threads[i], NULL, allocate_at_random, group), 0);
	}
	if (UNDER_ASAN)
		pthread_barrier_wait(&started);
	for (uint64_t i = 0; i < rounds(4); i++) {
		int status;
		pid_t child;

		fflush(NULL);
		child = fork();
		if (!child) {
			int r = be_a_child(group, 1);

			if (i % 2)
				_exit(r);
			exit(r);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
	atomic_store(&stop, true);
	for (unsigned int i = 0; i < NR_LOST; i++)
		pthread_join(threads[i], NULL);
	umemcg_drain(group);
	assert_int_equal(umemcg_get_current(group), 0);
	assert_int_equal(umemcg_destroy(group), 0);
	alarm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(never_refused_while_it_fits_when_all_ask),
		cmocka_unit_test(never_refused_while_it_fits_when_one_asks),
		cmocka_unit_test(everything_at_once_leaves_nothing_behind),
		cmocka_unit_test(no_call_is_a_cancellation_point),
		cmocka_unit_test(a_child_finds_its_books_in_order),
		cmocka_unit_test(a_walk_survives_groups_that_go),
	};

	return cmocka_run_group_tests(tests, choose_seed, NULL);
}
