/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * umemcg-bench: the lab, a program of its own. `umemcg bench` and `umemcg compare` execute it with
 * the verb as first argument.
 */
#include <stdio.h>
#include <string.h>

#include <umemcg.h>

#include "bench.h"
#include "compare.h"

static const struct verb {
	const char *name;
	const char *description;
	int (*main)(int argc, char **argv);
} verbs[] = {
	{ "bench", "measure what memory accounting costs", bench_main },
	{ "compare", "print results side by side, with verdicts", compare_main },
};

#define NR_VERBS (sizeof(verbs) / sizeof(verbs[0]))

static void print_help(FILE *out)
{
	fputs("Usage: umemcg-bench VERB [OPTION...]\n\n", out);
	for (size_t i = 0; i < NR_VERBS; i++)
		fprintf(out, "  %-10s %s\n", verbs[i].name, verbs[i].description);
	fputs("\nVERB --help says more of each.\n", out);
}

int main(int argc, char **argv)
{
	if (argc >= 2 && !strcmp(argv[1], "--help")) {
		print_help(stdout);
		return 0;
	}
	if (argc >= 2 && !strcmp(argv[1], "--version")) {
		printf("umemcg-bench %s\n", umemcg_version());
		return 0;
	}
	for (size_t i = 0; argc >= 2 && i < NR_VERBS; i++) {
		if (!strcmp(argv[1], verbs[i].name))
			return verbs[i].main(argc - 1, argv + 1);
	}
	fprintf(stderr, "umemcg-bench: %s: accepted are: bench, compare, --help, --version\n",
		argc >= 2 ? argv[1] : "no verb");
	return 2;
}
