/* SPDX-License-Identifier: Apache-2.0 */
/*
 * External data: the bytes of a tensor in a file beside the model. The model says which file, and
 * is not trusted: the file has to be a regular one in the model's folder or below it
 * (userlib/files/beneath.h). A file is opened once, and what all tensors keep of external files is
 * at most ROOM_FACTOR times the size of these files and ROOM_FIXED more, so that tensors which share
 * a region cannot multiply it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/file.h>

#include "driver/sys.h"
#include "onnx_file.h"
#include "userlib/files/beneath.h"

#define ROOM_FACTOR 8
#define ROOM_FIXED  (1 << 20)
#define MAX_FILES   4096       /* files of one model; descriptors are few */
#define KEPT_OPEN   16

/* A file that a tensor has named. */
struct file { char *name; int fd; dev_t device; ino_t number; int64_t size; };

struct onnx_external {
	struct file *file; int n_files, cap_files;
	int64_t size, kept;        /* bytes of all files; that tensors have kept of them */
};

/* What a tensor says of its data. */
struct place { const char *location; long long offset, length; };

/*
 * Reads location, offset and length (in bytes) of tensor p's external data into *e; other keys are
 * ignored, and the last of equal keys counts. e->location points into p, or is NULL if it is
 * absent; an absent offset is 0, an absent length -1. Returns 0, or -EINVAL with the reason in msg
 * if offset or length is no decimal number, is negative or does not fit a long long.
 */
static int read_keys(const onnx_tensor *p, struct place *e, char *msg, size_t msg_bytes)
{
	*e = (struct place){ .length = -1 };
	for (size_t i = 0; i < p->n_external_data; i++) {
		const char *key = p->external_data[i]->key, *value = p->external_data[i]->value;
		long long *number = NULL;
		char *end = "";

		if (!key || !value)
			continue;
		if (!strcmp(key, "location"))
			e->location = value;
		else if (!strcmp(key, "offset"))
			number = &e->offset;
		else if (!strcmp(key, "length"))
			number = &e->length;
		errno = 0;
		if (number)
			*number = strtoll(value, &end, 10);
		if (*end || (number && (*number < 0 || errno || !*value))) {
			snprintf(msg, msg_bytes, "external data: %s is no number", key);
			return -EINVAL;
		}
	}
	return 0;
}

/*
 * Writes to msg why the external data at this location cannot be had: err is the negative errno of
 * what failed, among them -EXDEV for a path that leaves the model's folder. Returns -ENOMEM if err
 * is that (msg then does not name the location), else -EINVAL.
 */
static int refuse(int err, const char *location, char *msg, size_t msg_bytes)
{
	if (err == -ENOMEM)
		snprintf(msg, msg_bytes, "out of memory");
	else if (err == -EXDEV)
		snprintf(msg, msg_bytes, "external data \"%.60s\" is outside the model's folder", location);
	else
		snprintf(msg, msg_bytes, "external data \"%.60s\": %s", location, weft_file_error(err));
	return err == -ENOMEM ? err : -EINVAL;
}

/*
 * Closes all files that are open but the last KEPT_OPEN of the list. Files stay in the list, with
 * descriptor -1 when they are closed.
 */
static void close_old(struct onnx_external *x)
{
	for (int i = 0; i + KEPT_OPEN < x->n_files; i++)
		if (x->file[i].fd >= 0) {
			close(x->file[i].fd);
			x->file[i].fd = -1;
		}
}

/*
 * Adds the file `name`, which is open as fd, to the list, which from then on owns fd, and closes
 * older ones (close_old()). Its size is added to x->size, unless the list has the same file under
 * another name or the sum would become too large to be multiplied by ROOM_FACTOR. Returns 0, -ENOMEM,
 * -EMFILE if there are MAX_FILES already, or the negative errno of fstat(); fd then stays the caller's.
 */
static int add_file(struct onnx_external *x, const char *name, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (x->n_files == x->cap_files) {
		int cap = x->cap_files ? 2 * x->cap_files : 8;
		struct file *p = x->n_files < MAX_FILES ? realloc(x->file, (size_t)cap * sizeof *p) : NULL;
		if (!p)
			return x->n_files < MAX_FILES ? -ENOMEM : -EMFILE;
		x->file = p;
		x->cap_files = cap;
	}
	bool known = false;
	for (int i = 0; i < x->n_files; i++)
		known |= x->file[i].device == st.st_dev && x->file[i].number == st.st_ino;
	char *copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	x->file[x->n_files++] = (struct file){ copy, fd, st.st_dev, st.st_ino, st.st_size };
	x->size += known || st.st_size > INT64_MAX / ROOM_FACTOR - x->size - ROOM_FIXED ? 0 : st.st_size;
	close_old(x);
	return 0;
}

/*
 * Returns the file with this name, which is opened, and added to the list of f->ext, if it is not
 * yet. The pointer holds until the next call. Returns NULL after a failure, with the negative errno
 * of weft_open_beneath() or add_file() in *err; a success may leave *err as it was.
 */
static struct file *find_file(struct onnx_file *f, const char *name, int *err)
{
	struct onnx_external *x = f->ext;
	struct file *old = NULL;

	for (int i = 0; i < x->n_files && !old; i++)
		if (!strcmp(x->file[i].name, name))
			old = &x->file[i];
	if (old && old->fd >= 0)
		return old;
	const int fd = weft_open_beneath(f->folder, name);
	if (fd < 0) {
		*err = fd;
		return NULL;
	}
	if (old) {
		old->fd = fd;
		return old;
	}
	*err = add_file(x, name, fd);
	if (!*err)
		return &x->file[x->n_files - 1];
	close(fd);
	return NULL;
}

/*
 * Reads n bytes of file fd, from `offset` bytes behind its beginning, into `to`. Returns 0, -EIO if
 * the file ends before them, or the negative errno of the read.
 */
static int read_at(int fd, uint8_t *to, size_t n, int64_t offset)
{
	while (n) {
		ssize_t got = weft_sys.read_at(fd, to, n, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO;
		to += got;
		offset += got;
		n -= (size_t)got;
	}
	return 0;
}

/*
 * Sets *file to the file of place e, opened in the model's folder, and checks that it has `bytes`
 * bytes from e->offset on and that `kept` bytes more may be kept of external files; nothing is read
 * or counted yet. Allocates f->ext if there is none. Returns 0, or -EINVAL or -ENOMEM with one line
 * in msg.
 */
static int find_bytes(struct onnx_file *f, const struct place *e, size_t bytes, size_t kept, struct file **file, char *msg, size_t msg_bytes)
{
	int err = 0;

	if (!f->ext && !(f->ext = calloc(1, sizeof *f->ext)))
		return refuse(-ENOMEM, "", msg, msg_bytes);
	*file = find_file(f, e->location, &err);
	if (!*file)
		return refuse(err, e->location, msg, msg_bytes);
	if ((*file)->size < e->offset || (uint64_t)((*file)->size - e->offset) < bytes) {
		snprintf(msg, msg_bytes, "external data \"%.60s\": %lld bytes, no %zu at %lld", e->location, (long long)(*file)->size, bytes, e->offset);
		return -EINVAL;
	}
	if ((int64_t)kept > ROOM_FACTOR * f->ext->size + ROOM_FIXED - f->ext->kept) {
		snprintf(msg, msg_bytes, "external data: more than %d times the %lld bytes of its files", ROOM_FACTOR, (long long)f->ext->size);
		return -EINVAL;
	}
	return 0;
}

/*
 * Reads tensor p's external data, `bytes` bytes in a file of the model's folder or below, and sets
 * *data to it; the caller frees it, from malloc with one byte more than that. Adds `kept`, the
 * bytes that the import keeps of it, to f->ext->kept, which may be at most 8 times the size of all
 * external files and 1 MB. Returns 0; or, with *data untouched and the reason in msg, -EINVAL if
 * f->folder is NULL, the location is absent or empty, the stated length is not `bytes`, the file
 * cannot be opened or read, lies outside the folder or is too short, or that limit is exceeded, or
 * -ENOMEM.
 */
int onnx_external_read(struct onnx_file *f, const onnx_tensor *p, size_t bytes, size_t kept, void **data, char *msg, size_t msg_bytes)
{
	struct file *file;
	struct place e;
	int err = read_keys(p, &e, msg, msg_bytes);

	if (err)
		return err;
	if (!f->folder || !e.location || !*e.location) {
		snprintf(msg, msg_bytes, f->folder ? "external data without a location" : "external data, but the model does not come from a folder");
		return -EINVAL;
	}
	if (e.length >= 0 && (size_t)e.length != bytes) {
		snprintf(msg, msg_bytes, "external data has %lld bytes, not %zu", e.length, bytes);
		return -EINVAL;
	}
	if ((err = find_bytes(f, &e, bytes, kept, &file, msg, msg_bytes)))
		return err;
	uint8_t *to = malloc(bytes + 1);
	if (!to)
		return refuse(-ENOMEM, "", msg, msg_bytes);
	if ((err = read_at(file->fd, to, bytes, e.offset))) {
		free(to);
		return refuse(err, e.location, msg, msg_bytes);
	}
	f->ext->kept += (int64_t)kept;
	*data = to;
	return 0;
}

/*
 * Closes all files of external data of f, frees their list, and sets f->ext to NULL. Does nothing
 * if there is none.
 */
void onnx_external_close(struct onnx_file *f)
{
	struct onnx_external *x = f->ext;

	for (int i = 0; x && i < x->n_files; i++) {
		if (x->file[i].fd >= 0)
			close(x->file[i].fd);
		free(x->file[i].name);
	}
	if (x)
		free(x->file);
	free(x);
	f->ext = NULL;
}
