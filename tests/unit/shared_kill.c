/* SPDX-License-Identifier: MIT */
/* The policy "kill" of a shared group, asked for by charges from outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "child.h"
#include "runtime_dir.h"
#include "shared/death.h"
#include "shared/kill.h"
#include "shared/segment.h"
#include "shared/slot.h"
#include "shared/tree.h"
#include "tree_fixture.h"

static void set(const char *path, const char *file, const char *value)
{
	int r = umemcg_tree_write(tree, path, file, value);

	if (r)
		fail_msg("%s %s=%s: %d", path, file, value, r);
}

static void check_event(const char *path, const char *file, const char *event, unsigned int nr)
{
	char text[512], line[64];

	assert_true(umemcg_tree_read(tree, path, file, text, sizeof(text)) > 0);
	snprintf(line, sizeof(line), "%s %u\n", event, nr);
	if (strncmp(text, line, strlen(line)) && !strstr(text, line))
		fail_msg("%s %s: expected \"%s %u\" in\n%s", path, file, event, nr, text);
}

static uint32_t claim(const char *path, pid_t pid, uint64_t nr_bytes)
{
	uint32_t leaf = 0;

	assert_int_equal(umemcg_tree_claim(tree, path, pid, UMEMCG_MAX, &leaf), 0);
	assert_int_equal(umemcg_tree_charge(tree, leaf, nr_bytes), 0);
	return leaf;
}

static bool is_killed(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
	return info.si_pid == pid && info.si_code == CLD_KILLED && info.si_status == SIGKILL;
}

/* Two processes in /a/x and /a/y below /a, of 10 MiB. */
struct two {
	pid_t large, small;
	uint32_t large_leaf, small_leaf;
};

static void make_two(struct two *two)
{
	assert_int_equal(umemcg_tree_create(tree, "/a"), 0);
	assert_int_equal(umemcg_tree_create(tree, "/a/x"), 0);
	assert_int_equal(umemcg_tree_create(tree, "/a/y"), 0);
	set("/a", "memory.max", "10M");
	two->large = fork_waiting_child(NULL);
	two->small = fork_waiting_child(NULL);
	two->large_leaf = claim("/a/x", two->large, 6 * MIB);
	two->small_leaf = claim("/a/y", two->small, 2 * MIB);
}

static void bury_two(const struct two *two)
{
	bury(two->large);
	bury(two->small);
}

static void nobody_is_killed_by_default(void **state)
{
	struct two two;

	(void)state;
	make_two(&two);
	assert_int_equal(umemcg_tree_charge(tree, two.small_leaf, 4 * MIB), -ENOMEM);
	assert_int_equal(umemcg_tree_relieve(tree, two.small_leaf, 4 * MIB), -ENOMEM);
	umemcg_tree_tell_refused(tree, two.small_leaf, 4 * MIB);
	assert_false(is_killed(two.large) || is_killed(two.small));
	check_event("/a", "memory.events", "oom", 1);
	check_event("/a", "memory.events", "oom_kill", 0);
	bury_two(&two);
}

static void a_charge_that_may_be_tried_again_kills_nobody(void **state)
{
	struct two two;

	(void)state;
	make_two(&two);
	set("/a", "memory.oom.policy", "kill");
	assert_int_equal(umemcg_tree_charge(tree, two.small_leaf, 4 * MIB), -ENOMEM);
	assert_false(is_killed(two.large) || is_killed(two.small));
	check_event("/a", "memory.events", "oom", 0);
	/* What was charged too much, as it has turned out. */
	umemcg_tree_uncharge(tree, two.small_leaf, MIB);
	umemcg_tree_uncharge(tree, two.large_leaf, 3 * MIB);
	assert_int_equal(umemcg_tree_charge(tree, two.small_leaf, 4 * MIB), 0);
	assert_false(is_killed(two.large) || is_killed(two.small));
	bury_two(&two);
}

/* As a supervisor does, who has looked and found that what is charged is there. */
static int charge_or_kill(uint32_t leaf, uint64_t nr_bytes)
{
	int r = umemcg_tree_charge(tree, leaf, nr_bytes);

	if (r == -ENOMEM && umemcg_tree_relieve(tree, leaf, nr_bytes) != -ENOMEM)
		r = umemcg_tree_charge(tree, leaf, nr_bytes);
	return r;
}

static void the_largest_process_is_killed_and_the_charge_fits(void **state)
{
	struct umemcg_report report;
	struct two two;
	char text[32];

	(void)state;
	make_two(&two);
	set("/a", "memory.oom.policy", "kill");
	assert_int_equal(charge_or_kill(two.small_leaf, 4 * MIB), 0);
	assert_true(is_killed(two.large));
	assert_false(is_killed(two.small));
	/* To the byte, and the dead one has left nothing. */
	umemcg_tree_read(tree, "/a", "memory.current", text, sizeof(text));
	assert_string_equal(text, "6291456\n");
	check_event("/a", "memory.events.local", "max", 1);
	check_event("/a", "memory.events.local", "oom", 1);
	check_event("/a", "memory.events.local", "oom_kill", 0);
	check_event("/a/x", "memory.events.local", "oom_kill", 1);
	check_event("/a", "memory.events", "oom_kill", 1);
	check_event("/", "memory.events", "oom_kill", 1);
	check_event("/a/y", "memory.events", "oom_kill", 0);
	assert_int_equal(umemcg_tree_wait(tree, 0, 0, &report), 0);
	assert_int_equal(report.kind, UMEMCG_REPORT_KILLED);
	assert_int_equal(report.pid, two.large);
	assert_int_equal(report.nr_bytes, 6 * MIB);
	assert_int_equal(report.nr_bytes_max, 10 * MIB);
	assert_string_equal(report.group, "/a");
	assert_int_equal(report.nr_consumers, 1);
	assert_int_equal(report.consumers[0].pid, two.small);
	assert_int_equal(report.consumers[0].nr_bytes, 4 * MIB);
	assert_int_equal(umemcg_tree_wait(tree, report.sequence, 0, &report), -ETIMEDOUT);
	bury_two(&two);
}

static void all_are_killed_of_a_group_that_goes_as_one(void **state)
{
	struct two two;
	uint32_t leaf;
	pid_t asking;

	(void)state;
	make_two(&two);
	set("/a", "memory.oom.policy", "kill");
	assert_int_equal(umemcg_tree_create(tree, "/a/x/z"), 0);
	set("/a/x", "memory.oom.group", "1");
	asking = fork_waiting_child(NULL);
	leaf = claim("/a/x/z", asking, MIB);
	assert_int_equal(charge_or_kill(two.small_leaf, 4 * MIB), 0);
	assert_true(is_killed(two.large) && is_killed(asking));
	assert_false(is_killed(two.small));
	check_event("/a/x", "memory.events.local", "oom_group_kill", 1);
	check_event("/a/x", "memory.events", "oom_kill", 2);
	check_event("/a", "memory.events", "oom_group_kill", 1);
	assert_int_equal(charge_or_kill(leaf, 1), -EINVAL);
	bury(asking);
	bury_two(&two);
}

static void a_stopped_process_is_killed_too(void **state)
{
	struct two two;

	(void)state;
	make_two(&two);
	set("/a", "memory.oom.policy", "kill");
	assert_int_equal(kill(two.large, SIGSTOP), 0);
	assert_int_equal(charge_or_kill(two.small_leaf, 4 * MIB), 0);
	assert_true(is_killed(two.large));
	bury_two(&two);
}

/* In a child: another handle of the tree, by which the child holds a group. */
static void hold_group(void)
{
	struct umemcg_tree *own;

	if (umemcg_tree_open(NAME, 0, &own) || umemcg_tree_hold(own, "/a"))
		_exit(1);
}

static void who_holds_a_group_is_spared(void **state)
{
	struct two two;
	uint32_t leaf;
	pid_t holder;

	(void)state;
	make_two(&two);
	set("/a", "memory.max", "20M");
	set("/a", "memory.oom.policy", "kill");
	holder = fork_waiting_child(hold_group);
	leaf = claim("/a", holder, 8 * MIB);
	assert_int_equal(charge_or_kill(two.small_leaf, 6 * MIB), 0);
	assert_true(is_killed(two.large));
	assert_false(is_killed(holder));
	/* The one that asks is the largest that may go then, and it does not come back. */
	assert_int_equal(charge_or_kill(two.small_leaf, 8 * MIB), -EINVAL);
	assert_true(is_killed(two.small));
	/* Nobody is left to be killed. */
	assert_int_equal(charge_or_kill(leaf, 16 * MIB), -ENOMEM);
	assert_false(is_killed(holder));
	bury(holder);
	bury_two(&two);
}

static void another_group_is_left_alone(void **state)
{
	struct two two;
	uint32_t leaf;
	pid_t other;

	(void)state;
	make_two(&two);
	assert_int_equal(umemcg_tree_create(tree, "/b"), 0);
	set("/a", "memory.oom.policy", "kill");
	other = fork_waiting_child(NULL);
	leaf = claim("/b", other, 64 * MIB);
	assert_int_equal(charge_or_kill(two.small_leaf, 4 * MIB), 0);
	assert_false(is_killed(other));
	assert_int_equal(charge_or_kill(leaf, MIB), 0);
	bury(other);
	bury_two(&two);
}

/* The tree as whoever is refused sees it. */
static void look_into(struct segment *segment, uint32_t *ret_group)
{
	assert_int_equal(segment_open(segment, NAME, false), 0);
	assert_int_equal(slot_claim(segment, 0, getpid(), PROCESS_LOOKS, &segment->process), 0);
	slot_set_live(segment, segment->process);
	*ret_group = tree_find(segment, "/a");
}

static void look_away(struct segment *segment)
{
	slot_free(segment, segment->process);
	segment_close(segment);
}

static void nobody_is_killed_for_what_fits_by_now(void **state)
{
	struct segment segment;
	uint32_t group, asking;
	struct two two;

	(void)state;
	make_two(&two);
	set("/a", "memory.oom.policy", "kill");
	look_into(&segment, &group);
	asking = slot_find(&segment, two.small);
	assert_true(kill_for(&segment, asking, group, 2 * MIB));
	assert_false(is_killed(two.large) || is_killed(two.small));
	check_event("/a", "memory.events", "oom_kill", 0);
	look_away(&segment);
	bury_two(&two);
}

/* Whoever chose it was killed before it came to send the signal. */
static void a_kill_that_was_not_carried_out_is_made_up_for(void **state)
{
	struct segment segment;
	uint32_t group, row;
	struct two two;

	(void)state;
	make_two(&two);
	set("/a", "memory.oom.policy", "kill");
	look_into(&segment, &group);
	row = slot_find(&segment, two.large);
	atomic_store(&segment_process(&segment, row)->killed,
		     atomic_load(&segment_name(&segment, row)->word));
	assert_int_equal(charge_or_kill(two.small_leaf, 4 * MIB), 0);
	assert_true(is_killed(two.large));
	assert_false(is_killed(two.small));
	look_away(&segment);
	bury_two(&two);
}

static void who_has_a_row_after_a_killed_one_is_not_killed_for_it(void **state)
{
	struct segment segment;
	uint32_t group, row;
	struct two two;

	(void)state;
	make_two(&two);
	set("/a", "memory.oom.policy", "kill");
	look_into(&segment, &group);
	row = slot_find(&segment, two.small);
	atomic_store(&segment_process(&segment, row)->killed,
		     atomic_load(&segment_name(&segment, row)->word) - 1);
	assert_int_equal(charge_or_kill(two.small_leaf, 4 * MIB), 0);
	assert_true(is_killed(two.large));
	assert_false(is_killed(two.small));
	look_away(&segment);
	bury_two(&two);
}

static void become_nobody(void)
{
	if (setresuid(65534, 65534, 65534))
		_exit(1);
}

/* Another user asks: whom it may not signal it passes over, and does not wait for in vain. */
static void who_may_not_be_signalled_is_passed_over(void **state)
{
	struct segment segment;
	uint32_t group, asking;
	struct two two;
	int status;
	pid_t child;

	(void)state;
	if (geteuid())
		skip();
	make_two(&two);
	set("/a", "memory.oom.policy", "kill");
	look_into(&segment, &group);
	asking = slot_find(&segment, two.small);
	child = fork();
	if (!child) {
		become_nobody();
		_exit(kill_for(&segment, asking, group, 4 * MIB));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	assert_false(is_killed(two.large) || is_killed(two.small));
	check_event("/a", "memory.events", "oom_kill", 0);
	look_away(&segment);
	bury_two(&two);
}

static void a_pid_that_is_anothers_by_now_is_not_signalled(void **state)
{
	pid_t pid = fork_waiting_child(NULL);
	uint64_t name;

	(void)state;
	assert_int_equal(death_name_of(pid, &name), 0);
	death_bring(name + ((uint64_t)1 << 32));
	death_bring(death_name(0, 1));
	death_bring(death_name(-1, 1));
	assert_false(death_of(name));
	death_bring(name);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_tree(nobody_is_killed_by_default),
		test_in_tree(a_charge_that_may_be_tried_again_kills_nobody),
		test_in_tree(the_largest_process_is_killed_and_the_charge_fits),
		test_in_tree(all_are_killed_of_a_group_that_goes_as_one),
		test_in_tree(a_stopped_process_is_killed_too),
		test_in_tree(who_holds_a_group_is_spared),
		test_in_tree(another_group_is_left_alone),
		test_in_tree(nobody_is_killed_for_what_fits_by_now),
		test_in_tree(a_kill_that_was_not_carried_out_is_made_up_for),
		test_in_tree(who_has_a_row_after_a_killed_one_is_not_killed_for_it),
		test_in_tree(who_may_not_be_signalled_is_passed_over),
		cmocka_unit_test(a_pid_that_is_anothers_by_now_is_not_signalled),
	};

	int r;

	runtime_dir_make();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	runtime_dir_remove();
	return r;
}
