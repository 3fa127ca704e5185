/* SPDX-License-Identifier: MIT */
/*
 * Objects of others: of the loader, from before it used our malloc; of another allocator. They are
 * not freed, as nobody knows how, and nothing is said, as the program did nothing wrong.
 */
#include "kmem/foreign.h"

#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/compiler.h"
#include "page.h"
#include "umemcg.h"

void foreign_notice(const void *pointer)
{
	(void)pointer;
}

/* Up to the end of a page; false if there is nothing to read. */
static bool copy_part(char *to, char *from, size_t nr_bytes)
{
	struct iovec local = { .iov_base = to, .iov_len = nr_bytes };
	struct iovec remote = { .iov_base = from, .iov_len = nr_bytes };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)nr_bytes;
}

/*
 * How long the object is nobody knows, but that it ends where memory ends. Where the system call is
 * forbidden, what lies on the object's first page is copied.
 */
static void copy(char *to, char *from, size_t nr_bytes)
{
	size_t page = page_bytes();
	size_t nr_part = min(nr_bytes, page - (uintptr_t)from % page);

	if (!copy_part(to, from, nr_part)) {
		memcpy(to, from, nr_part);
		return;
	}
	for (size_t done = nr_part; done < nr_bytes; done += nr_part) {
		nr_part = min(nr_bytes - done, page);
		if (!copy_part(to + done, from + done, nr_part))
			return;
	}
}

void *foreign_realloc(void *pointer, size_t nr_bytes)
{
	void *object = umemcg_malloc(nr_bytes);

	if (object)
		copy(object, pointer, nr_bytes);
	return object;
}
