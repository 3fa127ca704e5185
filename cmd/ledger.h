/* SPDX-License-Identifier: MIT */
/*
 * The supervisor's own books: processes that it accounts, or knows that it need not, and their
 * threads. One thread uses them.
 */
#ifndef UMEMCG_CMD_LEDGER_H
#define UMEMCG_CMD_LEDGER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "listener.h"
#include "supervisor.h"
#include "umemcg-tree.h"

#define LEDGER_NR_BUCKETS 1024

/** enum accountant - who charges what a process takes: one, never two */
enum accountant {
	ACCOUNTANT_SUPERVISOR,
	ACCOUNTANT_ITSELF,    /* it has libumemcg, and a leaf that is its own */
	ACCOUNTANT_UNDECIDED, /* it is loading libumemcg, perhaps */
	ACCOUNTANT_NOBODY,    /* the tree has no room for it */
};

/** struct thread - of a process that makes calls */
struct thread {
	struct thread *next; /* of the bucket */
	struct thread *next_of_process;
	struct process *process;
	pid_t tid;
	/* What its last call takes or gives back, which is done once the thread asks again. */
	uint64_t nr_bytes_coming;
	uint64_t nr_bytes_going;
	uint64_t asked_at_us;
};

/** struct process - what runs one program; made anew when it executes another */
struct process {
	struct process *next; /* of the bucket */
	struct thread *threads;
	pid_t pid;
	int pidfd;
	int maps; /* /proc/PID/maps of the address space that it had at first */
	enum accountant accountant;
	uint64_t undecided_until_us;
	uint32_t leaf;
	bool is_leaving;      /* it called exec, and has not been heard of since */
	bool is_forked_image; /* it has not executed anything yet */
	bool is_dirty;        /* calls were allowed since the last look */
	uint64_t end_data;    /* of struct process_stat */
	uint64_t start_brk;   /* same */
	uint64_t brk;         /* its break, to the byte; 0: not known */
	uint64_t nr_bytes_charged;
	uint64_t nr_bytes_inherited; /* what its address space had of its parent's: not charged */
	uint64_t nr_bytes_ignore;    /* of struct maps_range */
	uint64_t nr_bytes_missed;    /* what a look wanted to charge, and could not */
	uint64_t looked_at_us;
	uint64_t look_cost_us;
};

/** struct ledger - embedded; read it, but let ledger.c write what is not a charge */
struct ledger {
	struct umemcg_tree *tree;
	const char *group;
	uint64_t process_max;
	int epoll;                   /* where the death of a process is to be seen */
	uint64_t pidfd_mark;         /* added to a pid, it is the event's data */
	bool has_complained;         /* of a tree without room */
	struct supervisor_stat stat; /* written here, relaxed; read by supervisor_get_stat() */
	struct process *processes[LEDGER_NR_BUCKETS];
	struct thread *threads[LEDGER_NR_BUCKETS];
};

/**
 * ledger_count - change one of the supervisor's counts
 *
 * Of one writer, so that a load and a store will do; relaxed, as supervisor_get_stat() reads.
 */
static inline void ledger_count(uint64_t *counter, int64_t change)
{
	__atomic_store_n(counter, *counter + (uint64_t)change, __ATOMIC_RELAXED);
}

/**
 * ledger_thread - the thread that waits with @call, and its process; made if they are new
 *
 * Return: 0; a negative errno if its process is gone, or cannot be looked at.
 */
int ledger_thread(struct ledger *ledger, int listener, const struct call *call,
		  struct thread **ret_thread);

/** ledger_leaving - a thread is about to call exec */
void ledger_leaving(struct ledger *ledger, const struct call *call);

/** ledger_forget_threads - those of a process that have ended */
void ledger_forget_threads(struct ledger *ledger, struct process *process);

/** ledger_died - a pidfd says that a process has died: forget it, if it is true */
void ledger_died(struct ledger *ledger, pid_t pid);

/** ledger_fini - forget everything; charges stay with the processes that hold them */
void ledger_fini(struct ledger *ledger);

/** ledger_now_us - of the clock that all its times are in */
uint64_t ledger_now_us(void);

#endif
