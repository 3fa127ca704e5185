/* SPDX-License-Identifier: MIT */
#include "object.h"

#include <string.h>

#include "torture.h"
#include "umemcg.h"

struct object *fill(void *memory, size_t nr_bytes, unsigned int mark)
{
	struct object *object = memory;

	object->nr_bytes = nr_bytes;
	object->mark = (unsigned char)mark;
	memset(object->rest, object->mark, nr_bytes - offsetof(struct object, rest));
	return object;
}

void check(const struct object *object)
{
	size_t nr_rest = object->nr_bytes - offsetof(struct object, rest);

	require(umemcg_usable_size(object) >= object->nr_bytes);
	require(!nr_rest ||
		(object->rest[0] == object->mark && object->rest[nr_rest / 2] == object->mark &&
		 object->rest[nr_rest - 1] == object->mark));
}

size_t any_size(unsigned int *random)
{
	unsigned int kind = rand_r(random) % 64;
	size_t nr_bytes = kind < 56   ? rand_r(random) % 1024
			  : kind < 63 ? rand_r(random) % 32768
				      : rand_r(random) % 800000;

	return nr_bytes + sizeof(struct object);
}

struct object *make(struct umemcg *group, unsigned int *random)
{
	size_t nr_bytes = any_size(random);
	void *memory;

	switch (rand_r(random) % 4) {
	case 0:
		memory = umemcg_malloc_in(group, nr_bytes);
		break;
	case 1:
		memory = umemcg_calloc(1, nr_bytes);
		for (size_t i = 0; memory && i < nr_bytes; i += 97)
			require(!((char *)memory)[i]);
		break;
	case 2:
		memory = umemcg_aligned_alloc((size_t)16 << rand_r(random) % 9, nr_bytes);
		break;
	default:
		memory = umemcg_malloc(nr_bytes);
		break;
	}
	return memory ? fill(memory, nr_bytes, rand_r(random)) : NULL;
}
