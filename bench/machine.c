/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine a run is made on, and whether others used it meanwhile. */
#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <umemcg.h>

#include "machine.h"
#include "meters/time/clock.h"
#include "targets/kernel/cgroup_file.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* One line of a file, or "" if it cannot be read; what could steer a terminal is left out. */
static void read_line(const char *path, char *text, size_t size)
{
	size_t kept = 0;

	if (cgroup_file_read(path, text, size) < 0)
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	for (size_t i = 0; text[i]; i++) {
		if (isprint((unsigned char)text[i]))
			text[kept++] = text[i];
	}
	text[kept] = '\0';
}

static void read_cpu(char *text, size_t size)
{
	char *line = NULL;
	size_t length = 0;
	FILE *file = fopen("/proc/cpuinfo", "re");

	text[0] = '\0';
	while (file && !text[0] && getline(&line, &length, file) > 0) {
		char *value = strchr(line, ':');

		if (strncmp(line, "model name", 10) || !value)
			continue;
		value[strcspn(value, "\n")] = '\0';
		snprintf(text, size, "%s", value + 2);
	}
	free(line);
	if (file)
		fclose(file);
}

/* "always [madvise] never": the word in brackets. */
static void read_thp(char *text, size_t size)
{
	char line[128], *word;

	read_line("/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof(line));
	word = strchr(line, '[');
	if (word)
		word[strcspn(word, "]")] = '\0';
	snprintf(text, size, "%s", word ? word + 1 : "");
}

static void read_cpus(struct machine *machine)
{
	size_t length = 0;
	cpu_set_t set;

	machine->cpus[0] = '\0';
	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE && length + 8 < sizeof(machine->cpus); cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		length += (size_t)snprintf(machine->cpus + length, sizeof(machine->cpus) - length,
					   "%s%d", length ? "," : "", cpu);
		machine->nr_cpus++;
	}
}

/* A kernel built without the controller does not name it. */
static const char *config_memcg(void)
{
	char text[2048];

	if (cgroup_file_read("/proc/cgroups", text, sizeof(text)) < 0)
		return "";
	return strstr(text, "\nmemory\t") ? "y" : "n";
}

void machine_read(struct machine *machine, const struct cgroup *cgroup)
{
	struct bench_environment *environment = &machine->environment;
	struct utsname name;
	struct sysinfo info;
	double load = 0;
	time_t now = time(NULL);
	struct tm utc;

	memset(machine, 0, sizeof(*machine));
	uname(&name);
	sysinfo(&info);
	getloadavg(&load, 1);
	snprintf(machine->kernel, sizeof(machine->kernel), "%s", name.release);
	read_line("/proc/cmdline", machine->command_line, sizeof(machine->command_line));
	read_cpu(machine->cpu, sizeof(machine->cpu));
	read_thp(machine->thp, sizeof(machine->thp));
	read_line("/proc/sys/kernel/randomize_va_space", machine->aslr, sizeof(machine->aslr));
	read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", machine->governor,
		  sizeof(machine->governor));
	read_cpus(machine);
	snprintf(machine->pinning, sizeof(machine->pinning),
		 "worker n on CPU number n, modulo %u, of %s", machine->nr_cpus, machine->cpus);
	snprintf(machine->warm_up, sizeof(machine->warm_up),
		 "a tenth of a block's operations, in each block");
	strftime(machine->started, sizeof(machine->started), "%Y-%m-%dT%H:%M:%SZ",
		 gmtime_r(&now, &utc));
	*environment = (struct bench_environment){
		.kernel = machine->kernel,
		.command_line = machine->command_line,
		.config_memcg = config_memcg(),
		.cpu = machine->cpu,
		.cpus = machine->nr_cpus,
		.memory_bytes = (uint64_t)info.totalram * info.mem_unit,
		.thp = machine->thp,
		.cgroup = cgroup_version_name(cgroup->version),
		.compiler = COMPILER,
		.umemcg_version = umemcg_version(),
		.started = machine->started,
		.load = load,
		.aslr = machine->aslr,
		.governor = machine->governor,
		.pinning = machine->pinning,
		.warm_up = machine->warm_up,
	};
}

static double usage_s(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

struct machine_use machine_use(void)
{
	unsigned long long user = 0, nice = 0, system = 0, idle, wait, irq = 0, softirq = 0,
			   steal = 0;
	struct machine_use use = { .own_s = usage_s(RUSAGE_SELF) + usage_s(RUSAGE_CHILDREN),
				   .clock_s = clock_now_s() };
	char text[256];

	if (cgroup_file_read("/proc/stat", text, sizeof(text)) < 0)
		return use;
	sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle,
	       &wait, &irq, &softirq, &steal);
	use.busy_s = (double)(user + nice + system + irq + softirq + steal) /
		     (double)sysconf(_SC_CLK_TCK);
	return use;
}

double machine_others(const struct machine_use *start, const struct machine_use *end)
{
	double busy_s = end->busy_s - start->busy_s, own_s = end->own_s - start->own_s;
	double all_s = (end->clock_s - start->clock_s) * (double)sysconf(_SC_NPROCESSORS_ONLN);

	if (all_s <= 0 || busy_s <= own_s)
		return 0;
	return busy_s - own_s < all_s ? (busy_s - own_s) / all_s : 1;
}
