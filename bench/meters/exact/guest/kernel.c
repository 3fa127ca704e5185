/* SPDX-License-Identifier: MIT */
/* What the guest can say of the kernel that it runs on. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "meters/exact/guest/kernel.h"
#include "meters/exact/guest/ports.h"

#define SYMBOLS_FILE "/proc/kallsyms"
/* Written to the port at once: a call a symbol would take longer than all else. */
#define NR_BYTES_AT_ONCE 65536
/* "ffffffff81000000 T name": the name begins behind that. */
#define ADDRESS_LENGTH 16
#define NAME_OFFSET    (ADDRESS_LENGTH + 3)

/* Text of the kernel itself; a module's has its name behind a tabulator. */
static bool is_text(const char *line)
{
	return strlen(line) > NAME_OFFSET && strchr("tTwW", line[ADDRESS_LENGTH + 1]) &&
	       !strchr(line, '\t');
}

static bool has_symbol(const char *name)
{
	FILE *file = fopen(SYMBOLS_FILE, "re");
	char line[1024];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		found = is_text(line) && !strcmp(line + NAME_OFFSET, name);
	}
	if (file)
		fclose(file);
	return found;
}

static bool has_controller(const char *name)
{
	FILE *file = fopen("/proc/cgroups", "re");
	char line[256];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = !strncmp(line, name, strlen(name)) && line[strlen(name)] == '\t';
	if (file)
		fclose(file);
	return found;
}

bool kernel_has_memcg(void)
{
	if (access("/proc/cgroups", F_OK))
		return false;
	/* Newer kernels list there what v1 offers, which may be built without this controller. */
	if (has_controller("memory") || !access("/proc/kpagecgroup", F_OK))
		return true;
	/* These two files are built together but for the controller. */
	if (!access("/proc/kpagecount", F_OK))
		return false;
	return has_symbol("mem_cgroup_css_alloc");
}

int kernel_say_symbols(void)
{
	FILE *file = fopen(SYMBOLS_FILE, "re");
	char *text = malloc(NR_BYTES_AT_ONCE), line[1024];
	size_t length = 0;
	bool any = false;
	int error = 0;

	if (!file || !text)
		error = -errno;
	while (!error && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!is_text(line))
			continue;
		any = any || strspn(line, "0") < ADDRESS_LENGTH;
		if (length + sizeof("symbol ") + strlen(line) > NR_BYTES_AT_ONCE) {
			error = ports_write(text, length);
			length = 0;
		}
		line[ADDRESS_LENGTH] = '\0';
		length += (size_t)snprintf(text + length, NR_BYTES_AT_ONCE - length,
					   "symbol %s %s\n", line, line + NAME_OFFSET);
	}
	if (!error)
		error = ports_write(text, length);
	/* It may hide the addresses, and then they read as nought. */
	if (!error && !any)
		error = -ENODATA;
	if (file)
		fclose(file);
	free(text);
	return error;
}
