/* SPDX-License-Identifier: MIT */
#include "user/swap_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/system.h"

#define BITS 64u

/* Names that are tried where files without one cannot be made. */
#define NR_NAMES 100u

struct identity {
	dev_t device;
	ino_t inode;
};

static struct swap_file {
	int directory; /* -1: there is no file, and none to be made */
	int fd;        /* -1: to be made, in a child of fork */
	/* What both are known by: programs close descriptors that they did not open. */
	struct identity file_identity, directory_identity;
	/*
	 * The whole file, for pages to be read from when its descriptor is gone. It keeps the
	 * file's number from being given to another one, too.
	 */
	void *mapped;
	size_t page_size;
	uint32_t nr_slots;
	uint32_t nr_taken;
	uint32_t next;      /* where to look for a free slot */
	uint64_t *map;      /* a bit for each slot: taken */
	uint32_t *accounts; /* of taken slots */
} file = { .directory = -1, .fd = -1 };

static int identify(int fd, struct identity *ret_identity)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	*ret_identity = (struct identity){ .device = status.st_dev, .inode = status.st_ino };
	return 0;
}

/* Does the descriptor still name what it did, and not what somebody opened after closing ours? */
static bool is_still(int fd, const struct identity *identity)
{
	struct identity now;

	return !identify(fd, &now) && now.device == identity->device &&
	       now.inode == identity->inode;
}

static int create_named(int directory)
{
	char name[32];

	for (unsigned int i = 0; i < NR_NAMES; i++) {
		int fd;

		snprintf(name, sizeof(name), ".umemcg-swap-%d-%u", (int)getpid(), i);
		fd = system_openat(directory, name,
				   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			unlinkat(directory, name, 0);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

/* In a descriptor, or a negative errno. */
static int create_file(int directory)
{
	int fd = system_openat(directory, ".", O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

	/* Not every file system has files without a name. */
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR))
		fd = create_named(directory);
	return fd < 0 ? -errno : system_move_away(fd);
}

static size_t file_bytes(void)
{
	return file.nr_slots * file.page_size;
}

/* Not for a child: it has another file, or none. */
static void *map_file(int fd)
{
	void *mapped = system_mmap(NULL, file_bytes(), PROT_READ, MAP_SHARED, fd, 0);

	if (mapped == MAP_FAILED)
		return NULL;
	if (system_madvise(mapped, file_bytes(), MADV_DONTFORK)) {
		system_munmap(mapped, file_bytes());
		return NULL;
	}
	return mapped;
}

static int make_file(int directory)
{
	int fd = create_file(directory);
	void *mapped;

	if (fd < 0)
		return fd;
	mapped = identify(fd, &file.file_identity) ? NULL : map_file(fd);
	if (!mapped) {
		system_close(fd);
		return -ENOMEM;
	}
	file.mapped = mapped;
	file.fd = fd;
	return 0;
}

static size_t map_bytes(uint32_t nr_slots)
{
	return ((size_t)nr_slots + BITS - 1) / BITS * sizeof(uint64_t);
}

/* The map, and behind it the accounts: memory comes as slots are taken. */
static int make_map(uint32_t nr_slots)
{
	size_t nr_bytes = map_bytes(nr_slots) + (size_t)nr_slots * sizeof(uint32_t);
	void *memory;

	memory = system_mmap(NULL, nr_bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	file.map = memory;
	file.accounts = (uint32_t *)((char *)memory + map_bytes(nr_slots));
	file.nr_slots = nr_slots;
	file.nr_taken = file.next = 0;
	return 0;
}

static void close_own(void)
{
	if (file.fd >= 0 && is_still(file.fd, &file.file_identity))
		system_close(file.fd);
	if (file.mapped)
		system_munmap(file.mapped, file_bytes());
	file.mapped = NULL;
	file.fd = -1;
}

static void close_file(void)
{
	size_t nr_bytes = map_bytes(file.nr_slots) + (size_t)file.nr_slots * sizeof(uint32_t);

	if (file.map)
		system_munmap(file.map, nr_bytes);
	close_own();
	if (file.directory >= 0 && is_still(file.directory, &file.directory_identity))
		system_close(file.directory);
	file.map = NULL;
	file.accounts = NULL;
	file.nr_slots = 0;
	file.directory = -1;
}

/* Whole slots, as many as may be written: one byte beyond that is a signal, not an error. */
static uint32_t slots_of(uint64_t nr_bytes, size_t page_size)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY)
		nr_bytes = min(nr_bytes, (uint64_t)limit.rlim_cur);
	return min(nr_bytes / page_size, (uint64_t)SWAP_FILE_NONE - 1);
}

/* The one that is there stays until the new one is made. */
static int exchange_file(int folder, uint32_t nr_slots, size_t page_size)
{
	struct swap_file old = file, made;
	int r;

	file = (struct swap_file){ .directory = folder, .fd = -1, .page_size = page_size };
	r = identify(folder, &file.directory_identity);
	if (!r)
		r = make_map(nr_slots);
	if (!r)
		r = make_file(folder);
	made = file;
	if (!r)
		file = old;
	close_file();
	file = r ? old : made;
	return r;
}

int swap_file_set(const char *directory, uint64_t nr_bytes, size_t page_size)
{
	uint32_t nr_slots = slots_of(nr_bytes, page_size);
	int folder;

	if (directory && !nr_slots)
		return -EINVAL;
	if (file.nr_taken)
		return -EBUSY;
	if (!directory) {
		close_file();
		return 0;
	}
	folder = system_openat(AT_FDCWD, directory, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	if (folder < 0)
		return -errno;
	return exchange_file(system_move_away(folder), nr_slots, page_size);
}

bool swap_file_is_there(void)
{
	return file.directory >= 0;
}

/* From @first up to @end; SWAP_FILE_NONE: all are taken. */
static uint32_t find_free(uint32_t first, uint32_t end)
{
	for (uint32_t slot = first; slot < end; slot = (slot / BITS + 1) * BITS) {
		/* What lies before @slot in its word counts as taken. */
		uint64_t taken = file.map[slot / BITS] | (((uint64_t)1 << slot % BITS) - 1);

		if (~taken) {
			uint32_t found = slot / BITS * BITS + __builtin_ctzll(~taken);

			return found < end ? found : SWAP_FILE_NONE;
		}
	}
	return SWAP_FILE_NONE;
}

/* In a child of fork, where the parent's was. */
static int make_again(void)
{
	if (!is_still(file.directory, &file.directory_identity))
		return -ENOENT;
	return make_file(file.directory);
}

uint32_t swap_file_take(uint32_t account)
{
	uint32_t slot;

	if (file.nr_taken == file.nr_slots)
		return SWAP_FILE_NONE;
	if (file.fd < 0 && make_again())
		return SWAP_FILE_NONE;
	slot = find_free(file.next, file.nr_slots);
	if (slot == SWAP_FILE_NONE)
		slot = find_free(0, file.next);
	file.map[slot / BITS] |= (uint64_t)1 << slot % BITS;
	file.accounts[slot] = account;
	file.nr_taken++;
	file.next = slot + 1;
	return slot;
}

uint32_t swap_file_give(uint32_t slot)
{
	file.map[slot / BITS] &= ~((uint64_t)1 << slot % BITS);
	file.nr_taken--;
	return file.accounts[slot];
}

uint32_t swap_file_account(uint32_t slot)
{
	return file.accounts[slot];
}

static int error_of(ssize_t n)
{
	return n < 0 && (errno == ENOSPC || errno == EDQUOT) ? -ENOSPC : -EIO;
}

/* In so many steps as the system likes; a step of 0 bytes is an end where there should be none. */
int swap_file_write(uint32_t slot, const void *page)
{
	off_t start = (off_t)slot * file.page_size;

	if (!is_still(file.fd, &file.file_identity))
		return -EBADF;
	for (size_t done = 0; done < file.page_size;) {
		ssize_t n = system_pwrite(file.fd, (const char *)page + done, file.page_size - done,
					  start + done);

		if (n > 0)
			done += n;
		else if (!n || errno != EINTR)
			return error_of(n);
	}
	return 0;
}

/* Not as long as there is another way: what it touches is resident for a moment. */
static void read_mapped(uint32_t slot, void *page)
{
	char *from = (char *)file.mapped + slot * file.page_size;

	memcpy(page, from, file.page_size);
	system_madvise(from, file.page_size, MADV_DONTNEED);
}

int swap_file_read(uint32_t slot, void *page)
{
	off_t start = (off_t)slot * file.page_size;

	if (!is_still(file.fd, &file.file_identity)) {
		read_mapped(slot, page);
		return 0;
	}
	for (size_t done = 0; done < file.page_size;) {
		ssize_t n = system_pread(file.fd, (char *)page + done, file.page_size - done,
					 start + done);

		if (n > 0)
			done += n;
		else if (!n || errno != EINTR)
			return -EIO;
	}
	return 0;
}

void swap_file_forget(void)
{
	/* Its mapping stayed behind. */
	file.mapped = NULL;
	close_own();
	if (!file.nr_taken)
		return;
	memset(file.map, 0, map_bytes(file.nr_slots));
	file.nr_taken = file.next = 0;
}
