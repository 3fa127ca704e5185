/* SPDX-License-Identifier: MIT */
#include "kmem/foreign.h"

#include <errno.h>

#include "base/compiler.h"
#include "kmem/check.h"

__attribute__((weak)) cold void foreign_notice(const void *pointer)
{
	check_bad_pointer(pointer);
}

__attribute__((weak)) cold void *foreign_realloc(void *pointer, size_t nr_bytes)
{
	(void)pointer;
	(void)nr_bytes;
	errno = ENOMEM;
	return NULL;
}
