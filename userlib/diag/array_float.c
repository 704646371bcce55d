/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test of the array in float8. Sums are multiples of 2^-28 in the same 48 bits as integer sums, so that a
 * single product can set any one bit; exponents, NaN and infinity have registers of their own.
 * Results pass through the post unit, which has been tested before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/diag/array.h"
#include "userlib/diag/ops.h"

#define MAX_CONVS 128
#define ONE 0x38               /* 1 in E4M3 */
#define MINUS_ONE 0xb8

struct float_test {
	const struct weft_config *cfg;
	struct diag_stream s;
	size_t out[MAX_CONVS];     /* offset in the arena of each convolution's N x N fp16 results */
	int n_convs;
	uint64_t seed;             /* state of the random generator */
};

/*
 * Adds one convolution of n pixels by n channels with sums of n products, where n is the array's size.
 * x has n float8 elements for each pixel in format x_fmt (0..3, as the command encodes it: 0 is E4M3,
 * 1 is E5M2), w n elements for each channel in format w_fmt; the sums are scaled by 2^log2_scale. Biases
 * are 0, from records that the first call has loaded. The fp16 results are stored, and their offset in
 * the arena is noted in t->out. Aborts after MAX_CONVS convolutions.
 */
static void add_conv(struct float_test *t, const uint8_t *x, const uint8_t *w, int x_fmt, int w_fmt, int log2_scale)
{
	const uint32_t n = t->cfg->n, at_w = t->cfg->sp_bytes / 4, at_p = t->cfg->sp_bytes * 3 / 8, at_out = t->cfg->sp_bytes / 2;

	if (t->n_convs == MAX_CONVS)
		abort();                   /* the tests' lists are constant, so this is a mistake in the source */
	diag_put(&t->s, 0, x, (size_t)n * n);
	diag_put(&t->s, at_w, w, (size_t)n * n);
	if (!t->n_convs)
		diag_put(&t->s, at_p, NULL, (size_t)n * WEFT_PARAM_BYTES);
	struct weft_cmd c = diag_conv(t->cfg, 0, at_w, at_p, at_out, 2, (int)n, n);
	c.conv.post.x_fmt = x_fmt;
	c.conv.post.w_fmt = w_fmt;
	c.conv.log2_scale = log2_scale;
	diag_add(&t->s, &c);
	t->out[t->n_convs++] = diag_store(&t->s, at_out, 2 * n * n);
}

/*
 * For each scale from 2^-28 to 2^18, adds a convolution whose running sum is one product of that size
 * (+1 or -1 times it, by turns) until it is taken back in the middle of the sum, so that each bit is 1
 * and then 0 again. Then adds one whose sum stays -2^-28, where every bit is 1, and one whose sum stays
 * 0.
 */
static void walk_sums(struct float_test *t)
{
	const uint32_t n = t->cfg->n;
	uint8_t x[64 * 64], w[64 * 64];

	for (int scale = -28; scale <= 18; scale++) {
		memset(x, 0, sizeof(x));
		memset(w, 0, sizeof(w));
		for (uint32_t r = 0; r < n; r++) {
			bool minus = scale & 1;
			x[r * n] = minus ? MINUS_ONE : ONE;
			x[r * n + n / 2] = minus ? ONE : MINUS_ONE;
			w[r * n] = w[r * n + n / 2] = ONE;
		}
		add_conv(t, x, w, 0, 0, scale);
	}
	/* The sum stays -2^-28, where every bit of it is 1. */
	memset(x, 0, sizeof(x));
	for (uint32_t r = 0; r < n; r++)
		x[r * n] = MINUS_ONE;
	add_conv(t, x, w, 0, 0, -28);
	/* The sum stays 0. */
	memset(x, 0, sizeof(x));
	add_conv(t, x, w, 0, 0, 0);
}

/*
 * Adds seven convolutions in E5M2 in which all weights are one special value or 1, and each pixel has
 * one special activation in an element of its own, all others being 1. Special are infinities of both
 * signs (0x7c, 0xfc), NaN (0x7e), and 0 against infinity.
 */
static void specials(struct float_test *t)
{
	static const uint8_t x_of[] = { 0x7c, 0xfc, 0x7e, 0x3c, 0x00, 0x7c, 0x3c };
	static const uint8_t w_of[] = { 0x3c, 0x3c, 0x3c, 0x7c, 0x7c, 0xfc, 0x7e };
	const uint32_t n = t->cfg->n;
	uint8_t x[64 * 64], w[64 * 64];

	for (size_t i = 0; i < sizeof(x_of); i++) {
		memset(x, 0x3c, sizeof(x));
		memset(w, 0x3c, sizeof(w));
		for (uint32_t r = 0; r < n; r++)
			for (uint32_t k = 0; k < n; k++) {
				/* The special value goes through another slot of the skew buffers in each row. */
				if (k == r)
					x[r * n + k] = x_of[i];
				w[r * n + k] = w_of[i];
			}
		add_conv(t, x, w, 1, 1, -4);
	}
}

/*
 * Adds convolutions in E4M3 in which all activations have one bit pattern and all weights are 1, or the
 * other way round, for 15 patterns of exponent and significand, so that every flag of every PE is set
 * once.
 */
static void uniform(struct float_test *t)
{
	static const uint8_t of[] = { 0x00, 0x01, 0x07, 0x08, 0x10, 0x20, 0x40, 0x55, 0x2a, 0x78, 0x7e, 0x80, 0xaa, 0xd5, 0xff };
	const uint32_t n = t->cfg->n;
	uint8_t x[64 * 64], w[64 * 64];

	for (size_t i = 0; i < 2 * sizeof(of); i++) {
		memset(x, i & 1 ? ONE : of[i / 2], n * n);
		memset(w, i & 1 ? of[i / 2] : ONE, n * n);
		add_conv(t, x, w, 0, 0, i % 5 == 0 ? 6 : -3);
	}
}

/*
 * Adds 24 convolutions with random float8 operands in all 16 pairs of formats, with random scales from
 * 2^-12 to 2^7. In all but a sixteenth of the operands the exponent's highest bit is cleared, so that
 * infinities and NaN, which would hide the others, are rare.
 */
static void random_ones(struct float_test *t)
{
	const uint32_t n = t->cfg->n;
	uint8_t x[64 * 64], w[64 * 64];

	for (int i = 0; i < 24; i++) {
		for (uint32_t k = 0; k < n * n; k++) {
			/* Mostly ordinary numbers, since a NaN or infinity in a sum would hide the others. */
			uint32_t v = diag_random(&t->seed), u = diag_random(&t->seed);
			x[k] = (uint8_t)(v & (v >> 8 & 15 ? 0xbf : 0xff));
			w[k] = (uint8_t)(u & (u >> 8 & 15 ? 0xbf : 0xff));
		}
		add_conv(t, x, w, i % 4, i / 4 % 4, (int)(diag_random(&t->seed) % 20) - 12);
	}
}

/* ---- judging: as in the other modes, but without a simulation of possible faults ---- */

/*
 * Compares the device's results with the model's. A PE is wrong if any convolution has a wrong result
 * in its place. Nothing is reported if none is; otherwise one finding: a single PE (DIAG-ARRAY-4);
 * wrong PEs of one row up to the last column or of one column up to the last row, or that of its half (DIAG-ARRAY-6); other
 * PEs of one row or column (DIAG-ARRAY-7); or how many PEs in which rows and columns (DIAG-ARRAY-8).
 * Returns 0 or -ENOMEM.
 */
static int judge(struct weft_diag *d, const struct float_test *t, const struct diag_out *out)
{
	const int n = (int)d->cfg->n;
	int r0 = n, r1 = -1, c0 = n, c1 = -1, count = 0;
	bool *bad = calloc((size_t)(n * n), sizeof(*bad));

	if (!bad)
		return -ENOMEM;
	for (int i = 0; i < t->n_convs; i++)
		for (int k = 0; k < n * n; k++) {
			size_t at = t->out[i] + 2 * (size_t)k;
			if (memcmp(out->got + at, out->want + at, 2) && !bad[k]) {
				int r = k / n, c = k % n;
				bad[k] = true;
				count++;
				r0 = r < r0 ? r : r0;
				r1 = r > r1 ? r : r1;
				c0 = c < c0 ? c : c0;
				c1 = c > c1 ? c : c1;
			}
		}
	free(bad);
	struct diag_place at = { r0, c0, -1, -1, -1 };
	if (!count)
		return 0;
	if (count == 1)
		diag_find(d, "DIAG-ARRAY-4", at, "PE row %d column %d: wrong sums in float8 mode", r0, c0);
	else if (r0 == r1 && c1 == n - 1)
		diag_find(d, "DIAG-ARRAY-6", at, "row %d of the array: wrong sums from column %d on in float8 mode", r0, c0);
	else if (c0 == c1 && (r1 == n - 1 || r1 == array_last_row(d->cfg, r0)))
		diag_find(d, "DIAG-ARRAY-6", at, "column %d of the array: wrong sums from row %d on in float8 mode", c0, r0);
	else if (r0 == r1)
		diag_find(d, "DIAG-ARRAY-7", (struct diag_place){ r0, -1, -1, -1, -1 },
		          "row %d of the array: %d of %d sums are wrong in float8 mode", r0, count, n);
	else if (c0 == c1)
		diag_find(d, "DIAG-ARRAY-7", (struct diag_place){ -1, c0, -1, -1, -1 },
		          "column %d of the array: %d of %d sums are wrong in float8 mode", c0, count, n);
	else
		diag_find(d, "DIAG-ARRAY-8", DIAG_NOWHERE, "%d PEs of the array, rows %d to %d, columns %d to %d: wrong sums in float8 mode", count,
		          r0, r1, c0, c1);
	return 0;
}

/*
 * Test array-float8: every PE in float8, its sums of 2^-28 and its registers for exponents, NaN and
 * infinity, in one stream of at most MAX_CONVS convolutions. A stream that does not end (diag_stopped)
 * or wrong results (judge) are findings in d->r; the state is absent if the configuration has no
 * float8. Returns 0 whatever it found, or a negative errno as diag_exec().
 */
int diag_array_float8(struct weft_diag *d)
{
	struct float_test t = { .cfg = d->cfg, .seed = 0xf8f8f8 };
	struct diag_out out = { 0 };

	if (!d->cfg->has_fp8) {
		diag_absent(d, "this configuration has no float8");
		return 0;
	}
	walk_sums(&t);
	specials(&t);
	uniform(&t);
	random_ones(&t);
	int err = diag_exec(d, &t.s, &out);
	if (err == DIAG_STOPPED)
		diag_stopped(d, &out, "float8", NULL);
	if (err == DIAG_RAN)
		err = judge(d, &t, &out);
	diag_out_free(&out);
	return err < 0 ? err : 0;
}
