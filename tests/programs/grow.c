/* SPDX-License-Identifier: MIT */
/* Takes memory, a MiB at a time, until it is refused or has as much as its argument says in MiB;
 * once by malloc(), once by mmap(). Exits with 3 if it was refused, 0 if it got it all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STEP (1 << 20)

static void *map(void)
{
	void *p = mmap(NULL, STEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int main(int argc, char **argv)
{
	int nr_steps = argc > 1 ? atoi(argv[1]) : 0;
	int nr_had = 0;

	while (nr_had < nr_steps) {
		void *p = nr_had % 2 ? map() : malloc(STEP);

		if (!p)
			break;
		memset(p, 1, STEP);
		nr_had++;
	}
	printf("%d MiB\n", nr_had);
	return nr_had < nr_steps ? 3 : 0;
}
