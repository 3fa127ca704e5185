/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "reclaim/watch.h"
#include "umemcg.h"

/* "some 150000 1000000" */
#define TRIGGER_IN_BASE64 "c29tZSAxNTAwMDAgMTAwMDAwMA=="

static _Atomic unsigned int nr_reclaims;

static void reclaim(void)
{
	nr_reclaims++;
}

static void wait_for(unsigned int nr)
{
	while (nr_reclaims < nr)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static char folder[64];
static char path[80];

/* Once a watch that is about to end has done so. */
static int start(const char *write)
{
	int r;

	while ((r = watch_start(path, write, reclaim)) == -EALREADY)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	return r;
}

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/umemcg-watch-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/it", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static void base64_is_decoded(void **state)
{
	static const struct {
		const char *text, *bytes;
	} good[] = {
		{ "", "" },
		{ "Zg==", "f" },
		{ "Zm8=", "fo" },
		{ "Zm9v", "foo" },
		{ "Zm9vYg", "foob" },
		{ "Zm9vYmE", "fooba" },
		{ "+/+/", "\xfb\xff\xbf" },
		{ TRIGGER_IN_BASE64, "some 150000 1000000" },
	};
	static const char *const bad[] = { "Z",      "Zm9vY", "Zm9v=",    "Zm8==", "Z===", "Zm 9v",
					   "Zm9v\n", "Zm-_",  "Zg==Zg==", "=",     "\xff" };
	char buffer[64];
	size_t nr_bytes;

	(void)state;
	for (unsigned int i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(watch_decode(good[i].text, buffer, sizeof(buffer), &nr_bytes), 0);
		assert_int_equal(nr_bytes, strlen(good[i].bytes));
		assert_memory_equal(buffer, good[i].bytes, nr_bytes);
	}
	assert_int_equal(watch_decode("AAAA", buffer, 3, &nr_bytes), 0);
	assert_memory_equal(buffer, "\0\0\0", 3);
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(watch_decode(bad[i], buffer, sizeof(buffer), &nr_bytes), -EINVAL);
	assert_int_equal(nr_bytes, 3);
	assert_int_equal(watch_decode("AAAA", buffer, 2, &nr_bytes), -E2BIG);
}

static void without_a_file_to_watch_nothing_is_watched(void **state)
{
	(void)state;
	assert_int_equal(watch_start(NULL, NULL, reclaim), -ENOENT);
	assert_int_equal(watch_start("", NULL, reclaim), -ENOENT);
	assert_int_equal(watch_start("/dev/null", "!", reclaim), -ENOENT);
	assert_int_equal(watch_start(path, NULL, reclaim), -ENOENT);
	assert_int_equal(watch_start("it", NULL, reclaim), -EINVAL);
	assert_int_equal(watch_start(path, "no base64", reclaim), -EINVAL);
	assert_int_equal(watch_start(folder, NULL, reclaim), -EINVAL);
	assert_int_equal(watch_start("/dev/zero", NULL, reclaim), -EINVAL);
}

/* As a file of the kernel's is: what is written stands in it, and it is polled for POLLPRI. */
static void a_file_is_written_to_and_never_read(void **state)
{
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), fd;
	char content[16] = "";
	short events = 0;

	(void)state;
	fd = watch_open(path, "a\0b", 3, &events);
	assert_true(fd >= 0);
	assert_int_equal(events, POLLPRI);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(read(file, content, sizeof(content)), 3);
	assert_memory_equal(content, "a\0b", 3);
	close(fd);
	/* Without anything to write it need not be writable. */
	chmod(path, 0400);
	fd = watch_open(path, "", 0, &events);
	assert_true(fd >= 0);
	close(fd);
	close(file);
	unlink(path);
}

static void a_trigger_of_the_kernels_can_be_set(void **state)
{
	static const char trigger[] = "some 150000 2000000";
	short events = 0;
	int fd;

	(void)state;
	if (access("/proc/pressure/memory", W_OK))
		skip();
	fd = watch_open("/proc/pressure/memory", trigger, sizeof(trigger), &events);
	/* Where the kernel has it, it may be switched off, or be kept from us. */
	if (fd == -EOPNOTSUPP || fd == -EPERM || fd == -EACCES || fd == -EROFS)
		skip();
	assert_true(fd >= 0);
	assert_int_equal(events, POLLPRI);
	close(fd);
}

static void a_fifo_that_says_something_reclaims(void **state)
{
	unsigned int before = nr_reclaims;
	int fifo;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(start(NULL), 0);
	assert_int_equal(watch_start(path, NULL, reclaim), -EALREADY);
	/* It outlives each of its writers. */
	for (unsigned int i = 1; i <= 3; i++) {
		fifo = open(path, O_WRONLY | O_CLOEXEC);
		assert_int_equal(write(fifo, "pressure", 8), 8);
		wait_for(before + i);
		close(fifo);
	}
	unlink(path);
}

static void a_child_watches_nothing_unless_it_says_so(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	/* That of its parent is on. */
	assert_int_equal(watch_start(path, NULL, reclaim), -EALREADY);
	umemcg_root();
	pid = fork();
	if (!pid)
		_exit(watch_start(path, NULL, reclaim) ? 1 : 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	unlink(path);
}

static int listen_at(const char *where)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, where);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

/* A watch that ends, since the other side has closed, may be begun again. */
static void a_socket_is_written_to_and_what_it_says_reclaims(void **state)
{
	int listening = listen_at(path);

	(void)state;
	for (unsigned int round = 0; round < 2; round++) {
		unsigned int before = nr_reclaims;
		char content[64];
		int peer;

		assert_int_equal(start(TRIGGER_IN_BASE64), 0);
		peer = accept(listening, NULL, NULL);
		assert_int_equal(read(peer, content, sizeof(content)), 19);
		assert_memory_equal(content, "some 150000 1000000", 19);
		for (unsigned int i = 1; i <= 3; i++) {
			assert_int_equal(write(peer, "!", 1), 1);
			wait_for(before + i);
		}
		close(peer);
	}
	close(listening);
	unlink(path);
}

static void *close_each(void *arg)
{
	int fd;

	while ((fd = accept(*(int *)arg, NULL, NULL)) >= 0)
		close(fd);
	return NULL;
}

/* It may be closed before, or after, something is written to it: until it was before. */
static void a_socket_that_is_closed_at_once_raises_no_signal(void **state)
{
	int listening = listen_at(path), fd = 0;
	pthread_t thread;
	short events;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, close_each, &listening), 0);
	for (unsigned int i = 0; i < 100000 && fd != -EPIPE; i++) {
		fd = watch_open(path, "some", 4, &events);
		if (fd >= 0)
			close(fd);
	}
	shutdown(listening, SHUT_RDWR);
	pthread_join(thread, NULL);
	close(listening);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base64_is_decoded),
		cmocka_unit_test(without_a_file_to_watch_nothing_is_watched),
		cmocka_unit_test(a_file_is_written_to_and_never_read),
		cmocka_unit_test(a_trigger_of_the_kernels_can_be_set),
		cmocka_unit_test(a_socket_is_written_to_and_what_it_says_reclaims),
		cmocka_unit_test(a_socket_that_is_closed_at_once_raises_no_signal),
		cmocka_unit_test(a_fifo_that_says_something_reclaims),
		cmocka_unit_test(a_child_watches_nothing_unless_it_says_so),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
