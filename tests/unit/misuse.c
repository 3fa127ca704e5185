/* SPDX-License-Identifier: MIT */
/*
 * Calls that no right program makes, and programs that leave the library little to live on: what
 * they get is an error, never a crash, and the books stay right.
 *
 * Each case runs in a child of its own, for which the library is as new.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "umemcg.h"

#define SKIPPED 77

/* In the child. */
#define require(condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static void run_in_child(void (*body)(void))
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		/* cmocka would go on with its tests, here. */
		for (int i = 1; i < NSIG; i++)
			signal(i, SIG_DFL);
		alarm(60);
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status))
		fail_msg("ended by signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status) == SKIPPED)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static struct umemcg *group_below(struct umemcg *parent)
{
	struct umemcg *group;

	require(!umemcg_create(parent, NULL, &group));
	return group;
}

static uint64_t committed(struct umemcg *group)
{
	umemcg_drain(group);
	return umemcg_get_current(group);
}

static void require_balance(void)
{
	struct umemcg_audit audit;

	require(!umemcg_audit(&audit));
}

/* ---- the first call of all ----------------------------------------------------------------------
 */

/* Not of this heap. */
static char foreign[16];

static void first_free(void)
{
	umemcg_free(foreign);
}

static void first_usable_size(void)
{
	require(umemcg_usable_size(foreign) == 0);
}

static void first_realloc(void)
{
	require(!umemcg_realloc(foreign, 100));
}

static void first_owner(void)
{
	require(umemcg_owner(foreign) == umemcg_root());
}

static void first_recharge(void)
{
	require(umemcg_recharge(foreign, NULL) == -EINVAL);
}

static void first_stack_free(void)
{
	umemcg_stack_free(foreign);
}

static void first_unmap(void)
{
	require(umemcg_unmap(foreign) == -EINVAL);
}

static void a_foreign_pointer_in_the_first_call_is_survived(void **state)
{
	(void)state;
	/* A hardened build ends such a program. */
	if (CONFIG_HARDENED)
		skip();
	run_in_child(first_free);
	run_in_child(first_usable_size);
	run_in_child(first_realloc);
	run_in_child(first_owner);
	run_in_child(first_recharge);
	run_in_child(first_stack_free);
	run_in_child(first_unmap);
}

/* ---- pointers -----------------------------------------------------------------------------------
 */

static void free_wild_pointers(void)
{
	char *large = umemcg_malloc(1 << 20), *small = umemcg_malloc(64), local[16];
	void *stack, *region;

	umemcg_free(large + 100);
	umemcg_free(large + 65536);
	umemcg_free(large + (1 << 20) - 1);
	umemcg_free(local);
	umemcg_free((void *)8);
	umemcg_free((void *)UINTPTR_MAX);
	umemcg_free(large);
	umemcg_free(large);
	umemcg_free(small);
	require(!umemcg_realloc(local, 100));
	require(!umemcg_stack_alloc(65536, &stack));
	require(umemcg_unmap(stack) == -EINVAL);
	umemcg_free(stack);
	umemcg_stack_free((char *)stack + 4096);
	umemcg_stack_free(stack);
	umemcg_stack_free(stack);
	require(!umemcg_map(NULL, 10000, &region));
	umemcg_stack_free(region);
	require(umemcg_unmap((char *)region + 4096) == -EINVAL);
	require(!umemcg_unmap(region));
	require(umemcg_unmap(region) == -EINVAL);
	require_balance();
}

static void wild_pointers_are_survived(void **state)
{
	(void)state;
	/* A hardened build ends such a program. */
	if (CONFIG_HARDENED)
		skip();
	run_in_child(free_wild_pointers);
}

static void resize_what_is_gone(void)
{
	struct umemcg *group = group_below(NULL);
	char *large;

	umemcg_enter(group);
	large = umemcg_malloc(1 << 20);
	umemcg_free(large);
	require(!umemcg_realloc(large, 100));
	require(!umemcg_usable_size(large));
	/* A part of the heap's address space that was never used. */
	require(!umemcg_realloc(large + ((uintptr_t)4 << 30), 100000));
	umemcg_enter(NULL);
	require(!committed(group));
}

static void a_large_object_that_is_gone_is_not_resized(void **state)
{
	(void)state;
	/* A hardened build ends such a program. */
	if (CONFIG_HARDENED)
		skip();
	run_in_child(resize_what_is_gone);
}

/* ---- NULL and groups that are none
 * ----------------------------------------------------------------- */

static void pass_null(void)
{
	struct umemcg_cache *cache;

	require(umemcg_create(NULL, NULL, NULL) == -EINVAL);
	require(!umemcg_destroy(NULL));
	require(umemcg_free_all(NULL) == -EINVAL);
	require(umemcg_lookup(NULL, NULL) == -EINVAL);
	require(!umemcg_parent(NULL));
	require(umemcg_name(NULL, NULL, 0) == 0);
	require(umemcg_path(NULL, NULL, 0) == 1);
	require(umemcg_walk(NULL, NULL, NULL) == -EINVAL);
	umemcg_free(NULL);
	require(!umemcg_usable_size(NULL));
	require(umemcg_recharge(NULL, NULL) == -EINVAL);
	require(umemcg_cache_create("name", 10, 0, NULL, NULL) == -EINVAL);
	require(umemcg_cache_create(NULL, 10, 0, NULL, &cache) == -EINVAL);
	require(umemcg_cache_create("name", 0, 0, NULL, &cache) == -EINVAL);
	require(umemcg_cache_create("name", 10, 3, NULL, &cache) == -EINVAL);
	require(!umemcg_cache_destroy(NULL));
	require(umemcg_stack_alloc(65536, NULL) == -EINVAL);
	umemcg_stack_free(NULL);
	require(umemcg_thread_create(NULL, NULL, NULL, NULL) == -EINVAL);
	require(umemcg_map(NULL, 4096, NULL) == -EINVAL);
	require(umemcg_unmap(NULL) == -EINVAL);
	require(!umemcg_try_charge(NULL, 0));
	umemcg_uncharge(NULL, 0);
	require(umemcg_set_max(NULL, 1) == -EINVAL);
	require(umemcg_set_reserve(NULL, 1) == -EINVAL);
	require(umemcg_get_stat(NULL, NULL) == -EINVAL);
	require(umemcg_read(NULL, NULL, NULL, 0) == -EINVAL);
	require(umemcg_read(NULL, "memory.max", NULL, 1) == -EINVAL);
	require(umemcg_read(NULL, "memory.max", NULL, 0) == 4);
	require(umemcg_write(NULL, "memory.max", NULL) == -EINVAL);
	require(umemcg_last_failure(NULL) == -EINVAL);
	require(umemcg_audit(NULL) == -EINVAL);
	umemcg_reserve_leave();
	umemcg_drain(NULL);
	require_balance();
}

static void null_is_answered(void **state)
{
	(void)state;
	/* A hardened build ends such a program. */
	if (CONFIG_HARDENED)
		skip();
	run_in_child(pass_null);
}

static int visit(struct umemcg *group, void *arg)
{
	(void)group;
	(void)arg;
	return 0;
}

static void use_in_every_call(struct umemcg *group)
{
	struct umemcg_stat stat;
	struct umemcg *below;
	void *region, *object;
	char text[100];

	require(umemcg_create(group, "a", &below) == -EINVAL);
	require(umemcg_destroy(group) == -EINVAL);
	require(umemcg_free_all(group) == -EINVAL);
	require(!umemcg_parent(group));
	umemcg_name(group, text, sizeof(text));
	umemcg_path(group, text, sizeof(text));
	require(umemcg_walk(group, visit, NULL) == -EINVAL);
	require(umemcg_set_max(group, 1) == -EINVAL);
	require(umemcg_set_reserve(group, 1) == -EINVAL);
	umemcg_get_current(group);
	umemcg_get_peak(group);
	umemcg_get_max(group);
	umemcg_get_reserve(group);
	require(umemcg_get_stat(group, &stat) == -EINVAL);
	require(umemcg_read(group, "memory.max", text, sizeof(text)) == -EINVAL);
	require(umemcg_write(group, "memory.max", "1") == -EINVAL);
	umemcg_drain(group);
	require(umemcg_map(group, 4096, &region) == -EINVAL);
	object = umemcg_malloc_in(group, 100);
	require(object && umemcg_owner(object) == umemcg_root());
	umemcg_free(object);
	umemcg_enter(group);
	object = umemcg_malloc(100);
	require(object && umemcg_owner(object) == umemcg_root());
	umemcg_free(object);
	require(umemcg_read(NULL, "cgroup.events", text, sizeof(text)) > 0);
	require(umemcg_read(NULL, "cgroup.threads", text, sizeof(text)) >= 0);
	require(umemcg_read(NULL, "cgroup.procs", text, sizeof(text)) >= 0);
	if (!umemcg_stack_alloc(65536, &region))
		umemcg_stack_free(region);
	umemcg_enter(NULL);
}

static void use_destroyed_group(void)
{
	struct umemcg *group = group_below(NULL);
	void *object = umemcg_malloc_in(group, 100);

	require(!umemcg_set_max(group, 1 << 20));
	require(!umemcg_destroy(group));
	use_in_every_call(group);
	require(umemcg_owner(object) == umemcg_root());
	umemcg_free(object);
	require_balance();
}

static void use_no_group(void)
{
	static uint64_t zeros[32];

	umemcg_free(umemcg_malloc(1));
	use_in_every_call((struct umemcg *)zeros);
	use_in_every_call((struct umemcg *)1);
	use_in_every_call((struct umemcg *)((char *)umemcg_root() + 8));
	use_in_every_call((struct umemcg *)((char *)umemcg_root() + (1 << 20)));
	require_balance();
}

static void what_is_no_group_is_answered(void **state)
{
	(void)state;
	run_in_child(use_destroyed_group);
	run_in_child(use_no_group);
}

/* ---- sizes --------------------------------------------------------------------------------------
 */

static void align_at_every_size(size_t alignment)
{
	static const size_t sizes[] = {
		0,        1,     16,      17,        1024,      4096,        65535,
		65536,    65537, 1 << 20, 1ul << 39, 1ul << 41, PTRDIFF_MAX, SIZE_MAX - 4095,
		SIZE_MAX,
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *object;

		errno = 0;
		object = umemcg_aligned_alloc(alignment, sizes[i]);
		if (!alignment || alignment & (alignment - 1)) {
			require(!object && errno == EINVAL);
			continue;
		}
		if (!object) {
			require(errno == ENOMEM);
			continue;
		}
		require(!((uintptr_t)object & (alignment - 1)));
		require(umemcg_usable_size(object) >= sizes[i]);
		umemcg_free(object);
	}
}

static void ask_for_every_size(void)
{
	struct umemcg *group = group_below(NULL);
	void *object;
	uint64_t peak;

	umemcg_enter(group);
	object = umemcg_malloc(10);
	peak = umemcg_get_peak(group);
	require(!umemcg_malloc(SIZE_MAX) && errno == ENOMEM);
	require(!umemcg_malloc((size_t)PTRDIFF_MAX + 1));
	require(!umemcg_malloc((size_t)1 << 62));
	require(!umemcg_calloc(SIZE_MAX, 2) && errno == ENOMEM);
	require(!umemcg_calloc((size_t)1 << 33, (size_t)1 << 31));
	require(!umemcg_realloc(object, SIZE_MAX) && errno == ENOMEM);
	require(!umemcg_realloc(object, (size_t)1 << 62));
	/* What failed was never charged. */
	require(umemcg_get_peak(group) < peak + (1 << 20));
	umemcg_free(object);
	for (unsigned int shift = 0; shift < 64; shift++)
		align_at_every_size((size_t)1 << shift);
	align_at_every_size(0);
	align_at_every_size(3);
	align_at_every_size(48);
	umemcg_enter(NULL);
	require(!committed(group));
	require_balance();
}

static void every_size_is_answered(void **state)
{
	(void)state;
	run_in_child(ask_for_every_size);
}

/* ---- what surrounds the library
 * ------------------------------------------------------------------ */

static void use_up_keys(void)
{
	void *mark = (void *)0x1234;
	pthread_key_t keys[2048];
	unsigned int nr = 0;

	while (nr < 2048 && !pthread_key_create(&keys[nr], NULL))
		pthread_setspecific(keys[nr++], mark);
	umemcg_free(umemcg_malloc(100));
	require(umemcg_unmap(mark) == -EINVAL);
	for (unsigned int i = 0; i < nr; i++)
		require(pthread_getspecific(keys[i]) == mark);
	if (!fork())
		_exit(0);
	wait(NULL);
}

static void a_program_without_keys_keeps_its_own(void **state)
{
	(void)state;
	run_in_child(use_up_keys);
}

static pthread_key_t key;

static void allocate_again(void *object)
{
	umemcg_free(object);
	pthread_setspecific(key, umemcg_malloc(100));
}

static void *set_key(void *group)
{
	umemcg_enter(group);
	pthread_setspecific(key, umemcg_malloc(100));
	return NULL;
}

/* Stacks too large for libc to keep: what lay on them is unmapped when the thread is gone. */
static void allocate_in_every_destructor(void)
{
	struct umemcg *group = group_below(NULL);
	char text[100];
	pthread_attr_t attr;

	require(!pthread_key_create(&key, allocate_again));
	require(!pthread_attr_init(&attr));
	require(!pthread_attr_setstacksize(&attr, 64 << 20));
	for (unsigned int i = 0; i < 16; i++) {
		pthread_t thread;

		require(!pthread_create(&thread, &attr, set_key, group));
		require(!pthread_join(thread, NULL));
		require(!umemcg_destroy(group_below(NULL)));
	}
	require(umemcg_read(group, "cgroup.threads", text, sizeof(text)) == 0);
	require(!umemcg_destroy(group));
	require_balance();
}

static void destructors_may_allocate_to_the_end(void **state)
{
	(void)state;
	run_in_child(allocate_in_every_destructor);
}

static void *allocate(void *arg)
{
	umemcg_free(umemcg_malloc(1000));
	return arg;
}

static void live_on(size_t nr_bytes)
{
	struct rlimit limit = { .rlim_cur = nr_bytes, .rlim_max = nr_bytes };
	struct umemcg *group;
	pthread_t thread;
	void *region;

	require(!setrlimit(RLIMIT_AS, &limit));
	require(umemcg_malloc(100));
	require(umemcg_malloc(1 << 20));
	require(!umemcg_create(NULL, "small", &group));
	require(!umemcg_set_max(group, 1 << 20));
	require(umemcg_malloc_in(group, 1000));
	require(!pthread_create(&thread, NULL, allocate, NULL));
	require(!pthread_join(thread, NULL));
	/* Half of it stays the program's. */
	region = mmap(NULL, nr_bytes / 2, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	require(region != MAP_FAILED);
	munmap(region, nr_bytes / 2);
	if (!fork())
		_exit(umemcg_malloc(10) ? 0 : 1);
	require_balance();
}

static void live_on_256_mib(void)
{
	live_on((size_t)256 << 20);
}

static void live_on_1_gib(void)
{
	live_on((size_t)1 << 30);
}

static void live_on_16_gib(void)
{
	live_on((size_t)16 << 30);
}

static bool is_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
	return true;
#endif
#endif
	return false;
}

static void little_address_space_is_enough(void **state)
{
	(void)state;
	if (is_sanitized())
		skip();
	run_in_child(live_on_256_mib);
	run_in_child(live_on_1_gib);
	run_in_child(live_on_16_gib);
}

/* The limit is below what is mapped already, so that nothing can be mapped or moved any more. */
static void resize_without_address_space(void)
{
	struct rlimit limit = { .rlim_cur = 1 << 20, .rlim_max = RLIM_INFINITY };
	char *object = umemcg_malloc(1 << 20), *other = umemcg_malloc(1 << 20);

	memset(object, 1, 1 << 20);
	memset(other, 2, 1 << 20);
	require(!setrlimit(RLIMIT_AS, &limit));
	object = umemcg_realloc(object, 3 << 20);
	if (object)
		memset(object + (1 << 20), 3, 2 << 20);
	for (unsigned int i = 0; i < 10; i++) {
		char *another = umemcg_malloc(3 << 20);

		if (another)
			memset(another, 4, 3 << 20);
	}
	require(!object || (object[0] == 1 && object[(3 << 20) - 1] == 3));
	require(other[0] == 2 && other[(1 << 20) - 1] == 2);
}

static void an_object_that_cannot_move_is_copied(void **state)
{
	(void)state;
	if (is_sanitized())
		skip();
	run_in_child(resize_without_address_space);
}

/* Locked memory cannot be given back, so it is not zero when it is used again. */
static void allocate_zeros_in_locked_memory(void)
{
	enum { NR = 100, NR_BYTES = 1 << 20 };
	static char *objects[NR];

	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		_exit(SKIPPED);
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < NR; i++) {
			objects[i] = umemcg_calloc(1, NR_BYTES);
			if (!objects[i])
				_exit(SKIPPED);
			for (size_t at = 0; at < NR_BYTES; at += 512)
				require(!objects[i][at]);
			memset(objects[i], 0x55, NR_BYTES);
		}
		for (unsigned int i = 0; i < NR; i++)
			umemcg_free(objects[i]);
	}
}

static void locked_memory_is_zeroed(void **state)
{
	(void)state;
	if (is_sanitized())
		skip();
	run_in_child(allocate_zeros_in_locked_memory);
}

/* ---- groups that go while something is on its way into them
 * -------------------------------------- */

static pthread_barrier_t barrier;

static void *wait_and_tell_group(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&barrier);
	return umemcg_current();
}

/* The new thread may not have run at all yet, and has not ended. */
static void destroy_under_a_new_thread(void)
{
	require(!pthread_barrier_init(&barrier, NULL, 2));
	for (unsigned int i = 0; i < 200; i++) {
		struct umemcg *group = group_below(NULL);
		pthread_t thread;
		void *in;

		umemcg_enter(group);
		require(!umemcg_thread_create(&thread, NULL, wait_and_tell_group, NULL));
		umemcg_enter(NULL);
		require(umemcg_destroy(group) == -EBUSY);
		pthread_barrier_wait(&barrier);
		require(!pthread_join(thread, &in));
		require(in == group);
		require(!umemcg_destroy(group));
	}
}

static void *enter_and_wait(void *group)
{
	umemcg_enter(group);
	/* A thread is noticed once it has allocated. */
	umemcg_free(umemcg_malloc(64));
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return umemcg_malloc(64);
}

static void destroy_under_an_idle_thread(void)
{
	struct umemcg *group = group_below(NULL);
	pthread_t thread;

	require(!pthread_barrier_init(&barrier, NULL, 2));
	require(!pthread_create(&thread, NULL, enter_and_wait, group));
	pthread_barrier_wait(&barrier);
	require(umemcg_destroy(group) == -EBUSY);
	pthread_barrier_wait(&barrier);
	require(!pthread_join(thread, NULL));
	require(!umemcg_destroy(group));
	require_balance();
}

static void a_group_with_a_thread_in_it_stays(void **state)
{
	(void)state;
	run_in_child(destroy_under_a_new_thread);
	run_in_child(destroy_under_an_idle_thread);
}

static void end_an_heir(void)
{
	struct umemcg *heir = group_below(NULL), *below = group_below(heir);
	struct umemcg_cache *cache;
	void *region;

	require(!umemcg_cache_create("cache", 40, 0, NULL, &cache));
	for (unsigned int i = 0; i < 1000; i++)
		require(umemcg_malloc_in(below, 100));
	require(umemcg_malloc_in(below, 200000));
	require(!umemcg_map(below, 8192, &region));
	umemcg_enter(below);
	require(umemcg_cache_alloc(cache));
	umemcg_enter(NULL);
	require(!umemcg_destroy(below));
	require(committed(heir) > 300000);
	require(!umemcg_free_all(heir));
	require(!committed(heir));
	require(!umemcg_cache_destroy(cache));
	require_balance();
}

static void free_all_frees_what_was_inherited(void **state)
{
	(void)state;
	run_in_child(end_an_heir);
}

static void recharge_below_a_full_group(void)
{
	struct umemcg *full = group_below(NULL);
	struct umemcg *from = group_below(full), *to = group_below(full);
	void *object;

	require(!umemcg_set_max(full, 64 * 4096));
	object = umemcg_malloc_in(from, 64 * 4096 - 100);
	require(object);
	/* Nothing changes at the group that is full. */
	require(!umemcg_recharge(object, to));
	require(umemcg_owner(object) == to && !committed(from));
	umemcg_free(object);
	require(!committed(full));
}

static void recharging_needs_no_room_above(void **state)
{
	(void)state;
	run_in_child(recharge_below_a_full_group);
}

static void nest_long_names(void)
{
	char name[UMEMCG_NAME_MAX + 1], path[UMEMCG_PATH_MAX];
	struct umemcg *group = NULL, *found;
	int r;

	memset(name, 'x', UMEMCG_NAME_MAX);
	name[UMEMCG_NAME_MAX] = '\0';
	while (!(r = umemcg_create(group, name, &group)))
		require(umemcg_path(group, path, sizeof(path)) < sizeof(path));
	require(r == -ENAMETOOLONG);
	require(!umemcg_lookup(path, &found) && found == group);
}

static void every_path_has_room(void **state)
{
	(void)state;
	run_in_child(nest_long_names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_foreign_pointer_in_the_first_call_is_survived),
		cmocka_unit_test(wild_pointers_are_survived),
		cmocka_unit_test(a_large_object_that_is_gone_is_not_resized),
		cmocka_unit_test(null_is_answered),
		cmocka_unit_test(what_is_no_group_is_answered),
		cmocka_unit_test(every_size_is_answered),
		cmocka_unit_test(a_program_without_keys_keeps_its_own),
		cmocka_unit_test(destructors_may_allocate_to_the_end),
		cmocka_unit_test(little_address_space_is_enough),
		cmocka_unit_test(an_object_that_cannot_move_is_copied),
		cmocka_unit_test(locked_memory_is_zeroed),
		cmocka_unit_test(a_group_with_a_thread_in_it_stays),
		cmocka_unit_test(free_all_frees_what_was_inherited),
		cmocka_unit_test(recharging_needs_no_room_above),
		cmocka_unit_test(every_path_has_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
