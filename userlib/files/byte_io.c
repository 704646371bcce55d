/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Little-endian bytes, written or read by the same code; see byte_io.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "byte_io.h"

/*
 * Notes that the data are bad: -EINVAL in io->err and `why`, a constant string, in io->why. Does
 * nothing if a failure was noted before.
 */
void io_fail(struct io *io, const char *why)
{
	if (io->err)
		return;
	io->err = -EINVAL;
	io->why = why;
}

/*
 * For writing: makes sure that n more bytes fit behind the io->n that are there, enlarging the buffer
 * at least twofold. Without memory it sets io->err to -ENOMEM.
 */
void io_reserve(struct io *io, size_t n)
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

/*
 * Writes n bytes from v, to io->take if that is set, or reads n bytes to v and advances io->at. If fewer than n
 * bytes are left to be read, that is a failure (io_fail). After this or any earlier failure nothing is written,
 * and reading fills v with zeros.
 */
void io_raw(struct io *io, void *v, size_t n)
{
	if (io->write && !io->err && io->take) {
		io->take(io->user, v, n);
		return;
	}
	if (io->write && !io->err)
		io_reserve(io, n);
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

/*
 * Writes the lowest `bytes` bytes (1 to 8) of v, least significant first, or reads as many. Returns the
 * number written or read, zero-extended; 0 if reading failed.
 */
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

/* Writes *v as one byte, or reads one byte into *v, which is 0 after a failure. */
void io_u8(struct io *io, uint8_t *v)
{
	const uint8_t x = (uint8_t)number(io, *v, 1);

	if (!io->write)
		*v = x;
}

/*
 * Writes *v as four bytes, or reads four bytes as an unsigned number into *v, which is 0 after a failure.
 */
void io_u32(struct io *io, uint32_t *v)
{
	const uint32_t x = (uint32_t)number(io, *v, 4);

	if (!io->write)
		*v = x;
}

/*
 * Writes *v as four bytes in two's complement, or reads such four bytes into *v, which is 0 after a
 * failure.
 */
void io_i32(struct io *io, int32_t *v)
{
	const int32_t x = (int32_t)(uint32_t)number(io, (uint32_t)*v, 4);

	if (!io->write)
		*v = x;
}

/*
 * Writes *v as eight bytes, or reads eight bytes as an unsigned number into *v, which is 0 after a
 * failure.
 */
void io_u64(struct io *io, uint64_t *v)
{
	const uint64_t x = number(io, *v, 8);

	if (!io->write)
		*v = x;
}

/*
 * Writes *v as eight bytes in two's complement, or reads such eight bytes into *v, which is 0 after a
 * failure.
 */
void io_i64(struct io *io, int64_t *v)
{
	const int64_t x = (int64_t)number(io, (uint64_t)*v, 8);

	if (!io->write)
		*v = x;
}

/*
 * Writes *v as the four bytes of its bits, or reads them into *v, so that NaN and -0 stay what they are.
 * Reading sets *v to 0 after a failure.
 */
void io_f32(struct io *io, float *v)
{
	uint32_t bits;

	memcpy(&bits, v, sizeof bits);
	io_u32(io, &bits);
	if (!io->write)
		memcpy(v, &bits, sizeof bits);
}

/*
 * Writes *v as the eight bytes of its bits, or reads them into *v, so that NaN and -0 stay what they are.
 * Reading sets *v to 0 after a failure.
 */
void io_f64(struct io *io, double *v)
{
	uint64_t bits;

	memcpy(&bits, v, sizeof bits);
	io_u64(io, &bits);
	if (!io->write)
		memcpy(v, &bits, sizeof bits);
}

/*
 * Writes a truth value as one byte, 0 or 1, or reads one. Reading any other byte is a failure (io_fail).
 * After any failure reading sets *v to false; writing never changes it.
 */
void io_bool(struct io *io, bool *v)
{
	uint8_t b = *v;

	io_u8(io, &b);
	if (b > 1)
		io_fail(io, "a truth value is neither 0 nor 1");
	if (!io->write)
		*v = b == 1;
}

/*
 * Writes or reads *n as four bytes: a count of things that take at least elem bytes each (elem is not 0).
 * When reading, a count of more things than the bytes that are left can hold is a failure (io_fail), and
 * *n is 0 after this or any earlier failure. When writing, *n is neither checked nor changed.
 */
void io_count(struct io *io, int *n, size_t elem)
{
	uint32_t v = (uint32_t)*n;

	io_u32(io, &v);
	if (!io->write && !io->err && v > (io->n - io->at) / elem)
		io_fail(io, "a count is larger than what follows");
	if (!io->write)
		*n = io->err ? 0 : (int)v;
}

/*
 * Writes or reads a string as a count of four bytes and that many characters, without a zero byte. When
 * writing, *s is not NULL, and only its first 65535 characters are written. When reading, a count above
 * 65535 or above the bytes that are left is a failure (io_fail); *s becomes memory from malloc with a
 * zero byte at its end, which the caller frees, or NULL after this or any earlier failure or if there is
 * no memory (io->err is then -ENOMEM).
 */
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
