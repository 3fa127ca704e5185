/* SPDX-License-Identifier: MIT */
/*
 * Functions that the preload object puts in front of libc's.
 *
 * What it calls itself of these names is its own: the build binds its references to itself.
 */
#ifndef UMEMCG_PRELOAD_INTERPOSE_H
#define UMEMCG_PRELOAD_INTERPOSE_H

/* In front of the definition of each: all else is hidden. */
#define interposed __attribute__((visibility("default")))

/* Another name of a function in the same file; gcc wants it to promise what that one does. */
#if __has_attribute(copy)
#define interposed_alias(function)                                                                 \
	__attribute__((visibility("default"), alias(#function), copy(function)))
#else
#define interposed_alias(function) __attribute__((visibility("default"), alias(#function)))
#endif

#endif
