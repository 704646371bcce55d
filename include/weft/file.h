/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole file into memory, and back.
 *
 * Both functions block; they may be called from any thread.
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
 * Read a whole file into memory.
 *
 * @param most      Bytes; what is larger is refused before memory is taken.
 * @param[out] data From malloc, also for an empty file; NULL on failure.
 *
 * @return 0, -EFBIG, -EISDIR, -EMEDIUMTYPE (a pipe or a device), -ENOMEM, -EIO, or what opening it said
 */
WEFT_API int weft_file_read(const char *path, uint64_t most, uint8_t **data, size_t *len) __attribute__((warn_unused_result));

/**
 * Write a whole file. The bytes go into a file of a new name that nobody can guess, which takes the
 * old one's place once it is on the disk, so that a failure leaves the old file. What is there and no regular file (a device, a
 * pipe) is never replaced; it is written to as it is.
 *
 * @return 0, or a negative errno
 */
WEFT_API int weft_file_write(const char *path, const uint8_t *data, size_t len) __attribute__((warn_unused_result));

/** What a failure of these functions means, in words for a message. Not thread-local: constant text or strerror()'s. */
WEFT_API const char *weft_file_error(int err);

/* A part of what is written. */
struct weft_piece { const void *data; size_t len; };

/** weft_file_write() of bytes that lie in n places, one after the other. */
WEFT_API int weft_file_write_pieces(const char *path, const struct weft_piece *p, int n) __attribute__((warn_unused_result));

#ifdef __cplusplus
}
#endif
#endif
