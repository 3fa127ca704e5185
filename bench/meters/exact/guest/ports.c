/* SPDX-License-Identifier: MIT */
/* The guest's way in and out: ports of the emulated machine. */
#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>

#include "meters/exact/guest/ports.h"
#include "meters/exact/job.h"

#define PORT_DEBUG    0xe9
#define PORT_SELECTOR 0x510
#define PORT_DATA     0x511

/* Items of the firmware configuration device; all its numbers are big-endian. */
#define ITEM_SIGNATURE 0x0000
#define ITEM_DIRECTORY 0x0019
#define JOB_FILE       "opt/umemcg/job"

struct directory_entry {
	uint32_t nr_bytes;
	uint16_t item;
	uint16_t reserved;
	char name[56];
};

/* libc's insb() and outsb() do not tell the compiler that they read and write memory. */
static void port_read(uint16_t port, void *to, size_t nr_bytes)
{
	__asm__ volatile("rep insb" : "+D"(to), "+c"(nr_bytes) : "d"(port) : "memory");
}

static void port_write(uint16_t port, const void *from, size_t nr_bytes)
{
	__asm__ volatile("rep outsb" : "+S"(from), "+c"(nr_bytes) : "d"(port) : "memory");
}

/* Reading an item goes on where the last reading of it ended. */
static void item_select(uint16_t item)
{
	outw(item, PORT_SELECTOR);
}

static void item_read(void *to, size_t nr_bytes)
{
	port_read(PORT_DATA, to, nr_bytes);
}

static int find_job(struct directory_entry *ret_entry)
{
	char signature[4];
	uint32_t nr_entries;

	item_select(ITEM_SIGNATURE);
	item_read(signature, sizeof(signature));
	if (memcmp(signature, "QEMU", sizeof(signature)))
		return -ENODEV;
	item_select(ITEM_DIRECTORY);
	item_read(&nr_entries, sizeof(nr_entries));
	for (uint32_t i = be32toh(nr_entries); i > 0; i--) {
		item_read(ret_entry, sizeof(*ret_entry));
		if (!strncmp(ret_entry->name, JOB_FILE, sizeof(ret_entry->name)))
			return 0;
	}
	return -ENOENT;
}

static int read_job(char **ret_text)
{
	struct directory_entry entry;
	uint32_t nr_bytes;
	char *text;
	int error = find_job(&entry);

	if (error)
		return error;
	nr_bytes = be32toh(entry.nr_bytes);
	if (nr_bytes > JOB_SIZE_MAX)
		return -EFBIG;
	text = malloc(nr_bytes + 1);
	if (!text)
		return -ENOMEM;
	item_select(be16toh(entry.item));
	item_read(text, nr_bytes);
	text[nr_bytes] = '\0';
	*ret_text = text;
	return 0;
}

int ports_read_job(char **ret_text)
{
	int error;

	if (ioperm(PORT_SELECTOR, 2, 1))
		return -errno;
	error = read_job(ret_text);
	ioperm(PORT_SELECTOR, 2, 0);
	return error;
}

int ports_write(const char *text, size_t nr_bytes)
{
	if (ioperm(PORT_DEBUG, 1, 1))
		return -errno;
	port_write(PORT_DEBUG, text, nr_bytes);
	ioperm(PORT_DEBUG, 1, 0);
	return 0;
}

void ports_say(const char *format, ...)
{
	char line[JOB_ERROR + 64];
	va_list arguments;
	int length, error;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line) - 1, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	if ((size_t)length > sizeof(line) - 2)
		length = sizeof(line) - 2;
	line[length++] = '\n';
	error = ports_write(line, (size_t)length);
	/* All that is left to speak to then is the kernel's console. */
	if (error)
		fprintf(stderr, "umemcg-bench-guest: access to ports: %s\n", strerror(-error));
}
