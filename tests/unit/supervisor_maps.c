/* SPDX-License-Identifier: MIT */
/* What of /proc/PID/maps counts. The file is a memfd with lines of our own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/maps.h"

static struct maps_look look_at(const char *text, const struct maps_range *range)
{
	struct maps_look look;
	int fd = memfd_create("maps", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(maps_look_at(fd, range, &look), 0);
	close(fd);
	return look;
}

static const char program[] =
	"00400000-00401000 r--p 00000000 fe:00 123                        /usr/bin/program\n"
	"00402000-00404000 rw-p 00002000 fe:00 123                        /usr/bin/program\n"
	"00404000-00408000 rw-p 00000000 00:00 0 \n"
	"01000000-01003000 rw-p 00000000 00:00 0                          [heap]\n"
	"7f0000000000-7f0000010000 rw-p 00000000 00:00 0 \n"
	"7f0000010000-7f0000020000 ---p 00000000 00:00 0 \n"
	"7f0000020000-7f0000021000 r-xp 00000000 00:00 0 \n"
	"7f0000021000-7f0000022000 rw-p 00000000 00:00 0                  [anon:arena]\n"
	"7f0000030000-7f0000040000 rw-s 00000000 00:01 77                 /dev/zero (deleted)\n"
	"7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                  [stack]\n"
	"7ffc00030000-7ffc00032000 r-xp 00000000 00:00 0                  [vdso]\n";

static void private_anonymous_memory_counts_and_nothing_else(void **state)
{
	const struct maps_range range = { .end_data = 0x403210, .start_brk = 0x1000000 };
	struct maps_look look = look_at(program, &range);

	(void)state;
	/* The heap, 64 KiB, what is executable, what has a name. */
	assert_int_equal(look.nr_bytes, 0x3000 + 0x10000 + 0x1000 + 0x1000);
	assert_int_equal(look.heap_end, 0x1003000);
	assert_int_equal(look.nr_mappings, 11);
}

static void a_range_is_cut_out_of_mappings(void **state)
{
	const struct maps_range range = { .start = 0x7f000000f000, .end = 0x7f0000014000 };
	struct maps_look look = look_at(program, &range);

	(void)state;
	assert_int_equal(look.nr_bytes_in_range, 0x1000);
	assert_int_equal(look.nr_bytes_reserved, 0x4000);
}

static void a_heap_that_is_one_with_bss_counts_from_its_start(void **state)
{
	const char text[] = "00404000-01003000 rw-p 00000000 00:00 0      [heap]\n";
	const struct maps_range range = { .end_data = 0x403210, .start_brk = 0x1002000 };

	(void)state;
	assert_int_equal(look_at(text, &range).nr_bytes, 0x1000);
}

static void what_was_let_through_does_not_count(void **state)
{
	const struct maps_range range = { .end_data = 0x403210,
					  .start_brk = 0x1000000,
					  .nr_bytes_ignore = 0x10000 };

	(void)state;
	assert_int_equal(look_at(program, &range).nr_bytes, 0x3000 + 0x1000 + 0x1000);
}

/* A path is as long as its owner likes, and spaces and brackets may be in it. */
static void long_lines_hide_no_others(void **state)
{
	static char text[64 * 1024];
	const struct maps_range range = { 0 };

	(void)state;
	for (int nr_bytes = 1; nr_bytes < 30000; nr_bytes += 997) {
		int length = snprintf(text, sizeof(text), "1000-2000 rw-p 0 fe:00 5 /%0*d [heap]\n",
				      nr_bytes, 0);

		strcpy(text + length, "3000-5000 rw-p 00000000 00:00 0 \n");
		assert_int_equal(look_at(text, &range).nr_bytes, 0x2000);
	}
}

static void anything_can_be_read(void **state)
{
	static const char *const texts[] = { "\n",
					     "-\n",
					     "1000-2000\n",
					     "1000-2000 rw\n",
					     "1000-2000 rw-p\n",
					     "1000-2000 rw-p 0 0\n",
					     "x y z\n" };
	const struct maps_range range = { 0 };
	struct maps_look look;
	int fd;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		fd = memfd_create("maps", MFD_CLOEXEC);
		assert_int_equal(write(fd, texts[i], strlen(texts[i])), strlen(texts[i]));
		assert_int_equal(maps_look_at(fd, &range, &look), -ESRCH);
		close(fd);
	}
}

static void an_address_space_that_is_gone_is_told(void **state)
{
	const struct maps_range range = { 0 };
	struct maps_look look;
	int fd = memfd_create("maps", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(maps_look_at(fd, &range, &look), -ESRCH);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(private_anonymous_memory_counts_and_nothing_else),
		cmocka_unit_test(a_range_is_cut_out_of_mappings),
		cmocka_unit_test(a_heap_that_is_one_with_bss_counts_from_its_start),
		cmocka_unit_test(what_was_let_through_does_not_count),
		cmocka_unit_test(long_lines_hide_no_others),
		cmocka_unit_test(anything_can_be_read),
		cmocka_unit_test(an_address_space_that_is_gone_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
