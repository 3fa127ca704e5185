/* SPDX-License-Identifier: MIT */
#ifndef UMEMCG_TREE_H
#define UMEMCG_TREE_H

/*
 * Shared trees: groups that several processes charge, seen from outside.
 *
 * A tree lies in a file umemcg.NAME of mode 0600 (umemcg_tree_directory()); it is there for the
 * processes of its owner. A process becomes a leaf of one that is there by $UMEMCG_TREE and
 * $UMEMCG_GROUP, which `umemcg run' sets: libumemcg reads them when it is made ready, and charges
 * everything to that group from then on, which is made if need be. The calls here are for those who
 * look and change: they charge nothing.
 *
 * Groups are named by their path, "/" being the root, which has no limit; the slash in front may be
 * left out. The rules of umemcg.h hold, but that a tree is used by one thread at a time, unless a
 * call says otherwise, and by no child that is forked. Two trees that are open, of one name or of
 * two, are independent. With the controller compiled out there are no trees, and calls return
 * -EOPNOTSUPP.
 *
 * Before anything is read or changed, what processes held that have died is given back. If one is
 * stopped in the middle of a charge that waits for up to a second, and what the dead held is then
 * seen still. No call fails for it.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "umemcg.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Longest name of a tree, without the terminating NUL. */
#define UMEMCG_TREE_NAME_MAX 63

/** The tree that commands use if none is named. */
#define UMEMCG_TREE_DEFAULT "default"

/** struct umemcg_tree - an attached tree; opaque, lives from umemcg_tree_open() to _close() */
struct umemcg_tree;

/** enum umemcg_tree_flags - for umemcg_tree_open() */
enum umemcg_tree_flags {
	UMEMCG_TREE_CREATE = 1, /* make it if there is none, or only a stale one */
};

/**
 * umemcg_tree_open - attach a tree
 * @name:     1 to UMEMCG_TREE_NAME_MAX letters, digits, '-', '_' and '.', not beginning with '.'
 * @flags:    of enum umemcg_tree_flags
 * @ret_tree: the tree
 *
 * Return: 0; -EINVAL for the name; -ENOENT; -EPERM for a file that is not the caller's own, is not
 * of mode 0600, is a link, or no regular file; -EPROTO for one that holds no tree;
 * -EPROTONOSUPPORT for a tree of another version of the library that is in use; -EXDEV for a tree
 * of another pid namespace; -ENOSPC if the tree has no room for one more process; -ENOMEM, also
 * when the file system is full.
 *
 * A tree of which nobody lives any more, that is of another version or from before the last boot,
 * is as none. One of this version is used as it is, with its groups and limits. A child that is
 * forked may do nothing with it but close it.
 *
 * Mirrors: mount -t cgroup2; differs: every user has trees of his own.
 */
UMEMCG_EXPORT int umemcg_tree_open(const char *name, unsigned int flags,
				   struct umemcg_tree **ret_tree);

/** umemcg_tree_close - NULL is allowed. The tree itself stays; what was claimed stays charged until
 * its process has died */
UMEMCG_EXPORT void umemcg_tree_close(struct umemcg_tree *tree);

/**
 * umemcg_tree_unlink - remove a tree in which no process lives but this one
 *
 * Its groups and limits go with it. Safe beside processes that attach it: they get the old one
 * before, or a new one afterwards.
 *
 * Return: 0; -ENOENT; -EBUSY while processes live in it, or while another removes it; else as
 * umemcg_tree_open().
 */
UMEMCG_EXPORT int umemcg_tree_unlink(const char *name);

/** umemcg_tree_directory - where trees lie: $UMEMCG_RUNTIME_DIR, else $XDG_RUNTIME_DIR, of those
 * that are absolute paths, else /dev/shm. Valid as long as the environment is not changed */
UMEMCG_EXPORT const char *umemcg_tree_directory(void);

/**
 * umemcg_tree_list - call @visit for the name of each tree of this user, in no order
 *
 * A name may be of a stale tree, or of a file that is none. @visit may make and remove trees.
 *
 * Return: 0, or what @visit returned, which ends it; or an error of opendir(3).
 */
UMEMCG_EXPORT int umemcg_tree_list(int (*visit)(const char *name, void *arg), void *arg);

/**
 * umemcg_tree_create - make a group
 * @path: of the new group, whose parent exists; names are those of umemcg_create()
 *
 * Return: 0; -EEXIST; -ENOENT without its parent; -EINVAL; -ENAMETOOLONG; -EAGAIN for more than 64
 * levels; -ENOSPC if the tree has no row left; -ENOMEM when the file system is full; -ETIMEDOUT if
 * a process that is making or removing a group is stopped for a second.
 *
 * Mirrors: mkdir in cgroup v2.
 */
UMEMCG_EXPORT int umemcg_tree_create(struct umemcg_tree *tree, const char *path);

/**
 * umemcg_tree_destroy - remove a group
 *
 * Return: 0; -ENOENT; -EBUSY while it has groups below it, processes, images that processes still
 * hold, or is held; -EINVAL for the root; -ETIMEDOUT as above.
 *
 * Mirrors: rmdir in cgroup v2.
 */
UMEMCG_EXPORT int umemcg_tree_destroy(struct umemcg_tree *tree, const char *path);

/**
 * umemcg_tree_hold - keep a group from being removed until the tree is closed, or another is held
 * @path: NULL: hold none any more
 *
 * Return: 0; -ENOENT.
 */
UMEMCG_EXPORT int umemcg_tree_hold(struct umemcg_tree *tree, const char *path);

/**
 * umemcg_tree_walk - call @visit for @top and every group below it, parents first, sorted by name
 *
 * Others may make and remove groups meanwhile: then one that comes or goes is seen or not. @visit
 * may read and write files, but may not make or remove groups.
 *
 * Return: 0, or what @visit returned, which ends it; -ENOENT.
 */
UMEMCG_EXPORT int umemcg_tree_walk(struct umemcg_tree *tree, const char *top,
				   int (*visit)(const char *path, void *arg), void *arg);

/**
 * umemcg_tree_read - read a control file of a group; as umemcg_read()
 * umemcg_tree_write - write one; as umemcg_write()
 *
 * Return: of reading, the length of the text, which is cut at @size, with its NUL, if it is longer;
 * of writing 0. -ENOENT for the group or the file; -EACCES for a file that is only written, or
 * only read; of writing also -EAGAIN if less could be reclaimed; -EINVAL and -ERANGE for the value,
 * and -EINVAL for a limit of the root; -EBUSY if usage is still above a max that was set (it is in
 * force nevertheless); -ETIME if a process is stopped in the middle of a charge: then nothing has
 * changed; -ENOSPC if the tree has no row left for this.
 *
 * Mirrors: read and write of the files of cgroup v2.
 */
UMEMCG_EXPORT int umemcg_tree_read(struct umemcg_tree *tree, const char *path, const char *file,
				   char *buffer, size_t size);
UMEMCG_EXPORT int umemcg_tree_write(struct umemcg_tree *tree, const char *path, const char *file,
				    const char *value);

/** umemcg_tree_control_file - name of control file number @index, from 0; NULL beyond the last */
UMEMCG_EXPORT const char *umemcg_tree_control_file(unsigned int index);

/**
 * struct umemcg_tree_stat - a group's numbers, for tables
 *
 * Each stands alone: they are not of one instant. Counts begin when the group is made.
 */
struct umemcg_tree_stat {
	uint64_t nr_bytes_current;
	uint64_t nr_bytes_peak;
	uint64_t nr_bytes_max;  /* UMEMCG_MAX: none */
	uint64_t nr_bytes_high; /* UMEMCG_MAX: none */
	uint64_t nr_bytes_low;
	uint64_t nr_bytes_min;
	uint64_t nr_bytes_reserve;
	uint64_t nr_bytes_image;    /* of current: held by reference by processes that forked */
	uint64_t nr_bytes_stack;    /* of current */
	uint64_t nr_bytes_anon;     /* of current: mappings */
	uint32_t nr_processes;      /* in the group and below */
	uint32_t nr_processes_ever; /* that were ever, in the group and below */
	uint32_t nr_refused;        /* charges refused by this group's limit */
	uint32_t nr_stalled;        /* decisions that counted a stopped process's stocks as used */
};

/** umemcg_tree_get_stat - 0 or -ENOENT */
UMEMCG_EXPORT int umemcg_tree_get_stat(struct umemcg_tree *tree, const char *path,
				       struct umemcg_tree_stat *ret_stat);

/** enum umemcg_process_flags - for struct umemcg_process */
enum umemcg_process_flags {
	UMEMCG_PROCESS_SUPERVISED = 1, /* accounted from outside: umemcg_tree_claim() */
	UMEMCG_PROCESS_STALLED = 2,    /* stopped in the middle of a charge */
};

/** struct umemcg_process - a leaf of the tree */
struct umemcg_process {
	pid_t pid;
	unsigned int flags;      /* of enum umemcg_process_flags */
	uint64_t nr_bytes;       /* what it is charged itself */
	uint64_t nr_bytes_image; /* what it holds by reference besides */
	uint64_t nr_bytes_peak;  /* greatest nr_bytes + nr_bytes_image so far */
	uint64_t nr_bytes_max;   /* of this process alone; UMEMCG_MAX: none */
	uint64_t nr_bytes_stack; /* of what it is charged and holds */
	uint64_t nr_bytes_anon;  /* likewise: mappings */
	char command[16];        /* as in /proc/PID/comm when it joined; bytes below ' ' are '?' */
	char group[UMEMCG_PATH_MAX]; /* path of the group that it is below */
};

/**
 * umemcg_tree_walk_processes - call @visit for each process in @top and below, in no order
 *
 * What @visit is given is valid until it returns.
 *
 * Return: 0, or what @visit returned, which ends it; -ENOENT.
 *
 * Mirrors: cgroup.procs of cgroup v2, read of all groups below.
 */
UMEMCG_EXPORT int umemcg_tree_walk_processes(struct umemcg_tree *tree, const char *top,
					     int (*visit)(const struct umemcg_process *process,
							  void *arg),
					     void *arg);

/* ---- what happens in a tree ---- */

/** enum umemcg_report_kind - what a report tells */
enum umemcg_report_kind {
	UMEMCG_REPORT_REFUSED,   /* a charge was refused */
	UMEMCG_REPORT_UNSEEN,    /* a program, named in @text, that nothing can account */
	UMEMCG_REPORT_UNCOUNTED, /* a mapping larger than max, let through uncounted */
	UMEMCG_REPORT_KILLED,    /* a process was killed, since a charge did not fit */
};

/** struct umemcg_report - one thing that happened; the tree keeps the last 256 of all processes */
struct umemcg_report {
	uint64_t sequence; /* from 1, without gaps but for what the ring has lost */
	enum umemcg_report_kind kind;
	pid_t pid;             /* to whom */
	char command[16];      /* its, as in struct umemcg_process */
	uint64_t nr_bytes;     /* asked; of one that was killed: what it held */
	uint64_t nr_bytes_max; /* of the group that refused; UMEMCG_MAX: the process's own limit */
	char group[64];        /* that refused, else the process's; a long path is cut in front */
	char text[64];         /* for kinds that say so */
	struct {
		pid_t pid;
		char command[16];
		uint64_t nr_bytes;
	} consumers[UMEMCG_NR_CONSUMERS]; /* largest processes below the group, largest first; of
					   * one that was killed: who asked, and for how much */
	unsigned int nr_consumers;
};

/**
 * umemcg_tree_wait - wait for a report later than @sequence
 * @sequence:   of the last report that was read; UINT64_MAX: only what happens from now on
 * @timeout_ms: -1: for ever; 0: only look
 * @ret_report: the next one that the ring still has
 *
 * May be called from other threads beside the other calls for the tree, but not beside its closing.
 * Takes no processor time while it waits. Reports that the ring has lost meanwhile are missing in
 * the sequence.
 *
 * Return: 0; -ETIMEDOUT; -EINTR after a signal.
 */
UMEMCG_EXPORT int umemcg_tree_wait(struct umemcg_tree *tree, uint64_t sequence, int timeout_ms,
				   struct umemcg_report *ret_report);

/* ---- accounting from outside ---- */

/**
 * umemcg_tree_claim - account a process that cannot do it itself
 * @group: path of the group that it is below
 * @pid:   a living process that has no leaf in the tree yet
 * @max:   limit of the process alone; UMEMCG_MAX: none
 * @ret_leaf: names it to the calls below, of this tree only; no leaf any more when the process has
 *            died, or this tree is closed
 *
 * Return: 0; -EEXIST if the process accounts itself, or is claimed; -ESRCH; -ENOENT for the group;
 * -ENOSPC; -ENOMEM when the file system is full.
 */
UMEMCG_EXPORT int umemcg_tree_claim(struct umemcg_tree *tree, const char *group, pid_t pid,
				    uint64_t max, uint32_t *ret_leaf);

/** umemcg_tree_is_accounted - has a living process a leaf, its own or a claimed one? Looks only */
UMEMCG_EXPORT bool umemcg_tree_is_accounted(struct umemcg_tree *tree, pid_t pid);

/**
 * umemcg_tree_charge - charge a mapping to a claimed process
 *
 * Nobody is asked or killed for it: what is charged may be more than what the process has, until
 * the caller has looked.
 *
 * Return: 0; -ENOMEM if it does not fit: for umemcg_tree_relieve() to make room, and for
 * umemcg_tree_tell_refused() to report if that is in vain; -EINVAL for a leaf that is the process's
 * own by now, or gone.
 */
UMEMCG_EXPORT int umemcg_tree_charge(struct umemcg_tree *tree, uint32_t leaf, uint64_t nr_bytes);

/**
 * umemcg_tree_relieve - make room for what the last umemcg_tree_charge() did not admit
 *
 * Processes below the group that refused it are asked to give back what they can have anew, for as
 * long as umemcg_set_reclaim_timeout() says; if they have nothing, memory.oom.policy is followed.
 *
 * Return: 0: charge again, which may fail again, or find that the process was the one to be killed;
 * -ENOMEM: there is nothing that could be done; -EINVAL for a leaf as above.
 */
UMEMCG_EXPORT int umemcg_tree_relieve(struct umemcg_tree *tree, uint32_t leaf, uint64_t nr_bytes);

/** umemcg_tree_uncharge - give bytes back; more than the process has is what it has. Waits for no
 * refusal that is being decided. Of no leaf: does nothing, as the next three */
UMEMCG_EXPORT void umemcg_tree_uncharge(struct umemcg_tree *tree, uint32_t leaf, uint64_t nr_bytes);

/** umemcg_tree_tell_refused - count and report that the last umemcg_tree_charge() was refused */
UMEMCG_EXPORT void umemcg_tree_tell_refused(struct umemcg_tree *tree, uint32_t leaf,
					    uint64_t nr_bytes);

/** umemcg_tree_tell_uncounted - report that a mapping larger than max was let through uncounted */
UMEMCG_EXPORT void umemcg_tree_tell_uncounted(struct umemcg_tree *tree, uint32_t leaf,
					      uint64_t nr_bytes);

/** umemcg_tree_release - the process has left its image (exec) or is to be claimed no longer: all
 * that it was charged is given back, and its leaf is none any more */
UMEMCG_EXPORT void umemcg_tree_release(struct umemcg_tree *tree, uint32_t leaf);

#ifdef __cplusplus
}
#endif

#endif
