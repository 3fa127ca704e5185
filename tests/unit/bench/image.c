/* SPDX-License-Identifier: MIT */
/* The guest's user space, and which programs may become part of it. */
#include "meters/exact/image.h"

#include <archive.h>
#include <archive_entry.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>

#include "meters/exact/mark.h"
#include "scratch.h"
#include "umemcg-marks.h"

static char error[IMAGE_ERROR];

static int make(void **state)
{
	(void)state;
	scratch_make();
	return 0;
}

static int clean(void **state)
{
	(void)state;
	scratch_remove();
	return 0;
}

static size_t read_file(const char *name, char *content, size_t size)
{
	FILE *file = fopen(scratch_path(name), "r");
	size_t nr_bytes;

	assert_non_null(file);
	nr_bytes = fread(content, 1, size, file);
	fclose(file);
	return nr_bytes;
}

static void write_image(const char *name, const char *guest, const char *program)
{
	char path[PATH_MAX], guest_path[PATH_MAX];

	strcpy(path, scratch_path(name));
	strcpy(guest_path, scratch_path(guest));
	assert_int_equal(
		image_write(path, guest_path, program ? scratch_path(program) : NULL, error), 0);
}

static void the_same_programs_give_the_same_bytes(void **state)
{
	static char first[65536], second[65536];
	struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	size_t nr_bytes;

	(void)state;
	scratch_put("guest", "a guest", 7, 0755);
	scratch_put("other", "a guest", 7, 0600);
	assert_int_equal(utimensat(AT_FDCWD, scratch_path("other"), times, 0), 0);
	write_image("first", "guest", NULL);
	write_image("second", "other", NULL);
	nr_bytes = read_file("first", first, sizeof(first));
	assert_in_range(nr_bytes, 512, sizeof(first) - 1);
	assert_int_equal(read_file("second", second, sizeof(second)), nr_bytes);
	assert_memory_equal(first, second, nr_bytes);
}

static void an_image_has_what_an_init_needs(void **state)
{
	static const struct {
		const char *name;
		mode_t mode;
		const char *content;
	} wanted[] = {
		{ "dev", S_IFDIR | 0755, NULL },
		{ "proc", S_IFDIR | 0755, NULL },
		{ "sys", S_IFDIR | 0755, NULL },
		{ "tmp", S_IFDIR | 0755, NULL },
		{ "dev/console", S_IFCHR | 0600, NULL },
		{ "init", S_IFREG | 0755, "a guest" },
		{ "program", S_IFREG | 0755, "a program" },
	};
	struct archive *archive = archive_read_new();
	struct archive_entry *entry;

	(void)state;
	scratch_put_text("guest", "a guest");
	scratch_put_text("user's", "a program");
	write_image("image", "guest", "user's");
	archive_read_support_format_cpio(archive);
	assert_int_equal(archive_read_open_filename(archive, scratch_path("image"), 4096), 0);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		char content[32] = "";

		assert_int_equal(archive_read_next_header(archive, &entry), ARCHIVE_OK);
		assert_string_equal(archive_entry_pathname(entry), wanted[i].name);
		assert_int_equal(archive_entry_mode(entry), wanted[i].mode);
		assert_int_equal(archive_entry_mtime(entry), 0);
		assert_true(archive_read_data(archive, content, sizeof(content) - 1) >= 0);
		assert_string_equal(content, wanted[i].content ? wanted[i].content : "");
		if (S_ISCHR(wanted[i].mode))
			assert_int_equal(archive_entry_rdev(entry), makedev(5, 1));
	}
	assert_int_equal(archive_read_next_header(archive, &entry), ARCHIVE_EOF);
	archive_read_free(archive);
}

static void what_cannot_be_written_leaves_no_file(void **state)
{
	static char content[65536];
	struct rlimit limit, old;
	char path[PATH_MAX], guest[PATH_MAX], wanted[2 * PATH_MAX];

	(void)state;
	scratch_put("guest", content, sizeof(content), 0755);
	strcpy(path, scratch_path("image"));
	strcpy(guest, scratch_path("guest"));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = (struct rlimit){ .rlim_cur = 32768, .rlim_max = old.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(image_write(path, guest, NULL, error), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	snprintf(wanted, sizeof(wanted), "%s: File too large", path);
	assert_string_equal(error, wanted);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(image_write(path, "/nonexistent", NULL, error), -ENOENT);
	assert_string_equal(error, "/nonexistent: No such file or directory");
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(image_write("/nonexistent/image", guest, NULL, error), -ENOENT);
}

/* A program of headers alone: what a loader looks at. */
struct program {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	Elf64_Dyn dynamic[2];
};

static struct program static_program(void)
{
	return (struct program){
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_EXEC,
			    .e_machine = EM_X86_64,
			    .e_version = EV_CURRENT,
			    .e_entry = 0x400000,
			    .e_phoff = offsetof(struct program, segments),
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 2 },
		.segments = { { .p_type = PT_LOAD, .p_filesz = sizeof(struct program) },
			      { .p_type = PT_NOTE } },
	};
}

static void add_dynamic(struct program *program, Elf64_Sxword tag)
{
	program->segments[1] = (Elf64_Phdr){ .p_type = PT_DYNAMIC,
					     .p_offset = offsetof(struct program, dynamic),
					     .p_filesz = sizeof(program->dynamic) };
	program->dynamic[0].d_tag = tag;
	program->dynamic[1].d_tag = DT_NULL;
}

static void assert_checked(const struct program *program, const char *why_not)
{
	scratch_put("program", program, sizeof(*program), 0755);
	error[0] = '\0';
	assert_int_equal(image_check_program(scratch_path("program"), error),
			 why_not ? -EINVAL : 0);
	if (why_not) {
		assert_non_null(strstr(error, why_not));
		assert_non_null(strstr(error, "; accepted is a static x86-64 program"));
	}
}

static void a_static_program_is_accepted(void **state)
{
	struct program program = static_program();

	(void)state;
	assert_checked(&program, NULL);
	program.header.e_type = ET_DYN; /* static-pie */
	add_dynamic(&program, DT_FLAGS_1);
	assert_checked(&program, NULL);
}

static void another_program_is_refused(void **state)
{
	struct program program = static_program();

	(void)state;
	program.segments[1].p_type = PT_INTERP;
	assert_checked(&program, "program: linked dynamically");
	program = static_program();
	add_dynamic(&program, DT_NEEDED);
	assert_checked(&program, "program: linked dynamically");
	program = static_program();
	program.header.e_type = ET_DYN;
	program.header.e_entry = 0;
	assert_checked(&program, "program: a library");
	program = static_program();
	program.header.e_type = ET_REL;
	assert_checked(&program, "program: not linked");
	program = static_program();
	program.header.e_machine = EM_AARCH64;
	assert_checked(&program, "program: for another machine");
	program.header.e_ident[0] = 'x';
	assert_checked(&program, "program: not an ELF file");
}

/* A program and behind it marks of @first and @second. */
static int check_marked(unsigned int first, unsigned int second)
{
	unsigned int ids[] = { first, second };
	struct {
		struct program program;
		uint8_t marks[2][MARK_NR_BYTES];
	} __attribute__((packed)) marked = { .program = static_program() };

	for (int i = 0; i < 2; i++)
		memcpy(marked.marks[i],
		       (uint8_t[]){ 0x0f, 0x1f, 0x80, ids[i] & 0xff, ids[i] >> 8, 0x43, 0x4d },
		       MARK_NR_BYTES);
	scratch_put("program", &marked, sizeof(marked), 0755);
	return image_check_program(scratch_path("program"), error);
}

static void marks_that_would_cut_a_count_short_are_refused(void **state)
{
	(void)state;
	assert_int_equal(check_marked(1, 0), 0);
	assert_int_equal(check_marked(UMEMCG_MARK_ITERATION_ID, UMEMCG_MARK_MAX), 0);
	assert_int_equal(check_marked(1, UMEMCG_MARK_MAX + 1), -EINVAL);
	assert_non_null(strstr(error, "program: it marks a part 256; accepted are marks of parts"));
	assert_int_equal(check_marked(0, 0), -EINVAL);
	assert_non_null(strstr(error, "program: it marks no part, but the end"));
	assert_int_equal(check_marked(UMEMCG_MARK_ITERATION_ID, 0), -EINVAL);
}

static void what_is_no_program_is_refused(void **state)
{
	(void)state;
	scratch_put_program("script", "true\n");
	assert_int_equal(image_check_program(scratch_path("script"), error), -EINVAL);
	assert_non_null(strstr(error, "script: a script; "));
	assert_int_equal(image_check_program(scratch, error), -EINVAL);
	assert_non_null(strstr(error, ": not a file; "));
	assert_int_equal(image_check_program("/nonexistent", error), -EINVAL);
	assert_non_null(strstr(error, "/nonexistent: No such file or directory; "));
	scratch_put_text("empty", "");
	assert_int_equal(image_check_program(scratch_path("empty"), error), -EINVAL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)
	const struct CMUnitTest tests[] = {
		TEST(the_same_programs_give_the_same_bytes),
		TEST(an_image_has_what_an_init_needs),
		TEST(what_cannot_be_written_leaves_no_file),
		TEST(a_static_program_is_accepted),
		TEST(another_program_is_refused),
		TEST(marks_that_would_cut_a_count_short_are_refused),
		TEST(what_is_no_program_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
