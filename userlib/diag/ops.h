/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands with the fields that most tests want; the rest is the caller's to set.
 */
#ifndef WEFT_USERLIB_DIAG_OPS_H
#define WEFT_USERLIB_DIAG_OPS_H

#include "userlib/diag/diag.h"

/*
 * Commands on dense tensors in the scratchpad, addresses in bytes, with limits as wide as the type
 * and a RESCALE by 1 where it is in the command's own fields (elt, pool). For conv and dw it is in the
 * parameter records at `params`. mode is that of the post unit: 0 int8, WEFT_POST_MODE_INT16 or
 * WEFT_POST_MODE_FLOAT8. See ops.c for each.
 */
struct weft_cmd diag_conv(const struct weft_config *cfg, uint32_t in, uint32_t weights, uint32_t params, uint32_t out,
                          int mode, int pixels, uint32_t run_len);
struct weft_cmd diag_elt(uint32_t in, uint32_t out, int mode, uint32_t width, uint32_t height, uint32_t channels);
struct weft_cmd diag_pool(uint32_t in, uint32_t out, int mode, uint32_t width, uint32_t height, uint32_t channels);
struct weft_cmd diag_dw(uint32_t in, uint32_t weights, uint32_t params, uint32_t out, int mode, uint32_t channels,
                        uint32_t in_w, uint32_t in_h);
/* An alu that adds `add` to n int8 elements at `from`; results lie right behind them. */
struct weft_cmd diag_alu(uint32_t from, uint32_t n, int32_t add);

/* Makes a conv or dw write its sums as they are: 4 bytes a channel, or 8 in mode int16. */
void diag_raw(struct weft_cmd *c);

/* Adds n equal parameter records to the constants, and a load of them to scratchpad address sp. */
void diag_params(struct diag_stream *s, uint32_t sp, uint32_t n, uint32_t mul, unsigned shift, int64_t bias);

/* Bytes of an element of input and of output in that mode; in float8, inputs are E4M3 and outputs fp16. */
static inline uint32_t diag_in_bytes(int mode)
{
	return mode == WEFT_POST_MODE_INT16 ? 2 : 1;
}

static inline uint32_t diag_out_bytes(int mode)
{
	return mode ? 2 : 1;
}

#endif
