/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of networks and checksums that tools/train/record_*.py write: gzip,
 * little-endian numbers, eight bytes of magic first.
 */
#ifndef TESTS_SUPPORT_RECORDED_H
#define TESTS_SUPPORT_RECORDED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <zlib.h>

#define RECORDED_BYTES (1 << 24)

struct reader { uint8_t *p; size_t n, at; };

static const uint8_t *take(struct reader *r, size_t n)
{
	assert_true(n <= r->n - r->at);
	r->at += n;
	return r->p + r->at - n;
}

static uint32_t number(struct reader *r, int bytes)
{
	const uint8_t *p = take(r, (size_t)bytes);
	uint32_t v = 0;

	for (int i = 0; i < bytes; i++)
		v |= (uint32_t)p[i] << (8 * i);
	return v;
}

/* The whole file; p is the caller's to free. */
static struct reader open_recorded(const char *path, const char *magic)
{
	struct reader r = { .p = malloc(RECORDED_BYTES) };
	gzFile f = gzopen(path, "rb");

	assert_non_null(r.p);
	assert_non_null(f);
	int n = gzread(f, r.p, RECORDED_BYTES);
	gzclose(f);
	assert_in_range(n, 8, RECORDED_BYTES - 1);
	r.n = (size_t)n;
	assert_memory_equal(take(&r, 8), magic, 8);
	return r;
}

#endif
