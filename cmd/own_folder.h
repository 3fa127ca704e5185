/* SPDX-License-Identifier: MIT */
/* Where this command lies: what belongs to it is looked for from there, installed or not. */
#ifndef UMEMCG_CMD_OWN_FOLDER_H
#define UMEMCG_CMD_OWN_FOLDER_H

#include <limits.h>

/** own_folder - without a slash at its end; 0 or -errno if /proc does not tell */
int own_folder(char folder[PATH_MAX]);

#endif
