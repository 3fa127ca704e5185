/* SPDX-License-Identifier: MIT */
/* What a process was charged before exec is given back by the program that it executes then. */
#ifndef UMEMCG_SHARED_LEAVE_H
#define UMEMCG_SHARED_LEAVE_H

#include "shared/segment.h"

/** leave_former - free the rows that the calling process had before exec; it has a new one, live */
void leave_former(struct segment *segment);

#endif
