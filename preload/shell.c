/* SPDX-License-Identifier: MIT */
/*
 * What libc gives to a shell: system(), popen() and wordexp() spawn /bin/sh by calls inside libc,
 * with the program's own environment. What that lacks is put back into it for good: taking it out
 * again would race with the program's other threads, and it was there when the program began.
 */
#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <wordexp.h>

#include "exec.h"
#include "interpose.h"
#include "raw.h"
#include "real.h"

struct block {
	size_t nr_bytes;
	char *environment[];
};

/* The newest that this file has put into environ; NULL while a thread is at work on it. */
static struct block *_Atomic newest;

/*
 * A program that clears its environment before each call does not grow: the block of the last call
 * is used again, once the program has an environment that lies elsewhere.
 */
static struct block *get_block(size_t nr_bytes)
{
	/* Whoever has taken it owns it: acquire pairs with the release of put_back(). */
	struct block *block = atomic_exchange_explicit(&newest, NULL, memory_order_acquire);

	if (block && block->nr_bytes >= nr_bytes && environ != block->environment)
		return block;
	nr_bytes += sizeof(*block);
	block = raw_map(nr_bytes);
	if (!block)
		return NULL;
	block->nr_bytes = nr_bytes - sizeof(*block);
	return block;
}

static int put_back(void)
{
	struct environment_change change = environment_look(environ, true);
	struct block *block;

	if (!change.is_needed)
		return 0;
	block = get_block(change.nr_bytes);
	if (!block)
		return -ENOMEM;
	environ = environment_make(&change, environ, block->environment);
	/* Pairs with the acquire of get_block(). */
	atomic_store_explicit(&newest, block, memory_order_release);
	return 0;
}

/* 0, or the error that keeps the shell from being run. */
static int prepare(void)
{
	const struct exec_call shell = { .directory = AT_FDCWD, .path = _PATH_BSHELL };
	struct program_ids ids;
	enum program_kind kind;

	if (!environment_is_limited())
		return 0;
	ids = program_ids_now();
	kind = exec_recognise(&shell, &ids);
	if (!program_is_seen(kind)) {
		int r = exec_let_unseen(&shell, kind, 0);

		if (r < 0)
			return r;
	}
	return put_back();
}

interposed int system(const char *command)
{
	static struct real next = { .name = "system" };
	int (*real_system)(const char *command) = real_find(&next);
	int r = command ? prepare() : 0;

	if (r < 0) {
		errno = -r;
		return -1;
	}
	return real_system(command);
}

interposed FILE *popen(const char *command, const char *type)
{
	static struct real next = { .name = "popen" };
	FILE *(*real_popen)(const char *command, const char *type) = real_find(&next);
	int r = prepare();

	if (r < 0) {
		errno = -r;
		return NULL;
	}
	return real_popen(command, type);
}

interposed int wordexp(const char *words, wordexp_t *ret_expanded, int flags)
{
	static struct real next = { .name = "wordexp" };
	int (*real_wordexp)(const char *words, wordexp_t *ret_expanded, int flags) =
		real_find(&next);

	/* Most words need no shell, so none is looked at. */
	if (!(flags & WRDE_NOCMD) && environment_is_limited() && put_back() < 0)
		return WRDE_NOSPACE;
	return real_wordexp(words, ret_expanded, flags);
}
