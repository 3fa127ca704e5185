/* SPDX-License-Identifier: MIT */
/*
 * What lies in a segment, to the byte.
 *
 * Rows have numbers, and row 0 of each region is none. Everything here may hold anything, since
 * other processes write it: numbers are checked where they are used (shared/segment.h).
 */
#ifndef UMEMCG_SHARED_LAYOUT_H
#define UMEMCG_SHARED_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

#include "charge/counter.h"
#include "charge/flight.h"
#include "reclaim/average.h"
#include "umemcg.h"

#define SEGMENT_MAGIC   "umemcg\n\0"
#define SEGMENT_VERSION 1u

#define SEGMENT_MAX_DEPTH     64u
#define SEGMENT_MAX_PROCESSES 4096u /* rows of them, row 0 included */

/* The tree's root; it always exists. */
#define SHARED_ROOT 1u

#define SEGMENT_NR_REPORTS 256u

enum segment_region {
	REGION_NAMES, /* struct process_name; as many as processes, numbered alike */
	REGION_PROCESSES,
	REGION_GROUPS,
	REGION_PLACES, /* struct group_place; as many as groups, numbered alike */
	REGION_THREADS,
	REGION_IMAGES,
	REGION_CHUNKS,      /* windows: words of stocks (charge/window.h) */
	REGION_CHUNK_HEADS, /* struct shared_chunk; as many, numbered alike */
	REGION_REPORTS,
	NR_REGIONS
};

/* Where a region lies. */
struct segment_region_header {
	uint64_t first_byte;
	uint32_t row_bytes;
	uint32_t nr_rows;
};

enum segment_state { SEGMENT_LIVE = 1, SEGMENT_DEAD };

/* The first page. Up to `names` it is the same in every version. */
struct segment_header {
	char magic[8];
	uint32_t version;
	_Atomic uint32_t state;
	char boot_id[40];
	uint64_t pid_namespace; /* inode of /proc/self/ns/pid */
	struct segment_region_header names;
	uint64_t layout_stamp;
	uint64_t nr_bytes; /* of the file */
	struct segment_region_header regions[NR_REGIONS];
	uint32_t gate_bytes[64]; /* bytes of an object of each gate */
	/* Rows below these have memory; nobody looks beyond. Only raised (segment_commit_row()). */
	_Atomic uint32_t nr_used[NR_REGIONS];

	/*
	 * Words that several write, apart from what is only read. Holders are processes' rows.
	 * Every slow charge reads the first, so it has a line that only recoveries write; so has
	 * the lock of those who make groups, and what each refusal writes.
	 */
	_Atomic uint32_t recovering aligned_to(64); /* who recovers; all charging waits */
	_Atomic uint32_t has_high;                  /* some group has, or had, a high */
	_Atomic uint64_t nr_recoveries;             /* raised before the dead are forgotten */
	/* Who makes or removes groups (shared/tree_lock.h). */
	_Atomic uint32_t tree_lock aligned_to(64);
	_Atomic uint32_t nr_waiting aligned_to(64); /* who waits for reports */
	_Atomic uint32_t report_futex;              /* changes with every report */
	_Atomic uint64_t nr_reports;                /* ever: the sequence of the last one */
};

_Static_assert(sizeof(struct segment_header) <= 4096, "the first page");

/*
 * Of the same layout in every version, so that anybody can tell whether a segment is in use. One
 * word, so that nobody ever sees the pid of one with the start time of another, and that of two who
 * name a row one finds the other's name.
 */
struct process_name {
	/* pid | start time << 32 (shared/death.h); 0: not named yet */
	_Atomic uint64_t word;
	/* Which program it executes (death_image_of()); 0: it could not be told. Relaxed */
	_Atomic uint64_t image;
	uint64_t reserved[2]; /* 0 */
};

_Static_assert(sizeof(struct process_name) == 32, "in every version");

enum process_state {
	PROCESS_FREE,
	PROCESS_CLAIMED, /* the bits above say by which pid; perhaps not named yet */
	PROCESS_LIVE,
};

#define PROCESS_STATE_BITS 8

enum process_flag {
	PROCESS_LOOKS = 1,      /* charges nothing: a verb */
	PROCESS_SUPERVISED = 2, /* accounted by another: its own threads are never in flight */
	PROCESS_STALLED = 4,    /* others have given up waiting for a flight of it */
	PROCESS_LEFT = 8,       /* given up; dead, whatever its pid does */
	/* It executes another program by now: nothing is charged here, but it keeps its place. */
	PROCESS_WENT_ON = 16,
};

/*
 * A process, and its ledger (docs/shared-trees.md): own = max(0, used - owed - its images). It
 * alone writes used; closers write owed; recovery writes anything of the dead.
 *
 * The first line is what charges write, and what others must read of each process to decide or to
 * recover: one line a process. In the second lies what is only shown, written with every mapping;
 * in the third what it is asked to give back, and whether it is to die.
 */
struct shared_process {
	_Atomic uint32_t state; /* enum process_state; read it with slot_state() */
	_Atomic uint32_t group; /* that it is below; 0: charges nothing */
	_Atomic uint64_t used;  /* bytes it has charged, its stocks and inherited images included */
	_Atomic uint64_t owed;  /* of that, given back by closings; the round in the lowest bit */
	_Atomic uint32_t image; /* newest one that it holds, 0: none */
	_Atomic uint32_t flags; /* enum process_flag */
	_Atomic uint64_t max;   /* bytes of own, for this process alone; COUNTER_MAX: none */
	_Atomic uint64_t peak;  /* greatest used so far */
	_Atomic uint32_t first_thread; /* of its list of rows; only pushed to while it lives */
	_Atomic uint32_t first_chunk;  /* likewise */
	_Atomic uint32_t claimer;      /* row of who claimed it, 0: it had none */
	_Atomic uint32_t claimed_s;    /* monotonic; of a row that has no name yet */

	_Atomic uint64_t nr_bytes_stack aligned_to(64); /* of used; relaxed, for show */
	_Atomic uint64_t nr_bytes_anon;                 /* likewise */
	_Atomic uint32_t nr_threads; /* when one of them last waited for memory; 0: none did */
	char command[16];            /* as in /proc/PID/comm when it joined */

	_Atomic uint64_t reclaim_wanted aligned_to(64); /* bytes that others want given back */
	_Atomic uint32_t reclaim_asked;                 /* futex: times that they asked */
	_Atomic uint32_t reclaim_served;                /* of those */
	_Atomic uint64_t nr_reclaimed;                  /* bytes, when asked */
	_Atomic uint32_t can_reclaim;                   /* 1: a thread waits to be asked */
	/* Name of who is to die by a group's policy: of this row's process, or of a former one. */
	_Atomic uint64_t killed;
};

_Static_assert(sizeof(struct shared_process) == 192, "three cache lines");

/* Of groups, threads, images and chunks. */
enum row_state {
	ROW_FREE,
	ROW_MAKING, /* of a group: by who holds the tree's lock */
	ROW_LIVE,
	ROW_DYING,
};

/* Other rows name their maker in the same word, so that none is lost if that one dies. */
static inline uint32_t row_state_making(uint32_t process)
{
	return process << 8 | ROW_MAKING;
}

/* 0 for a row that is not being made. */
static inline uint32_t row_state_maker(uint32_t state)
{
	return (state & 0xff) == ROW_MAKING ? state >> 8 : 0;
}

/* What memory.events counts. */
enum shared_event {
	SHARED_EVENT_LOW,            /* asked to reclaim though usage was below low */
	SHARED_EVENT_HIGH,           /* a thread was slowed down, since usage was above high */
	SHARED_EVENT_MAX,            /* a charge did not fit */
	SHARED_EVENT_OOM,            /* and still did not after all that could be reclaimed was */
	SHARED_EVENT_OOM_KILL,       /* a process was killed for it */
	SHARED_EVENT_OOM_GROUP_KILL, /* all processes were */
	SHARED_EVENT_UNDERFLOW,      /* more was given back than was charged */
	SHARED_EVENT_STALLED,        /* a decision counted a stopped process's stocks as used */
	NR_SHARED_EVENTS
};

/* Time in which threads wait for memory; relaxed, for show (shared/stall.h). */
enum stall_kind {
	STALL_SOME, /* at least one */
	STALL_FULL, /* all */
	NR_STALL_KINDS
};

struct shared_stall {
	_Atomic uint64_t word;  /* since when, how many */
	_Atomic uint64_t nr_us; /* up to then */
};

/* What follows when a charge does not fit and nothing more can be reclaimed. */
enum shared_policy {
	SHARED_POLICY_FAIL,
	SHARED_POLICY_KILL,
};

/*
 * A group. Of its counter usage, max, peak, parent, depth, frozen (who, +0: a process's row) and
 * nr_uncharges are used; candidates and limit, which are rows of private tables, are not.
 *
 * Slow charges read the first two lines, the third only once some group has a high.
 */
struct shared_group {
	struct counter counter;
	_Atomic uint32_t state;             /* enum row_state */
	_Atomic uint32_t nr_processes_ever; /* here and below; for show */
	_Atomic uint64_t reserve;           /* bytes below max for the modest (climb.c) */
	/* Refusals that are remembered: [0] up to max less the reserve, [1] up to max. */
	_Atomic uint64_t refused_size[2], refused_at[2];
	_Atomic uint32_t copies_on_fork; /* memory.fork: 0 share, 1 copy */
	uint64_t sum;                    /* of ledgers, while somebody recovers: that one's own */

	/* Relaxed: settings, which order nothing. */
	_Atomic uint64_t high aligned_to(64); /* usage above which threads are slowed down */
	_Atomic uint32_t high_futex;          /* changes with high; the slowed down wait for it */
	_Atomic uint32_t oom_policy;          /* enum shared_policy */
	_Atomic uint32_t oom_group;           /* 1: the policy kills all processes below */
	_Atomic uint64_t min, low;            /* bytes of usage that reclaim spares */

	/* Relaxed, for show. */
	_Atomic uint32_t events_local[NR_SHARED_EVENTS] aligned_to(64); /* of this group alone */
	_Atomic uint32_t events[NR_SHARED_EVENTS]; /* those below, and that were ever, included */

	struct shared_stall stalls[NR_STALL_KINDS] aligned_to(64);
	_Atomic uint32_t averaging; /* who has the averages below: a process's row */
	struct average average;     /* of the stalls */
} aligned_to(64);

/* The counter is the first line. */
_Static_assert(sizeof(struct shared_group) == 384, "six cache lines");

struct group_place {
	char name[UMEMCG_NAME_MAX + 1];
};

/* A thread: its flight, where every process of the tree can see it. */
struct shared_thread {
	struct flight_row flight;
	_Atomic uint32_t process;
	_Atomic uint32_t next;  /* of the process's threads */
	_Atomic uint32_t state; /* enum row_state */
	_Atomic uint32_t stall; /* does it wait for memory (shared/stall.c); 0: no */
} aligned_to(64);

/* Written at every slow charge, so that no two threads may share a line. */
_Static_assert(sizeof(struct shared_thread) == 64, "one cache line");

/* A chunk's window, of one thread's stocks. */
struct shared_chunk {
	_Atomic uint32_t state; /* enum row_state */
	_Atomic uint32_t process;
	_Atomic uint32_t next;    /* of the process's chunks */
	_Atomic uint32_t nr_rows; /* that have memory, from the first on */
};

/* What a process had when it forked, charged once for all that hold it. */
struct shared_image {
	_Atomic uint64_t nr_bytes;
	_Atomic uint32_t group;    /* that its bytes are charged to */
	_Atomic uint32_t previous; /* older image that its holders hold as well */
	_Atomic uint32_t state;    /* enum row_state */
	_Atomic uint32_t merged;   /* into its only holder: its bytes are that one's own */
};

/* One of the ring (shared/ring.h); fields as in struct umemcg_report. */
struct shared_report {
	/* 0 while it is being written; readers look before and after. */
	_Atomic uint64_t sequence;
	uint32_t kind;
	int32_t pid;
	char command[16];
	uint64_t nr_bytes, nr_bytes_max;
	char group[64], text[64];
	struct {
		int32_t pid;
		char command[16];
		uint32_t spare;
		uint64_t nr_bytes;
	} consumers[UMEMCG_NR_CONSUMERS];
	uint32_t nr_consumers;
	uint32_t spare;
};

#endif
