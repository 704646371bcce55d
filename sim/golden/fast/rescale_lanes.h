/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESCALE of 16 neighbouring channels in registers. Each kind of processor that has 64-bit products of
 * lanes has a kernel in rescale_lanes.c; all give the plain loops' bits.
 */
#ifndef WEFT_GOLDEN_RESCALE_LANES_H
#define WEFT_GOLDEN_RESCALE_LANES_H

#include <stdint.h>

#define RESCALE_LANES 16

/*
 * What 16 channels are scaled with; [0] of even channels, [1] of odd ones, since a register's product has
 * twice its operands' width. With p = x * mult the result is (p + add - (p < 0 ? back : 0)) >> shift.
 */
struct weft_rescale_group {
	int64_t mult[2][RESCALE_LANES / 2], shift[2][RESCALE_LANES / 2];
	int64_t add[2][RESCALE_LANES / 2];   /* half of 2^shift; with double rounding and a shift above 31 also 2^30 */
	int64_t back[2][RESCALE_LANES / 2];  /* 2^31 in that case, otherwise 0 */
};

/* A block of rows of int32; element [r][i] lies at r * width + i of x and of y, which may be the same. */
struct weft_rescale_block {
	const int32_t *x;
	int32_t *y;
	int64_t rows, width;
	int32_t x_zp, y_zp;
	int32_t lo, hi;            /* what the result less y_zp is clipped to; y_zp added does not leave int32 */
};

/* Scales the first RESCALE_LANES elements of each row of the block with the group. */
typedef void weft_rescale_lanes(const struct weft_rescale_block *b, const struct weft_rescale_group *g);

/* One kernel for SINGLE_ROUND and DOUBLE_ROUND (up), one for ties to even. */
struct weft_rescale_kernels { weft_rescale_lanes *up, *even; };

/* Returns the i-th pair of kernels that this processor has, the fastest first and plain C last; NULL behind that. */
const struct weft_rescale_kernels *weft_rescale_kernels_at(int i);

#endif
