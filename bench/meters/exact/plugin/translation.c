/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "calls.h"
#include "contexts.h"
#include "counters.h"
#include "instructions.h"
#include "meters/exact/mark.h"
#include "parts.h"
#include "symbols.h"
#include "tasks.h"
#include "translation.h"

struct instruction {
	struct qemu_plugin_insn *handle;
	uint64_t address;
	const uint8_t *bytes;
	size_t nr_bytes;
	uint32_t symbol;
};

static void *number_as_data(uint32_t number)
{
	return (void *)(uintptr_t)number;
}

static uint32_t data_as_number(void *data)
{
	return (uintptr_t)data;
}

static void call_back(const struct instruction *instruction, qemu_plugin_callback callback,
		      uint32_t number)
{
	qemu_plugin_register_vcpu_insn_exec_cb(instruction->handle, callback,
					       QEMU_PLUGIN_CB_NO_REGS, number_as_data(number));
}

static void on_mark(unsigned int cpu, void *data)
{
	(void)cpu;
	parts_mark(data_as_number(data));
}

/* The first instruction of a function that plays a part. */
static void on_role(unsigned int cpu, void *data)
{
	(void)cpu;
	switch ((enum symbol_role)data_as_number(data)) {
	case ROLE_INTERRUPT:
		contexts_interrupt();
		break;
	case ROLE_EXCEPTION:
		contexts_exception();
		break;
	case ROLE_INTERRUPT_EXIT:
		contexts_interrupt_exit();
		break;
	case ROLE_SOFTIRQ:
		contexts_softirq();
		break;
	case ROLE_SWITCH:
		tasks_switch_begin();
		break;
	case ROLE_NEW_TASK:
		tasks_new();
		break;
	case ROLE_KERNEL_THREAD:
		tasks_kernel_thread();
		break;
	case ROLE_IDLE_TASK:
		tasks_idle();
		break;
	case ROLE_USER_RETURN:
		tasks_user();
		break;
	case ROLE_TASK_END:
		tasks_end();
		break;
	case ROLE_NONE:
	case ROLE_ENTRY:
	case ROLE_THUNK:
	case ROLE_NR:
		break;
	}
}

static void on_softirq_end(unsigned int cpu, void *data)
{
	(void)cpu;
	contexts_softirq_end(data_as_number(data));
}

static void on_switch_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
			     void *data)
{
	(void)cpu;
	(void)data;
	tasks_switch_access(qemu_plugin_mem_is_store(info), address);
}

static void on_entered(unsigned int cpu, void *data)
{
	(void)cpu;
	calls_entered(data_as_number(data));
}

static void on_called(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	(void)cpu;
	if (qemu_plugin_mem_is_store(info))
		calls_called(data_as_number(data), address);
}

static void on_returned(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	(void)cpu;
	(void)data;
	if (!qemu_plugin_mem_is_store(info))
		calls_returned(address);
}

static void on_kernel_return(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	calls_kernel_return();
}

/* A function's return may be a jump to a thunk that returns for it. */
static bool returns(const struct instruction *instruction)
{
	uint64_t target, end;
	const struct symbol *symbol;

	if (instruction_is_return(instruction->bytes, instruction->nr_bytes))
		return true;
	if (!instruction_is_jump(instruction->bytes, instruction->nr_bytes, instruction->address,
				 &target))
		return false;
	symbol = symbol_at(symbols_find(target, &end));
	return symbol->role == ROLE_THUNK && symbol->address == target &&
	       strstr(symbol->name, "return");
}

static void follow_contexts(const struct instruction *instruction)
{
	const struct symbol *symbol = symbol_at(instruction->symbol);

	if (symbol->role == ROLE_NONE || address_is_user(instruction->address))
		return;
	if (instruction->address == symbol->address)
		call_back(instruction, on_role, symbol->role);
	if (symbol->role == ROLE_SOFTIRQ && returns(instruction))
		call_back(instruction, on_softirq_end, instruction->symbol);
	if (symbol->role == ROLE_SWITCH)
		qemu_plugin_register_vcpu_mem_cb(instruction->handle, on_switch_access,
						 QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
}

/* Before contexts: an interrupt is entered from the context that it interrupts. */
static void follow_entries(const struct instruction *instruction)
{
	if (instruction->symbol >= SYMBOL_FIRST &&
	    instruction->address == symbol_at(instruction->symbol)->address)
		call_back(instruction, on_entered, instruction->symbol);
}

static void follow_calls(const struct instruction *instruction)
{
	if (instruction_is_call(instruction->bytes, instruction->nr_bytes))
		qemu_plugin_register_vcpu_mem_cb(instruction->handle, on_called,
						 QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
						 number_as_data(instruction->symbol));
	else if (instruction_is_return(instruction->bytes, instruction->nr_bytes))
		qemu_plugin_register_vcpu_mem_cb(instruction->handle, on_returned,
						 QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
	else if (instruction_is_kernel_return(instruction->bytes, instruction->nr_bytes))
		call_back(instruction, on_kernel_return, 0);
}

static void count(const struct instruction *instruction)
{
	qemu_plugin_register_vcpu_insn_exec_inline(instruction->handle, QEMU_PLUGIN_INLINE_ADD_U64,
						   counters_instructions(instruction->symbol), 1);
}

static void count_repetitions(const struct instruction *instruction)
{
	enum instruction_repeats repeats =
		instruction_repeats(instruction->bytes, instruction->nr_bytes);
	uint64_t *cell;

	if (repeats == REPEATS_NOT)
		return;
	cell = counters_repetitions(instruction->symbol);
	/* It is executed once a round and, unless it compares, once more to see that it is over. */
	if (repeats == REPEATS_COMPARE)
		qemu_plugin_register_vcpu_insn_exec_inline(instruction->handle,
							   QEMU_PLUGIN_INLINE_ADD_U64, cell, 1);
	else
		qemu_plugin_register_vcpu_mem_inline(instruction->handle,
						     repeats == REPEATS_COPY ? QEMU_PLUGIN_MEM_R
									     : QEMU_PLUGIN_MEM_RW,
						     QEMU_PLUGIN_INLINE_ADD_U64, cell, 1);
}

static void translate(const struct instruction *instruction)
{
	unsigned int id;

	if (address_is_user(instruction->address) && instruction->nr_bytes == MARK_NR_BYTES &&
	    mark_read(instruction->bytes, &id)) {
		call_back(instruction, on_mark, id);
		return;
	}
	if (calls_executed())
		follow_entries(instruction);
	follow_contexts(instruction);
	count(instruction);
	count_repetitions(instruction);
	if (calls_executed()) {
		follow_calls(instruction);
		qemu_plugin_register_vcpu_insn_exec_inline(
			instruction->handle, QEMU_PLUGIN_INLINE_ADD_U64, calls_executed(), 1);
	}
}

void translation_callback(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	size_t nr_instructions = qemu_plugin_tb_n_insns(block);
	uint64_t end = 0;
	uint32_t symbol = 0;

	(void)id;
	for (size_t i = 0; i < nr_instructions; i++) {
		struct qemu_plugin_insn *handle = qemu_plugin_tb_get_insn(block, i);
		struct instruction instruction = {
			.handle = handle,
			.address = qemu_plugin_insn_vaddr(handle),
			.bytes = qemu_plugin_insn_data(handle),
			.nr_bytes = qemu_plugin_insn_size(handle),
		};

		if (instruction.address >= end)
			symbol = symbols_find(instruction.address, &end);
		instruction.symbol = symbol;
		translate(&instruction);
	}
}
