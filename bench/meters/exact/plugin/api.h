/* SPDX-License-Identifier: MIT */
/*
 * What the plug-in calls of the emulator: QEMU's interface for TCG plug-ins, version 1. Declared
 * here so that the build needs no emulator; the emulator binds the names when it loads the plug-in.
 */
#ifndef EXACT_PLUGIN_API_H
#define EXACT_PLUGIN_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define API_VERSION 1
#define API_EXPORT  __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;

typedef struct {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	union {
		struct {
			int smp_vcpus;
			int max_vcpus;
		} system;
	};
} qemu_info_t;

struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum qemu_plugin_cb_flags {
	QEMU_PLUGIN_CB_NO_REGS,
};

enum qemu_plugin_op {
	QEMU_PLUGIN_INLINE_ADD_U64,
};

enum qemu_plugin_mem_rw {
	QEMU_PLUGIN_MEM_R = 1,
	QEMU_PLUGIN_MEM_RW = 3,
};

typedef uint32_t qemu_plugin_meminfo_t;

typedef void (*qemu_plugin_tb_callback)(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void (*qemu_plugin_exit_callback)(qemu_plugin_id_t id, void *data);
typedef void (*qemu_plugin_callback)(unsigned int cpu, void *data);
typedef void (*qemu_plugin_mem_callback)(unsigned int cpu, qemu_plugin_meminfo_t info,
					 uint64_t address, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_tb_callback callback);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_exit_callback callback,
				    void *data);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);

/* Of one instruction, callbacks run before the inline additions, and both before it executes. */
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction,
					    qemu_plugin_callback callback,
					    enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *instruction,
						enum qemu_plugin_op operation, void *cell,
						uint64_t added);

/*
 * These run after each access of memory that succeeded. QEMU 7.2 takes R for writes, and W for
 * both: a callback has to ask qemu_plugin_mem_is_store(), and an addition is exact for RW, or for R
 * if the instruction reads as often as it writes.
 */
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction,
				      qemu_plugin_mem_callback callback,
				      enum qemu_plugin_cb_flags flags,
				      enum qemu_plugin_mem_rw access, void *data);
void qemu_plugin_register_vcpu_mem_inline(struct qemu_plugin_insn *instruction,
					  enum qemu_plugin_mem_rw access,
					  enum qemu_plugin_op operation, void *cell,
					  uint64_t added);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);

#endif
