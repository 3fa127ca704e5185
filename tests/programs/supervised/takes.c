/* SPDX-License-Identifier: MIT */
/*
 * takes MODE [NUMBER]: a program without a C library that could be replaced. Each mode takes memory
 * in its way, prints the bytes that it got, and exits with 0 if what the mode promises was so.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB (1024ul * 1024)

static void expect(bool is_so, const char *what)
{
	if (is_so)
		return;
	printf("not so: %s (%s)\n", what, strerror(errno));
	exit(1);
}

static void *take(size_t nr_bytes)
{
	void *at = mmap(NULL, nr_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* malloc() of pieces until there are no more. */
static int fill(unsigned long nr_bytes)
{
	unsigned long got = 0;
	char *piece;

	while ((piece = malloc(nr_bytes))) {
		memset(piece, 1, nr_bytes);
		/* A compiler may leave out memory that nobody looks at, and never run out of it. */
		__asm__ volatile("" : : "r"(piece) : "memory");
		got += nr_bytes;
	}
	expect(errno == ENOMEM, "malloc fails with ENOMEM");
	printf("%lu\n", got);
	return 0;
}

/* A break that is refused stays where it was, to the byte. */
static int move_brk(unsigned long step)
{
	unsigned long first = (unsigned long)syscall(SYS_brk, 0), at = first;

	for (;;) {
		unsigned long new = (unsigned long)syscall(SYS_brk, at + step);

		if (new == at)
			break;
		expect(new == at + step, "brk goes where it was told");
		at = new;
	}
	expect((unsigned long)syscall(SYS_brk, 0) == at, "a refused brk returns the old break");
	printf("%lu\n", at - first);
	/* What is given back can be had again. */
	expect((unsigned long)syscall(SYS_brk, first) == first, "brk goes down");
	expect((unsigned long)syscall(SYS_brk, at) == at, "brk goes up again");
	return 0;
}

static unsigned long fill_until_refused(size_t nr_bytes)
{
	unsigned long got = 0;

	while (take(nr_bytes))
		got += nr_bytes;
	expect(errno == ENOMEM, "mmap fails with ENOMEM");
	return got;
}

/* Children take together what there is, and let go when all have been refused. */
static int fork_tree(unsigned long nr_children)
{
	unsigned long got, sum = 0;
	int results[2], gate[2];
	char byte;

	expect(!pipe(results) && !pipe(gate), "pipes");
	for (unsigned long i = 0; i < nr_children; i++) {
		if (fork())
			continue;
		close(gate[1]);
		got = fill_until_refused(MIB);
		expect(write(results[1], &got, sizeof(got)) == sizeof(got), "write");
		expect(!read(gate[0], &byte, 1), "wait for all");
		_exit(0);
	}
	for (unsigned long i = 0; i < nr_children; i++) {
		expect(read(results[0], &got, sizeof(got)) == sizeof(got), "read");
		sum += got;
	}
	close(gate[1]);
	while (wait(NULL) > 0)
		continue;
	printf("%lu\n", sum);
	return 0;
}

static void *fill_in_thread(void *ret_got)
{
	unsigned long *got = ret_got;

	*got = fill_until_refused(64 * 1024);
	return NULL;
}

static int fill_in_threads(unsigned long nr_threads)
{
	unsigned long got[64] = { 0 }, sum = 0;
	pthread_t threads[64];

	for (unsigned long i = 0; i < nr_threads; i++)
		expect(!pthread_create(&threads[i], NULL, fill_in_thread, &got[i]), "threads");
	for (unsigned long i = 0; i < nr_threads; i++) {
		pthread_join(threads[i], NULL);
		sum += got[i];
	}
	printf("%lu\n", sum);
	return 0;
}

/* What is given back makes room, at once. */
static int cycle(unsigned long nr_times)
{
	for (unsigned long i = 0; i < nr_times; i++) {
		void *at = take(3 * MIB);

		expect(at, "there is room again");
		expect(!munmap(at, 3 * MIB), "munmap");
	}
	return 0;
}

static int cost(unsigned long nr_times)
{
	struct timespec from, to;
	char *at;

	at = mmap(NULL, 2 * nr_times * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	expect(at != MAP_FAILED, "a reservation");
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (unsigned long i = 0; i < nr_times; i++)
		expect(take(4096), "mmap");
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("%.2f\n", ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)to.tv_nsec -
			  (double)from.tv_nsec) /
				 1e3 / (double)nr_times);
	return 0;
}

static int fork_often(unsigned long nr_times)
{
	for (unsigned long i = 0; i < nr_times; i++) {
		pid_t child = fork();
		int status;

		expect(child >= 0, "fork");
		if (!child) {
			char *at = take(MIB);

			if (at)
				*at = 1;
			_exit(at ? 0 : 1);
		}
		expect(waitpid(child, &status, 0) == child && !status, "a child gets its memory");
	}
	return 0;
}

/* Reserving costs nothing; making it writable does, page for page, and once. */
static int commit(unsigned long nr_bytes)
{
	char *at = mmap(NULL, 1024 * nr_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long got = 0;

	expect(at != MAP_FAILED, "a reservation");
	while (!mprotect(at + got, nr_bytes, PROT_READ | PROT_WRITE)) {
		expect(!mprotect(at + got, nr_bytes, PROT_READ), "mprotect to read-only");
		expect(!mprotect(at + got, nr_bytes, PROT_READ | PROT_WRITE), "and back");
		got += nr_bytes;
	}
	expect(errno == ENOMEM, "mprotect fails with ENOMEM");
	printf("%lu\n", got);
	return 0;
}

static int grow(unsigned long nr_bytes)
{
	unsigned long got = nr_bytes;
	void *at = take(got), *new;

	expect(at, "the first");
	while ((new = mremap(at, got, got + nr_bytes, MREMAP_MAYMOVE)) != MAP_FAILED) {
		at = new;
		got += nr_bytes;
	}
	expect(errno == ENOMEM, "mremap fails with ENOMEM");
	printf("%lu\n", got);
	expect(mremap(at, got, nr_bytes, 0) != MAP_FAILED, "it shrinks");
	expect(take(got - nr_bytes), "what it gave back can be had");
	return 0;
}

/* The image that is left is not charged any more. */
static int execute(unsigned long nr_bytes)
{
	char program[] = "/proc/self/exe", mode[] = "fill", size[] = "65536";

	expect(take(nr_bytes), "mmap");
	execv(program, (char *[]){ program, mode, size, NULL });
	return 1;
}

/* The same, from a child that shares this memory until it executes. */
static int execute_in_vfork(unsigned long nr_bytes)
{
	char program[] = "/proc/self/exe", mode[] = "fill", size[] = "65536";
	int status;
	pid_t child;

	expect(take(nr_bytes), "mmap");
	child = vfork();
	if (!child) {
		execv(program, (char *[]){ program, mode, size, NULL });
		_exit(1);
	}
	expect(waitpid(child, &status, 0) == child && !status, "the child fills");
	return 0;
}

/* What others pay for is not charged twice: SIGUSR1 to the parent makes this process its own. */
static int join(unsigned long nr_bytes)
{
	const union sigval self = { .sival_int = getpid() };
	sigset_t set;
	int number;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	expect(!sigqueue(getppid(), SIGUSR1, self) && !sigwait(&set, &number), "join");
	expect(take(nr_bytes), "mmap beyond the limit");
	return 0;
}

static _Noreturn void *spin_in_thread(void *unused)
{
	(void)unused;
	for (;;) {
		void *at = take(64 * 1024);

		if (at)
			munmap(at, 64 * 1024);
	}
}

/* Always in a call, until it is killed. */
static int spin(unsigned long nr_threads)
{
	pthread_t thread;

	for (unsigned long i = 1; i < nr_threads; i++)
		pthread_create(&thread, NULL, spin_in_thread, NULL);
	puts("ready");
	fflush(stdout);
	spin_in_thread(NULL);
}

/* Goes on with everything when its supervisor is gone: a byte on standard input says when. */
static int outlive(unsigned long nr_bytes)
{
	pthread_t threads[2];
	unsigned long got = 0;
	char byte;

	expect(take(nr_bytes), "mmap");
	puts("ready");
	fflush(stdout);
	expect(read(STDIN_FILENO, &byte, 1) == 1, "read");
	for (int i = 0; i < 2; i++)
		expect(!pthread_create(&threads[i], NULL, spin_in_thread, NULL), "threads");
	while (got < 64 * nr_bytes) {
		expect(take(MIB), "mmap");
		got += MIB;
	}
	expect(malloc(nr_bytes), "malloc");
	expect(!fork_often(20), "fork");
	puts("done");
	fflush(stdout);
	_exit(0);
}

/* Larger than max and without a promise of memory: let through, and not counted later either. */
static int reserve(unsigned long nr_bytes)
{
	expect(mmap(NULL, nr_bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED,
	       "mmap of more than max");
	return fill(65536);
}

static void be_interrupted(int number)
{
	(void)number;
}

/* Calls that signals interrupt are made again, and charged once. */
static int fill_under_signals(unsigned long nr_bytes)
{
	const struct itimerval often = { { 0, 100 }, { 0, 100 } };
	struct sigaction action = { .sa_handler = be_interrupted, .sa_flags = SA_RESTART };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	printf("%lu\n", fill_until_refused(nr_bytes));
	return 0;
}

static void *fill_alone(void *unused)
{
	(void)unused;
	printf("%lu\n", fill_until_refused(MIB));
	fflush(stdout);
	_exit(0);
}

/* The process outlives its main thread. */
static int fill_without_main_thread(unsigned long unused)
{
	pthread_t thread;

	(void)unused;
	expect(!pthread_create(&thread, NULL, fill_alone, NULL), "a thread");
	pthread_exit(NULL);
}

static const struct mode {
	const char *name;
	int (*run)(unsigned long number);
} modes[] = {
	{ "fill", fill },
	{ "brk", move_brk },
	{ "tree", fork_tree },
	{ "threads", fill_in_threads },
	{ "cycle", cycle },
	{ "cost", cost },
	{ "forks", fork_often },
	{ "commit", commit },
	{ "grow", grow },
	{ "execute", execute },
	{ "vfork", execute_in_vfork },
	{ "join", join },
	{ "reserve", reserve },
	{ "signals", fill_under_signals },
	{ "leaderless", fill_without_main_thread },
	{ "spin", spin },
	{ "outlive", outlive },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 3 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name))
			return modes[i].run(strtoul(argv[2], NULL, 0));
	fputs("usage: takes MODE NUMBER\n", stderr);
	return 2;
}
