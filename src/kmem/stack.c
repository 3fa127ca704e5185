/* SPDX-License-Identifier: MIT */
/* A mapping of its own for each stack, with a guard page below it. */
#include "kmem/stack.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "base/report.h"
#include "base/system.h"
#include "kmem/mapping.h"

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Reserve guard and stack in one, then open the stack: the guard is never writable. */
static int stack_map(size_t nr_bytes, void **ret_stack)
{
	size_t guard = page_bytes();
	char *bottom = system_mmap(NULL, guard + nr_bytes, PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (bottom == MAP_FAILED)
		return -ENOMEM;
	if (system_mprotect(bottom + guard, nr_bytes, PROT_READ | PROT_WRITE)) {
		system_munmap(bottom, guard + nr_bytes);
		return -ENOMEM;
	}
	*ret_stack = bottom + guard;
	return 0;
}

static void stack_unmap(void *stack, size_t nr_bytes)
{
	system_munmap((char *)stack - page_bytes(), page_bytes() + nr_bytes);
}

static int map_and_charge(struct umemcg *group, size_t nr_bytes, void **ret_stack)
{
	void *stack;
	int r = stack_map(nr_bytes, &stack);

	if (r)
		return r;
	r = mapping_charge(group, KIND_STACK, stack, nr_bytes);
	if (r) {
		stack_unmap(stack, nr_bytes);
		return r;
	}
	*ret_stack = stack;
	return 0;
}

int stack_alloc(struct umemcg *group, size_t nr_bytes, void **ret_stack)
{
	int r;

	if (nr_bytes < (size_t)PTHREAD_STACK_MIN)
		return -EINVAL;
	r = mapping_whole_pages(nr_bytes, &nr_bytes);
	if (r)
		return r;
	mapping_begin();
	r = map_and_charge(group, nr_bytes, ret_stack);
	mapping_end();
	return r;
}

void stack_free(void *stack)
{
	struct mapping mapping;
	int r;

	if (!stack)
		return;
	mapping_begin();
	r = mapping_forget(KIND_STACK, stack, &mapping);
	if (!r) {
		stack_unmap(stack, mapping.nr_bytes);
		mapping_uncharge(&mapping);
	}
	mapping_end();
	if (r)
		report("umemcg_stack_free(%p): there is no such stack", stack);
}
