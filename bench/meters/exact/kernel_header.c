/* SPDX-License-Identifier: MIT */
#include "meters/exact/kernel_header.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "meters/exact/kernels.h"

#define ACCEPTED "accepted is a bzImage for x86-64, such as /boot/vmlinuz-*"

/* Where the x86 boot protocol has its fields, in bytes from the start of the file. */
#define SETUP_SECTS    0x1f1 /* u8: sectors of the setup code behind the first; 0 means 4 */
#define SYSSIZE        0x1f4 /* u32: what follows them, in paragraphs of 16 bytes */
#define BOOT_FLAG      0x1fe /* u16 */
#define HEADER         0x202 /* "HdrS" */
#define VERSION        0x206 /* u16: of the protocol */
#define KERNEL_VERSION 0x20e /* u16: offset of a string, less 0x200 */
#define LOADFLAGS      0x211 /* u8: bit 0 is set in a bzImage, clear in a zImage */
#define XLOADFLAGS     0x236 /* u16: bit 0 says there is a 64-bit entry point; since 2.12 */
#define HEADER_BYTES   0x268

#define VERSION_WITH_XLOADFLAGS 0x20c
#define SECTOR_BYTES            512
#define PARAGRAPH_BYTES         16

static uint16_t get_16(const unsigned char *header, size_t offset)
{
	uint16_t value;

	memcpy(&value, header + offset, sizeof(value));
	return le16toh(value);
}

static uint32_t get_32(const unsigned char *header, size_t offset)
{
	uint32_t value;

	memcpy(&value, header + offset, sizeof(value));
	return le32toh(value);
}

/* The other thing that a file is, with an article, or NULL for none that is known. */
static const char *other_kind(const unsigned char *start, size_t nr_bytes)
{
	static const struct {
		size_t offset;
		const char *magic;
		size_t nr_bytes;
		const char *kind;
	} kinds[] = {
		{ 0, "\x1f\x8b", 2, "a gzip file (an Image of another machine, or an initramfs)" },
		{ 0,
		  "\xfd"
		  "7zXZ",
		  5, "an xz file" },
		{ 0, "\x28\xb5\x2f\xfd", 4, "a zstd file" },
		{ 0, "!<arch>\n", 8, "a package or archive" },
		{ 0, "070701", 6, "an initramfs" },
		{ 4, "zimg", 4, "a kernel for another machine (an EFI zboot image)" },
		{ 36, "\x18\x28\x6f\x01", 4, "a kernel for 32-bit ARM (a zImage)" },
		{ 56, "ARM\x64", 4, "a kernel for arm64 (an Image)" },
		{ 56, "RSC\x05", 4, "a kernel for RISC-V (an Image)" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (nr_bytes >= kinds[i].offset + kinds[i].nr_bytes &&
		    !memcmp(start + kinds[i].offset, kinds[i].magic, kinds[i].nr_bytes))
			return kinds[i].kind;
	}
	return NULL;
}

static const char *elf_kind_of(const unsigned char *start, size_t nr_bytes)
{
	bool little;
	unsigned int machine;

	if (nr_bytes < 20 || memcmp(start, ELFMAG, SELFMAG))
		return NULL;
	little = start[EI_DATA] == ELFDATA2LSB;
	machine = start[little ? 18 : 19] | (unsigned int)start[little ? 19 : 18] << 8;
	return machine == EM_X86_64 ? "an ELF file (a vmlinux, perhaps)"
				    : "an ELF file for another machine";
}

static int refuse(const char *path, const char *what, char *error)
{
	snprintf(error, KERNEL_ERROR, "%.300s: %s; " ACCEPTED, path, what);
	return -EINVAL;
}

/* The first word of the string in the setup code, as far as it is fit to be printed. */
static void read_release(int fd, const unsigned char *header, char *ret_release, size_t size)
{
	uint16_t offset = get_16(header, KERNEL_VERSION);
	char text[256];
	ssize_t nr_read = offset ? pread(fd, text, sizeof(text), offset + 0x200) : 0;
	size_t length = 0;

	while ((ssize_t)length < nr_read && length < size - 1 && text[length] > ' ' &&
	       text[length] <= '~') {
		ret_release[length] = text[length];
		length++;
	}
	ret_release[length] = '\0';
}

static int check(int fd, const char *path, uint64_t nr_bytes, char *ret_release, size_t size,
		 char *error)
{
	unsigned char header[HEADER_BYTES] = { 0 };
	ssize_t nr_read = pread(fd, header, sizeof(header), 0);
	uint64_t nr_wanted;
	const char *kind;

	if (nr_read < 0) {
		int ret = -errno;

		snprintf(error, KERNEL_ERROR, "%.300s: %s", path, strerror(-ret));
		return ret;
	}
	kind = elf_kind_of(header, (size_t)nr_read);
	kind = kind ? kind : other_kind(header, (size_t)nr_read);
	if (kind)
		return refuse(path, kind, error);
	if (nr_read == 0)
		return refuse(path, "an empty file", error);
	if (get_16(header, BOOT_FLAG) != 0xaa55 || memcmp(header + HEADER, "HdrS", 4))
		return refuse(path, "not a kernel", error);
	if ((size_t)nr_read < sizeof(header))
		return refuse(path, "truncated", error);
	if (get_16(header, VERSION) < VERSION_WITH_XLOADFLAGS || !(header[LOADFLAGS] & 1) ||
	    !(get_16(header, XLOADFLAGS) & 1))
		return refuse(path, "a kernel without 64-bit entry point", error);
	nr_wanted = ((header[SETUP_SECTS] ? header[SETUP_SECTS] : 4) + 1) * SECTOR_BYTES +
		    (uint64_t)get_32(header, SYSSIZE) * PARAGRAPH_BYTES;
	if (nr_bytes < nr_wanted) {
		snprintf(error, KERNEL_ERROR,
			 "%.300s: truncated: %" PRIu64 " bytes of %" PRIu64 " are there; " ACCEPTED,
			 path, nr_bytes, nr_wanted);
		return -EINVAL;
	}
	read_release(fd, header, ret_release, size);
	return 0;
}

int kernel_header_read(const char *path, char *ret_release, size_t size, char *error)
{
	/* Without waiting for a writer, should it be a pipe. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	int ret;

	ret_release[0] = '\0';
	if (fd < 0 || fstat(fd, &status)) {
		ret = -errno;
		snprintf(error, KERNEL_ERROR, "%.300s: %s; " ACCEPTED, path, strerror(-ret));
	} else if (S_ISDIR(status.st_mode)) {
		ret = refuse(path, "a directory", error);
	} else if (!S_ISREG(status.st_mode)) {
		ret = refuse(path, "not a file", error);
	} else {
		ret = check(fd, path, (uint64_t)status.st_size, ret_release, size, error);
	}
	if (fd >= 0)
		close(fd);
	return ret;
}
