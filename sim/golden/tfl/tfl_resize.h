/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling positions of TFL_RESIZE_BILINEAR. */
#ifndef WEFT_GOLDEN_TFL_RESIZE_H
#define WEFT_GOLDEN_TFL_RESIZE_H

#include "sim/golden/ops.h"

struct weft_tfl_axis { int64_t in, out; bool align, half; };

/* One position on an axis: the two elements, and the fraction as integer weights, in 1/1024, and as float32. */
struct weft_tfl_tap { int64_t at[2]; int64_t w[2]; float f; };

/* Output o's position; f is not set. */
struct weft_tfl_tap weft_tfl_resize_tap(const struct weft_tfl_axis *a, int64_t o);

#endif
