/* SPDX-License-Identifier: Apache-2.0 */
/* Resize: floats and any type (onnx_resize.c), codes of 8 bits (onnx_resize_codes.c). */
#ifndef WEFT_IMPORT_ONNX_RESIZE_H
#define WEFT_IMPORT_ONNX_RESIZE_H

#include "onnx_lower.h"

/* Attribute coordinate_transformation_mode: which coordinate in the input an element of the output has. */
enum ox_place { OX_HALF_PIXEL, OX_HALF_PIXEL_SYMMETRIC, OX_PYTORCH_HALF_PIXEL, OX_ALIGN_CORNERS, OX_ASYMMETRIC, OX_CROP };
/* Attribute nearest_mode: how a coordinate is rounded to an element. */
enum ox_nearest { OX_ROUND_PREFER_FLOOR, OX_ROUND_PREFER_CEIL, OX_FLOOR, OX_CEIL };

/* How one axis is resized. */
struct ox_axis {
	int64_t in, out;           /* its length before and after, in elements */
	/*
	 * scale: out / in, before out was rounded; from, to: the region of tf_crop_and_resize as parts of
	 * the axis, else 0 and 1.
	 */
	double scale, from, to;
	/* The node's, the same for all of its axes. */
	enum ox_place place;
	enum ox_nearest nearest;
};

/*
 * Sets axes to the axes of v that the node at hand resizes, and a to what becomes of each. Returns their
 * count.
 */
WEFT_MUST_USE int ox_resize_axes(struct ox *l, const struct ox_value *v, int *axes, struct ox_axis *a);
/* Returns the coordinate in the input, in elements, of element i of the output. */
double ox_resize_place(const struct ox_axis *a, int64_t i);
/* Returns the input element that is nearest to coordinate `at`. */
int64_t ox_resize_nearest(const struct ox_axis *a, double at);

/*
 * Lowers the Resize at hand if v is an image of integers that RESIZE can resize. Returns 1 if that is done,
 * 0 if not, or a negative errno.
 */
WEFT_MUST_USE int ox_resize_codes(struct ox *l, struct ox_value *v, const int *axes, const struct ox_axis *a, int count);

#endif
