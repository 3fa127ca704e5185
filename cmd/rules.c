/* SPDX-License-Identifier: MIT */
/*
 * The calls: mmap, brk, mremap, mprotect take; munmap, and brk and mremap downwards, give back.
 * What a call does depends on what is mapped where it acts, so that most look first.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "preload/filter.h"
#include "rules.h"
#include "settle.h"

bool rules_is_probe(const struct call *call)
{
	return call->number == SYS_munmap && call->args[0] == FILTER_PROBE_ADDRESS &&
	       !call->args[1];
}

bool rules_is_exec(const struct call *call)
{
	return call->number == SYS_execve || call->number == SYS_execveat;
}

static void grow(struct ledger *ledger, struct thread *thread, uint64_t nr_bytes,
		 struct verdict *verdict)
{
	if (!nr_bytes)
		return;
	if (settle_grow(ledger, thread, nr_bytes)) {
		verdict->is_refused = true;
		verdict->error = -ENOMEM;
	}
	verdict->nr_bytes = nr_bytes;
}

/* Memory that never could be charged is let through, if it is only set aside. */
static bool let_through(struct ledger *ledger, struct process *process, uint64_t nr_bytes)
{
	struct umemcg_tree_stat stat;
	uint64_t max = ledger->process_max;

	if (!umemcg_tree_get_stat(ledger->tree, ledger->group, &stat) && stat.nr_bytes_max < max)
		max = stat.nr_bytes_max;
	if (nr_bytes <= max)
		return false;
	if (!process->nr_bytes_ignore || nr_bytes < process->nr_bytes_ignore)
		process->nr_bytes_ignore = nr_bytes;
	ledger_count(&ledger->stat.nr_uncounted, 1);
	umemcg_tree_tell_uncounted(ledger->tree, process->leaf, nr_bytes);
	return true;
}

/* Of a range that becomes writable, what does not count yet. */
static uint64_t nr_bytes_new(const struct call *call, uint64_t nr_bytes,
			     const struct maps_look *look)
{
	return call->number == SYS_mprotect ? look->nr_bytes_reserved
					    : nr_bytes - look->nr_bytes_in_range;
}

/*
 * A fixed mapping replaces what is there, and mprotect may find it writable already. Where looking
 * is dear, all of it is charged, and looked at before that is refused.
 */
static void grow_in_place(struct ledger *ledger, struct thread *thread, const struct call *call,
			  struct verdict *verdict)
{
	uint64_t start = call->args[0], nr_bytes = maps_page_align(call->args[1]);
	struct maps_look look;

	if (!settle_look(ledger, thread->process, NULL, start, start + nr_bytes, &look)) {
		grow(ledger, thread, nr_bytes_new(call, nr_bytes, &look), verdict);
		return;
	}
	grow(ledger, thread, nr_bytes, verdict);
	if (!verdict->is_refused ||
	    settle_look_now(ledger, thread->process, NULL, start, start + nr_bytes, &look))
		return;
	*verdict = (struct verdict){ 0 };
	grow(ledger, thread, nr_bytes_new(call, nr_bytes, &look), verdict);
}

static void judge_mmap(struct ledger *ledger, struct thread *thread, const struct call *call,
		       struct verdict *verdict)
{
	uint64_t nr_bytes = maps_page_align(call->args[1]);

	if ((call->args[3] & MAP_NORESERVE) && let_through(ledger, thread->process, nr_bytes))
		return;
	if (call->args[3] & MAP_FIXED)
		grow_in_place(ledger, thread, call, verdict);
	else
		grow(ledger, thread, nr_bytes, verdict);
}

static void judge_munmap(struct ledger *ledger, struct thread *thread, const struct call *call)
{
	uint64_t start = call->args[0];
	struct maps_look look;

	settle_look(ledger, thread->process, thread, start, start + maps_page_align(call->args[1]),
		    &look);
	settle_later(thread->process);
}

static void judge_mremap(struct ledger *ledger, struct thread *thread, const struct call *call,
			 struct verdict *verdict)
{
	uint64_t start = call->args[0];
	uint64_t old_bytes = maps_page_align(call->args[1]),
		 new_bytes = maps_page_align(call->args[2]);
	bool is_shrinking = new_bytes < old_bytes;
	struct maps_look look;
	int r = settle_look(ledger, thread->process, is_shrinking ? thread : NULL,
			    is_shrinking ? start + new_bytes : start, start + old_bytes, &look);

	/* A mapping of a file, or a shared one, may grow as it likes. */
	if (!is_shrinking && (r || look.nr_bytes_in_range))
		grow(ledger, thread, new_bytes - old_bytes, verdict);
	settle_later(thread->process);
}

/* To the byte it is known from the last call; at first, how far its pages go is seen. */
static uint64_t current_brk(struct ledger *ledger, struct thread *thread)
{
	struct process *process = thread->process;
	struct maps_look look;

	if (process->brk)
		return process->brk;
	if (settle_look(ledger, process, NULL, 0, 0, &look) || !look.heap_end)
		return process->start_brk;
	return look.heap_end;
}

static void judge_brk(struct ledger *ledger, struct thread *thread, const struct call *call,
		      struct verdict *verdict)
{
	struct process *process = thread->process;
	uint64_t old = current_brk(ledger, thread), new = call->args[0];
	struct maps_look look;

	/* The kernel answers with the break as it is. */
	if (!old || new < process->start_brk) {
		settle_later(process);
		return;
	}
	if (new < old) {
		settle_look(ledger, process, thread, maps_page_align(new), maps_page_align(old),
			    &look);
		settle_later(process);
	} else {
		grow(ledger, thread, maps_page_align(new) - maps_page_align(old), verdict);
	}
	if (verdict->is_refused) {
		/* If it was not what it was taken to be, the looks before a refusal have told. */
		verdict->error = 0;
		verdict->value = (int64_t)(process->brk ? process->brk : old);
		return;
	}
	verdict->old_brk = old;
	process->brk = new;
}

void rules_judge(struct ledger *ledger, struct thread *thread, const struct call *call,
		 struct verdict *ret_verdict)
{
	*ret_verdict = (struct verdict){ 0 };
	/* The call before this one is done. */
	thread->nr_bytes_coming = 0;
	thread->nr_bytes_going = 0;
	if (thread->process->accountant != ACCOUNTANT_SUPERVISOR)
		return;
	switch (call->number) {
	case SYS_mmap:
		judge_mmap(ledger, thread, call, ret_verdict);
		break;
	case SYS_mprotect:
		grow_in_place(ledger, thread, call, ret_verdict);
		break;
	case SYS_munmap:
		judge_munmap(ledger, thread, call);
		break;
	case SYS_mremap:
		judge_mremap(ledger, thread, call, ret_verdict);
		break;
	case SYS_brk:
		judge_brk(ledger, thread, call, ret_verdict);
		break;
	}
}

void rules_undo(struct ledger *ledger, struct thread *thread, const struct verdict *verdict)
{
	settle_undo(ledger, thread, verdict->nr_bytes);
	if (verdict->old_brk)
		thread->process->brk = verdict->old_brk;
}
