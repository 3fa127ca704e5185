/* SPDX-License-Identifier: MIT */
#include "operations.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "object.h"
#include "torture.h"
#include "umemcg.h"

#define NR_SHARED 256u

struct umemcg_cache *cache;

static struct object *_Atomic shared[NR_SHARED];

static void make_and_share(struct umemcg *group, unsigned int *random)
{
	struct object *object = make(group, random);
	struct object *other;

	if (!object)
		return;
	other = atomic_exchange(&shared[rand_r(random) % NR_SHARED], object);
	if (!other)
		return;
	check(other);
	umemcg_free(other);
}

static void resize(unsigned int *random)
{
	struct object *_Atomic *place = &shared[rand_r(random) % NR_SHARED];
	struct object *object = atomic_exchange(place, NULL), *resized;
	size_t nr_bytes = any_size(random);

	if (!object)
		return;
	check(object);
	resized = umemcg_realloc(object, nr_bytes);
	if (resized) {
		size_t nr_kept = nr_bytes < resized->nr_bytes ? nr_bytes : resized->nr_bytes;

		resized->nr_bytes = nr_kept;
		check(resized);
		object = fill(resized, nr_bytes, resized->mark);
	}
	object = atomic_exchange(place, object);
	umemcg_free(object);
}

static void recharge(struct umemcg *group, unsigned int *random)
{
	struct object *_Atomic *place = &shared[rand_r(random) % NR_SHARED];
	struct object *object = atomic_exchange(place, NULL);
	int r;

	if (!object)
		return;
	r = umemcg_recharge(object, group);
	require(!r || r == -ENOMEM);
	require(r || umemcg_owner(object) == group);
	check(object);
	umemcg_free(atomic_exchange(place, object));
}

static void map_and_unmap(struct umemcg *group, unsigned int *random)
{
	void *address;

	if (umemcg_map(group, 1 + rand_r(random) % 100000, &address))
		return;
	/* A touch that is refused would be a signal: another thread may have lowered max. */
	if (!umemcg_pin(address, 1)) {
		*(char *)address = 1;
		require(!umemcg_unpin(address, 1));
	}
	require(!umemcg_unmap(address));
}

static void use_stack(void)
{
	void *stack;

	if (umemcg_stack_alloc(65536, &stack))
		return;
	*(char *)stack = 1;
	umemcg_stack_free(stack);
}

static void charge_explicitly(struct slot *slot, unsigned int *random)
{
	uint64_t nr_bytes = rand_r(random) % 5000, nr_back;

	if (!umemcg_try_charge(slot->group, nr_bytes))
		atomic_fetch_add(&slot->nr_explicit, nr_bytes);
	nr_back = atomic_load(&slot->nr_explicit);
	while (nr_back && !atomic_compare_exchange_weak(&slot->nr_explicit, &nr_back, nr_back / 2))
		;
	umemcg_uncharge(slot->group, nr_back - nr_back / 2);
}

static void look(struct umemcg *group, unsigned int *random)
{
	struct umemcg_failure failure;
	struct umemcg_stat stat;
	char text[UMEMCG_PATH_MAX];
	const char *file = umemcg_control_file(rand_r(random) % 14);
	int r = umemcg_read(group, file, text, rand_r(random) % sizeof(text));

	require(r >= 0);
	require(!umemcg_get_stat(group, &stat));
	require(stat.nr_bytes_current <= (uint64_t)1 << 40);
	(void)umemcg_last_failure(&failure);
	require(umemcg_path(group, text, sizeof(text)) < sizeof(text));
	require(umemcg_parent(group) == top);
}

static void limit(struct umemcg *group, unsigned int *random)
{
	uint64_t max = rand_r(random) % 3 ? rand_r(random) % (8u << 20) : UMEMCG_MAX;
	int r = umemcg_set_max(group, max);

	require(!r || r == -EBUSY);
	require(!umemcg_set_reserve(group, rand_r(random) % 65536));
	r = umemcg_write(group, "memory.max", " 6m ");
	require(!r || r == -EBUSY);
}

/* A group of the thread's own, with one below that leaves its objects to it. */
static void end_a_tenant(struct umemcg *group, unsigned int *random)
{
	struct umemcg *tenant, *below;
	unsigned int nr_left = 0;
	void *address;

	require(!umemcg_create(group, NULL, &tenant));
	require(!umemcg_create(tenant, NULL, &below));
	for (unsigned int i = 0; i < 20; i++) {
		umemcg_free(make(tenant, random));
		nr_left += umemcg_malloc_in(tenant, any_size(random)) != NULL;
		nr_left += umemcg_malloc_in(below, any_size(random)) != NULL;
	}
	nr_left += !umemcg_map(below, 10000, &address);
	require(!umemcg_destroy(below));
	require(!umemcg_free_all(tenant));
	umemcg_drain(tenant);
	require(!nr_left || !umemcg_get_current(tenant));
	require(!umemcg_destroy(tenant));
}

static void use_cache(void)
{
	void *object = umemcg_cache_alloc(cache);

	if (object)
		umemcg_cache_free(cache, object);
}

static void in_reserve(struct umemcg *group, unsigned int *random)
{
	umemcg_reserve_enter();
	umemcg_reserve_enter();
	make_and_share(group, random);
	umemcg_reserve_leave();
	make_and_share(group, random);
	umemcg_reserve_leave();
	umemcg_reserve_leave();
}

void one_step(struct slot *slot, unsigned int *random)
{
	switch (rand_r(random) % 24) {
	case 0:
		map_and_unmap(slot->group, random);
		break;
	case 1:
		use_stack();
		break;
	case 2:
		charge_explicitly(slot, random);
		break;
	case 3:
		if (rand_r(random) % 8 == 0)
			look(slot->group, random);
		break;
	case 4:
		if (rand_r(random) % 8 == 0)
			limit(slot->group, random);
		break;
	case 5:
		use_cache();
		if (rand_r(random) % 32 == 0)
			end_a_tenant(slot->group, random);
		break;
	case 6:
		in_reserve(slot->group, random);
		break;
	case 7:
		if (rand_r(random) % 16 == 0)
			umemcg_drain(rand_r(random) % 2 ? slot->group : NULL);
		break;
	case 8:
	case 9:
		recharge(slot->group, random);
		break;
	case 10:
	case 11:
	case 12:
		resize(random);
		break;
	default:
		make_and_share(slot->group, random);
		break;
	}
}

void free_shared(void)
{
	for (unsigned int i = 0; i < NR_SHARED; i++) {
		struct object *object = atomic_exchange(&shared[i], NULL);

		if (object)
			check(object);
		umemcg_free(object);
	}
}
