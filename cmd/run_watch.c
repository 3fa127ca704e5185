/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "report.h"
#include "run_watch.h"

#define LINES_IN_A_SECOND 5
#define SECOND_MS         1000

/* Nobody sends it but run_watch_stop(). */
#define WAKE_SIGNAL SIGRTMAX
#define WAKE_NS     1000000

/* Of the thread: paths, a line, and what stdio takes. */
#define STACK_BYTES (256u << 10)

/* Nothing is due. */
#define NEVER INT64_MAX

static int64_t now_ms(void)
{
	return (int64_t)(clock_ns(CLOCK_MONOTONIC) / 1000000);
}

struct search {
	pid_t pid;
	const char *top;
	bool is_there, is_below;
};

static int look_at(const struct umemcg_process *process, void *arg)
{
	struct search *search = arg;

	if (process->pid != search->pid)
		return 0;
	search->is_there = true;
	search->is_below = place_is_below(process->group, search->top);
	return 1;
}

/* A long path is cut in front in a report. */
static bool group_is_ours(const char *group, const char *path)
{
	size_t length = strlen(group), own_length = strlen(path);

	if (group[0] == '/' && length + 1 < sizeof(((struct umemcg_report *)0)->group))
		return place_is_below(group, path);
	return length <= own_length && !strcmp(path + own_length - length, group);
}

/*
 * Refused by our group or one below it; or by one above, which many runs share, if a process of
 * ours asked. One that has died since is everybody's.
 */
static bool is_ours(const struct run_watch *watch, const struct umemcg_report *report)
{
	struct search search = { .pid = report->pid, .top = watch->place->path };

	if (report->pid == watch->pid || group_is_ours(report->group, watch->place->path))
		return true;
	umemcg_tree_walk_processes(watch->place->tree, "/", look_at, &search);
	return search.is_below || !search.is_there;
}

static void print_held_back(struct run_watch *watch)
{
	if (watch->nr_held_back)
		fprintf(stderr, "umemcg: ... and %u more\n", watch->nr_held_back);
	watch->nr_held_back = 0;
	watch->nr_lines = 0;
}

static void print_report(struct run_watch *watch, const struct umemcg_report *report)
{
	char line[REPORT_LINE_BYTES];

	watch->sequence = report->sequence;
	if (!is_ours(watch, report))
		return;
	if (now_ms() - watch->second_ms >= SECOND_MS) {
		print_held_back(watch);
		watch->second_ms = now_ms();
	}
	if (watch->nr_lines >= LINES_IN_A_SECOND) {
		watch->nr_held_back++;
		return;
	}
	report_format(report, line);
	fprintf(stderr, "umemcg: %s\n", line);
	watch->nr_lines++;
}

static int timeout_ms(const struct run_watch *watch)
{
	int64_t due_ms = watch->sample_ms;
	int64_t left_ms;

	if (watch->nr_held_back && watch->second_ms + SECOND_MS < due_ms)
		due_ms = watch->second_ms + SECOND_MS;
	if (due_ms == NEVER)
		return -1;
	left_ms = due_ms - now_ms();
	return left_ms > 0 ? (int)left_ms : 0;
}

static void *watch_group(void *arg)
{
	struct run_watch *watch = arg;
	struct umemcg_report report;
	sigset_t wake;
	int error = 0;

	sigemptyset(&wake);
	sigaddset(&wake, WAKE_SIGNAL);
	pthread_sigmask(SIG_UNBLOCK, &wake, NULL);
	/* Relaxed, with run_watch_stop(): nothing but the end is told. */
	while (!atomic_load_explicit(&watch->is_ending, memory_order_relaxed)) {
		error = umemcg_tree_wait(watch->place->tree, watch->sequence, timeout_ms(watch),
					 &report);
		pthread_mutex_lock(&watch->lock);
		if (!error)
			print_report(watch, &report);
		if (watch->nr_held_back && now_ms() - watch->second_ms >= SECOND_MS)
			print_held_back(watch);
		if (now_ms() >= watch->sample_ms)
			watch->sample_ms = now_ms() + run_summary_sample(watch->summary);
		pthread_mutex_unlock(&watch->lock);
		if (error && error != -ETIMEDOUT && error != -EINTR)
			break;
	}
	return NULL;
}

static void do_nothing(int signal)
{
	(void)signal;
}

void run_watch_init(struct run_watch *watch, const struct place *place, struct run_summary *summary)
{
	struct umemcg_report report;

	*watch = (struct run_watch){ .place = place,
				     .summary = summary,
				     .lock = PTHREAD_MUTEX_INITIALIZER,
				     .second_ms = now_ms(),
				     .sample_ms = summary ? now_ms() : NEVER };
	while (!umemcg_tree_wait(place->tree, watch->sequence, 0, &report))
		watch->sequence = report.sequence;
}

int run_watch_start(struct run_watch *watch, pid_t pid)
{
	/* No SA_RESTART: waiting is to end. */
	const struct sigaction waking = { .sa_handler = do_nothing };
	pthread_attr_t attributes;
	int error;

	watch->pid = pid;
	sigaction(WAKE_SIGNAL, &waking, NULL);
	error = pthread_attr_init(&attributes);
	if (error)
		return -error;
	/* Within another run it is charged to that run's group. */
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	error = pthread_create(&watch->thread, &attributes, watch_group, watch);
	pthread_attr_destroy(&attributes);
	watch->has_thread = !error;
	return -error;
}

/* A signal may come right before the thread waits, so that one is sent until it has ended. */
static void end_thread(struct run_watch *watch)
{
	struct timespec end;

	/* Relaxed, with watch_group(): nothing but the end is told. */
	atomic_store_explicit(&watch->is_ending, true, memory_order_relaxed);
	do {
		pthread_kill(watch->thread, WAKE_SIGNAL);
		clock_gettime(CLOCK_MONOTONIC, &end);
		end.tv_nsec += WAKE_NS;
		end.tv_sec += end.tv_nsec / 1000000000;
		end.tv_nsec %= 1000000000;
	} while (pthread_clockjoin_np(watch->thread, NULL, CLOCK_MONOTONIC, &end) == ETIMEDOUT);
}

void run_watch_stop(struct run_watch *watch)
{
	struct umemcg_report report;

	if (watch->has_thread)
		end_thread(watch);
	while (!umemcg_tree_wait(watch->place->tree, watch->sequence, 0, &report))
		print_report(watch, &report);
	print_held_back(watch);
}
