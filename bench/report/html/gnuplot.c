/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/html/gnuplot.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/text.h"
#include "write_all.h"

/* Files in memory instead of pipes: whoever writes first, nobody waits for a reader. */
struct streams {
	int fds[3]; /* standard input, output and error of gnuplot */
};

static void streams_fini(struct streams *streams)
{
	for (int i = 0; i < 3; i++) {
		if (streams->fds[i] >= 0)
			close(streams->fds[i]);
	}
}

static int write_script(int fd, const char *script)
{
	int ret = write_all(fd, script, strlen(script));

	if (ret)
		return ret;
	return lseek(fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

static int streams_init(struct streams *streams, const char *script)
{
	int ret = 0;

	for (int i = 0; i < 3; i++)
		streams->fds[i] = memfd_create("gnuplot", MFD_CLOEXEC);
	for (int i = 0; i < 3 && !ret; i++)
		ret = streams->fds[i] < 0 ? -EMFILE : 0;
	if (!ret)
		ret = write_script(streams->fds[STDIN_FILENO], script);
	if (ret)
		streams_fini(streams);
	return ret;
}

static int read_stream(int fd, char **ret_text)
{
	struct stat status;
	size_t nr_bytes = 0, nr_max;
	char *text;

	if (fstat(fd, &status))
		return -errno;
	nr_max = (size_t)status.st_size;
	text = malloc(nr_max + 1);
	if (!text)
		return -ENOMEM;
	while (nr_bytes < nr_max) {
		ssize_t nr_read = pread(fd, text + nr_bytes, nr_max - nr_bytes, (off_t)nr_bytes);

		if (nr_read < 0 && errno == EINTR)
			continue;
		if (nr_read <= 0)
			break;
		nr_bytes += (size_t)nr_read;
	}
	text[nr_bytes] = '\0';
	*ret_text = text;
	return 0;
}

/* The last line that it printed to standard error, which is where gnuplot says what is wrong. */
static void explain(int fd, char *why)
{
	char *text, *line, *rest;

	snprintf(why, GNUPLOT_WHY_BYTES, "gnuplot failed");
	if (read_stream(fd, &text))
		return;
	rest = text;
	while ((line = strsep(&rest, "\n"))) {
		line += strspn(line, " \t");
		if (*line && text_is_printable(line))
			snprintf(why, GNUPLOT_WHY_BYTES, "gnuplot: %.200s", line);
	}
	free(text);
}

static int spawn(const struct streams *streams, pid_t *ret_child)
{
	/* -d: the files that its user starts it with are not read. */
	char name[] = "gnuplot", defaults[] = "-d", input[] = "-";
	char *argv[] = { name, defaults, input, NULL };
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return -error;
	for (int i = 0; i < 3 && !error; i++)
		error = posix_spawn_file_actions_adddup2(&actions, streams->fds[i], i);
	if (!error)
		error = posix_spawnp(ret_child, name, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -error;
}

int gnuplot_run(const char *script, char **ret_text, char *why)
{
	struct streams streams;
	int status = 0, ret = streams_init(&streams, script);
	pid_t child, waited;

	if (ret) {
		snprintf(why, GNUPLOT_WHY_BYTES, "no file in memory: %s", strerror(-ret));
		return ret;
	}
	ret = spawn(&streams, &child);
	if (ret == -ENOENT)
		snprintf(why, GNUPLOT_WHY_BYTES, "gnuplot is not installed (package gnuplot-nox)");
	else if (ret)
		snprintf(why, GNUPLOT_WHY_BYTES, "gnuplot cannot be started: %s", strerror(-ret));
	if (!ret) {
		do
			waited = waitpid(child, &status, 0);
		while (waited < 0 && errno == EINTR);
		if (waited != child || !WIFEXITED(status) || WEXITSTATUS(status)) {
			explain(streams.fds[STDERR_FILENO], why);
			ret = -EIO;
		}
	}
	if (!ret) {
		ret = read_stream(streams.fds[STDOUT_FILENO], ret_text);
		if (ret)
			snprintf(why, GNUPLOT_WHY_BYTES, "%s", strerror(-ret));
	}
	streams_fini(&streams);
	return ret;
}
