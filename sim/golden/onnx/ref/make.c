/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that make tensors of shapes and numbers, and Cast. */
#include "sim/golden/onnx/ref/ref.h"

int ref_cast(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const weft_dtype t = r->n_x > 1 ? r->x[1]->dtype : ref_type(r->a->i[0]);
	struct weft_cast_options o = weft_cast_options_default(WEFT_CAST_ONNX);
	char msg[WEFT_CONVERT_MSG] = "";
	int err = t ? ref_y(r, 0, t, x->rank, x->dim) : ref_fail(r, -ENOTSUP, "to type %d", (int)r->a->i[0]);

	if (err || r->shapes || !REF_N(x))
		return err;
	o.saturate = r->a->i[1];
	o.fnuz_inf_max = true;
	o.scale_round = (uint8_t)r->a->i[2];
	err = weft_cast(x, r->y[0], &o, msg);
	return err ? ref_fail(r, err, "%.120s", msg) : 0;
}

int ref_constant_of_shape(struct ref *r)
{
	int64_t dim[WEFT_MAX_RANK];
	const weft_tensor *value = r->n_x > 1 ? r->x[1] : NULL;
	int rank = ref_ints(r, 0, WEFT_MAX_RANK, dim), err = rank < 0 ? rank : ref_count(r, 1, 1, true);

	err = err ? err : ref_y(r, 0, value ? value->dtype : WEFT_FP32, rank, dim);

	if (err || r->shapes)
		return err;
	for (int64_t i = 0, n = REF_N(r->y[0]); i < n; i++) {
		if (value)
			ref_copy(r->y[0], i, value, 0);
		else
			ref_put_i(r->y[0], i, 0);
	}
	return 0;
}

/*
 * Returns how many of the integers a, a + step, a + 2 step, ... lie before b in the direction of step, which is not 0; exact
 * if they are fewer than 2^53.
 */
static double steps_before(int64_t a, int64_t b, int64_t step)
{
	const uint64_t way = step > 0 ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;

	if (step > 0 ? b <= a : b >= a)
		return 0;
	return (double)((way - 1) / (step > 0 ? (uint64_t)step : -(uint64_t)step) + 1);
}

int ref_range(struct ref *r)
{
	const weft_dtype t = r->x[0]->dtype;
	int err = 0;

	for (int k = 0; k < 3 && !err; k++) {
		err = ref_need_data(r, k);
		err = err ? err : ref_count(r, k, 1, true);
	}
	if (err)
		return err;
	const double a = ref_f(r->x[0], 0), b = ref_f(r->x[1], 0), step = ref_f(r->x[2], 0);
	const double count = ref_floats(t) || !ref_i(r->x[2], 0) ? ceil((b - a) / step) : steps_before(ref_i(r->x[0], 0), ref_i(r->x[1], 0), ref_i(r->x[2], 0));
	if (!(step != 0) || !(fabs(count) < 0x1p31))
		return ref_fail(r, -EINVAL, "from %g to %g in steps of %g", a, b, step);
	const int64_t n = count > 0 ? (int64_t)count : 0;
	err = ref_y(r, 0, t, 1, &n);
	for (int64_t i = 0; !err && !r->shapes && i < n; i++) {
		if (ref_floats(t))
			ref_put_f(r->y[0], i, a + (double)i * step);
		else
			ref_put_i(r->y[0], i, (int64_t)((uint64_t)ref_i(r->x[0], 0) + (uint64_t)i * (uint64_t)ref_i(r->x[2], 0)));
	}
	return err;
}

int ref_eye_like(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const weft_dtype t = r->a->i[0] == WEFT_ONNX_ABSENT ? x->dtype : ref_type(r->a->i[0]);
	int err = x->rank == 2 && t ? ref_y(r, 0, t, 2, x->dim) : ref_fail(r, -EINVAL, "rank %d, type %d", x->rank, (int)r->a->i[0]);

	for (int64_t i = 0, n = REF_N(x); !err && !r->shapes && i < n; i++)
		ref_put_i(r->y[0], i, i % x->dim[1] - i / x->dim[1] == r->a->i[1]);
	return err;
}

int ref_trilu(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int err = x->rank < 2 ? ref_fail(r, -EINVAL, "rank %d", x->rank) : ref_count(r, 1, 1, true);

	err = err ? err : ref_y_like(r, 0, x);
	if (err || r->shapes || !REF_N(x))
		return err;
	const int64_t w = x->dim[x->rank - 1], h = x->dim[x->rank - 2], k = r->n_x > 1 ? ref_i(r->x[1], 0) : 0;
	for (int64_t i = 0, n = REF_N(x); i < n; i++) {
		const int64_t off = i % w - i / w % h;
		if (r->a->i[0] ? off >= k : off <= k)
			ref_copy(r->y[0], i, x, i);
		else
			ref_put_i(r->y[0], i, 0);
	}
	return 0;
}

/* Shape, Size. */
int ref_shape_node(struct ref *r)
{
	const weft_tensor *x = r->x[0];

	if (!strcmp(r->name, "Size")) {
		int err = ref_y(r, 0, WEFT_INT64, 0, NULL);
		if (!err && !r->shapes)
			ref_put_i(r->y[0], 0, REF_N(x));
		return err;
	}
	int64_t from = r->a->i[0], to = r->a->i[1] == WEFT_ONNX_ABSENT ? x->rank : r->a->i[1];
	from = from < 0 ? from + x->rank : from;
	to = to < 0 ? to + x->rank : to;
	from = from < 0 ? 0 : from;
	to = to > x->rank ? x->rank : to;
	const int64_t n = to > from ? to - from : 0;
	int err = ref_y(r, 0, WEFT_INT64, 1, &n);
	for (int64_t i = 0; !err && !r->shapes && i < n; i++)
		ref_put_i(r->y[0], i, x->dim[from + i]);
	return err;
}
