/* SPDX-License-Identifier: MIT */
/* What a guest or a program printed, made fit for a message. */
#ifndef BENCH_METERS_EXACT_CONSOLE_H
#define BENCH_METERS_EXACT_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>

#define CONSOLE_LINES 10
#define CONSOLE_WIDTH 120

/**
 * console_clean - leave out what could steer a terminal
 * @text: changed in place: only printable ASCII and newlines stay
 */
void console_clean(char *text);

/**
 * console_append - append the last lines of a text to a message
 * @message: on which each line follows as "\n    | LINE", cut at CONSOLE_WIDTH
 * @size:    of the message; lines that do not fit are left out, the oldest first
 * @text:    clean; empty lines do not count
 */
void console_append(char *message, size_t size, const char *text);

/**
 * console_panic - why the kernel panicked
 * @text:       clean
 * @ret_reason: "Attempted to kill init! ...", of so many bytes as @size
 *
 * Return: whether it did.
 */
bool console_panic(const char *text, char *ret_reason, size_t size);

/** console_last - the last line that is not empty, of so many bytes as @size; or "" */
void console_last(const char *text, char *ret_line, size_t size);

#endif
