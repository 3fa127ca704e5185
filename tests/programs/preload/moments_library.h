/* SPDX-License-Identifier: MIT */
/* What tests/programs/preload/moments_library.c allocated, and when. */
#ifndef TESTS_PROGRAMS_PRELOAD_MOMENTS_LIBRARY_H
#define TESTS_PROGRAMS_PRELOAD_MOMENTS_LIBRARY_H

extern void *moments_from_constructor;
extern void *moments_from_fork[3]; /* before, after, after in the child */

#endif
