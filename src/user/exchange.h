/* SPDX-License-Identifier: MIT */
/*
 * The exchange: where nothing more can be stored, a page comes back from the swap file by another
 * one taking its place there. So old pages can be read and written with the file full, and only new
 * ones are refused.
 *
 * For as long as it takes, one page more than is charged is resident: a page is read before its
 * place is written over, and one of the two is always somewhere whole.
 */
#ifndef UMEMCG_USER_EXCHANGE_H
#define UMEMCG_USER_EXCHANGE_H

#include <stdint.h>

#include "user/region.h"

/**
 * exchange_page - bring back a page that is in the swap file, for another one of the same owner's
 *
 * Return: 0; -ENOENT if it is not in the file, or there is no other; -ENOMEM; -EBADF; -EIO.
 */
int exchange_page(struct region *region, uint64_t page);

/** exchange_forget - in a fork child: nobody is at it */
void exchange_forget(void);

#endif
