/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/renderer.h"

#include <string.h>

const struct renderer *const renderers[] = {
	&render_perf, &render_mmtests, &render_markdown, &render_json, &render_csv, NULL,
};

const struct renderer *renderer_find(const char *name)
{
	for (size_t i = 0; renderers[i]; i++) {
		if (strcmp(renderers[i]->name, name) == 0)
			return renderers[i];
	}
	return NULL;
}
