/* SPDX-License-Identifier: MIT */
/*
 * Kernels to boot: where they are found, what they are, and the addresses of their functions. A
 * kernel's symbols are asked of the kernel itself, in a boot of their own, and kept in the cache
 * ($XDG_CACHE_HOME/umemcg, else ~/.cache/umemcg) under the hash of its file.
 */
#ifndef BENCH_METERS_EXACT_KERNELS_H
#define BENCH_METERS_EXACT_KERNELS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line, and below it what a guest's console said last. */
#define KERNEL_ERROR 2560
#define KERNEL_NAME  64

struct kernel_symbol {
	uint64_t address;
	char *name;
};

struct kernel {
	char name[KERNEL_NAME]; /* as given, else the release, else the file's name */
	char path[PATH_MAX];
	char release[128]; /* "6.1.0-57-cloud-amd64", from the image's header; "" if it has none */
	char hash[65];     /* SHA-256 of the file, in hexadecimal */
	char debug[PATH_MAX];          /* vmlinux with DWARF, or "" */
	bool has_memcg;                /* built with CONFIG_MEMCG: as its symbols say */
	struct kernel_symbol *symbols; /* of its text, sorted by address, one an address */
	size_t nr_symbols;
};

/**
 * kernel_find - where a kernel is when none was named
 *
 * That of the running system in /boot if it can be read, else the newest in /boot, else the newest
 * in the cache. @ret_path has PATH_MAX bytes.
 *
 * Return: 0; -ENOENT with a line in @error that says how to get one.
 */
int kernel_find(char *ret_path, char *error);

/**
 * kernel_open - check a kernel's file
 * @argument:   "PATH" or "NAME=PATH"
 * @ret_kernel: without symbols; for kernel_close()
 * @error:      on failure one line, KERNEL_ERROR bytes
 *
 * Return: 0; -EINVAL for what is no bzImage for x86-64, or a truncated one; the errno of reading
 * it.
 */
int kernel_open(const char *argument, struct kernel *ret_kernel, char *error);

/**
 * kernel_load_symbols - fill in symbols and has_memcg, from the cache or by booting it
 * @image: path of an initramfs
 * @error: after success a warning, or ""
 *
 * Return: 0; a negative errno with a line (and the console's last lines) in @error; -EINTR for a
 * signal.
 */
int kernel_load_symbols(struct kernel *kernel, const char *image, char *error);

/** kernel_forget_symbols - free them; a no-op without any */
void kernel_forget_symbols(struct kernel *kernel);

void kernel_close(struct kernel *kernel);

/**
 * kernel_get - fill the cache from Debian's package
 * @package: "linux-image-cloud-amd64", or another kernel's; a meta-package is followed
 * @yes:     do not ask on the terminal
 *
 * Says on standard error what it does. Needs no privilege: the package is downloaded and unpacked,
 * not installed.
 *
 * Return: 0; -ECANCELED when the answer was no or nobody could be asked; -EINTR for a signal;
 * another negative errno. With a line in @error, and nothing is left of what was downloaded.
 */
int kernel_get(const char *package, bool yes, char *error);

#endif
