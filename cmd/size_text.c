/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "size_text.h"
#include "umemcg.h"

/* Rounds to the nearest; two digits at least, so that the error is below 5 %. */
const char *size_text(uint64_t nr_bytes, bool is_exact, char text[SIZE_TEXT_BYTES])
{
	const char *suffix = "KMGTPE";
	double amount = (double)nr_bytes / 1024;

	if (nr_bytes == UMEMCG_MAX) {
		snprintf(text, SIZE_TEXT_BYTES, "max");
	} else if (is_exact || nr_bytes < 1024) {
		snprintf(text, SIZE_TEXT_BYTES, "%" PRIu64, nr_bytes);
	} else {
		for (; amount >= 1023.5; amount /= 1024)
			suffix++;
		snprintf(text, SIZE_TEXT_BYTES, amount < 9.95 ? "%.1f%c" : "%.0f%c", amount,
			 *suffix);
	}
	return text;
}
