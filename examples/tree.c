/* SPDX-License-Identifier: MIT */
/*
 * A limit for another process, which links the library too: whoever starts it makes a group of a
 * shared tree, and asks afterwards what it used.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <umemcg-tree.h>

#define MIB          (1 << 20)
#define MAX_MIB      64
#define GREEDY_MIB   1024
#define EXIT_SKIPPED 77

/* Takes memory until it is refused. */
static int work(void)
{
	int nr_mib = 0;

	while (nr_mib < GREEDY_MIB && umemcg_malloc(MIB))
		nr_mib++;
	printf("worker: refused after %d MiB\n", nr_mib);
	return 0;
}

static pid_t start(const char *tree_name, const char *group)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	setenv("UMEMCG_TREE", tree_name, 1);
	setenv("UMEMCG_GROUP", group, 1);
	execl("/proc/self/exe", "worker", "work", (char *)NULL);
	_exit(127);
}

static int serve(const char *tree_name)
{
	struct umemcg_tree_stat stat;
	struct umemcg_tree *tree;
	int r, status;

	r = umemcg_tree_open(tree_name, UMEMCG_TREE_CREATE, &tree);
	if (r)
		return r;
	r = umemcg_tree_create(tree, "/batch");
	if (!r)
		r = umemcg_tree_write(tree, "/batch", "memory.max", "64M");
	if (!r && (waitpid(start(tree_name, "/batch"), &status, 0) < 0 || status))
		r = -1;
	if (!r)
		r = umemcg_tree_get_stat(tree, "/batch", &stat);
	if (!r) {
		printf("/batch: peak %llu MiB, %u refused, %llu bytes left\n",
		       (unsigned long long)stat.nr_bytes_peak / MIB, stat.nr_refused,
		       (unsigned long long)stat.nr_bytes_current);
		if (stat.nr_bytes_peak > MAX_MIB * MIB || !stat.nr_refused || stat.nr_bytes_current)
			r = -1;
	}
	umemcg_tree_close(tree);
	return r;
}

int main(int argc, char **argv)
{
	char tree_name[32];
	int r;

	(void)argv;
	if (argc > 1)
		return work();
	if (umemcg_state() != UMEMCG_ENABLED) {
		puts("SKIP: accounting is off");
		return EXIT_SKIPPED;
	}
	snprintf(tree_name, sizeof(tree_name), "example-%d", getpid());
	r = serve(tree_name);
	umemcg_tree_unlink(tree_name);
	return r ? 1 : 0;
}
