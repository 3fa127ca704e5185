/* SPDX-License-Identifier: MIT */
/* What each call costs, and how it is refused. */
#ifndef UMEMCG_CMD_RULES_H
#define UMEMCG_CMD_RULES_H

#include "ledger.h"

/** struct verdict - of a call: go on; or return @value, or fail with -@error, instead */
struct verdict {
	bool is_refused;
	int64_t value;
	int error;
	uint64_t nr_bytes; /* charged for it, or refused to it */
	uint64_t old_brk;  /* to go back to if the call is not made; 0: none */
};

/** rules_is_probe - is a call only the question who the supervisor is? */
bool rules_is_probe(const struct call *call);

/** rules_is_exec - is a call one that leaves the image? */
bool rules_is_exec(const struct call *call);

/** rules_judge - charge a call, or refuse it */
void rules_judge(struct ledger *ledger, struct thread *thread, const struct call *call,
		 struct verdict *ret_verdict);

/** rules_undo - the call will not be made: its thread was killed, or a signal came first */
void rules_undo(struct ledger *ledger, struct thread *thread, const struct verdict *verdict);

#endif
