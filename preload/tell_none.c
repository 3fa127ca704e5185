/* SPDX-License-Identifier: MIT */
/* Where the controller is compiled out there is no tree to tell. */
#include "tell.h"

void tell_unseen(const char *program, const char *why)
{
	(void)program;
	(void)why;
}
