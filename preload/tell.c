/* SPDX-License-Identifier: MIT */
#include "tell.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "mappings.h"
#include "shared/attach.h"
#include "shared/ring.h"

static void print(const char *program, const char *why)
{
	const char *const parts[] = { "umemcg: ", program, ": ", why, "\n" };
	struct iovec line[sizeof(parts) / sizeof(*parts)];

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		line[i] = (struct iovec){ (void *)parts[i], strlen(parts[i]) };
	if (writev(STDERR_FILENO, line, sizeof(parts) / sizeof(*parts)) < 0)
		return;
}

/* The report has room for the end of a long path, and for the reason behind it. */
void tell_unseen(const char *program, const char *why)
{
	char text[sizeof(((struct umemcg_report *)0)->text)];
	size_t length = strlen(program), why_length = strlen(why), room;

	if (!attach_segment()) {
		print(program, why);
		return;
	}
	why_length = why_length < sizeof(text) - 16 ? why_length : sizeof(text) - 16;
	room = sizeof(text) - 1 - why_length - 2;
	if (length > room) {
		program += length - room;
		length = room;
	}
	memcpy(text, program, length);
	memcpy(text + length, ": ", 2);
	memcpy(text + length + 2, why, why_length);
	text[length + 2 + why_length] = '\0';
	ring_text(attach_segment(), attach_process(), UMEMCG_REPORT_UNSEEN, 0, text);
}

static void tell_passed(uint64_t nr_bytes)
{
	if (attach_segment())
		ring_text(attach_segment(), attach_process(), UMEMCG_REPORT_UNCOUNTED, nr_bytes,
			  "");
}

/* Whoever asked for strictness would rather have too much charged than too little. */
static __attribute__((constructor)) void tell_begin(void)
{
	const char *strict = secure_getenv("UMEMCG_STRICT");

	mappings_ops = (struct mappings_ops){
		.limit = attach_limit,
		.passed = tell_passed,
		.keeps_released = strict && !strcmp(strict, "1"),
	};
}
