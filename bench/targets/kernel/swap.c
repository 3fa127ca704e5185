/* SPDX-License-Identifier: MIT */
#include "targets/kernel/swap.h"

#include <stdio.h>

/* One line is the heading. */
bool swap_is_there(void)
{
	FILE *swaps = fopen("/proc/swaps", "r");
	unsigned int nr_lines = 0;
	int c;

	if (!swaps)
		return false;
	while ((c = getc(swaps)) != EOF)
		nr_lines += c == '\n';
	fclose(swaps);
	return nr_lines > 1;
}
