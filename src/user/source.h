/* SPDX-License-Identifier: MIT */
/* Memory that can be taken from groups without asking the program: cold pages of regions. */
#ifndef UMEMCG_USER_SOURCE_H
#define UMEMCG_USER_SOURCE_H

#include <stdint.h>

#include "base/compiler.h"

struct umemcg;

/* Both are of what is charged to @group itself, not to those below it. No lock is held. */
struct reclaim_source {
	/** count - bytes that could be given back; quick, and only about right */
	uint64_t (*count)(struct umemcg *group);
	/** scan - give back about @nr_bytes; returns how many were */
	uint64_t (*scan)(struct umemcg *group, uint64_t nr_bytes);
};

/* NULL until there is the first region that is charged at touch; set once, with release. */
extern hidden const struct reclaim_source *_Atomic page_source;

/** source_prepare - there is a region now */
void source_prepare(void);

#endif
