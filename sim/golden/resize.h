/* SPDX-License-Identifier: Apache-2.0 */
/* RESIZE's rules and sampling positions, the same for integers and floats. */
#ifndef WEFT_GOLDEN_RESIZE_H
#define WEFT_GOLDEN_RESIZE_H

#include "ops.h"

/* Where one output row or column samples the input: all indices are inside it. */
struct weft_resize_at {
	int64_t i0, i1;            /* neighbours */
	int64_t r;                 /* distance from i0 in steps of 1/numerator, 0..numerator-1 */
	int64_t nearest;           /* i0 or i1 */
};

/* Output index o of an axis of scale n/d; in: the input's extent. */
struct weft_resize_at weft_resize_sample(int64_t o, int64_t n, int64_t d, int64_t offset, int64_t in);

#endif
