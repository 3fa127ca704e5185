/* SPDX-License-Identifier: MIT */
#include "meters/exact/emulator_program.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "meters/exact/run_captured.h"
#include "programs.h"

#define PROGRAM "qemu-system-x86_64"
#define PLUGIN  "umemcg-count.so"
/* Of a program that only prints its options. */
#define HELP_TIMEOUT_S 30

/* Releases whose plug-in interface is that of version 1; from 9.0 on version 2 is the oldest. */
#define MAJOR_MIN 6
#define MAJOR_MAX 8

/*
 * What every guest is given. One address layout for all; a panic ends the guest at once; what only
 * takes time while it boots (certificates, self-tests of the cryptography) is left out. A kernel
 * that cannot unpack itself says so on the early console alone.
 */
#define COMMAND_LINE                                                                               \
	"console=ttyS0 earlyprintk=ttyS0,115200 quiet panic=-1 oops=panic nokaslr norandmaps "     \
	"nolapic "                                                                                 \
	"cryptomgr.notests initcall_blacklist=load_system_certificate_list,"                       \
	"load_revocation_certificate_list,fips_signature_selftest,blacklist_init,regulatory_"      \
	"init_db"
/* Without instructions whose results differ from run to run. */
#define CPU        "qemu64,-rdrand,-rdseed"
#define MEMORY_MIB "512"

/* As execvp() would, but for the answer's sake. */
static int find_on_path(char *ret_path)
{
	const char *at = getenv("PATH");

	for (; at && *at; at += strcspn(at, ":"), at += *at == ':') {
		struct stat status;
		int length = (int)strcspn(at, ":");
		char path[PATH_MAX];

		if (snprintf(path, sizeof(path), "%.*s/" PROGRAM, length ? length : 1,
			     length ? at : ".") >= PATH_MAX ||
		    access(path, X_OK) || stat(path, &status) || !S_ISREG(status.st_mode))
			continue;
		if (realpath(path, ret_path))
			return 0;
	}
	return -ENOENT;
}

static void ask_program(struct emulator_program *program)
{
	const char *const argv[] = { program->path, "-help", NULL };
	char *why_not = program->why_not, *text, *version;
	int status = 0, error = run_captured(argv, NULL, HELP_TIMEOUT_S, &text, &status);

	version = error ? NULL : strstr(text, "version ");
	if (!version || sscanf(version, "version %31[0-9.]", program->version) != 1 ||
	    sscanf(program->version, "%u.%u", &program->major, &program->minor) != 2)
		snprintf(why_not, EMULATOR_ERROR, "%.300s does not tell its version%s%s",
			 program->path, error ? ": " : "", error ? strerror(-error) : "");
	else if (program->major < MAJOR_MIN || program->major > MAJOR_MAX)
		snprintf(why_not, EMULATOR_ERROR,
			 "%.300s is QEMU %s; the counting plug-in needs a QEMU from %d.0 to %d.2",
			 program->path, program->version, MAJOR_MIN, MAJOR_MAX);
	else if (!strstr(text, "\n-plugin "))
		snprintf(why_not, EMULATOR_ERROR, "%.300s was built without support for plug-ins",
			 program->path);
	free(text);
}

const struct emulator_program *emulator_program_find(void)
{
	static struct emulator_program program;
	char path[PATH_MAX];

	if (find_on_path(path)) {
		memset(&program, 0, sizeof(program));
		snprintf(program.why_not, sizeof(program.why_not),
			 "no " PROGRAM " on the PATH (Debian: apt-get install qemu-system-x86)");
	} else if (strcmp(path, program.path)) {
		memset(&program, 0, sizeof(program));
		memcpy(program.path, path, sizeof(path));
		ask_program(&program);
	}
	return &program;
}

int emulator_program_plugin(char *ret_path)
{
	return programs_find(PLUGIN, ret_path);
}

const char *emulator_why_not(void)
{
	const struct emulator_program *program = emulator_program_find();
	char plugin[PATH_MAX];

	if (program->why_not[0])
		return program->why_not;
	if (emulator_program_plugin(plugin))
		return "the counting plug-in " PLUGIN
		       " is neither beside umemcg-bench nor in its libexec/umemcg";
	return NULL;
}

const char *emulator_processor(void)
{
	return CPU;
}

const char *emulator_command_line(void)
{
	return COMMAND_LINE;
}

const char *emulator_version(void)
{
	return emulator_program_find()->version;
}

static __attribute__((format(printf, 2, 3))) void argue(struct emulator_arguments *arguments,
							const char *format, ...)
{
	va_list values;
	char *text;

	va_start(values, format);
	if (arguments->nr == EMULATOR_NR_ARGUMENTS - 1 || vasprintf(&text, format, values) < 0)
		arguments->incomplete = true;
	else
		arguments->argv[arguments->nr++] = text;
	va_end(values);
}

static void argue_all(struct emulator_arguments *arguments, const char *const *words)
{
	for (; *words; words++)
		argue(arguments, "%s", *words);
}

static int absolute_path(const char *what, const char *path, char *ret_path, char *error)
{
	int ret;

	if (realpath(path, ret_path) && !access(ret_path, R_OK))
		return 0;
	ret = -errno;
	snprintf(error, EMULATOR_ERROR, "%s %.300s: %s", what, path, strerror(-ret));
	return ret;
}

/* In a list of options a comma is written twice. */
static void double_commas(const char *path, char *ret_text)
{
	while (*path) {
		if (*path == ',')
			*ret_text++ = ',';
		*ret_text++ = *path++;
	}
	*ret_text = '\0';
}

static int argue_plugin(struct emulator_arguments *arguments, const struct emulator_boot *boot,
			char *error)
{
	char plugin[PATH_MAX], symbols[PATH_MAX];
	char plugin_text[2 * PATH_MAX], symbols_text[2 * PATH_MAX];
	int ret = absolute_path("symbols", boot->symbols, symbols, error);

	if (ret)
		return ret;
	if (emulator_program_plugin(plugin)) {
		snprintf(error, EMULATOR_ERROR, "%s", emulator_why_not());
		return -ENOENT;
	}
	double_commas(plugin, plugin_text);
	double_commas(symbols, symbols_text);
	argue(arguments, "-plugin");
	argue(arguments, "%s,symbols=%s,out=" EMULATOR_FILE_COUNTS "%s", plugin_text, symbols_text,
	      boot->calls ? ",calls=on" : "");
	return 0;
}

int emulator_program_arguments(const struct emulator_program *program,
			       const struct emulator_boot *boot,
			       struct emulator_arguments *ret_arguments, char *error)
{
	/* One virtual processor whose clock is its count of instructions; nothing of the host. */
	static const char *const machine[] = { "-accel",
					       "tcg,thread=single",
					       "-icount",
					       "shift=0,sleep=off",
					       "-smp",
					       "1",
					       "-m",
					       MEMORY_MIB,
					       "-nodefaults",
					       "-no-user-config",
					       "-display",
					       "none",
					       "-monitor",
					       "none",
					       "-no-reboot",
					       "-rtc",
					       "base=2024-01-01,clock=vm",
					       "-seed",
					       "1",
					       "-serial",
					       "file:" EMULATOR_FILE_CONSOLE,
					       "-debugcon",
					       "file:" EMULATOR_FILE_ANSWER,
					       "-fw_cfg",
					       "name=opt/umemcg/job,file=" EMULATOR_FILE_JOB,
					       NULL };
	/* The devices of a release, where newer ones still have them. */
	bool pinned = program->major > 7 || (program->major == 7 && program->minor >= 2);
	const char *more = boot->command_line ? boot->command_line : "";
	char kernel[PATH_MAX], image[PATH_MAX];
	int ret;

	memset(ret_arguments, 0, sizeof(*ret_arguments));
	ret = absolute_path("kernel", boot->kernel, kernel, error);
	if (!ret)
		ret = absolute_path("image", boot->image, image, error);
	if (ret)
		return ret;
	argue(ret_arguments, "%s", program->path);
	argue_all(ret_arguments, machine);
	argue_all(ret_arguments,
		  (const char *const[]){ "-machine", pinned ? "pc-i440fx-7.2" : "pc", "-cpu",
					 boot->cpu ? boot->cpu : CPU, "-kernel", kernel, "-initrd",
					 image, "-append", NULL });
	argue(ret_arguments, COMMAND_LINE "%s%s", more[0] ? " " : "", more);
	if (boot->symbols)
		ret = argue_plugin(ret_arguments, boot, error);
	if (!ret && ret_arguments->incomplete) {
		snprintf(error, EMULATOR_ERROR, "out of memory");
		ret = -ENOMEM;
	}
	return ret;
}

void emulator_program_free_arguments(struct emulator_arguments *arguments)
{
	for (unsigned int i = 0; i < arguments->nr; i++)
		free(arguments->argv[i]);
	memset(arguments, 0, sizeof(*arguments));
}
