/* SPDX-License-Identifier: MIT */
/*
 * Guests under an emulator that is a shell script: the job it is given is what it does, in the
 * directory in which the real one would leave its files.
 */
#include "meters/exact/emulator.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "block.h"
#include "meters/exact/console.h"
#include "meters/exact/temporary_folder.h"
#include "meters/exact/emulator_left.h"
#include "scratch.h"

#define FAKE(version, options)                                                                     \
	"if [ \"$1\" = -help ]; then\n"                                                            \
	"	printf 'QEMU emulator version " version " (a script)\\nusage:\\n" options "\\n'\n" \
	"	exit\n"                                                                                  \
	"fi\n"                                                                                     \
	"printf '%s\\n' \"$@\" > arguments\n"                                                      \
	". ./job\n"

/* Far longer than what is waited for. */
#define TIMEOUT_S 60

static char error[EMULATOR_ERROR];

static int make(void **state)
{
	(void)state;
	scratch_make();
	scratch_mkdir("tmp");
	setenv("TMPDIR", scratch_path("tmp"), 1);
	scratch_mkdir("bin");
	scratch_put_program("bin/qemu-system-x86_64", FAKE("7.2.22", "-plugin [file=]x"));
	scratch_on_path("bin");
	scratch_put_text("kernel", "");
	scratch_put_text("image", "");
	block_interrupted = 0;
	error[0] = '\0';
	return 0;
}

static int clean(void **state)
{
	(void)state;
	/* Whatever happened to a guest, nothing of it is left. */
	assert_int_equal(scratch_count("tmp"), 0);
	scratch_remove();
	return 0;
}

static struct emulator *start_silent(const char *job, double timeout_s, double silent_cpu_s)
{
	char kernel[PATH_MAX], image[PATH_MAX];
	struct emulator_boot boot = { .kernel = kernel,
				      .image = image,
				      .job = job,
				      .command_line = "cgroup_disable=memory",
				      .timeout_s = timeout_s,
				      .silent_cpu_s = silent_cpu_s };
	struct emulator *emulator = NULL;

	strcpy(kernel, scratch_path("kernel"));
	strcpy(image, scratch_path("image"));
	assert_int_equal(emulator_start(&boot, &emulator, error), 0);
	return emulator;
}

static struct emulator *start(const char *job, double timeout_s)
{
	return start_silent(job, timeout_s, 0);
}

static void await(struct emulator *emulator)
{
	size_t index;

	assert_int_equal(emulator_await(&emulator, 1, 2 * TIMEOUT_S, &index), 0);
	assert_int_equal(index, 0);
}

/* Boots, waits, and gives the result; the answer is for free(). */
static int finish(struct emulator *emulator, char **ret_answer)
{
	const char *counts;
	int ret;

	await(emulator);
	ret = emulator_result(emulator, ret_answer, &counts, error);
	emulator_finish(emulator);
	return ret;
}

static int run(const char *job, double timeout_s, char **ret_answer)
{
	return finish(start(job, timeout_s), ret_answer);
}

static void run_failing(const char *job, int ret, const char *message)
{
	char *answer;

	assert_int_equal(run(job, TIMEOUT_S, &answer), ret);
	assert_string_equal(error, message);
	free(answer);
}

static void an_answer_is_what_the_guest_said(void **state)
{
	char *answer;

	(void)state;
	assert_string_equal(emulator_version(), "7.2.22");
	assert_int_equal(run("printf 'block 0 1 1\\nend\\n' > answer", TIMEOUT_S, &answer), 0);
	assert_string_equal(answer, "block 0 1 1\nend\n");
	free(answer);
}

/* Lines behind one another on the command line. */
static bool has_arguments(const char *arguments, const char *lines)
{
	return strstr(arguments, lines) != NULL;
}

static void every_guest_gets_the_same_machine(void **state)
{
	char *arguments;

	(void)state;
	assert_int_equal(run("(cat arguments; echo end) > answer", TIMEOUT_S, &arguments), 0);
	assert_true(has_arguments(arguments, "-accel\ntcg,thread=single\n"));
	assert_true(has_arguments(arguments, "-icount\nshift=0,sleep=off\n"));
	assert_true(has_arguments(arguments, "-cpu\nqemu64,-rdrand,-rdseed\n"));
	assert_true(has_arguments(arguments, "-machine\npc-i440fx-7.2\n"));
	assert_true(has_arguments(arguments, "-rtc\nbase=2024-01-01,clock=vm\n"));
	assert_true(has_arguments(arguments, "-fw_cfg\nname=opt/umemcg/job,file=job\n"));
	assert_true(has_arguments(arguments, "-append\nconsole=ttyS0 "));
	assert_true(has_arguments(arguments, " cgroup_disable=memory\n"));
	assert_false(has_arguments(arguments, "-plugin\n"));
	free(arguments);
}

static void a_guest_without_an_end_has_failed(void **state)
{
	(void)state;
	run_failing("printf 'block 0 1 1\\n' > answer", -EIO, "it ended before its job was done");
	run_failing("printf 'kernel backend\\n' > answer", -EIO,
		    "it ended before its job was done");
	run_failing("true", -EIO, "it ended before its job was done");
}

static void a_guest_that_gives_up_says_why(void **state)
{
	(void)state;
	run_failing("printf 'error no cgroup here\\n' > answer", -EIO,
		    "it gave up: no cgroup here");
}

static void a_panic_comes_with_the_end_of_the_console(void **state)
{
	(void)state;
	run_failing("printf 'one\\n\\033[31mtwo\\033[0m\\a\\r\\n\\n"
		    "[ 1.2] Kernel panic - not syncing: no init\\n' > console",
		    -EIO,
		    "its kernel panicked: no init\n    | one\n    | two\n"
		    "    | [ 1.2] Kernel panic - not syncing: no init");
}

static void an_emulator_that_fails_tells_its_own_words(void **state)
{
	(void)state;
	run_failing("echo a warning >&2; echo qemu: bad image >&2; exit 1", -EIO,
		    "the emulator gave up: qemu: bad image\n"
		    "    | a warning\n    | qemu: bad image");
	run_failing("echo qemu: bad image >&2; exit 1", -EIO,
		    "the emulator gave up: qemu: bad image");
	run_failing("echo end > answer; kill -SEGV $$", -EIO, "the emulator was killed by SIGSEGV");
}

static bool is_gone(pid_t pid)
{
	return kill(pid, 0) && errno == ESRCH;
}

static void a_guest_that_hangs_is_ended(void **state)
{
	char *answer;

	(void)state;
	assert_int_equal(run("echo $$ > answer; exec sleep 1000", 3, &answer), -ETIME);
	assert_string_equal(error, "did not finish in 3.0 s");
	assert_true(is_gone((pid_t)atoi(answer)));
	free(answer);
}

static void a_guest_that_stays_silent_is_ended(void **state)
{
	char *answer;

	(void)state;
	assert_int_equal(finish(start_silent("while :; do :; done", TIMEOUT_S, 0.2), &answer),
			 -ETIME);
	assert_string_equal(error, "did not start its program in 0.2 s of processor time");
	assert_null(answer);
	/* One that has said something may take as long as it likes. */
	assert_int_equal(finish(start_silent("echo kernel > answer; i=0; while [ $i -lt 600000 ]; "
					     "do i=$((i + 1)); done; echo end >> answer",
					     TIMEOUT_S, 0.2),
				&answer),
			 0);
	free(answer);
}

static void a_kernel_that_halts_is_ended(void **state)
{
	(void)state;
	run_failing("printf 'Decoding failed\\n\\n -- System halted' > console; exec sleep 1000",
		    -EIO, "its kernel halted\n    | Decoding failed\n    |  -- System halted");
	run_failing("printf 'Kernel panic - not syncing: no init\\n"
		    "---[ end Kernel panic - not syncing: no init ]---\\n' > console; "
		    "exec sleep 1000",
		    -EIO,
		    "its kernel panicked: no init\n"
		    "    | Kernel panic - not syncing: no init\n"
		    "    | ---[ end Kernel panic - not syncing: no init ]---");
}

/* Waits until a guest has written a whole line, its first, which is a process number. */
static pid_t read_pid(const char *path)
{
	char text[32] = "";

	while (!strchr(text, '\n')) {
		FILE *file = fopen(path, "r");

		if (file && !fgets(text, sizeof(text), file))
			text[0] = '\0';
		if (file)
			fclose(file);
		sched_yield();
	}
	return (pid_t)atoi(text);
}

static void a_guest_that_runs_ends_with_finish(void **state)
{
	struct emulator *emulator = start("echo $$ > ../../pid; exec sleep 1000", TIMEOUT_S);
	pid_t pid = read_pid(scratch_path("pid"));

	(void)state;
	assert_false(is_gone(pid));
	/* Not in this process's group, where a terminal's signals go. */
	assert_int_equal(getpgid(pid), pid);
	emulator_finish(emulator);
	assert_true(is_gone(pid));
	emulator_finish(NULL);
}

static void a_signal_wakes_who_waits(void **state)
{
	struct emulator *emulator = start("exec sleep 1000", TIMEOUT_S);
	size_t index;

	(void)state;
	assert_int_equal(emulator_await(&emulator, 1, 0.01, &index), -EAGAIN);
	block_interrupted = 1;
	assert_int_equal(emulator_await(&emulator, 1, TIMEOUT_S, &index), -EINTR);
	emulator_finish(emulator);
}

static void of_several_the_one_that_ended_is_named(void **state)
{
	struct emulator *emulators[4] = { NULL };
	size_t index;

	(void)state;
	assert_int_equal(emulator_await(emulators, 4, 0, &index), -EINVAL);
	emulators[1] = start("exec sleep 1000", TIMEOUT_S);
	emulators[2] = start("until [ -e ../../go ]; do sleep 0.01; done", TIMEOUT_S);
	emulators[3] = start("exec sleep 1000", TIMEOUT_S);
	assert_int_equal(emulator_await(emulators, 4, 0.01, &index), -EAGAIN);
	scratch_put_text("go", "");
	assert_int_equal(emulator_await(emulators, 4, TIMEOUT_S, &index), 0);
	assert_int_equal(index, 2);
	for (size_t i = 0; i < 4; i++)
		emulator_finish(emulators[i]);
}

static void progress_counts_blocks_that_are_over(void **state)
{
	struct emulator *emulator =
		start("printf 'umemcg-guest 1\\nblock 0 1 1\\nquiet 0\\nfailed 1 x\\nblock 2' > "
		      "answer; echo $$ > ../../pid; exec sleep 1000",
		      TIMEOUT_S);

	(void)state;
	read_pid(scratch_path("pid"));
	assert_int_equal(emulator_progress(emulator), 2);
	emulator_finish(emulator);
}

static void put_in(const struct temporary_folder *folder, const char *name, const char *text)
{
	int fd = openat(folder->lock_fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void what_was_counted_must_be_whole(void **state)
{
	struct emulator_end end = { .counted = true };
	struct temporary_folder folder;
	char *answer;

	(void)state;
	assert_int_equal(temporary_folder_create(NULL, &folder), 0);
	put_in(&folder, "answer", "end\n");
	put_in(&folder, "counts", "umemcg-counts 1\npart 1 1 0\n");
	assert_int_equal(emulator_left_read(&folder, &end, &answer, error), -EIO);
	assert_string_equal(error, "the counting plug-in left its counts cut short");
	free(answer);
	put_in(&folder, "counts", "umemcg-counts 1\npart 1 1 0\nend\n");
	assert_int_equal(emulator_left_read(&folder, &end, &answer, error), 0);
	free(answer);
	temporary_folder_remove(&folder);
}

static void what_cannot_be_read_is_named(void **state)
{
	struct emulator_boot boot = { .kernel = "/nonexistent", .image = "/", .job = "" };
	struct emulator *emulator;

	(void)state;
	assert_int_equal(emulator_start(&boot, &emulator, error), -ENOENT);
	assert_string_equal(error, "kernel /nonexistent: No such file or directory");
	boot.kernel = boot.image;
	setenv("TMPDIR", "/nonexistent", 1);
	assert_int_equal(emulator_start(&boot, &emulator, error), -ENOENT);
	assert_string_equal(error, "temporary directory /nonexistent: No such file or directory");
}

static void an_emulator_that_will_not_do_is_refused(void **state)
{
	struct emulator_boot boot = { .kernel = "/", .image = "/", .job = "" };
	struct emulator *emulator;

	(void)state;
	scratch_mkdir("new");
	scratch_put_program("new/qemu-system-x86_64", FAKE("9.2.1", "-plugin x"));
	scratch_on_path("new");
	assert_non_null(strstr(emulator_why_not(), "QEMU 9.2.1; the counting plug-in needs"));
	assert_int_equal(emulator_start(&boot, &emulator, error), -ENOENT);
	assert_string_equal(error, emulator_why_not());
	scratch_mkdir("bare");
	scratch_put_program("bare/qemu-system-x86_64", FAKE("8.2.0", "-plug x"));
	scratch_on_path("bare");
	assert_non_null(strstr(emulator_why_not(), "without support for plug-ins"));
	scratch_mkdir("mute");
	scratch_put_program("mute/qemu-system-x86_64", "exit 1\n");
	scratch_on_path("mute");
	assert_non_null(strstr(emulator_why_not(), "does not tell its version"));
	assert_string_equal(emulator_version(), "");
	setenv("PATH", "/nonexistent", 1);
	assert_non_null(strstr(emulator_why_not(), "no qemu-system-x86_64 on the PATH"));
}

/* The driver's death by SIGKILL: its guest dies too, and the next one removes what it left. */
static void a_guest_does_not_outlive_its_driver(void **state)
{
	struct emulator *emulator;
	pid_t driver, guest;
	int status;

	(void)state;
	/* So that the guest's end is seen even where no init process collects orphans. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	driver = fork();
	assert_true(driver >= 0);
	if (!driver) {
		start("echo $$ > ../../pid; exec sleep 1000", TIMEOUT_S);
		pause();
		_exit(0);
	}
	guest = read_pid(scratch_path("pid"));
	assert_int_equal(kill(driver, SIGKILL), 0);
	assert_int_equal(waitpid(driver, &status, 0), driver);
	assert_int_equal(waitpid(guest, &status, 0), guest);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(scratch_count("tmp"), 1);
	emulator = start("exec sleep 1000", TIMEOUT_S);
	assert_int_equal(scratch_count("tmp"), 1);
	emulator_finish(emulator);
}

static void only_what_is_stale_is_swept(void **state)
{
	struct temporary_folder folder, second;
	char name[64];

	(void)state;
	assert_int_equal(temporary_folder_create(NULL, &folder), 0);
	/* Of a process that is there, and of none that this program makes. */
	snprintf(name, sizeof(name), "tmp/umemcg-bench-%d-abcdef", getpid());
	scratch_mkdir(name);
	scratch_mkdir("tmp/umemcg-bench-notes");
	assert_int_equal(temporary_folder_create(NULL, &second), 0);
	assert_int_equal(scratch_count("tmp"), 4);
	temporary_folder_remove(&second);
	temporary_folder_remove(&folder);
	temporary_folder_remove(&folder);
	assert_int_equal(rmdir(scratch_path(name)), 0);
	assert_int_equal(rmdir(scratch_path("tmp/umemcg-bench-notes")), 0);
}

/* In a child, whose mounts are its own. */
static void a_full_directory_is_told_as_such(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		char *answer, wanted[PATH_MAX];
		bool told;

		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("none", scratch_path("tmp"), "tmpfs", 0, "size=256k"))
			_exit(77);
		snprintf(wanted, sizeof(wanted), "no space left in %s", scratch_path("tmp"));
		told = run("cat /dev/zero > answer; exit 0", TIMEOUT_S, &answer) == -ENOSPC &&
		       !strcmp(error, wanted) && !answer;
		_exit(told && scratch_count("tmp") == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("a file system of its own cannot be mounted here\n");
		skip();
	}
	assert_int_equal(status, 0);
}

static void messages_hold_whole_lines(void **state)
{
	char message[40] = "why", text[512] = "";

	(void)state;
	console_append(message, sizeof(message), "first\nsecond line\nthird line\n");
	assert_string_equal(message, "why\n    | second line\n    | third line");
	for (unsigned int i = 0; i < 20; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%u\n", i);
	error[0] = '\0';
	console_append(error, sizeof(error), text);
	assert_null(strstr(error, "| 9"));
	assert_non_null(strstr(error, "\n    | 10\n"));
	assert_non_null(strstr(error, "\n    | 19"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)
	const struct CMUnitTest tests[] = {
		TEST(an_answer_is_what_the_guest_said),
		TEST(every_guest_gets_the_same_machine),
		TEST(a_guest_without_an_end_has_failed),
		TEST(a_guest_that_gives_up_says_why),
		TEST(a_panic_comes_with_the_end_of_the_console),
		TEST(an_emulator_that_fails_tells_its_own_words),
		TEST(a_guest_that_hangs_is_ended),
		TEST(a_guest_that_stays_silent_is_ended),
		TEST(a_kernel_that_halts_is_ended),
		TEST(a_guest_that_runs_ends_with_finish),
		TEST(a_signal_wakes_who_waits),
		TEST(of_several_the_one_that_ended_is_named),
		TEST(progress_counts_blocks_that_are_over),
		TEST(what_was_counted_must_be_whole),
		TEST(what_cannot_be_read_is_named),
		TEST(an_emulator_that_will_not_do_is_refused),
		TEST(a_guest_does_not_outlive_its_driver),
		TEST(only_what_is_stale_is_swept),
		TEST(a_full_directory_is_told_as_such),
		TEST(messages_hold_whole_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
