/* SPDX-License-Identifier: MIT */
/* Programs that are searched in $PATH, by libc's rules. */
#ifndef UMEMCG_PRELOAD_EXEC_SEARCH_H
#define UMEMCG_PRELOAD_EXEC_SEARCH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct exec_search {
	const char *file;
	size_t file_length;
	const char *rest; /* of $PATH; NULL: at its end */
	char path[PATH_MAX + NAME_MAX + 1];
};

/** exec_search_init - 0; -ENOENT for an empty name, -ENAMETOOLONG */
int exec_search_init(struct exec_search *search, const char *file);

/** exec_search_next - puts the next file to try into search->path; false if there is none */
bool exec_search_next(struct exec_search *search);

/** exec_search_program - execute the first that can be, as execvpe() */
int exec_search_program(const char *file, char *const argv[], char *const envp[]);

#endif
