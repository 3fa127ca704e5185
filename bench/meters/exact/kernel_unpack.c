/* SPDX-License-Identifier: MIT */
/*
 * A package is an ar archive of which one member, data.tar with some compression, has the files.
 * The inner archive is read out of the outer one as it comes, nothing is kept in between.
 */
#include "meters/exact/kernel_unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "meters/exact/kernels.h"

#define BLOCK_BYTES 65536

/* libarchive's numbers are errno's, but for -1 and what it says of a bad file. */
static int error_of(struct archive *archive)
{
	int error_code = archive_errno(archive);

	return error_code > 0 && error_code != EILSEQ ? -error_code : -EBADMSG;
}

static int complain(const char *path, struct archive *archive, char *error)
{
	const char *text = archive_error_string(archive);

	snprintf(error, KERNEL_ERROR, "%.300s: %.200s", path, text ? text : "cannot be read");
	return error_of(archive);
}

static la_ssize_t read_member(struct archive *inner, void *outer, const void **ret_block)
{
	size_t nr_bytes = 0;
	la_int64_t offset;
	int ret = archive_read_data_block(outer, ret_block, &nr_bytes, &offset);

	if (ret == ARCHIVE_EOF)
		return 0;
	if (ret != ARCHIVE_OK) {
		archive_set_error(inner, archive_errno(outer), "%s",
				  archive_error_string(outer) ? archive_error_string(outer)
							      : "damaged");
		return -1;
	}
	return (la_ssize_t)nr_bytes;
}

/* The name under which a file is kept, or NULL for one that is not. */
static const char *name_to_keep(struct archive_entry *entry, bool *ret_kernel)
{
	const char *path = archive_entry_pathname(entry);

	if (!path || archive_entry_filetype(entry) != AE_IFREG)
		return NULL;
	path += strncmp(path, "./", 2) ? 0 : 2;
	if (strncmp(path, "boot/", 5) || strchr(path + 5, '/') || strlen(path + 5) > NAME_MAX)
		return NULL;
	path += 5;
	*ret_kernel = !strncmp(path, "vmlinuz-", 8);
	return *ret_kernel || !strncmp(path, "config-", 7) ? path : NULL;
}

static int write_file(struct archive *inner, const struct temporary_folder *folder,
		      const char *name, char *error)
{
	int fd = openat(folder->lock_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int ret = fd < 0 ? -errno : 0;

	if (!ret && archive_read_data_into_fd(inner, fd) != ARCHIVE_OK)
		ret = error_of(inner);
	if (fd >= 0 && close(fd) && !ret)
		ret = -errno;
	if (ret)
		snprintf(error, KERNEL_ERROR, "%.300s: %.100s: %s", folder->parent, name,
			 strerror(-ret));
	return ret;
}

static int unpack_files(const char *package, struct archive *inner,
			const struct temporary_folder *folder, char *ret_name, char *error)
{
	struct archive_entry *entry;
	int ret;

	while ((ret = archive_read_next_header(inner, &entry)) == ARCHIVE_OK) {
		bool kernel;
		const char *name = name_to_keep(entry, &kernel);
		char copy[NAME_MAX + 1];

		if (!name)
			continue;
		snprintf(copy, sizeof(copy), "%s", name);
		ret = write_file(inner, folder, copy, error);
		if (ret)
			return ret;
		if (kernel)
			memcpy(ret_name, copy, sizeof(copy));
	}
	return ret == ARCHIVE_EOF ? 0 : complain(package, inner, error);
}

static int unpack_member(const char *package, struct archive *outer,
			 const struct temporary_folder *folder, char *ret_name, char *error)
{
	struct archive *inner = archive_read_new();
	int ret;

	if (!inner)
		return -ENOMEM;
	archive_read_support_filter_all(inner);
	archive_read_support_format_tar(inner);
	ret = archive_read_open(inner, outer, NULL, read_member, NULL) == ARCHIVE_OK
		      ? unpack_files(package, inner, folder, ret_name, error)
		      : complain(package, inner, error);
	archive_read_free(inner);
	return ret;
}

int kernel_unpack(const char *package, const struct temporary_folder *folder, char *ret_name,
		  char *error)
{
	struct archive *outer = archive_read_new();
	struct archive_entry *entry;
	int ret = -ENOMEM;

	snprintf(error, KERNEL_ERROR, "out of memory");
	ret_name[0] = '\0';
	if (outer) {
		archive_read_support_format_ar(outer);
		ret = archive_read_open_filename(outer, package, BLOCK_BYTES) == ARCHIVE_OK
			      ? 0
			      : complain(package, outer, error);
	}
	while (!ret) {
		int next = archive_read_next_header(outer, &entry);
		const char *member = next == ARCHIVE_OK ? archive_entry_pathname(entry) : NULL;

		if (next == ARCHIVE_EOF)
			break;
		if (next != ARCHIVE_OK)
			ret = complain(package, outer, error);
		else if (member && !strncmp(member, "data.tar", 8))
			ret = unpack_member(package, outer, folder, ret_name, error);
	}
	archive_read_free(outer);
	if (!ret && !ret_name[0]) {
		snprintf(error, KERNEL_ERROR, "%.300s: has no /boot/vmlinuz-*", package);
		ret = -ENOENT;
	}
	return ret;
}
