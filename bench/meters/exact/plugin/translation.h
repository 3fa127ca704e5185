/* SPDX-License-Identifier: MIT */
/*
 * What is added to code when the emulator translates it: to each instruction an addition to its
 * symbol's cell, and a callback to those that begin or end something. The additions are made one by
 * one since a fault may leave a block in its middle.
 */
#ifndef EXACT_PLUGIN_TRANSLATION_H
#define EXACT_PLUGIN_TRANSLATION_H

#include "api.h"

/** translation_callback - a block is translated */
void translation_callback(qemu_plugin_id_t id, struct qemu_plugin_tb *block);

#endif
