/* SPDX-License-Identifier: MIT */
/* Touching pages that may not be had. For one thread; before the first region of the process. */
#ifndef UMEMCG_TESTS_TOUCH_H
#define UMEMCG_TESTS_TOUCH_H

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "umemcg.h"

static sigjmp_buf touch_failed;
static siginfo_t touch_info;
static volatile sig_atomic_t touch_is_tried;

static void touch_handle(int signal_number, siginfo_t *info, void *context)
{
	(void)signal_number;
	(void)context;
	touch_info = *info;
	if (touch_is_tried)
		siglongjmp(touch_failed, 1);
	if (info->si_code > 0)
		abort();
}

/*
 * In front of libc's: cmocka calls it around each test, and would take the library's handler of
 * SIGBUS away.
 */
void (*signal(int signal_number, void (*handler)(int)))(int);

void (*signal(int signal_number, void (*handler)(int)))(int)
{
	const struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct sigaction before = { .sa_handler = SIG_DFL };

	if (signal_number != SIGBUS)
		sigaction(signal_number, &action, &before);
	return before.sa_handler;
}

/** touch_prepare - keep the SIGBUS that a failing touch is */
static inline int touch_prepare(void)
{
	struct sigaction action = { .sa_sigaction = touch_handle, .sa_flags = SA_SIGINFO };

	return sigaction(SIGBUS, &action, NULL);
}

/** touch_try - write a byte; false if there is no room, with the signal's news in touch_info */
static inline bool touch_try(volatile char *byte, char value)
{
	if (sigsetjmp(touch_failed, 1)) {
		touch_is_tried = 0;
		return false;
	}
	touch_is_tried = 1;
	*byte = value;
	touch_is_tried = 0;
	return true;
}

/** touch_write_page - likewise a whole page */
static inline bool touch_write_page(char *page, const void *source, size_t nr_bytes)
{
	if (!touch_try(page, 0))
		return false;
	memcpy(page, source, nr_bytes);
	return true;
}

/** touch_is_possible - can regions be charged at touch here? Says why not on standard output */
static inline bool touch_is_possible(void)
{
	if (umemcg_map_mode() == UMEMCG_MAP_AT_TOUCH)
		return true;
	puts("SKIP: regions are charged when they are mapped here");
	return false;
}

#endif
