/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BATCH_MATMUL of float32 by int8 with leading dimensions of which several are larger than 1.
 *
 *   x      float32 [D0,D1,D2,M,K]     w  int8 [E0,E1,E2,K,N], D and E broadcast
 *   scale  float32, one number, that of w
 *   y      float32 [..,M,N]
 *
 * Each row of x is quantised by itself (hybrid_row.h). The sums are exact, but LiteRT's kernel numbers the rows'
 * scales and zero points, and the sums of w's columns, by b0 + b1 + b2 instead of the batch's place: it brings sums
 * back with other rows' scales. Only where E2 is 1 and x is not stored transposed, the last leading dimension counts as rows
 * (attribute fold). This is followed.
 *
 * Source: LiteRT 2.3, what its kernel gives.
 */
#include <stdlib.h>

#include "sim/golden/onnx/tfl/ops.h"
#include "sim/golden/tfl/hybrid_row.h"

#define RANK 5

enum { X, W, SCALE };

/* Of x's rows: codes less the zero points, these, and the scales. The sums of w's columns, a row for each matrix. */
struct rows { int16_t *code; int32_t *zp; float *scale; int64_t *columns; };

/* Returns the sum of the first n numbers of b, the batch's place, without those along which t is broadcast. */
static int64_t added(const weft_tensor *t, const int64_t *b, int n)
{
	int64_t i = 0;

	for (int d = 0; d < n; d++)
		i += t->dim[d] > 1 ? b[d] : 0;
	return i;
}

/* Quantises the rows of x and adds up the columns of w. */
static void prepare(const struct ref *r, struct rows *all)
{
	const weft_tensor *x = r->x[X], *w = r->x[W];
	const int64_t k = x->dim[4], n = w->dim[4];

	for (int64_t i = 0; i < REF_N(x) / k; i++)
		all->scale[i] = weft_hybrid_row((const float *)x->data + i * k, all->code + i * k, k, !r->a->i[0],
		                                &all->zp[i]);
	for (int64_t i = 0; i < REF_N(w); i++)
		all->columns[i / (k * n) * n + i % n] += ((const int8_t *)w->data)[i];
}

/* Computes matrix b of the result, at y. */
static void one(const struct ref *r, const struct rows *all, const int64_t *b, float *y)
{
	const weft_tensor *x = r->x[X], *w = r->x[W];
	const struct matrix of_x = ref_matrix_of(x, false), of_w = ref_matrix_of(w, true);
	const int64_t m = x->dim[3], k = x->dim[4], n = w->dim[4], own = ref_matrix_at(&of_x, RANK - 2, b) / k;
	const int64_t last = x->dim[2] > 1 ? b[2] : 0;
	const int64_t lent = (r->a->i[1] ? added(x, b, 2) * x->dim[2] + last : added(x, b, 3)) * m;
	const int64_t *columns = all->columns + added(w, b, 3) * n;
	const int8_t *from = (const int8_t *)w->data + ref_matrix_at(&of_w, RANK - 2, b);
	const float scale = *(const float *)r->x[SCALE]->data;

	for (int64_t i = 0; i < m; i++)
		for (int64_t j = 0; j < n; j++) {
			int64_t sum = -(int64_t)all->zp[lent + i] * columns[j];

			for (int64_t p = 0; p < k; p++)
				sum += (int64_t)(all->code[(own + i) * k + p] + all->zp[own + i]) * from[p * n + j];
			y[i * n + j] = (float)(int32_t)sum * (all->scale[lent + i] * scale);
		}
}

/* States the result. Returns 0, -EINVAL if operands do not fit, or another negative errno. */
static int shape(struct ref *r)
{
	const weft_tensor *x = r->x[X], *w = r->x[W];
	int64_t dim[RANK], most = 0;

	if (x->dtype != WEFT_FP32 || w->dtype != WEFT_INT8 || r->x[SCALE]->dtype != WEFT_FP32 ||
	    REF_N(r->x[SCALE]) != 1 || x->rank != RANK || w->rank != RANK || x->dim[4] != w->dim[3] || x->dim[4] < 1)
		return ref_fail(r, -EINVAL, "operands do not fit");
	for (int d = 0; d < 3; d++) {
		dim[d] = x->dim[d] == 1 ? w->dim[d] : x->dim[d];
		if (w->dim[d] != 1 && w->dim[d] != dim[d])
			return ref_fail(r, -EINVAL, "dimension %d is %lld and %lld", d, (long long)x->dim[d], (long long)w->dim[d]);
		most += w->dim[d] - 1;
	}
	if (r->a->i[1] && w->dim[2] != 1)
		return ref_fail(r, -EINVAL, "%lld matrices to fold", (long long)w->dim[2]);
	/* The kernel adds up the columns of so many matrices. */
	if (r->a->i[0] && !r->a->i[1] && most >= w->dim[1] * w->dim[2])
		return ref_fail(r, -ENOTSUP, "quantised asymmetrically, LiteRT reads sums of weights that it has not made");
	dim[3] = x->dim[3];
	dim[4] = w->dim[4];
	return ref_y(r, 0, WEFT_FP32, RANK, dim);
}

int tfl_hybrid_matmul(struct ref *r)
{
	const weft_tensor *x = r->x[X], *w = r->x[W];
	int64_t b[RANK];
	int err = shape(r);

	if (err || r->shapes)
		return err;
	const int64_t rows = REF_N(x) / x->dim[4], size = w->dim[4] * x->dim[3];
	struct rows all = { ref_alloc(r, REF_N(x), sizeof *all.code), ref_alloc(r, rows, sizeof *all.zp),
	                    ref_alloc(r, rows, sizeof *all.scale), ref_alloc(r, REF_N(w) / w->dim[3], sizeof *all.columns) };
	if (all.code && all.zp && all.scale && all.columns) {
		prepare(r, &all);
		for (int64_t i = 0; size && i < REF_N(r->y[0]) / size; i++) {
			ref_split(i, 3, r->y[0]->dim, b);
			one(r, &all, b, (float *)r->y[0]->data + i * size);
		}
	} else {
		err = -ENOMEM;
	}
	free(all.code);
	free(all.zp);
	free(all.scale);
	free(all.columns);
	return err;
}
