/* SPDX-License-Identifier: MIT */
/*
 * Kernels that are headers alone, in directories of the test's own. The emulator and apt are shell
 * scripts that say what the real ones would.
 */
#include "meters/exact/kernels.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>

#include "block.h"
#include "meters/exact/kernel_cache.h"
#include "meters/exact/kernel_find.h"
#include "scratch.h"

#define KERNEL_BYTES 4096 /* of setup code and what follows */

static char error[KERNEL_ERROR];

static int make(void **state)
{
	(void)state;
	scratch_make();
	scratch_mkdir("tmp");
	scratch_mkdir("bin");
	scratch_on_path("bin");
	setenv("TMPDIR", scratch_path("tmp"), 1);
	setenv("XDG_CACHE_HOME", scratch_path("cache"), 1);
	block_interrupted = 0;
	error[0] = '\0';
	return 0;
}

static int clean(void **state)
{
	(void)state;
	assert_int_equal(scratch_count("tmp"), 0);
	scratch_remove();
	return 0;
}

/* What is set is what the boot protocol says of a bzImage with a 64-bit entry point. */
static void make_kernel(unsigned char *kernel, const char *version)
{
	memset(kernel, 0, KERNEL_BYTES);
	kernel[0x1f1] = 1;                          /* one sector, and the first */
	kernel[0x1f4] = (KERNEL_BYTES - 1024) / 16; /* paragraphs behind them */
	kernel[0x1fe] = 0x55;
	kernel[0x1ff] = 0xaa;
	memcpy(kernel + 0x202, "HdrS\x0f\x02", 6);
	kernel[0x20e] = 0x20;
	kernel[0x20f] = 0x01; /* 0x200 + 0x120 */
	kernel[0x211] = 1;
	kernel[0x236] = 1;
	strcpy((char *)kernel + 0x320, version);
}

static const char *put_kernel(const char *name, const char *version)
{
	unsigned char kernel[KERNEL_BYTES];

	make_kernel(kernel, version);
	scratch_put(name, kernel, sizeof(kernel), 0644);
	return scratch_path(name);
}

static void a_kernel_is_known_by_its_header_and_hash(void **state)
{
	const char *path = put_kernel("bzImage", "6.1.0-57-amd64 (someone) #1 SMP");
	char argument[PATH_MAX + 8], wanted[PATH_MAX];
	struct kernel kernel, again;

	(void)state;
	strcpy(wanted, path);
	assert_int_equal(kernel_open(wanted, &kernel, error), 0);
	assert_string_equal(kernel.name, "6.1.0-57-amd64");
	assert_string_equal(kernel.release, "6.1.0-57-amd64");
	assert_string_equal(kernel.path, wanted);
	assert_int_equal(strlen(kernel.hash), 64);
	snprintf(argument, sizeof(argument), "new=%s", wanted);
	assert_int_equal(kernel_open(argument, &again, error), 0);
	assert_string_equal(again.name, "new");
	assert_string_equal(again.path, wanted);
	assert_string_equal(again.hash, kernel.hash);
	put_kernel("bzImage", "6.1.0-58-amd64");
	assert_int_equal(kernel_open(wanted, &again, error), 0);
	assert_string_not_equal(again.hash, kernel.hash);
	/* Without a release the file gives the name. */
	put_kernel("bzImage", "");
	assert_int_equal(kernel_open(wanted, &again, error), 0);
	assert_string_equal(again.release, "");
	assert_string_equal(again.name, "bzImage");
}

static void a_path_may_have_an_equals_sign(void **state)
{
	struct kernel kernel;

	(void)state;
	assert_int_equal(kernel_open(put_kernel("a=b", "1"), &kernel, error), 0);
	assert_string_equal(kernel.name, "1");
}

static void refuse(const char *argument, int ret, const char *message)
{
	struct kernel kernel;

	error[0] = '\0';
	assert_int_equal(kernel_open(argument, &kernel, error), ret);
	assert_non_null(strstr(error, message));
	assert_null(strchr(error, '\n'));
}

static void a_bad_argument_is_refused(void **state)
{
	(void)state;
	refuse("=/x", -EINVAL, "a kernel's name has 1 to 63 printable characters");
	refuse("a b=/x", -EINVAL, "a kernel's name has 1 to 63 printable characters");
	refuse("a=", -EINVAL, "PATH or NAME=PATH");
	refuse("", -EINVAL, "PATH or NAME=PATH");
	refuse("/nonexistent", -ENOENT, "/nonexistent: No such file or directory; accepted is");
	refuse(scratch, -EINVAL, ": a directory; accepted is a bzImage for x86-64");
	refuse("/dev/null", -EINVAL, ": not a file; accepted is");
	if (geteuid()) {
		assert_int_equal(chmod(put_kernel("secret", "1"), 0), 0);
		refuse(scratch_path("secret"), -EACCES, ": Permission denied; accepted is");
	}
}

/* A kernel in which one byte is another, or a file that begins like something else. */
static void refuse_changed(size_t offset, const char *bytes, size_t nr_bytes, const char *message)
{
	unsigned char kernel[KERNEL_BYTES];

	make_kernel(kernel, "1");
	memcpy(kernel + offset, bytes, nr_bytes);
	scratch_put("changed", kernel, sizeof(kernel), 0644);
	refuse(scratch_path("changed"), -EINVAL, message);
}

static void another_file_is_refused(void **state)
{
	static const char elf[] = "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0";

	(void)state;
	refuse_changed(0x202, "x", 1, ": not a kernel; accepted is");
	refuse_changed(0x1fe, "\0", 1, ": not a kernel; accepted is");
	refuse_changed(0x206, "\x0b", 1, "without 64-bit entry point");
	refuse_changed(0x211, "\0", 1, "without 64-bit entry point");
	refuse_changed(0x236, "\0", 1, "without 64-bit entry point");
	refuse_changed(0x1f4, "\xff", 1, ": truncated: 4096 bytes of 5104 are there");
	refuse_changed(56, "ARM\x64", 4, "a kernel for arm64");
	refuse_changed(0, elf, sizeof(elf) - 1, "an ELF file for another machine");
	scratch_put_text("text", "Hello, world\n");
	refuse(scratch_path("text"), -EINVAL, ": not a kernel; accepted is");
	scratch_put_text("empty", "");
	refuse(scratch_path("empty"), -EINVAL, ": an empty file; accepted is");
	refuse("/proc/self/exe", -EINVAL, "/proc/self/exe: an ELF file");
}

static void the_newest_kernel_is_found(void **state)
{
	char path[PATH_MAX];

	(void)state;
	scratch_mkdir("boot");
	assert_int_equal(kernel_find_in("/nonexistent", NULL, path), -ENOENT);
	assert_int_equal(kernel_find_in(scratch_path("boot"), "6.9", path), -ENOENT);
	put_kernel("boot/vmlinuz-6.9", "6.9");
	put_kernel("boot/vmlinuz-6.10", "6.10");
	put_kernel("boot/linux-7", "7");
	scratch_put_text("boot/vmlinuz-6.11", "no kernel");
	assert_int_equal(kernel_find_in(scratch_path("boot"), NULL, path), 0);
	assert_string_equal(path, scratch_path("boot/vmlinuz-6.10"));
	assert_int_equal(kernel_find_in(scratch_path("boot"), "6.9", path), 0);
	assert_string_equal(path, scratch_path("boot/vmlinuz-6.9"));
	assert_int_equal(kernel_find_in(scratch_path("boot"), "6.11", path), 0);
	assert_string_equal(path, scratch_path("boot/vmlinuz-6.10"));
}

/* An emulator whose guest names these symbols; each boot leaves a mark. */
static void put_emulator(const char *answer)
{
	char script[4096];

	snprintf(script, sizeof(script),
		 "if [ \"$1\" = -help ]; then\n"
		 "	printf 'QEMU emulator version 7.2.22\\n-plugin x\\n'\n"
		 "	exit\n"
		 "fi\n"
		 "grep -q '^symbols$' job || exit 1\n"
		 "echo boot >> ../../boots\n"
		 "printf 'umemcg-guest 1\\nkernel 6.1.0-57-amd64\\n%s' > answer\n",
		 answer);
	scratch_put_program("bin/qemu-system-x86_64", script);
}

static off_t nr_boots(void)
{
	struct stat status;

	return stat(scratch_path("boots"), &status) ? 0 : status.st_size / (off_t)strlen("boot\n");
}

static void open_kernel(struct kernel *kernel)
{
	assert_int_equal(kernel_open(put_kernel("bzImage", "6.1.0-57-amd64"), kernel, error), 0);
	scratch_put_text("image", "");
}

#define SYMBOLS                                                                                    \
	"memcg compiled\\n"                                                                        \
	"symbol ffffffff81000200 second\\nsymbol ffffffff81000100 first\\n"                        \
	"symbol ffffffff81000100 alias\\nsymbol 0 hidden\\n"

static void symbols_are_asked_for_once(void **state)
{
	struct kernel kernel;

	(void)state;
	put_emulator(SYMBOLS "symbol ffffffff81000300 mem_cgroup_css_alloc\\nend\\n");
	for (unsigned int i = 0; i < 2; i++) {
		open_kernel(&kernel);
		assert_int_equal(kernel_load_symbols(&kernel, scratch_path("image"), error), 0);
		assert_string_equal(error, "");
		assert_int_equal(nr_boots(), 1);
		assert_int_equal(kernel.nr_symbols, 3);
		assert_true(kernel.symbols[0].address == 0xffffffff81000100);
		assert_string_equal(kernel.symbols[0].name, "first");
		assert_true(kernel.symbols[1].address == 0xffffffff81000200);
		assert_string_equal(kernel.symbols[1].name, "second");
		assert_true(kernel.has_memcg);
		kernel_close(&kernel);
	}
}

static void a_kernel_without_the_controller_is_known(void **state)
{
	struct kernel kernel;

	(void)state;
	put_emulator(SYMBOLS "end\\n");
	open_kernel(&kernel);
	assert_int_equal(kernel_load_symbols(&kernel, scratch_path("image"), error), 0);
	assert_false(kernel.has_memcg);
	kernel_close(&kernel);
}

static void change_byte(const char *path, off_t offset)
{
	int fd = open(path, O_RDWR);
	char byte;

	assert_int_equal(pread(fd, &byte, 1, offset), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
	close(fd);
}

static void a_damaged_cache_is_made_anew(void **state)
{
	char path[PATH_MAX];
	struct kernel kernel;
	struct stat status;

	(void)state;
	put_emulator(SYMBOLS "end\\n");
	open_kernel(&kernel);
	snprintf(path, sizeof(path), "%s/umemcg/symbols-%s", scratch_path("cache"), kernel.hash);
	assert_int_equal(kernel_load_symbols(&kernel, scratch_path("image"), error), 0);
	kernel_close(&kernel);
	assert_int_equal(stat(path, &status), 0);
	for (off_t kept = 0; kept < status.st_size; kept++) {
		assert_int_equal(truncate(path, kept), 0);
		open_kernel(&kernel);
		assert_int_equal(kernel_cache_read_symbols(&kernel), -ENOENT);
		assert_int_equal(kernel.nr_symbols, 0);
		if (kept % 100 == 0)
			continue;
		kernel.nr_symbols = 1;
		kernel.symbols = calloc(1, sizeof(*kernel.symbols));
		kernel.symbols->name = strdup("name");
		assert_int_equal(kernel_cache_write_symbols(&kernel, error), 0);
		change_byte(path, kept % 40);
		kernel_close(&kernel);
		open_kernel(&kernel);
		assert_int_equal(kernel_cache_read_symbols(&kernel), -ENOENT);
		kernel_close(&kernel);
	}
	open_kernel(&kernel);
	assert_int_equal(kernel_load_symbols(&kernel, scratch_path("image"), error), 0);
	assert_int_equal(nr_boots(), 2);
	assert_int_equal(kernel.nr_symbols, 2);
	kernel_close(&kernel);
	/* Nothing but the entry: what was written beside it is gone. */
	assert_int_equal(scratch_count("cache/umemcg"), 1);
	assert_int_equal(stat(scratch_path("cache/umemcg"), &status), 0);
	assert_int_equal(status.st_mode & 07777, 0700);
}

static void a_cache_that_cannot_be_kept_is_a_warning(void **state)
{
	struct kernel kernel;

	(void)state;
	put_emulator(SYMBOLS "end\\n");
	setenv("XDG_CACHE_HOME", "relative", 1);
	setenv("HOME", scratch_path("home"), 1);
	scratch_put_text("home", "not a directory");
	open_kernel(&kernel);
	assert_int_equal(kernel_load_symbols(&kernel, scratch_path("image"), error), 0);
	assert_non_null(strstr(error, "are not kept for the next run: cache directory "));
	assert_int_equal(kernel.nr_symbols, 2);
	kernel_close(&kernel);
}

static void a_boot_that_fails_is_told(void **state)
{
	struct kernel kernel;

	(void)state;
	put_emulator("error no /proc/kallsyms\\nend\\n");
	open_kernel(&kernel);
	assert_int_equal(kernel_load_symbols(&kernel, scratch_path("image"), error), -EIO);
	assert_non_null(strstr(error, "/bzImage: no /proc/kallsyms"));
	put_emulator("end\\n");
	assert_int_equal(kernel_load_symbols(&kernel, scratch_path("image"), error), -ENODATA);
	assert_non_null(strstr(error, "/bzImage: it has no table of its symbols"));
	put_emulator("symbol ffffffff81000100 cut");
	assert_int_equal(kernel_load_symbols(&kernel, scratch_path("image"), error), -EIO);
	assert_non_null(strstr(error, "/bzImage: it ended before its job was done"));
	assert_int_equal(kernel.nr_symbols, 0);
	kernel_close(&kernel);
}

static void add_file(struct archive *archive, const char *name, const void *content,
		     size_t nr_bytes)
{
	struct archive_entry *entry = archive_entry_new();

	archive_entry_set_pathname(entry, name);
	archive_entry_set_mode(entry, S_IFREG | 0644);
	archive_entry_set_size(entry, (int64_t)nr_bytes);
	assert_int_equal(archive_write_header(archive, entry), ARCHIVE_OK);
	assert_int_equal(archive_write_data(archive, content, nr_bytes), nr_bytes);
	archive_entry_free(entry);
}

/* A package that has @kernel, or another file, in it. */
static void put_package(const char *kernel_path)
{
	static unsigned char kernel[KERNEL_BYTES], data[65536];
	struct archive *tar = archive_write_new(), *ar = archive_write_new();
	size_t nr_bytes = 0;

	make_kernel(kernel, "6.1.0-57-amd64");
	archive_write_set_format_gnutar(tar);
	archive_write_add_filter_xz(tar);
	assert_int_equal(archive_write_open_memory(tar, data, sizeof(data), &nr_bytes), 0);
	add_file(tar, "./usr/share/doc/vmlinuz-1", "text", 4);
	add_file(tar, kernel_path, kernel, sizeof(kernel));
	add_file(tar, "./boot/config-6.1.0-57-amd64", "CONFIG_MEMCG=y\n", 15);
	assert_int_equal(archive_write_close(tar), 0);
	archive_write_free(tar);
	archive_write_set_format_ar_svr4(ar);
	assert_int_equal(archive_write_open_filename(ar, scratch_path("package")), 0);
	add_file(ar, "debian-binary", "2.0\n", 4);
	add_file(ar, "data.tar.xz", data, nr_bytes);
	assert_int_equal(archive_write_close(ar), 0);
	archive_write_free(ar);
}

/* apt with one kernel and one meta-package. */
static void put_apt(void)
{
	char script[4096];

	scratch_put_program("bin/apt-cache",
			    "case \"$2\" in\n"
			    "linux-image-amd64)\n"
			    "	printf '%s\\n  Depends: base\\n |Depends: %s\\n' $2 "
			    "linux-image-6.1.0-57-amd64;;\n"
			    "hello) printf 'hello\\n  Depends: libc6\\n';;\n"
			    "*) echo 'E: No packages found' >&2; exit 100;;\n"
			    "esac\n");
	snprintf(script, sizeof(script),
		 "for last; do :; done\n"
		 "[ $last = linux-image-6.1.0-57-amd64 ] || exit 100\n"
		 "case \"$*\" in\n"
		 "*--print-uris*) echo \"'http://x/y.deb' y.deb 31000000 SHA256:0\";;\n"
		 "*) cp %s $last.deb;;\n"
		 "esac\n",
		 scratch_path("package"));
	scratch_put_program("bin/apt-get", script);
}

static void a_kernel_comes_out_of_its_package(void **state)
{
	char path[PATH_MAX];
	struct kernel kernel;

	(void)state;
	put_apt();
	put_package("./boot/vmlinuz-6.1.0-57-amd64");
	assert_int_equal(kernel_get("linux-image-amd64", true, error), 0);
	assert_int_equal(scratch_count("cache/umemcg"), 2);
	assert_int_equal(access(scratch_path("cache/umemcg/config-6.1.0-57-amd64"), R_OK), 0);
	assert_int_equal(kernel_find_in(scratch_path("cache/umemcg"), NULL, path), 0);
	assert_int_equal(kernel_open(path, &kernel, error), 0);
	assert_string_equal(kernel.release, "6.1.0-57-amd64");
	/* Once more is no error. */
	assert_int_equal(kernel_get("linux-image-6.1.0-57-amd64", true, error), 0);
	assert_int_equal(scratch_count("cache/umemcg"), 2);
}

static void refuse_get(const char *package, bool yes, int ret, const char *message)
{
	error[0] = '\0';
	assert_int_equal(kernel_get(package, yes, error), ret);
	assert_non_null(strstr(error, message));
	assert_int_equal(scratch_count("cache/umemcg"), 0);
}

static void nothing_is_downloaded_unasked(void **state)
{
	(void)state;
	put_apt();
	put_package("./boot/vmlinuz-6.1.0-57-amd64");
	assert_non_null(freopen("/dev/null", "r", stdin));
	refuse_get("linux-image-amd64", false, -ECANCELED,
		   "linux-image-6.1.0-57-amd64, 31 MB; without a terminal to ask on, --yes");
}

static void what_is_no_kernels_package_leaves_nothing(void **state)
{
	(void)state;
	put_apt();
	put_package("./boot/memtest-6.1.0-57-amd64");
	refuse_get("--help", true, -EINVAL, "--help: not a package's name; accepted is");
	refuse_get("a/b", true, -EINVAL, "a/b: not a package's name; accepted is");
	refuse_get("hello", true, -ENOENT, "hello: not a kernel's package; accepted is");
	refuse_get("linux-image-x", true, -ENOENT, "linux-image-x: apt-cache says: No packages");
	refuse_get("linux-image-amd64", true, -ENOENT, "has no /boot/vmlinuz-*");
	put_package("./boot/vmlinuz-6.1.0-57-amd64");
	assert_int_equal(truncate(scratch_path("package"), 200), 0);
	refuse_get("linux-image-amd64", true, -EBADMSG, "linux-image-6.1.0-57-amd64.deb: ");
	setenv("PATH", "/nonexistent", 1);
	refuse_get("linux-image-amd64", true, -ENOENT, "no apt-cache here");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)
	const struct CMUnitTest tests[] = {
		TEST(a_kernel_is_known_by_its_header_and_hash),
		TEST(a_path_may_have_an_equals_sign),
		TEST(a_bad_argument_is_refused),
		TEST(another_file_is_refused),
		TEST(the_newest_kernel_is_found),
		TEST(symbols_are_asked_for_once),
		TEST(a_kernel_without_the_controller_is_known),
		TEST(a_damaged_cache_is_made_anew),
		TEST(a_cache_that_cannot_be_kept_is_a_warning),
		TEST(a_boot_that_fails_is_told),
		TEST(a_kernel_comes_out_of_its_package),
		TEST(nothing_is_downloaded_unasked),
		TEST(what_is_no_kernels_package_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
