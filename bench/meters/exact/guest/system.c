/* SPDX-License-Identifier: MIT */
/* Making a bare kernel fit to be measured: what init does before and between the blocks. */
#include <fcntl.h>
#include <linux/random.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "meters/exact/guest/block.h"
#include "meters/exact/guest/counting.h"
#include "meters/exact/guest/system.h"
#include "targets/kernel/cgroup_file.h"

/*
 * For the first two minutes the kernel takes fresh entropy every second or more often, whenever
 * somebody wants a random number: some 10^4 instructions that would fall into a fork. Later it does
 * so once a minute. Asleep, the emulator skips that time.
 */
#define SETTLED_S 130

static const struct {
	const char *directory;
	const char *type;
} mounts[] = {
	{ "/proc", "proc" }, { "/sys", "sysfs" },     { "/dev", "devtmpfs" },
	{ "/tmp", "tmpfs" }, { "/dev/shm", "tmpfs" },
};

static const struct {
	const char *path;
	const char *text;
} settings[] = {
	{ "/proc/sys/vm/overcommit_memory", "1" },
	{ "/sys/kernel/mm/transparent_hugepage/enabled", "never" },
	/* What comes round every so often, whatever runs: it would fall into one part or another.
	 */
	{ "/proc/sys/vm/stat_interval", "86400" },
	{ "/proc/sys/vm/compaction_proactiveness", "0" },
	{ "/proc/sys/kernel/watchdog", "0" },
};

static const struct {
	const char *path;
	unsigned int minor;
} devices[] = { { "/dev/null", 3 }, { "/dev/urandom", 9 } };

static void make_devices(void)
{
	int fd;

	for (unsigned int i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		mknod(devices[i].path, S_IFCHR | 0666, makedev(1, devices[i].minor));
	/* A kernel that found no console at its start left these closed. */
	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
}

/* Declares random bits that are none: what counts is that the generator has enough of them. */
static void credit_entropy(void)
{
	struct {
		int nr_bits;
		int nr_bytes;
		char bytes[64];
	} entropy = { .nr_bits = 512, .nr_bytes = 64 };
	int fd = open("/dev/urandom", O_RDWR | O_CLOEXEC);

	memset(entropy.bytes, 0x5a, sizeof(entropy.bytes));
	ioctl(fd, RNDADDENTROPY, &entropy);
	close(fd);
}

static void sleep_until_settled(void)
{
	const struct timespec settled = { .tv_sec = SETTLED_S };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &settled, NULL);
}

void system_start(void)
{
	umask(0);
	for (unsigned int i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		mkdir(mounts[i].directory, 0755);
		mount(mounts[i].type, mounts[i].directory, mounts[i].type, 0, NULL);
	}
	make_devices();
	for (unsigned int i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		cgroup_file_write(settings[i].path, settings[i].text);
	/* For exec_test: see main(). */
	mkdir("/bin", 0755);
	link(BLOCK_SELF, "/bin/true");
	credit_entropy();
	sleep_until_settled();
}

void system_calm(void)
{
	int fd = open("/dev/urandom", O_RDWR | O_CLOEXEC);

	counting_rest();
	ioctl(fd, RNDRESEEDCRNG);
	close(fd);
}

void system_power_off(void)
{
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}
