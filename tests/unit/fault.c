/* SPDX-License-Identifier: MIT */
/* Regions charged at touch: what a touch costs, what it is when it fails, and whose signal it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pages.h"
#include "touch.h"
#include "umemcg.h"

#define MIB ((size_t)1 << 20)

/* What is known of a chunk is charged with its first page, and a row with the region. */
#define CHUNK_BYTES 8192u
#define ROW_BYTES   256u

static struct umemcg *group;
static char *region;

static int map_region(void **state)
{
	(void)state;
	return umemcg_create(NULL, NULL, &group) || umemcg_map(group, 64 * MIB, (void **)&region);
}

/* Fails if a test left anything charged. */
static int unmap_region(void **state)
{
	struct umemcg_audit report;

	(void)state;
	if (umemcg_audit(&report) || umemcg_unmap(region) || umemcg_get_current(group))
		return -1;
	return umemcg_destroy(group);
}

static uint64_t anon(void)
{
	struct umemcg_stat stat;

	assert_int_equal(umemcg_get_stat(group, &stat), 0);
	return stat.nr_bytes_anon;
}

static void a_region_costs_what_is_touched_and_is_zero(void **state)
{
	(void)state;
	assert_in_range(anon(), 1, ROW_BYTES);
	assert_int_equal(region[40 * MIB + 17], 0);
	assert_in_range(anon(), PAGE, PAGE + CHUNK_BYTES + ROW_BYTES);
	region[40 * MIB] = 1;
	assert_in_range(anon(), PAGE, PAGE + CHUNK_BYTES + ROW_BYTES);
}

static void a_region_may_be_larger_than_max_by_far(void **state)
{
	void *large;

	(void)state;
	assert_int_equal(umemcg_set_max(group, MIB), 0);
	assert_int_equal(umemcg_map(group, (size_t)1 << 36, &large), 0);
	memset((char *)large + ((size_t)1 << 35), 1, 10 * PAGE);
	assert_true(umemcg_get_peak(group) <= MIB);
	assert_int_equal(umemcg_unmap(large), 0);
}

static void jumping_about_fills_nothing_else(void **state)
{
	uint64_t before;

	(void)state;
	region[0] = 1;
	before = anon();
	for (unsigned int i = 1; i <= 50; i++)
		region[i * 7 * PAGE] = 1;
	assert_int_equal(anon() - before, 50 * PAGE);
}

static void going_on_fills_ahead_but_not_beyond_the_limit(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 6; i++)
		region[i * PAGE] = 1;
	assert_true(anon() > 16 * PAGE);
	assert_int_equal(umemcg_set_max(group, 100 * PAGE), 0);
	for (unsigned int i = 6; i < 90; i++)
		region[i * PAGE] = 1;
	assert_true(umemcg_get_peak(group) <= 100 * PAGE);
	for (unsigned int i = 0; i < 90; i++)
		assert_int_equal(region[i * PAGE], 1);
}

static void errno_stays_what_it_was(void **state)
{
	(void)state;
	errno = E2BIG;
	region[3 * PAGE] = 1;
	assert_int_equal(errno, E2BIG);
}

static void a_touch_without_room_is_sigbus_there_and_may_be_tried_again(void **state)
{
	(void)state;
	assert_int_equal(umemcg_pin(region, 4 * PAGE), 0);
	assert_int_equal(umemcg_set_max(group, umemcg_get_current(group)), 0);
	assert_false(touch_try(region + 5 * PAGE + 123, 7));
	assert_int_equal(touch_info.si_code, BUS_ADRERR);
	assert_ptr_equal(touch_info.si_addr, region + 5 * PAGE + 123);
	assert_false(touch_try(region + 5 * PAGE + 123, 7));
	assert_int_equal(umemcg_unpin(region, 4 * PAGE), 0);
	assert_true(touch_try(region + 5 * PAGE + 123, 7));
	assert_int_equal(region[5 * PAGE + 123], 7);
}

static uint64_t count_a_little(struct umemcg *its, void *arg)
{
	(void)arg;
	return its == group ? 64 : 0;
}

/* As a neighbour that frees and allocates all the time, but no page. */
static uint64_t give_a_little_and_take_it(struct umemcg *its, uint64_t nr_bytes, void *arg)
{
	(void)nr_bytes;
	(void)arg;
	umemcg_uncharge(its, 64);
	assert_int_equal(umemcg_try_charge(its, 64), 0);
	return 64;
}

static void what_makes_no_room_for_a_page_does_not_keep_a_touch_waiting(void **state)
{
	static const struct umemcg_shrinker_ops ops = { count_a_little, give_a_little_and_take_it };
	struct umemcg_shrinker *shrinker;

	(void)state;
	assert_int_equal(umemcg_pin(region, 4 * PAGE), 0);
	assert_int_equal(umemcg_shrinker_register(group, &ops, NULL, 0, &shrinker), 0);
	assert_int_equal(umemcg_try_charge(group, 64), 0);
	umemcg_drain(group);
	assert_int_equal(umemcg_set_max(group, umemcg_get_current(group)), 0);
	assert_false(touch_try(region + 5 * PAGE, 7));
	umemcg_shrinker_unregister(shrinker);
	umemcg_uncharge(group, 64);
	umemcg_drain(group);
	assert_int_equal(umemcg_unpin(region, 4 * PAGE), 0);
	assert_true(touch_try(region + 5 * PAGE, 7));
}

static void what_is_not_ours_goes_to_the_handler_that_was_there(void **state)
{
	char path[] = "/tmp/umemcg-fault-XXXXXX";
	int fd = mkstemp(path);
	char *file;

	(void)state;
	assert_true(fd >= 0);
	unlink(path);
	file = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(file, MAP_FAILED);
	assert_false(touch_try(file + 5, 1));
	assert_ptr_equal(touch_info.si_addr, file + 5);
	munmap(file, PAGE);
	close(fd);
	assert_int_equal(kill(getpid(), SIGBUS), 0);
	assert_int_equal(touch_info.si_code, SI_USER);
}

static void a_system_call_gets_efault_unless_the_page_is_pinned(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "memcg", 5), 5);
	assert_int_equal(read(ends[0], region + PAGE, 5), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(umemcg_pin(region + PAGE, 5), 0);
	assert_int_equal(read(ends[0], region + PAGE, 5), 5);
	assert_memory_equal(region + PAGE, "memcg", 5);
	assert_int_equal(umemcg_unpin(region + PAGE, 5), 0);
	close(ends[0]);
	close(ends[1]);
}

static void pages_that_the_program_drops_come_back_as_zeros(void **state)
{
	uint64_t before;

	(void)state;
	region[0] = region[PAGE] = 1;
	before = anon();
	assert_int_equal(madvise(region, PAGE, MADV_DONTNEED), 0);
	assert_int_equal(region[0], 0);
	assert_int_equal(region[PAGE], 1);
	assert_int_equal(anon(), before);
}

static int look_in_child(void)
{
	struct umemcg_audit report;
	char *own;

	if (umemcg_get_current(group) || umemcg_audit(&report))
		return 1;
	if (!msync(region, PAGE, MS_ASYNC) || umemcg_unmap(region) != -EINVAL)
		return 2;
	if (umemcg_map(group, MIB, (void **)&own))
		return 3;
	memset(own, 1, MIB);
	if (umemcg_get_current(group) < MIB || umemcg_audit(&report) || umemcg_unmap(own))
		return 4;
	return umemcg_get_current(group) ? 5 : 0;
}

static void a_child_has_neither_the_region_nor_its_charge(void **state)
{
	uint64_t before;
	int status;
	pid_t child;

	(void)state;
	memset(region, 1, MIB);
	before = anon();
	child = fork();
	if (!child)
		_exit(look_in_child());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(anon(), before);
	assert_int_equal(region[MIB - 1], 1);
	region[2 * MIB] = 1;
}

static uintptr_t seen_on;

static void look_where(int signal_number)
{
	(void)signal_number;
	seen_on = (uintptr_t)__builtin_frame_address(0);
}

static int be_served_on_the_alternate_stack(void)
{
	static char stack[64 << 10];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = look_where, .sa_flags = SA_ONSTACK };

	if (sigaltstack(&alternate, NULL) || sigaction(SIGBUS, &action, NULL))
		return 1;
	if (umemcg_create(NULL, NULL, &group) || umemcg_map(group, MIB, (void **)&region))
		return 2;
	region[0] = 1;
	raise(SIGBUS);
	return seen_on < (uintptr_t)stack || seen_on >= (uintptr_t)stack + sizeof(stack);
}

static int have_no_room(void (*handler)(int))
{
	const struct sigaction action = { .sa_handler = handler };

	sigaction(SIGBUS, &action, NULL);
	if (umemcg_create(NULL, NULL, &group) || umemcg_map(group, MIB, (void **)&region))
		return 1;
	if (umemcg_pin(region, PAGE) || umemcg_set_max(group, umemcg_get_current(group)))
		return 2;
	region[PAGE] = 1;
	return 0;
}

static int status_of(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

/* In children: the library keeps the handler that it found at its first region. */
static void without_a_handler_the_program_ends_by_sigbus(void **state)
{
	pid_t child = fork();

	(void)state;
	if (!child)
		_exit(have_no_room(SIG_DFL));
	assert_int_equal(WTERMSIG(status_of(child)), SIGBUS);
	child = fork();
	if (!child)
		_exit(have_no_room(SIG_IGN));
	assert_int_equal(WTERMSIG(status_of(child)), SIGBUS);
}

static void a_handler_finds_the_stack_that_it_asked_for(void **state)
{
	pid_t child = fork();

	(void)state;
	if (!child)
		_exit(be_served_on_the_alternate_stack());
	assert_int_equal(status_of(child), 0);
}

#define test_region(name) cmocka_unit_test_setup_teardown(name, map_region, unmap_region)

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* Before this process has a region. */
		cmocka_unit_test(without_a_handler_the_program_ends_by_sigbus),
		cmocka_unit_test(a_handler_finds_the_stack_that_it_asked_for),
		test_region(a_region_costs_what_is_touched_and_is_zero),
		test_region(a_region_may_be_larger_than_max_by_far),
		test_region(jumping_about_fills_nothing_else),
		test_region(going_on_fills_ahead_but_not_beyond_the_limit),
		test_region(errno_stays_what_it_was),
		test_region(a_touch_without_room_is_sigbus_there_and_may_be_tried_again),
		test_region(what_makes_no_room_for_a_page_does_not_keep_a_touch_waiting),
		test_region(what_is_not_ours_goes_to_the_handler_that_was_there),
		test_region(a_system_call_gets_efault_unless_the_page_is_pinned),
		test_region(pages_that_the_program_drops_come_back_as_zeros),
		test_region(a_child_has_neither_the_region_nor_its_charge),
	};

	if (!touch_is_possible())
		return 77;
	if (touch_prepare())
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
