/* SPDX-License-Identifier: MIT */
#include "meters/exact/image.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* It lies in the guest's memory twice while the kernel unpacks it. */
#define PROGRAM_BYTES_MAX (128u << 20)

struct image {
	struct archive *archive;
	struct archive_entry *entry;
	int64_t nr_entries; /* an inode number each */
	const char *path;
	char *error;
};

static int complain(const struct image *image, const char *path, int error_code)
{
	snprintf(image->error, IMAGE_ERROR, "%.300s: %s", path, strerror(error_code));
	return -error_code;
}

static int complain_of_archive(const struct image *image)
{
	int error_code = archive_errno(image->archive);

	return complain(image, image->path, error_code > 0 ? error_code : EIO);
}

/* Nothing in an entry comes from the clock or from the files' own attributes. */
static int add(struct image *image, const char *name, mode_t mode, int64_t nr_bytes, dev_t device)
{
	struct archive_entry *entry = archive_entry_clear(image->entry);

	archive_entry_set_pathname(entry, name);
	archive_entry_set_mode(entry, mode);
	archive_entry_set_uid(entry, 0);
	archive_entry_set_gid(entry, 0);
	archive_entry_set_mtime(entry, 0, 0);
	archive_entry_set_ino64(entry, ++image->nr_entries);
	archive_entry_set_nlink(entry, S_ISDIR(mode) ? 2 : 1);
	archive_entry_set_size(entry, nr_bytes);
	if (S_ISCHR(mode))
		archive_entry_set_rdev(entry, device);
	return archive_write_header(image->archive, entry) < ARCHIVE_WARN
		       ? complain_of_archive(image)
		       : 0;
}

/* Exactly the bytes that the header has announced. */
static int copy(struct image *image, int fd, const char *path, int64_t nr_bytes)
{
	char buffer[65536];

	while (nr_bytes > 0) {
		size_t wanted =
			nr_bytes < (int64_t)sizeof(buffer) ? (size_t)nr_bytes : sizeof(buffer);
		ssize_t nr_read = read(fd, buffer, wanted);

		if (nr_read <= 0)
			return complain(image, path, nr_read < 0 ? errno : ENODATA);
		if (archive_write_data(image->archive, buffer, (size_t)nr_read) != nr_read)
			return complain_of_archive(image);
		nr_bytes -= nr_read;
	}
	return 0;
}

static int add_program(struct image *image, const char *name, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	int ret;

	if (fd < 0)
		return complain(image, path, errno);
	if (fstat(fd, &status)) {
		ret = complain(image, path, errno);
	} else if (!S_ISREG(status.st_mode) || status.st_size > PROGRAM_BYTES_MAX) {
		snprintf(image->error, IMAGE_ERROR,
			 "%.300s: a program's file of at most %u MiB is accepted", path,
			 PROGRAM_BYTES_MAX >> 20);
		ret = -EINVAL;
	} else {
		ret = add(image, name, S_IFREG | 0755, status.st_size, 0);
		if (!ret)
			ret = copy(image, fd, path, status.st_size);
	}
	close(fd);
	return ret;
}

static int fill(struct image *image, const char *guest, const char *program)
{
	static const char *const directories[] = { "dev", "proc", "sys", "tmp" };
	int ret = 0;

	for (size_t i = 0; i < sizeof(directories) / sizeof(*directories) && !ret; i++)
		ret = add(image, directories[i], S_IFDIR | 0755, 0, 0);
	/* The kernel opens it for its init before anything can be mounted on /dev. */
	if (!ret)
		ret = add(image, "dev/console", S_IFCHR | 0600, 0, makedev(5, 1));
	if (!ret)
		ret = add_program(image, "init", guest);
	if (!ret && program)
		ret = add_program(image, "program", program);
	return ret;
}

int image_write(const char *path, const char *guest, const char *program, char *error)
{
	struct image image = { .path = path, .error = error };
	int ret;

	image.archive = archive_write_new();
	image.entry = archive_entry_new();
	if (!image.archive || !image.entry) {
		ret = complain(&image, path, ENOMEM);
	} else if (archive_write_set_format_cpio_newc(image.archive) != ARCHIVE_OK ||
		   archive_write_add_filter_none(image.archive) != ARCHIVE_OK ||
		   archive_write_open_filename(image.archive, path) != ARCHIVE_OK) {
		ret = complain_of_archive(&image);
	} else {
		ret = fill(&image, guest, program);
		if (!ret && archive_write_close(image.archive) != ARCHIVE_OK)
			ret = complain_of_archive(&image);
		if (ret)
			unlink(path);
	}
	archive_entry_free(image.entry);
	archive_write_free(image.archive);
	return ret;
}
