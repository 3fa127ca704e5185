/* SPDX-License-Identifier: MIT */
#include "skipped.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int skipped_add(struct skipped_list *list, const char *what, const char *why)
{
	struct skipped *items;

	for (size_t i = 0; i < list->nr_items; i++) {
		if (!strcmp(list->items[i].what, what))
			return 0;
	}
	items = reallocarray(list->items, list->nr_items + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	list->items = items;
	items += list->nr_items++;
	snprintf(items->what, sizeof(items->what), "%s", what);
	snprintf(items->why, sizeof(items->why), "%.*s", (int)strcspn(why, "\n"), why);
	return 0;
}

void skipped_fini(struct skipped_list *list)
{
	free(list->items);
	*list = (struct skipped_list){ 0 };
}
