/* SPDX-License-Identifier: MIT */
/*
 * The few things that the library says on standard error: a fault of the program that it survived,
 * an unknown word in its configuration.
 */
#ifndef UMEMCG_BASE_REPORT_H
#define UMEMCG_BASE_REPORT_H

/**
 * report - write one line, "umemcg: " in front and a line end behind
 *
 * Allocates nothing, takes no lock, and leaves errno as it was.
 */
__attribute__((format(printf, 1, 2))) void report(const char *format, ...);

#endif
