/* SPDX-License-Identifier: MIT */
/* A program that makes the kernel of a guest panic, and no other one. */
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every guest's kernel is given this, and hardly any other. */
#define OF_GUESTS "cryptomgr.notests"

int main(void)
{
	char text[4096] = "";
	int fd;

	mkdir("/kernel", 0700);
	if (mount("proc", "/kernel", "proc", 0, NULL))
		return 2;
	fd = open("/kernel/cmdline", O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0 || !strstr(text, OF_GUESTS)) {
		umount("/kernel");
		return 3;
	}
	fd = open("/kernel/sysrq-trigger", O_WRONLY);
	if (fd < 0 || write(fd, "c", 1) != 1)
		return 4;
	pause();
	return 5;
}
