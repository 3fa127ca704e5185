/* SPDX-License-Identifier: MIT */
#include "shared/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/report.h"
#include "base/system.h"
#include "charge/pause.h"
#include "shared/death.h"
#include "shared/file.h"
#include "shared/format.h"
#include "shared/slot.h"
#include "shared/stamp.h"

/* Row 0 besides. */
static const uint32_t nr_rows_made[NR_REGIONS] = {
	[REGION_NAMES] = 1 + 1024,
	[REGION_PROCESSES] = 1 + 1024,
	[REGION_GROUPS] = 1 + 4096,
	[REGION_PLACES] = 1 + 4096,
	[REGION_THREADS] = 1 + 65536,
	[REGION_IMAGES] = 1 + 4096,
	[REGION_CHUNKS] = 1 + 16384,
	[REGION_CHUNK_HEADS] = 1 + 16384,
	[REGION_REPORTS] = 1 + SEGMENT_NR_REPORTS,
};

/* Tries to meet a segment that neither goes nor comes at that moment. */
#define NR_ATTEMPTS 4096u

/* A file that is open, and the judgement of it. */
struct found {
	int fd;
	struct stat stat;
	struct segment_header header; /* a copy */
	enum format_verdict verdict;
};

static int map(struct segment *segment, int fd, const struct segment_header *header)
{
	char *bytes =
		system_mmap(NULL, header->nr_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (bytes == MAP_FAILED)
		return -ENOMEM;
	segment->header = (struct segment_header *)bytes;
	segment->nr_bytes = header->nr_bytes;
	for (unsigned int i = 0; i < NR_REGIONS; i++) {
		segment->regions[i] = bytes + header->regions[i].first_byte;
		segment->nr_rows[i] = header->regions[i].nr_rows;
	}
	return 0;
}

/* ---- finding out what a file is ---- */

/* A process that is to name itself, as a child just forked whose parent may be dead by now. */
static pid_t being_born(const struct found *found, pid_t but_for)
{
	const struct segment_region_header *region = &found->header.regions[REGION_PROCESSES];
	struct shared_process rows[16];

	for (uint32_t row = 0; row < region->nr_rows; row += ARRAY_SIZE(rows)) {
		size_t nr = min((size_t)(region->nr_rows - row), ARRAY_SIZE(rows));
		ssize_t length = pread(found->fd, rows, nr * sizeof(rows[0]),
				       (off_t)(region->first_byte + row * sizeof(rows[0])));

		for (size_t i = 0; length > 0 && i < (size_t)length / sizeof(rows[0]); i++) {
			pid_t pid = slot_claimer(&rows[i]);

			if (pid && pid != but_for && !death_of_pid(pid))
				return pid;
		}
	}
	return 0;
}

/* Is there a named one, of another pid? */
static pid_t named(const struct found *found, pid_t but_for)
{
	uint64_t at = found->header.names.first_byte;
	struct process_name names[64];

	for (uint32_t row = 0; row < found->header.names.nr_rows; row += ARRAY_SIZE(names)) {
		size_t nr = min((size_t)(found->header.names.nr_rows - row), ARRAY_SIZE(names));
		ssize_t length = pread(found->fd, names, nr * sizeof(names[0]),
				       (off_t)(at + row * sizeof(names[0])));

		for (size_t i = 0; length > 0 && i < (size_t)length / sizeof(names[0]); i++) {
			/* Relaxed, of a copy; `state` of the header is what orders. */
			uint64_t name = atomic_load_explicit(&names[i].word, memory_order_relaxed);

			if (name && death_pid(name) != but_for && !death_of(name))
				return death_pid(name);
		}
	}
	return 0;
}

/*
 * Is there a living process of another pid? Read, not mapped: a look makes no memory of holes. Who
 * names itself meanwhile has no claim any more, but has its name by then.
 */
static pid_t living(const struct found *found, pid_t but_for)
{
	pid_t pid = found->verdict == FORMAT_OURS ? being_born(found, but_for) : 0;

	return pid ? pid : named(found, but_for);
}

static int judge(struct found *found)
{
	ssize_t length;

	found->verdict = FORMAT_NO_TREE;
	if (fstat(found->fd, &found->stat) || found->stat.st_size < (off_t)FORMAT_HEADER_BYTES)
		return 0;
	length = pread(found->fd, &found->header, sizeof(found->header), 0);
	if (length != (ssize_t)sizeof(found->header))
		return 0;
	return format_judge(&found->header, (uint64_t)found->stat.st_size, &found->verdict);
}

static int find(const char *name, struct found *found)
{
	int r = file_open(name, &found->fd, &found->stat);

	if (r)
		return r;
	r = judge(found);
	if (r)
		close(found->fd);
	return r;
}

/* ---- removing ---- */

static void set_state(struct segment_header *header, enum segment_state state)
{
	/* Seq_cst against slot_set_live(), after which comes a look at this word. */
	atomic_store_explicit(&header->state, state, memory_order_seq_cst);
	atomic_thread_fence(memory_order_seq_cst);
}

/* 0, or -EBUSY if somebody but @but_for lives in it: then it goes on. The file is locked. */
static int kill_header(struct found *found, pid_t but_for)
{
	struct segment_header *header = system_mmap(
		NULL, FORMAT_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, found->fd, 0);
	int r = 0;

	if (header == MAP_FAILED)
		return -ENOMEM;
	/* Twice, so that one in which somebody lives is left in peace. */
	if (!living(found, but_for))
		set_state(header, SEGMENT_DEAD);
	if (living(found, but_for)) {
		set_state(header, SEGMENT_LIVE);
		r = -EBUSY;
	}
	system_munmap(header, FORMAT_HEADER_BYTES);
	return r;
}

static int remove_found(const char *name, struct found *found, pid_t but_for)
{
	int r = file_lock(found->fd);

	if (r)
		return r;
	r = judge(found);
	if (r)
		goto unlock;
	if (found->verdict == FORMAT_NO_TREE)
		r = -EPROTO;
	else if (found->verdict == FORMAT_OTHER_NAMESPACE)
		r = -EXDEV;
	else if (found->verdict != FORMAT_OTHER_BOOT)
		r = kill_header(found, but_for);
	if (!r)
		file_unlink(name, &found->stat);
unlock:
	file_unlock(found->fd);
	return r;
}

int segment_unlink(const char *name)
{
	struct found found;
	int r = file_check_name(name);

	if (!r)
		r = find(name, &found);
	if (r)
		return r;
	r = remove_found(name, &found, getpid());
	close(found.fd);
	return r;
}

/* ---- attaching and making ---- */

/* -EAGAIN: it is gone, or on its way; look again. */
static int attach_found(struct segment *segment, struct found *found, bool creates)
{
	pid_t pid;
	int r;

	switch (found->verdict) {
	case FORMAT_OURS:
		segment->device = found->stat.st_dev;
		segment->inode = found->stat.st_ino;
		return map(segment, found->fd, &found->header);
	case FORMAT_NO_TREE:
		return -EPROTO;
	case FORMAT_OTHER_NAMESPACE:
		return -EXDEV;
	case FORMAT_OTHER_LAYOUT:
		pid = living(found, 0);
		if (pid) {
			report("tree %s is of another layout (%016llx, ours is %016llx), and "
			       "process %d uses it",
			       segment->name, (unsigned long long)found->header.layout_stamp,
			       (unsigned long long)stamp_layout(), pid);
			return -EPROTONOSUPPORT;
		}
		break;
	case FORMAT_OTHER_BOOT:
	case FORMAT_REMOVED:
		break;
	}
	if (!creates && found->verdict != FORMAT_REMOVED)
		return -ENOENT;
	r = remove_found(segment->name, found, 0);
	/* Somebody has come to life in it, or somebody else is about to remove it. */
	return !r || r == -EBUSY ? -EAGAIN : r;
}

static int attach(struct segment *segment, bool creates)
{
	struct found found;
	int r = find(segment->name, &found);

	if (r)
		return r;
	r = attach_found(segment, &found, creates);
	close(found.fd);
	return r;
}

/* Memory for the header and the root; 0 or -ENOMEM. */
static int size_file(int fd, const struct segment_header *header)
{
	static const enum segment_region first[] = { REGION_GROUPS, REGION_PLACES };
	struct rlimit limit;

	/* Else a signal would say that it is too large. */
	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur < header->nr_bytes)
		return -ENOMEM;
	if (ftruncate(fd, (off_t)header->nr_bytes))
		return -ENOMEM;
	/* A file system that cannot promise memory has no bound of its own, as ramfs. */
	if (fallocate(fd, 0, 0, FORMAT_HEADER_BYTES))
		return errno == EOPNOTSUPP ? 0 : -ENOMEM;
	for (unsigned int i = 0; i < ARRAY_SIZE(first); i++) {
		const struct segment_region_header *region = &header->regions[first[i]];

		if (fallocate(fd, 0, (off_t)region->first_byte,
			      (off_t)region->row_bytes * (SHARED_ROOT + 1)))
			return -ENOMEM;
	}
	return 0;
}

static int fill_file(struct segment *segment, int fd)
{
	struct segment_header header;
	struct shared_group *root;
	int r = format_fill(&header, nr_rows_made);

	if (!r)
		r = size_file(fd, &header);
	if (!r)
		r = map(segment, fd, &header);
	if (r)
		return r;
	memcpy(segment->header, &header, sizeof(header));
	root = segment_group(segment, SHARED_ROOT);
	/* Relaxed: nobody else knows the file before it is published. */
	atomic_store_explicit(&root->counter.max, COUNTER_MAX, memory_order_relaxed);
	atomic_store_explicit(&root->high, COUNTER_MAX, memory_order_relaxed);
	atomic_store_explicit(&root->counter.nr_uncharges, 1, memory_order_relaxed);
	atomic_store_explicit(&root->state, ROW_LIVE, memory_order_relaxed);
	atomic_store_explicit(&segment->header->nr_used[REGION_GROUPS], SHARED_ROOT + 1,
			      memory_order_relaxed);
	atomic_store_explicit(&segment->header->nr_used[REGION_PLACES], SHARED_ROOT + 1,
			      memory_order_relaxed);
	return 0;
}

static int create_error(int error)
{
	switch (error) {
	case -ENOSPC:
	case -EDQUOT:
	case -EMFILE:
	case -ENFILE:
		return -ENOMEM;
	case -EACCES:
	case -EROFS:
		return -EPERM;
	default:
		return error;
	}
}

static int create(struct segment *segment)
{
	char temporary[PATH_MAX];
	struct stat stat;
	int fd, r = file_create(true, temporary, &fd);

	if (r)
		return create_error(r);
	r = fstat(fd, &stat) ? -errno : fill_file(segment, fd);
	if (!r) {
		segment->device = stat.st_dev;
		segment->inode = stat.st_ino;
		r = create_error(file_publish(fd, temporary, segment->name));
	}
	if (r)
		file_discard(temporary);
	if (r && segment->header)
		system_munmap(segment->header, segment->nr_bytes);
	segment->header = r ? NULL : segment->header;
	close(fd);
	return r;
}

int segment_open(struct segment *segment, const char *name, bool creates)
{
	int r = file_check_name(name);

	if (r)
		return r;
	memset(segment, 0, sizeof(*segment));
	strcpy(segment->name, name);
	for (unsigned int round = 0; round < NR_ATTEMPTS; round++) {
		r = attach(segment, creates);
		if (r == -ENOENT && creates)
			r = create(segment);
		if (r != -EAGAIN && r != -EEXIST)
			break;
		pause_briefly(round);
	}
	if (r)
		return r;
	pthread_mutex_init(&segment->lock, NULL);
	pthread_mutex_init(&segment->ledger_lock, NULL);
	return 0;
}

void segment_close(struct segment *segment)
{
	system_munmap(segment->header, segment->nr_bytes);
	pthread_mutex_destroy(&segment->lock);
	pthread_mutex_destroy(&segment->ledger_lock);
	segment->header = NULL;
}

bool segment_is_current(const struct segment *segment)
{
	/* Seq_cst against kill_header(): after a row was set live. */
	return atomic_load_explicit(&segment->header->state, memory_order_seq_cst) ==
		       SEGMENT_LIVE &&
	       file_is(segment->name, segment->device, segment->inode);
}

int segment_list(int (*visit)(const char *name, void *arg), void *arg)
{
	return file_walk(visit, arg);
}
