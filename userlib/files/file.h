/* SPDX-License-Identifier: Apache-2.0 */
/* A whole file into memory, and back. */
#ifndef WEFT_RUN_FILE_H
#define WEFT_RUN_FILE_H

#include <stddef.h>
#include <stdint.h>

/**
 * @param most      Bytes; what is larger is refused before memory is taken.
 * @param[out] data From malloc, also for an empty file; NULL on failure.
 *
 * @return 0, -EFBIG, -EISDIR, -ENOMEM, -EIO, or what opening it said
 */
int weft_file_read(const char *path, uint64_t most, uint8_t **data, size_t *len);

/**
 * Under another name first, so that a failure leaves the old file; what is there
 * and no file (a device, a pipe) is written to as it is.
 *
 * @return 0, or a negative errno
 */
int weft_file_write(const char *path, const uint8_t *data, size_t len);

/* The same of bytes that lie in several places. */
struct weft_piece { const void *data; size_t len; };
int weft_file_write_pieces(const char *path, const struct weft_piece *p, int n);

#endif
