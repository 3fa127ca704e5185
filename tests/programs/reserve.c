/* SPDX-License-Identifier: MIT */
/* Reserves a TiB without access, uses some of it, gives that back and uses it again, and is refused
 * more than its limit, which is below 512 MiB. Exits with 0 if all of that is so. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define RESERVED (1ul << 40)
#define USED     (16ul << 20)
#define TOO_MUCH (512ul << 20)

static int fault(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	return 1;
}

int main(void)
{
	char *base =
		mmap(NULL, RESERVED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base == MAP_FAILED)
		return fault("the reservation");
	/* More often than would fit if nothing were given back. */
	for (int i = 0; i < 100; i++) {
		char *part = base + i * (RESERVED / 100 & ~4095ul);

		if (mprotect(part, USED, PROT_READ | PROT_WRITE))
			return fault("making a part writable");
		memset(part, 1, USED);
		if (mmap(part, USED, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
			 0) == MAP_FAILED)
			return fault("giving it back");
	}
	if (!mprotect(base, TOO_MUCH, PROT_READ | PROT_WRITE))
		return fault("making too much writable went through");
	if (errno != ENOMEM)
		return fault("making too much writable");
	if (mmap(base, TOO_MUCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		 -1, 0) != MAP_FAILED)
		return fault("mapping too much over it went through");
	if (errno != ENOMEM)
		return fault("mapping too much over it");
	if (mprotect(base, USED, PROT_READ | PROT_WRITE))
		return fault("a part after the refusal");
	memset(base, 1, USED);
	return munmap(base, RESERVED) ? fault("unmapping") : 0;
}
