/* SPDX-License-Identifier: MIT */
/* The guest's user space: an initramfs with one static program as its init, and perhaps another. */
#ifndef BENCH_METERS_EXACT_IMAGE_H
#define BENCH_METERS_EXACT_IMAGE_H

#define IMAGE_ERROR 512

/**
 * image_write - write an initramfs
 * @path:    file to make
 * @guest:   path of the program that becomes /init
 * @program: path of the user's program that becomes /program, or NULL
 * @error:   on failure one line, IMAGE_ERROR bytes
 *
 * The same input gives the same bytes.
 *
 * Return: 0 or a negative errno, and no file is left.
 */
int image_write(const char *path, const char *guest, const char *program, char *error);

/**
 * image_check_program - can this program run where there is nothing else?
 *
 * Return: 0; -EINVAL with a line in @error for what is not a static x86-64 program.
 */
int image_check_program(const char *program, char *error);

#endif
