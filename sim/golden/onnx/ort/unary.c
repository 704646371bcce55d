/* SPDX-License-Identifier: Apache-2.0 */
/* Sigmoid and Tanh of float32 for --requant runtime. */
#include "sim/golden/onnx/ort/functions.h"
#include "sim/golden/onnx/ort/ops.h"

static int each(struct ref *r, float f(float))
{
	const weft_tensor *x = r->x[0];
	int err = x->dtype == WEFT_FP32 ? ref_y_like(r, 0, x) : ref_fail(r, -ENOTSUP, "of %s", weft_dtype_name(x->dtype));

	for (int64_t i = 0; !err && !r->shapes && i < REF_N(x); i++)
		((float *)r->y[0]->data)[i] = f(((const float *)x->data)[i]);
	return err;
}

int ort_sigmoid(struct ref *r) { return each(r, ort_logistic); }
int ort_tanh_node(struct ref *r) { return each(r, ort_tanh); }
