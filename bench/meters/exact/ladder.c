/* SPDX-License-Identifier: MIT */
/* Carrying an exact plan out: its boots, several side by side. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "meters/exact/ladder.h"
#include "meters/exact/ladder_boot.h"
#include "meters/time/clock.h"
#include "progress.h"

/* What a guest takes of this machine's memory: its own, and the emulator's. */
#define GUEST_NR_KB (768ull << 10)
/* How often progress is shown. */
#define LOOK_S 0.5

#define NR_GUESTS_MAX 64

struct ladder {
	struct exact_plan *plan;
	const struct exact_folder *folder;
	/* Guests that run, by slot, and whose they are. */
	struct emulator *emulators[NR_GUESTS_MAX];
	struct exact_boot *boots[NR_GUESTS_MAX];
	size_t nr_slots;
	unsigned int nr_blocks;      /* of all boots */
	unsigned int nr_blocks_over; /* of boots that are over */
	double start_s;
};

static unsigned long long available_nr_kb(void)
{
	unsigned long long nr_kb = 0;
	FILE *file = fopen("/proc/meminfo", "re");
	char line[128];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "MemAvailable: %llu", &nr_kb) == 1)
			break;
	}
	if (file)
		fclose(file);
	return nr_kb;
}

static unsigned int nr_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned int)CPU_COUNT(&set);
}

unsigned int ladder_width(void)
{
	unsigned long long nr_fitting = available_nr_kb() / GUEST_NR_KB;
	unsigned int nr = nr_cpus();

	nr = nr_fitting < nr ? (unsigned int)nr_fitting : nr;
	return nr < 1 ? 1 : nr > NR_GUESTS_MAX ? NR_GUESTS_MAX : nr;
}

/* Processors that others keep busy are shared with them. */
static double slowness(size_t nr_guests)
{
	double load = 0, busy;

	getloadavg(&load, 1);
	busy = (load + (double)nr_guests) / (double)nr_cpus();
	return busy > 1 ? busy : 1;
}

static int boot_failed(struct ladder *ladder, struct exact_boot *boot, const char *error)
{
	char name[96];

	boot->state = BOOT_FAILED;
	exact_boot_name(ladder->plan, boot, name, sizeof(name));
	progress_clear();
	fprintf(stderr, "umemcg bench: %s: %s\n", name, error);
	return skipped_add(&ladder->plan->skipped, name, error);
}

static int start_boot(struct ladder *ladder, size_t slot, struct exact_boot *boot)
{
	char error[EXACT_ERROR] = "";

	if (ladder_boot_start(ladder->plan, ladder->folder, boot, slowness(ladder->nr_slots),
			      &ladder->emulators[slot], error)) {
		ladder->emulators[slot] = NULL;
		ladder->nr_blocks_over += exact_plan_nr_blocks(ladder->plan, boot->target);
		return boot_failed(ladder, boot, error);
	}
	boot->state = BOOT_RUNS;
	ladder->boots[slot] = boot;
	return 0;
}

static struct exact_boot *next_boot(struct exact_plan *plan)
{
	for (size_t b = 0; b < plan->nr_boots; b++) {
		if (plan->boots[b].state == BOOT_WAITS)
			return &plan->boots[b];
	}
	return NULL;
}

/* Fills the free slots; returns 0 or -ENOMEM, and how many guests run. */
static int start_boots(struct ladder *ladder, size_t *ret_nr_running)
{
	size_t nr_running = 0;
	int ret = 0;

	for (size_t slot = 0; slot < ladder->nr_slots && !ret; slot++) {
		struct exact_boot *boot;

		while (!ret && !ladder->emulators[slot] && (boot = next_boot(ladder->plan)))
			ret = start_boot(ladder, slot, boot);
		nr_running += ladder->emulators[slot] != NULL;
	}
	*ret_nr_running = nr_running;
	return ret;
}

/* Counts that may be in the wrong context are shown, but not without a word. */
static void say_doubts(const struct ladder *ladder, size_t slot)
{
	char doubts[EMULATOR_ERROR], name[96];

	emulator_doubts(ladder->emulators[slot], doubts);
	if (!doubts[0])
		return;
	exact_boot_name(ladder->plan, ladder->boots[slot], name, sizeof(name));
	progress_clear();
	fprintf(stderr, "umemcg bench: %s: %s\n", name, doubts);
}

static int end_boot(struct ladder *ladder, size_t slot)
{
	struct exact_boot *boot = ladder->boots[slot];
	char error[EXACT_ERROR] = "";
	int ret;

	ret = ladder_boot_read(ladder->plan, boot, ladder->emulators[slot], error);
	if (!ret)
		say_doubts(ladder, slot);
	emulator_finish(ladder->emulators[slot]);
	ladder->emulators[slot] = NULL;
	ladder->nr_blocks_over += exact_plan_nr_blocks(ladder->plan, boot->target);
	if (ret == -ENOMEM)
		return ret;
	if (ret)
		return boot_failed(ladder, boot, error);
	boot->state = BOOT_DONE;
	return 0;
}

static void show_progress(const struct ladder *ladder)
{
	double elapsed_s = clock_now_s() - ladder->start_s, done = ladder->nr_blocks_over;
	char what[256] = "";
	size_t length = 0;

	for (size_t slot = 0; slot < ladder->nr_slots; slot++) {
		char name[96];

		if (!ladder->emulators[slot])
			continue;
		done += emulator_progress(ladder->emulators[slot]);
		exact_boot_name(ladder->plan, ladder->boots[slot], name, sizeof(name));
		if (length < sizeof(what))
			length += (size_t)snprintf(what + length, sizeof(what) - length, "%s%s",
						   length ? ", " : "", name);
	}
	done = ladder->nr_blocks ? done / ladder->nr_blocks : 0;
	progress_show(done, done > 0 ? elapsed_s / done - elapsed_s : 0, what);
}

static int run(struct ladder *ladder)
{
	size_t nr_running, slot;
	int ret;

	while (!block_interrupted) {
		ret = start_boots(ladder, &nr_running);
		if (ret || !nr_running)
			return ret;
		show_progress(ladder);
		ret = emulator_await(ladder->emulators, ladder->nr_slots, LOOK_S, &slot);
		if (!ret)
			ret = end_boot(ladder, slot);
		if (ret && ret != -EAGAIN && ret != -EINTR)
			return ret;
	}
	return 0;
}

/* What did not come to its end, since there was a signal. */
static int skip_rest(struct ladder *ladder)
{
	int ret = 0;

	for (size_t b = 0; b < ladder->plan->nr_boots && !ret; b++) {
		struct exact_boot *boot = &ladder->plan->boots[b];
		char name[96];

		if (boot->state == BOOT_DONE || boot->state == BOOT_FAILED)
			continue;
		boot->state = BOOT_FAILED;
		ret = skipped_add(&ladder->plan->skipped,
				  exact_boot_name(ladder->plan, boot, name, sizeof(name)),
				  "interrupted");
	}
	return ret;
}

int ladder_run(struct exact_plan *plan, const struct exact_folder *folder,
	       unsigned int nr_side_by_side)
{
	struct ladder ladder = { .plan = plan,
				 .folder = folder,
				 .nr_slots = nr_side_by_side,
				 .start_s = clock_now_s() };
	int ret;

	if (ladder.nr_slots > NR_GUESTS_MAX)
		ladder.nr_slots = NR_GUESTS_MAX;
	for (size_t b = 0; b < plan->nr_boots; b++)
		ladder.nr_blocks += exact_plan_nr_blocks(plan, plan->boots[b].target);
	ret = run(&ladder);
	for (size_t slot = 0; slot < ladder.nr_slots; slot++)
		emulator_finish(ladder.emulators[slot]);
	progress_clear();
	return ret ? ret : skip_rest(&ladder);
}
