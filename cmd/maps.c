/* SPDX-License-Identifier: MIT */
/* One pass over /proc/PID/maps; see proc(5) for its lines. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "maps.h"

/* A line without the path of a file; longer ones are cut, and a path begins with '/' anyhow. */
#define LINE_MAX_BYTES 8192

struct mapping {
	uint64_t start, end;
	bool is_accessible;
	bool is_private;
	bool is_of_file;
	const char *name; /* "" if it has none */
};

static const char *parse_hex(const char *at, uint64_t *ret_number)
{
	uint64_t number = 0;

	for (;; at++) {
		unsigned char c = (unsigned char)*at;

		if (c >= '0' && c <= '9')
			number = number << 4 | (c - '0');
		else if (c >= 'a' && c <= 'f')
			number = number << 4 | (c - 'a' + 10u);
		else
			break;
	}
	*ret_number = number;
	return at;
}

/* "start-end perms offset major:minor inode   name" */
static bool parse_line(const char *at, struct mapping *ret_mapping)
{
	at = parse_hex(at, &ret_mapping->start);
	if (*at++ != '-')
		return false;
	at = parse_hex(at, &ret_mapping->end);
	if (*at++ != ' ' || strnlen(at, 5) < 5)
		return false;
	ret_mapping->is_accessible = memcmp(at, "---", 3) != 0;
	ret_mapping->is_private = at[3] == 'p';
	for (int nr_blanks = 0; nr_blanks < 3; at++) {
		if (!*at)
			return false;
		nr_blanks += *at == ' ';
	}
	ret_mapping->is_of_file = *at != '0';
	at += strcspn(at, " ");
	ret_mapping->name = at + strspn(at, " ");
	return true;
}

/* A shared anonymous mapping has an inode; [stack], [vdso], and their like are the kernel's. */
static bool is_private_anonymous(const struct mapping *mapping)
{
	return mapping->is_private && !mapping->is_of_file &&
	       (!*mapping->name || !strcmp(mapping->name, "[heap]") ||
		!strncmp(mapping->name, "[anon:", 6));
}

static bool is_bss(const struct mapping *mapping, const struct maps_range *range)
{
	return range->end_data && mapping->start == maps_page_align(range->end_data);
}

static uint64_t overlap(const struct mapping *mapping, uint64_t start, uint64_t end)
{
	uint64_t from = mapping->start > start ? mapping->start : start;
	uint64_t to = mapping->end < end ? mapping->end : end;

	return from < to ? to - from : 0;
}

static void add(struct maps_look *look, const struct maps_range *range, struct mapping *mapping)
{
	bool is_heap = !strcmp(mapping->name, "[heap]");

	look->nr_mappings++;
	if (!is_private_anonymous(mapping))
		return;
	if (!mapping->is_accessible) {
		look->nr_bytes_reserved += overlap(mapping, range->start, range->end);
		return;
	}
	if (is_heap && mapping->end > look->heap_end)
		look->heap_end = mapping->end;
	/* Without randomisation, .bss and heap are one mapping. */
	if (is_heap && mapping->start < range->start_brk)
		mapping->start = range->start_brk < mapping->end ? range->start_brk : mapping->end;
	else if (!is_heap && is_bss(mapping, range))
		return;
	if (range->nr_bytes_ignore && mapping->end - mapping->start >= range->nr_bytes_ignore)
		return;
	look->nr_bytes += mapping->end - mapping->start;
	look->nr_bytes_in_range += overlap(mapping, range->start, range->end);
}

/* The file yields whole lines, a page or so at a time; a path may be longer than the buffer. */
int maps_look_at(int fd, const struct maps_range *range, struct maps_look *ret_look)
{
	char buffer[LINE_MAX_BYTES + 1];
	struct maps_look look = { 0 };
	size_t length = 0;
	bool is_cut = false;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	for (;;) {
		ssize_t n = read(fd, buffer + length, LINE_MAX_BYTES - length);
		char *line = buffer, *end;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		length += (size_t)n;
		buffer[length] = '\0';
		while ((end = memchr(line, '\n', length - (size_t)(line - buffer)))) {
			struct mapping mapping;

			*end = '\0';
			if (!is_cut && parse_line(line, &mapping))
				add(&look, range, &mapping);
			is_cut = false;
			line = end + 1;
		}
		length -= (size_t)(line - buffer);
		memmove(buffer, line, length);
		if (length == LINE_MAX_BYTES) {
			is_cut = true;
			length = 0;
		}
	}
	if (!look.nr_mappings)
		return -ESRCH;
	*ret_look = look;
	return 0;
}
