/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MatMul, Gemm, Conv, ConvTranspose, AveragePool, GlobalAveragePool, linear Resize, LayerNormalization and Erf of float32 in the order of
 * operations that ONNX Runtime has on x86-64 with fused multiplications and additions, for --requant runtime.
 *
 * Its matrix product y = a * b has three forms; the first that fits is taken:
 *
 *   one row of a             products of four terms of the inner dimension are rounded and added one after another; that
 *                            sum is added to the element. Two terms and one term remain at the end.
 *   ..., b stored turned     eight sums, each of every eighth rounded product, which are then added in a tree
 *   one column of b          the same two, with a and b exchanged
 *   else                     a chain of fused multiplications and additions along the inner dimension, which is cut into
 *                            panels; each panel's chain begins at 0 and is added to the element
 *
 * Convolutions are products of the weights and the windows, channels outermost, one for each group; the bias comes last.
 * That is how ONNX Runtime 1.31.1 computes with one thread, and with optimisation off: weights that it packs beforehand have
 * other panels. Found by comparison, element for element.
 */
#include <stdlib.h>

#include "sim/golden/onnx/ref/window.h"

#define GROUP BEHIND_WINDOW

/* An operand: element (i, k) is p[i * row + k * column]; turned: its rows are stored as columns. */
struct factor { const float *p; int64_t row, column; bool turned; };

/* y [m][n] = a [m][k] * b [k][n]; begun: y holds what the products are added to. */
struct product { struct factor a, b; int64_t m, n, k; float *y; bool begun; };

static float of(const struct factor *f, int64_t i, int64_t k)
{
	return f->p[i * f->row + k * f->column];
}

/* The greatest length of a panel. It halves for short products of many columns, and doubles for few columns unless a is stored turned. */
static int64_t panel(int64_t n, int64_t k, bool turned)
{
	int64_t columns = 128, most = 128;

	if (n >= k)
		for (; most / 2 >= k && most > 1; most /= 2)
			;
	else
		for (; !turned && columns > 16 && columns / 2 >= n; columns /= 2)
			most *= 2;
	return most;
}

static float chained(const struct product *p, int64_t i, int64_t j, int64_t most)
{
	float y = p->begun ? p->y[i * p->n + j] : 0;

	for (int64_t from = 0; from < p->k; from += most) {
		const int64_t end = from + most < p->k ? from + most : p->k;
		float sum = 0;
		for (int64_t k = from; k < end; k++)
			sum = fmaf(of(&p->a, i, k), of(&p->b, k, j), sum);
		y = from || p->begun ? y + sum : sum;
	}
	return y;
}

/* Row x times column j of w, in fours. */
static float in_fours(const struct product *p, const struct factor *x, const struct factor *w, int64_t j, float y)
{
	for (int64_t k = 0, many; k < p->k; k += many) {
		const int64_t left = p->k - k;
		many = left >= 4 ? 4 : left >= 2 ? 2 : 1;
		float sum = of(x, 0, k) * of(w, k, j);
		for (int64_t i = 1; i < many; i++)
			sum += of(x, 0, k + i) * of(w, k + i, j);
		y = sum + y;
	}
	return y;
}

/* The same, in eight sums. How these are added depends on how many columns are computed at once: four, two or one. */
static float in_eighths(const struct product *p, const struct factor *x, const struct factor *w, int64_t j, int64_t n, float y)
{
	const int64_t rest = n - n / 4 * 4;
	float s[8] = { 0 };

	for (int64_t k = 0; k < p->k; k++)
		s[k % 8] += of(x, 0, k) * of(w, k, j);
	if (j < n - rest)
		return (((s[0] + s[1]) + s[2]) + s[3]) + (((s[4] + s[5]) + s[6]) + s[7]) + y;
	if (rest >= 2 && j < n - rest + 2)
		return (((s[0] + s[2]) + (s[4] + s[6])) + ((s[1] + s[3]) + (s[5] + s[7]))) + y;
	return (((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))) + y;
}

static struct factor turned(struct factor f)
{
	return (struct factor){ f.p, f.column, f.row, !f.turned };
}

static void multiply(const struct product *p)
{
	const bool row = p->m == 1 && !p->a.turned, column = !row && p->n == 1 && !p->b.turned;
	const struct factor x = row ? p->a : turned(p->b), w = row ? p->b : turned(p->a);
	const int64_t lines = row ? p->n : p->m, most = panel(p->n, p->k, p->a.turned);

	for (int64_t i = 0; i < p->m * p->n; i++) {
		const float y = p->begun ? p->y[i] : 0;
		if (!row && !column)
			p->y[i] = chained(p, i / p->n, i % p->n, most);
		else
			p->y[i] = w.turned ? in_eighths(p, &x, &w, i, lines, y) : in_fours(p, &x, &w, i, y);
	}
}

/* ---- MatMul ---- */

/* The product of the dimensions of t from `first` on, up to `end`. */
static int64_t extent(const weft_tensor *t, int first, int end)
{
	int64_t n = 1;

	for (int d = first; d < end; d++)
		n *= t->dim[d];
	return n;
}

static bool floats(struct ref *r)
{
	for (int k = 0; k < r->n_x; k++)
		if (r->x[k] && r->x[k]->dtype != WEFT_FP32) {
			ref_fail(r, -ENOTSUP, "of %s", weft_dtype_name(r->x[k]->dtype));
			return false;
		}
	return true;
}

int ref_chain_matmul(struct ref *r)
{
	const struct matrix a = ref_matrix_of(r->x[0], false), b = ref_matrix_of(r->x[1], true);
	const int64_t k = a.columns, n = b.columns;
	int64_t dim[WEFT_MAX_RANK + 2], at[WEFT_MAX_RANK];
	int rank = 0, batch = 0;

	if (!floats(r))
		return -ENOTSUP;
	int err = ref_product_shape(r, &a, &b, &rank, dim, &batch);
	err = err ? err : ref_y(r, 0, WEFT_FP32, rank, dim);
	if (err || r->shapes)
		return err;
	/* If there is one matrix b, the rows of all matrices a are those of one. */
	const bool one = extent(b.t, 0, b.batch) == 1 && a.t->rank >= b.t->rank && b.t->rank > 1;
	const int64_t rows = one ? extent(a.t, 0, a.t->rank - 1) : a.rows;
	int64_t matrices = 1;
	for (int d = 0; d < batch && !one; d++)
		matrices *= dim[d];
	for (int64_t i = 0; i < matrices && rows * n > 0; i++) {
		ref_split(i, batch, dim, at);
		multiply(&(struct product){
			.a = { (const float *)a.t->data + (one ? 0 : ref_matrix_at(&a, batch, at)), k, 1, false },
			.b = { (const float *)b.t->data + (one ? 0 : ref_matrix_at(&b, batch, at)), n, 1, false },
			.m = rows, .n = n, .k = k, .y = (float *)r->y[0]->data + i * a.rows * n });
	}
	return 0;
}

/* ---- Gemm ---- */

int ref_chain_gemm(struct ref *r)
{
	const weft_tensor *a = r->x[0], *b = r->x[1], *c = r->n_x > 2 ? r->x[2] : NULL;
	const int ta = r->a->i[0] != 0, tb = r->a->i[1] != 0;

	if (!floats(r) || r->a->f[0] != 1 || (c && r->a->f[1] != 1))
		return ref_fail(r, -ENOTSUP, "types or factors that are not those of a float32 product");
	if (a->rank != 2 || b->rank != 2 || a->dim[!ta] != b->dim[tb])
		return ref_fail(r, -EINVAL, "matrices do not fit");
	const int64_t m = a->dim[ta], k = a->dim[!ta], n = b->dim[!tb];
	int err = ref_fits(r, 2, &(weft_tensor){ .rank = 2, .dim = { m, n } });
	err = err ? err : ref_y(r, 0, WEFT_FP32, 2, (int64_t[]){ m, n });
	if (err || r->shapes)
		return err;
	float *y = r->y[0]->data;
	for (int64_t i = 0; c && i < m * n; i++)
		y[i] = ((const float *)c->data)[ref_at(c, 2, (int64_t[]){ i / n, i % n })];
	multiply(&(struct product){ .a = { a->data, ta ? 1 : k, ta ? m : 1, ta }, .b = { b->data, tb ? 1 : n, tb ? k : 1, tb }, .m = m, .n = n, .k = k,
	                            .y = y, .begun = c != NULL });
	return 0;
}

/* ---- Conv ---- */

/* The windows of c channels at x, as columns: [c * taps][places]. */
static void columns(const struct window *w, const float *x, int64_t c, float *to)
{
	const int64_t in = ref_places(w->in, w->n), out = ref_places(w->out, w->n), taps = ref_taps(w);

	for (int64_t i = 0; i < c * taps; i++)
		for (int64_t p = 0; p < out; p++) {
			const int64_t at = ref_tap(w, p, i % taps);
			to[i * out + p] = at < 0 ? 0 : x[i / taps * in + at];
		}
}

/* One channel whose windows are whole rows of the image: these are read as the columns' transpose. */
static bool whole_rows(const struct window *w, int64_t c)
{
	bool plain = c == 1 && w->n < 3 && ref_taps(w) > 1;

	for (int d = 0; d < w->n; d++)
		plain = plain && w->stride[d] == 1 && w->dilation[d] == 1 && !w->before[d] && !w->after[d];
	return plain && w->kernel[w->n - 1] == w->in[w->n - 1];
}

/* Adds numbers `first` to first + channels - 1 of the bias, if the operator has one, to the n places of so many channels in y. */
static void add_bias(const struct ref *r, int64_t first, int64_t channels, int64_t n, float *y)
{
	const float *bias = r->n_x > 2 && r->x[2] ? r->x[2]->data : NULL;

	for (int64_t o = 0; bias && o < channels; o++)
		for (int64_t i = 0; i < n; i++)
			y[o * n + i] += bias[first + o];
}

int ref_chain_conv(struct ref *r)
{
	const weft_tensor *x = r->x[0], *w = r->x[1];
	const int64_t group = r->a->i[GROUP];
	struct window win;

	if (!floats(r))
		return -ENOTSUP;
	if (x->rank < 3 || w->rank != x->rank || group < 1 || x->dim[1] != w->dim[1] * group || w->dim[0] % group)
		return ref_fail(r, -EINVAL, "weights do not fit");
	int err = ref_window_of(r, x, w->dim + 2, false, &win);
	err = err ? err : ref_count(r, 2, w->dim[0], false);
	err = err ? err : ref_y_images(r, 0, WEFT_FP32, w->dim[0], win.out);
	if (err || r->shapes)
		return err;
	const int64_t in = ref_places(win.in, win.n), out = ref_places(win.out, win.n), c = w->dim[1], k = c * ref_taps(&win), oc = w->dim[0] / group;
	float *read = ref_alloc(r, k * out, sizeof *read);
	if (!read)
		return -ENOMEM;
	for (int64_t i = 0; i < x->dim[0] * group && k * out > 0; i++) {
		const int64_t g = i % group;
		float *to = (float *)r->y[0]->data + i * oc * out;
		columns(&win, (const float *)x->data + i * c * in, c, read);
		multiply(&(struct product){ .a = { (const float *)w->data + g * oc * k, k, 1, false }, .b = { read, out, 1, whole_rows(&win, c) },
		                            .m = oc, .n = out, .k = k, .y = to });
		add_bias(r, g * oc, oc, out, to);
	}
	free(read);
	return 0;
}

/* ---- ConvTranspose ---- */

/* Adds the columns [taps][places of x] of one channel to its image y, tap after tap. */
static void add_columns(const struct window *w, const float *from, float *y)
{
	const int64_t places = ref_places(w->out, w->n);

	for (int64_t i = 0; i < ref_taps(w) * places; i++) {
		const int64_t at = ref_tap(w, i % places, i / places);
		if (at >= 0)
			y[at] += from[i];
	}
}

/* One product of each group's weights, turned, and x; its rows are added to the result, which begins with 0; the bias comes last. */
int ref_chain_conv_transpose(struct ref *r)
{
	const weft_tensor *x = r->x[0], *w = r->x[1];
	const int64_t group = r->a->i[GROUP];
	struct window win;

	if (!floats(r))
		return -ENOTSUP;
	int err = ref_transposed_window(r, &win);
	if (!err && (group < 1 || x->dim[1] != w->dim[0] || x->dim[1] % group))
		err = ref_fail(r, -EINVAL, "weights do not fit");
	err = err ? err : ref_count(r, 2, w->dim[1] * group, false);
	err = err ? err : ref_y_images(r, 0, WEFT_FP32, w->dim[1] * group, win.in);
	if (err || r->shapes)
		return err;
	const int64_t in = ref_places(win.out, win.n), out = ref_places(win.in, win.n), c = x->dim[1] / group, oc = w->dim[1], rows = oc * ref_taps(&win);
	float *columns = ref_alloc(r, rows * in, sizeof *columns);
	if (!columns)
		return -ENOMEM;
	for (int64_t i = 0; i < x->dim[0] * group && rows * in > 0; i++) {
		const int64_t g = i % group;
		float *to = (float *)r->y[0]->data + i * oc * out;
		multiply(&(struct product){ .a = { (const float *)w->data + g * c * rows, 1, rows, true }, .b = { (const float *)x->data + i * c * in, in, 1, false },
		                            .m = rows, .n = in, .k = c, .y = columns });
		memset(to, 0, (size_t)(oc * out) * sizeof *to);
		for (int64_t o = 0; o < oc; o++)
			add_columns(&win, columns + o * ref_taps(&win) * in, to + o * out);
		add_bias(r, g * oc, oc, out, to);
	}
	free(columns);
	return 0;
}

/* ---- averages ---- */

/*
 * The sum of window p of an image: by columns, of each column from its first row on, then of the columns' sums; else element
 * by element. Sets *count to the elements that are no padding.
 */
static float window_sum(const struct window *w, bool by_columns, const float *x, int64_t p, int64_t *count)
{
	const int64_t taps = ref_taps(w), width = w->kernel[w->n - 1];
	float sum = 0;

	*count = 0;
	for (int64_t c = 0; c < (by_columns ? width : 1); c++) {
		float column = 0;
		bool any = false;
		for (int64_t k = by_columns ? c : 0; k < taps; k += by_columns ? width : 1) {
			const int64_t at = ref_tap(w, p, k);
			if (at < 0)
				continue;
			column += x[at];
			any = true;
			++*count;
		}
		sum = any ? sum + column : sum;
	}
	return sum;
}

/*
 * AveragePool. The runtime has two kernels. One adds up each column of a window and then the columns, if windows lie at most two
 * columns apart; otherwise it adds element by element. The other one always adds element by element. The runtime takes it in opset 19
 * and later, and in older opsets if ceil_mode is set and padding counts.
 */
int ref_chain_average(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const bool ceil_mode = r->a->i[BEHIND_WINDOW] != 0, padding = r->a->i[BEHIND_WINDOW + 1] != 0;
	struct window win;

	if (!floats(r) || x->rank < 3)
		return ref_fail(r, -ENOTSUP, "type or rank");
	int err = ref_window_of(r, x, NULL, ceil_mode, &win);
	err = err ? err : ref_y_images(r, 0, WEFT_FP32, x->dim[1], win.out);
	if (err || r->shapes)
		return err;
	const int64_t in = ref_places(win.in, win.n), out = ref_places(win.out, win.n), taps = ref_taps(&win);
	const bool by_columns = win.n > 1 && win.stride[win.n - 1] <= 2 && r->a->opset < 19 && !(ceil_mode && padding);
	for (int64_t i = 0; i < REF_N(r->y[0]); i++) {
		int64_t count;
		const float sum = window_sum(&win, by_columns, (const float *)x->data + i / out * in, i % out, &count);
		if (padding)
			count = ceil_mode ? ref_padded_taps(&win, i % out) : taps;
		((float *)r->y[0]->data)[i] = sum / (float)count;
	}
	return 0;
}

/* The average of a whole channel: four sums of every fourth element, added in a tree, then the elements that four leave over. */
int ref_chain_average_all(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	weft_tensor y = *x;

	if (!floats(r) || x->rank < 3)
		return ref_fail(r, -ENOTSUP, "type or rank");
	for (int d = 2; d < y.rank; d++)
		y.dim[d] = 1;
	int err = ref_y_like(r, 0, &y);
	if (err || r->shapes)
		return err;
	const int64_t n = extent(x, 2, x->rank);
	for (int64_t i = 0; i < REF_N(&y); i++) {
		const float *p = (const float *)x->data + i * n;
		float s[4] = { 0 };
		for (int64_t k = 0; k < n / 4 * 4; k++)
			s[k % 4] += p[k];
		float sum = (s[0] + s[2]) + (s[1] + s[3]);
		for (int64_t k = n / 4 * 4; k < n; k++)
			sum += p[k];
		((float *)r->y[0]->data)[i] = sum / (float)n;
	}
	return 0;
}

/* ---- Resize of images, mode linear ---- */

enum { MODE, COORDINATES, ANTIALIAS, POLICY, SCALED_AXES };
enum { HALF_PIXEL, ASYMMETRIC, ALIGN_CORNERS, PYTORCH_HALF_PIXEL };

/* Between which elements a result lies, and the weight of each: the distance from the other one. */
struct between { int64_t at[2]; float weight[2]; };

/* Place i of m results of a dimension of n elements, with that scale. */
static struct between place(int64_t i, int64_t n, int64_t m, float scale, int coordinates)
{
	float v = ((float)i + 0.5f) / scale - 0.5f;

	if (coordinates == ASYMMETRIC)
		v = (float)i / scale;
	if (coordinates == ALIGN_CORNERS)
		v = m > 1 ? (float)i * (float)(n - 1) / (float)(m - 1) : 0;
	if (coordinates == PYTORCH_HALF_PIXEL && m == 1)
		v = 0;
	v = fmaxf(0, fminf(v, (float)(n - 1)));
	const int64_t from = (int64_t)v < n - 1 ? (int64_t)v : n - 1, to = from + 1 < n ? from + 1 : n - 1;
	struct between b = { { from, to }, { fabsf(v - (float)to), fabsf(v - (float)from) } };
	if (from == to)
		b.weight[0] = b.weight[1] = 0.5f;
	return b;
}

/* Sets the results' lengths and scales of the last two dimensions from operand 2, the scales, or 3, the sizes. */
static int lengths(struct ref *r, int64_t *length, float *scale)
{
	const weft_tensor *x = r->x[0], *scales = r->n_x > 2 && r->x[2] && REF_N(r->x[2]) ? r->x[2] : NULL;
	int64_t sizes[WEFT_MAX_RANK];
	int err = scales ? ref_need_data(r, 2) : ref_ints(r, 3, x->rank, sizes);

	if (err < 0 || (scales ? REF_N(scales) : err) != x->rank)
		return err < 0 ? err : ref_fail(r, -EINVAL, "scales or sizes of another rank");
	for (int d = 0; d < 4; d++) {
		const float s = scales ? (float)ref_f(scales, d) : (float)sizes[d] / (float)x->dim[d];
		if (x->dim[d] < 1 || !(s > 0 && s * (float)x->dim[d] < 0x1p31f))
			return ref_fail(r, -EINVAL, "dimension %d of %lld elements, scale %g", d, (long long)x->dim[d], (double)s);
		const int64_t m = scales ? (int64_t)(s * (float)x->dim[d]) : sizes[d];
		if (d < 2 && m != x->dim[d])
			return ref_fail(r, -ENOTSUP, "dimension %d changes", d);
		if (d >= 2 && (m < 1 || m > INT32_MAX))
			return ref_fail(r, -EINVAL, "dimension %d of the result is %lld", d, (long long)m);
		if (d >= 2) {
			length[d - 2] = m;
			scale[d - 2] = s;
		}
	}
	return 0;
}

/* The four neighbours' products with their weights are rounded, and added row by row. */
int ref_chain_resize(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	weft_tensor y = *x;
	float scale[2];

	if (x->dtype != WEFT_FP32 || x->rank != 4 || r->a->opset < 11 || r->a->i[MODE] != 1 || r->a->i[ANTIALIAS] || r->a->i[POLICY] ||
	    r->a->i[SCALED_AXES] >= 0)
		return ref_fail(r, -ENOTSUP, "type, rank or mode");
	int err = lengths(r, y.dim + 2, scale);
	err = err ? err : ref_y_like(r, 0, &y);
	if (err || r->shapes)
		return err;
	for (int64_t i = 0; i < REF_N(&y); i++) {
		const struct between v = place(i / y.dim[3] % y.dim[2], x->dim[2], y.dim[2], scale[0], r->a->i[COORDINATES]);
		const struct between u = place(i % y.dim[3], x->dim[3], y.dim[3], scale[1], r->a->i[COORDINATES]);
		const float *p = (const float *)x->data + i / (y.dim[2] * y.dim[3]) * x->dim[2] * x->dim[3];
		float sum = 0;
		for (int k = 0; k < 4; k++) {
			const float weight = u.weight[k & 1] * v.weight[k >> 1], part = weight * p[v.at[k >> 1] * x->dim[3] + u.at[k & 1]];
			sum = k ? sum + part : part;
		}
		((float *)r->y[0]->data)[i] = sum;
	}
	return 0;
}

/* ---- LayerNormalization ---- */

/* A row: n elements, its scale and bias (NULL: none), and what is added to the variance. */
struct line { const float *x, *scale, *bias; int64_t n; float epsilon; };

/* Rows below eight elements: mean and variance are corrected with each element. */
static void normalise_short(const struct line *l, float *y, float *mean, float *inverse)
{
	float m = 0, squares = 0;

	for (int64_t i = 0; i < l->n; i++) {
		const float d = l->x[i] - m;
		m += d / (float)(i + 1);
		squares += d * (l->x[i] - m);
	}
	const float deviation = sqrtf(squares / (float)l->n + l->epsilon);
	for (int64_t i = 0; i < l->n; i++)
		y[i] = (l->x[i] - m) / deviation * l->scale[i] + (l->bias ? l->bias[i] : 0);
	*mean = m;
	*inverse = 1 / deviation;
}

/*
 * The others: the mean in float64; squares in eight sums, which are added in a tree; of what eight do not divide, groups of
 * four are rounded squares and the last ones fused.
 */
static void normalise(const struct line *l, float *y, float *mean, float *inverse)
{
	const int64_t eights = l->n / 8 * 8, fours = eights + (l->n - eights) / 4 * 4;
	float s[8] = { 0 };
	double sum = 0;

	for (int64_t i = 0; i < l->n; i++)
		sum += (double)l->x[i];
	const float m = (float)(sum / (double)l->n);
	for (int64_t i = 0; i < eights; i++)
		s[i % 8] = fmaf(l->x[i] - m, l->x[i] - m, s[i % 8]);
	float squares = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
	for (int64_t i = eights; i < l->n; i++) {
		const float d = l->x[i] - m;
		squares = i < fours ? squares + d * d : fmaf(d, d, squares);
	}
	*inverse = 1 / sqrtf(squares / (float)l->n + l->epsilon);
	for (int64_t i = 0; i < l->n; i++) {
		const float d = (l->x[i] - m) * *inverse;
		y[i] = l->bias ? fmaf(d, l->scale[i], l->bias[i]) : d * l->scale[i];
	}
	*mean = m;
}

int ref_chain_layer_norm(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const int axis = ref_axis(r, r->a->i[0], x->rank);
	float none[2];

	if (axis < 0 || !floats(r))
		return axis < 0 ? axis : -ENOTSUP;
	const int64_t n = extent(x, axis, x->rank), lines = extent(x, 0, axis);
	weft_tensor narrow = *x;
	for (int d = axis; d < x->rank; d++)
		narrow.dim[d] = 1;
	int err = ref_count(r, 1, n, false);
	err = err ? err : ref_count(r, 2, n, false);
	err = err ? err : ref_y_like(r, 0, x);
	for (int k = 1; k < 3 && !err; k++)
		err = ref_y_like(r, k, &narrow);
	if (err || r->shapes)
		return err;
	for (int64_t i = 0; i < lines && n > 0; i++) {
		const struct line l = { (const float *)x->data + i * n, r->x[1]->data, r->n_x > 2 && r->x[2] ? r->x[2]->data : NULL, n, r->a->f[0] };
		float *mean = r->n_y > 1 ? (float *)r->y[1]->data + i : &none[0], *inverse = r->n_y > 2 ? (float *)r->y[2]->data + i : &none[1];
		(n < 8 ? normalise_short : normalise)(&l, (float *)r->y[0]->data + i * n, mean, inverse);
	}
	return 0;
}

/* ---- Erf ---- */

/* p[0] * v^(n - 1) + ... + p[n - 1], fused. */
static float polynomial(const float *p, int n, float v)
{
	float y = p[0];

	for (int i = 1; i < n; i++)
		y = fmaf(y, v, p[i]);
	return y;
}

/* Below 0.921875 a polynomial of the square, above it 1 - exp(-polynomial), whose exponential is one of the remainder of v / ln 2. */
static float error_function(float x)
{
	static const float small[] = { -5.99104969e-4f, 4.99339588e-3f, -2.67667342e-2f, 1.12818025e-1f, -3.76124859e-1f, 1.28379151e-1f };
	static const float big[] = { 1.72948930e-5f, -3.83208680e-4f, 3.88393435e-3f, -2.42545605e-2f, 1.06777847e-1f, 6.34846687e-1f, 1.28717512e-1f };
	static const float exponential[] = { 1.38319808e-3f, 8.37550033e-3f, 4.16689515e-2f, 1.66664466e-1f, 4.99999851e-1f, 1, 1 };
	const float v = fminf(fabsf(x), 3.925f), whole = 12582912;    /* 1.5 * 2^23 rounds to integers */

	if (x != x)
		return x;
	if (v <= 0.921875f)
		return copysignf(fmaf(polynomial(small, 6, v * v), v, v), x);
	const float a = -fmaf(polynomial(big, 7, v), v, v), n = fmaf(1.44269504088896341f, a, whole) - whole;
	const float rest = fmaf(n, -1.42860677e-6f, fmaf(n, -6.93145752e-1f, a));
	return copysignf(1 - ldexpf(polynomial(exponential, 7, rest), (int)n), x);
}

int ref_chain_erf(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int err = floats(r) ? ref_y_like(r, 0, x) : -ENOTSUP;

	for (int64_t i = 0; !err && !r->shapes && i < REF_N(x); i++)
		((float *)r->y[0]->data)[i] = error_function(((const float *)x->data)[i]);
	return err;
}
