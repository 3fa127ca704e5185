/* SPDX-License-Identifier: MIT */
/*
 * The counting plug-in, in a guest that executes what the tests say. All tests fill parts of one
 * guest, whose counts are read at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "meters/exact/counts.h"
#include "plugin_emulator.h"

#define TEXT UINT64_C(0xffffffff81000000)
#define USER UINT64_C(0x401000)

static struct counts *counts;

/* The kernel's functions, 4 KiB apart. */
static const char *const functions[] = {
	"asm_common_interrupt",
	"asm_exc_page_fault",
	"irqentry_exit",
	"__do_softirq",
	"__switch_to_asm",
	"ret_from_fork",
	"kthread",
	"do_idle",
	"syscall_exit_to_user_mode",
	"do_task_dead",
	"entry_SYSCALL_64",
	"work",
	"tail",
};

#define NR_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static uint64_t address_of(const char *name)
{
	for (size_t i = 0; i < NR_FUNCTIONS; i++) {
		if (!strcmp(functions[i], name))
			return TEXT + i * 0x1000;
	}
	fail_msg("no function %s", name);
	return 0;
}

/* nop at a function's first byte, or inside of it */
static void enter(const char *name)
{
	emulator_begin(emulator_fetch(address_of(name), "\x90", 1));
}

static void inside(const char *name)
{
	emulator_begin(emulator_fetch(address_of(name) + 1, "\x90", 1));
}

static void call(const char *name, uint64_t slot)
{
	struct qemu_plugin_insn *instruction =
		emulator_fetch(address_of(name) + 2, "\xe8\0\0\0\0", 5);

	emulator_begin(instruction);
	emulator_access(instruction, true, slot);
}

static void ret(const char *name, uint64_t slot)
{
	struct qemu_plugin_insn *instruction = emulator_fetch(address_of(name) + 8, "\xc3", 1);

	emulator_begin(instruction);
	emulator_access(instruction, false, slot);
}

static void iret(void)
{
	emulator_begin(emulator_fetch(address_of("asm_common_interrupt") + 9, "\x48\xcf", 2));
}

static void user(void)
{
	emulator_begin(emulator_fetch(USER, "\x90", 1));
}

static void mark(unsigned int id)
{
	char bytes[7] = "\x0f\x1f\x80..\x43\x4d";

	bytes[3] = (char)(id & 0xff);
	bytes[4] = (char)(id >> 8);
	emulator_begin(emulator_fetch(USER + 16, bytes, sizeof(bytes)));
}

/* Three instructions, of which the second saves and the third loads a stack pointer. */
static void switch_tasks(uint64_t from, uint64_t to)
{
	struct qemu_plugin_insn *save =
		emulator_fetch(address_of("__switch_to_asm") + 4, "\x90", 1);
	struct qemu_plugin_insn *load =
		emulator_fetch(address_of("__switch_to_asm") + 5, "\x90", 1);

	enter("__switch_to_asm");
	emulator_begin(save);
	emulator_access(save, true, 0x10);
	emulator_access(save, true, from);
	emulator_begin(load);
	emulator_access(load, false, to);
	emulator_access(load, false, 0x20);
}

enum task {
	INIT = 0x10000,
	CHILD = 0x20000,
	THREAD = 0x30000,
	IDLE = 0x40000,
	LATE = 0x50000,
};

static void run_marks(void)
{
	user();
	mark(1);
	user();
	enter("work");
	mark(0xffff);
	user();
	mark(0xffff);
	user();
	mark(0);
	user();
	mark(1);
	user();
	mark(0);
}

/* Of an interrupt that a fault, a softirq and another interrupt in that fall into. */
static void run_interrupts(void)
{
	mark(2);
	enter("asm_exc_page_fault");
	enter("asm_common_interrupt");  /* 1 interrupt */
	enter("asm_exc_page_fault");    /* 2 */
	enter("irqentry_exit");         /* 3: of the fault */
	inside("asm_common_interrupt"); /* 4 */
	enter("__do_softirq");          /* 1 deferred */
	enter("asm_common_interrupt");  /* 5 */
	enter("irqentry_exit");         /* 2 deferred */
	inside("work");                 /* 3 */
	ret("__do_softirq", 0x100);     /* 4 */
	inside("asm_common_interrupt"); /* 6 */
	enter("irqentry_exit");         /* a task again */
	inside("work");
	enter("irqentry_exit"); /* of the first fault */
	inside("work");
	mark(0xffff);
	mark(0);
}

static void run_tasks(void)
{
	mark(3);
	switch_tasks(INIT, CHILD); /* 3 of the task */
	enter("ret_from_fork");    /* 1 undecided */
	enter("syscall_exit_to_user_mode");
	user();
	switch_tasks(CHILD, THREAD);
	inside("__switch_to_asm"); /* 1 undecided */
	enter("ret_from_fork");    /* 2 */
	enter("kthread");
	inside("work");
	switch_tasks(THREAD, IDLE); /* 5 deferred, with what went before 7 */
	enter("do_idle");
	switch_tasks(IDLE, CHILD); /* 4 idle */
	enter("do_task_dead");
	switch_tasks(CHILD, INIT);
	user();
	switch_tasks(INIT, CHILD); /* another, at the same address */
	inside("__switch_to_asm");
	enter("ret_from_fork");
	enter("kthread");
	switch_tasks(CHILD, INIT); /* 6 deferred */
	switch_tasks(INIT, LATE);
	enter("ret_from_fork");
	switch_tasks(LATE, THREAD); /* 4 of a task that is new and no thread */
	switch_tasks(THREAD, INIT); /* 3 deferred */
	mark(0);
}

static void run_repetitions(void)
{
	struct qemu_plugin_insn *store, *copy, *scan;

	mark(4);
	store = emulator_fetch(address_of("work") + 16, "\xf3\x48\xab", 3);
	copy = emulator_fetch(address_of("work") + 19, "\xf3\xa4", 2);
	scan = emulator_fetch(address_of("work") + 21, "\xf2\xae", 2);
	for (unsigned int i = 0; i < 10; i++) {
		emulator_begin(store);
		emulator_access(store, true, 0x100);
		emulator_begin(copy);
		emulator_access(copy, false, 0x100);
		emulator_access(copy, true, 0x200);
		emulator_begin(scan);
		emulator_access(scan, false, 0x100);
	}
	emulator_begin(store);
	emulator_begin(copy);
	mark(0);
}

static void run_calls(void)
{
	mark(5);
	enter("entry_SYSCALL_64"); /* 1 */
	call("entry_SYSCALL_64", 0x1000);
	enter("work"); /* 3 */
	call("work", 0xff0);
	enter("irqentry_exit"); /* 5 */
	enter("tail");          /* 6, by a jump */
	ret("tail", 0xff0);
	enter("asm_common_interrupt"); /* an interrupt in work() */
	call("asm_common_interrupt", 0x900);
	enter("irqentry_exit"); /* 8 */
	ret("irqentry_exit", 0x900);
	iret(); /* 10 */
	inside("work");
	ret("work", 0x1000); /* 12 */
	iret();              /* 13 */
	user();
	mark(0);
}

static const struct count_symbol *symbol_of(const struct count_part *part, uint64_t address)
{
	for (size_t i = 0; i < part->nr_symbols; i++) {
		if (part->symbols[i].address == address)
			return &part->symbols[i];
	}
	return NULL;
}

static void assert_contexts(const struct count_part *part, uint64_t nr_task, uint64_t nr_interrupt,
			    uint64_t nr_deferred, uint64_t nr_idle)
{
	assert_int_equal(count_part_sum(part, COUNT_TASK, false), nr_task);
	assert_int_equal(count_part_sum(part, COUNT_INTERRUPT, false), nr_interrupt);
	assert_int_equal(count_part_sum(part, COUNT_DEFERRED, false), nr_deferred);
	assert_int_equal(count_part_sum(part, COUNT_IDLE, false), nr_idle);
}

static void what_lies_between_marks_is_counted_and_they_are_not(void **state)
{
	const struct count_part *part = counts_part(counts, 1);

	(void)state;
	assert_non_null(part);
	assert_int_equal(part->nr_entered, 2);
	assert_contexts(part, 1, 0, 0, 0);
	assert_int_equal(count_part_sum(part, COUNT_TASK, true), 4);
	assert_string_equal(part->symbols[0].name, "[user]");
	assert_int_equal(part->nr_iterations, 2);
	assert_int_equal(part->iterations[0].nr_kernel, 1);
	assert_int_equal(part->iterations[0].nr_user, 1);
	assert_int_equal(part->iterations[1].nr_kernel, 0);
	assert_int_equal(part->iterations[1].nr_user, 1);
}

static void faults_in_interrupts_do_not_end_them(void **state)
{
	const struct count_part *part = counts_part(counts, 2);

	(void)state;
	assert_int_equal(part->nr_interrupts, 2);
	assert_contexts(part, 5, 6, 4, 0);
	assert_int_equal(part->iterations[0].nr_kernel, 5);
	assert_int_equal(part->iterations[0].nr_interrupts, 2);
	/* The last instruction of what handles softirqs is its own. */
	assert_int_equal(
		symbol_of(part, address_of("__do_softirq"))->nr_instructions[COUNT_DEFERRED], 2);
}

static void a_task_is_booked_by_what_it_turns_out_to_be(void **state)
{
	const struct count_part *part = counts_part(counts, 3);

	(void)state;
	/* init 3, child 2 + 3, again 1 + 3, init 3 + 3, late 4 */
	assert_contexts(part, 22, 0, 7 + 6 + 3, 4);
	assert_int_equal(count_part_sum(part, COUNT_TASK, true), 2);
}

static void rounds_of_rep_are_repetitions(void **state)
{
	const struct count_part *part = counts_part(counts, 4);
	const struct count_symbol *work = symbol_of(part, address_of("work"));

	(void)state;
	assert_int_equal(work->nr_instructions[COUNT_TASK], 32);
	assert_int_equal(work->nr_repetitions[COUNT_TASK], 30);
}

static void assert_call(const char *caller, const char *callee, uint64_t nr_calls,
			uint64_t nr_instructions)
{
	const struct count_part *part = counts_part(counts, 5);
	const uint64_t address = caller ? address_of(caller) : 0;

	for (size_t i = 0; i < part->nr_calls; i++) {
		if (part->calls[i].caller != address || part->calls[i].callee != address_of(callee))
			continue;
		assert_int_equal(part->calls[i].nr_calls, nr_calls);
		assert_int_equal(part->calls[i].nr_instructions, nr_instructions);
		return;
	}
	fail_msg("no call of %s", callee);
}

static void calls_count_what_they_called(void **state)
{
	(void)state;
	assert_call(NULL, "entry_SYSCALL_64", 1, 13);
	assert_call("entry_SYSCALL_64", "work", 1, 10);
	assert_call("work", "irqentry_exit", 1, 3);
	assert_call("irqentry_exit", "tail", 1, 2);
	/* Of the interrupt, what is in task context. */
	assert_call(NULL, "asm_common_interrupt", 1, 3);
	assert_int_equal(counts_part(counts, 5)->nr_calls, 5);
}

/* Runs the guest, and gives its counts. */
static int run(void **state)
{
	char symbols[] = "/tmp/umemcg-symbols-XXXXXX", out[] = "/tmp/umemcg-counts-XXXXXX";
	const qemu_info_t info = { .target_name = "x86_64",
				   .system_emulation = true,
				   .system = { 1, 1 } };
	char first[64], second[64], third[] = "calls=on", error[COUNTS_ERROR];
	char *arguments[] = { first, second, third };
	FILE *file = fdopen(mkstemp(symbols), "w");

	(void)state;
	for (size_t i = 0; i < NR_FUNCTIONS; i++)
		fprintf(file, "%llx %s\n", (unsigned long long)address_of(functions[i]),
			functions[i]);
	fclose(file);
	close(mkstemp(out));
	snprintf(first, sizeof(first), "symbols=%s", symbols);
	snprintf(second, sizeof(second), "out=%s", out);
	if (qemu_plugin_install(0, &info, 3, arguments))
		return -1;
	run_marks();
	run_interrupts();
	run_tasks();
	run_repetitions();
	run_calls();
	emulator_end();
	unlink(symbols);
	if (counts_read(out, &counts, error)) {
		fprintf(stderr, "%s\n", error);
		return -1;
	}
	unlink(out);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	counts_destroy(counts);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_lies_between_marks_is_counted_and_they_are_not),
		cmocka_unit_test(faults_in_interrupts_do_not_end_them),
		cmocka_unit_test(a_task_is_booked_by_what_it_turns_out_to_be),
		cmocka_unit_test(rounds_of_rep_are_repetitions),
		cmocka_unit_test(calls_count_what_they_called),
	};

	return cmocka_run_group_tests(tests, run, finish);
}
