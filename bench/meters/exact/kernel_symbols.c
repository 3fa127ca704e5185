/* SPDX-License-Identifier: MIT */
/* The addresses of a kernel's functions, as the kernel itself tells them in a boot of its own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "meters/exact/emulator.h"
#include "meters/exact/job.h"
#include "meters/exact/kernel_cache.h"
#include "meters/exact/kernels.h"

/* A boot takes a few seconds; this is for a machine that is busy or is itself emulated. */
#define BOOT_TIMEOUT_S 180
#define LOOK_S         60

_Static_assert(KERNEL_ERROR >= EMULATOR_ERROR + 400,
	       "a kernel's name before an emulator's message");

static int await(struct emulator *emulator)
{
	size_t index;
	int ret;

	do
		ret = emulator_await(&emulator, 1, LOOK_S, &index);
	while (ret == -EAGAIN);
	return ret;
}

static int boot(const struct kernel *kernel, const char *image, char **ret_text, char *error)
{
	char *job = job_format(&(struct guest_job){ .symbols = true });
	struct emulator_boot request = {
		.kernel = kernel->path, .image = image, .job = job, .timeout_s = BOOT_TIMEOUT_S
	};
	struct emulator *emulator = NULL;
	const char *counts;
	int ret = -ENOMEM;

	*ret_text = NULL;
	snprintf(error, EMULATOR_ERROR, "out of memory");
	if (job)
		ret = emulator_start(&request, &emulator, error);
	free(job);
	if (ret)
		return ret;
	ret = await(emulator);
	if (ret)
		snprintf(error, EMULATOR_ERROR, "%s",
			 ret == -EINTR ? "interrupted" : strerror(-ret));
	else
		ret = emulator_result(emulator, ret_text, &counts, error);
	emulator_finish(emulator);
	return ret;
}

/* By address; at one address as they came, that is as they lie in one array. */
static int by_address(const void *left, const void *right)
{
	const struct guest_symbol *a = *(struct guest_symbol *const *)left;
	const struct guest_symbol *b = *(struct guest_symbol *const *)right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Takes the names over: the first one of each address. One without address is kept secret. */
static int take_symbols(struct guest_answer *answer, struct kernel *kernel)
{
	struct kernel_symbol *symbols = calloc(answer->nr_symbols + 1, sizeof(*symbols));
	struct guest_symbol **order = calloc(answer->nr_symbols + 1, sizeof(*order));
	size_t nr = 0;

	if (!symbols || !order) {
		free(symbols);
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < answer->nr_symbols; i++)
		order[i] = &answer->symbols[i];
	qsort(order, answer->nr_symbols, sizeof(*order), by_address);
	for (size_t i = 0; i < answer->nr_symbols; i++) {
		if (!order[i]->address || (nr && symbols[nr - 1].address == order[i]->address))
			continue;
		symbols[nr].address = order[i]->address;
		symbols[nr++].name = order[i]->name;
		order[i]->name = NULL;
	}
	free(order);
	kernel->symbols = symbols;
	kernel->nr_symbols = nr;
	return 0;
}

static int parse(char *text, struct kernel *kernel, char *error)
{
	struct guest_answer *answer = NULL;
	int ret = text ? answer_parse(text, &answer) : -ENODATA;

	if (ret) {
		snprintf(error, EMULATOR_ERROR, "what the guest said cannot be understood: %s",
			 strerror(-ret));
	} else if (answer->error[0]) {
		snprintf(error, EMULATOR_ERROR, "%s", answer->error);
		ret = -EIO;
	} else {
		ret = take_symbols(answer, kernel);
		if (ret)
			snprintf(error, EMULATOR_ERROR, "out of memory");
		if (!ret && !kernel->release[0])
			snprintf(kernel->release, sizeof(kernel->release), "%s", answer->kernel);
	}
	answer_destroy(answer);
	if (!ret && !kernel->nr_symbols) {
		snprintf(error, EMULATOR_ERROR, "it has no table of its symbols (CONFIG_KALLSYMS)");
		ret = -ENODATA;
	}
	return ret;
}

/* Functions of the controller: the first is known to its file alone, the other to all. */
static bool has_memcg(const struct kernel *kernel)
{
	for (size_t i = 0; i < kernel->nr_symbols; i++) {
		const char *name = kernel->symbols[i].name;

		if (!strcmp(name, "mem_cgroup_css_alloc") || !strcmp(name, "mem_cgroup_from_task"))
			return true;
	}
	return false;
}

int kernel_load_symbols(struct kernel *kernel, const char *image, char *error)
{
	char why[KERNEL_ERROR];
	char *text;
	int ret = kernel_cache_read_symbols(kernel);

	error[0] = '\0';
	if (ret == -ENOENT) {
		ret = boot(kernel, image, &text, why);
		if (!ret)
			ret = parse(text, kernel, why);
		free(text);
		/* Only time is lost if they cannot be kept. */
		if (!ret && kernel_cache_write_symbols(kernel, why))
			snprintf(error, KERNEL_ERROR,
				 "the symbols of %.100s are not kept for the next run: %.400s",
				 kernel->name, why);
	} else if (ret) {
		snprintf(why, sizeof(why), "%s", strerror(-ret));
	}
	if (ret)
		snprintf(error, KERNEL_ERROR, "kernel %.300s: %.*s", kernel->path, EMULATOR_ERROR,
			 why);
	else
		kernel->has_memcg = has_memcg(kernel);
	return ret;
}
