/* SPDX-License-Identifier: MIT */
/*
 * Threads map, protect, advise, move and unmap at random, beside one that forks.
 *
 * Whatever a call makes writable is written at once. So at the end what is charged is what
 * /proc/self/pagemap says is there, to the byte; and in every child the books are balanced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "books.h"
#include "mappings.h"
#include "umemcg.h"

#define PAGE          4096u
#define NR_WORKERS    4u
#define NR_WINDOW     96u /* pages */
#define NR_LOOSE      8u
#define NR_OPERATIONS 10000u
#define NR_FORKS      40u
#define ANONYMOUS     (MAP_PRIVATE | MAP_ANONYMOUS)

/* Each has addresses of its own, and some mappings where the system likes. */
struct worker {
	pthread_t thread;
	struct umemcg *group;
	unsigned int seed;
	char *window;
	char *loose[NR_LOOSE];
	unsigned int nr_loose[NR_LOOSE]; /* pages */
};

static struct worker workers[NR_WORKERS];
static struct umemcg *groups[2];
static _Atomic unsigned int nr_done;

static unsigned int draw(struct worker *worker, unsigned int n)
{
	return (unsigned int)rand_r(&worker->seed) % n;
}

static void check(bool is_true, const char *what)
{
	if (is_true)
		return;
	fprintf(stderr, "mapping_stress: %s\n", what);
	abort();
}

static void write_pages(char *start, unsigned int nr_pages)
{
	for (unsigned int i = 0; i < nr_pages; i++)
		((volatile char *)start)[(size_t)i * PAGE] = 1;
}

struct range {
	char *start;
	unsigned int first;
	unsigned int nr_pages;
	size_t nr_bytes;
};

static struct range draw_range(struct worker *worker)
{
	struct range range;

	range.first = draw(worker, NR_WINDOW);
	range.nr_pages = 1 + draw(worker, draw(worker, 4) ? 8 : NR_WINDOW);
	if (range.nr_pages > NR_WINDOW - range.first)
		range.nr_pages = NR_WINDOW - range.first;
	range.start = worker->window + (size_t)range.first * PAGE;
	range.nr_bytes = (size_t)range.nr_pages * PAGE;
	return range;
}

static void map_over(struct worker *worker)
{
	struct range range = draw_range(worker);
	int protection = draw(worker, 2) ? PROT_READ | PROT_WRITE : PROT_NONE;
	int flags = ANONYMOUS | MAP_FIXED | (draw(worker, 2) ? MAP_NORESERVE : 0);

	check(mappings_map(range.start, range.nr_bytes, protection, flags, -1, 0) == range.start,
	      "no mapping over a window");
	if (protection)
		write_pages(range.start, range.nr_pages);
}

/* What is shared is not charged, and gives way to a reservation, which is not either. */
static void map_shared_over(struct worker *worker)
{
	struct range range = draw_range(worker);

	check(mappings_map(range.start, range.nr_bytes, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == range.start,
	      "no shared mapping");
	check(mappings_map(range.start, range.nr_bytes, PROT_NONE, ANONYMOUS | MAP_FIXED, -1, 0) ==
		      range.start,
	      "no mapping over a shared one");
}

static void protect(struct worker *worker)
{
	static const int protections[] = { PROT_NONE, PROT_READ, PROT_READ | PROT_EXEC,
					   PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE };
	struct range range = draw_range(worker);
	int protection = protections[draw(worker, 5)];

	check(!mappings_protect(range.start, range.nr_bytes, protection, MAPPINGS_NO_KEY),
	      "no mprotect");
	if (protection & PROT_WRITE)
		write_pages(range.start, range.nr_pages);
}

static void advise(struct worker *worker)
{
	struct range range = draw_range(worker);

	check(!mappings_advise(range.start, range.nr_bytes,
			       draw(worker, 2) ? MADV_DONTNEED : MADV_FREE),
	      "no madvise");
}

static void map_or_unmap_loose(struct worker *worker)
{
	unsigned int i = draw(worker, NR_LOOSE);

	if (worker->loose[i]) {
		check(!mappings_unmap(worker->loose[i], (size_t)worker->nr_loose[i] * PAGE),
		      "no munmap");
		worker->loose[i] = NULL;
		return;
	}
	worker->nr_loose[i] = 1 + draw(worker, 16);
	worker->loose[i] = mappings_map(NULL, (size_t)worker->nr_loose[i] * PAGE,
					PROT_READ | PROT_WRITE, ANONYMOUS, -1, 0);
	check(worker->loose[i] != MAP_FAILED, "no mapping");
	write_pages(worker->loose[i], worker->nr_loose[i]);
}

static void resize_loose(struct worker *worker)
{
	unsigned int i = draw(worker, NR_LOOSE);
	unsigned int nr_pages = 1 + draw(worker, 16);

	if (!worker->loose[i])
		return;
	worker->loose[i] = mappings_remap(worker->loose[i], (size_t)worker->nr_loose[i] * PAGE,
					  (size_t)nr_pages * PAGE, MREMAP_MAYMOVE, NULL);
	check(worker->loose[i] != MAP_FAILED, "no mremap");
	worker->nr_loose[i] = nr_pages;
	write_pages(worker->loose[i], nr_pages);
}

/* Into the window, over whatever is there. */
static void move_loose(struct worker *worker)
{
	unsigned int i = draw(worker, NR_LOOSE);
	unsigned int nr_pages = worker->nr_loose[i];
	char *to = worker->window + (size_t)draw(worker, NR_WINDOW - 16) * PAGE;
	bool stays = draw(worker, 2);

	if (!worker->loose[i])
		return;
	check(mappings_remap(worker->loose[i], (size_t)nr_pages * PAGE, (size_t)nr_pages * PAGE,
			     MREMAP_MAYMOVE | MREMAP_FIXED | (stays ? MREMAP_DONTUNMAP : 0),
			     to) == to,
	      "no move");
	if (stays)
		check(!mappings_unmap(worker->loose[i], (size_t)nr_pages * PAGE), "no munmap");
	worker->loose[i] = NULL;
}

static void *work(void *arg)
{
	static void (*const operations[])(struct worker * worker) = {
		map_over, map_shared_over,    protect,      protect,    advise,
		advise,   map_or_unmap_loose, resize_loose, move_loose, map_or_unmap_loose,
	};
	struct worker *worker = arg;

	umemcg_enter(worker->group);
	for (unsigned int i = 0; i < NR_OPERATIONS; i++)
		operations[draw(worker, sizeof(operations) / sizeof(*operations))](worker);
	atomic_fetch_add(&nr_done, 1);
	return NULL;
}

static uint64_t charged(void)
{
	struct umemcg_stat stats[2];

	for (unsigned int i = 0; i < 2; i++)
		check(!umemcg_get_stat(groups[i], &stats[i]), "no statistics");
	return stats[0].nr_bytes_anon + stats[1].nr_bytes_anon;
}

/* Bits 62 and 63 of a page: swapped out, present. */
static uint64_t there(int pagemap, const char *start, unsigned int nr_pages)
{
	uint64_t entries[NR_WINDOW];
	uint64_t nr_there = 0;

	check(pread(pagemap, entries, nr_pages * sizeof(*entries),
		    (off_t)((uintptr_t)start / PAGE * sizeof(*entries))) ==
		      (ssize_t)(nr_pages * sizeof(*entries)),
	      "no pagemap");
	for (unsigned int i = 0; i < nr_pages; i++)
		nr_there += (entries[i] >> 62) != 0;
	return nr_there * PAGE;
}

static uint64_t all_that_is_there(void)
{
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t nr_bytes = 0;

	check(pagemap >= 0, "no pagemap");
	for (unsigned int i = 0; i < NR_WORKERS; i++) {
		nr_bytes += there(pagemap, workers[i].window, NR_WINDOW);
		for (unsigned int j = 0; j < NR_LOOSE; j++)
			if (workers[i].loose[j])
				nr_bytes +=
					there(pagemap, workers[i].loose[j], workers[i].nr_loose[j]);
	}
	close(pagemap);
	return nr_bytes;
}

static void unmap_windows(void)
{
	for (unsigned int i = 0; i < NR_WORKERS; i++)
		check(!mappings_unmap(workers[i].window, (size_t)NR_WINDOW * PAGE), "no munmap");
}

/* In the child: no call is half done, and the table goes on. */
static int live_as_a_child(void)
{
	struct umemcg_audit audit;
	uint64_t before = charged();
	char *start;

	umemcg_enter(groups[0]);
	if (umemcg_audit(&audit))
		return 1;
	start = mappings_map(NULL, PAGE, PROT_READ | PROT_WRITE, ANONYMOUS, -1, 0);
	if (start == MAP_FAILED || charged() != before + PAGE)
		return 2;
	if (mappings_unmap(start, PAGE) || charged() != before)
		return 3;
	unmap_windows();
	return umemcg_audit(&audit) ? 4 : 0;
}

static void fork_once(void)
{
	pid_t child = fork();
	int status;

	check(child >= 0, "no fork");
	if (!child)
		_exit(live_as_a_child());
	check(waitpid(child, &status, 0) == child, "no wait");
	if (status)
		fprintf(stderr, "mapping_stress: status of a child: %d\n", status);
	check(!status, "the books of a child");
}

static void prepare_worker(struct worker *worker, unsigned int number)
{
	worker->seed = number + 1;
	worker->group = groups[number % 2];
	worker->window = mappings_map(NULL, (size_t)NR_WINDOW * PAGE, PROT_NONE,
				      ANONYMOUS | MAP_NORESERVE, -1, 0);
	check(worker->window != MAP_FAILED, "no window");
}

static void what_is_charged_is_what_is_there(void **state)
{
	unsigned int nr_forks = 0;

	(void)state;
	for (unsigned int i = 0; i < NR_WORKERS; i++)
		prepare_worker(&workers[i], i);
	for (unsigned int i = 0; i < NR_WORKERS; i++)
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	for (; nr_forks < NR_FORKS && atomic_load(&nr_done) < NR_WORKERS; nr_forks++)
		fork_once();
	for (unsigned int i = 0; i < NR_WORKERS; i++)
		assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
	assert_true(nr_forks > 0);
	assert_true(charged() > 0);
	assert_int_equal(charged(), all_that_is_there());
	fork_once();
	for (unsigned int i = 0; i < NR_WORKERS; i++)
		for (unsigned int j = 0; j < NR_LOOSE; j++)
			if (workers[i].loose[j])
				mappings_unmap(workers[i].loose[j],
					       (size_t)workers[i].nr_loose[j] * PAGE);
	unmap_windows();
	assert_int_equal(charged(), 0);
	assert_int_equal(spans_nr(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_charged_is_what_is_there),
	};

	/* A huge page would be there where nothing was written. */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	if (umemcg_create(NULL, "one", &groups[0]) || umemcg_create(NULL, "two", &groups[1]))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
