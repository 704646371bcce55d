/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE            /* fopencookie() */
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

#include "driver/sys.h"
#include "file_out.h"

/*
 * Reads the open file fd from its beginning to its end into *data, memory from malloc with one unused
 * byte more than *len, the number of bytes read; the caller has set *len to 0. Returns 0; -EISDIR for a
 * folder; -EMEDIUMTYPE for anything else that is not a regular file; -EFBIG if the file has more than
 * `most` bytes; -EIO if it becomes shorter meanwhile; -ENOMEM; or the negative errno of fstat() or
 * read(), where an interrupted read is repeated. After a failure *data may be set all the same; the
 * caller frees it, and closes fd, in each case.
 */
static int read_open(int fd, uint64_t most, uint8_t **data, size_t *len)
{
	struct stat st;

	/* A folder opens too, and claims to be huge; a pipe or a device has no end to look for. */
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EMEDIUMTYPE;
	if ((uint64_t)st.st_size > most)
		return -EFBIG;
	*data = malloc((size_t)st.st_size + 1);
	if (!*data)
		return -ENOMEM;
	while (*len < (size_t)st.st_size) {
		const ssize_t n = weft_sys.read_fd(fd, *data + *len, (size_t)st.st_size - *len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)                /* 0: it has become shorter meanwhile */
			return n ? -errno : -EIO;
		*len += (size_t)n;
	}
	return 0;
}

const char *weft_file_error(int err)
{
	return err == -EMEDIUMTYPE ? "not a regular file" : err == -ENOMEM ? "out of memory" : strerror(-err);
}

int weft_file_read_open(int fd, uint64_t most, uint8_t **data, size_t *len)
{
	*data = NULL;
	*len = 0;
	const int err = read_open(fd, most, data, len);
	if (err) {
		free(*data);
		*data = NULL;
		*len = 0;
	}
	return err;
}

int weft_file_read(const char *path, uint64_t most, uint8_t **data, size_t *len)
{
	/* O_NONBLOCK, because opening a named pipe would otherwise wait for a writer. */
	const int fd = weft_sys.open_file(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);

	*data = NULL;
	*len = 0;
	if (fd < 0)
		return -errno;
	const int err = weft_file_read_open(fd, most, data, len);
	close(fd);
	return err;
}

/*
 * Creates a new file for writing beside `path` (mode 0666 less the umask), called PATH.<16 random hex
 * digits>.part, so that nobody can have made a file or a link of that name before; of a file name of more than
 * 200 bytes, which would grow beyond what a folder takes, only the first 200 stand there. Writes the name, from
 * malloc, to o->part; the caller frees it, also after a failure. Returns the file descriptor; -ENOMEM;
 * -EIO if there are no random numbers; -EEXIST after 100 names that were taken; or the negative errno of
 * creating it.
 */
static int open_part(const char *path, struct weft_file_out *o)
{
	const char *slash = strrchr(path, '/');
	const size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
	const size_t name = strnlen(path + folder, 200), room = folder + name + 32;
	int fd = -1;

	o->part = malloc(room);
	if (!o->part)
		return -ENOMEM;
	for (int tries = 0; fd < 0 && tries < 100; tries++) {
		uint64_t random;
		if (getrandom(&random, sizeof random, 0) != sizeof random)
			return -EIO;
		snprintf(o->part, room, "%.*s.%016llx.part", (int)(folder + name), path, (unsigned long long)random);
		fd = weft_sys.open_file(o->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			return -errno;
	}
	return fd < 0 ? -EEXIST : fd;
}

/* Where the bytes of a FILE go: a descriptor, and the errno of the first write that failed, 0 if none did. */
struct weft_file_bytes { int fd, err; };

/*
 * The write function of a FILE from fopencookie(): writes all n bytes from `from` to the descriptor of
 * the cookie (struct weft_file_bytes) and repeats interrupted and partial writes. Returns n. If a write
 * fails or takes nothing (EIO), returns 0 with errno set, and notes that errno in the cookie's err unless
 * an earlier one is there.
 */
static ssize_t put(void *cookie, const char *from, size_t n)
{
	struct weft_file_bytes *to = cookie;
	size_t done = 0;

	while (done < n) {
		const ssize_t k = weft_sys.write_fd(to->fd, from + done, n - done);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0) {
			errno = k ? errno : EIO;
			to->err = to->err ? to->err : errno;
			return 0;
		}
		done += (size_t)k;
	}
	return (ssize_t)n;
}

/*
 * Opens what will be written. If `path` does not exist or is a regular file, that is a new file beside
 * it, whose name goes to o->part (open_part); anything else, such as a device or pipe, is itself opened
 * for writing, and o->part stays NULL. Returns the descriptor or a negative errno.
 */
static int open_out(const char *path, struct weft_file_out *o)
{
	struct stat st;

	if (stat(path, &st) || S_ISREG(st.st_mode))
		return open_part(path, o);
	const int fd = weft_sys.open_file(path, O_WRONLY | O_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

/*
 * Closes o->f, which flushes it, and the descriptor below if it is still open; a temporary file with an
 * open descriptor is also deleted. Frees all memory of *o and clears it.
 */
static void forget(struct weft_file_out *o)
{
	if (o->f)
		fclose(o->f);
	if (o->to && o->to->fd >= 0) {
		close(o->to->fd);
		if (o->part)
			unlink(o->part);
	}
	free(o->to);
	free(o->part);
	free(o->path);
	*o = (struct weft_file_out){ 0 };
}

int weft_file_create(const char *path, struct weft_file_out *o)
{
	int err = 0;

	*o = (struct weft_file_out){ .path = strdup(path), .to = malloc(sizeof *o->to) };
	if (o->to)
		o->to->fd = -1;
	if (!o->path || !o->to) {
		forget(o);
		return -ENOMEM;
	}
	*o->to = (struct weft_file_bytes){ .fd = open_out(path, o) };
	if (o->to->fd < 0)
		err = o->to->fd;
	else if (!(o->f = fopencookie(o->to, "w", (cookie_io_functions_t){ .write = put })))
		err = -ENOMEM;
	if (err)
		forget(o);
	return err;
}

int weft_file_put(struct weft_file_out *o, uint64_t at, const void *bytes, size_t n)
{
	if (o->part && lseek(o->to->fd, (off_t)at, SEEK_SET) < 0)
		return -errno;
	return put(o->to, bytes, n) == (ssize_t)n ? 0 : -o->to->err;
}

/*
 * Ends the file that weft_file_create() opened; see file_out.h. What is still buffered is written in any
 * case. If err, the caller's own failure so far, is 0, a temporary file is forced to the disk and renamed
 * to its path; if err is not 0 or a step fails, the temporary file is deleted. The file is closed and *o
 * freed and cleared in any case. Returns err if it is not 0, otherwise the negative errno of the step
 * that failed (-EIO if the write did not say), or 0. Does nothing but return err if *o is empty.
 */
int weft_file_finish(struct weft_file_out *o, int err)
{
	if (!o->f)
		return err;
	if ((fflush(o->f) || ferror(o->f)) && !err)
		err = o->to->err ? -o->to->err : -EIO;
	if (!err && o->part && weft_sys.sync_fd(o->to->fd))
		err = -errno;
	const int fd = o->to->fd;
	fclose(o->f);
	o->f = NULL;
	/* Some file systems say only now that a write failed. */
	if (close(fd) && !err)
		err = -errno;
	o->to->fd = -1;
	if (!err && o->part && weft_sys.move(o->part, o->path))
		err = -errno;
	if (err && o->part)
		unlink(o->part);
	forget(o);
	return err;
}

int weft_file_write_pieces(const char *path, const struct weft_piece *p, int n)
{
	struct weft_file_out o;
	int err = weft_file_create(path, &o);

	if (err)
		return err;
	for (int i = 0; i < n && !err; i++) {
		if (fwrite(p[i].data, 1, p[i].len, o.f) != p[i].len)
			err = o.to->err ? -o.to->err : -EIO;
	}
	return weft_file_finish(&o, err);
}

int weft_file_write(const char *path, const uint8_t *data, size_t len)
{
	return weft_file_write_pieces(path, &(struct weft_piece){ data, len }, 1);
}
