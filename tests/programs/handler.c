/* SPDX-License-Identifier: MIT */
/* A signal handler that allocates, which it must not, while the program is anywhere but in malloc:
 * nothing is handed out twice, and it ends. Within malloc no allocator keeps that, libc's neither.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define NR_SIGNALS 2000
#define NR_HELD    64

static volatile sig_atomic_t nr_handled, nr_spoilt;

static void check(unsigned char *p, size_t nr_bytes, int mark)
{
	for (size_t i = 0; p && i < nr_bytes; i++)
		nr_spoilt += p[i] != (unsigned char)mark;
}

static void allocate(int signal)
{
	size_t nr_bytes = 16 + (size_t)nr_handled % 300;
	unsigned char *p = malloc(nr_bytes);

	if (p) {
		memset(p, signal, nr_bytes);
		check(p, nr_bytes, signal);
	}
	free(p);
	nr_handled++;
}

int main(void)
{
	struct sigaction action = { .sa_handler = allocate, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { 0 };
	unsigned char *held[NR_HELD] = { NULL };
	sigset_t alarm;
	size_t sizes[NR_HELD] = { 0 };
	unsigned int i;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	if (sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &often, NULL))
		return 2;
	for (i = 0; nr_handled < NR_SIGNALS; i++) {
		unsigned int slot = i % NR_HELD;

		check(held[slot], sizes[slot], (int)slot + 100);
		sigprocmask(SIG_BLOCK, &alarm, NULL);
		free(held[slot]);
		sizes[slot] = 16 + i * 7 % 4000;
		held[slot] = malloc(sizes[slot]);
		sigprocmask(SIG_UNBLOCK, &alarm, NULL);
		if (held[slot])
			memset(held[slot], (int)slot + 100, sizes[slot]);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%d handled, %d bytes spoilt\n", (int)nr_handled, (int)nr_spoilt);
	return nr_spoilt ? 1 : 0;
}
