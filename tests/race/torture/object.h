/* SPDX-License-Identifier: MIT */
/* Objects that know what they hold, so that whoever finds one can check it. */
#ifndef UMEMCG_TEST_TORTURE_OBJECT_H
#define UMEMCG_TEST_TORTURE_OBJECT_H

#include <stddef.h>

struct umemcg;

struct object {
	size_t nr_bytes;
	unsigned char mark;
	unsigned char rest[];
};

/** fill - make an object of memory */
struct object *fill(void *memory, size_t nr_bytes, unsigned int mark);

/** check - end the program unless it still holds what it was filled with */
void check(const struct object *object);

size_t any_size(unsigned int *random);

/** make - an object of any size, allocated in any way, or NULL */
struct object *make(struct umemcg *group, unsigned int *random);

#endif
