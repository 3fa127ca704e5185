/* SPDX-License-Identifier: MIT */
/* The audit: every live object, stack and region, against the books. */
#ifndef UMEMCG_CONTROL_AUDIT_H
#define UMEMCG_CONTROL_AUDIT_H

#include "umemcg.h"

/** audit - umemcg_audit(); -ENOMEM besides, if there is no memory for a sum for each group */
int audit(struct umemcg_audit *ret_audit);

#endif
