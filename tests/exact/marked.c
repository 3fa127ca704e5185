/* SPDX-License-Identifier: MIT */
/* A program as a user would mark it: faults, then pipes. The meter counts both apart. */
#include <sys/mman.h>
#include <unistd.h>

#include "umemcg-marks.h"

#define NR_PAGES 64
#define NR_PIPES 50
#define PAGE     4096

int main(void)
{
	volatile char *pages = mmap(NULL, NR_PAGES * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fds[2];

	if (pages == MAP_FAILED)
		return 1;
	UMEMCG_MARK(1);
	for (int i = 0; i < NR_PAGES; i++) {
		pages[i * PAGE] = 1;
		UMEMCG_MARK_ITERATION();
	}
	UMEMCG_MARK(2);
	for (int i = 0; i < NR_PIPES; i++) {
		if (pipe(fds) || close(fds[0]) || close(fds[1]))
			return 1;
		UMEMCG_MARK_ITERATION();
	}
	UMEMCG_MARK(0);
	return 0;
}
