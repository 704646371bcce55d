/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Float rows of RESIZE, BILINEAR. TOSA 1.0 section 2.12.1. (NEAREST copies.)
 *
 *   x, y  [N][H][W][C], one of fp16, bf16, fp32
 *
 * The weights r/scale_n and the four products are in fp64, rounded once.
 */
#include "../resize.h"
#include "element.h"
#include "ops.h"

static double sample(const weft_tensor *x, const int64_t *o, const struct weft_resize_at *ay,
                     const struct weft_resize_at *ax, double dy, double dx)
{
	const int64_t row0 = (o[0] * x->dim[1] + ay->i0) * x->dim[2], row1 = (o[0] * x->dim[1] + ay->i1) * x->dim[2];
	const int64_t n = x->dim[3];
	double v = weft_get_f(x, (row0 + ax->i0) * n + o[3]) * (1 - dy) * (1 - dx);

	v += weft_get_f(x, (row0 + ax->i1) * n + o[3]) * (1 - dy) * dx;
	v += weft_get_f(x, (row1 + ax->i0) * n + o[3]) * dy * (1 - dx);
	return v + weft_get_f(x, (row1 + ax->i1) * n + o[3]) * dy * dx;
}

int weft_float_resize(const struct weft_call *c)
{
	const struct weft_attr_resize *a = &c->attr->resize;
	const weft_tensor *x = c->x[0], *y = c->y[0];
	struct weft_walk w = { .rank = 4 };
	int64_t i = 0;

	for (int d = 0; d < 4; d++)
		w.dim[d] = y->dim[d];
	do {
		struct weft_resize_at ay = weft_resize_sample(w.idx[1], a->scale_y_n, a->scale_y_d, a->offset_y, x->dim[1]);
		struct weft_resize_at ax = weft_resize_sample(w.idx[2], a->scale_x_n, a->scale_x_d, a->offset_x, x->dim[2]);

		weft_put_f(y, i++, sample(x, w.idx, &ay, &ax, (double)ay.r / a->scale_y_n, (double)ax.r / a->scale_x_n));
	} while (weft_walk_next(&w));
	return 0;
}
