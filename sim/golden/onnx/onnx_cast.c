/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ONNX_CAST and ONNX_FAKE_CONVERT: weft/convert.h as operators.
 * Sources: ONNX Cast-25; OpenVINO FakeConvert-13.
 */
#include <weft/convert.h>

#include "sim/golden/ops.h"

int weft_golden_onnx_cast(const struct weft_call *c)
{
	struct weft_cast_options o = weft_cast_options_default(WEFT_CAST_ONNX);
	char msg[WEFT_CONVERT_MSG] = "";

	o.saturate = c->attr->onnx.saturate;
	o.scale_round = (uint8_t)c->attr->onnx.scale_round;
	int err = weft_cast(c->x[0], c->y[0], &o, msg);
	return err ? weft_call_fail(c, err, "%.120s", msg) : 0;
}

int weft_golden_onnx_fake_convert(const struct weft_call *c)
{
	char msg[WEFT_CONVERT_MSG] = "";

	if (c->n_x != 2 && c->n_x != 3)
		return weft_call_fail(c, -EINVAL, "%d inputs, must be 2 or 3", c->n_x);
	int err = weft_fake_convert(c->x[0], c->y[0], c->attr->onnx.type, c->x[1], c->n_x == 3 ? c->x[2] : NULL, msg);
	return err ? weft_call_fail(c, err, "%.120s", msg) : 0;
}
