/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules that several operators share: TOSA 1.0's ERROR_IF lines.
 *
 * All arithmetic is int64 on dimensions below 2^31 and int32 attributes, so
 * the largest term, (kernel-1)*dilation, stays below 2^62.
 */
#include <stdarg.h>
#include <stdio.h>

#include "ops.h"

int weft_call_fail(const struct weft_call *c, int err, const char *fmt, ...)
{
	va_list ap;
	int n = snprintf(c->msg, WEFT_GOLDEN_MSG, "%s: ", weft_op_name(c->op));

	va_start(ap, fmt);
	vsnprintf(c->msg + n, (size_t)(WEFT_GOLDEN_MSG - n), fmt, ap);
	va_end(ap);
	return err;
}

static bool row_matches(const struct weft_call *c, const struct weft_row *row)
{
	for (int i = 0; i < 3; i++) {
		if (row->x[i] && (i >= c->n_x || (int)c->x[i]->dtype != row->x[i]))
			return false;
	}
	return (int)c->y[0]->dtype == row->y;
}

int weft_check_rows(const struct weft_call *c, const struct weft_row *rows, int n_rows)
{
	char list[96];
	int n = 0;

	for (int i = 0; i < n_rows; i++) {
		if (row_matches(c, &rows[i]))
			return 0;
	}
	list[0] = '\0';
	for (int i = 0; i < c->n_x && i < 3; i++) {
		n += snprintf(list + n, sizeof(list) - (size_t)n, "%s%s", i ? ", " : "",
		              weft_dtype_name(c->x[i]->dtype));
	}
	return weft_call_fail(c, -EINVAL, "types %s -> %s are not a row of its table", list,
	                      weft_dtype_name(c->y[0]->dtype));
}

bool weft_same_shape(const weft_tensor *a, const weft_tensor *b)
{
	if (a->rank != b->rank)
		return false;
	for (int d = 0; d < a->rank; d++) {
		if (a->dim[d] != b->dim[d])
			return false;
	}
	return true;
}

int weft_check_same(const struct weft_call *c, bool also_type)
{
	if (also_type && c->x[0]->dtype != c->y[0]->dtype)
		return weft_call_fail(c, -EINVAL, "output type %s, input type %s",
		                      weft_dtype_name(c->y[0]->dtype),
		                      weft_dtype_name(c->x[0]->dtype));
	if (!weft_same_shape(c->x[0], c->y[0]))
		return weft_call_fail(c, -EINVAL, "output shape differs from input shape");
	return 0;
}

int weft_check_axis(const struct weft_call *c)
{
	int axis = c->attr->axis.axis;

	if (axis < 0 || axis >= c->x[0]->rank)
		return weft_call_fail(c, -EINVAL, "axis %d, rank %d", axis, c->x[0]->rank);
	return 0;
}

int weft_check_rank(const struct weft_call *c, const char *what, const weft_tensor *t, int rank)
{
	if (t->rank != rank)
		return weft_call_fail(c, -EINVAL, "%s has rank %d, not %d", what, t->rank, rank);
	return 0;
}

int weft_check_window(const struct weft_call *c, const char *axis, int64_t in, int64_t out,
                      int64_t pad_before, int64_t pad_after, int64_t span, int64_t stride)
{
	int64_t room;

	if (pad_before < 0 || pad_after < 0)
		return weft_call_fail(c, -EINVAL, "%s: negative pad", axis);
	if (stride < 1)
		return weft_call_fail(c, -EINVAL, "%s: stride %lld < 1", axis, (long long)stride);
	room = in + pad_before + pad_after - span;
	if (room < 0)
		return weft_call_fail(c, -EINVAL, "%s: window %lld exceeds padded input by %lld",
		                      axis, (long long)span, (long long)-room);
	if (room % stride != 0)
		return weft_call_fail(c, -EINVAL, "%s: %lld + pads %lld, %lld - window %lld is no multiple of stride %lld",
		                      axis, (long long)in, (long long)pad_before,
		                      (long long)pad_after, (long long)span, (long long)stride);
	if (out != room / stride + 1)
		return weft_call_fail(c, -EINVAL, "output %s %lld, must be %lld", axis,
		                      (long long)out, (long long)(room / stride + 1));
	return 0;
}

int weft_check_zp(const struct weft_call *c, const char *what, weft_dtype t, int64_t zp)
{
	if (t == WEFT_INT8 || t == WEFT_UINT8) {
		if (zp < weft_int_min(t) || zp > weft_int_max(t))
			return weft_call_fail(c, -EINVAL, "%s %lld outside %s", what, (long long)zp,
			                      weft_dtype_name(t));
	} else if (zp != 0) {
		return weft_call_fail(c, -EINVAL, "%s %lld, must be 0 for %s", what, (long long)zp,
		                      weft_dtype_name(t));
	}
	return 0;
}

static int check_bias(const struct weft_call *c, int64_t oc)
{
	const weft_tensor *b = c->x[2];
	int err = weft_check_rank(c, "bias", b, 1);

	if (!err && b->dim[0] != oc && b->dim[0] != 1)
		err = weft_call_fail(c, -EINVAL, "bias has %lld elements, must be 1 or %lld",
		                     (long long)b->dim[0], (long long)oc);
	return err;
}

bool weft_float8_pair(weft_dtype a, weft_dtype b)
{
	return weft_is_float8(a) && weft_is_float8(b);
}

/* Accumulators: fp16 has two rows, bf16 adds up in fp32, the others in the result's type. */
static bool acc_fits(weft_dtype x, weft_dtype y, weft_dtype acc)
{
	if (x == WEFT_FP16)
		return acc == WEFT_FP16 || acc == WEFT_FP32;
	return acc == (x == WEFT_BF16 ? WEFT_FP32 : y);
}

int weft_check_conv_rows(const struct weft_call *c, weft_dtype acc)
{
	static const struct weft_row rows[] = {
		{ { WEFT_INT8, WEFT_INT8, WEFT_INT32 }, WEFT_INT32 },
		{ { WEFT_INT8, WEFT_INT4, WEFT_INT32 }, WEFT_INT32 },
		{ { WEFT_INT16, WEFT_INT8, WEFT_INT48 }, WEFT_INT48 },
		{ { WEFT_FP16, WEFT_FP16, WEFT_FP16 }, WEFT_FP16 },
		{ { WEFT_BF16, WEFT_BF16, WEFT_BF16 }, WEFT_BF16 },
		{ { WEFT_FP32, WEFT_FP32, WEFT_FP32 }, WEFT_FP32 },
	};
	const weft_dtype x = c->x[0]->dtype, w = c->x[1]->dtype, b = c->x[2]->dtype, y = c->y[0]->dtype;
	int err = 0;

	/* float8 operands may differ, as PopXL's may; the rest is a row of TOSA. */
	if (!weft_float8_pair(x, w) || b != WEFT_FP16 || y != WEFT_FP16)
		err = weft_check_rows(c, rows, sizeof(rows) / sizeof(rows[0]));
	if (!err && !acc_fits(x, y, acc))
		err = weft_call_fail(c, -EINVAL, "accumulator type %s is not a row of %s", weft_dtype_name(acc),
		                     weft_dtype_name(x));
	return err;
}

int weft_check_log2_scale(const struct weft_call *c, int32_t log2_scale)
{
	const weft_dtype t = c->x[0]->dtype;
	const bool fp8 = weft_is_float8(t);

	if (fp8 ? log2_scale < -32 || log2_scale > 31 : log2_scale != 0)
		return weft_call_fail(c, -EINVAL, "log2_scale %d, must be %s", (int)log2_scale,
		                      fp8 ? "-32..31" : "0 but for float8");
	return 0;
}

int weft_check_conv(const struct weft_call *c, int64_t kh, int64_t kw, int64_t oc)
{
	const struct weft_attr_conv *a = &c->attr->conv;
	const weft_tensor *x = c->x[0], *y = c->y[0];
	int err = weft_check_conv_rows(c, a->acc);

	if (err)
		return err;
	if (a->dilation[0] < 1 || a->dilation[1] < 1)
		return weft_call_fail(c, -EINVAL, "dilation %d, %d, must be >= 1", a->dilation[0],
		                      a->dilation[1]);
	if (y->dim[0] != x->dim[0] || y->dim[3] != oc)
		return weft_call_fail(c, -EINVAL, "output has batch %lld, channels %lld, must be %lld, %lld",
		                      (long long)y->dim[0], (long long)y->dim[3],
		                      (long long)x->dim[0], (long long)oc);
	if ((err = weft_check_zp(c, "input zero point", x->dtype, a->x_zp)) ||
	    (err = weft_check_zp(c, "weight zero point", c->x[1]->dtype, a->w_zp)) ||
	    (err = weft_check_log2_scale(c, a->log2_scale)) ||
	    (err = check_bias(c, oc)) ||
	    (err = weft_check_window(c, "height", x->dim[1], y->dim[1], a->pad[0], a->pad[1],
	                             (kh - 1) * a->dilation[0] + 1, a->stride[0])) ||
	    (err = weft_check_window(c, "width", x->dim[2], y->dim[2], a->pad[2], a->pad[3],
	                             (kw - 1) * a->dilation[1] + 1, a->stride[1])))
		return err;
	return 0;
}

int weft_check_pool(const struct weft_call *c)
{
	const struct weft_attr_pool *a = &c->attr->pool;
	const weft_tensor *x = c->x[0], *y = c->y[0];
	int err;

	if ((err = weft_check_rank(c, "input", x, 4)) || (err = weft_check_rank(c, "output", y, 4)))
		return err;
	if (y->dim[0] != x->dim[0] || y->dim[3] != x->dim[3])
		return weft_call_fail(c, -EINVAL, "output has batch %lld, channels %lld, must be %lld, %lld",
		                      (long long)y->dim[0], (long long)y->dim[3],
		                      (long long)x->dim[0], (long long)x->dim[3]);
	for (int i = 0; i < 2; i++) {
		if (a->kernel[i] < 1)
			return weft_call_fail(c, -EINVAL, "kernel %d < 1", a->kernel[i]);
		if (a->pad[2 * i] >= a->kernel[i] || a->pad[2 * i + 1] >= a->kernel[i])
			return weft_call_fail(c, -EINVAL, "pad %d, %d, must be below kernel %d",
			                      a->pad[2 * i], a->pad[2 * i + 1], a->kernel[i]);
	}
	if ((err = weft_check_window(c, "height", x->dim[1], y->dim[1], a->pad[0], a->pad[1],
	                             a->kernel[0], a->stride[0])) ||
	    (err = weft_check_window(c, "width", x->dim[2], y->dim[2], a->pad[2], a->pad[3],
	                             a->kernel[1], a->stride[1])))
		return err;
	return 0;
}
