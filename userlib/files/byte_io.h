/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Little-endian bytes, written or read by the same code. Each function below appends *v to the
 * bytes if io->write is set; otherwise it takes the next bytes, stores their value in *v and
 * advances io->at. The first failure (the data end too early, there is no memory, a value is not
 * allowed) stays in io->err: from then on nothing is written, and everything that is read is 0.
 * Writing changes nothing but io, whether it fails or not: what is written belongs to others, who
 * may be reading it.
 */
#ifndef WEFT_FILES_BYTE_IO_H
#define WEFT_FILES_BYTE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct io {
	bool write;            /* true: the functions append to p; false: they read from p */
	int err;               /* the first failure: -EINVAL or -ENOMEM; 0 while there is none */
	const char *why;       /* the reason of -EINVAL in words, a constant string; NULL otherwise */
	uint8_t *p;            /* the bytes; when writing they come from realloc, and the caller frees them */
	size_t n, cap;         /* writing: bytes written, bytes allocated; reading: n is the number of all bytes */
	size_t at;             /* reading: offset in bytes of what is read next */
	/* Writing: gets the bytes in the place of p, in as many calls as there are values; NULL: p gets them. */
	void (*take)(void *user, const uint8_t *bytes, size_t n);
	void *user;            /* the first argument of take */
};

/* Notes that the data are bad, as -EINVAL in io->err, and why. An earlier failure stays what it is. */
void io_fail(struct io *io, const char *why);
/* For writing: makes room for n more bytes behind the io->n that are there. Without memory io->err is -ENOMEM. */
void io_reserve(struct io *io, size_t n);
void io_raw(struct io *io, void *v, size_t n);
void io_u8(struct io *io, uint8_t *v);
void io_u32(struct io *io, uint32_t *v);
void io_i32(struct io *io, int32_t *v);
void io_u64(struct io *io, uint64_t *v);
void io_i64(struct io *io, int64_t *v);
void io_f32(struct io *io, float *v);
void io_f64(struct io *io, double *v);
void io_bool(struct io *io, bool *v);
/*
 * Writes or reads *n as 4 bytes: a count of things that take at least elem bytes each. When
 * reading, a count of more things than the bytes that are left can hold is a failure, and *n
 * becomes 0, as after any failure.
 */
void io_count(struct io *io, int *n, size_t elem);
/*
 * Writes or reads a string as a count of 4 bytes and that many characters, at most 65535: a longer
 * string is cut when it is written, and a failure when it is read. When reading, *s comes from malloc
 * and ends with a zero byte, and the caller frees it; after a failure it is NULL.
 */
void io_string(struct io *io, char **s);

#endif
