/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Softmax, LogSoftmax, BatchNormalization, InstanceNormalization, ReduceMean and ReduceSum of float32 for --requant runtime, operation
 * for operation.
 *
 * Exponentials are summed in eight lanes, of every eighth element each, which are added in a tree. Sums of InstanceNormalization are
 * Eigen's: in two times four lanes.
 */
#include "sim/golden/onnx/ort/functions.h"
#include "sim/golden/onnx/ort/ops.h"

#define LANES 8

static int of_floats(struct ref *r)
{
	for (int k = 0; k < r->n_x; k++)
		if (r->x[k] && r->x[k]->dtype != WEFT_FP32)
			return ref_fail(r, -ENOTSUP, "of %s", weft_dtype_name(r->x[k]->dtype));
	return 0;
}

/* ---- Softmax ---- */

/* One line of n elements, `step` apart. */
static void soft_line(const float *x, int64_t step, int64_t n, bool logarithm, float *y)
{
	float most = -3.402823466e38f, lane[LANES] = { 0 };

	for (int64_t k = 0; k < n; k++)
		most = x[k * step] > most ? x[k * step] : most;
	for (int64_t k = 0; k < n; k++) {
		const float e = ort_exp(x[k * step] + -most);
		lane[k % LANES] += e;
		y[k * step] = e;
	}
	const float sum = ((lane[4] + lane[5]) + (lane[6] + lane[7])) + ((lane[0] + lane[1]) + (lane[2] + lane[3]));
	const float inverse = 1 / sum, all = logf(sum);
	for (int64_t k = 0; k < n; k++)
		y[k * step] = logarithm ? x[k * step] + -most - all : y[k * step] * inverse;
}

/* Before opset 13 the axis is where the tensor is cut into a matrix of lines. */
int ort_softmax(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const bool old = r->a->opset < 13;
	const int given = r->a->i[0] == WEFT_ONNX_ABSENT ? (old ? 1 : -1) : r->a->i[0];
	const int axis = ref_axis(r, given, x->rank ? x->rank : 1);
	int err = axis < 0 ? axis : of_floats(r);

	err = err ? err : ref_y_like(r, 0, x);
	if (err || r->shapes || !REF_N(x))
		return err;
	const int64_t inner = old || !x->rank ? 1 : ref_inner(x, axis), n = !x->rank ? 1 : old ? REF_N(x) / ref_outer(x, axis) : x->dim[axis];
	for (int64_t line = 0, lines = REF_N(x) / n; line < lines; line++) {
		const int64_t at = line / inner * n * inner + line % inner;
		soft_line((const float *)x->data + at, inner, n, *r->name == 'L', (float *)r->y[0]->data + at);
	}
	return 0;
}

/* ---- normalisation and sums ---- */

/* The n elements at x times a factor, plus a number. */
static void scale_and_shift(const float *x, int64_t n, float factor, float more, float *y)
{
	for (int64_t i = 0; i < n; i++) {
		const float product = x[i] * factor;
		y[i] = product + more;
	}
}

int ort_batch_norm(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int err = x->rank < 2 || r->a->i[0] ? ref_fail(r, x->rank < 2 ? -EINVAL : -ENOTSUP, "rank %d, or training", x->rank) : of_floats(r);

	for (int k = 1; k < 5 && !err; k++)
		err = ref_count(r, k, x->dim[1], false);
	err = err ? err : ref_y_like(r, 0, x);
	if (err || r->shapes)
		return err;
	const float *scale = r->x[1]->data, *bias = r->x[2]->data, *mean = r->x[3]->data, *variance = r->x[4]->data;
	const int64_t n = ref_inner(x, 1);
	for (int64_t i = 0; i < x->dim[0] * x->dim[1]; i++) {
		const int64_t c = i % x->dim[1];
		const float factor = 1 / sqrtf(variance[c] + r->a->f[0]) * scale[c], less = mean[c] * factor;
		scale_and_shift((const float *)x->data + i * n, n, factor, bias[c] - less, (float *)r->y[0]->data + i * n);
	}
	return 0;
}

/* The sum of (x - mean)^power over n elements, in lanes from element `from` on, a multiple of four behind which lie whole lanes. */
static float lanes(const float *x, int64_t n, int64_t from, float mean, bool square)
{
	const int64_t fours = (n - from) / 4 * 4, eights = (n - from) / 8 * 8;
	float s[8] = { 0 }, sum = 0;

	for (int64_t i = 0; i < fours; i++) {
		const float d = x[from + i] - mean, v = square ? d * d : d;
		const int lane = i < eights ? (int)(i % 8) : (int)(i % 4);
		s[lane] = i < 8 && i < eights ? v : i < 4 ? v : s[lane] + v;
		if (i == eights - 1)
			for (int k = 0; k < 4; k++)
				s[k] += s[k + 4];
	}
	if (fours)
		sum = (s[0] + s[2]) + (s[1] + s[3]);
	for (int64_t i = 0; i < n; i++)
		if (i < from || i >= from + fours) {
			const float d = x[i] - mean, v = square ? d * d : d;
			sum = fours || i ? sum + v : v;
		}
	return sum;
}

int ort_instance_norm(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int err = x->rank < 2 ? ref_fail(r, -EINVAL, "rank %d", x->rank) : of_floats(r);

	for (int k = 1; k < 3 && !err; k++)
		err = ref_count(r, k, x->dim[1], false);
	err = err ? err : ref_y_like(r, 0, x);
	if (err || r->shapes)
		return err;
	const int64_t n = ref_inner(x, 1);
	for (int64_t i = 0; i < x->dim[0] * x->dim[1] && n > 0; i++) {
		const float *p = (const float *)x->data + i * n, *scale = r->x[1]->data, *bias = r->x[2]->data;
		const int64_t begin = (4 - i * n % 4) % 4;       /* lanes begin where 16 bytes do */
		const float mean = lanes(p, n, begin < n ? begin : n, 0, false) / (float)n, squares = lanes(p, n, 0, mean, true);
		const float factor = 1 / sqrtf(squares / (float)n + r->a->f[0]) * scale[i % x->dim[1]], less = mean * factor;
		scale_and_shift(p, n, factor, bias[i % x->dim[1]] - less, (float *)r->y[0]->data + i * n);
	}
	return 0;
}

/* Of a [rows][n] matrix the sum of column j: element after element, or in fours, of which two and one remain at the end. */
static float column(const float *x, int64_t rows, int64_t n, int64_t j, bool fours)
{
	float sum = 0;

	for (int64_t i = 0, many; i < rows; i += many) {
		const int64_t left = rows - i;
		many = !fours ? 1 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
		float part = x[i * n + j];
		for (int64_t k = 1; k < many; k++)
			part += x[(i + k) * n + j];
		sum = i ? sum + part : part;
	}
	return sum;
}

enum { AXES, KEEPDIMS = 9, NOOP };

/* Sets *axes to the axes of the node as bits, and y to the result's shape; without axes all, unless the node says otherwise. */
static int reduced(struct ref *r, unsigned *axes, weft_tensor *y)
{
	const weft_tensor *x = r->x[0];
	int64_t v[WEFT_ONNX_LIST];
	const int n = ref_list(r, AXES, 1, WEFT_ONNX_LIST, v);

	*axes = n || r->a->i[NOOP] ? 0 : (1u << x->rank) - 1;
	for (int i = 0; i < n; i++) {
		const int axis = ref_axis(r, v[i], x->rank);
		if (axis < 0)
			return axis;
		*axes |= 1u << axis;
	}
	*y = (weft_tensor){ .dtype = WEFT_FP32 };
	for (int d = 0; d < x->rank; d++)
		if (!(*axes >> d & 1) || r->a->i[KEEPDIMS])
			y->dim[y->rank++] = *axes >> d & 1 ? 1 : x->dim[d];
	return n < 0 ? n : 0;
}

/*
 * ReduceMean and ReduceSum of neighbouring axes: [before][n][behind]. Whole lines are Eigen's sums, as in InstanceNormalization; with
 * elements behind, they are added column by column, and where there are several before, too, by a product with a row of ones.
 */
int ort_reduce(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int64_t extent[3] = { 1, 1, 1 };       /* before, n, behind */
	int err = x->dtype == WEFT_FP32 ? 0 : ref_fail(r, -ENOTSUP, "of %s", weft_dtype_name(x->dtype)), part = 0;
	unsigned axes = 0;
	weft_tensor y;

	err = err ? err : reduced(r, &axes, &y);
	for (int d = 0; d < x->rank && !err; d++) {
		part += (axes >> d & 1) == (part != 1);
		if (part > 2)
			return ref_fail(r, -ENOTSUP, "axes that are no neighbours");
		extent[part] *= x->dim[d];
	}
	if (!err && (!axes || !REF_N(x)))
		err = ref_fail(r, -ENOTSUP, "no axes or no elements");
	err = err ? err : ref_y(r, 0, WEFT_FP32, y.rank, y.dim);
	if (err || r->shapes)
		return err;
	const int64_t n = extent[1], behind = extent[2];
	for (int64_t i = 0; i < extent[0] * behind; i++) {
		const float *line = (const float *)x->data + i / behind * n * behind;
		const int64_t at = i * n % 4, begin = at ? 4 - at : 0;
		const bool lines = part < 2;
		const float sum = lines ? lanes(line, n, begin < n ? begin : n, 0, false) : column(line, n, behind, i % behind, extent[0] > 1);
		((float *)r->y[0]->data)[i] = strcmp(r->name, "ReduceMean") ? sum : sum / (float)n;
	}
	return 0;
}
