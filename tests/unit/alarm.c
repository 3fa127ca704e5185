/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/system.h"
#include "reclaim/pressure.h"
#include "umemcg.h"

#define NS_PER_MS 1000000ull

static struct umemcg *create(struct umemcg *parent, const char *name)
{
	struct umemcg *group;

	assert_int_equal(umemcg_create(parent, name, &group), 0);
	return group;
}

static int subscribe(struct umemcg *group, const char *trigger)
{
	int fd = -1;

	assert_int_equal(umemcg_pressure_subscribe(group, trigger, &fd), 0);
	return fd;
}

/* At least so long. */
static void stall(struct umemcg *group, uint64_t nr_ms)
{
	uint64_t end_ns = system_now_ns() + nr_ms * NS_PER_MS;

	umemcg_free(umemcg_malloc(1));
	pressure_begin(group->owner);
	while (system_now_ns() < end_ns)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	pressure_end(group->owner);
}

/* Wakes that are there now. */
static uint64_t wakes(int fd)
{
	uint64_t nr_wakes;

	return read(fd, &nr_wakes, sizeof(nr_wakes)) == sizeof(nr_wakes) ? nr_wakes : 0;
}

static void bad_arguments_are_refused(void **state)
{
	struct umemcg *group = create(NULL, "gone");
	int fd = -7;

	(void)state;
	assert_int_equal(umemcg_pressure_subscribe(NULL, NULL, &fd), -EINVAL);
	assert_int_equal(umemcg_pressure_subscribe(NULL, "some 100000 1000000", NULL), -EINVAL);
	assert_int_equal(umemcg_pressure_subscribe(NULL, "some 100000 100000", &fd), -EINVAL);
	assert_int_equal(umemcg_destroy(group), 0);
	assert_int_equal(umemcg_pressure_subscribe(group, "some 100000 1000000", &fd), -EINVAL);
	assert_int_equal(fd, -7);
	assert_int_equal(umemcg_pressure_unsubscribe(-1), -EINVAL);
	assert_int_equal(umemcg_pressure_unsubscribe(0), -EINVAL);
	assert_int_equal(umemcg_pressure_unsubscribe(12345), -EINVAL);
}

static void the_eventfd_neither_blocks_nor_is_inherited(void **state)
{
	int fd = subscribe(NULL, "some 100000 1000000");

	(void)state;
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(wakes(fd), 0);
	assert_int_equal(umemcg_pressure_unsubscribe(fd), 0);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(umemcg_pressure_unsubscribe(fd), -EINVAL);
}

static void who_is_stalled_long_enough_wakes_all_above(void **state)
{
	struct umemcg *top = create(NULL, "top"), *group = create(top, "group");
	struct umemcg *other = create(top, "other");
	int fds[] = { subscribe(top, "some 10000 10000000"),
		      subscribe(group, "some 10000 10000000"),
		      subscribe(group, "full 10000 10000000"), subscribe(other, "some 1 10000000"),
		      subscribe(group, "some 10000000 10000000") };

	(void)state;
	stall(group, 12);
	assert_int_equal(wakes(fds[0]), 1);
	assert_int_equal(wakes(fds[1]), 1);
	/* No thread is in the group, so none goes on. */
	assert_int_equal(wakes(fds[2]), 1);
	assert_int_equal(wakes(fds[3]), 0);
	assert_int_equal(wakes(fds[4]), 0);
	/* Ten seconds have not gone by. */
	stall(group, 12);
	assert_int_equal(wakes(fds[0]), 0);
	for (unsigned int i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		assert_int_equal(umemcg_pressure_unsubscribe(fds[i]), 0);
	umemcg_destroy(other);
	umemcg_destroy(group);
	umemcg_destroy(top);
}

/* Longer than any that works would take. */
static bool is_woken(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	return poll(&wait, 1, 20000) == 1 && wakes(fd) >= 1;
}

static void what_came_too_early_wakes_when_the_window_is_over(void **state)
{
	struct umemcg *group = create(NULL, "group");
	int fd = subscribe(group, "some 1000 500000");
	uint64_t start_ns = system_now_ns();

	(void)state;
	stall(group, 2);
	assert_true(wakes(fd) >= 1);
	stall(group, 2);
	assert_true(is_woken(fd));
	assert_true(system_now_ns() - start_ns >= 500 * NS_PER_MS);
	assert_int_equal(umemcg_pressure_unsubscribe(fd), 0);
	assert_int_equal(umemcg_destroy(group), 0);
}

static void a_stall_wakes_before_it_ends(void **state)
{
	struct umemcg *group = create(NULL, "group");
	int fd = subscribe(group, "full 60000 500000");

	(void)state;
	pressure_begin(group->owner);
	assert_true(is_woken(fd));
	pressure_end(group->owner);
	assert_int_equal(umemcg_pressure_unsubscribe(fd), 0);
	assert_int_equal(umemcg_destroy(group), 0);
}

static void a_group_that_is_destroyed_wakes_a_last_time(void **state)
{
	struct umemcg *group = create(NULL, "group"), *other;
	int fd = subscribe(group, "some 100000 1000000");
	int second = subscribe(group, "full 100000 1000000");

	(void)state;
	assert_int_equal(umemcg_pressure_unsubscribe(second), 0);
	assert_int_equal(umemcg_destroy(group), 0);
	assert_int_equal(wakes(fd), 1);
	/* What takes its place is another. */
	other = create(NULL, "group");
	stall(other, 2);
	assert_int_equal(wakes(fd), 0);
	assert_int_equal(umemcg_destroy(other), 0);
	assert_int_equal(wakes(fd), 0);
	assert_int_equal(umemcg_pressure_unsubscribe(fd), 0);
}

static void rows_are_used_again(void **state)
{
	struct umemcg *group = create(NULL, "group");

	(void)state;
	for (unsigned int i = 0; i < 3000; i++) {
		int fds[3];

		for (unsigned int k = 0; k < 3; k++)
			fds[k] = subscribe(group, "some 100000 1000000");
		for (unsigned int k = 0; k < 3; k++)
			assert_int_equal(umemcg_pressure_unsubscribe(fds[(i + k) % 3]), 0);
	}
	assert_int_equal(umemcg_destroy(group), 0);
}

static void a_child_does_not_wake_its_parents(void **state)
{
	struct umemcg *group = create(NULL, "group");
	int fd = subscribe(group, "some 1000 500000"), status;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		bool is_ours;

		stall(group, 2);
		is_ours = umemcg_pressure_unsubscribe(fd) != -EINVAL;
		_exit(is_ours || umemcg_destroy(group) ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(wakes(fd), 0);
	stall(group, 2);
	assert_true(wakes(fd) >= 1);
	assert_int_equal(umemcg_pressure_unsubscribe(fd), 0);
	assert_int_equal(umemcg_destroy(group), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_arguments_are_refused),
		cmocka_unit_test(the_eventfd_neither_blocks_nor_is_inherited),
		cmocka_unit_test(who_is_stalled_long_enough_wakes_all_above),
		cmocka_unit_test(what_came_too_early_wakes_when_the_window_is_over),
		cmocka_unit_test(a_stall_wakes_before_it_ends),
		cmocka_unit_test(a_group_that_is_destroyed_wakes_a_last_time),
		cmocka_unit_test(rows_are_used_again),
		cmocka_unit_test(a_child_does_not_wake_its_parents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
