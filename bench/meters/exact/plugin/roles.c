/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "failure.h"
#include "roles.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct named_role {
	const char *name;
	enum symbol_role role;
};

/* More than one function may play a part: each of them does where it exists. */
static const struct named_role functions[] = {
	{ "asm_common_interrupt", ROLE_INTERRUPT },
	{ "asm_spurious_interrupt", ROLE_INTERRUPT },
	{ "irqentry_exit", ROLE_INTERRUPT_EXIT },
	{ "handle_softirqs", ROLE_SOFTIRQ },
	{ "__do_softirq", ROLE_SOFTIRQ },
	{ "__switch_to_asm", ROLE_SWITCH },
	{ "ret_from_fork", ROLE_NEW_TASK },
	{ "ret_from_fork_asm", ROLE_NEW_TASK },
	{ "kthread", ROLE_KERNEL_THREAD },
	/* Threads that do not begin in kthread(). */
	{ "kthreadd", ROLE_KERNEL_THREAD },
	{ "io_wqe_worker", ROLE_KERNEL_THREAD },
	{ "io_wq_worker", ROLE_KERNEL_THREAD },
	{ "io_sq_thread", ROLE_KERNEL_THREAD },
	{ "do_idle", ROLE_IDLE_TASK },
	{ "default_idle_call", ROLE_IDLE_TASK },
	{ "syscall_exit_to_user_mode", ROLE_USER_RETURN },
	{ "irqentry_exit_to_user_mode", ROLE_USER_RETURN },
	{ "do_task_dead", ROLE_TASK_END },
	{ "entry_SYSCALL_64", ROLE_ENTRY },
	{ "entry_SYSCALL_compat", ROLE_ENTRY },
	{ "entry_SYSENTER_compat", ROLE_ENTRY },
	{ "entry_INT80_compat", ROLE_ENTRY },
	{ "asm_int80_emulation", ROLE_ENTRY },
	/* Exceptions that do not end in irqentry_exit(), always or sometimes. */
	{ "asm_exc_debug", ROLE_ENTRY },
	{ "asm_exc_double_fault", ROLE_ENTRY },
	{ "asm_exc_int3", ROLE_ENTRY },
	{ "asm_exc_invalid_op", ROLE_ENTRY },
	{ "asm_exc_machine_check", ROLE_ENTRY },
	{ "asm_exc_nmi", ROLE_ENTRY },
	{ "asm_exc_control_protection", ROLE_ENTRY },
	{ "asm_exc_vmm_communication", ROLE_ENTRY },
	{ "asm_exc_virtualization_exception", ROLE_ENTRY },
};

/* After the functions above. */
static const struct named_role prefixes[] = {
	{ "asm_sysvec_", ROLE_INTERRUPT },
	{ "asm_exc_", ROLE_EXCEPTION },
	{ "__x86_indirect_", ROLE_THUNK },
	{ "__x86_return_thunk", ROLE_THUNK },
};

static const char return_thunk[] = "_return_thunk";

/* The name of a copy that the compiler made for some callers is the function's and a suffix. */
static bool is_name_of(const char *name, const char *function)
{
	size_t length = strlen(function);

	if (strncmp(name, function, length))
		return false;
	name += length;
	return !*name || !strncmp(name, ".isra.", 6) || !strncmp(name, ".constprop.", 11);
}

enum symbol_role role_of(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		if (is_name_of(name, functions[i].name))
			return functions[i].role;
	}
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		if (!strncmp(name, prefixes[i].name, strlen(prefixes[i].name)))
			return prefixes[i].role;
	}
	if (length >= sizeof(return_thunk) &&
	    !strcmp(name + length - (sizeof(return_thunk) - 1), return_thunk))
		return ROLE_THUNK;
	return ROLE_NONE;
}

bool roles_complete(const char *path)
{
	static const enum symbol_role needed[] = {
		ROLE_INTERRUPT, ROLE_INTERRUPT_EXIT, ROLE_SOFTIRQ,
		ROLE_SWITCH,    ROLE_NEW_TASK,       ROLE_KERNEL_THREAD,
		ROLE_IDLE_TASK, ROLE_USER_RETURN,    ROLE_TASK_END,
	};
	bool played[ROLE_NR] = { false };

	for (uint32_t i = SYMBOL_FIRST; i < symbols_nr(); i++) {
		if (!symbol_is_user(i))
			played[symbol_at(i)->role] = true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		if (played[needed[i]])
			continue;
		for (size_t j = 0; j < ARRAY_SIZE(functions); j++) {
			if (functions[j].role != needed[i])
				continue;
			complain("symbols=%s: no function '%s'; those of an x86-64 kernel's text "
				 "are accepted",
				 path, functions[j].name);
			return false;
		}
	}
	return true;
}
