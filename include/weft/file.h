/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a whole file into memory, and writing one.
 *
 * The functions block; they may be called from any thread.
 */
#ifndef WEFT_FILE_H
#define WEFT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <weft/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Read a whole regular file into memory. A named pipe is not waited for.
 *
 * @param most      The most bytes that the file may have; a larger one is refused before memory is taken.
 * @param[out] data The file's *len bytes, from malloc, also for an empty file; NULL on failure.
 * @param[out] len  The number of bytes; 0 on failure.
 *
 * @return 0; -EFBIG (too large); -EISDIR (a folder); -EMEDIUMTYPE (a pipe or a device); -ENOMEM; -EIO (it
 *         became shorter meanwhile); or the negative errno of opening or reading it
 */
WEFT_API int weft_file_read(const char *path, uint64_t most, uint8_t **data, size_t *len) __attribute__((warn_unused_result));

/**
 * Write a whole file. The bytes go to a new file beside it, with a name that nobody can guess,
 * which takes the old file's place once it is on the disk; so a failure leaves the old file as it
 * was. If something that is not a regular file (a device, a pipe) has that path, it is not
 * replaced: the bytes are written to it.
 *
 * @return 0, or a negative errno
 */
WEFT_API int weft_file_write(const char *path, const uint8_t *data, size_t len) __attribute__((warn_unused_result));

/**
 * Returns in words what a negative errno of these functions means: a constant text, or that of
 * strerror(), which another call in the same thread may overwrite.
 */
WEFT_API const char *weft_file_error(int err);

/**
 * Make text that others chose fit for a line and a terminal: each byte of a control character, of a mark
 * that turns the direction of writing, or that is no UTF-8 becomes the four characters \xNN. Messages of
 * this library are such lines.
 *
 * @param text  Ends with a zero byte; changed in place.
 * @param len   Bytes of its buffer. The text is cut before the first byte whose escape no longer fits.
 */
WEFT_API void weft_one_line(char *text, size_t len);

/* A part of what is written: len bytes at data. */
struct weft_piece { const void *data; size_t len; };

/**
 * Write a whole file from n pieces of memory, one after the other. The bytes go to a temporary file
 * beside it that then replaces `path`; after a failure an older file of that path is unchanged. A path
 * that is no regular file (a device, a pipe) is written to directly.
 *
 * @return 0, or a negative errno of creating, writing or renaming it
 */
WEFT_API int weft_file_write_pieces(const char *path, const struct weft_piece *p, int n) __attribute__((warn_unused_result));

#ifdef __cplusplus
}
#endif
#endif
