/* SPDX-License-Identifier: MIT */
/*
 * The functions that ours stand in front of: those of the next object in the order of look-up that
 * has them, which is libc unless another object was preloaded behind this one.
 */
#ifndef UMEMCG_PRELOAD_REAL_H
#define UMEMCG_PRELOAD_REAL_H

/* Where a function was found, so that it is looked for once; static, with its name. */
struct real {
	const char *name;
	void *_Atomic address;
};

/**
 * real_find - the function of this name that comes after ours; NULL if nobody has one
 *
 * From any thread, and before constructors too: the loader may allocate meanwhile, which needs
 * nothing from here.
 */
void *real_find(struct real *real);

/** real_find_first - the function of this name that the program calls: ours, or one before it */
void *real_find_first(struct real *real);

#endif
