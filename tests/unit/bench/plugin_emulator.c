/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cmocka_test.h"
#include "plugin_emulator.h"

#define NR_HOOKS 4
#define NR_CODE  512

struct hook {
	qemu_plugin_callback callback;
	qemu_plugin_mem_callback mem_callback;
	uint64_t *cell;
	uint64_t added;
	enum qemu_plugin_mem_rw access;
	void *data;
};

struct qemu_plugin_insn {
	uint64_t address;
	uint8_t bytes[8];
	size_t nr_bytes;
	struct hook callbacks[NR_HOOKS];
	struct hook additions[NR_HOOKS];
	struct hook accesses[NR_HOOKS];
	unsigned int nr_callbacks;
	unsigned int nr_additions;
	unsigned int nr_accesses;
};

struct qemu_plugin_tb {
	struct qemu_plugin_insn *instruction;
};

static struct qemu_plugin_insn code[NR_CODE];
static unsigned int nr_code;
static qemu_plugin_tb_callback translate;
static qemu_plugin_exit_callback end;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_tb_callback callback)
{
	(void)id;
	translate = callback;
}

void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_exit_callback callback,
				    void *data)
{
	(void)id;
	(void)data;
	end = callback;
}

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block)
{
	(void)block;
	return 1;
}

struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index)
{
	(void)index;
	return block->instruction;
}

const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction)
{
	return instruction->bytes;
}

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction)
{
	return instruction->nr_bytes;
}

uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction)
{
	return instruction->address;
}

static void add_hook(struct hook *hooks, unsigned int *nr, struct hook hook)
{
	assert_true(*nr < NR_HOOKS);
	hooks[(*nr)++] = hook;
}

void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction,
					    qemu_plugin_callback callback,
					    enum qemu_plugin_cb_flags flags, void *data)
{
	(void)flags;
	add_hook(instruction->callbacks, &instruction->nr_callbacks,
		 (struct hook){ .callback = callback, .data = data });
}

void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *instruction,
						enum qemu_plugin_op operation, void *cell,
						uint64_t added)
{
	(void)operation;
	add_hook(instruction->additions, &instruction->nr_additions,
		 (struct hook){ .cell = cell, .added = added });
}

void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction,
				      qemu_plugin_mem_callback callback,
				      enum qemu_plugin_cb_flags flags,
				      enum qemu_plugin_mem_rw access, void *data)
{
	(void)flags;
	add_hook(instruction->accesses, &instruction->nr_accesses,
		 (struct hook){ .mem_callback = callback, .access = access, .data = data });
}

void qemu_plugin_register_vcpu_mem_inline(struct qemu_plugin_insn *instruction,
					  enum qemu_plugin_mem_rw access,
					  enum qemu_plugin_op operation, void *cell, uint64_t added)
{
	(void)operation;
	add_hook(instruction->accesses, &instruction->nr_accesses,
		 (struct hook){ .cell = cell, .added = added, .access = access });
}

bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info)
{
	return info;
}

struct qemu_plugin_insn *emulator_fetch(uint64_t address, const char *bytes, size_t nr_bytes)
{
	struct qemu_plugin_insn *instruction;

	for (unsigned int i = 0; i < nr_code; i++) {
		if (code[i].address == address && !memcmp(code[i].bytes, bytes, nr_bytes))
			return &code[i];
	}
	assert_true(nr_code < NR_CODE);
	instruction = &code[nr_code++];
	instruction->address = address;
	instruction->nr_bytes = nr_bytes;
	memcpy(instruction->bytes, bytes, nr_bytes);
	translate(0, &(struct qemu_plugin_tb){ instruction });
	return instruction;
}

void emulator_begin(const struct qemu_plugin_insn *instruction)
{
	for (unsigned int i = 0; i < instruction->nr_callbacks; i++)
		instruction->callbacks[i].callback(0, instruction->callbacks[i].data);
	for (unsigned int i = 0; i < instruction->nr_additions; i++)
		*instruction->additions[i].cell += instruction->additions[i].added;
}

void emulator_access(const struct qemu_plugin_insn *instruction, bool writes, uint64_t address)
{
	for (unsigned int i = 0; i < instruction->nr_accesses; i++) {
		const struct hook *hook = &instruction->accesses[i];

		if (!(hook->access & (writes ? 2 : 1)))
			continue;
		if (hook->mem_callback)
			hook->mem_callback(0, writes, address, hook->data);
		else
			*hook->cell += hook->added;
	}
}

void emulator_end(void)
{
	end(0, NULL);
}
