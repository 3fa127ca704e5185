/* SPDX-License-Identifier: MIT */
#include "shared_workers.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "umemcg-tree.h"
#include "umemcg.h"

#define NR_OBJECTS 64

struct message {
	uint64_t command, argument;
};

static void *allocated[4096];
static unsigned int nr_allocated;

static void fail(const char *what)
{
	perror(what);
	abort();
}

static int64_t allocate(uint64_t nr_bytes)
{
	void *object = umemcg_malloc(nr_bytes);

	if (!object)
		return -errno;
	memset(object, 1, nr_bytes);
	allocated[nr_allocated++ % 4096] = object;
	return 0;
}

static int64_t free_all(void)
{
	while (nr_allocated)
		umemcg_free(allocated[--nr_allocated % 4096]);
	return 0;
}

static int64_t fill(uint64_t nr_bytes)
{
	int64_t nr = 0;

	while (!umemcg_try_charge(NULL, nr_bytes))
		nr++;
	return nr;
}

static void fork_briefly(void)
{
	pid_t child = fork();

	if (!child) {
		void *object = umemcg_malloc(5000);

		umemcg_free(object);
		_exit(0);
	}
	if (child > 0 && rand() % 4)
		waitpid(child, NULL, 0);
}

void churn(unsigned int seed, bool forks)
{
	void *objects[NR_OBJECTS] = { NULL };
	uint64_t nr_charged = 0;

	srand(seed);
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		unsigned int i = rand() % NR_OBJECTS;
		uint64_t nr_bytes = 1 + rand() % 40000;

		switch (rand() % 64) {
		case 0:
			if (forks)
				fork_briefly();
			break;
		case 1 ... 8:
			if (!umemcg_try_charge(NULL, nr_bytes))
				nr_charged += nr_bytes;
			break;
		case 9 ... 15:
			umemcg_uncharge(NULL, nr_charged / 2);
			nr_charged -= nr_charged / 2;
			break;
		default:
			umemcg_free(objects[i]);
			objects[i] = umemcg_malloc(nr_bytes);
		}
	}
}

static int64_t hammer(uint64_t nr_bytes)
{
	while (umemcg_try_charge(NULL, nr_bytes) == -ENOMEM)
		;
	return 0;
}

static int64_t pairs(uint64_t nr_bytes)
{
	int64_t nr_refused = 0;

	for (unsigned int i = 0; i < 1000; i++) {
		if (umemcg_try_charge(NULL, nr_bytes))
			nr_refused++;
		else
			umemcg_uncharge(NULL, nr_bytes);
	}
	return nr_refused;
}

static struct umemcg_tree *own_tree(void)
{
	static struct umemcg_tree *own;

	if (!own && umemcg_tree_open(getenv("UMEMCG_TREE"), 0, &own))
		fail("open the tree");
	return own;
}

static int64_t make_group(unsigned int number)
{
	char path[32];
	int r;

	snprintf(path, sizeof(path), "/a/x%u", number);
	r = umemcg_tree_create(own_tree(), path);
	return r ? r : umemcg_tree_destroy(own_tree(), path);
}

/* Charged as soon as it runs. */
static int64_t become_another(void)
{
	execl("/proc/self/exe", "worker", "another", NULL);
	fail("exec");
	return 0;
}

static void begin_as_another(void)
{
	if (umemcg_try_charge(NULL, 1000))
		fail("charge after exec");
	raise(MARK_SIGNAL);
}

static int64_t obey(const struct message *message)
{
	switch (message->command) {
	case FILL:
		return fill(message->argument);
	case CHARGE:
		return umemcg_try_charge(NULL, message->argument);
	case UNCHARGE:
		umemcg_uncharge(NULL, message->argument);
		return 0;
	case ALLOCATE:
		return allocate(message->argument);
	case FREE_ALL:
		return free_all();
	case CHURN:
	case CHURN_ALONE:
		churn(message->argument, message->command == CHURN);
		return 0;
	case PRESS:
		press(message->argument);
		return 0;
	case HAMMER:
		return hammer(message->argument);
	case PAIRS:
		return pairs(message->argument);
	case AUDIT:
		return umemcg_audit(&(struct umemcg_audit){ 0 });
	case FORK:
	case FORK_COPY:
		return fork_and_pause(message->command == FORK_COPY);
	case FORKS_COPY:
		return fork_copies(message->argument);
	case MAKE_GROUP:
		return make_group(message->argument);
	case MAKE_GROUPS:
		for (;;)
			make_group(message->argument);
	case EXEC:
		return become_another();
	case STORM:
		return fork_storm(message->argument);
	case FORK_RATE:
		return fork_rate(message->argument);
	case FORK_CHARGES:
		return fork_and_charge();
	case FORK_DIES:
	case FORK_COPY_DIES:
		return fork_and_wait(message->command == FORK_COPY_DIES);
	case WHIRL:
		return whirl(message->argument);
	case IDLE_THREAD:
		return start_idle_thread();
	default:
		return 0;
	}
}

void workers_main(int argc, char **argv)
{
	struct message message;
	bool is_marked = false;

	if (argc != 2 || (strcmp(argv[1], "worker") && strcmp(argv[1], "another")))
		return;
	if (!strcmp(argv[1], "another"))
		begin_as_another();
	while (read(STDIN_FILENO, &message, sizeof(message)) == sizeof(message)) {
		int64_t answer;

		if (message.command == MAKE_GROUP)
			own_tree();
		if (is_marked)
			raise(MARK_SIGNAL);
		answer = obey(&message);
		if (is_marked)
			raise(MARK_SIGNAL);
		is_marked = message.command == MARK;
		if (is_marked)
			continue;
		if (write(STDOUT_FILENO, &answer, sizeof(answer)) != sizeof(answer))
			break;
	}
	/* As if killed: leaving is dying. */
	_exit(0);
}

static void become(const char *tree, const char *group, int64_t process_max)
{
	char max[32];

	setenv("UMEMCG_TREE", tree, 1);
	setenv("UMEMCG_GROUP", group, 1);
	unsetenv("UMEMCG_PROCESS_MAX");
	if (process_max >= 0) {
		snprintf(max, sizeof(max), "%" PRId64, process_max);
		setenv("UMEMCG_PROCESS_MAX", max, 1);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execl("/proc/self/exe", "worker", "worker", NULL);
	fail("exec");
}

struct worker worker_start(const char *tree, const char *group, int64_t process_max)
{
	struct worker worker;
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		fail("pipe");
	worker.pid = fork();
	if (!worker.pid) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		become(tree, group, process_max);
	}
	if (worker.pid < 0)
		fail("fork");
	close(to[0]);
	close(from[1]);
	worker.to = to[1];
	worker.from = from[0];
	return worker;
}

void worker_send(const struct worker *worker, enum command command, uint64_t argument)
{
	struct message message = { .command = command, .argument = argument };

	if (write(worker->to, &message, sizeof(message)) != sizeof(message))
		fail("write to worker");
}

int64_t worker_answer(const struct worker *worker)
{
	int64_t answer;

	if (read(worker->from, &answer, sizeof(answer)) != sizeof(answer))
		fail("read from worker");
	return answer;
}

bool worker_answers_within(const struct worker *worker, int limit_ms, int64_t *ret_answer)
{
	struct pollfd poll_fd = { .fd = worker->from, .events = POLLIN };

	if (poll(&poll_fd, 1, limit_ms) != 1)
		return false;
	*ret_answer = worker_answer(worker);
	return true;
}

int64_t worker_do(const struct worker *worker, enum command command, uint64_t argument)
{
	worker_send(worker, command, argument);
	return worker_answer(worker);
}

void worker_kill(struct worker *worker)
{
	kill(worker->pid, SIGKILL);
	waitpid(worker->pid, NULL, 0);
	close(worker->to);
	close(worker->from);
}
