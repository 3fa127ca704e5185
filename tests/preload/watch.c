/* SPDX-License-Identifier: MIT */
/*
 * Loaded into a program together with the functions that account its mappings: limits it, and
 * writes down from time to time what is charged, and what the system says is there. The program
 * runs on while the system looks: of the charges before and after that, the greater one counts.
 *
 *	WATCH_MAX	limit of the main thread's group, in bytes
 *	WATCH_FILE	where to write: a line each WATCH_MS milliseconds, and one at exit
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "books.h"
#include "umemcg.h"

static int file = -1;

/* Bytes of anonymous memory, in pages of the process alone or not. */
static uint64_t resident(void)
{
	char text[4096];
	int fd = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
	ssize_t nr_read = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const char *line;

	close(fd);
	if (nr_read < 0)
		return 0;
	text[nr_read] = 0;
	line = strstr(text, "Anonymous:");
	return line ? strtoull(line + strlen("Anonymous:"), NULL, 10) << 10 : 0;
}

static uint64_t nr_bytes_charged(const struct umemcg_stat *stat)
{
	return stat->nr_bytes_anon + stat->nr_bytes_slab;
}

static void write_line(const char *when)
{
	struct umemcg_stat stat, after;
	uint64_t nr_bytes_there;
	char line[256];
	int length;

	if (umemcg_get_stat(NULL, &stat))
		return;
	nr_bytes_there = resident();
	if (umemcg_get_stat(NULL, &after))
		return;
	if (nr_bytes_charged(&after) > nr_bytes_charged(&stat))
		stat = after;
	length = snprintf(line, sizeof(line),
			  "%s anon=%lu slab=%lu stack=%lu released=%lu reserved=%lu uncounted=%lu "
			  "spans=%lu resident=%lu\n",
			  when, stat.nr_bytes_anon, stat.nr_bytes_slab, stat.nr_bytes_stack,
			  books_nr_bytes(SPAN_RELEASED), books_nr_bytes(SPAN_RESERVED),
			  books_nr_bytes(SPAN_UNCOUNTED), spans_nr(), nr_bytes_there);
	if (write(file, line, (size_t)length) != length)
		_exit(99);
}

static void *watch(void *arg)
{
	long nr_ms = atol(arg);
	struct timespec pause = { nr_ms / 1000, nr_ms % 1000 * 1000000 };

	for (;;) {
		nanosleep(&pause, NULL);
		write_line("now");
	}
	return NULL;
}

__attribute__((constructor)) static void start(void)
{
	const char *name = getenv("WATCH_FILE");
	char *nr_ms = getenv("WATCH_MS");
	const char *max = getenv("WATCH_MAX");
	struct umemcg *group;
	pthread_t thread;

	if (name)
		file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (max && !umemcg_create(NULL, "watched", &group)) {
		umemcg_set_max(group, strtoull(max, NULL, 10));
		umemcg_enter(group);
	}
	if (file >= 0 && nr_ms && !pthread_create(&thread, NULL, watch, nr_ms))
		pthread_detach(thread);
}

__attribute__((destructor)) static void end(void)
{
	if (file >= 0)
		write_line("end");
}
