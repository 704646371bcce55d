/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of random_graph.c, which alone includes it, that draws what the
 * command alu computes, and convolutions of all kinds: with sums that are read by
 * several, with computed weights, transposed, in three dimensions.
 */
#ifndef WEFT_TESTS_RANDOM_ALU_H
#define WEFT_TESTS_RANDOM_ALU_H

static weft_dtype sum_type(const struct maker *m)
{
	return m->type == WEFT_INT8 ? WEFT_INT32 : WEFT_INT48;
}

/* int32 of any size to the tensors' type. */
static int back(struct maker *m, int x)
{
	struct scales s = draw_scales(m, 1, half_range(m) / ldexp(1, (int)draw(m, 6, 31)), 2147483648.0, false);

	return rescale(m, x, s, draw_rounding(m), 0, 0, m->type);
}

/* Constants of a type, now and then of one element in some dimensions. */
static int const_like(struct maker *m, int x, weft_dtype type, int64_t lo, int64_t hi)
{
	weft_tensor t = *tensor(m, x);

	t.dtype = type;
	bool number = chance(m, 25);
	for (int d = 0; d < t.rank; d++)
		if (number || chance(m, 35))
			t.dim[d] = 1;
	int64_t n = weft_tensor_elements(&t);
	void *v = must(malloc((size_t)n * 4));
	for (int64_t i = 0; i < n; i++) {
		int64_t k = draw_element(m, lo, hi);
		if (type == WEFT_INT32)
			((int32_t *)v)[i] = (int32_t)k;
		else if (type == WEFT_INT16)
			((int16_t *)v)[i] = (int16_t)k;
		else
			((int8_t *)v)[i] = (int8_t)k;
	}
	return new_const(m, type, t.rank, t.dim, v);
}

static int two(struct maker *m, weft_opcode op, const weft_attr *a, int x, int y, weft_dtype type)
{
	weft_tensor t = *tensor(m, x);

	for (int d = 0; d < t.rank; d++)
		t.dim[d] = most(t.dim[d], tensor(m, y)->dim[d]);
	if (chance(m, 30) && op != WEFT_OP_LOGICAL_LEFT_SHIFT && op != WEFT_OP_LOGICAL_RIGHT_SHIFT &&
	    op != WEFT_OP_ARITHMETIC_RIGHT_SHIFT)
		return emit(m, op, a, (int[]){ y, x }, 2, type, t.rank, t.dim);
	return emit(m, op, a, (int[]){ x, y }, 2, type, t.rank, t.dim);
}

static int one(struct maker *m, weft_opcode op, const weft_attr *a, int x, weft_dtype type)
{
	weft_tensor t = *tensor(m, x);

	return emit(m, op, a, &x, 1, type, t.rank, t.dim);
}

/* A second operand for x, int32: another tensor of its shape, or constants. */
static int partner(struct maker *m, int x)
{
	int other = m->live[draw(m, 0, m->n_live - 1)];

	if (chance(m, 50) && same_shape(m, x, other))
		return widen(m, other, draw_zp(m), (int)draw(m, 0, 14));
	return const_like(m, x, WEFT_INT32, INT32_MIN, INT32_MAX);
}

static int make_arithmetic(struct maker *m, int x)
{
	static const weft_opcode ops[] = { WEFT_OP_ADD, WEFT_OP_SUB, WEFT_OP_MUL, WEFT_OP_MAXIMUM, WEFT_OP_MINIMUM,
		WEFT_OP_BITWISE_AND, WEFT_OP_BITWISE_OR, WEFT_OP_BITWISE_XOR };
	static const weft_opcode alone[] = { WEFT_OP_ABS, WEFT_OP_NEGATE, WEFT_OP_BITWISE_NOT, WEFT_OP_CLZ };
	weft_opcode op = ops[draw(m, 0, N_OF(ops) - 1)];
	weft_attr a = { .mul = { op == WEFT_OP_MUL ? (int)draw(m, 0, 63) : 0 } };

	begin(m, "ARITHMETIC");
	int y = widen(m, x, draw_zp(m), (int)draw(m, 0, 15));
	y = two(m, op, &a, y, partner(m, x), WEFT_INT32);
	if (chance(m, 40)) {
		weft_attr none = { .negate = { 0, 0 } };
		y = one(m, alone[draw(m, 0, 3)], &none, y, WEFT_INT32);
	}
	return end(m, back(m, y));
}

/* A tensor of few elements and a constant that repeats itself, together of x's shape. */
static int make_spread(struct maker *m, int x)
{
	static const weft_opcode ops[] = { WEFT_OP_ADD, WEFT_OP_SUB, WEFT_OP_MUL };
	weft_opcode op = ops[draw(m, 0, 2)];
	weft_attr a = { .mul = { op == WEFT_OP_MUL ? (int)draw(m, 0, 40) : 0 } };
	weft_tensor t = *tensor(m, x), few = t;
	bool still[4];
	int64_t n = weft_tensor_elements(&t);
	int32_t *v = must(malloc((size_t)n * sizeof(*v)));

	for (int d = 0; d < 4; d++) {
		few.dim[d] = chance(m, 60) ? 1 : t.dim[d];
		still[d] = chance(m, 60);
	}
	for (int64_t i = 0; i < n; i++) {
		int64_t at = i, step = 1;
		v[i] = (int32_t)draw_element(m, INT32_MIN, INT32_MAX) >> 4;
		for (int d = 3; d >= 0; step *= t.dim[d--])
			at -= still[d] ? i / step % t.dim[d] * step : 0;
		v[i] = v[at];
	}
	begin(m, "SPREAD");
	int in[2] = { new_const(m, WEFT_INT32, 4, t.dim, v), widen(m, new_input(m, few.dim), draw_zp(m), (int)draw(m, 0, 15)) };
	int at = chance(m, 50);
	int y = emit(m, op, &a, (int[]){ in[at], in[!at] }, 2, WEFT_INT32, 4, t.dim);
	return end(m, back(m, y));
}

static int make_shift(struct maker *m, int x)
{
	static const weft_opcode ops[] = { WEFT_OP_LOGICAL_LEFT_SHIFT, WEFT_OP_LOGICAL_RIGHT_SHIFT, WEFT_OP_ARITHMETIC_RIGHT_SHIFT };
	weft_opcode op = ops[draw(m, 0, 2)];
	weft_attr a = { .shift = { chance(m, 50) } };
	bool wide = chance(m, 40);

	begin(m, "SHIFT");
	int y = wide ? widen(m, x, 0, (int)draw(m, 0, 15)) : x;
	y = two(m, op, &a, y, const_like(m, x, tensor(m, y)->dtype, 0, wide ? 31 : m->type == WEFT_INT8 ? 7 : 15), tensor(m, y)->dtype);
	return end(m, wide ? back(m, y) : y);
}

static int make_choice(struct maker *m, int x)
{
	static const weft_opcode ops[] = { WEFT_OP_EQUAL, WEFT_OP_GREATER, WEFT_OP_GREATER_EQUAL };
	static const weft_opcode join[] = { WEFT_OP_LOGICAL_AND, WEFT_OP_LOGICAL_OR, WEFT_OP_LOGICAL_XOR };

	begin(m, "SELECT");
	int wide = widen(m, x, 0, 0);
	int c = two(m, ops[draw(m, 0, 2)], NULL, wide, const_like(m, x, WEFT_INT32, -40, 40), WEFT_BOOL);
	if (chance(m, 50))
		c = two(m, join[draw(m, 0, 2)], NULL, c, one(m, WEFT_OP_CAST, NULL, x, WEFT_BOOL), WEFT_BOOL);
	if (chance(m, 30))
		c = one(m, WEFT_OP_LOGICAL_NOT, NULL, c, WEFT_BOOL);
	weft_tensor t = *tensor(m, x);
	int v = const_like(m, x, m->type, INT8_MIN, INT8_MAX);
	int pick[3] = { c, x, v };
	if (chance(m, 50)) {
		pick[1] = v;
		pick[2] = x;
	}
	return end(m, emit(m, WEFT_OP_SELECT, NULL, pick, 3, m->type, 4, t.dim));
}

static int make_table(struct maker *m, int x)
{
	int64_t n = m->type == WEFT_INT8 ? 256 : 513;

	begin(m, "TABLE");
	if (m->type == WEFT_INT8) {
		int8_t *v = must(malloc(256));
		fill_int8(m, v, 256);
		weft_tensor u = *tensor(m, x);
		return end(m, emit(m, WEFT_OP_TABLE, NULL, (int[]){ x, new_const(m, WEFT_INT8, 1, &n, v) }, 2, WEFT_INT8, 4, u.dim));
	}
	int16_t *v = must(malloc(513 * 2));
	for (int i = 0, at = -16000; i < 513; i++, at += (int)draw_element(m, -10, 120))
		v[i] = (int16_t)at;
	weft_tensor t = *tensor(m, x);
	int y = emit(m, WEFT_OP_TABLE, NULL, (int[]){ x, new_const(m, WEFT_INT16, 1, &n, v) }, 2, WEFT_INT32, 4, t.dim);
	return end(m, rescale(m, y, one_scale(1 << 30, 37), draw_rounding(m), 0, 0, WEFT_INT16));
}

static int make_transpose(struct maker *m, int x)
{
	weft_tensor t = *tensor(m, x);
	weft_attr a = { .perm = { { 0, 1, 2, 3 } } };
	int64_t dim[4];

	for (int k = 3; k > 0; k--) {
		int j = (int)draw(m, 0, k), s = a.perm.perm[k];
		a.perm.perm[k] = a.perm.perm[j];
		a.perm.perm[j] = s;
	}
	for (int k = 0; k < 4; k++)
		dim[k] = t.dim[a.perm.perm[k]];
	begin(m, "TRANSPOSE");
	return end(m, emit(m, WEFT_OP_TRANSPOSE, &a, &x, 1, t.dtype, 4, dim));
}

static int make_reverse(struct maker *m, int x)
{
	weft_attr a = { .axis = { (int)draw(m, 0, 3) } };

	begin(m, "REVERSE");
	return end(m, one(m, WEFT_OP_REVERSE, &a, x, tensor(m, x)->dtype));
}

static int make_tile(struct maker *m, int x)
{
	weft_tensor t = *tensor(m, x);
	weft_attr a = { .tile = { { 0 } } };

	for (int k = 0; k < 4; k++) {
		a.tile.multiple[k] = chance(m, 50) ? 1 : (int)draw(m, 1, 3);
		t.dim[k] *= a.tile.multiple[k];
	}
	if (weft_tensor_elements(&t) > m->max_elements)
		return -1;
	begin(m, "TILE");
	return end(m, emit(m, WEFT_OP_TILE, &a, &x, 1, t.dtype, 4, t.dim));
}

static int make_border(struct maker *m, int x)
{
	weft_tensor t = *tensor(m, x);
	weft_attr a = { .pad = { .value = draw_value(m) } };

	for (int k = 0; k < 4; k++) {
		a.pad.before[k] = chance(m, 50) ? 0 : (int)draw(m, 0, 4);
		a.pad.after[k] = chance(m, 50) ? 0 : (int)draw(m, 0, 4);
		t.dim[k] += a.pad.before[k] + a.pad.after[k];
	}
	if (weft_tensor_elements(&t) > m->max_elements)
		return -1;
	begin(m, "PAD");
	return end(m, emit(m, WEFT_OP_PAD, &a, &x, 1, t.dtype, 4, t.dim));
}

static int make_cut(struct maker *m, int x)
{
	weft_tensor t = *tensor(m, x);
	weft_attr a = { .slice = { { 0 } } };

	for (int k = 0; k < 4; k++) {
		int64_t n = chance(m, 40) ? t.dim[k] : draw(m, 1, t.dim[k]);
		a.slice.start[k] = draw(m, 0, t.dim[k] - n);
		t.dim[k] = n;
	}
	begin(m, "SLICE");
	return end(m, emit(m, WEFT_OP_SLICE, &a, &x, 1, t.dtype, 4, t.dim));
}

/* Rows of one image each; distinct ones where they are written. */
static int draw_indices(struct maker *m, int64_t n, int64_t w, int64_t k, bool distinct)
{
	int32_t *v = must(malloc((size_t)(n * w) * 4));

	for (int64_t i = 0; i < n * w; i++)
		v[i] = (int32_t)(distinct ? (i % w * 7 + i / w) % k : draw_element(m, 0, k - 1));
	return new_const(m, WEFT_INT32, 2, (int64_t[]){ n, w }, v);
}

static int make_gather(struct maker *m, int x)
{
	weft_tensor t = *tensor(m, x);
	int64_t n = t.dim[0], k = t.dim[1] * t.dim[2], c = t.dim[3];
	bool scatter = chance(m, 40) && k % 7;
	int64_t w = draw(m, 1, scatter ? k : least(2 * k, 100));

	if (n * w * c > m->max_elements)
		return -1;
	begin(m, scatter ? "SCATTER" : "GATHER");
	int v = reshape(m, x, 3, (int64_t[]){ n, k, c });
	if (!scatter) {
		int y = emit(m, WEFT_OP_GATHER, NULL, (int[]){ v, draw_indices(m, n, w, k, false) }, 2, t.dtype, 3, (int64_t[]){ n, w, c });
		return end(m, reshape(m, y, 4, (int64_t[]){ n, 1, w, c }));
	}
	int8_t *data = must(malloc((size_t)(n * w * c) * 2));
	fill_int8(m, data, n * w * c * (t.dtype == WEFT_INT16 ? 2 : 1));
	int in = new_const(m, t.dtype, 3, (int64_t[]){ n, w, c }, data);
	int y = emit(m, WEFT_OP_SCATTER, NULL, (int[]){ v, draw_indices(m, n, w, k, true), in }, 3, t.dtype, 3, (int64_t[]){ n, k, c });
	return end(m, reshape(m, y, 4, t.dim));
}

static int make_resize(struct maker *m, int x)
{
	weft_tensor t = *tensor(m, x);
	bool smooth = chance(m, 60), whole = !smooth && chance(m, 50);   /* whole: each line n times */
	weft_attr a = { .resize = { .mode = smooth ? WEFT_RESIZE_BILINEAR : WEFT_RESIZE_NEAREST } };
	if (is_float(m))
		return -1;
	int32_t *n[2] = { &a.resize.scale_y_n, &a.resize.scale_x_n }, *d[2] = { &a.resize.scale_y_d, &a.resize.scale_x_d };
	int32_t *offset[2] = { &a.resize.offset_y, &a.resize.offset_x }, *border[2] = { &a.resize.border_y, &a.resize.border_x };

	for (int k = 0; k < 2; k++) {
		int64_t in = t.dim[1 + k];
		*n[k] = (int32_t)draw(m, 1, 6);
		*d[k] = (int32_t)draw(m, 1, least(4, 16 * *n[k] - 1));
		*offset[k] = (int32_t)draw(m, -*n[k], *n[k]);
		*border[k] = (int32_t)draw(m, -*n[k], *n[k] - 1);
		if (whole) {
			*d[k] = 1;
			*offset[k] = -*n[k] / 2;
			*border[k] = *n[k] - 1 + *offset[k];
		}
		int64_t span = (in - 1) * *n[k] - *offset[k] + *border[k];
		*border[k] -= (int32_t)(((span % *d[k]) + *d[k]) % *d[k]);
		span -= ((span % *d[k]) + *d[k]) % *d[k];
		if (span < 0)
			return -1;
		t.dim[1 + k] = span / *d[k] + 1;
	}
	if (weft_tensor_elements(&t) > m->max_elements)
		return -1;
	begin(m, "RESIZE");
	weft_dtype type = !smooth ? t.dtype : sum_type(m);
	int y = emit(m, WEFT_OP_RESIZE, &a, &x, 1, type, 4, t.dim);
	if (!smooth)
		return end(m, y);
	return end(m, requantise(m, y, t.dim[3], 1.0 / (*n[0] * *n[1]), type == WEFT_INT32 ? 2147483648.0 : ldexp(1, 47)));
}

static int make_fold(struct maker *m, int x)
{
	weft_tensor t = *tensor(m, x);
	int kind = (int)draw(m, 0, 3), axis = (int)draw(m, 0, 3);
	weft_attr a = { .axis = { axis } };

	begin(m, "REDUCE");
	if (kind == 0) {
		int64_t dim[4], n = 0;
		for (int d = 0; d < 4; d++)
			if (d != axis)
				dim[n++] = t.dim[d];
		t.dim[axis] = 1;
		int y = emit(m, WEFT_OP_ARGMAX, &a, &x, 1, WEFT_INT32, 3, dim);
		return end(m, rescale(m, reshape(m, y, 4, t.dim), one_scale(1 << 30, 30), draw_rounding(m), 0, draw_zp(m), m->type));
	}
	t.dim[axis] = 1;
	if (kind == 1)
		return end(m, back(m, emit(m, WEFT_OP_REDUCE_SUM, &a, (int[]){ widen(m, x, 0, 8) }, 1, WEFT_INT32, 4, t.dim)));
	return end(m, emit(m, kind == 2 ? WEFT_OP_REDUCE_MAX : WEFT_OP_REDUCE_MIN, &a, &x, 1, t.dtype, 4, t.dim));
}

static int make_cast(struct maker *m, int x)
{
	static const weft_dtype types[] = { WEFT_BOOL, WEFT_INT8, WEFT_INT16, WEFT_INT32 };
	weft_dtype t = types[draw(m, 0, 3)];

	begin(m, "CAST");
	int y = t == m->type ? x : one(m, WEFT_OP_CAST, NULL, x, t);
	return end(m, t == m->type ? one(m, WEFT_OP_IDENTITY, NULL, x, t) : one(m, WEFT_OP_CAST, NULL, y, m->type));
}

static int int4_weights(struct maker *m, int rank, const int64_t *dim, int64_t n)
{
	int8_t *w = must(malloc((size_t)n));

	for (int64_t i = 0; i < n; i++)
		w[i] = (int8_t)draw_element(m, -7, 7);
	return new_const(m, WEFT_INT4, rank, dim, w);
}

/* Weights that are an input of the network, or constant; of int4 only where they have no zero point. */
static int any_weights(struct maker *m, int rank, const int64_t *dim, bool may_int4)
{
	int64_t n = 1;

	for (int d = 0; d < rank; d++)
		n *= dim[d];
	if (chance(m, 35)) {
		int t = new_tensor(m, WEFT_INT8, rank, dim);
		m->g->tensors[t].is_input = true;
		list_add(&m->g->inputs, &m->g->n_inputs, t);
		return t;
	}
	if (may_int4 && chance(m, 40))
		return int4_weights(m, rank, dim, n);
	int8_t *w = must(malloc((size_t)n));
	fill_int8(m, w, n);
	return new_const(m, WEFT_INT8, rank, dim, w);
}

/* Sums that go on as they are, or through a RESCALE. */
static int use_sums(struct maker *m, int y, int64_t oc, double noise)
{
	if (sum_type(m) == WEFT_INT32 && chance(m, 50)) {
		weft_attr a = { .mul = { (int)draw(m, 0, 8) } };
		int64_t lo = -1000, hi = 1000;
		y = two(m, chance(m, 50) ? WEFT_OP_ADD : WEFT_OP_MUL, &a, y, const_like(m, y, WEFT_INT32, lo, hi), WEFT_INT32);
		return back(m, y);
	}
	return requantise(m, y, oc, half_range(m) / 2 / noise, sum_type(m) == WEFT_INT32 ? 2147483648.0 : ldexp(1, 47));
}

static int make_transposed(struct maker *m, int x)
{
	weft_tensor t = *tensor(m, x);
	int64_t oc = draw_count(m, 2 * m->n), ic = t.dim[3], k[2];
	weft_attr a = { .conv = { .dilation = { 1, 1 }, .x_zp = draw_zp(m), .w_zp = chance(m, 70) ? 0 : draw_int8(m), .acc = sum_type(m) } };

	for (int i = 0; i < 2; i++) {
		k[i] = draw_kernel(m, 5);
		a.conv.stride[i] = (int)draw(m, 1, 3);
		a.conv.pad[2 * i] = (int)draw(m, 1 - k[i], 2);
		a.conv.pad[2 * i + 1] = (int)draw(m, 1 - k[i], 2);
		t.dim[1 + i] = (t.dim[1 + i] - 1) * a.conv.stride[i] + a.conv.pad[2 * i] + a.conv.pad[2 * i + 1] + k[i];
		if (t.dim[1 + i] < 1)
			return -1;
	}
	t.dim[3] = oc;
	if (weft_tensor_elements(&t) > m->max_elements || weft_tensor_elements(&t) * k[0] * k[1] * ic > m->max_macs)
		return -1;
	begin(m, "TRANSPOSE_CONV");
	int w = any_weights(m, 4, (int64_t[]){ oc, k[0], k[1], ic }, m->type == WEFT_INT8 && !a.conv.w_zp);
	double noise = sqrt((double)(k[0] * k[1] * ic)) * 62.5 * half_range(m);
	int y = emit(m, WEFT_OP_TRANSPOSE_CONV2D, &a, (int[]){ x, w, draw_bias(m, oc, noise) }, 3, sum_type(m), 4, t.dim);
	return end(m, use_sums(m, y, oc, noise));
}

/* Rows become the depth. */
static int make_conv3d(struct maker *m, int x)
{
	weft_tensor t = *tensor(m, x);
	int64_t oc = draw_count(m, 2 * m->n), d = t.dim[1], k[3], in[3], out[3], rows = 1;

	for (int64_t r = 4; r > 1 && rows == 1; r--)
		if (d % r == 0)
			rows = r;
	in[0] = d / rows;
	in[1] = rows;
	in[2] = t.dim[2];
	weft_attr a = { .conv3d = { .x_zp = draw_zp(m), .w_zp = chance(m, 70) ? 0 : draw_int8(m), .acc = sum_type(m) } };
	for (int i = 0; i < 3; i++) {
		k[i] = draw(m, 1, 3);
		a.conv3d.dilation[i] = (int)draw(m, 1, 2);
		a.conv3d.stride[i] = (int)draw(m, 1, 2);
		int64_t reach = (k[i] - 1) * a.conv3d.dilation[i] + 1;
		a.conv3d.pad[2 * i] = (int)draw(m, 0, reach - 1);
		a.conv3d.pad[2 * i + 1] = (int)draw(m, 0, reach - 1);
		int64_t span = in[i] + a.conv3d.pad[2 * i] + a.conv3d.pad[2 * i + 1] - reach;
		if (span < 0 || span % a.conv3d.stride[i])
			return -1;
		out[i] = span / a.conv3d.stride[i] + 1;
	}
	int64_t y_dim[5] = { t.dim[0], out[0], out[1], out[2], oc }, sums_of = t.dim[0] * out[0] * out[1] * out[2] * oc;
	if (sums_of > m->max_elements || sums_of * k[0] * k[1] * k[2] * t.dim[3] > m->max_macs)
		return -1;
	begin(m, "CONV_3D");
	int v = reshape(m, x, 5, (int64_t[]){ t.dim[0], in[0], in[1], in[2], t.dim[3] });
	int w = any_weights(m, 5, (int64_t[]){ oc, k[0], k[1], k[2], t.dim[3] }, m->type == WEFT_INT8 && !a.conv3d.w_zp);
	double noise = sqrt((double)(k[0] * k[1] * k[2] * t.dim[3])) * 62.5 * half_range(m);
	int y = emit(m, WEFT_OP_CONV3D, &a, (int[]){ v, w, draw_bias(m, oc, noise) }, 3, sum_type(m), 5, y_dim);
	y = use_sums(m, y, oc, noise);
	return end(m, reshape(m, y, 4, (int64_t[]){ t.dim[0] * out[0], out[1], out[2], oc }));
}

/* As convolve(), but the weights may be computed and the sums read by others. */
static int make_loose_conv(struct maker *m, int x)
{
	struct axis a[2];
	int64_t c = tensor(m, x)->dim[3], mult = draw(m, 1, 3);
	bool depthwise = chance(m, 40);

	draw_window(m, x, a);
	if (!fit_axes(m, x, a, false))
		return -1;
	int64_t oc = depthwise ? c * mult : draw_count(m, 2 * m->n), k = a[0].kernel * a[1].kernel * (depthwise ? 4 : c);
	if (sums(m, x, a, oc) > m->max_elements || sums(m, x, a, oc) * k > m->max_macs)
		return -1;
	begin(m, "LOOSE_CONV");
	x = trim(m, x, a);
	weft_attr at = { .conv = {
		.pad = { (int)a[0].before, (int)a[0].after, (int)a[1].before, (int)a[1].after },
		.stride = { (int)a[0].stride, (int)a[1].stride }, .dilation = { (int)a[0].dilation, (int)a[1].dilation },
		.x_zp = draw_zp(m), .w_zp = chance(m, 70) ? 0 : draw_int8(m), .acc = sum_type(m),
	} };
	double noise = sqrt((double)k) * 62.5 * half_range(m);
	bool may_int4 = m->type == WEFT_INT8 && !at.conv.w_zp;
	int w = depthwise ? any_weights(m, 4, (int64_t[]){ a[0].kernel, a[1].kernel, c, mult }, may_int4)
	                  : any_weights(m, 4, (int64_t[]){ oc, a[0].kernel, a[1].kernel, c }, may_int4);
	int b = draw_bias(m, oc, noise);
	if (sum_type(m) == WEFT_INT32 && chance(m, 25))
		b = one(m, WEFT_OP_ABS, NULL, b, WEFT_INT32);
	int64_t dim[4] = { tensor(m, x)->dim[0], a[0].out, a[1].out, oc };
	int y = emit(m, depthwise ? WEFT_OP_DEPTHWISE_CONV2D : WEFT_OP_CONV2D, &at, (int[]){ x, w, b }, 3, sum_type(m), 4, dim);
	return end(m, use_sums(m, y, oc, noise));
}

static int make_matmul(struct maker *m, int x)
{
	weft_tensor t = *tensor(m, x);
	int64_t n = t.dim[0], h = t.dim[1] * t.dim[2], c = t.dim[3], w = draw_count(m, 40);
	weft_attr a = { .matmul = { draw_zp(m), draw_zp(m), 0 } };
	int b, v = reshape(m, x, 3, (int64_t[]){ n, h, c });

	begin(m, "MATMUL");
	if (chance(m, 50)) {
		weft_attr perm = { .perm = { { 0, 2, 1 } } };
		w = h;
		b = emit(m, WEFT_OP_TRANSPOSE, &perm, &v, 1, t.dtype, 3, (int64_t[]){ n, c, w });
	} else {
		int8_t *data = must(malloc((size_t)(n * c * w) * 2));
		fill_int8(m, data, n * c * w * (t.dtype == WEFT_INT16 ? 2 : 1));
		b = new_const(m, t.dtype, 3, (int64_t[]){ n, c, w }, data);
	}
	if (n * h * w > m->max_elements || n * h * w * c > m->max_macs)
		return x;
	int y = emit(m, WEFT_OP_MATMUL, &a, (int[]){ v, b }, 2, sum_type(m), 3, (int64_t[]){ n, h, w });
	double noise = sqrt((double)c) * 62.5 * half_range(m) * (t.dtype == WEFT_INT16 ? 256 : 1);
	y = requantise(m, y, w, half_range(m) / 2 / noise, sum_type(m) == WEFT_INT32 ? 2147483648.0 : ldexp(1, 47));
	return end(m, reshape(m, y, 4, (int64_t[]){ n, 1, h, w }));
}

static int (*const alu_kinds[])(struct maker *, int) = {
	make_arithmetic, make_arithmetic, make_spread, make_shift, make_choice, make_table, make_transpose, make_reverse, make_tile,
	make_border, make_cut, make_gather, make_resize, make_fold, make_cast, make_transposed, make_conv3d,
	make_loose_conv, make_loose_conv, make_matmul,
};

#endif
