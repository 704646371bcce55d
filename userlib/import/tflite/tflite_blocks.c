/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More operators that only move values: PADV2, MIRROR_PAD, TILE, BROADCAST_TO,
 * REVERSE_V2, and the exchanges of space with depth or batch, which are a
 * RESHAPE that splits axes, a TRANSPOSE, and a RESHAPE that joins others.
 */
#include <errno.h>

#include "tflite_lower.h"

/*
 * Emits x reshaped to `split` (of the given rank), with its axes permuted by perm (axis i of the
 * result is axis perm[i]), and reshaped to dim (of rank y_rank), as an intermediate tensor. Returns
 * the graph tensor, or a negative errno.
 */
static int exchange(struct tfl_lower *l, int x, int rank, const int64_t *split, const int *perm, int y_rank,
                    const int64_t *dim)
{
	weft_attr a = { .perm = { { 0 } } };
	int64_t moved[WEFT_MAX_RANK];
	weft_dtype t = l->g->tensors[x].t.dtype;

	for (int i = 0; i < rank; i++) {
		a.perm.perm[i] = perm[i];
		moved[i] = split[perm[i]];
	}
	if ((x = tfl_reshape(l, x, rank, split)) < 0 ||
	    (x = tfl_step(l, WEFT_OP_TRANSPOSE, &a, &x, 1, t, rank, moved, false)) < 0)
		return x;
	return tfl_reshape(l, x, y_rank, dim);
}

/*
 * Emits graph tensor x, by an IDENTITY, as the operator's result. Returns the result's tensor, or a
 * negative errno.
 */
static int finish(struct tfl_lower *l, int x)
{
	weft_tensor t = l->g->tensors[x].t;

	return tfl_step(l, WEFT_OP_IDENTITY, NULL, &x, 1, t.dtype, t.rank, t.dim, true);
}

/*
 * Lowers SPACE_TO_DEPTH and DEPTH_TO_SPACE of operand 0, [N,H,W,C]: blocks of block_size by block_size pixels
 * become channels, or channels become such blocks. Operand 0 has to have the result's type and quantisation
 * (tfl_moved()). Returns the result's tensor; -EINVAL if the rank is not 4, the block size not 1..4096, rows or
 * columns are no multiple of it (SPACE_TO_DEPTH) or channels no multiple of its square; or another negative errno.
 */
int tfl_lower_space_depth(struct tfl_lower *l)
{
	bool to_space = l->op->code == TFL_DEPTH_TO_SPACE;
	int64_t block;
	int b, err = tfl_option(l, to_space ? OPTIONS_DEPTH_TO_SPACE : OPTIONS_SPACE_TO_DEPTH, 0, 4, 0, &b);
	int x = err ? err : tfl_moved(l, 0);

	if (x < 0)
		return x;
	block = b;
	weft_tensor t = l->g->tensors[x].t;
	const int64_t *d = t.dim;
	if (t.rank != 4 || block < 1 || block > 4096 ||
	    (to_space ? d[3] % (block * block) : d[1] % block || d[2] % block))
		return tfl_fail(l, -EINVAL, "blocks of %lld for rank %d, %lldx%lldx%lld", (long long)block, t.rank, (long long)d[1],
		                (long long)d[2], (long long)d[3]);
	if (to_space) {
		int64_t c = d[3] / (block * block);
		x = exchange(l, x, 6, (int64_t[]){ d[0], d[1], d[2], block, block, c }, (int[]){ 0, 1, 3, 2, 4, 5 }, 4,
		             (int64_t[]){ d[0], d[1] * block, d[2] * block, c });
	} else {
		x = exchange(l, x, 6, (int64_t[]){ d[0], d[1] / block, block, d[2] / block, block, d[3] },
		             (int[]){ 0, 1, 3, 2, 4, 5 }, 4, (int64_t[]){ d[0], d[1] / block, d[2] / block, d[3] * block * block });
	}
	return x < 0 ? x : finish(l, x);
}

/* Block sizes along rows and columns, and what is padded or cropped there: before, after, before, after. */
struct blocks { int64_t size[2], edge[4]; };

/*
 * Sets *b to the block sizes in constant operand 1 and the paddings or crops in constant operand 2,
 * before and after each of two spatial axes. An operand 0 of rank 3 has one axis; the second one then has
 * blocks of 1. Returns 0; -EINVAL if there are more than 2 sizes or 4 edges, a block is not 1..65536 or an edge not
 * 0..INT32_MAX / 4; -ENOTSUP if the rank is not 3 or 4 or the counts do not fit it; or another negative errno.
 */
static int read_blocks(struct tfl_lower *l, int rank, struct blocks *b)
{
	*b = (struct blocks){ { 1, 1 }, { 0 } };
	int n = tfl_ints(l, 1, 2, b->size), m = n < 0 ? n : tfl_ints(l, 2, 4, b->edge);

	if (m < 0)
		return m;
	if (rank < 3 || rank > 4 || n != rank - 2 || m != 2 * n)
		return tfl_fail(l, -ENOTSUP, "%d block sizes and %d edges for rank %d; it may be 3 or 4", n, m, rank);
	for (int i = 0; i < 4; i++)
		if (b->size[i / 2] < 1 || b->size[i / 2] > 65536 || b->edge[i] < 0 || b->edge[i] > INT32_MAX / 4)
			return tfl_fail(l, -EINVAL, "block %lld, edge %lld", (long long)b->size[i / 2], (long long)b->edge[i]);
	return 0;
}

/*
 * Sets *value to the integer that stands for the real number 0 in the result at hand as operators
 * see it: its zero point if it is int8, uint8 or int16 with one scale, else 0 (-128 for uint8). Returns 0 or
 * a negative errno.
 */
static int zero_value(struct tfl_lower *l, int64_t *value)
{
	struct tfl_quant q;
	int err = 0;

	*value = 0;
	if ((l->y.dtype == WEFT_INT8 || l->y.dtype == WEFT_INT16) && tfl_file_tensor(l, l->i_y)->scale.n == 1) {
		err = tfl_need_result(l, TFL_Q8_16 | TFL_QZP, &q);
		*value = q.zp;
	} else if (tfl_file_tensor(l, l->i_y)->type == TFL_UINT8) {
		*value = -128;
	}
	return err;
}

/*
 * Emits x [N,L,C] as [N,L,1,C]; a tensor of another rank is returned as it is. Returns the graph
 * tensor, or a negative errno.
 */
static int as_image(struct tfl_lower *l, int x)
{
	const weft_tensor *t = &l->g->tensors[x].t;

	return t->rank == 3 ? tfl_reshape(l, x, 4, (int64_t[]){ t->dim[0], t->dim[1], 1, t->dim[2] }) : x;
}

/*
 * Lowers SPACE_TO_BATCH_ND of operand 0, [N,H,W,C] or [N,L,C], with constant block sizes (operand 1) and
 * paddings (operand 2): pads the images with the real number 0 and deals the pixels of each block out to
 * images of their own. Operand 0 has to have the result's type and quantisation (tfl_moved()). Returns the
 * result's tensor, -EINVAL if the padded images are no multiple of the blocks or a number is out of range,
 * -ENOTSUP for another rank with up to 2 block sizes, or another negative errno.
 */
int tfl_lower_space_to_batch(struct tfl_lower *l)
{
	weft_attr a = { .pad = { .value = 0 } };
	struct blocks b;
	int x = tfl_moved(l, 0), rank = x < 0 ? 0 : l->g->tensors[x].t.rank, err = x < 0 ? x : read_blocks(l, rank, &b);

	if (err || (err = zero_value(l, &a.pad.value)) || (x = as_image(l, x)) < 0)
		return err ? err : x;
	weft_tensor t = l->g->tensors[x].t;
	for (int i = 0; i < 2; i++) {
		a.pad.before[1 + i] = (int32_t)b.edge[2 * i];
		a.pad.after[1 + i] = (int32_t)b.edge[2 * i + 1];
		t.dim[1 + i] += b.edge[2 * i] + b.edge[2 * i + 1];
		if (t.dim[1 + i] % b.size[i])
			return tfl_fail(l, -EINVAL, "%lld elements in blocks of %lld", (long long)t.dim[1 + i], (long long)b.size[i]);
	}
	if ((x = tfl_step(l, WEFT_OP_PAD, &a, &x, 1, t.dtype, 4, t.dim, false)) < 0)
		return x;
	int64_t h = t.dim[1] / b.size[0], w = t.dim[2] / b.size[1], n = t.dim[0] * b.size[0] * b.size[1];
	x = exchange(l, x, 6, (int64_t[]){ t.dim[0], h, b.size[0], w, b.size[1], t.dim[3] }, (int[]){ 2, 4, 0, 1, 3, 5 }, rank,
	             rank == 3 ? (int64_t[]){ n, h, t.dim[3] } : (int64_t[]){ n, h, w, t.dim[3] });
	return x < 0 ? x : finish(l, x);
}

/*
 * Lowers BATCH_TO_SPACE_ND of operand 0, [N,H,W,C] or [N,L,C], with constant block sizes (operand 1) and
 * crops (operand 2): puts the pixels of images together to blocks and crops the edges. Operand 0 has to have
 * the result's type and quantisation (tfl_moved()). Returns the result's tensor, -EINVAL if the images do not
 * fill the blocks, nothing is left or a number is out of range, -ENOTSUP for another rank with up to 2 block
 * sizes, or another negative errno.
 */
int tfl_lower_batch_to_space(struct tfl_lower *l)
{
	weft_attr a = { .slice = { { 0 } } };
	struct blocks b;
	int x = tfl_moved(l, 0), rank = x < 0 ? 0 : l->g->tensors[x].t.rank, err = x < 0 ? x : read_blocks(l, rank, &b);

	if (err || (x = as_image(l, x)) < 0)
		return err ? err : x;
	weft_tensor t = l->g->tensors[x].t;
	int64_t size = b.size[0] * b.size[1];
	if (t.dim[0] % size)
		return tfl_fail(l, -EINVAL, "%lld images in blocks of %lld", (long long)t.dim[0], (long long)size);
	int64_t n = t.dim[0] / size, dim[4] = { n, t.dim[1] * b.size[0], t.dim[2] * b.size[1], t.dim[3] };
	x = exchange(l, x, 6, (int64_t[]){ b.size[0], b.size[1], n, t.dim[1], t.dim[2], t.dim[3] },
	             (int[]){ 2, 3, 0, 4, 1, 5 }, 4, dim);
	for (int i = 0; i < 2; i++) {
		a.slice.start[1 + i] = b.edge[2 * i];
		dim[1 + i] -= b.edge[2 * i] + b.edge[2 * i + 1];
		if (dim[1 + i] < 1)
			return tfl_fail(l, -EINVAL, "nothing left of axis %d", 1 + i);
	}
	x = x < 0 ? x : tfl_step(l, WEFT_OP_SLICE, &a, &x, 1, t.dtype, 4, dim, rank == 4);
	return x < 0 || rank == 4 ? x : tfl_step(l, WEFT_OP_RESHAPE, NULL, &x, 1, t.dtype, 3, (int64_t[]){ dim[0], dim[1], dim[3] }, true);
}

/*
 * Sets v[2i] and v[2i + 1] to the elements of padding before and after axis i, from constant
 * operand 1, for each of `rank` axes. Returns 0, or -EINVAL if their count is another or one is
 * negative or above INT32_MAX / 4, or another negative errno.
 */
static int paddings(struct tfl_lower *l, int rank, int64_t *v)
{
	int n = tfl_ints(l, 1, 2 * TFL_MAX_RANK, v);

	if (n < 0)
		return n;
	if (n != 2 * rank)
		return tfl_fail(l, -EINVAL, "%d paddings for rank %d", n, rank);
	for (int i = 0; i < n; i++)
		if (v[i] < 0 || v[i] > INT32_MAX / 4)
			return tfl_fail(l, -EINVAL, "padding %lld of dimension %d", (long long)v[i], i / 2);
	return 0;
}

/*
 * Lowers PADV2: operand 0 padded as constant operand 1 says with the one constant element of operand 2, which
 * has the result's type and quantisation. Returns the result's tensor, -ENOTSUP if operand 2 is not one
 * constant or the type is not int8, uint8, int16, int32 or float32, -EINVAL if the paddings do not fit, or
 * another negative errno.
 */
int tfl_lower_pad_v2(struct tfl_lower *l)
{
	weft_attr a = { .pad = { .value = 0 } };
	int64_t v[2 * TFL_MAX_RANK];
	int x = tfl_moved(l, 0), c = x < 0 ? x : tfl_moved(l, 2);

	if (c < 0)
		return c;
	weft_tensor t = l->g->tensors[x].t, k = l->g->tensors[c].t;
	int err = paddings(l, t.rank, v);
	if (err)
		return err;
	if (!k.data || weft_tensor_elements(&k) != 1)
		return tfl_fail(l, -ENOTSUP, "operand 2 is not one constant");
	for (int i = 0; i < t.rank; i++) {
		a.pad.before[i] = (int32_t)v[2 * i];
		a.pad.after[i] = (int32_t)v[2 * i + 1];
		t.dim[i] += v[2 * i] + v[2 * i + 1];
	}
	switch (t.dtype) {
	case WEFT_INT8:
		a.pad.value = *(const int8_t *)k.data;
		break;
	case WEFT_INT16:
		a.pad.value = *(const int16_t *)k.data;
		break;
	case WEFT_INT32:
		a.pad.value = *(const int32_t *)k.data;
		break;
	case WEFT_FP32:
		a.pad.fvalue = (double)*(const float *)k.data;
		break;
	default:
		return tfl_fail(l, -ENOTSUP, "%s is not supported", weft_dtype_name(t.dtype));
	}
	return tfl_step(l, WEFT_OP_PAD, &a, &x, 1, t.dtype, t.rank, t.dim, true);
}

/*
 * Emits the n elements of x from index `start` on along axis, in reverse order. Returns the graph
 * tensor, or a negative errno.
 */
static int mirrored(struct tfl_lower *l, int x, int axis, int64_t start, int64_t n)
{
	weft_attr cut = { .slice = { { 0 } } }, back = { .axis = { .axis = axis } };
	weft_tensor t = l->g->tensors[x].t;

	cut.slice.start[axis] = start;
	t.dim[axis] = n;
	if ((x = tfl_step(l, WEFT_OP_SLICE, &cut, &x, 1, t.dtype, t.rank, t.dim, false)) < 0)
		return x;
	return tfl_step(l, WEFT_OP_REVERSE, &back, &x, 1, t.dtype, t.rank, t.dim, false);
}

/*
 * Lowers MIRROR_PAD of operand 0: each axis gets as many elements of its mirror image on both sides as
 * constant operand 1 says; mode 0 leaves the edge element itself out of the image, mode 1 repeats it. Operand
 * 0 has to have the result's type and quantisation (tfl_moved()). Returns the result's tensor, -EINVAL if the
 * axis has too few elements, or another negative errno.
 */
int tfl_lower_mirror_pad(struct tfl_lower *l)
{
	int64_t v[2 * TFL_MAX_RANK];
	int mode, err = tfl_option(l, OPTIONS_MIRROR_PAD, 0, 1, 0, &mode), x = err ? err : tfl_moved(l, 0);

	if (x < 0)
		return x;
	int rank = l->g->tensors[x].t.rank;
	if ((err = paddings(l, rank, v)))
		return err;
	for (int i = 0; i < rank; i++) {
		weft_attr join = { .axis = { .axis = i } };
		weft_tensor t = l->g->tensors[x].t;
		int64_t skip = mode == 0, d = t.dim[i];
		int part[3], n = 0;
		if (v[2 * i] > d - skip || v[2 * i + 1] > d - skip)
			return tfl_fail(l, -EINVAL, "dimension %d: %lld and %lld elements mirrored of %lld", i, (long long)v[2 * i],
			                (long long)v[2 * i + 1], (long long)d);
		if (v[2 * i] && (part[n++] = mirrored(l, x, i, skip, v[2 * i])) < 0)
			return part[0];
		part[n++] = x;
		if (v[2 * i + 1] && (part[n++] = mirrored(l, x, i, d - skip - v[2 * i + 1], v[2 * i + 1])) < 0)
			return part[n - 1];
		t.dim[i] = d + v[2 * i] + v[2 * i + 1];
		if (n > 1 && (x = tfl_step(l, WEFT_OP_CONCAT, &join, part, n, t.dtype, t.rank, t.dim, false)) < 0)
			return x;
	}
	return finish(l, x);
}

/*
 * Emits x repeated times[i] times along each dimension i as the operator's result. Returns the
 * result's tensor, -EINVAL if a count is below 1 or a dimension would exceed INT32_MAX, or another
 * negative errno.
 */
static int tiled(struct tfl_lower *l, int x, const int64_t *times)
{
	weft_attr a = { .tile = { { 0 } } };
	weft_tensor t = l->g->tensors[x].t;

	for (int i = 0; i < t.rank; i++) {
		if (times[i] < 1 || times[i] > INT32_MAX / t.dim[i])
			return tfl_fail(l, -EINVAL, "dimension %d: %lld times %lld", i, (long long)t.dim[i], (long long)times[i]);
		a.tile.multiple[i] = (int32_t)times[i];
		t.dim[i] *= times[i];
	}
	return tfl_step(l, WEFT_OP_TILE, &a, &x, 1, t.dtype, t.rank, t.dim, true);
}

/*
 * Lowers TILE: operand 0 repeated along each dimension as often as constant operand 1 says. Operand 0 has to
 * have the result's type and quantisation (tfl_moved()). Returns the result's tensor, -EINVAL if operand 1
 * has not one count, 1 or more, for each dimension or there is none, or another negative errno.
 */
int tfl_lower_tile(struct tfl_lower *l)
{
	int64_t v[TFL_MAX_RANK];
	int x = tfl_moved(l, 0), n = x < 0 ? x : tfl_ints(l, 1, TFL_MAX_RANK, v);

	if (n < 0)
		return n;
	if (n != l->g->tensors[x].t.rank || n < 1)
		return tfl_fail(l, -EINVAL, "%d multiples for rank %d", n, l->g->tensors[x].t.rank);
	return tiled(l, x, v);
}

/*
 * Lowers BROADCAST_TO: dimensions of 1 of operand 0 are repeated until it has the result's shape, l->y.
 * Operand 0 has to have the result's type and quantisation (tfl_moved()). Returns the result's tensor,
 * -EINVAL if the operand does not broadcast to it, -ENOTSUP for a result of rank 0, or another negative
 * errno.
 */
int tfl_lower_broadcast_to(struct tfl_lower *l)
{
	int64_t times[WEFT_MAX_RANK];
	int x = tfl_moved(l, 0);

	if (x < 0 || (x = tfl_match_rank(l, x, l->y.rank)) < 0)
		return x;
	weft_tensor t = l->g->tensors[x].t;
	if (t.rank < 1)
		return tfl_fail(l, -ENOTSUP, "rank 0");
	for (int i = 0; i < t.rank; i++) {
		times[i] = l->y.dim[i] / t.dim[i];
		if (t.dim[i] != 1 && t.dim[i] != l->y.dim[i])
			return tfl_fail(l, -EINVAL, "dimension %d: %lld into %lld", i, (long long)t.dim[i], (long long)l->y.dim[i]);
	}
	return tiled(l, x, times);
}

/*
 * Lowers REVERSE_V2: operand 0 in reverse order along each of the axes in constant operand 1. The
 * integers are moved as they are, whatever the quantisation. Returns the result's tensor, -EINVAL if the
 * result has another type or an axis is out of range, or another negative errno.
 */
int tfl_lower_reverse(struct tfl_lower *l)
{
	int64_t v[TFL_MAX_RANK];
	/* The bytes, though converters quantise the result on its own. */
	int x = tfl_value(l, 0), n = x < 0 ? x : tfl_ints(l, 1, TFL_MAX_RANK, v);

	if (n < 0)
		return n;
	weft_tensor t = l->g->tensors[x].t;
	if (tfl_file_tensor(l, tfl_operand(l, 0))->type != tfl_file_tensor(l, l->i_y)->type)
		return tfl_fail(l, -EINVAL, "result is of another type");
	for (int i = 0; i < n; i++) {
		weft_attr a = { .axis = { .axis = (int32_t)(v[i] < 0 ? v[i] + t.rank : v[i]) } };
		if (v[i] < -t.rank || v[i] >= t.rank)
			return tfl_fail(l, -EINVAL, "axis %lld of rank %d", (long long)v[i], t.rank);
		if ((x = tfl_step(l, WEFT_OP_REVERSE, &a, &x, 1, t.dtype, t.rank, t.dim, false)) < 0)
			return x;
	}
	return finish(l, x);
}
