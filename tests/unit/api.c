/* SPDX-License-Identifier: MIT */
/*
 * The public calls: what they check, and what they do where nothing is counted. The program runs
 * itself once more with the switch the other way; without the controller, it is off anyway.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "umemcg.h"

#define MIB ((uint64_t)1 << 20)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

static int count_groups(struct umemcg *group, void *arg)
{
	(void)group;
	++*(unsigned int *)arg;
	return 0;
}

static int stop_at_once(struct umemcg *group, void *arg)
{
	(void)group;
	++*(unsigned int *)arg;
	return 42;
}

/* ---- where accounting is on ---- */

static void names_that_no_directory_could_have_are_refused(void **state)
{
	char long_name[UMEMCG_NAME_MAX + 2];
	static const char *const names[] = { "", ".", "..", "a/b", "/", "a\nb", "\x7f", "\x1f" };
	struct umemcg *group = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(umemcg_create(NULL, names[i], &group), -EINVAL);
	memset(long_name, 'n', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	assert_int_equal(umemcg_create(NULL, long_name, &group), -ENAMETOOLONG);
	assert_null(group);
	long_name[UMEMCG_NAME_MAX] = '\0';
	assert_int_equal(umemcg_create(NULL, long_name, &group), 0);
	assert_int_equal(umemcg_destroy(group), 0);
}

static void a_group_is_found_by_the_path_it_tells(void **state)
{
	struct umemcg *outer, *inner, *twin = NULL, *found = NULL;
	char path[64], name[4];

	(void)state;
	assert_int_equal(umemcg_create(NULL, "outer one", &outer), 0);
	assert_int_equal(umemcg_create(outer, "inner", &inner), 0);
	assert_int_equal(umemcg_create(outer, "inner", &twin), -EEXIST);
	assert_null(twin);
	assert_int_equal(umemcg_path(inner, path, sizeof(path)), strlen("/outer one/inner"));
	assert_string_equal(path, "/outer one/inner");
	assert_int_equal(umemcg_name(inner, name, sizeof(name)), strlen("inner"));
	assert_string_equal(name, "inn");
	assert_int_equal(umemcg_lookup(path, &found), 0);
	assert_ptr_equal(found, inner);
	assert_int_equal(umemcg_lookup("outer one", &found), 0);
	assert_ptr_equal(found, outer);
	assert_int_equal(umemcg_lookup("/", &found), 0);
	assert_ptr_equal(found, umemcg_root());
	assert_int_equal(umemcg_lookup("", &found), -EINVAL);
	assert_int_equal(umemcg_lookup("//outer one", &found), -EINVAL);
	assert_int_equal(umemcg_lookup("/nobody", &found), -ENOENT);
	assert_ptr_equal(found, umemcg_root());
	assert_ptr_equal(umemcg_parent(inner), outer);
	assert_null(umemcg_parent(umemcg_root()));
	assert_int_equal(umemcg_destroy(outer), -EBUSY);
	assert_int_equal(umemcg_destroy(inner), 0);
	assert_int_equal(umemcg_destroy(outer), 0);
}

static void a_walk_sees_all_and_can_be_stopped(void **state)
{
	struct umemcg *top, *below[3];
	unsigned int nr = 0;

	(void)state;
	assert_int_equal(umemcg_create(NULL, NULL, &top), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(umemcg_create(i ? below[i - 1] : top, NULL, &below[i]), 0);
	assert_int_equal(umemcg_walk(top, count_groups, &nr), 0);
	assert_int_equal(nr, 4);
	nr = 0;
	assert_int_equal(umemcg_walk(NULL, stop_at_once, &nr), 42);
	assert_int_equal(nr, 1);
	for (int i = 2; i >= 0; i--)
		assert_int_equal(umemcg_destroy(below[i]), 0);
	assert_int_equal(umemcg_destroy(top), 0);
}

static void a_group_that_is_gone_is_refused(void **state)
{
	struct umemcg *group, *none = NULL;
	struct umemcg_stat stat;
	void *address = NULL;
	char text[8];

	(void)state;
	assert_int_equal(umemcg_create(NULL, NULL, &group), 0);
	assert_int_equal(umemcg_destroy(group), 0);
	assert_int_equal(umemcg_destroy(group), -EINVAL);
	assert_int_equal(umemcg_create(group, NULL, &none), -EINVAL);
	assert_int_equal(umemcg_set_max(group, MIB), -EINVAL);
	assert_int_equal(umemcg_set_reserve(group, MIB), -EINVAL);
	assert_int_equal(umemcg_free_all(group), -EINVAL);
	assert_int_equal(umemcg_map(group, 1, &address), -EINVAL);
	assert_int_equal(umemcg_try_charge(group, 1), -EINVAL);
	assert_int_equal(umemcg_read(group, "memory.max", text, sizeof(text)), -EINVAL);
	assert_int_equal(umemcg_write(group, "memory.max", "1M"), -EINVAL);
	assert_int_equal(umemcg_get_stat(group, &stat), -EINVAL);
	assert_int_equal(umemcg_walk(group, count_groups, NULL), -EINVAL);
	assert_null(none);
	assert_null(address);
	assert_int_equal(umemcg_destroy(NULL), 0);
}

static void *say_group(void *arg)
{
	(void)arg;
	return umemcg_current();
}

/* By the program's fault, which is to be none of the books'. */
static void a_thread_whose_group_is_gone_is_in_the_root(void **state)
{
	struct umemcg *groups[2], *root = umemcg_root();
	char tid[32];

	(void)state;
	snprintf(tid, sizeof(tid), "%d\n", (int)gettid());
	assert_int_equal(umemcg_create(NULL, NULL, &groups[0]), 0);
	assert_int_equal(umemcg_destroy(groups[0]), 0);
	/* One that was a group, and one that never was. */
	groups[1] = (struct umemcg *)16;
	for (unsigned int i = 0; i < 2; i++) {
		struct umemcg_audit audit;
		pthread_t thread;
		void *object, *stack, *group;
		char text[256];

		umemcg_enter(groups[i]);
		object = umemcg_malloc(100);
		assert_ptr_equal(umemcg_owner(object), root);
		umemcg_free(object);
		assert_true(umemcg_read(root, "cgroup.events", text, sizeof(text)) > 0);
		assert_string_equal(text, "populated 1\n");
		assert_true(umemcg_read(root, "cgroup.threads", text, sizeof(text)) > 0);
		assert_non_null(strstr(text, tid));
		assert_int_equal(umemcg_stack_alloc(MIB, &stack), 0);
		umemcg_stack_free(stack);
		assert_int_equal(umemcg_thread_create(&thread, NULL, say_group, NULL), 0);
		pthread_join(thread, &group);
		assert_ptr_equal(group, root);
		umemcg_enter(NULL);
		assert_int_equal(umemcg_audit(&audit), 0);
	}
}

static void the_root_cannot_be_limited_destroyed_or_emptied(void **state)
{
	(void)state;
	assert_int_equal(umemcg_set_max(umemcg_root(), MIB), -EINVAL);
	assert_int_equal(umemcg_set_reserve(umemcg_root(), MIB), -EINVAL);
	assert_int_equal(umemcg_destroy(umemcg_root()), -EINVAL);
	assert_int_equal(umemcg_free_all(umemcg_root()), -EINVAL);
	assert_true(umemcg_get_max(umemcg_root()) == UMEMCG_MAX);
}

static void an_explicit_charge_counts_up_to_the_limit_and_no_further(void **state)
{
	struct umemcg_failure failure;
	struct umemcg *group;

	(void)state;
	assert_int_equal(umemcg_create(NULL, "explicit", &group), 0);
	assert_int_equal(umemcg_set_max(group, 1000), 0);
	assert_int_equal(umemcg_try_charge(group, 600), 0);
	assert_int_equal(umemcg_try_charge(group, 401), -ENOMEM);
	assert_int_equal(umemcg_last_failure(&failure), 0);
	assert_string_equal(failure.group, "/explicit");
	assert_int_equal(failure.nr_bytes_asked, 401);
	assert_int_equal(failure.nr_bytes_max, 1000);
	assert_int_equal(umemcg_try_charge(group, 400), 0);
	assert_int_equal(umemcg_try_charge(group, UINT64_MAX), -ENOMEM);
	assert_int_equal(umemcg_try_charge(group, INT64_MAX), -ENOMEM);
	assert_int_equal(umemcg_get_current(group), 1000);
	assert_int_equal(umemcg_get_peak(group), 1000);
	umemcg_uncharge(group, 1000);
	umemcg_drain(group);
	assert_int_equal(umemcg_get_current(group), 0);
	assert_int_equal(umemcg_destroy(group), 0);
}

static void the_reserve_is_for_whoever_entered_it(void **state)
{
	struct umemcg *group;

	(void)state;
	assert_int_equal(umemcg_create(NULL, NULL, &group), 0);
	assert_int_equal(umemcg_set_max(group, 1000), 0);
	assert_int_equal(umemcg_set_reserve(group, 300), 0);
	assert_int_equal(umemcg_get_reserve(group), 300);
	assert_int_equal(umemcg_try_charge(group, 701), -ENOMEM);
	assert_int_equal(umemcg_try_charge(group, 700), 0);
	umemcg_reserve_enter();
	umemcg_reserve_enter();
	umemcg_reserve_leave();
	assert_int_equal(umemcg_try_charge(group, 301), -ENOMEM);
	assert_int_equal(umemcg_try_charge(group, 300), 0);
	umemcg_reserve_leave();
	umemcg_reserve_leave();
	umemcg_uncharge(group, 300);
	umemcg_drain(group);
	assert_int_equal(umemcg_try_charge(group, 1), -ENOMEM);
	umemcg_uncharge(group, 700);
	assert_int_equal(umemcg_destroy(group), 0);
}

static void null_arguments_are_refused(void **state)
{
	(void)state;
	assert_int_equal(umemcg_create(NULL, "x", NULL), -EINVAL);
	assert_int_equal(umemcg_lookup(NULL, NULL), -EINVAL);
	assert_int_equal(umemcg_walk(NULL, NULL, NULL), -EINVAL);
	assert_int_equal(umemcg_map(NULL, 1, NULL), -EINVAL);
	assert_int_equal(umemcg_stack_alloc(1 << 20, NULL), -EINVAL);
	assert_int_equal(umemcg_thread_create(NULL, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(umemcg_set_max(NULL, 1), -EINVAL);
	assert_int_equal(umemcg_read(NULL, NULL, NULL, 0), -EINVAL);
	assert_int_equal(umemcg_read(NULL, "memory.max", NULL, 1), -EINVAL);
	assert_int_equal(umemcg_write(NULL, "memory.max", NULL), -EINVAL);
	assert_int_equal(umemcg_get_stat(NULL, NULL), -EINVAL);
	assert_int_equal(umemcg_last_failure(NULL), -EINVAL);
	assert_int_equal(umemcg_audit(NULL), -EINVAL);
	umemcg_stack_free(NULL);
	assert_int_equal(umemcg_unmap(NULL), -EINVAL);
}

static void the_audit_finds_what_the_books_say(void **state)
{
	struct umemcg_audit before, report;
	struct umemcg *group;
	void *region, *stack;

	(void)state;
	assert_int_equal(umemcg_audit(&before), 0);
	assert_int_equal(umemcg_create(NULL, NULL, &group), 0);
	umemcg_enter(group);
	assert_int_equal(umemcg_map(group, MIB, &region), 0);
	assert_int_equal(umemcg_stack_alloc(MIB, &stack), 0);
	assert_int_equal(umemcg_try_charge(group, 77), 0);
	assert_int_equal(umemcg_audit(&report), 0);
	assert_int_equal(report.nr_groups - before.nr_groups, 1);
	assert_int_equal(report.nr_bytes_walked - before.nr_bytes_walked, 2 * MIB + 77);
	assert_int_equal(report.nr_bytes_charged, report.nr_bytes_walked);
	assert_int_equal(report.nr_bytes_difference, 0);
	assert_null(report.worst);
	umemcg_uncharge(group, 77);
	umemcg_stack_free(stack);
	assert_int_equal(umemcg_unmap(region), 0);
	umemcg_enter(NULL);
	assert_int_equal(umemcg_destroy(group), 0);
}

/* ---- the switch ---- */

/* Runs this program again; @prepare is called in the new process, ahead of the program. */
static int run_self(const char *argument, void (*prepare)(void))
{
	char *const argv[] = { (char *)"api", (char *)argument, NULL };
	pid_t child = fork();
	int status = -1;

	if (!child) {
		prepare();
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return status;
}

static void disable(void)
{
	setenv("UMEMCG_CMDLINE", "cgroup_disable=memory", 1);
}

static void disabled_at_start_nothing_is_counted(void **state)
{
	(void)state;
	assert_int_equal(run_self("off", disable), 0);
}

static void enable(void)
{
	setenv("UMEMCG_CMDLINE", "cgroup_enable=memory", 1);
}

static void enabled_at_start_everything_is_counted(void **state)
{
	(void)state;
	assert_int_equal(run_self("on", enable), 0);
}

static void say_nothing(void)
{
	unsetenv("UMEMCG_CMDLINE");
}

static void without_a_word_the_build_decides(void **state)
{
	(void)state;
	assert_int_equal(run_self("unsaid", say_nothing), 0);
}

static bool state_is_as_built(void)
{
	return (umemcg_state() == UMEMCG_ENABLED) == (CONFIG_MEMCG && CONFIG_MEMCG_DEFAULT_ON);
}

static pthread_barrier_t gate;

/* Allocates and charges for the first time when there is no memory any more. */
static void *begin_without_memory(void *group)
{
	pthread_barrier_wait(&gate);
	pthread_barrier_wait(&gate);
	umemcg_reserve_enter();
	umemcg_reserve_leave();
	umemcg_drain(group);
	return (void *)(intptr_t)umemcg_set_max(group, MIB);
}

/* In a process of its own, in which nothing has been allocated that could have left room. */
static int run_out_of_memory(void)
{
	const struct rlimit none = { 0, 0 };
	struct umemcg *group;
	pthread_t thread;
	void *result;

	if (umemcg_create(NULL, NULL, &group) || pthread_barrier_init(&gate, NULL, 2) ||
	    pthread_create(&thread, NULL, begin_without_memory, group))
		return 1;
	pthread_barrier_wait(&gate);
	setrlimit(RLIMIT_AS, &none);
	pthread_barrier_wait(&gate);
	if (pthread_join(thread, &result) || (intptr_t)result != -ENOMEM)
		return 2;
	return umemcg_get_max(group) == UMEMCG_MAX ? 0 : 3;
}

static void prepare_nothing(void)
{
}

static void a_thread_that_begins_without_memory_is_refused(void **state)
{
	(void)state;
	if (SANITIZED) {
		print_message(
			"SKIP: a sanitizer reserves more address space than the test allows\n");
		skip();
	}
	assert_int_equal(run_self("without-memory", prepare_nothing), 0);
}

static void limit_address_space(void)
{
	struct rlimit limit = { .rlim_cur = 128 * MIB, .rlim_max = 128 * MIB };

	setrlimit(RLIMIT_AS, &limit);
}

/* What the library reserves ahead must leave room for the program. */
static void all_works_where_address_space_is_limited(void **state)
{
	(void)state;
	if (SANITIZED) {
		print_message(
			"SKIP: a sanitizer reserves more address space than the test allows\n");
		skip();
	}
	assert_int_equal(run_self("on", limit_address_space), 0);
}

/* ---- where it is off: one group, nothing counted, nothing refused ---- */

static void off_the_root_is_the_only_group(void **state)
{
	struct umemcg *group = NULL, *found = NULL, *before;
	unsigned int nr = 0;
	char path[8] = "?";

	(void)state;
	assert_int_equal(umemcg_create(NULL, "tenant", &group), 0);
	assert_ptr_equal(group, umemcg_root());
	assert_int_equal(umemcg_create(group, "tenant", &group), 0);
	assert_int_equal(umemcg_lookup("/tenant", &found), 0);
	assert_ptr_equal(found, umemcg_root());
	assert_int_equal(umemcg_lookup("", &found), -EINVAL);
	assert_null(umemcg_parent(group));
	assert_int_equal(umemcg_name(group, path, sizeof(path)), 0);
	assert_string_equal(path, "");
	assert_int_equal(umemcg_path(group, path, sizeof(path)), 1);
	assert_string_equal(path, "/");
	assert_int_equal(umemcg_walk(NULL, count_groups, &nr), 0);
	assert_int_equal(nr, 1);
	before = umemcg_enter(group);
	assert_ptr_equal(umemcg_current(), umemcg_root());
	umemcg_enter(before);
	assert_ptr_equal(umemcg_current(), umemcg_root());
	assert_int_equal(umemcg_destroy(group), 0);
	assert_int_equal(umemcg_free_all(group), -EINVAL);
}

static void off_nothing_is_counted_or_refused(void **state)
{
	struct umemcg *group;
	struct umemcg_stat stat;
	void *object;

	(void)state;
	assert_int_equal(umemcg_create(NULL, NULL, &group), 0);
	assert_int_equal(umemcg_set_max(group, 1), 0);
	assert_int_equal(umemcg_set_reserve(group, 1), 0);
	assert_int_equal(umemcg_try_charge(group, UINT64_MAX), 0);
	umemcg_uncharge(group, UINT64_MAX);
	object = umemcg_malloc(MIB);
	assert_non_null(object);
	assert_true(umemcg_usable_size(object) >= MIB);
	assert_ptr_equal(umemcg_owner(object), umemcg_root());
	assert_int_equal(umemcg_get_current(group), 0);
	assert_int_equal(umemcg_get_peak(group), 0);
	assert_int_equal(umemcg_get_reserve(group), 0);
	assert_true(umemcg_get_max(group) == UMEMCG_MAX);
	assert_int_equal(umemcg_get_stat(group, &stat), 0);
	assert_int_equal(stat.nr_bytes_current, 0);
	umemcg_drain(group);
	umemcg_free(object);
}

static void off_control_files_are_eopnotsupp(void **state)
{
	struct umemcg_failure failure;
	struct umemcg_audit report;
	char text[8];

	(void)state;
	assert_int_equal(umemcg_read(NULL, "memory.max", text, sizeof(text)), -EOPNOTSUPP);
	assert_int_equal(umemcg_read(NULL, "nonsense", text, sizeof(text)), -EOPNOTSUPP);
	assert_int_equal(umemcg_write(NULL, "memory.max", "1M"), -EOPNOTSUPP);
	assert_null(umemcg_control_file(0));
	assert_int_equal(umemcg_audit(&report), -EOPNOTSUPP);
	assert_int_equal(umemcg_last_failure(&failure), -ENOENT);
	umemcg_reserve_enter();
	umemcg_reserve_leave();
}

static bool never_asked(struct umemcg *group, const struct umemcg_failure *failure, void *arg)
{
	(void)group;
	(void)failure;
	*(bool *)arg = true;
	return true;
}

static void off_subscriptions_and_policies_wake_and_ask_nobody(void **state)
{
	const unsigned int refusals = 1u << UMEMCG_EVENT_MAX | UMEMCG_EVENT_LOCAL;
	bool was_asked = false;
	uint64_t nr_events;
	int eventfd = -7;

	(void)state;
	assert_int_equal(umemcg_set_oom_policy(NULL, UMEMCG_OOM_CALLBACK, never_asked, &was_asked),
			 0);
	assert_int_equal(umemcg_event_subscribe(NULL, 0, &eventfd), -EINVAL);
	assert_int_equal(umemcg_event_subscribe(NULL, refusals, &eventfd), 0);
	assert_int_equal(umemcg_try_charge(NULL, UINT64_MAX), 0);
	assert_int_equal(read(eventfd, &nr_events, sizeof(nr_events)), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(umemcg_event_unsubscribe(eventfd), 0);
	assert_int_equal(umemcg_event_unsubscribe(eventfd), -EINVAL);
	assert_false(was_asked);
}

static void off_nothing_is_delayed_and_there_is_no_pressure(void **state)
{
	uint64_t nr_wakes;
	int eventfd = -7;

	(void)state;
	assert_int_equal(umemcg_set_high(NULL, 1), 0);
	assert_int_equal(umemcg_try_charge(NULL, UINT64_MAX), 0);
	assert_int_equal(umemcg_throttle(), 0);
	umemcg_throttle_cancel(NULL);
	assert_int_equal(umemcg_pressure_subscribe(NULL, "some 1", &eventfd), -EINVAL);
	assert_int_equal(umemcg_pressure_subscribe(NULL, "some 1 500000", &eventfd), 0);
	assert_int_equal(read(eventfd, &nr_wakes, sizeof(nr_wakes)), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(umemcg_pressure_unsubscribe(eventfd), 0);
	assert_int_equal(umemcg_pressure_unsubscribe(eventfd), -EINVAL);
	assert_int_equal(umemcg_pressure_unsubscribe(-1), -EINVAL);
	assert_int_equal(umemcg_pressure_watch(), -EOPNOTSUPP);
}

static void *return_argument(void *arg)
{
	return arg;
}

static void off_mappings_stacks_and_threads_work(void **state)
{
	char *region = NULL, *stack = NULL;
	pthread_t thread;
	void *result = NULL;

	(void)state;
	assert_int_equal(umemcg_map(NULL, 5000, (void **)&region), 0);
	region[0] = region[8191] = 1;
	assert_int_equal(umemcg_unmap(region + 1), -EINVAL);
	assert_int_equal(umemcg_unmap(region), 0);
	assert_int_equal(umemcg_unmap(region), -EINVAL);
	assert_int_equal(umemcg_stack_alloc(MIB, (void **)&stack), 0);
	stack[0] = stack[MIB - 1] = 1;
	umemcg_stack_free(stack);
	assert_int_equal(umemcg_thread_create(&thread, NULL, return_argument, &thread), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, &thread);
}

static void the_state_says_that_it_is_off(void **state)
{
	(void)state;
	assert_int_equal(umemcg_state(), CONFIG_MEMCG ? UMEMCG_DISABLED : UMEMCG_NOT_COMPILED);
}

static uint64_t never_counted(struct umemcg *group, void *arg)
{
	(void)group;
	(void)arg;
	fail();
	return 0;
}

static uint64_t never_scanned(struct umemcg *group, uint64_t nr_bytes, void *arg)
{
	(void)nr_bytes;
	return never_counted(group, arg);
}

static enum umemcg_lru_status never_evicted(void *object, void *arg)
{
	(void)object;
	never_counted(NULL, arg);
	return UMEMCG_LRU_SKIP;
}

static void off_what_is_registered_is_never_asked(void **state)
{
	const struct umemcg_shrinker_ops ops = { never_counted, never_scanned };
	struct umemcg_shrinker *shrinker;
	struct umemcg_lru_entry *entry;
	struct umemcg_lru *lru;

	(void)state;
	assert_int_equal(umemcg_shrinker_register(NULL, &ops, NULL, 0, &shrinker), 0);
	assert_int_equal(umemcg_shrinker_register(NULL, NULL, NULL, 0, &shrinker), -EINVAL);
	assert_int_equal(umemcg_lru_create(never_evicted, NULL, &lru), 0);
	assert_int_equal(umemcg_lru_add(lru, NULL, NULL, 1, &entry), 0);
	umemcg_lru_touch(entry);
	assert_int_equal(umemcg_reclaim(NULL, 1), -EAGAIN);
	assert_int_equal(umemcg_lru_remove(entry), 0);
	assert_int_equal(umemcg_lru_destroy(lru), 0);
	umemcg_shrinker_unregister(shrinker);
}

static void the_version_has_three_numbers(void **state)
{
	int major, minor, patch, length = 0;

	(void)state;
	assert_int_equal(sscanf(umemcg_version(), "%d.%d.%d%n", &major, &minor, &patch, &length),
			 3);
	assert_int_equal(umemcg_version()[length], '\0');
}

int main(int argc, char **argv)
{
	const struct CMUnitTest on[] = {
		cmocka_unit_test(names_that_no_directory_could_have_are_refused),
		cmocka_unit_test(a_group_is_found_by_the_path_it_tells),
		cmocka_unit_test(a_walk_sees_all_and_can_be_stopped),
		cmocka_unit_test(a_group_that_is_gone_is_refused),
		cmocka_unit_test(a_thread_whose_group_is_gone_is_in_the_root),
		cmocka_unit_test(the_root_cannot_be_limited_destroyed_or_emptied),
		cmocka_unit_test(an_explicit_charge_counts_up_to_the_limit_and_no_further),
		cmocka_unit_test(the_reserve_is_for_whoever_entered_it),
		cmocka_unit_test(null_arguments_are_refused),
		cmocka_unit_test(the_audit_finds_what_the_books_say),
		cmocka_unit_test(the_version_has_three_numbers),
		/* The others run the program again, and are left out there. */
		cmocka_unit_test(without_a_word_the_build_decides),
		cmocka_unit_test(disabled_at_start_nothing_is_counted),
		cmocka_unit_test(a_thread_that_begins_without_memory_is_refused),
		cmocka_unit_test(all_works_where_address_space_is_limited),
	};
	const struct CMUnitTest off[] = {
		cmocka_unit_test(the_state_says_that_it_is_off),
		cmocka_unit_test(off_the_root_is_the_only_group),
		cmocka_unit_test(off_nothing_is_counted_or_refused),
		cmocka_unit_test(off_control_files_are_eopnotsupp),
		cmocka_unit_test(off_subscriptions_and_policies_wake_and_ask_nobody),
		cmocka_unit_test(off_nothing_is_delayed_and_there_is_no_pressure),
		cmocka_unit_test(off_what_is_registered_is_never_asked),
		cmocka_unit_test(off_mappings_stacks_and_threads_work),
		cmocka_unit_test(the_version_has_three_numbers),
		/* The others run the program again; the last needs a controller to turn on. */
		cmocka_unit_test(without_a_word_the_build_decides),
		cmocka_unit_test(enabled_at_start_everything_is_counted),
	};
	const size_t nr_on = ARRAY_SIZE(on), nr_off = ARRAY_SIZE(off);
	const char *argument = argc > 1 ? argv[1] : "";

	if (!strcmp(argument, "without-memory"))
		return run_out_of_memory();
	if (!strcmp(argument, "unsaid"))
		return !state_is_as_built();
	/* A run that is told what to find fails if it finds the other, whatever the switch says. */
	if (!strcmp(argument, "off"))
		return _cmocka_run_group_tests("disabled", off, nr_off - 2, NULL, NULL);
	if (!strcmp(argument, "on"))
		return _cmocka_run_group_tests("enabled", on, nr_on - 4, NULL, NULL);
	if (umemcg_state() != UMEMCG_ENABLED)
		return _cmocka_run_group_tests("off", off, nr_off - !CONFIG_MEMCG, NULL, NULL);
	return cmocka_run_group_tests(on, NULL, NULL);
}
