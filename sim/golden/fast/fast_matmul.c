/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MATMUL of int8 as a convolution of one tap: a's rows are pixels, b's columns output channels.
 * Plain loops: ../matmul.c
 */
#include <stdlib.h>

#include "fast.h"
#include "tiles.h"

/*
 * Sets `to`, [columns][rows], to the transposed matrix `from`, [rows][columns], square by square so that each
 * stays in a cache.
 */
static void turn(int8_t *to, const int8_t *from, int64_t rows, int64_t columns)
{
	const int64_t side = 32;

	for (int64_t r = 0; r < rows; r += side)
		for (int64_t k = 0; k < columns; k += side)
			for (int64_t i = r; i < rows && i < r + side; i++)
				for (int64_t j = k; j < columns && j < k + side; j++)
					to[j * rows + i] = from[i * columns + j];
}

int weft_fast_matmul(const struct weft_call *c)
{
	const struct weft_attr_matmul *at = &c->attr->matmul;
	const weft_tensor *a = c->x[0], *b = c->x[1], *y = c->y[0];
	const int64_t n = a->dim[0], h = a->dim[1], k = a->dim[2], w = b->dim[2];
	const struct weft_tiling *tiling = weft_tiling(at->b_zp != 0);
	const weft_attr attr = { .conv = { .stride = { 1, 1 }, .dilation = { 1, 1 }, .x_zp = at->a_zp, .w_zp = at->b_zp, .acc = WEFT_INT32 } };
	int32_t zero = 0;
	int err = 0;

	if (a->dtype != WEFT_INT8 || y->dtype != WEFT_INT32 || !tiling)
		return -ENOTSUP;
	int8_t *turned = malloc((size_t)(k * w));
	for (int64_t i = 0; turned && i < n && !err; i++) {
		weft_tensor x = { .dtype = WEFT_INT8, .rank = 4, .dim = { 1, 1, h, k }, .data = (int8_t *)a->data + i * h * k };
		weft_tensor weights = { .dtype = WEFT_INT8, .rank = 4, .dim = { w, 1, 1, k }, .data = turned };
		weft_tensor bias = { .dtype = WEFT_INT32, .rank = 1, .dim = { 1 }, .data = &zero };
		weft_tensor out = { .dtype = WEFT_INT32, .rank = 4, .dim = { 1, 1, h, w }, .data = (int32_t *)y->data + i * h * w };
		const weft_tensor *in[] = { &x, &weights, &bias };
		weft_tensor *to = &out;
		const struct weft_call conv = { .op = WEFT_OP_CONV2D, .attr = &attr, .x = in, .n_x = 3, .y = &to, .n_y = 1 };

		turn(turned, (const int8_t *)b->data + i * k * w, k, w);
		err = weft_tiles_conv2d(&conv, tiling);
	}
	free(turned);
	return turned ? err : -ENOMEM;
}
