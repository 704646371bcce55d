/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CONV_3D and CONV_3D_TRANSPOSE of float32, on the host by ONNX's Conv and
 * ConvTranspose, whose axes are images, channels, depth, rows, columns.
 *
 *   CONV_3D            x [N,D,H,W,I], weights [D,H,W,I,O], bias [O] or none
 *   CONV_3D_TRANSPOSE  shape of the result, weights [D,H,W,O,I], x, bias or none
 */
#include <errno.h>

#include "tflite_host.h"

enum { AXES = 3, RANK = 5 };

struct conv3d { int padding, activation; int64_t stride[AXES], dilation[AXES], kernel[AXES]; };

/*
 * Reads padding, activation, strides and dilations (1 where absent) of the operator at hand into *c, and leaves
 * c->kernel alone. Returns 0, -EINVAL if a stride is absent or below 1 or a dilation below 1, or another
 * negative errno.
 */
static int read_options(struct tfl_lower *l, struct conv3d *c)
{
	static const int stride[AXES] = { CONV_3D_STRIDE_D, CONV_3D_STRIDE_H, CONV_3D_STRIDE_W };
	static const int dilation[AXES] = { CONV_3D_DILATION_D, CONV_3D_DILATION_H, CONV_3D_DILATION_W };
	int err, v;

	if ((err = tfl_option(l, OPTIONS_CONV_3D, CONV_3D_PADDING, 1, 0, &c->padding)) ||
	    (err = tfl_limiting(l, OPTIONS_CONV_3D, CONV_3D_ACTIVATION, &c->activation)))
		return err;
	for (int i = 0; i < AXES; i++) {
		if ((err = tfl_option(l, OPTIONS_CONV_3D, stride[i], 4, 0, &v)))
			return err;
		c->stride[i] = v;
		if ((err = tfl_option(l, OPTIONS_CONV_3D, dilation[i], 4, 1, &v)))
			return err;
		c->dilation[i] = v;
		if (c->stride[i] < 1 || c->dilation[i] < 1)
			return tfl_fail(l, -EINVAL, "stride %lld, dilation %lld", (long long)c->stride[i], (long long)c->dilation[i]);
	}
	return 0;
}

/*
 * Sets a's pads: for Conv those that the padding option means for x's extents; for ConvTranspose those that
 * make the extents of the result, y (NULL for Conv), with output_padding where the result is larger than
 * without pads. Padding that is odd has the larger part behind. Returns 0, or the errno of tfl_window() if no
 * window fits.
 */
static int set_pads(struct tfl_lower *l, const struct conv3d *c, const weft_tensor *x, const int64_t *y, struct weft_attr_onnx_node *a)
{
	int64_t pad[2 * AXES], more[AXES];
	struct tfl_window w;

	for (int i = 0; i < AXES; i++) {
		const int64_t span = (c->kernel[i] - 1) * c->dilation[i] + 1;
		int64_t all = y ? (x->dim[1 + i] - 1) * c->stride[i] + span - y[1 + i] : 0;

		if (!y) {
			int err = tfl_window(l, c->padding, x->dim[1 + i], c->kernel[i], c->stride[i], c->dilation[i], &w);
			if (err)
				return err;
			pad[i] = w.before;
			pad[AXES + i] = w.after;
			continue;
		}
		more[i] = all < 0 ? -all : 0;
		all = all < 0 ? 0 : all;
		pad[i] = all / 2;
		pad[AXES + i] = all - all / 2;
	}
	tfl_node_ints(a, "pads", 2 * AXES, pad);
	if (y)
		tfl_node_ints(a, "output_padding", AXES, more);
	return 0;
}

/*
 * Reads operand 0 of CONV_3D_TRANSPOSE, the result's shape, to the first RANK of shape[]. Returns 0, -EINVAL if it has not RANK
 * numbers of 1 to 2^31 - 1, or tfl_ints()'s errno.
 */
static int result_shape(struct tfl_lower *l, int64_t *shape)
{
	const int n = tfl_ints(l, 0, TFL_MAX_RANK, shape);

	if (n < 0)
		return n;
	if (n != RANK)
		return tfl_fail(l, -EINVAL, "a result's shape of %d numbers, not %d", n, RANK);
	for (int i = 0; i < RANK; i++)
		if (shape[i] < 1 || shape[i] > INT32_MAX)
			return tfl_fail(l, -EINVAL, "dimension %d of the result is %lld", i, (long long)shape[i]);
	return 0;
}

/*
 * Lowers CONV_3D and CONV_3D_TRANSPOSE of float32 to the host operators Conv and ConvTranspose of ONNX, with
 * input, weights and result transposed, and with a bias and the activation if there are any. Returns the
 * result's tensor; -ENOTSUP if input or weights are not float32 of rank 5, or their channels differ; or
 * another negative errno, that of set_pads() among them.
 */
int tfl_lower_conv_3d(struct tfl_lower *l)
{
	static const int first[RANK] = { 0, 4, 1, 2, 3 }, last[RANK] = { 0, 2, 3, 4, 1 }, weights[RANK] = { 4, 3, 0, 1, 2 };
	const bool back = l->op->code == TFL_CONV_3D_TRANSPOSE;
	struct weft_attr_onnx_node a = tfl_node_attr(back ? "ConvTranspose" : "Conv");
	int64_t shape[TFL_MAX_RANK];
	struct conv3d c;
	int err = read_options(l, &c), in[3], n = 2;

	if (err || (back && (err = result_shape(l, shape))) || (in[0] = err = tfl_value(l, back ? 2 : 0)) < 0 ||
	    (in[1] = err = tfl_value(l, 1)) < 0)
		return err;
	const weft_tensor x = l->g->tensors[in[0]].t, w = l->g->tensors[in[1]].t;
	if (x.rank != RANK || w.rank != RANK || x.dtype != WEFT_FP32 || w.dtype != WEFT_FP32 || x.dim[4] != w.dim[back ? 4 : 3])
		return tfl_fail(l, -ENOTSUP, "%s of rank %d by %s of rank %d, or other channels; float32 of rank 5 wanted", weft_dtype_name(x.dtype), x.rank,
		                weft_dtype_name(w.dtype), w.rank);
	for (int i = 0; i < AXES; i++)
		c.kernel[i] = w.dim[i];
	tfl_node_ints(&a, "kernel_shape", AXES, c.kernel);
	tfl_node_ints(&a, "strides", AXES, c.stride);
	tfl_node_ints(&a, "dilations", AXES, c.dilation);
	if ((err = set_pads(l, &c, &x, back ? shape : NULL, &a)))
		return err;
	in[0] = tfl_node_transposed(l, in[0], first, false);
	in[1] = tfl_node_transposed(l, in[1], weights, false);
	if (tfl_has(l, back ? 3 : 2))
		in[n++] = tfl_value(l, back ? 3 : 2);
	int y = tfl_node_transposed(l, tfl_node(l, &a, in, n, false), last, false);
	return y < 0 ? y : tfl_real_result(l, y, tfl_or_finite(c.activation));
}
