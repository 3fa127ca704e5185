/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/renderer.h"

#include <string.h>

const struct renderer *const renderers[] = {
	&render_perf, &render_mmtests, &render_lkp, &render_markdown, &render_json, &render_csv,
	&render_html, &render_exact,   NULL,
};

const struct renderer *renderer_find(const char *name)
{
	for (size_t i = 0; renderers[i]; i++) {
		if (strcmp(renderers[i]->name, name) == 0)
			return renderers[i];
	}
	return NULL;
}

const char *renderer_accepted(void)
{
	static char names[256];
	char *end = names;

	for (size_t i = 0; renderers[i]; i++)
		end = stpcpy(stpcpy(end, i ? ", " : ""), renderers[i]->name);
	return names;
}
