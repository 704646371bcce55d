/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FFT2D and RFFT2D. TOSA 1.0 sections 2.3.6, 2.3.9.
 *
 *   FFT2D   re, im [N][H][W] fp32 -> re, im [N][H][W]
 *   RFFT2D  x [N][H][W] fp32 -> re, im [N][H][W/2+1]
 *
 * H and W are powers of two. Y[oy][ox] is the sum over iy, ix of
 * X[iy][ix] * exp(-+2*pi*i*(iy*oy/H + ix*ox/W)), the sign + for inverse; there is
 * no division by H*W. The sum is split into one along rows and one along
 * columns, both in fp64; the result is rounded once. A factor that is exactly
 * zero takes no part, so that a zero result is exact.
 */
#include <math.h>
#include <stdlib.h>

#include "element.h"
#include "ops.h"

static const double pi = 3.14159265358979323846;

struct complex { double re, im; };

static bool power_of_two(int64_t n)
{
	return n > 0 && (n & (n - 1)) == 0;
}

/* exp(-i*2*pi*k/n) for k = 0..n-1 (+i for inverse); exact at quarter turns. */
static struct complex *turns(int64_t n, bool inverse)
{
	struct complex *t = malloc((size_t)n * sizeof(*t));

	for (int64_t k = 0; t && k < n; k++) {
		double a = 2 * pi * (double)k / (double)n;

		t[k].re = 4 * k == n || 4 * k == 3 * n ? 0 : cos(a);
		t[k].im = k == 0 || 2 * k == n ? 0 : inverse ? sin(a) : -sin(a);
	}
	return t;
}

/* sum += v * t, leaving out zero factors */
static void add_product(struct complex *sum, struct complex v, struct complex t)
{
	if (t.re != 0) {
		sum->re += v.re * t.re;
		sum->im += v.im * t.re;
	}
	if (t.im != 0) {
		sum->re -= v.im * t.im;
		sum->im += v.re * t.im;
	}
}

/* One line of n elements `step` apart: out[k] = sum of in[j] * turn[j*k]. */
static void transform(const struct complex *in, struct complex *out, int64_t n, int64_t step, const struct complex *turn)
{
	for (int64_t k = 0; k < n; k++) {
		struct complex sum = { 0, 0 };

		for (int64_t j = 0; j < n; j++)
			add_product(&sum, in[j * step], turn[j * k % n]);
		out[k * step] = sum;
	}
}

struct plan {
	int64_t h, w;
	struct complex *turn_h, *turn_w, *a, *b;   /* a, b: h*w */
};

static int plan_open(struct plan *p, const weft_tensor *x, bool inverse)
{
	p->h = x->dim[1];
	p->w = x->dim[2];
	p->turn_h = turns(p->h, inverse);
	p->turn_w = turns(p->w, inverse);
	p->a = malloc((size_t)(p->h * p->w) * sizeof(*p->a));
	p->b = malloc((size_t)(p->h * p->w) * sizeof(*p->b));
	return p->turn_h && p->turn_w && p->a && p->b ? 0 : -ENOMEM;
}

static void plan_close(struct plan *p)
{
	free(p->turn_h);
	free(p->turn_w);
	free(p->a);
	free(p->b);
}

/* Transform a in place; b is between. */
static void both_ways(struct plan *p)
{
	for (int64_t y = 0; y < p->h; y++)
		transform(p->a + y * p->w, p->b + y * p->w, p->w, 1, p->turn_w);
	for (int64_t x = 0; x < p->w; x++)
		transform(p->b + x, p->a + x, p->h, p->w, p->turn_h);
}

static void one_image(const struct weft_call *c, struct plan *p, int64_t n)
{
	const int64_t size = p->h * p->w, out_w = c->y[0]->dim[2];

	for (int64_t i = 0; i < size; i++) {
		p->a[i].re = weft_get_f(c->x[0], n * size + i);
		p->a[i].im = c->n_x == 2 ? weft_get_f(c->x[1], n * size + i) : 0;
	}
	both_ways(p);
	for (int64_t y = 0; y < p->h; y++)
		for (int64_t x = 0; x < out_w; x++) {
			weft_put_f(c->y[0], (n * p->h + y) * out_w + x, p->a[y * p->w + x].re);
			weft_put_f(c->y[1], (n * p->h + y) * out_w + x, p->a[y * p->w + x].im);
		}
}

static int check(const struct weft_call *c)
{
	static const struct weft_row rows[] = {
		{ { WEFT_FP32 }, WEFT_FP32 },
		{ { WEFT_FP32, WEFT_FP32 }, WEFT_FP32 },
	};
	const weft_tensor *x = c->x[0], *y = c->y[0];
	int err;

	if ((err = weft_check_rows(c, rows + c->n_x - 1, 1)) || (err = weft_check_rank(c, "input", x, 3)) ||
	    (err = weft_check_rank(c, "output", y, 3)))
		return err;
	if (c->y[1]->dtype != WEFT_FP32 || !weft_same_shape(y, c->y[1]) || (c->n_x == 2 && !weft_same_shape(x, c->x[1])))
		return weft_call_fail(c, -EINVAL, "real and imaginary parts differ in type or shape");
	if (!power_of_two(x->dim[1]) || !power_of_two(x->dim[2]))
		return weft_call_fail(c, -EINVAL, "%lldx%lld, both must be powers of two", (long long)x->dim[1],
		                      (long long)x->dim[2]);
	if (y->dim[0] != x->dim[0] || y->dim[1] != x->dim[1] ||
	    y->dim[2] != (c->op == WEFT_OP_FFT2D ? x->dim[2] : x->dim[2] / 2 + 1))
		return weft_call_fail(c, -EINVAL, "output shape does not follow from input shape");
	return 0;
}

int weft_golden_fft2d(const struct weft_call *c)
{
	struct plan p;
	int err = check(c);

	if (err)
		return err;
	if ((err = plan_open(&p, c->x[0], c->op == WEFT_OP_FFT2D && c->attr->fft.inverse)))
		weft_call_fail(c, err, "out of memory");
	for (int64_t n = 0; !err && n < c->x[0]->dim[0]; n++)
		one_image(c, &p, n);
	plan_close(&p);
	return err;
}
