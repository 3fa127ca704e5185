/* SPDX-License-Identifier: MIT */
/* A program that knows nothing of the meter, which counts the whole of it. */
#include <string.h>
#include <sys/mman.h>

#define NR_BYTES (256 * 4096)

int main(void)
{
	char *pages =
		mmap(NULL, NR_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return 1;
	memset(pages, 1, NR_BYTES);
	return 0;
}
