/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "roles.h"
#include "symbols.h"

/* No function is as long; text that lies further behind the last symbol has none. */
#define NR_FUNCTION_BYTES_MAX 0x10000

static struct symbol *symbols;
static uint32_t nr_symbols;

uint32_t symbols_nr(void)
{
	return nr_symbols;
}

const struct symbol *symbol_at(uint32_t number)
{
	return &symbols[number];
}

bool symbol_is_user(uint32_t number)
{
	return number != SYMBOL_UNKNOWN && address_is_user(symbols[number].address);
}

uint32_t symbols_find(uint64_t address, uint64_t *ret_end)
{
	const uint32_t none = address_is_user(address) ? SYMBOL_USER : SYMBOL_UNKNOWN;
	uint32_t low = SYMBOL_FIRST - 1, high = nr_symbols;
	uint64_t end;

	/* Symbols up to low begin at or before the address, those from high on behind it. */
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (symbols[middle].address <= address)
			low = middle;
		else
			high = middle;
	}
	end = high < nr_symbols ? symbols[high].address : UINT64_MAX;
	if (low < SYMBOL_FIRST) {
		*ret_end = end;
		return none;
	}
	if (address - symbols[low].address >= NR_FUNCTION_BYTES_MAX) {
		*ret_end = end;
		return none;
	}
	if (end - symbols[low].address > NR_FUNCTION_BYTES_MAX)
		end = symbols[low].address + NR_FUNCTION_BYTES_MAX;
	*ret_end = end;
	return low;
}

/* "HEXADDRESS NAME\n"; the name has no blanks. */
static bool parse_line(char *line, uint64_t *ret_address, char **ret_name)
{
	size_t nr_digits = strspn(line, "0123456789abcdefABCDEF");
	char *name = line + nr_digits + 1, *end;

	if (!nr_digits || nr_digits > 16 || line[nr_digits] != ' ')
		return false;
	end = strpbrk(name, " \t\r\n");
	if (end == name || !end || *end != '\n' || end[1])
		return false;
	*end = '\0';
	*ret_address = strtoull(line, NULL, 16);
	*ret_name = name;
	return *ret_address != 0;
}

static void add(uint64_t address, const char *name)
{
	symbols = allocate_next(symbols, nr_symbols, sizeof(*symbols));
	symbols[nr_symbols++] = (struct symbol){
		.address = address,
		.name = strcpy(allocate(strlen(name) + 1, 1), name),
		.role = role_of(name),
	};
}

static bool read_lines(FILE *file, const char *path)
{
	unsigned long nr_lines = 0;
	size_t nr_room = 0;
	char *line = NULL;
	bool complete = true;

	while (complete && getline(&line, &nr_room, file) > 0) {
		uint64_t address;
		char *name;

		nr_lines++;
		complete = parse_line(line, &address, &name);
		if (complete)
			add(address, name);
		else
			complain("symbols=%s: line %lu is not 'HEXADDRESS NAME'", path, nr_lines);
	}
	if (complete && !feof(file)) {
		complain("symbols=%s: %s", path, strerror(errno));
		complete = false;
	}
	free(line);
	return complete;
}

static bool ends_in(const char *name, const char *end)
{
	size_t length = strlen(name), end_length = strlen(end);

	return length > end_length && !strcmp(name + length - end_length, end);
}

/*
 * Of several names at one address that one comes first which says what the code does: one that
 * plays a part, and last one that says where a section or a table begins or ends. Names that are
 * equal in this must not depend on the order of lines.
 */
static int preference(const struct symbol *symbol)
{
	if (ends_in(symbol->name, "_start") || ends_in(symbol->name, "_end") ||
	    ends_in(symbol->name, "text") || ends_in(symbol->name, "_array"))
		return 2;
	return symbol->role ? 0 : 1;
}

static int compare(const void *first, const void *second)
{
	const struct symbol *a = first, *b = second;
	int difference = preference(a) - preference(b);

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return difference ? difference : strcmp(a->name, b->name);
}

bool symbols_load(const char *path)
{
	FILE *file = fopen(path, "re");
	uint32_t nr_kept = SYMBOL_FIRST;
	bool read;

	if (!file) {
		complain("symbols=%s: %s", path, strerror(errno));
		return false;
	}
	add(0, "[user]");
	add(0, "[unknown]");
	read = read_lines(file, path);
	fclose(file);
	if (!read)
		return false;
	qsort(symbols + SYMBOL_FIRST, nr_symbols - SYMBOL_FIRST, sizeof(*symbols), compare);
	for (uint32_t i = SYMBOL_FIRST; i < nr_symbols; i++) {
		if (i == SYMBOL_FIRST || symbols[i].address != symbols[nr_kept - 1].address)
			symbols[nr_kept++] = symbols[i];
	}
	nr_symbols = nr_kept;
	return roles_complete(path);
}
