/* SPDX-License-Identifier: MIT */
/*
 * Stands in for the emulator before the counting plug-in: of a processor that executes what a test
 * says, one instruction at a time. Each is translated alone.
 */
#ifndef TESTS_UNIT_BENCH_PLUGIN_EMULATOR_H
#define TESTS_UNIT_BENCH_PLUGIN_EMULATOR_H

#include "meters/exact/plugin/api.h"

/* What the plug-in offers. */
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

/** emulator_fetch - the instruction at an address, translated when it is met for the first time */
struct qemu_plugin_insn *emulator_fetch(uint64_t address, const char *bytes, size_t nr_bytes);

/** emulator_begin - it executes, up to its accesses of memory */
void emulator_begin(const struct qemu_plugin_insn *instruction);

/** emulator_access - it has accessed memory */
void emulator_access(const struct qemu_plugin_insn *instruction, bool writes, uint64_t address);

/** emulator_end - the guest has ended */
void emulator_end(void);

#endif
