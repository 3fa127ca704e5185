/* SPDX-License-Identifier: MIT */
/* The plug-in as the emulator sees it: its options, and what becomes of code that is translated. */
#include <string.h>

#include "api.h"
#include "calls.h"
#include "counters.h"
#include "failure.h"
#include "output.h"
#include "symbols.h"
#include "tasks.h"
#include "translation.h"

API_EXPORT int qemu_plugin_version = API_VERSION;

API_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
				   char **argv);

struct options {
	const char *symbols;
	const char *out;
	bool calls;
};

/* What follows "NAME=" in an argument, or NULL. */
static const char *value_of(const char *argument, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(argument, name, length) || argument[length] != '=')
		return NULL;
	return argument + length + 1;
}

static bool parse_options(int argc, char **argv, struct options *options)
{
	for (int i = 0; i < argc; i++) {
		const char *value;

		if ((value = value_of(argv[i], "symbols"))) {
			options->symbols = value;
		} else if ((value = value_of(argv[i], "out"))) {
			options->out = value;
		} else if ((value = value_of(argv[i], "calls")) &&
			   (!strcmp(value, "on") || !strcmp(value, "off"))) {
			options->calls = !strcmp(value, "on");
		} else {
			complain("'%s': accepted are symbols=FILE, out=FILE and calls=on|off",
				 argv[i]);
			return false;
		}
	}
	if (!options->symbols || !options->out) {
		complain("needs %s=FILE", options->symbols ? "out" : "symbols");
		return false;
	}
	return true;
}

static bool accept_emulator(const qemu_info_t *info)
{
	if (!info->system_emulation || strcmp(info->target_name, "x86_64")) {
		complain("emulator of '%s'%s: accepted is qemu-system-x86_64", info->target_name,
			 info->system_emulation ? "" : " user mode");
		return false;
	}
	/* Cells are not added to atomically. */
	if (info->system.max_vcpus != 1) {
		complain("-smp %d: accepted is -smp 1", info->system.max_vcpus);
		return false;
	}
	return true;
}

static void at_exit(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	output_write();
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	/* The arguments' text does not outlive this function: the path of the file to come is kept.
	 */
	struct options options = { 0 };

	if (!accept_emulator(info) || !parse_options(argc, argv, &options) ||
	    !symbols_load(options.symbols) || !output_open(options.out))
		return -1;
	counters_init();
	if (options.calls)
		calls_init();
	tasks_init();
	qemu_plugin_register_vcpu_tb_trans_cb(id, translation_callback);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
	return 0;
}
