/* SPDX-License-Identifier: Apache-2.0 */
#include <weft/file.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/*
 * Reads a file from its beginning into memory from malloc, with one byte of room behind. Fails
 * with -EFBIG if the file has more than most bytes.
 */
static int read_open(FILE *f, uint64_t most, uint8_t **data, size_t *len)
{
	struct stat st;
	long end = -1;

	/* A folder opens too, and claims to be huge. */
	if (!fstat(fileno(f), &st) && S_ISDIR(st.st_mode))
		return -EISDIR;
	if (fseek(f, 0, SEEK_END) || (end = ftell(f)) < 0 || fseek(f, 0, SEEK_SET))
		return -EIO;
	if ((uint64_t)end > most)
		return -EFBIG;
	*data = malloc((size_t)end + 1);
	if (!*data)
		return -ENOMEM;
	*len = fread(*data, 1, (size_t)end, f);
	return *len == (size_t)end ? 0 : -EIO;
}

int weft_file_read(const char *path, uint64_t most, uint8_t **data, size_t *len)
{
	FILE *f = fopen(path, "rb");

	*data = NULL;
	*len = 0;
	if (!f)
		return -errno;
	int err = read_open(f, most, data, len);
	fclose(f);
	if (err) {
		free(*data);
		*data = NULL;
		*len = 0;
	}
	return err;
}

/*
 * Writes n pieces one after another into a file that is created or emptied first. Returns 0 or a
 * negative errno.
 */
static int write_to(const char *path, const struct weft_piece *p, int n)
{
	FILE *f = fopen(path, "wb");
	int err = 0;

	if (!f)
		return -errno;
	for (int i = 0; i < n && !err; i++)
		err = fwrite(p[i].data, 1, p[i].len, f) == p[i].len ? 0 : -errno;
	if (fclose(f) && !err)
		err = -errno;
	return err;
}

/*
 * Writes n pieces as one file, first beside it and then renamed, so that the file is whole or not
 * there. What is no regular file (a pipe, /dev/stdout) is written directly.
 */
int weft_file_write_pieces(const char *path, const struct weft_piece *p, int n)
{
	struct stat st;
	char part[4096];

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return write_to(path, p, n);
	if ((size_t)snprintf(part, sizeof part, "%s.part", path) >= sizeof part)
		return -ENAMETOOLONG;
	int err = write_to(part, p, n);
	if (!err && rename(part, path))
		err = -errno;
	if (err)
		remove(part);
	return err;
}

int weft_file_write(const char *path, const uint8_t *data, size_t len)
{
	return weft_file_write_pieces(path, &(struct weft_piece){ data, len }, 1);
}
