/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/html/page.h"

void html_reading(const struct html_page *page)
{
	const struct comparison_options *options = &page->comparison->options;

	fprintf(page->out,
		"<section id=\"reading\"><h2>How to read it</h2>\n<dl class=\"facts\">\n"
		"<div><dt>change</dt><dd>Of the mean (harmonic for rates) against the base; + is "
		"slower or more: of a rate, the change of the time for one operation.</dd></div>\n"
		"<div><dt>interval</dt><dd>95 %% bootstrap interval of that change, blocks resampled; "
		"around means in plots, Student&#39;s interval.</dd></div>\n"
		"<div><dt>noise</dt><dd>The furthest end of the interval of AA, the base measured a "
		"second time.</dd></div>\n"
		"<div><dt>%s</dt><dd>The interval lies within \xc2\xb1%g %%, the grey band of the "
		"plots.</dd></div>\n"
		"<div><dt>%s, %s</dt><dd>It does not, and excludes zero.</dd></div>\n"
		"<div><dt>%s</dt><dd>Neither; about how many more runs would tell is said beside "
		"it.</dd></div>\n</dl></section>\n",
		verdict_name(VERDICT_EQUAL), options->effect_percent, verdict_name(VERDICT_COSTS),
		verdict_name(VERDICT_SAVES), verdict_name(VERDICT_UNCLEAR));
}
