/* SPDX-License-Identifier: MIT */
/* Which functions of the kernel play a part, on x86-64, by their names in 6.1 and 6.12. */
#ifndef EXACT_PLUGIN_ROLES_H
#define EXACT_PLUGIN_ROLES_H

#include <stdbool.h>

#include "symbols.h"

/** role_of - the part that a function of that name plays */
enum symbol_role role_of(const char *name);

/**
 * roles_complete - are there all functions that are needed to tell contexts apart?
 * @path: of the symbols, to complain
 */
bool roles_complete(const char *path);

#endif
