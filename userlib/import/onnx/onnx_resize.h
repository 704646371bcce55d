/* SPDX-License-Identifier: Apache-2.0 */
/* Resize: floats and any type (onnx_resize.c), codes of 8 bits (onnx_resize_codes.c). */
#ifndef WEFT_IMPORT_ONNX_RESIZE_H
#define WEFT_IMPORT_ONNX_RESIZE_H

#include "onnx_lower.h"

struct ox_axis {
	int64_t in, out;
	double scale, from, to;    /* from, to: the region of tf_crop_and_resize */
};

/* The axes of v that the node at hand names, and what becomes of each; the count. */
int ox_resize_axes(struct ox *l, const struct ox_value *v, int *axes, struct ox_axis *a);
/* Where in the input element i of the output lies; and which element of the input is nearest to such a place. */
double ox_resize_place(const struct ox *l, const struct ox_axis *a, int64_t i);
int64_t ox_resize_nearest(const struct ox *l, const struct ox_axis *a, double at);

/* Integers: the result is set if *done. 0 or a negative errno. */
int ox_resize_codes(struct ox *l, struct ox_value *v, const int *axes, const struct ox_axis *a, int count, bool *done);

#endif
