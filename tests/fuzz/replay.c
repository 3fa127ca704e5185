/* SPDX-License-Identifier: MIT */
/*
 * Gives each file of a folder to a fuzz target, so that the inputs worth keeping are tests in every
 * build, also of compilers without libFuzzer.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nr_bytes);

/* Reads @path in a buffer of exactly its size, so that a sanitizer sees each byte beyond it. */
static int replay(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data;
	long nr_bytes;

	if (!file || fseek(file, 0, SEEK_END) < 0)
		return -errno;
	nr_bytes = ftell(file);
	rewind(file);
	data = malloc(nr_bytes > 0 ? (size_t)nr_bytes : 1);
	if (!data || fread(data, 1, (size_t)nr_bytes, file) != (size_t)nr_bytes)
		return -EIO;
	fclose(file);
	LLVMFuzzerTestOneInput(data, (size_t)nr_bytes);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int nr_inputs = 0;
	struct dirent *entry;
	DIR *folder;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	folder = opendir(argv[1]);
	if (!folder) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	/* An empty input is the one that targets forget most often. */
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	while ((entry = readdir(folder))) {
		char path[PATH_MAX];
		int error;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
		error = replay(path);
		if (error < 0) {
			fprintf(stderr, "%s: %s\n", path, strerror(-error));
			return 1;
		}
		nr_inputs++;
	}
	closedir(folder);
	if (nr_inputs == 0) {
		fprintf(stderr, "%s: no inputs\n", argv[1]);
		return 1;
	}
	printf("%u inputs\n", nr_inputs);
	return 0;
}
