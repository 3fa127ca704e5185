/* SPDX-License-Identifier: MIT */
/*
 * Limits, as they are written on a command line. The library's parser of control files decides:
 * a value is tried on a group of this process's own before it is used in a tree.
 */
#ifndef UMEMCG_CMD_LIMIT_H
#define UMEMCG_CMD_LIMIT_H

#include <stdint.h>

#define LIMIT_ACCEPTED "bytes, with at most one of K M G T P E behind them, or \"max\""

/**
 * limit_parse - read a size as memory.max does
 *
 * Return: 0; -EINVAL; -ERANGE; -ENOMEM; -EOPNOTSUPP when accounting is off.
 */
int limit_parse(const char *text, uint64_t *ret_nr_bytes);

/** limit_try - would a group accept @value for @file? As umemcg_write() */
int limit_try(const char *file, const char *value);

#endif
