/* SPDX-License-Identifier: MIT */
/*
 * The variables that keep a program limited, as they were when it began, and environments with them
 * put back.
 *
 * Nothing here allocates, locks or calls what may be interposed: it runs in children of vfork.
 */
#ifndef UMEMCG_PRELOAD_ENVIRONMENT_H
#define UMEMCG_PRELOAD_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/**
 * environment_init - copy the variables into static memory
 * @object: path of the preload object
 */
void environment_init(const char *object, char *const envp[]);

/** environment_is_limited - did the program begin in a tree? Else environments are left alone */
bool environment_is_limited(void);
bool environment_is_strict(void);

/** environment_object - path of the preload object */
const char *environment_object(void);

/** environment_supervisor - where to find who accounts from outside; NULL: there is nobody */
const char *environment_supervisor(void);

/* What is to be done to an environment. */
struct environment_change {
	bool is_needed;
	bool is_preloaded;       /* is the preload object to be named? */
	const char *preload;     /* LD_PRELOAD's value there, or NULL */
	size_t nr_bytes;         /* of memory that the new one takes */
	size_t nr_pointer_bytes; /* of that, the array */
};

/**
 * environment_look - see what an environment lacks
 * @envp:         NULL: empty
 * @is_preloaded: false for programs that cannot load the preload object
 */
struct environment_change environment_look(char *const envp[], bool is_preloaded);

/**
 * environment_make - the changed environment
 * @memory: aligned for pointers, of change->nr_bytes; as long as @envp's strings are used, too
 */
char **environment_make(const struct environment_change *change, char *const envp[], void *memory);

#endif
