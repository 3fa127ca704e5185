/* SPDX-License-Identifier: MIT */
#ifndef UMEMCG_H
#define UMEMCG_H

/*
 * umemcg - hierarchical memory groups for user space
 *
 * A group counts the memory that is charged to it and to every group below it, and may have a
 * limit. What does not fit is made room for, by caches and cold pages that can be given back; else
 * the allocation fails with ENOMEM. Nothing is killed, unless a group's policy says so.
 *
 * Unless a declaration says otherwise: sizes are bytes, exactly; calls may be made from any thread
 * beside any other call; int-returning calls return 0 or a negative errno, and leave ret_ arguments
 * untouched on failure; destructors accept NULL; nothing here is async-signal-safe. A ret_ argument
 * or a function that is NULL is -EINVAL, and so is a group that was destroyed, where that is seen:
 * a new group may have its address by then. NULL for a group is the root, but for what says
 * otherwise.
 *
 * A thread that is stopped (SIGSTOP, a debugger) in the middle of a charge is waited for, but no
 * longer than a second where others have to know what is really used. After that a charge that does
 * not fit at first is refused, though it might fit, and umemcg_set_max() and umemcg_destroy()
 * return -ETIME. One that is stopped while it decides about a limit itself holds up the charges to
 * that group, and to those below, until it goes on.
 *
 * With the controller compiled out or switched off (umemcg_state()) every call still works: there
 * is one group, the root, umemcg_create() returns it, nothing is counted and nothing is refused,
 * and control files read as -EOPNOTSUPP; names and limits are not checked.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define UMEMCG_EXPORT __attribute__((visibility("default")))
#define UMEMCG_MALLOC __attribute__((malloc, warn_unused_result))
#else
#define UMEMCG_EXPORT
#define UMEMCG_MALLOC
#endif

/** No limit; "max" in a control file. */
#define UMEMCG_MAX UINT64_MAX

/** Longest name of a group, without the terminating NUL, as for a directory. */
#define UMEMCG_NAME_MAX 255

/** Room for the path of any group, with the terminating NUL. */
#define UMEMCG_PATH_MAX 4096

/** struct umemcg - a group; opaque, valid from umemcg_create() to umemcg_destroy() */
struct umemcg;

/* ---- library ---- */

/**
 * umemcg_version - the library's version, "major.minor.patch"
 *
 * Return: a string that lives as long as the library.
 */
UMEMCG_EXPORT const char *umemcg_version(void);

/** enum umemcg_state - whether memory is counted, and if not, why */
enum umemcg_state {
	UMEMCG_NOT_COMPILED, /* built with -Dmemcg=disabled */
	UMEMCG_DISABLED,     /* cgroup_disable=memory in $UMEMCG_CMDLINE, or off by default */
	UMEMCG_ENABLED,      /* at least one kind is counted */
};

/**
 * umemcg_state - is accounting on?
 *
 * Decided once, at the first call into the library, from the build and $UMEMCG_CMDLINE. Tokens:
 * cgroup_disable=memory, cgroup_enable=memory, cgroup.memory=nokmem, umemcg.kinds=KIND,...,
 * umemcg.map=at_map, umemcg.swap=DIRECTORY:SIZE. An unknown token is reported once on standard
 * error and ignored.
 *
 * Mirrors: the kernel's command line.
 */
UMEMCG_EXPORT enum umemcg_state umemcg_state(void);

/* ---- groups ---- */

/**
 * umemcg_root - the group above all others; it has no limit and is never destroyed
 */
UMEMCG_EXPORT struct umemcg *umemcg_root(void);

/**
 * umemcg_create - make a group below another
 * @parent:    live group, or NULL for the root
 * @name:      1 to UMEMCG_NAME_MAX bytes without '/' and control characters, not "." or "..", not
 *             beginning with "@", "memory." or "cgroup."; NULL for a name of the library's choosing
 * @ret_group: the new group, without limit
 *
 * Return: 0; -EINVAL for the name or the parent; -ENAMETOOLONG, also for a path of UMEMCG_PATH_MAX
 * bytes or more; -EEXIST; -EAGAIN if an ancestor's cgroup.max.depth or cgroup.max.descendants
 * forbids it; -ENOMEM.
 * Mirrors: mkdir in cgroup v2.
 */
UMEMCG_EXPORT int umemcg_create(struct umemcg *parent, const char *name, struct umemcg **ret_group);

/**
 * umemcg_destroy - remove a group; what it still owns becomes its parent's
 * @group: live group without children, or NULL. That no thread is in it, or enters it, is for the
 *         caller to see to; threads that have allocated, and those of umemcg_thread_create(), are
 *         noticed
 *
 * Takes the same time whatever the group owns. The pointer is invalid afterwards; objects stay
 * valid, and free as before. Waits for a visit of umemcg_walk() to the group.
 *
 * Return: 0; -EBUSY if it has children or a thread is in it; -EINVAL for the root; -ENOMEM if this
 * thread has no memory for its own record, made at its first call; -ETIME if a thread is stopped in
 * the middle of a charge. Unless it is 0 nothing has changed.
 * Mirrors: rmdir in cgroup v2, with the reparenting of obj_cgroup.
 */
UMEMCG_EXPORT int umemcg_destroy(struct umemcg *group);

/**
 * umemcg_free_all - free every object and region that a group itself owns or has inherited
 * @group: live group, not the root; its objects must not be in use, nor be freed or allocated
 *         meanwhile
 *
 * Frees objects from umemcg_malloc(), umemcg_cache_alloc() and their kin, and regions; not stacks,
 * not explicit charges, not what groups below it own. The cost is that of the group's slabs, and of
 * those where owners mix; that of the whole heap if it has inherited.
 *
 * Return: 0; -EINVAL for the root.
 */
UMEMCG_EXPORT int umemcg_free_all(struct umemcg *group);

/**
 * umemcg_lookup - find a group by its path
 * @path:      "/" is the root, "/a/b" a group below it; the leading slash may be left out
 * @ret_group: the group; the caller makes sure that nobody destroys it meanwhile
 *
 * Return: 0; -ENOENT; -EINVAL for NULL, an empty path or an empty component (a slash at the end is
 * none); -ENAMETOOLONG.
 */
UMEMCG_EXPORT int umemcg_lookup(const char *path, struct umemcg **ret_group);

/** umemcg_parent - the group above; NULL for the root, NULL, or a group that is gone */
UMEMCG_EXPORT struct umemcg *umemcg_parent(const struct umemcg *group);

/**
 * umemcg_name - copy a group's name, "" for the root or a group that is gone
 * @buffer: may be NULL if @size is 0
 *
 * Return: the length of the whole name; if it is >= @size the copy was cut (as snprintf does).
 */
UMEMCG_EXPORT size_t umemcg_name(const struct umemcg *group, char *buffer, size_t size);

/**
 * umemcg_path - copy a group's path, "/" for the root or a group that is gone
 *
 * Return: as umemcg_name().
 */
UMEMCG_EXPORT size_t umemcg_path(const struct umemcg *group, char *buffer, size_t size);

/**
 * umemcg_walk - call @visit for @top and every group below it, parents before children
 *
 * @visit may not create or destroy groups. Groups that others create meanwhile may be missed; one
 * that others destroy stays until its visit is over.
 *
 * Return: 0, or the first value other than 0 that @visit returned, which ends the walk; -EINVAL
 * without @visit, or for a @top that is gone.
 */
UMEMCG_EXPORT int umemcg_walk(struct umemcg *top, int (*visit)(struct umemcg *group, void *arg),
			      void *arg);

/**
 * umemcg_enter - charge what this thread allocates from now on to @group
 * @group: live group, or NULL for the root
 *
 * A few instructions: made to be called for each request, and on each switch of a coroutine.
 *
 * Return: the group this thread was in, to be given back to umemcg_enter(); NULL if it has
 * entered none yet.
 */
UMEMCG_EXPORT struct umemcg *umemcg_enter(struct umemcg *group);

/**
 * umemcg_current - the group that this thread is in, never NULL
 *
 * If that was destroyed, against the rules, it is what umemcg_enter() was given; what the thread
 * allocates is the root's then.
 */
UMEMCG_EXPORT struct umemcg *umemcg_current(void);

/* ---- objects ---- */

/*
 * As their namesakes of C and POSIX, errno included; charged, by size class, to the group that the
 * calling thread is in. Any thread may free any object; the owner, or its heir, is repaid. The
 * owner stays the same through umemcg_realloc(). An @alignment is any power of two, and @size need
 * not be a multiple of it. What is no object is reported once on standard error, counted at the
 * root (memory.events: underflow) and otherwise left alone; a hardened build aborts.
 */
UMEMCG_EXPORT UMEMCG_MALLOC void *umemcg_malloc(size_t size);
UMEMCG_EXPORT UMEMCG_MALLOC void *umemcg_calloc(size_t nr_objects, size_t size);
UMEMCG_EXPORT void *umemcg_realloc(void *object, size_t size);
UMEMCG_EXPORT UMEMCG_MALLOC void *umemcg_aligned_alloc(size_t alignment, size_t size);
UMEMCG_EXPORT void umemcg_free(void *object);

/**
 * umemcg_usable_size - bytes that @object has room for, which is what it is charged
 *
 * Return: 0 for NULL, or for what is no object.
 */
UMEMCG_EXPORT size_t umemcg_usable_size(const void *object);

/** umemcg_malloc_in - umemcg_malloc() charged to @group, whichever group the thread is in */
UMEMCG_EXPORT UMEMCG_MALLOC void *umemcg_malloc_in(struct umemcg *group, size_t size);

/**
 * umemcg_owner - the group that @object is charged to: its own, or the heir of its own
 *
 * Return: never NULL; the root for an object that is not counted, and for what is none.
 */
UMEMCG_EXPORT struct umemcg *umemcg_owner(const void *object);

/**
 * umemcg_recharge - charge an object to another group from now on
 * @object: live object, in use by this thread alone for the moment
 * @group:  live group, or NULL for the root
 *
 * Groups above both see no change, and cannot refuse.
 *
 * Return: 0; -EINVAL for what is no object or no live group; -ENOMEM if it does not fit there (then
 * nothing has changed).
 */
UMEMCG_EXPORT int umemcg_recharge(void *object, struct umemcg *group);

/* ---- caches of typed objects ---- */

/** struct umemcg_cache - opaque, valid from umemcg_cache_create() to umemcg_cache_destroy() */
struct umemcg_cache;

/**
 * umemcg_cache_create - make a cache of objects of one type
 * @name:        for messages; its first 63 bytes are copied
 * @object_size: 1 byte or more
 * @alignment:   a power of two, or 0 for the natural one
 * @constructor: called on each object that is handed out, or NULL
 *
 * An object takes a word more than its size, behind it, which is the library's.
 *
 * Return: 0; -EINVAL; -ENOMEM.
 * Mirrors: kmem_cache_create; differs: the constructor runs at each hand-out.
 */
UMEMCG_EXPORT int umemcg_cache_create(const char *name, size_t object_size, size_t alignment,
				      void (*constructor)(void *object),
				      struct umemcg_cache **ret_cache);

/**
 * umemcg_cache_destroy - remove a cache that no thread uses any more
 *
 * Return: 0; -EBUSY while objects of it are alive: nothing has changed then.
 * Mirrors: kmem_cache_destroy.
 */
UMEMCG_EXPORT int umemcg_cache_destroy(struct umemcg_cache *cache);

/**
 * umemcg_cache_alloc - an object, after its constructor, charged to the calling thread's group
 *
 * Return: the object; NULL with errno set to ENOMEM, or EINVAL without a cache.
 * Mirrors: kmem_cache_alloc.
 */
UMEMCG_EXPORT UMEMCG_MALLOC void *umemcg_cache_alloc(struct umemcg_cache *cache);

/**
 * umemcg_cache_free - free an object of umemcg_cache_alloc(), from any thread
 * @cache:  the object's own
 * @object: may be NULL
 *
 * This and umemcg_free_all() are the ways that the cache notices.
 * Mirrors: kmem_cache_free.
 */
UMEMCG_EXPORT void umemcg_cache_free(struct umemcg_cache *cache, void *object);

/* ---- stacks and threads ---- */

/**
 * umemcg_stack_alloc - a stack, charged to the calling thread's group, with a guard page below it
 * @nr_bytes:  usable size, rounded up to whole pages; the guard is not charged
 * @ret_stack: lowest usable address
 *
 * Return: 0; -EINVAL for less than PTHREAD_STACK_MIN; -ENOMEM if it does not fit, or the system has
 * no memory.
 */
UMEMCG_EXPORT int umemcg_stack_alloc(size_t nr_bytes, void **ret_stack);

/**
 * umemcg_stack_free - give back a stack of umemcg_stack_alloc(), which nobody runs on
 *
 * Repays the group that owns it, or its heir. What is no such stack is reported on standard error
 * and left alone.
 */
UMEMCG_EXPORT void umemcg_stack_free(void *stack);

/**
 * umemcg_thread_create - pthread_create() with a charged stack, starting in the creator's group
 *
 * @attr may set everything but the stack's address; its stack size counts (default: the system's).
 * The charge ends when @start has returned, or was left by pthread_exit() or a cancellation and the
 * cleanup handlers have run: before destructors of thread-specific data, and before a join returns.
 * Join with pthread_join().
 *
 * Return: 0; -ENOMEM if the stack does not fit, or there is no memory; -EINVAL also for a stack of
 * the caller's own; -EAGAIN, -EINVAL, -EPERM as pthread_create().
 */
UMEMCG_EXPORT int umemcg_thread_create(pthread_t *ret_thread, const pthread_attr_t *attr,
				       void *(*start)(void *arg), void *arg);

/* ---- regions ---- */

/** enum umemcg_map_mode - when the memory of regions is charged */
enum umemcg_map_mode {
	UMEMCG_MAP_AT_MAP,   /* whole, at umemcg_map(): nothing of it is ever taken away */
	UMEMCG_MAP_AT_TOUCH, /* page by page, as it is touched first */
};

/**
 * umemcg_map_mode - what umemcg_map() does in this process
 *
 * At touch where the system has pages of 4 KiB, and userfaultfd for this user (Linux 5.11 and
 * later, none of it as a privilege), unless $UMEMCG_CMDLINE has umemcg.map=at_map.
 */
UMEMCG_EXPORT enum umemcg_map_mode umemcg_map_mode(void);

/**
 * umemcg_map - anonymous memory, charged to @group by whole pages
 * @group:       live group, or NULL for the root
 * @nr_bytes:    1 or more; rounded up to whole pages
 * @ret_address: zeroed, readable and writable
 *
 * Charged at touch, a region may be larger than max. When the group, or one above it, is at max,
 * its pages that were not touched for long are compressed, or written to the swap file
 * (umemcg_set_swap()), and come back when they are touched; what is stored compressed stays
 * charged, at the size it takes, which is at most half of any limit above it. A touch goes on for
 * as long as anybody makes room where it is missing, whatever umemcg_set_reclaim_timeout() says.
 * One that finds no room anywhere, for half a second if other threads are at it, is SIGBUS
 * (BUS_ADRERR, with the address), as for a file mapping on a full disk; what was written before is
 * intact, and the touch may be tried again. That may be of a new page, or of one that is
 * compressed; one in the swap file comes back in exchange for another of its group, unless those
 * are all pinned or compressed. umemcg_pin() says -ENOMEM instead.
 *
 * Of memory charged at touch: a system call that meets a page that is not there fails with EFAULT,
 * so umemcg_pin() what is handed to one, or to a function of this library. A child made by fork
 * does not have it. A signal handler that may interrupt the library must not touch pages that are
 * not pinned. The library keeps a handler of SIGBUS; what is not its own goes to the handler that
 * was there before. A program that installs one later has to pass on what is not its own, too, and
 * a thread that touches such memory must not block SIGBUS. It is served on the thread's alternate
 * stack, if it has one, and needs some 16 KiB of it. Shrinkers may be called by a touch, as by an
 * allocation, and may touch regions. What the library knows of the pages, some 8 bytes each, is
 * charged with them.
 *
 * What the program takes away of it (MADV_DONTNEED) stays charged, and is zeros afterwards only if
 * it was not evicted before. All regions hang on one descriptor, of a number from 512 on where
 * there are that many: if the program closes it, what was evicted is lost.
 *
 * Return: 0; -EINVAL for 0 bytes; -ENOMEM if it does not fit, or the system has no memory.
 */
UMEMCG_EXPORT int umemcg_map(struct umemcg *group, size_t nr_bytes, void **ret_address);

/**
 * umemcg_unmap - unmap a whole region of umemcg_map(); repays the group that owns it, or its heir
 *
 * No thread touches it meanwhile. Pins are forgotten.
 *
 * Return: 0; -EINVAL if no region begins at @address.
 */
UMEMCG_EXPORT int umemcg_unmap(void *address);

/**
 * umemcg_pin - make the pages of a range present, and keep them so until umemcg_unpin()
 * @address, @nr_bytes: within one region; the pages that the range is on are meant. Pins of a page
 *                      nest
 *
 * What the program itself took away with MADV_DONTNEED is to be touched first.
 *
 * Return: 0; -EINVAL for a range that is not of a region; -ENOMEM if it does not fit; -EIO if the
 * swap file cannot be read: nothing is pinned then.
 * Mirrors: mlock(2).
 */
UMEMCG_EXPORT int umemcg_pin(const void *address, size_t nr_bytes);

/** umemcg_unpin - end one umemcg_pin() of the same range; -EINVAL if a page of it is not pinned.
 * Not beside another of the same pin */
UMEMCG_EXPORT int umemcg_unpin(const void *address, size_t nr_bytes);

/**
 * umemcg_set_swap - give the regions of this process a file for cold pages
 * @directory: where an unnamed file is made, which is gone with the process; NULL: none any more
 * @nr_bytes:  that it grows to at most
 *
 * $UMEMCG_CMDLINE may have umemcg.swap=DIRECTORY:SIZE instead. Without a file, cold pages are only
 * compressed. The file grows to no more than the process may write to one (RLIMIT_FSIZE). If the
 * program closes the file's descriptor, nothing more is written there, and nothing is lost. A child
 * made by fork has a file of its own in the same directory.
 *
 * Return: 0; -EINVAL; -EBUSY while pages are in a file; -ENOMEM; an error of open(2). After an
 * error the file is what it was. Mirrors: swapon.
 */
UMEMCG_EXPORT int umemcg_set_swap(const char *directory, uint64_t nr_bytes);

/* ---- explicit charges ---- */

/**
 * umemcg_try_charge - count memory that the program gets elsewhere (kind "external")
 * @group:    live group, or NULL for the root
 * @nr_bytes: more than 2^60 never fits
 *
 * Return: 0; -ENOMEM if it does not fit; -EINVAL for a group that is seen not to be live.
 */
UMEMCG_EXPORT int umemcg_try_charge(struct umemcg *group, uint64_t nr_bytes);

/**
 * umemcg_uncharge - give an explicit charge back, whole or in parts, from any thread
 * @group:    live group, or NULL for the root
 * @nr_bytes: of more than 2^60 only so much is given back
 *
 * After umemcg_destroy() of the group that was charged, uncharge its parent. Giving back more than
 * is charged is clamped, counted (memory.events: underflow) and reported once on standard error.
 */
UMEMCG_EXPORT void umemcg_uncharge(struct umemcg *group, uint64_t nr_bytes);

/* ---- limits and control files ---- */

/**
 * umemcg_set_max - limit a group and everything below it
 * @group: live group, not the root
 * @max:   limit in bytes; UMEMCG_MAX for none
 *
 * Return: 0; -EBUSY if usage is still above @max: the limit is in force nevertheless, and nothing
 * more is admitted. Otherwise the limit is as before: -EINVAL for the root or NULL; -ENOMEM; -ETIME
 * if a thread is stopped in the middle of a charge.
 * Mirrors: memory.max of cgroup v2; differs: what follows a refusal is umemcg_set_oom_policy()'s to
 * say, and the limit is not rounded.
 */
UMEMCG_EXPORT int umemcg_set_max(struct umemcg *group, uint64_t max);

/**
 * umemcg_set_reserve - set a part of max aside for threads that umemcg_reserve_enter() let in
 * @group:    live group, not the root
 * @nr_bytes: of which as much as max counts; all others are then limited to what is left of max
 *
 * Return: 0; -EINVAL for the root or NULL; -ENOMEM. Unless it is 0 nothing has changed.
 */
UMEMCG_EXPORT int umemcg_set_reserve(struct umemcg *group, uint64_t nr_bytes);

/**
 * umemcg_set_min - usage that is not reclaimed, whatever happens
 * umemcg_set_low - usage that is reclaimed only if there is nothing else
 * @group:    live group, not the root
 * @nr_bytes: 0: none; UMEMCG_MAX: all of it
 *
 * What is effective below a group that is reclaimed is the kernel's effective protection: a group's
 * part of its parent's, in proportion to what it uses of its own, if they overcommit it.
 *
 * Return: 0; -EINVAL for the root or NULL; -ENOMEM. Unless it is 0 nothing has changed.
 * Mirrors: memory.min and memory.low of cgroup v2.
 */
UMEMCG_EXPORT int umemcg_set_min(struct umemcg *group, uint64_t nr_bytes);
UMEMCG_EXPORT int umemcg_set_low(struct umemcg *group, uint64_t nr_bytes);

/**
 * umemcg_set_high - usage above which the group is reclaimed, and its threads are slowed down
 * @group:    live group, not the root
 * @nr_bytes: UMEMCG_MAX: none
 *
 * Never makes an allocation fail. In the library it takes effect at umemcg_throttle(); in a program
 * under `umemcg run', where it allocates.
 *
 * Return: 0; -EINVAL for the root or NULL; -ENOMEM. Unless it is 0 nothing has changed.
 * Mirrors: memory.high of cgroup v2.
 */
UMEMCG_EXPORT int umemcg_set_high(struct umemcg *group, uint64_t nr_bytes);

/* As umemcg_get_reserve(): 0, 0 and UMEMCG_MAX where nothing was set. */
UMEMCG_EXPORT uint64_t umemcg_get_min(const struct umemcg *group);
UMEMCG_EXPORT uint64_t umemcg_get_low(const struct umemcg *group);
UMEMCG_EXPORT uint64_t umemcg_get_high(const struct umemcg *group);

/**
 * umemcg_get_current - bytes charged now to a group and everything below it
 *
 * Stocks count as used, here and in the peak, as in the kernel. This and the next three take NULL
 * for the root, lock nothing, and are exact for the instant they read.
 *
 * Return: 0 also for a group that is gone.
 * Mirrors: memory.current of cgroup v2; differs: not rounded to pages.
 */
UMEMCG_EXPORT uint64_t umemcg_get_current(const struct umemcg *group);

/** umemcg_get_peak - the greatest current so far; 0 for a group that is gone */
UMEMCG_EXPORT uint64_t umemcg_get_peak(const struct umemcg *group);

/** umemcg_get_max - the limit in bytes; UMEMCG_MAX for none, the root, or a group that is gone */
UMEMCG_EXPORT uint64_t umemcg_get_max(const struct umemcg *group);

/** umemcg_get_reserve - the bytes set aside, as they were set; 0 for a group that is gone */
UMEMCG_EXPORT uint64_t umemcg_get_reserve(const struct umemcg *group);

/** struct umemcg_stat - what a group's current consists of, groups below it included */
struct umemcg_stat {
	uint64_t nr_bytes_current;
	uint64_t nr_bytes_slab; /* objects */
	uint64_t nr_bytes_stack;
	uint64_t nr_bytes_anon;     /* regions */
	uint64_t nr_bytes_external; /* explicit charges */
	uint64_t nr_bytes_stock;    /* charged ahead by threads; a drain gives it back */
};

/**
 * umemcg_get_stat - exact when no thread is charging; the kinds add up to current then
 * @group: NULL for the root
 *
 * Return: 0, with zeros when accounting is off; -EINVAL for a group that is gone.
 */
UMEMCG_EXPORT int umemcg_get_stat(const struct umemcg *group, struct umemcg_stat *ret_stat);

/**
 * umemcg_read - read a control file
 * @group:  NULL for the root
 * @file:   its name, such as "memory.current"
 * @buffer: gets the text with a terminating NUL; may be NULL if @size is 0
 *
 * Return: the length of the whole text; if it is >= @size it was cut; -ENOENT for an unknown file;
 * -EACCES for one that is only written; -EINVAL for a group that is gone; -EOPNOTSUPP when
 * accounting is off.
 * Mirrors: the files of cgroup v2; ours besides: memory.reserve, memory.consumers,
 * memory.oom.policy.
 */
UMEMCG_EXPORT int umemcg_read(struct umemcg *group, const char *file, char *buffer, size_t size);

/**
 * umemcg_write - write a control file
 * @group: NULL for the root
 * @value: spaces around it are ignored; sizes are decimal with at most one suffix K M G T P E in
 *         either case, or "max"
 *
 * Return: 0; -ENOENT; -EINVAL for the value, a group that is gone, or a setting of memory, such as
 * memory.max, of the root; -ERANGE for a value that is too large; -EACCES for a file that is only
 * read; -ENOMEM; -EBUSY and -ETIME as umemcg_set_max(); -EAGAIN as umemcg_reclaim(); -EOPNOTSUPP
 * when accounting is off, and for memory.pressure, whose triggers are
 * umemcg_pressure_subscribe()'s. Only with 0, -EBUSY and -EAGAIN has anything changed.
 */
UMEMCG_EXPORT int umemcg_write(struct umemcg *group, const char *file, const char *value);

/**
 * umemcg_control_file - name of the control file number @index, from 0
 *
 * Return: a string that lives as long as the library; NULL beyond the last file, and when
 * accounting is off.
 */
UMEMCG_EXPORT const char *umemcg_control_file(unsigned int index);

/**
 * umemcg_drain - give the stocks of all threads for @group and the groups below it back
 * @group: NULL for the root
 *
 * Threads that charge meanwhile may fill theirs again. Nothing happens if a thread is stopped in
 * the middle of a charge, or this one has no memory for its own record.
 */
UMEMCG_EXPORT void umemcg_drain(struct umemcg *group);

/* ---- at the limit ---- */

#define UMEMCG_NR_CONSUMERS 3

/** struct umemcg_failure - why a charge was refused */
struct umemcg_failure {
	uint64_t sequence;       /* counts the refusals of this process, from 1 */
	uint64_t nr_bytes_asked; /* as charged, so by size class or pages */
	uint64_t nr_bytes_max;   /* limit that was hit, without its reserve */
	uint64_t nr_bytes_current;
	char group[64];   /* path of the group that hit its limit; a long one is cut in front */
	char charged[64]; /* path of the group that was to be charged */
	struct {
		char group[64]; /* path of one of the largest children of the group at its limit */
		uint64_t nr_bytes;
	} consumers[UMEMCG_NR_CONSUMERS];
	unsigned int nr_consumers;
};

/**
 * umemcg_last_failure - the calling thread's last refusal
 *
 * Allocates nothing.
 *
 * Return: 0; -ENOENT if none of this thread's charges was refused.
 */
UMEMCG_EXPORT int umemcg_last_failure(struct umemcg_failure *ret_failure);

/*
 * Between these two, the calling thread may use the memory.reserve of its groups, to build its
 * error message and unwind. They nest; a leave without an enter does nothing. In a thread that has
 * no memory for its own record neither does anything: it has none for a charge either.
 */
UMEMCG_EXPORT void umemcg_reserve_enter(void);
UMEMCG_EXPORT void umemcg_reserve_leave(void);

/** enum umemcg_oom_policy - what follows when nothing more can be reclaimed */
enum umemcg_oom_policy {
	UMEMCG_OOM_FAIL, /* the charge fails with ENOMEM */
	UMEMCG_OOM_KILL, /* the largest process of the group gets SIGKILL; in a private tree, this
			  */
	UMEMCG_OOM_CALLBACK, /* the program decides */
};

/**
 * umemcg_set_oom_policy - choose what happens when a charge does not fit at a group's limit
 * @group:    live group, not the root
 * @policy:   for this group's own limit; groups below have their own
 * @callback: of UMEMCG_OOM_CALLBACK: called without any lock of the library's, in the thread that
 *            asked; @failure is what umemcg_last_failure() will say, the largest consumer first.
 *            true: it has made room, try again (up to 16 times a charge); false: fail
 *
 * A callback may do what one of reclaim may, and change the policy; it returns, and ends neither
 * the thread nor by longjmp(). What it is refused itself calls nothing. Returns when the callback
 * that was set before runs no more, as does umemcg_destroy(), unless called from within one.
 *
 * With memory.oom.group a kill takes all processes of the group. In a private tree a kill is told
 * by a line on standard error first; the first process of a PID namespace cannot be killed, and
 * its charge fails.
 *
 * Return: 0; -EINVAL for the root or NULL, the policy, or a callback that is missing; -ENOMEM.
 * Mirrors: memory.oom.group of cgroup v2; differs: killing is a choice.
 */
UMEMCG_EXPORT int umemcg_set_oom_policy(struct umemcg *group, enum umemcg_oom_policy policy,
					bool (*callback)(struct umemcg *group,
							 const struct umemcg_failure *failure,
							 void *arg),
					void *arg);

/* ---- reclaim ---- */

/*
 * When a charge does not fit, or a group is above high, memory that can be had anew is given back
 * first: the program's caches, which it registers here, and cold pages of regions. It is taken from
 * all groups below the limit in proportion to what they have of it that is not protected. Callbacks
 * run in the thread that allocates, with no lock of the library's held; they may allocate, from the
 * reserves too, free, and destroy any group. What they allocate themselves reclaims nothing. The
 * thread is not cancelled in a callback, but where it can be next after it. A charge fails when a
 * round has given back nothing, after 16 rounds, or when the time is up.
 *
 * In a shared tree other processes are asked as well, and theirs run in a thread of the library's.
 */

/** umemcg_set_reclaim_timeout - how long one charge may reclaim, in microseconds; 100000 at first.
 * Not for touches: umemcg_map(). What is asked for by umemcg_reclaim(), or by a lower max, may take
 * half a second at a time, however short this is */
UMEMCG_EXPORT void umemcg_set_reclaim_timeout(uint64_t timeout_us);

/**
 * umemcg_reclaim - give back memory of a group and those below it
 * @group:    NULL for the root
 * @nr_bytes: to be given back
 *
 * Return: 0; -EAGAIN if less could be given back; -EINVAL for a group that is gone.
 * Mirrors: memory.reclaim of cgroup v2.
 */
UMEMCG_EXPORT int umemcg_reclaim(struct umemcg *group, uint64_t nr_bytes);

/** struct umemcg_shrinker - opaque, valid from umemcg_shrinker_register() to _unregister() */
struct umemcg_shrinker;

/** struct umemcg_shrinker_ops - a cache that can be made smaller. Both may be called by several
 * threads at a time, for several groups; also for one that another thread has just destroyed, for
 * umemcg_destroy() does not wait for them */
struct umemcg_shrinker_ops {
	/* Bytes charged to @group itself that could be given back; quick, and only about right. */
	uint64_t (*count)(struct umemcg *group, void *arg);
	/* Give back about @nr_bytes of @group's own; returns how many were. */
	uint64_t (*scan)(struct umemcg *group, uint64_t nr_bytes, void *arg);
};

enum umemcg_shrinker_flags {
	/*
	 * Called by a thread of the library's, because it takes locks that who allocates may hold,
	 * or may take long. Who allocates waits for it, but not beyond the reclaim timeout.
	 */
	UMEMCG_SHRINKER_THREAD = 1,
};

/**
 * umemcg_shrinker_register - have a cache asked when memory is short
 * @group: what it holds is charged to this one, and those below; NULL for the root. When the group
 *         is destroyed, its parent takes its place
 * @ops:   copied
 * @flags: of enum umemcg_shrinker_flags
 *
 * Return: 0; -EINVAL; -ENOMEM; -EAGAIN if there is no thread to be had.
 * Mirrors: shrinker_register(), with SHRINKER_MEMCG_AWARE; differs: in bytes.
 */
UMEMCG_EXPORT int umemcg_shrinker_register(struct umemcg *group,
					   const struct umemcg_shrinker_ops *ops, void *arg,
					   unsigned int flags,
					   struct umemcg_shrinker **ret_shrinker);

/** umemcg_shrinker_unregister - returns when no callback of it runs any more, but in a thread that
 * calls this from that callback; NULL is allowed */
UMEMCG_EXPORT void umemcg_shrinker_unregister(struct umemcg_shrinker *shrinker);

/** enum umemcg_lru_status - what became of an object that was to be evicted */
enum umemcg_lru_status {
	UMEMCG_LRU_REMOVED, /* its memory was given back, or will be: the entry is no more */
	UMEMCG_LRU_ROTATE,  /* it is in use: it goes to the active end */
	UMEMCG_LRU_SKIP,    /* not now, since a lock is taken: it stays where it is */
};

/** struct umemcg_lru - objects of one kind that can be evicted; opaque */
struct umemcg_lru;

/** struct umemcg_lru_entry - one of them; opaque, from umemcg_lru_add() until it is removed */
struct umemcg_lru_entry;

/**
 * umemcg_lru_create - make a kind of objects that can be evicted
 * @evict: called, as a shrinker is, for one object that was not touched for long. The entry is of
 *         no list meanwhile; umemcg_lru_remove() says -EBUSY
 *
 * Each group has two lists of all its objects, whatever their kind: a new object comes to the
 * inactive one; touched there, it is moved to the active one when the list is looked at; and the
 * active one's oldest fill up the inactive one when that is the shorter.
 *
 * Return: 0; -EINVAL; -ENOMEM.
 * Mirrors: list_lru and the active and inactive lists of a struct lruvec.
 */
UMEMCG_EXPORT int umemcg_lru_create(enum umemcg_lru_status (*evict)(void *object, void *arg),
				    void *arg, struct umemcg_lru **ret_lru);

/** umemcg_lru_destroy - 0; -EBUSY while it has entries. Returns when no callback of it runs */
UMEMCG_EXPORT int umemcg_lru_destroy(struct umemcg_lru *lru);

/**
 * umemcg_lru_add - an object may be evicted from now on
 * @group:    that the object is charged to; NULL for the root. Heirs inherit the entry
 * @object:   for the callback
 * @nr_bytes: that are given back when it is evicted
 *
 * Return: 0; -EINVAL; -ENOMEM.
 */
UMEMCG_EXPORT int umemcg_lru_add(struct umemcg_lru *lru, struct umemcg *group, void *object,
				 uint64_t nr_bytes, struct umemcg_lru_entry **ret_entry);

/** umemcg_lru_touch - the object was used; one store, without a lock */
UMEMCG_EXPORT void umemcg_lru_touch(struct umemcg_lru_entry *entry);

/**
 * umemcg_lru_remove - the object is not to be evicted any more
 *
 * Return: 0: the entry is gone; -EBUSY: it is being evicted at this moment. Then what the callback
 * returns decides: if that is not UMEMCG_LRU_REMOVED the entry is still there. The caller and the
 * callback agree under a lock of their own who frees the object.
 */
UMEMCG_EXPORT int umemcg_lru_remove(struct umemcg_lru_entry *entry);

/**
 * umemcg_throttle - wait here, if the calling thread's group, or one above it, is above high
 *
 * To be called where the program is willing to: between requests, with no lock held. Reclaims what
 * is above high first. The wait is the kernel's: it grows with the square of the excess, by what
 * the thread charged since the last time, up to 2 seconds a call. It ends early when usage falls
 * below high, at umemcg_throttle_cancel(), and when a signal handler ran. What would be less than
 * a millisecond is not waited for yet: it adds up. For groups of a shared tree there is such a wait
 * besides, which ends when usage falls below high, or high is raised, but for nothing else.
 *
 * Return: microseconds waited.
 * Mirrors: mem_cgroup_handle_over_high().
 */
UMEMCG_EXPORT uint64_t umemcg_throttle(void);

/** umemcg_throttle_cancel - end all waits of threads in @group and below; NULL for the root */
UMEMCG_EXPORT void umemcg_throttle_cancel(struct umemcg *group);

/* ---- events and pressure ---- */

/** enum umemcg_event - the lines of memory.events, in this order */
enum umemcg_event {
	UMEMCG_EVENT_LOW,            /* reclaimed although usage was below low */
	UMEMCG_EVENT_HIGH,           /* throttled above high */
	UMEMCG_EVENT_MAX,            /* usage was about to go over max */
	UMEMCG_EVENT_OOM,            /* and nothing could be reclaimed */
	UMEMCG_EVENT_OOM_KILL,       /* a process was killed for it */
	UMEMCG_EVENT_OOM_GROUP_KILL, /* all of the group were */
	UMEMCG_EVENT_UNDERFLOW,      /* more was given back than was charged */
	UMEMCG_NR_EVENTS
};

/** UMEMCG_EVENT_LOCAL - of a mask of events: only what happens to the group's own limits */
#define UMEMCG_EVENT_LOCAL (1u << 31)

/**
 * umemcg_event_subscribe - be woken by events of a group and those below it
 * @group:         live group, or NULL for the root
 * @events:        1u << UMEMCG_EVENT_..., of one or several; UMEMCG_EVENT_LOCAL besides
 * @ret_eventfd:   non-blocking, close-on-exec; reading it gives how many events there were
 *
 * A group wakes at most once in 10 ms; what happens in between is told at the end of them. When the
 * group is destroyed the eventfd is woken a last time, which counts as an event. An event that
 * memory.events does not show when this returns is told.
 *
 * The eventfd is the library's: it ends with umemcg_event_unsubscribe(), not with close(). A child
 * made by fork has no subscriptions; the eventfds that it inherits are its parent's.
 *
 * Return: 0; -EINVAL; -ENOMEM; -EMFILE, -ENFILE; -EAGAIN if there is no thread to be had.
 * Mirrors: inotify on memory.events, and cgroup.event_control of cgroup v1.
 */
UMEMCG_EXPORT int umemcg_event_subscribe(struct umemcg *group, unsigned int events,
					 int *ret_eventfd);

/** umemcg_event_unsubscribe - end it and close the eventfd; -EINVAL if it is none of ours */
UMEMCG_EXPORT int umemcg_event_unsubscribe(int eventfd);

/**
 * umemcg_pressure_subscribe - be woken when a group's threads were stalled for so long
 * @trigger:     as written to memory.pressure: "some" or "full", microseconds of stall, and of the
 *               window, 500000 to 10000000, in which they are counted: "some 150000 1000000"
 * @ret_eventfd: as umemcg_event_subscribe(); woken at most once a window
 *
 * A thread is stalled while it reclaims, also to touch a page of a region, or is throttled. "full"
 * is when all threads are that are in the group or below it, of those that have allocated; one that
 * enters or leaves it is noticed within 10 ms. A fork's child has none of its parent's.
 *
 * Return: as umemcg_event_subscribe(); -EINVAL also for the trigger.
 * Mirrors: poll on memory.pressure.
 */
UMEMCG_EXPORT int umemcg_pressure_subscribe(struct umemcg *group, const char *trigger,
					    int *ret_eventfd);

/** umemcg_pressure_unsubscribe - as umemcg_event_unsubscribe() */
UMEMCG_EXPORT int umemcg_pressure_unsubscribe(int eventfd);

/**
 * umemcg_pressure_watch - reclaim when the system says that memory is short
 *
 * Does as $MEMORY_PRESSURE_WATCH and $MEMORY_PRESSURE_WRITE say, which systemd and `umemcg run'
 * set: waits, in a thread of the library's, for what they name, and then reclaims a 16th of what
 * could be reclaimed in the whole process. It ends when what they name does, and in a fork's
 * child; then it may be called again.
 *
 * Return: 0; -ENOENT without them, or if they say that nothing is to be watched; -EINVAL;
 * -EALREADY; -EAGAIN if there is no thread to be had; an error of open(2), connect(2) or write(2);
 * -EOPNOTSUPP while nothing is counted.
 */
UMEMCG_EXPORT int umemcg_pressure_watch(void);

/* ---- audit ---- */

/** struct umemcg_audit - every live object counted, against the books */
struct umemcg_audit {
	uint64_t nr_groups;
	uint64_t nr_objects;          /* live objects, found by walking the heap */
	uint64_t nr_bytes_walked;     /* objects, stacks and regions found, and explicit charges */
	uint64_t nr_bytes_charged;    /* what the books say, without stocks */
	uint64_t nr_bytes_difference; /* sum of absolute differences over all groups */
	struct umemcg *worst;         /* group with the greatest difference, or NULL */
};

/**
 * umemcg_audit - walk the whole heap and compare it with the books
 *
 * For a quiescent process: no other thread is inside the library.
 *
 * Return: 0 if everything agrees to the byte, -EUCLEAN if not, with @ret_audit filled in either
 * way; -ENOMEM; -EOPNOTSUPP when accounting is off.
 */
UMEMCG_EXPORT int umemcg_audit(struct umemcg_audit *ret_audit);

#ifdef __cplusplus
}
#endif

#endif
