/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that move elements. */
#include "sim/golden/onnx/ref/ref.h"

/* Result 0 has the bytes of operand 0, in another shape. */
static int same_bytes(struct ref *r, int rank, const int64_t *dim)
{
	int64_t n = 1;

	for (int d = 0; d < rank; d++)
		if (__builtin_mul_overflow(n, dim[d], &n))
			return ref_fail(r, -EINVAL, "dimension %d is %lld", d, (long long)dim[d]);
	if (n != REF_N(r->x[0]))
		return ref_fail(r, -EINVAL, "%lld elements, not %lld", (long long)n, (long long)REF_N(r->x[0]));
	int err = ref_y(r, 0, r->x[0]->dtype, rank, dim);
	if (!err && !r->shapes && n)
		memcpy(r->y[0]->data, r->x[0]->data, weft_tensor_bytes(r->x[0]));
	return err;
}

int ref_reshape(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int64_t dim[WEFT_ONNX_LIST], known = 1;
	int n = ref_list(r, 1, 1, WEFT_ONNX_LIST, dim), open = -1;

	if (n < 0)
		return n;
	for (int d = 0; d < n; d++) {
		if (dim[d] == 0 && !r->a->i[0] && d < x->rank)
			dim[d] = x->dim[d];
		if (dim[d] == -1 && open < 0)
			open = d;
		else if (dim[d] < 0)
			return ref_fail(r, -EINVAL, "dimension %d is %lld", d, (long long)dim[d]);
		else if (__builtin_mul_overflow(known, dim[d], &known))
			return ref_fail(r, -EINVAL, "dimension %d is %lld", d, (long long)dim[d]);
	}
	if (open >= 0)
		dim[open] = known ? REF_N(x) / known : 0;
	return same_bytes(r, n, dim);
}

int ref_flatten(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int axis = r->a->i[0];

	axis = axis < 0 ? axis + x->rank : axis;
	if (axis < 0 || axis > x->rank)
		return ref_fail(r, -EINVAL, "axis %d of rank %d", (int)r->a->i[0], x->rank);
	int64_t outer = ref_outer(x, axis), inner = 1;
	for (int d = axis; d < x->rank; d++)
		inner *= x->dim[d];
	return same_bytes(r, 2, (int64_t[]){ outer, inner });
}

/* Squeeze, Unsqueeze. */
int ref_squeeze(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const bool add = *r->name == 'U';
	int64_t axes[WEFT_ONNX_LIST], dim[WEFT_MAX_RANK];
	int n = ref_list(r, 0, 1, WEFT_ONNX_LIST, axes), rank = 0, from = 0;
	unsigned set = 0;

	if (n < 0)
		return n;
	const int all = x->rank + (add ? n : 0);
	if (all > WEFT_MAX_RANK)
		return ref_fail(r, -ENOTSUP, "rank %d", all);
	for (int i = 0; i < n; i++) {
		int axis = ref_axis(r, axes[i], all);
		if (axis < 0)
			return axis;
		set |= 1u << axis;
	}
	for (int d = 0; d < all; d++) {
		const bool said = set >> d & 1;
		if (add)
			dim[rank++] = said ? 1 : x->dim[from++];
		else if (!(n ? said : x->dim[d] == 1))
			dim[rank++] = x->dim[d];
	}
	return same_bytes(r, rank, dim);
}

/* Identity; Dropout of inference, whose mask is true. */
int ref_identity(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int err = same_bytes(r, x->rank, x->dim);

	if (r->n_x > 2 && r->x[2] && !err) {         /* training_mode */
		err = ref_need_data(r, 2);
		err = err ? err : ref_count(r, 2, 1, true);
		err = err ? err : ref_count(r, 1, 1, true);
		if (!err && ref_i(r->x[2], 0) && (!r->x[1] || (err = ref_need_data(r, 1)) || ref_f(r->x[1], 0) != 0))
			return err ? err : ref_fail(r, -ENOTSUP, "training draws random numbers");
	}
	err = err ? err : ref_y(r, 1, WEFT_BOOL, x->rank, x->dim);
	if (!err && !r->shapes && r->n_y > 1)
		memset(r->y[1]->data, 1, weft_tensor_bytes(r->y[1]));
	return err;
}

int ref_transpose(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int64_t perm[WEFT_ONNX_LIST], dim[WEFT_MAX_RANK], at[WEFT_MAX_RANK], from[WEFT_MAX_RANK];
	int n = ref_list(r, 0, -1, WEFT_ONNX_LIST, perm);
	unsigned seen = 0;

	for (int d = 0; d < x->rank; d++) {
		perm[d] = n ? perm[d] : x->rank - 1 - d;
		if (perm[d] < 0 || perm[d] >= x->rank || (n && n != x->rank) || seen >> perm[d] & 1)
			return ref_fail(r, -EINVAL, "perm is no permutation");
		seen |= 1u << perm[d];
		dim[d] = x->dim[perm[d]];
	}
	int err = ref_y(r, 0, x->dtype, x->rank, dim);
	if (err || r->shapes)
		return err;
	for (int64_t i = 0, all = REF_N(x); i < all; i++) {
		ref_split(i, x->rank, dim, at);
		for (int d = 0; d < x->rank; d++)
			from[perm[d]] = at[d];
		ref_copy(r->y[0], i, x, ref_at(x, x->rank, from));
	}
	return 0;
}

int ref_concat(struct ref *r)
{
	const int axis = ref_axis(r, r->a->i[0], r->x[0]->rank);
	weft_tensor y = *r->x[0];
	int64_t done = 0;

	if (axis < 0)
		return axis;
	for (int k = 1; k < r->n_x; k++) {
		const weft_tensor *x = r->x[k];
		if (!x || x->dtype != y.dtype || x->rank != y.rank)
			return ref_fail(r, -EINVAL, "input %d differs in type or rank", k);
		for (int d = 0; d < y.rank; d++)
			if (d != axis && x->dim[d] != y.dim[d])
				return ref_fail(r, -EINVAL, "input %d: dimension %d is %lld", k, d, (long long)x->dim[d]);
		y.dim[axis] += x->dim[axis];
	}
	int err = ref_y_like(r, 0, &y);
	if (err || r->shapes)
		return err;
	const int64_t inner = ref_inner(&y, axis), outer = ref_outer(&y, axis);
	for (int k = 0; k < r->n_x; k++) {
		const int64_t n = r->x[k]->dim[axis] * inner;
		for (int64_t o = 0; o < outer; o++)
			ref_copy_run(r->y[0], o * y.dim[axis] * inner + done, r->x[k], o * n, n);
		done += n;
	}
	return 0;
}

/* ---- Slice ---- */

struct cut { int64_t start, step, n; };

static int64_t limited(int64_t v, int64_t lo, int64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

static int cut_axis(struct ref *r, struct cut *c, int64_t start, int64_t end, int64_t step, int64_t n)
{
	if (!step || step == INT64_MIN)
		return ref_fail(r, -EINVAL, "step %lld", (long long)step);
	step = limited(step, -INT32_MAX, INT32_MAX);   /* beyond any dimension */
	start = start < 0 ? start + n : start;
	end = end < 0 ? (end < -n ? -n - 1 : end) + n : end;
	start = step > 0 ? limited(start, 0, n) : limited(start, 0, n - 1);
	end = step > 0 ? limited(end, 0, n) : limited(end, -1, n - 1);
	*c = (struct cut){ start, step, step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step };
	c->n = c->n < 0 || !n ? 0 : c->n;
	return 0;
}

static int cuts(struct ref *r, struct cut *c)
{
	const weft_tensor *x = r->x[0];
	int64_t start[WEFT_ONNX_LIST], end[WEFT_ONNX_LIST], axes[WEFT_ONNX_LIST], steps[WEFT_ONNX_LIST];
	const int n = ref_list(r, 0, 1, WEFT_ONNX_LIST, start), m = n < 0 ? n : ref_list(r, 9, 2, WEFT_ONNX_LIST, end);
	const int k = m < 0 ? m : ref_list(r, 18, 3, WEFT_ONNX_LIST, axes);
	const int s = k < 0 ? k : r->n_x > 4 && r->x[4] ? ref_ints(r, 4, WEFT_ONNX_LIST, steps) : 0;

	if (s < 0)
		return s;
	if (m != n || (k && k != n) || (s && s != n))
		return ref_fail(r, -EINVAL, "%d starts, %d ends, %d axes, %d steps", n, m, k, s);
	for (int d = 0; d < x->rank; d++)
		c[d] = (struct cut){ 0, 1, x->dim[d] };
	for (int i = 0; i < n; i++) {
		const int axis = ref_axis(r, k ? axes[i] : i, x->rank);
		int err = axis < 0 ? axis : cut_axis(r, &c[axis], start[i], end[i], s ? steps[i] : 1, x->dim[axis]);
		if (err)
			return err;
	}
	return 0;
}

int ref_slice(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int64_t dim[WEFT_MAX_RANK], at[WEFT_MAX_RANK];
	struct cut c[WEFT_MAX_RANK];
	int err = cuts(r, c);

	for (int d = 0; d < x->rank && !err; d++)
		dim[d] = c[d].n;
	err = err ? err : ref_y(r, 0, x->dtype, x->rank, dim);
	if (err || r->shapes)
		return err;
	for (int64_t i = 0, n = REF_N(r->y[0]); i < n; i++) {
		ref_split(i, x->rank, dim, at);
		for (int d = 0; d < x->rank; d++)
			at[d] = c[d].start + at[d] * c[d].step;
		ref_copy(r->y[0], i, x, ref_at(x, x->rank, at));
	}
	return 0;
}

int ref_split_node(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const int axis = ref_axis(r, r->a->i[0], x->rank), said = r->a->i[1] == WEFT_ONNX_ABSENT ? r->n_y : r->a->i[1];
	int64_t part[WEFT_ONNX_MAX_OUT], from = 0;
	int n = axis < 0 ? axis : ref_list(r, 2, 1, WEFT_ONNX_MAX_OUT, part), err = 0;

	if (n < 0)
		return n;
	if (r->a->i[2] > WEFT_ONNX_LIST || (n && n < r->n_y) || said < 1)
		return ref_fail(r, -EINVAL, "%d parts for %d results", n, r->n_y);
	const int64_t even = (x->dim[axis] + said - 1) / said;
	for (int k = 0; k < r->n_y && !err; k++) {
		weft_tensor y = *x;
		y.dim[axis] = n ? part[k] : limited(x->dim[axis] - from, 0, even);
		if (y.dim[axis] < 0 || y.dim[axis] > x->dim[axis] - from)
			return ref_fail(r, -EINVAL, "part %d has %lld of %lld", k, (long long)y.dim[axis], (long long)x->dim[axis]);
		err = ref_y_like(r, k, &y);
		const int64_t inner = ref_inner(x, axis);
		for (int64_t o = 0; !err && !r->shapes && o < ref_outer(x, axis); o++)
			for (int64_t i = 0; i < y.dim[axis] * inner; i++)
				ref_copy(r->y[k], o * y.dim[axis] * inner + i, x, (o * x->dim[axis] + from) * inner + i);
		from += y.dim[axis];
	}
	return err;
}

/* ---- Pad ---- */

/* Place v of an axis of n elements that is repeated, mirrored or continued; -1: outside. */
static int64_t folded(int64_t v, int64_t n, int mode)
{
	if (v >= 0 && v < n)
		return v;
	if (!mode || !n)
		return -1;
	if (mode == 2)
		return limited(v, 0, n - 1);
	if (mode == 3)
		return (v % n + n) % n;
	if (n == 1)
		return 0;
	v = (v % (2 * n - 2) + 2 * n - 2) % (2 * n - 2);
	return v < n ? v : 2 * n - 2 - v;
}

static int paddings(struct ref *r, int64_t *before, int64_t *after)
{
	const weft_tensor *x = r->x[0];
	int64_t pads[2 * WEFT_MAX_RANK], axes[WEFT_MAX_RANK];
	int n = r->a->i[1] >= 0 ? ref_list(r, 1, -1, WEFT_ONNX_LIST, pads) : ref_ints(r, 1, 2 * WEFT_MAX_RANK, pads);
	int k = n < 0 ? n : r->n_x > 3 && r->x[3] ? ref_ints(r, 3, WEFT_MAX_RANK, axes) : -1;

	if (n < 0 || k < -1)
		return n < 0 ? n : k;
	k = r->n_x > 3 && r->x[3] ? k : x->rank;
	if (n != 2 * k)
		return ref_fail(r, -EINVAL, "%d paddings for %d axes", n, k);
	for (int d = 0; d < x->rank; d++)
		before[d] = after[d] = 0;
	for (int i = 0; i < n; i++)
		if (pads[i] > INT32_MAX || pads[i] < INT32_MIN)
			return ref_fail(r, -EINVAL, "padding %lld", (long long)pads[i]);
	for (int i = 0; i < k; i++) {
		const int axis = ref_axis(r, r->n_x > 3 && r->x[3] ? axes[i] : i, x->rank);
		if (axis < 0)
			return axis;
		before[axis] = pads[i];
		after[axis] = pads[k + i];
	}
	return 0;
}

int ref_pad(struct ref *r)
{
	const weft_tensor *x = r->x[0], *value = r->n_x > 2 ? r->x[2] : NULL;
	int64_t before[WEFT_MAX_RANK], after[WEFT_MAX_RANK], dim[WEFT_MAX_RANK], at[WEFT_MAX_RANK];
	int err = paddings(r, before, after);

	err = err ? err : ref_count(r, 2, 1, true);
	if (!err && value && value->dtype != x->dtype)
		err = ref_fail(r, -EINVAL, "a value of %s for elements of %s", weft_dtype_name(value->dtype), weft_dtype_name(x->dtype));
	for (int d = 0; d < x->rank && !err; d++)
		dim[d] = x->dim[d] + before[d] + after[d];
	err = err ? err : ref_y(r, 0, x->dtype, x->rank, dim);
	if (err || r->shapes)
		return err;
	for (int64_t i = 0, n = REF_N(r->y[0]); i < n; i++) {
		bool inside = true;
		ref_split(i, x->rank, dim, at);
		for (int d = 0; d < x->rank; d++) {
			at[d] = folded(at[d] - before[d], x->dim[d], r->a->i[0]);
			inside = inside && at[d] >= 0;
		}
		if (inside)
			ref_copy(r->y[0], i, x, ref_at(x, x->rank, at));
		else if (value)
			ref_copy(r->y[0], i, value, 0);
		else
			ref_put_f(r->y[0], i, (double)r->a->f[0]);
	}
	return 0;
}

/* ---- repetition ---- */

int ref_tile(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int64_t times[WEFT_MAX_RANK], at[WEFT_MAX_RANK];
	int n = ref_ints(r, 1, WEFT_MAX_RANK, times);

	if (n < 0 || n != x->rank)
		return n < 0 ? n : ref_fail(r, -EINVAL, "%d repetitions for rank %d", n, x->rank);
	for (int d = 0; d < n; d++)
		if (times[d] < 0 || times[d] > INT32_MAX)
			return ref_fail(r, -EINVAL, "%lld repetitions", (long long)times[d]);
		else
			times[d] *= x->dim[d];
	int err = ref_y(r, 0, x->dtype, x->rank, times);
	if (err || r->shapes)
		return err;
	for (int64_t i = 0, all = REF_N(r->y[0]); i < all; i++) {
		ref_split(i, x->rank, times, at);
		for (int d = 0; d < x->rank; d++)
			at[d] %= x->dim[d];
		ref_copy(r->y[0], i, x, ref_at(x, x->rank, at));
	}
	return 0;
}

int ref_expand(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int64_t dim[WEFT_MAX_RANK], at[WEFT_MAX_RANK];
	int rank = ref_ints(r, 1, WEFT_MAX_RANK, dim), err = rank < 0 ? rank : ref_broadcast(r, &rank, dim, x);

	err = err ? err : ref_y(r, 0, x->dtype, rank, dim);
	if (err || r->shapes)
		return err;
	for (int64_t i = 0, n = REF_N(r->y[0]); i < n; i++) {
		ref_split(i, rank, dim, at);
		ref_copy(r->y[0], i, x, ref_at(x, rank, at));
	}
	return 0;
}

/* Middle of each axis cut out, or zeros around it; the odd element is at the end. */
int ref_center_crop_pad(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int64_t size[WEFT_ONNX_LIST], axes[WEFT_ONNX_LIST], dim[WEFT_MAX_RANK], shift[WEFT_MAX_RANK] = { 0 }, at[WEFT_MAX_RANK];
	int n = ref_ints(r, 1, WEFT_ONNX_LIST, size), k = n < 0 ? n : ref_list(r, 0, -1, WEFT_ONNX_LIST, axes);

	if (k < 0)
		return k;
	memcpy(dim, x->dim, sizeof dim);
	for (int i = 0; i < n; i++) {
		const int axis = ref_axis(r, k ? axes[i] : i, x->rank);
		if (axis < 0)
			return axis;
		if (size[i] < 0 || size[i] > INT32_MAX)
			return ref_fail(r, -EINVAL, "size %lld", (long long)size[i]);
		dim[axis] = size[i];
		shift[axis] = size[i] < x->dim[axis] ? (x->dim[axis] - size[i]) / 2 : -((size[i] - x->dim[axis]) / 2);
	}
	int err = ref_y(r, 0, x->dtype, x->rank, dim);
	if (err || r->shapes)
		return err;
	for (int64_t i = 0, all = REF_N(r->y[0]); i < all; i++) {
		bool inside = true;
		ref_split(i, x->rank, dim, at);
		for (int d = 0; d < x->rank; d++) {
			at[d] += shift[d];
			inside = inside && at[d] >= 0 && at[d] < x->dim[d];
		}
		if (inside)
			ref_copy(r->y[0], i, x, ref_at(x, x->rank, at));
		else
			ref_put_i(r->y[0], i, 0);
	}
	return 0;
}

/* Blocks of channels into places of the image, and back. */
int ref_depth_space(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const bool to_space = *r->name == 'D';
	const int64_t b = r->a->i[0];

	if (x->rank != 4 || b < 1 || b > 1 << 15 || (to_space ? x->dim[1] % (b * b) : x->dim[2] % b || x->dim[3] % b))
		return ref_fail(r, -EINVAL, "rank %d, blocks of %lld", x->rank, (long long)b);
	const int64_t c = to_space ? x->dim[1] / (b * b) : x->dim[1], h = to_space ? x->dim[2] : x->dim[2] / b, w = to_space ? x->dim[3] : x->dim[3] / b;
	const int64_t deep[] = { x->dim[0], c * b * b, h, w }, wide[] = { x->dim[0], c, h * b, w * b };
	int err = ref_y(r, 0, x->dtype, 4, to_space ? wide : deep);
	if (err || r->shapes)
		return err;
	for (int64_t i = 0, n = REF_N(x); i < n; i++) {      /* i: place in the wide image */
		int64_t at[4];
		ref_split(i, 4, wide, at);
		const int64_t by = at[2] % b, bx = at[3] % b;
		const int64_t ch = to_space && r->a->i[1] ? (at[1] * b + by) * b + bx : (by * b + bx) * c + at[1];
		const int64_t p = ((at[0] * c * b * b + ch) * h + at[2] / b) * w + at[3] / b;
		ref_copy(r->y[0], to_space ? i : p, x, to_space ? p : i);
	}
	return 0;
}
