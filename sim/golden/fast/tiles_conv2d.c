/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CONV2D of 8-bit operands by tiles (tiles.h). Plain loops: ../conv2d.c
 *
 *   image    [rows][width][IC]  the input with its padding, elements of the tiling's size
 *   weights  per block of channels [run][unit][lanes][4]
 *
 * A window's row of KW*IC elements is one run, unless dilation parts it into KW runs. Runs are filled up
 * to whole words with weights of 0, whatever the image has there.
 *
 * Where x is taken as uint8, u = x + 128 in place of x - x_zp: the sum of u*w is that of (x - x_zp)*w
 * plus (x_zp + 128) times the sum of the weights, which the sums' start takes away. Padding is x_zp + 128.
 * Everything is modulo 2^32, as the output is.
 */
#include <stdlib.h>
#include <string.h>

#include "fast.h"
#include "tiles.h"

struct work {
	const struct weft_call *c;
	const struct weft_tiling *tiling;
	int64_t width, rows;       /* pixels of the padded image along a row, and its rows */
	int64_t run;               /* elements of a run */
	int64_t n_runs, units;     /* runs of a window, and words of a run */
	uint8_t *image;            /* the padded image */
	int64_t *offset;           /* where in a window each run begins, in bytes */
	const uint8_t *rows_of_w;  /* [OC][KH*KW*IC], elements of the tiling's size */
	uint8_t *packed;           /* the weights of one block of channels */
	int32_t *start;            /* what the sums of these channels begin with */
	int32_t *spare;            /* sums that nobody reads */
};

/* Copies n bytes with the bits of `flip` inverted. */
static FAST void invert_bits(uint8_t *restrict to, const uint8_t *restrict x, int64_t n, uint8_t flip)
{
	for (int64_t i = 0; i < n; i++)
		to[i] = x[i] ^ flip;
}

/* Sets n numbers of 16 bits to those of 8 bits less zp. */
static FAST void subtract(int16_t *restrict to, const int8_t *restrict x, int64_t n, int32_t zp)
{
	for (int64_t i = 0; i < n; i++)
		to[i] = (int16_t)(x[i] - zp);
}

/* Returns the sum of n weights, modulo 2^32. */
static FAST int32_t sum_of_weights(const int8_t *w, int64_t n)
{
	int32_t sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += w[i];
	return sum;
}

/*
 * Writes n elements of the input as the tiling wants them: bytes with its bits inverted, or differences to the
 * zero point in 16 bits.
 */
static void convert(const struct work *s, uint8_t *to, const int8_t *x, int64_t n)
{
	if (s->tiling->elem_bytes == 1)
		invert_bits(to, (const uint8_t *)x, n, s->tiling->flip);
	else
		subtract((int16_t *)(void *)to, x, n, s->c->attr->conv.x_zp);
}

/* Fills s->image with the batch element at x and its padding, which may be negative: then it lacks the input's edge. */
static void fill_image(const struct work *s, const int8_t *x)
{
	const struct weft_attr_conv *a = &s->c->attr->conv;
	const int64_t ih = s->c->x[0]->dim[1], iw = s->c->x[0]->dim[2], ic = s->c->x[0]->dim[3], e = s->tiling->elem_bytes;
	const int zero = e == 1 ? (uint8_t)a->x_zp ^ s->tiling->flip : 0;
	const int64_t left = weft_clip(a->pad[2], 0, s->width), skip = weft_clip(-(int64_t)a->pad[2], 0, iw);
	const int64_t n = iw - skip < s->width - left ? iw - skip : s->width - left;

	for (int64_t y = 0; y < s->rows; y++) {
		uint8_t *to = s->image + y * s->width * ic * e;
		const int64_t from = y - a->pad[0];

		if (from < 0 || from >= ih) {
			memset(to, zero, (size_t)(s->width * ic * e));
			continue;
		}
		memset(to, zero, (size_t)(left * ic * e));
		convert(s, to + left * ic * e, x + (from * iw + skip) * ic, n * ic);
		memset(to + (left + n) * ic * e, zero, (size_t)((s->width - left - n) * ic * e));
	}
}

typedef uint32_t four __attribute__((vector_size(16), aligned(1), may_alias));

/*
 * Transposes 4 x 4 words: from[] are four words of each of four channels, and word i of all four goes to
 * `to` + i * step bytes.
 */
static inline void turn(const uint8_t *const from[4], uint8_t *to, int64_t step)
{
	const four a = *(const four *)(const void *)from[0], b = *(const four *)(const void *)from[1];
	const four c = *(const four *)(const void *)from[2], d = *(const four *)(const void *)from[3];
	const four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
	const four ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7), cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);

	*(four *)(void *)to = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
	*(four *)(void *)(to + step) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
	*(four *)(void *)(to + 2 * step) = __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5);
	*(four *)(void *)(to + 3 * step) = __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7);
}

/*
 * Packs one run of the weights of `lanes` channels, from the oc-th on, as a tile reads them. Channels behind
 * the last one, and what fills up a word, have weights of 0.
 */
static void pack_run(const struct work *s, int64_t run, int64_t oc, int64_t lanes, uint8_t *to)
{
	const int64_t e = s->tiling->elem_bytes, bytes = s->run * e, row = s->n_runs * bytes, n = s->c->y[0]->dim[3];

	for (int64_t lane = 0; lane < lanes; lane += 4) {
		const uint8_t *from[4];
		uint8_t *at = to + 4 * lane;
		int64_t i = 0;

		for (int64_t k = 0; k < 4; k++)
			from[k] = s->rows_of_w + (oc + lane + k) * row + run * bytes;
		for (; oc + lane + 4 <= n && i + 16 <= bytes; i += 16, at += 16 * lanes) {
			turn(from, at, 4 * lanes);
			for (int k = 0; k < 4; k++)
				from[k] += 16;
		}
		for (; i < bytes; i += 4, at += 4 * lanes) {
			memset(at, 0, 16);
			for (int64_t k = 0; k < 4 && oc + lane + k < n; k++, from[k - 1] += 4)
				memcpy(at + 4 * k, from[k], (size_t)(bytes - i < 4 ? bytes - i : 4));
		}
	}
}

/* Packs the weights of `lanes` channels, from the oc-th on, and sets what their sums begin with. */
static void prepare_block(const struct work *s, int64_t oc, int64_t lanes)
{
	const weft_tensor *bias = s->c->x[2];
	const int64_t k = s->n_runs * s->run, n = s->c->y[0]->dim[3];
	const int32_t *b = bias->data, moved = s->c->attr->conv.x_zp + (s->tiling->flip ? 128 : 0);

	for (int64_t run = 0; run < s->n_runs; run++)
		pack_run(s, run, oc, lanes, s->packed + run * s->units * lanes * 4);
	for (int64_t i = 0; i < lanes; i++) {
		uint32_t first = 0;

		if (oc + i < n)
			first = (uint32_t)b[bias->dim[0] == 1 ? 0 : oc + i];
		if (oc + i < n && s->tiling->elem_bytes == 1)
			first -= (uint32_t)moved * (uint32_t)sum_of_weights((const int8_t *)s->rows_of_w + (oc + i) * k, k);
		s->start[i] = (int32_t)first;
	}
}

/*
 * Adds the products of runs [first, end) of the packed weights to the sums of all pixels of an image, for the
 * channels of `registers` registers from the oc-th on.
 */
static void some_runs(const struct work *s, int64_t image, int64_t oc, int registers, int64_t first, int64_t end)
{
	const weft_tensor *y = s->c->y[0];
	const int32_t *stride = s->c->attr->conv.stride;
	const int64_t lanes = (int64_t)registers * s->tiling->lanes, oh = y->dim[1], ow = y->dim[2], n_oc = y->dim[3];
	const int64_t step = stride[1] * s->c->x[0]->dim[3] * s->tiling->elem_bytes, pixels = oh * ow;
	const int64_t line = stride[0] * s->width * s->c->x[0]->dim[3] * s->tiling->elem_bytes;
	const int n_p = s->tiling->pixels(registers);
	struct weft_tile t = { .offset = s->offset + first, .n_runs = end - first, .units = s->units,
		.w = s->packed + first * s->units * lanes * 4, .start = first ? NULL : s->start,
		.channels = n_oc - oc < lanes ? n_oc - oc : lanes };
	int32_t *to = (int32_t *)y->data + image * pixels * n_oc + oc;
	int64_t oy = 0, ox = 0;

	for (int64_t at = 0; at < pixels; at += n_p) {
		for (int p = 0; p < n_p; p++) {
			const bool wanted = at + p < pixels;

			t.x[p] = wanted ? s->image + oy * line + ox * step : s->image;
			t.y[p] = wanted ? to + (at + p) * n_oc : s->spare;
			if (++ox == ow) {
				ox = 0;
				oy++;
			}
		}
		s->tiling->multiply(&t, registers);
	}
}

/*
 * Writes the results of batch element `image`, which is in s->image: block by block of channels, and in each as
 * many runs at a time as the tiling says.
 */
static void one_image(const struct work *s, int64_t image)
{
	const int64_t n_oc = s->c->y[0]->dim[3], limit = s->tiling->units;
	const int64_t together = limit && s->units < limit ? limit / s->units : limit ? 1 : s->n_runs;

	for (int64_t oc = 0; oc < n_oc; ) {
		const int64_t needed = (n_oc - oc + s->tiling->lanes - 1) / s->tiling->lanes;
		const int registers = needed < s->tiling->registers ? (int)needed : s->tiling->registers;

		prepare_block(s, oc, (int64_t)registers * s->tiling->lanes);
		for (int64_t run = 0; run < s->n_runs; run += together)
			some_runs(s, image, oc, registers, run, run + together < s->n_runs ? run + together : s->n_runs);
		oc += (int64_t)registers * s->tiling->lanes;
	}
}

/* Sets the offset of each run of a window. */
static void find_runs(struct work *s)
{
	const struct weft_attr_conv *a = &s->c->attr->conv;
	const weft_tensor *w = s->c->x[1];
	const int64_t ic = w->dim[3], kw = w->dim[2], pixel = ic * s->tiling->elem_bytes;
	const bool whole = a->dilation[1] == 1;

	for (int64_t ky = 0, n = 0; ky < w->dim[1]; ky++)
		for (int64_t kx = 0; kx < (whole ? 1 : kw); kx++)
			s->offset[n++] = (ky * a->dilation[0] * s->width + kx * a->dilation[1]) * pixel;
}

/*
 * Sets the sizes in *s. Returns false if they are such that the image is better left as it is: padded it would
 * be more than four times as large, or a product of sizes would exceed 2^31.
 */
static bool measure(struct work *s)
{
	const struct weft_attr_conv *a = &s->c->attr->conv;
	const weft_tensor *x = s->c->x[0], *w = s->c->x[1], *y = s->c->y[0];
	const int64_t unit = 4 / s->tiling->elem_bytes, ic = x->dim[3];
	const bool whole = a->dilation[1] == 1;

	s->rows = (y->dim[1] - 1) * a->stride[0] + (w->dim[1] - 1) * a->dilation[0] + 1;
	s->width = (y->dim[2] - 1) * a->stride[1] + (w->dim[2] - 1) * a->dilation[1] + 1;
	s->run = whole ? w->dim[2] * ic : ic;
	s->n_runs = w->dim[1] * (whole ? 1 : w->dim[2]);
	s->units = (s->run + unit - 1) / unit;
	return s->rows <= INT32_MAX / s->width && s->rows * s->width <= 4 * x->dim[1] * x->dim[2] + (1 << 16) &&
	       s->n_runs <= INT32_MAX / s->units && ic <= INT32_MAX;
}

/* Allocates what *s points to. Returns false if memory is out; the caller frees all in each case. */
static bool allocate(struct work *s)
{
	const int64_t e = s->tiling->elem_bytes, lanes = (int64_t)s->tiling->lanes * s->tiling->registers;

	s->image = malloc((size_t)(s->rows * s->width * s->c->x[0]->dim[3] * e + 4));
	s->offset = malloc((size_t)s->n_runs * sizeof(*s->offset));
	s->packed = malloc((size_t)(s->n_runs * s->units * lanes * 4));
	s->start = malloc((size_t)lanes * sizeof(*s->start));
	s->spare = calloc((size_t)lanes, sizeof(*s->spare));
	return s->image && s->offset && s->packed && s->start && s->spare;
}

int weft_tiles_conv2d(const struct weft_call *c, const struct weft_tiling *tiling)
{
	const weft_tensor *x = c->x[0], *w = c->x[1];
	const int64_t image = x->dim[1] * x->dim[2] * x->dim[3];
	struct work s = { .c = c, .tiling = tiling };
	int16_t *wide = NULL;
	int err = -ENOMEM;

	if (!measure(&s))
		return -ENOTSUP;
	if (tiling->elem_bytes == 2 && !(wide = weft_fast_widen(w, c->attr->conv.w_zp, 0, weft_tensor_elements(w), 1)))
		return -ENOMEM;
	s.rows_of_w = wide ? (const uint8_t *)wide : w->data;
	if (allocate(&s)) {
		find_runs(&s);
		memset(s.image + s.rows * s.width * x->dim[3] * tiling->elem_bytes, 0, 4);
		for (int64_t n = 0; n < x->dim[0]; n++) {
			fill_image(&s, (const int8_t *)x->data + n * image);
			one_image(&s, n);
		}
		err = 0;
	}
	free(wide);
	free(s.image);
	free(s.offset);
	free(s.packed);
	free(s.start);
	free(s.spare);
	return err;
}
