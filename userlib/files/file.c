/* SPDX-License-Identifier: Apache-2.0 */
#include <weft/file.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_out.h"

/*
 * Reads an open regular file from its beginning to its end into memory from malloc, which has one
 * unused byte more than *len, the number of bytes read. Returns 0; -EISDIR for a folder; -EMEDIUMTYPE
 * for anything else that is not a regular file; -EFBIG if the file has more than `most` bytes; -EIO;
 * -ENOMEM; or the errno of fstat(). After a failure *data may be set all the same, and the caller frees
 * it.
 */
static int read_open(FILE *f, uint64_t most, uint8_t **data, size_t *len)
{
	struct stat st;
	long end = -1;

	/* A folder opens too, and claims to be huge; a pipe or a device has no end to look for. */
	if (fstat(fileno(f), &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EMEDIUMTYPE;
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

const char *weft_file_error(int err)
{
	return err == -EMEDIUMTYPE ? "not a regular file" : strerror(-err);
}

int weft_file_read(const char *path, uint64_t most, uint8_t **data, size_t *len)
{
	/* O_NONBLOCK, because opening a named pipe would otherwise wait for a writer. */
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "rb");

	*data = NULL;
	*len = 0;
	if (!f) {
		const int err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
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
 * Creates a new file for writing beside `path`, called PATH.<16 random hex digits>.part, so that nobody
 * can have made a file or a link of that name before. Writes the name, from malloc, to o->part; the
 * caller frees it, also after a failure. Returns the file descriptor or a negative errno (-EEXIST after
 * 100 names that were taken).
 */
static int open_part(const char *path, struct weft_file_out *o)
{
	const size_t room = strlen(path) + 32;
	int fd = -1;

	o->part = malloc(room);
	if (!o->part)
		return -ENOMEM;
	for (int tries = 0; fd < 0 && tries < 100; tries++) {
		uint64_t random;
		if (getrandom(&random, sizeof random, 0) != sizeof random)
			return -EIO;
		snprintf(o->part, room, "%s.%016llx.part", path, (unsigned long long)random);
		fd = open(o->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			return -errno;
	}
	return fd < 0 ? -EEXIST : fd;
}

int weft_file_create(const char *path, struct weft_file_out *o)
{
	struct stat st;

	*o = (struct weft_file_out){ .path = strdup(path) };
	if (!o->path)
		return -ENOMEM;
	const bool direct = !stat(path, &st) && !S_ISREG(st.st_mode);
	int fd = direct ? open(path, O_WRONLY | O_CLOEXEC) : open_part(path, o), err = fd < 0 ? direct ? -errno : fd : 0;
	o->f = fd < 0 ? NULL : fdopen(fd, "w");
	if (fd >= 0 && !o->f) {
		err = -errno;
		close(fd);
		if (o->part)
			unlink(o->part);
	}
	if (err) {
		free(o->part);
		free(o->path);
		*o = (struct weft_file_out){ 0 };
	}
	return err;
}

/*
 * Ends the file that weft_file_create() opened; see file_out.h. If err, the caller's own failure so
 * far, is 0, the bytes are flushed and a temporary file is forced to the disk and renamed to its path;
 * if err is not 0 or a step fails, the temporary file is deleted. The file is closed and *o freed and
 * cleared in any case. Returns err if it is not 0, otherwise the negative errno of the step that
 * failed, or 0. Does nothing but return err if *o is empty.
 */
int weft_file_finish(struct weft_file_out *o, int err)
{
	if (!o->f)
		return err;
	errno = 0;
	if ((fflush(o->f) || ferror(o->f)) && !err)
		err = errno ? -errno : -EIO;
	if (!err && o->part && fsync(fileno(o->f)))
		err = -errno;
	if (fclose(o->f) && !err)
		err = errno ? -errno : -EIO;
	if (!err && o->part && rename(o->part, o->path))
		err = -errno;
	if (err && o->part)
		unlink(o->part);
	free(o->part);
	free(o->path);
	*o = (struct weft_file_out){ 0 };
	return err;
}

int weft_file_write_pieces(const char *path, const struct weft_piece *p, int n)
{
	struct weft_file_out o;
	int err = weft_file_create(path, &o);

	if (err)
		return err;
	for (int i = 0; i < n && !err; i++) {
		errno = 0;
		if (fwrite(p[i].data, 1, p[i].len, o.f) != p[i].len)
			err = errno ? -errno : -EIO;
	}
	return weft_file_finish(&o, err);
}

int weft_file_write(const char *path, const uint8_t *data, size_t len)
{
	return weft_file_write_pieces(path, &(struct weft_piece){ data, len }, 1);
}
