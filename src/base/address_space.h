/* SPDX-License-Identifier: MIT */
/* How much address space the library may reserve ahead, where the process may not have it all. */
#ifndef UMEMCG_BASE_ADDRESS_SPACE_H
#define UMEMCG_BASE_ADDRESS_SPACE_H

#include <stddef.h>

/**
 * address_space_share - a fraction of what the process may map; SIZE_MAX if that is not limited
 *
 * A reservation costs nothing but address space, and of that the program must keep most.
 */
size_t address_space_share(unsigned int divisor);

#endif
