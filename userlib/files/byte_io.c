/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Little-endian bytes, written or read by the same code; see byte_io.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "byte_io.h"

/* Note the first failure: the data are bad, because of `why`. */
void io_fail(struct io *io, const char *why)
{
	if (io->err)
		return;
	io->err = -EINVAL;
	io->why = why;
}

/* Writing: make room for n more bytes. */
static void reserve(struct io *io, size_t n)
{
	if (io->n + n <= io->cap)
		return;
	size_t cap = io->cap * 2 > io->n + n ? io->cap * 2 : io->n + n + 64;
	uint8_t *p = realloc(io->p, cap);
	if (!p) {
		io->err = -ENOMEM;
		return;
	}
	io->p = p;
	io->cap = cap;
}

/* Write n bytes from v, or read them to v; v is zeroed where there is nothing to read. */
void io_raw(struct io *io, void *v, size_t n)
{
	if (io->write && !io->err)
		reserve(io, n);
	else if (!io->write && !io->err && n > io->n - io->at)
		io_fail(io, "it ends too early");
	if (io->err) {
		if (!io->write)
			memset(v, 0, n);
		return;
	}
	if (!n)
		return;
	if (io->write) {
		memcpy(io->p + io->n, v, n);
		io->n += n;
	} else {
		memcpy(v, io->p + io->at, n);
		io->at += n;
	}
}

/* Write a number of so many bytes, or read one. The number */
static uint64_t number(struct io *io, uint64_t v, int bytes)
{
	uint8_t b[8] = { 0 };

	for (int i = 0; i < bytes; i++)
		b[i] = (uint8_t)(v >> (8 * i));
	io_raw(io, b, (size_t)bytes);
	v = 0;
	for (int i = 0; i < bytes; i++)
		v |= (uint64_t)b[i] << (8 * i);
	return v;
}

void io_u8(struct io *io, uint8_t *v)
{
	*v = (uint8_t)number(io, *v, 1);
}

void io_u32(struct io *io, uint32_t *v)
{
	*v = (uint32_t)number(io, *v, 4);
}

void io_i32(struct io *io, int32_t *v)
{
	*v = (int32_t)(uint32_t)number(io, (uint32_t)*v, 4);
}

void io_u64(struct io *io, uint64_t *v)
{
	*v = number(io, *v, 8);
}

void io_i64(struct io *io, int64_t *v)
{
	*v = (int64_t)number(io, (uint64_t)*v, 8);
}

/* Write or read a float by its bits. */
void io_f32(struct io *io, float *v)
{
	uint32_t bits;

	memcpy(&bits, v, sizeof bits);
	io_u32(io, &bits);
	memcpy(v, &bits, sizeof bits);
}

/* Write or read a double by its bits. */
void io_f64(struct io *io, double *v)
{
	uint64_t bits;

	memcpy(&bits, v, sizeof bits);
	io_u64(io, &bits);
	memcpy(v, &bits, sizeof bits);
}

/* Write or read a byte that is 0 or 1. */
void io_bool(struct io *io, bool *v)
{
	uint8_t b = *v;

	io_u8(io, &b);
	if (b > 1)
		io_fail(io, "a truth value is neither 0 nor 1");
	*v = b == 1;
}

/* Write or read a count of things that take at least elem bytes each; reading, it is bounded by what is left. */
void io_count(struct io *io, int *n, size_t elem)
{
	uint32_t v = (uint32_t)*n;

	io_u32(io, &v);
	if (!io->write && !io->err && v > (io->n - io->at) / elem)
		io_fail(io, "a count is larger than what follows");
	*n = io->err ? 0 : (int)v;
}

/* Write or read a string of at most 65535 bytes; reading, *s comes from malloc, NULL on failure. */
void io_string(struct io *io, char **s)
{
	int n = io->write ? (int)strlen(*s) : 0;

	if (io->write && n > 65535)
		n = 65535;
	io_count(io, &n, 1);
	if (!io->write) {
		if (n > 65535)
			io_fail(io, "a string is longer than 65535");
		*s = io->err ? NULL : malloc((size_t)n + 1);
		if (!*s) {
			if (!io->err)
				io->err = -ENOMEM;
			return;
		}
		(*s)[n] = 0;
	}
	io_raw(io, *s, (size_t)n);
}
