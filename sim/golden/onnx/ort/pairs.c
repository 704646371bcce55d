/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of products of uint8 by int8 as ONNX Runtime has them on x86-64 with AVX2 and without VNNI, for --requant runtime-avx2. Its
 * instruction adds two products and saturates that sum to 16 bits:
 *
 *   sum = saturate(x[0] * w[0] + x[1] * w[1]) + saturate(x[2] * w[2] + x[3] * w[3]) + ...
 *
 * of the codes as they are; an odd last product is alone. What zero points contribute is taken off afterwards, exactly. The pairs lie
 * along the inner dimension of a matrix product, whatever its other dimensions; in a convolution along the window's places, the
 * last axis fastest, with the group's channels innermost, and padding has the zero point as its code. Found by comparison with
 * ONNX Runtime 1.31.1 (make test T=runtimes/ort_pairs).
 */
#include <stdlib.h>

#include "sim/golden/onnx/ort/ops.h"
#include "sim/golden/onnx/ort/pairs.h"
#include "sim/golden/onnx/ref/window.h"

#define GROUP BEHIND_WINDOW

/* Returns the sum of the n products x[k] * w[k * step], each pair of them saturated. */
static int64_t in_pairs(const uint8_t *x, const int8_t *w, int64_t step, int64_t n)
{
	int64_t sum = 0;

	for (int64_t k = 0; k < n; k += 2)
		sum += ort_in_16_bits(x[k] * w[k * step] + (k + 1 < n ? x[k + 1] * w[(k + 1) * step] : 0));
	return sum;
}

/* Returns what zero points add to such a sum: n * x_zp * w_zp, less x_zp times all of w, less w_zp times all of x. */
static int64_t zero_points(const uint8_t *x, const int8_t *w, int64_t step, int64_t n, int64_t x_zp, int64_t w_zp)
{
	int64_t sum = n * x_zp * w_zp;

	for (int64_t k = 0; k < n; k++)
		sum -= x_zp * w[k * step] + w_zp * x[k];
	return sum;
}

/*
 * Checks that operand 0 is uint8, operand 1 int8 and each zero point that is there of its operand's type, and that both
 * operands have at least `rank` dimensions. Returns 0, or -ENOTSUP or -EINVAL after ref_fail().
 */
static int check_types(struct ref *r, int rank)
{
	const weft_tensor *x = r->x[0], *w = r->x[1];

	if (x->dtype != WEFT_UINT8 || w->dtype != WEFT_INT8 || x->rank < rank || w->rank < rank)
		return ref_fail(r, -ENOTSUP, "%s of rank %d by %s of rank %d", weft_dtype_name(x->dtype), x->rank, weft_dtype_name(w->dtype), w->rank);
	for (int k = 2; k < 4; k++)
		if (r->n_x > k && r->x[k] && r->x[k]->dtype != r->x[k - 2]->dtype)
			return ref_fail(r, -EINVAL, "a zero point of %s for %s", weft_dtype_name(r->x[k]->dtype), weft_dtype_name(r->x[k - 2]->dtype));
	return 0;
}

/* Returns zero point i of operand k, of which there may be one for all; 0 if there is no such operand. */
static int64_t zero_of(const struct ref *r, int k, int64_t i)
{
	const weft_tensor *t = r->n_x > k ? r->x[k] : NULL;

	return t ? ref_i(t, REF_N(t) == 1 ? 0 : i) : 0;
}

/*
 * Operands x [...,M,K], w [...,K,N] and the zero points of both: of x one, of w one or N. Result: int32 [...,M,N], without M if x is
 * a vector and without N if w is one.
 */
int ort_pairs_matmul(struct ref *r)
{
	const struct matrix x = ref_matrix_of(r->x[0], false), w = ref_matrix_of(r->x[1], true);
	const int64_t m = x.rows, k = x.columns, n = w.columns;
	int64_t dim[WEFT_MAX_RANK + 2], at[WEFT_MAX_RANK];
	int rank = 0, batch = 0, err = check_types(r, 1);

	err = err ? err : ref_product_shape(r, &x, &w, &rank, dim, &batch);
	err = err ? err : ref_count(r, 2, 1, true);
	err = err ? err : ref_count(r, 3, n, true);
	err = err ? err : ref_y(r, 0, WEFT_INT32, rank, dim);
	if (err || r->shapes)
		return err;
	for (int64_t i = 0, all = REF_N(r->y[0]); i < all; i++) {
		ref_split(i / n / m, batch, dim, at);
		const uint8_t *row = (const uint8_t *)x.t->data + ref_matrix_at(&x, batch, at) + i / n % m * k;
		const int8_t *column = (const int8_t *)w.t->data + ref_matrix_at(&w, batch, at) + i % n;
		ref_put_i(r->y[0], i, in_pairs(row, column, n, k) + zero_points(row, column, n, k, zero_of(r, 2, 0), zero_of(r, 3, i % n)));
	}
	return 0;
}

/* Puts what window p of group g sees of image b into x: its places one after another, with all channels of each. */
static void gather(const struct ref *r, const struct window *win, int64_t b, int64_t g, int64_t p, uint8_t *x)
{
	const weft_tensor *t = r->x[0];
	const int64_t in = ref_places(win->in, win->n), taps = ref_taps(win), channels = r->x[1]->dim[1];

	for (int64_t k = 0; k < taps; k++) {
		const int64_t at = ref_tap(win, p, k);
		for (int64_t c = 0; c < channels; c++)
			x[k * channels + c] = at < 0 ? (uint8_t)zero_of(r, 2, 0) : ((const uint8_t *)t->data)[(b * t->dim[1] + g * channels + c) * in + at];
	}
}

/*
 * The sums of QLinearConv. Operands x [N,C,...], w [OC,C/group,...] and the zero points of both: of x one, of w one or OC. Result: int32
 * [N,OC,...].
 */
int ort_pairs_conv(struct ref *r)
{
	const weft_tensor *x = r->x[0], *w = r->x[1];
	const int64_t group = r->a->i[GROUP];
	struct window win;
	int err = check_types(r, 3);

	if (err || w->rank != x->rank || group < 1 || x->dim[1] != w->dim[1] * group || w->dim[0] % group)
		return err ? err : ref_fail(r, -EINVAL, "weights do not fit");
	if ((err = ref_window_of(r, x, w->dim + 2, false, &win)) || (err = ref_count(r, 2, 1, true)) || (err = ref_count(r, 3, w->dim[0], true)) ||
	    (err = ref_y_images(r, 0, WEFT_INT32, w->dim[0], win.out)) || r->shapes)
		return err;
	const int64_t out = ref_places(win.out, win.n), taps = ref_taps(&win), ic = w->dim[1], oc = w->dim[0], n = taps * ic;
	int8_t *turned = ref_alloc(r, oc * n, 1);
	uint8_t *seen = turned ? ref_alloc(r, n, 1) : NULL;
	for (int64_t i = 0; seen && i < oc * n; i++)
		turned[i] = ((const int8_t *)w->data)[(i / n * ic + i % ic) * taps + i % n / ic];
	for (int64_t i = 0, all = x->dim[0] * group * out; seen && i < all; i++) {
		const int64_t p = i % out, g = i / out % group, b = i / out / group;
		gather(r, &win, b, g, p, seen);
		for (int64_t o = g * (oc / group); o < (g + 1) * (oc / group); o++)
			ref_put_i(r->y[0], (b * oc + o) * out + p, in_pairs(seen, turned + o * n, 1, n) +
			          zero_points(seen, turned + o * n, 1, n, zero_of(r, 2, 0), zero_of(r, 3, o)));
	}
	free(turned);
	free(seen);
	return seen ? 0 : -ENOMEM;
}
