/* SPDX-License-Identifier: MIT */
/* OOM policies: what is decided about a charge that does not fit, and what a callback may do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "eventfd.h"
#include "reclaim/policy.h"
#include "umemcg.h"

#define MIB ((uint64_t)1 << 20)

static struct umemcg *parent, *group;

static int create_groups(void **state)
{
	(void)state;
	return umemcg_create(NULL, "limited", &parent) || umemcg_set_max(parent, 4 * MIB) ||
	       umemcg_create(parent, "child", &group);
}

static int destroy_groups(void **state)
{
	(void)state;
	return umemcg_destroy(group) || umemcg_destroy(parent);
}

/* A cache of the program's: what is charged and can be given back by the callback. */
struct cache {
	struct umemcg *group;
	uint64_t nr_bytes;
	unsigned int nr_calls;
	struct umemcg_failure failure;
};

static struct cache fill_cache(struct umemcg *of, uint64_t nr_bytes)
{
	assert_int_equal(umemcg_try_charge(of, nr_bytes), 0);
	return (struct cache){ .group = of, .nr_bytes = nr_bytes };
}

static void drop_cache(struct cache *cache)
{
	umemcg_uncharge(cache->group, cache->nr_bytes);
	cache->nr_bytes = 0;
}

static bool drop_a_mebibyte(struct umemcg *full, const struct umemcg_failure *failure, void *arg)
{
	struct cache *cache = arg;
	uint64_t nr_bytes = cache->nr_bytes < MIB ? cache->nr_bytes : MIB;

	(void)full;
	cache->nr_calls++;
	cache->failure = *failure;
	umemcg_uncharge(cache->group, nr_bytes);
	cache->nr_bytes -= nr_bytes;
	return nr_bytes > 0;
}

static void the_callback_makes_room_and_the_charge_succeeds(void **state)
{
	struct cache cache = fill_cache(group, 4 * MIB);

	(void)state;
	assert_int_equal(
		umemcg_set_oom_policy(parent, UMEMCG_OOM_CALLBACK, drop_a_mebibyte, &cache), 0);
	assert_int_equal(umemcg_try_charge(group, 5 * MIB / 2), 0);
	assert_int_equal(cache.nr_calls, 3);
	assert_string_equal(cache.failure.group, "/limited");
	assert_string_equal(cache.failure.charged, "/limited/child");
	assert_int_equal(cache.failure.nr_bytes_asked, 5 * MIB / 2);
	assert_int_equal(cache.failure.nr_bytes_max, 4 * MIB);
	umemcg_uncharge(group, 5 * MIB / 2);
	drop_cache(&cache);
}

static void what_the_callback_was_told_is_the_last_failure(void **state)
{
	struct cache cache = { .group = group };
	struct umemcg_failure last;

	(void)state;
	assert_int_equal(
		umemcg_set_oom_policy(parent, UMEMCG_OOM_CALLBACK, drop_a_mebibyte, &cache), 0);
	assert_int_equal(umemcg_try_charge(group, 5 * MIB), -ENOMEM);
	assert_int_equal(cache.nr_calls, 1);
	assert_int_equal(umemcg_last_failure(&last), 0);
	assert_memory_equal(&cache.failure, &last, sizeof(last));
}

static void the_largest_consumer_comes_first(void **state)
{
	struct cache cache = { .group = group };
	struct umemcg *other;

	(void)state;
	assert_int_equal(umemcg_create(parent, "other", &other), 0);
	assert_int_equal(umemcg_try_charge(other, 2 * MIB), 0);
	assert_int_equal(umemcg_try_charge(group, MIB), 0);
	assert_int_equal(
		umemcg_set_oom_policy(parent, UMEMCG_OOM_CALLBACK, drop_a_mebibyte, &cache), 0);
	assert_int_equal(umemcg_try_charge(group, 2 * MIB), -ENOMEM);
	assert_int_equal(cache.failure.nr_consumers, 2);
	assert_string_equal(cache.failure.consumers[0].group, "/limited/other");
	assert_int_equal(cache.failure.consumers[0].nr_bytes, 2 * MIB);
	assert_string_equal(cache.failure.consumers[1].group, "/limited/child");
	umemcg_uncharge(group, MIB);
	umemcg_uncharge(other, 2 * MIB);
	assert_int_equal(umemcg_destroy(other), 0);
}

static bool promise_room(struct umemcg *full, const struct umemcg_failure *failure, void *arg)
{
	(void)full;
	(void)failure;
	++*(unsigned int *)arg;
	return true;
}

static void a_callback_that_only_promises_room_is_asked_16_times(void **state)
{
	unsigned int nr_calls = 0;

	(void)state;
	assert_int_equal(
		umemcg_set_oom_policy(parent, UMEMCG_OOM_CALLBACK, promise_room, &nr_calls), 0);
	assert_int_equal(umemcg_try_charge(group, 5 * MIB), -ENOMEM);
	assert_int_equal(nr_calls, POLICY_CALLS_MAX);
	nr_calls = 0;
	umemcg_enter(group);
	errno = 0;
	assert_null(umemcg_malloc(5 * MIB));
	assert_int_equal(errno, ENOMEM);
	umemcg_enter(NULL);
	assert_int_equal(nr_calls, POLICY_CALLS_MAX);
}

static bool allocate(struct umemcg *full, const struct umemcg_failure *failure, void *arg)
{
	void *small, *large;

	(void)full;
	(void)failure;
	++*(unsigned int *)arg;
	large = umemcg_malloc(8 * MIB);
	assert_null(large);
	small = umemcg_malloc(100);
	umemcg_free(small);
	return false;
}

static void what_a_callback_is_refused_does_not_call_it_again(void **state)
{
	unsigned int nr_calls = 0;
	struct umemcg_failure last;

	(void)state;
	assert_int_equal(umemcg_set_oom_policy(parent, UMEMCG_OOM_CALLBACK, allocate, &nr_calls),
			 0);
	umemcg_enter(group);
	assert_null(umemcg_malloc(5 * MIB));
	umemcg_enter(NULL);
	assert_int_equal(nr_calls, 1);
	assert_int_equal(umemcg_last_failure(&last), 0);
	assert_true(last.nr_bytes_asked < 8 * MIB);
}

static bool use_reserve(struct umemcg *full, const struct umemcg_failure *failure, void *arg)
{
	(void)full;
	(void)failure;
	*(void **)arg = umemcg_malloc(100);
	return false;
}

static void a_callback_may_use_the_reserve(void **state)
{
	struct cache cache;
	void *object = NULL;

	(void)state;
	assert_int_equal(umemcg_set_reserve(parent, MIB), 0);
	cache = fill_cache(group, 3 * MIB);
	assert_int_equal(umemcg_set_oom_policy(parent, UMEMCG_OOM_CALLBACK, use_reserve, &object),
			 0);
	umemcg_enter(group);
	assert_null(umemcg_malloc(MIB));
	assert_non_null(object);
	assert_true(umemcg_get_current(parent) <= 4 * MIB);
	umemcg_free(object);
	drop_cache(&cache);
	/* And nothing else may, afterwards. */
	assert_null(umemcg_malloc(7 * MIB / 2));
	umemcg_enter(NULL);
}

static bool change_policy(struct umemcg *full, const struct umemcg_failure *failure, void *arg)
{
	(void)failure;
	++*(unsigned int *)arg;
	assert_int_equal(umemcg_set_oom_policy(full, UMEMCG_OOM_FAIL, NULL, NULL), 0);
	return true;
}

static void a_callback_may_change_the_policy(void **state)
{
	unsigned int nr_calls = 0;

	(void)state;
	assert_int_equal(
		umemcg_set_oom_policy(parent, UMEMCG_OOM_CALLBACK, change_policy, &nr_calls), 0);
	assert_int_equal(umemcg_try_charge(group, 5 * MIB), -ENOMEM);
	assert_int_equal(nr_calls, 1);
}

static bool destroy_it(struct umemcg *full, const struct umemcg_failure *failure, void *arg)
{
	(void)failure;
	*(int *)arg = umemcg_destroy(full);
	return true;
}

static void a_callback_may_destroy_the_group(void **state)
{
	struct umemcg *gone;
	int r = 1;

	(void)state;
	assert_int_equal(umemcg_create(parent, "gone", &gone), 0);
	assert_int_equal(umemcg_set_max(gone, MIB), 0);
	assert_int_equal(umemcg_set_oom_policy(gone, UMEMCG_OOM_CALLBACK, destroy_it, &r), 0);
	assert_int_not_equal(umemcg_try_charge(gone, 2 * MIB), 0);
	assert_int_equal(r, 0);
	assert_int_equal(umemcg_get_current(parent), 0);
}

static void only_the_group_that_is_full_decides(void **state)
{
	unsigned int nr_calls = 0;

	(void)state;
	assert_int_equal(umemcg_set_oom_policy(group, UMEMCG_OOM_CALLBACK, promise_room, &nr_calls),
			 0);
	assert_int_equal(umemcg_try_charge(group, 5 * MIB), -ENOMEM);
	assert_int_equal(nr_calls, 0);
	assert_int_equal(umemcg_set_max(group, MIB), 0);
	assert_int_equal(umemcg_try_charge(group, 2 * MIB), -ENOMEM);
	assert_int_equal(nr_calls, POLICY_CALLS_MAX);
}

/* ---- a callback that other threads wait for ---- */

static atomic_bool is_running, may_return, has_returned;

static bool wait_in_callback(struct umemcg *full, const struct umemcg_failure *failure, void *arg)
{
	(void)full;
	(void)failure;
	(void)arg;
	atomic_store(&is_running, true);
	while (!atomic_load(&may_return))
		usleep(100);
	atomic_store(&has_returned, true);
	return false;
}

static void *charge_too_much(void *arg)
{
	return (void *)(intptr_t)umemcg_try_charge(arg, 5 * MIB);
}

static void *let_it_return(void *arg)
{
	(void)arg;
	/* Long enough for who would not wait to be gone. */
	usleep(20000);
	atomic_store(&may_return, true);
	return NULL;
}

static void a_policy_is_replaced_when_its_callback_has_returned(void **state)
{
	pthread_t charger, releaser;
	void *r;

	(void)state;
	atomic_store(&is_running, false);
	atomic_store(&may_return, false);
	atomic_store(&has_returned, false);
	assert_int_equal(umemcg_set_oom_policy(parent, UMEMCG_OOM_CALLBACK, wait_in_callback, NULL),
			 0);
	assert_int_equal(pthread_create(&charger, NULL, charge_too_much, group), 0);
	while (!atomic_load(&is_running))
		usleep(100);
	assert_int_equal(pthread_create(&releaser, NULL, let_it_return, NULL), 0);
	assert_int_equal(umemcg_set_oom_policy(parent, UMEMCG_OOM_FAIL, NULL, NULL), 0);
	assert_true(atomic_load(&has_returned));
	assert_int_equal(pthread_join(charger, &r), 0);
	assert_int_equal((intptr_t)r, -ENOMEM);
	assert_int_equal(pthread_join(releaser, NULL), 0);
}

/* A child that is forked while another thread is in a callback waits for nobody. */
static void a_child_does_not_wait_for_the_callbacks_of_its_parent(void **state)
{
	pthread_t charger;
	pid_t child;

	(void)state;
	atomic_store(&is_running, false);
	atomic_store(&may_return, false);
	assert_int_equal(umemcg_set_oom_policy(parent, UMEMCG_OOM_CALLBACK, wait_in_callback, NULL),
			 0);
	assert_int_equal(pthread_create(&charger, NULL, charge_too_much, group), 0);
	while (!atomic_load(&is_running))
		usleep(100);
	child = fork_child();
	if (!child)
		_exit(umemcg_set_oom_policy(parent, UMEMCG_OOM_FAIL, NULL, NULL) ? 1 : 0);
	wait_for_good_end(child);
	atomic_store(&may_return, true);
	assert_int_equal(pthread_join(charger, NULL), 0);
}

/* ---- kill ---- */

/* A descriptor for another process, by a socket. */
union passing {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static int pass(int socket, int fd)
{
	char byte = 0;
	struct iovec data = { &byte, 1 };
	union passing passing = { .header = { .cmsg_len = CMSG_LEN(sizeof(fd)),
					      .cmsg_level = SOL_SOCKET,
					      .cmsg_type = SCM_RIGHTS } };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = &passing,
				  .msg_controllen = sizeof(passing) };

	memcpy(CMSG_DATA(&passing.header), &fd, sizeof(fd));
	return sendmsg(socket, &message, 0) == 1 ? 0 : -1;
}

static int take_passed(int socket)
{
	char byte;
	struct iovec data = { &byte, 1 };
	union passing passing;
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = &passing,
				  .msg_controllen = sizeof(passing) };
	int fd;

	assert_int_equal(recvmsg(socket, &message, 0), 1);
	memcpy(&fd, CMSG_DATA(&passing.header), sizeof(fd));
	return fd;
}

/* A child that is to be killed at its limit, and whose events its parent sees nevertheless. */
static void meet_the_limit(int socket, int line, const char *oom_group)
{
	int kills, group_kills;

	dup2(line, STDERR_FILENO);
	if (umemcg_write(parent, "memory.oom.policy", "kill") ||
	    umemcg_write(parent, "memory.oom.group", oom_group) ||
	    umemcg_event_subscribe(parent, 1u << UMEMCG_EVENT_OOM_KILL, &kills) ||
	    umemcg_event_subscribe(parent, 1u << UMEMCG_EVENT_OOM_GROUP_KILL, &group_kills) ||
	    pass(socket, kills) || pass(socket, group_kills))
		_exit(1);
	umemcg_try_charge(group, 5 * MIB);
	_exit(2);
}

static void check_kill(const char *oom_group, uint64_t nr_group_kills)
{
	int sockets[2], lines[2], kills, group_kills, status;
	char line[512] = "";
	pid_t child;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	assert_int_equal(pipe(lines), 0);
	child = fork_child();
	if (!child)
		meet_the_limit(sockets[1], lines[1], oom_group);
	kills = take_passed(sockets[0]);
	group_kills = take_passed(sockets[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	assert_int_equal(eventfd_take(kills), 1);
	assert_int_equal(eventfd_take(group_kills), nr_group_kills);
	assert_true(read(lines[0], line, sizeof(line) - 1) > 0);
	assert_non_null(strstr(line, "killed by the OOM policy of group /limited: 5242880 bytes "
				     "for /limited/child did not fit"));
	for (unsigned int i = 0; i < 2; i++) {
		close(sockets[i]);
		close(lines[i]);
	}
	close(kills);
	close(group_kills);
}

static void kill_ends_the_process_and_says_why(void **state)
{
	(void)state;
	check_kill("0", 0);
	check_kill("1", 1);
}

/* ---- settings ---- */

static void policies_that_make_no_sense_are_refused(void **state)
{
	struct umemcg *gone;

	(void)state;
	assert_int_equal(umemcg_create(group, NULL, &gone), 0);
	assert_int_equal(umemcg_destroy(gone), 0);
	assert_int_equal(umemcg_set_oom_policy(gone, UMEMCG_OOM_FAIL, NULL, NULL), -EINVAL);
	assert_int_equal(umemcg_set_oom_policy(NULL, UMEMCG_OOM_FAIL, NULL, NULL), -EINVAL);
	assert_int_equal(umemcg_set_oom_policy(umemcg_root(), UMEMCG_OOM_KILL, NULL, NULL),
			 -EINVAL);
	assert_int_equal(umemcg_set_oom_policy(group, UMEMCG_OOM_CALLBACK, NULL, NULL), -EINVAL);
	assert_int_equal(umemcg_set_oom_policy(group, (enum umemcg_oom_policy)3, NULL, NULL),
			 -EINVAL);
	assert_int_equal(policy_get(group), UMEMCG_OOM_FAIL);
}

static void a_new_group_does_not_inherit_a_policy(void **state)
{
	struct umemcg *other;

	(void)state;
	assert_int_equal(umemcg_create(group, "one", &other), 0);
	assert_int_equal(umemcg_set_oom_policy(other, UMEMCG_OOM_KILL, NULL, NULL), 0);
	assert_int_equal(umemcg_write(other, "memory.oom.group", "1"), 0);
	assert_int_equal(umemcg_destroy(other), 0);
	assert_int_equal(umemcg_create(group, "two", &other), 0);
	assert_int_equal(policy_get(other), UMEMCG_OOM_FAIL);
	assert_int_equal(umemcg_set_max(other, MIB), 0);
	assert_int_equal(policy_get(other), UMEMCG_OOM_FAIL);
	assert_false(policy_get_group_kill(other));
	assert_int_equal(umemcg_destroy(other), 0);
}

#define test_in_group(name) cmocka_unit_test_setup_teardown(name, create_groups, destroy_groups)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_group(the_callback_makes_room_and_the_charge_succeeds),
		test_in_group(what_the_callback_was_told_is_the_last_failure),
		test_in_group(the_largest_consumer_comes_first),
		test_in_group(a_callback_that_only_promises_room_is_asked_16_times),
		test_in_group(what_a_callback_is_refused_does_not_call_it_again),
		test_in_group(a_callback_may_use_the_reserve),
		test_in_group(a_callback_may_change_the_policy),
		test_in_group(a_callback_may_destroy_the_group),
		test_in_group(only_the_group_that_is_full_decides),
		test_in_group(a_policy_is_replaced_when_its_callback_has_returned),
		test_in_group(a_child_does_not_wait_for_the_callbacks_of_its_parent),
		test_in_group(kill_ends_the_process_and_says_why),
		test_in_group(policies_that_make_no_sense_are_refused),
		test_in_group(a_new_group_does_not_inherit_a_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
