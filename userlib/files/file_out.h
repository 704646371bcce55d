/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is being written. The bytes go to a temporary file in the same folder, which is renamed
 * to the wanted path when all of them are on the disk; if anything fails, an older file of that
 * path stays as it was. If something that is not a regular file (a device, a pipe) has that path, it is
 * not replaced: the bytes are written to it directly.
 */
#ifndef WEFT_FILES_FILE_OUT_H
#define WEFT_FILES_FILE_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/api.h>

struct weft_file_out {
	FILE *f;                   /* the caller writes here; NULL if nothing is open */
	struct weft_file_bytes *to;   /* the file behind it; owned */
	char *path, *part;         /* where the file will be, and the temporary file (NULL: path itself is written to); owned */
};

/*
 * Opens a file that shall become `path`: a new temporary file beside it, or path itself if what is
 * there is not a regular file. Fills *o, whose f the caller writes to; weft_file_finish() must
 * follow. Returns 0, or a negative errno; then *o is empty, nothing is left on the disk, and
 * weft_file_finish() would do nothing.
 */
WEFT_MUST_USE int weft_file_create(const char *path, struct weft_file_out *o);

/*
 * Writes n bytes to *o, to whose f nothing is written: at offset `at` of a temporary file, or if there is none (o->part
 * is NULL) behind what was written before, whatever `at` is. Returns 0 or a negative errno.
 */
WEFT_MUST_USE int weft_file_put(struct weft_file_out *o, uint64_t at, const void *bytes, size_t n);

/*
 * Ends the file that weft_file_create() opened. err is 0, or the caller's own failure so far. What is
 * still buffered is written in any case. If err is 0, the bytes of a temporary file are then forced to
 * the disk, and it is renamed to its path. If err is not 0 or one of these steps fails, the temporary
 * file is deleted. In every case the file is closed, *o's memory is freed and *o is cleared. Returns err
 * if it is not 0, otherwise the negative errno of the step that failed, or 0. If *o is empty, it only
 * returns err.
 */
WEFT_MUST_USE int weft_file_finish(struct weft_file_out *o, int err);

/*
 * Reads an open file from its beginning to its end into *data, *len bytes from malloc, as weft_file_read() does with a
 * path. The caller closes fd. Returns 0, or a negative errno; then *data is NULL and *len 0.
 */
WEFT_MUST_USE int weft_file_read_open(int fd, uint64_t most, uint8_t **data, size_t *len);

#endif
