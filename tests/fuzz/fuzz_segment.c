/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a segment: whatever other processes have written there, attaching, walking, reading,
 * joining and removing come to an end, and touch nothing beyond it.
 *
 * An input's first byte says what the rest is: odd, the file itself; even, changes to a small sound
 * segment, each two bytes of place (in units of eight bytes), one of length, and so many bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/compiler.h"
#include "runtime_dir.h"
#include "shared/ask.h"
#include "shared/control_files.h"
#include "shared/event.h"
#include "shared/file.h"
#include "shared/format.h"
#include "shared/largest.h"
#include "shared/ring.h"
#include "shared/segment.h"
#include "shared/slot.h"
#include "shared/stall.h"
#include "shared/thread.h"
#include "shared/throttle.h"
#include "shared/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAME "fuzz"

/* Few rows, so that a few bytes reach each. */
static const uint32_t nr_rows[NR_REGIONS] = {
	[REGION_NAMES] = 12, [REGION_PROCESSES] = 12,  [REGION_GROUPS] = 8,
	[REGION_PLACES] = 8, [REGION_THREADS] = 8,     [REGION_IMAGES] = 8,
	[REGION_CHUNKS] = 2, [REGION_CHUNK_HEADS] = 2, [REGION_REPORTS] = 5,
};

static void check(bool holds)
{
	if (!holds)
		abort();
}

static char *begin_sound(int fd, struct segment_header *header)
{
	struct shared_group *root;
	char *bytes;

	check(!format_fill(header, nr_rows));
	check(!ftruncate(fd, (off_t)header->nr_bytes));
	bytes = mmap(NULL, header->nr_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	check(bytes != MAP_FAILED);
	for (unsigned int i = 0; i < NR_REGIONS; i++)
		atomic_store(&header->nr_used[i], nr_rows[i]);
	memcpy(bytes, header, sizeof(*header));
	root = (struct shared_group *)(bytes + header->regions[REGION_GROUPS].first_byte) +
	       SHARED_ROOT;
	atomic_store(&root->state, ROW_LIVE);
	return bytes;
}

/* A place is counted over all regions but those of words, as if they lay close together. */
static char *place_of(char *bytes, const struct segment_header *header, uint64_t place)
{
	if (place < sizeof(*header))
		return bytes + place;
	place -= sizeof(*header);
	for (unsigned int i = 0; i < NR_REGIONS; i++) {
		uint64_t nr_bytes =
			(uint64_t)header->regions[i].row_bytes * header->regions[i].nr_rows;

		if (i == REGION_CHUNKS)
			continue;
		if (place < nr_bytes)
			return bytes + header->regions[i].first_byte + place;
		place -= nr_bytes;
	}
	return NULL;
}

static void change(char *bytes, const struct segment_header *header, const uint8_t *data,
		   size_t size)
{
	while (size > 3) {
		uint64_t place = (data[0] | (uint64_t)data[1] << 8) * 8;
		size_t length = min((size_t)data[2], size - 3);

		for (size_t i = 0; i < length; i++) {
			char *at = place_of(bytes, header, place + i);

			if (at)
				*at = (char)data[3 + i];
		}
		data += 3 + length;
		size -= 3 + length;
	}
}

static void make_file(const uint8_t *data, size_t size)
{
	struct segment_header header;
	char temporary[PATH_MAX], *bytes;
	int fd;

	check(!file_create(true, temporary, &fd));
	if (size && data[0] % 2) {
		check(write(fd, data + 1, size - 1) == (ssize_t)size - 1);
	} else if (size) {
		bytes = begin_sound(fd, &header);
		change(bytes, &header, data + 1, size - 1);
		munmap(bytes, header.nr_bytes);
	}
	check(!file_publish(fd, temporary, NAME));
	close(fd);
}

static void read_files(struct segment *segment, uint32_t group)
{
	struct umemcg_tree_stat stat;
	char text[256];

	for (unsigned int i = 0; control_files_name(i); i++) {
		int length = control_files_read(segment, group, control_files_name(i), text,
						sizeof(text));

		if (!strcmp(control_files_name(i), "memory.reclaim"))
			check(length == -EACCES);
		else
			check(length >= 0 && memchr(text, '\0', sizeof(text)));
	}
	control_files_get_stat(segment, group, &stat);
	check(stat.nr_processes < nr_rows[REGION_PROCESSES]);
}

static void walk(struct segment *segment)
{
	char path[UMEMCG_PATH_MAX] = "/", whole[UMEMCG_PATH_MAX];
	uint32_t nr = 0;

	for (uint32_t group = tree_find(segment, "/"); group; nr++) {
		/* Nothing else changes it meanwhile, so each group comes once. */
		check(nr < nr_rows[REGION_GROUPS]);
		check(tree_is_live(segment, group) && tree_is_below(segment, group, SHARED_ROOT));
		check(tree_path(segment, group, whole, sizeof(whole)) == strlen(path));
		check(!strcmp(whole, path));
		read_files(segment, group);
		group = tree_next(segment, group, "/", path);
	}
}

static void look_at_rows(struct segment *segment)
{
	char path[UMEMCG_PATH_MAX], command[16];
	struct umemcg_report report = { .sequence = 0 };

	for (uint32_t row = 0; row < 16; row++) {
		tree_path(segment, row, path, sizeof(path));
		check(memchr(path, '\0', sizeof(path)));
		largest_command(segment, row, command);
		check(strlen(command) < sizeof(command));
		slot_is_dead(segment, row);
	}
	slot_first_dead(segment, 0);
	slot_find(segment, getpid());
	for (unsigned int i = 0; i < 8 && !ring_wait(segment, report.sequence, 0, &report); i++)
		check(report.nr_consumers <= UMEMCG_NR_CONSUMERS &&
		      memchr(report.text, '\0', sizeof(report.text)) &&
		      memchr(report.group, '\0', sizeof(report.group)));
}

/* Nobody is killed, and a wait above high would be one of seconds. */
static void press(struct segment *segment, uint32_t group)
{
	uint32_t thread = thread_claim(segment, segment->process);

	throttle_group_above(segment, segment->process);
	if (stall_begin(segment, thread))
		stall_end(segment, thread);
	stall_recount(segment);
	event_count(segment, group, SHARED_EVENT_HIGH);
	ask_below(segment, 0, SHARED_ROOT, UINT64_MAX, 0);
	control_files_write(segment, group, "memory.high", "1M");
	thread_free_all(segment, segment->process);
}

static void use(struct segment *segment)
{
	uint32_t group;
	int r;

	if (slot_claim(segment, 0, getpid(), PROCESS_LOOKS, &segment->process))
		return;
	slot_set_live(segment, segment->process);
	/* A process that lives may seem to hold it: that is a second, and no finding. */
	atomic_store(&segment->header->tree_lock, 0);
	r = tree_create(segment, "/new", &group);
	if (!r) {
		check(tree_find(segment, "/new") == group);
		tree_join(segment, segment->process, group);
		ring_refused(segment, segment->process, group, 1);
		press(segment, group);
	}
	walk(segment);
	for (group = 0; group < 10; group++)
		tree_destroy(segment, group);
	slot_free(segment, segment->process);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool has_directory;
	struct segment segment;

	if (!has_directory) {
		runtime_dir_make();
		atexit(runtime_dir_remove);
		has_directory = true;
	}
	make_file(data, size);
	if (!segment_open(&segment, NAME, false)) {
		look_at_rows(&segment);
		walk(&segment);
		use(&segment);
		segment_close(&segment);
	}
	segment_unlink(NAME);
	unlink(runtime_dir_path("umemcg." NAME));
	return 0;
}
