/* SPDX-License-Identifier: MIT */
#include "meters/exact/kernel_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "meters/exact/words.h"
#include "write_all.h"

#define FIRST_LINE "umemcg-symbols 1\n"

int kernel_cache_path(char *ret_path)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int length;

	/* Relative paths are no directories of these, the specification says. */
	if (cache && cache[0] == '/')
		length = snprintf(ret_path, PATH_MAX, "%s/umemcg", cache);
	else if (home && home[0] == '/')
		length = snprintf(ret_path, PATH_MAX, "%s/.cache/umemcg", home);
	else
		return -ENOENT;
	return length < PATH_MAX ? 0 : -ENOENT;
}

int kernel_cache_create(char *ret_path, char *error)
{
	char path[PATH_MAX];
	struct stat status;
	int ret = kernel_cache_path(path);

	if (ret) {
		snprintf(error, KERNEL_ERROR,
			 "no cache directory: neither XDG_CACHE_HOME nor HOME "
			 "names an absolute path");
		return ret;
	}
	for (char *slash = path; slash; *slash = '/') {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		ret = mkdir(path, 0700) ? -errno : 0;
		/* Whatever was said, what is there need not be made. */
		if (ret && !stat(path, &status))
			ret = 0;
		if (ret)
			break;
		if (!slash)
			break;
	}
	if (!ret && (stat(path, &status) || !S_ISDIR(status.st_mode)))
		ret = -ENOTDIR;
	if (!ret && access(path, W_OK | X_OK))
		ret = -errno;
	if (ret)
		snprintf(error, KERNEL_ERROR, "cache directory %.300s: %s", path, strerror(-ret));
	else
		memcpy(ret_path, path, sizeof(path));
	return ret;
}

static int symbols_path(const char *folder, const struct kernel *kernel, char *ret_path)
{
	return snprintf(ret_path, PATH_MAX, "%s/symbols-%s", folder, kernel->hash) < PATH_MAX
		       ? 0
		       : -ENOENT;
}

/* In hexadecimal. */
static void hash_text(const char *text, size_t length, char *ret_hash)
{
	SHA256Data((const uint8_t *)text, length, ret_hash);
}

static char *read_text(const char *path, size_t *ret_length)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	size_t length = 0;
	char *text = NULL;

	if (fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode))
		text = malloc((size_t)status.st_size + 1);
	while (text && length < (size_t)status.st_size) {
		ssize_t nr_read = read(fd, text + length, (size_t)status.st_size - length);

		if (nr_read <= 0)
			break;
		length += (size_t)nr_read;
	}
	if (text)
		text[length] = '\0';
	if (fd >= 0)
		close(fd);
	*ret_length = length;
	return text;
}

/* Cuts the last line off a text that is as it was written. */
static bool is_intact(char *text, size_t length)
{
	char hash[SHA256_DIGEST_STRING_LENGTH];
	size_t nr_last = strlen("end ") + sizeof(hash) - 1 + 1;
	char *last;

	if (length < strlen(FIRST_LINE) + nr_last || strncmp(text, FIRST_LINE, strlen(FIRST_LINE)))
		return false;
	last = text + length - nr_last;
	hash_text(text, length - nr_last, hash);
	if (last[-1] != '\n' || strncmp(last, "end ", 4) ||
	    strncmp(last + 4, hash, sizeof(hash) - 1) || text[length - 1] != '\n')
		return false;
	*last = '\0';
	return true;
}

/* "ADDRESS NAME" lines; the text is cut up. */
static int parse_symbols(char *text, struct kernel *kernel)
{
	char *line;

	while ((line = words_take_line(&text))) {
		struct kernel_symbol symbol, *symbols;

		if (!words_take_address(&line, &symbol.address) || !*line)
			return -ENOENT;
		symbols = array_grown(kernel->symbols, kernel->nr_symbols, sizeof(*symbols));
		if (!symbols)
			return -ENOMEM;
		kernel->symbols = symbols;
		symbol.name = strdup(line);
		if (!symbol.name)
			return -ENOMEM;
		symbols[kernel->nr_symbols++] = symbol;
	}
	return kernel->nr_symbols ? 0 : -ENOENT;
}

int kernel_cache_read_symbols(struct kernel *kernel)
{
	char folder[PATH_MAX], path[PATH_MAX];
	char *text, *symbols;
	size_t length;
	int ret = -ENOENT;

	if (kernel_cache_path(folder) || symbols_path(folder, kernel, path))
		return -ENOENT;
	text = read_text(path, &length);
	if (!text)
		return -ENOENT;
	if (is_intact(text, length) && !strncmp(text + strlen(FIRST_LINE), "release ", 8)) {
		char *release = text + strlen(FIRST_LINE) + 8;

		symbols = release + strcspn(release, "\n");
		ret = *symbols ? parse_symbols(symbols + 1, kernel) : -ENOENT;
		if (!ret && !kernel->release[0])
			snprintf(kernel->release, sizeof(kernel->release), "%.*s",
				 (int)(symbols - release), release);
	}
	if (ret)
		kernel_forget_symbols(kernel);
	free(text);
	return ret;
}

static int format(const struct kernel *kernel, char **ret_text, size_t *ret_length)
{
	char hash[SHA256_DIGEST_STRING_LENGTH];
	FILE *stream = open_memstream(ret_text, ret_length);

	if (!stream)
		return -ENOMEM;
	fprintf(stream, FIRST_LINE "release %s\n", kernel->release);
	for (size_t i = 0; i < kernel->nr_symbols; i++)
		fprintf(stream, "%016" PRIx64 " %s\n", kernel->symbols[i].address,
			kernel->symbols[i].name);
	if (fflush(stream)) {
		fclose(stream);
		return -ENOMEM;
	}
	hash_text(*ret_text, *ret_length, hash);
	fprintf(stream, "end %s\n", hash);
	return fclose(stream) ? -ENOMEM : 0;
}

/* Beside it and renamed: a reader finds a whole file or none. */
static int replace(const char *path, const char *text, size_t length)
{
	char beside[PATH_MAX];
	int fd, ret;

	if (snprintf(beside, sizeof(beside), "%s.XXXXXX", path) >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write_all(fd, text, length);
	if (close(fd) && !ret)
		ret = -errno;
	if (!ret && rename(beside, path))
		ret = -errno;
	if (ret)
		unlink(beside);
	return ret;
}

int kernel_cache_write_symbols(const struct kernel *kernel, char *error)
{
	char folder[PATH_MAX], path[PATH_MAX], *text = NULL;
	size_t length;
	int ret = kernel_cache_create(folder, error);

	if (ret)
		return ret;
	ret = symbols_path(folder, kernel, path);
	ret = ret ? ret : format(kernel, &text, &length);
	ret = ret ? ret : replace(path, text, length);
	free(text);
	if (ret)
		snprintf(error, KERNEL_ERROR, "cache directory %.300s: %s", folder, strerror(-ret));
	return ret;
}
