/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Little-endian bytes, written or read by the same code: each call writes *v,
 * or reads it. After the first failure (end of data, no memory, a bad value)
 * nothing more happens and reads give zero.
 */
#ifndef WEFT_FILES_BYTE_IO_H
#define WEFT_FILES_BYTE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct io {
	bool write;
	int err;               /* -EINVAL or -ENOMEM */
	const char *why;       /* of -EINVAL, for people */
	uint8_t *p;            /* write: owned by the caller, from malloc */
	size_t n, cap;         /* write: bytes so far, room; read: n is all */
	size_t at;             /* read */
};

void io_fail(struct io *io, const char *why);
void io_raw(struct io *io, void *v, size_t n);
void io_u8(struct io *io, uint8_t *v);
void io_u32(struct io *io, uint32_t *v);
void io_i32(struct io *io, int32_t *v);
void io_u64(struct io *io, uint64_t *v);
void io_i64(struct io *io, int64_t *v);
void io_f32(struct io *io, float *v);
void io_f64(struct io *io, double *v);
void io_bool(struct io *io, bool *v);
/* Count of things that take at least elem bytes each: bounded by what is left. */
void io_count(struct io *io, int *n, size_t elem);
/* Reading: malloc'ed, or NULL on failure. At most 64 KiB. */
void io_string(struct io *io, char **s);

#endif
