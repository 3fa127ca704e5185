/* SPDX-License-Identifier: MIT */
/* What mmap, munmap and mprotect charge and give back, one rule a test; and who may call them. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

/* ThreadSanitizer makes a fork of it. */
#ifdef __SANITIZE_THREAD__
#define VFORK_IS_FORK true
#else
#define VFORK_IS_FORK false
#endif

static void a_mapping_is_charged_in_whole_pages(void **state)
{
	char *start = map(3 * PAGE + 1, WRITABLE);

	(void)state;
	assert_pages(4);
	unmap(start + PAGE, 1);
	assert_pages(3);
	unmap(start, 4 * PAGE);
	assert_pages(0);
}

static void a_reservation_is_charged_when_it_can_be_written(void **state)
{
	char *start = map(LENGTH, NO_MEMORY);

	(void)state;
	assert_pages(0);
	protect(start + PAGE, 2 * PAGE, PROT_READ | PROT_WRITE);
	assert_pages(2);
	protect(start, 2 * PAGE, PROT_READ | PROT_WRITE);
	assert_pages(3);
	map_at(start + 2 * PAGE, 2 * PAGE, PROT_READ | PROT_WRITE, ANONYMOUS | MAP_FIXED);
	assert_pages(4);
	unmap(start, LENGTH);
	assert_pages(0);
}

static void what_was_written_stays_charged_when_it_is_protected(void **state)
{
	char *start = map(LENGTH, WRITABLE);

	(void)state;
	protect(start, LENGTH, PROT_READ | PROT_EXEC);
	assert_pages(NR_PAGES);
	protect(start, LENGTH, PROT_NONE);
	assert_pages(NR_PAGES);
	protect(start, LENGTH, PROT_READ | PROT_WRITE);
	assert_pages(NR_PAGES);
	map_at(start, 4 * PAGE, PROT_NONE, ANONYMOUS | MAP_FIXED | MAP_NORESERVE);
	assert_pages(NR_PAGES - 4);
	unmap(start, LENGTH);
}

static void a_refusal_changes_nothing(void **state)
{
	char *start;

	(void)state;
	assert_int_equal(umemcg_set_max(group, LENGTH), 0);
	start = map(LENGTH, WRITABLE);
	errno = 0;
	assert_ptr_equal(mappings_map(NULL, PAGE, WRITABLE, -1, 0), MAP_FAILED);
	assert_int_equal(errno, ENOMEM);
	/* What lies there already makes room for what replaces it. */
	map_at(start, LENGTH, PROT_READ | PROT_WRITE, ANONYMOUS | MAP_FIXED);
	assert_pages(NR_PAGES);
	unmap(start, PAGE);
	map_at(start, PAGE, PROT_NONE, ANONYMOUS | MAP_FIXED);
	assert_ptr_equal(
		mappings_remap(start + PAGE, LENGTH - PAGE, LENGTH + PAGE, MREMAP_MAYMOVE, NULL),
		MAP_FAILED);
	assert_int_equal(errno, ENOMEM);
	assert_pages(NR_PAGES - 1);
	assert_int_equal(umemcg_set_max(group, LENGTH - PAGE), 0);
	errno = 0;
	assert_int_equal(mappings_protect(start, 2 * PAGE, PROT_READ | PROT_WRITE, MAPPINGS_NO_KEY),
			 -1);
	assert_int_equal(errno, ENOMEM);
	assert_pages(NR_PAGES - 1);
	unmap(start, LENGTH);
	assert_int_equal(umemcg_set_max(group, UMEMCG_MAX), 0);
}

static void a_call_that_fails_charges_nothing(void **state)
{
	char *start = map(LENGTH, WRITABLE);

	(void)state;
	assert_ptr_equal(mappings_map(start, PAGE, PROT_READ | PROT_WRITE,
				      ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
			 MAP_FAILED);
	assert_int_equal(errno, EEXIST);
	assert_int_equal(mappings_unmap(start + 1, PAGE), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(mappings_advise(start + 1, PAGE, MADV_DONTNEED), -1);
	assert_int_equal(errno, EINVAL);
	assert_ptr_equal(mappings_remap(start, LENGTH, SIZE_MAX / 4, MREMAP_MAYMOVE, NULL),
			 MAP_FAILED);
	assert_int_equal(errno, ENOMEM);
	assert_pages(NR_PAGES);
	unmap(start, LENGTH);
}

static void shared_memory_and_files_are_not_charged(void **state)
{
	char *start = map(LENGTH, WRITABLE);
	int fd = memfd_create("mappings", MFD_CLOEXEC);
	void *file;

	(void)state;
	assert_int_equal(ftruncate(fd, PAGE), 0);
	file = mappings_map(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(file, MAP_FAILED);
	assert_pages(NR_PAGES);
	map_at(start, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED);
	assert_pages(NR_PAGES - 1);
	protect(file, PAGE, PROT_READ);
	protect(file, PAGE, PROT_READ | PROT_WRITE);
	protect(start, PAGE, PROT_READ);
	protect(start, PAGE, PROT_READ | PROT_WRITE);
	assert_pages(NR_PAGES - 1);
	unmap(file, PAGE);
	unmap(start, LENGTH);
	close(fd);
}

static uint64_t nr_passed;

static uint64_t limit(void)
{
	return 8 * PAGE;
}

static void the_lowest_limit_on_the_path_counts(void **state)
{
	struct umemcg *child;
	char *start;

	(void)state;
	assert_int_equal(umemcg_set_max(group, LENGTH), 0);
	assert_int_equal(umemcg_create(group, "child", &child), 0);
	umemcg_enter(child);
	assert_ptr_equal(mappings_map(NULL, 2 * LENGTH, WRITABLE, -1, 0), MAP_FAILED);
	start = map(2 * LENGTH, PROT_READ | PROT_WRITE, ANONYMOUS | MAP_NORESERVE);
	assert_pages(0);
	unmap(start, 2 * LENGTH);
	umemcg_enter(group);
	umemcg_destroy(child);
	assert_int_equal(umemcg_set_max(group, UMEMCG_MAX), 0);
}

static void note_passed(uint64_t nr_bytes)
{
	nr_passed += nr_bytes;
}

static void a_long_mapping_without_reserve_is_let_through(void **state)
{
	char *start;

	(void)state;
	mappings_ops.limit = limit;
	mappings_ops.passed = note_passed;
	start = map(9 * PAGE, PROT_READ | PROT_WRITE, ANONYMOUS | MAP_NORESERVE);
	assert_pages(0);
	assert_int_equal(nr_passed, 9 * PAGE);
	unmap(start, 9 * PAGE);
	start = map(8 * PAGE, PROT_READ | PROT_WRITE, ANONYMOUS | MAP_NORESERVE);
	assert_pages(8);
	unmap(start, 8 * PAGE);
	mappings_ops = (struct mappings_ops){ 0 };
}

static void the_owner_is_repaid_when_another_group_unmaps(void **state)
{
	char *start = map(LENGTH, WRITABLE);

	(void)state;
	umemcg_enter(NULL);
	unmap(start, PAGE);
	assert_pages(NR_PAGES - 1);
	map_at(start + PAGE, PAGE, PROT_READ | PROT_WRITE, ANONYMOUS | MAP_FIXED);
	assert_pages(NR_PAGES - 2);
	unmap(start, LENGTH);
	assert_pages(0);
	umemcg_enter(group);
}

static void a_child_has_books_of_its_own(void **state)
{
	char *start = map(LENGTH, WRITABLE);
	int status;
	pid_t child = fork();

	(void)state;
	assert_true(child >= 0);
	if (!child) {
		if (charged() != LENGTH)
			_exit(1);
		if (mappings_unmap(start, PAGE) || charged() != LENGTH - PAGE)
			_exit(2);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_pages(NR_PAGES);
	unmap(start, LENGTH);
}

static volatile sig_atomic_t nr_handled;

static void map_in_a_handler(int signal)
{
	char *start = mappings_map(NULL, PAGE, WRITABLE, -1, 0);

	(void)signal;
	if (start == MAP_FAILED)
		_exit(1);
	start[0] = 1;
	if (mappings_unmap(start, PAGE))
		_exit(2);
	nr_handled++;
}

static void a_signal_handler_may_map_at_any_time(void **state)
{
	struct sigaction action = { .sa_handler = map_in_a_handler, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 50 }, { 0, 50 } };
	struct itimerval never = { 0 };
	char *start = map(LENGTH, NO_MEMORY);

	(void)state;
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	while (nr_handled < 300) {
		protect(start, LENGTH, PROT_READ | PROT_WRITE);
		advise(start, LENGTH, MADV_DONTNEED);
		protect(start, LENGTH, PROT_NONE);
	}
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	unmap(start, LENGTH);
	assert_pages(0);
}

static void a_child_of_vfork_maps_its_parents_memory(void **state)
{
	char *volatile start = NULL;
	pid_t child;

	(void)state;
	if (VFORK_IS_FORK) {
		print_message("vfork is fork here\n");
		skip();
	}
	child = vfork();
	if (!child) {
		start = mappings_map(NULL, LENGTH, WRITABLE, -1, 0);
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_pages(NR_PAGES);
	unmap(start, LENGTH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROMISE(a_mapping_is_charged_in_whole_pages),
		PROMISE(a_reservation_is_charged_when_it_can_be_written),
		PROMISE(what_was_written_stays_charged_when_it_is_protected),
		PROMISE(a_refusal_changes_nothing),
		PROMISE(a_call_that_fails_charges_nothing),
		PROMISE(shared_memory_and_files_are_not_charged),
		PROMISE(a_long_mapping_without_reserve_is_let_through),
		PROMISE(the_lowest_limit_on_the_path_counts),
		PROMISE(the_owner_is_repaid_when_another_group_unmaps),
		PROMISE(a_child_has_books_of_its_own),
		PROMISE(a_child_of_vfork_maps_its_parents_memory),
		PROMISE(a_signal_handler_may_map_at_any_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
