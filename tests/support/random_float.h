/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The float8 part of random_graph.c, which alone includes it. Tensors between
 * operators are of any of the four encodings, or fp16.
 */
#ifndef WEFT_TESTS_RANDOM_FLOAT_H
#define WEFT_TESTS_RANDOM_FLOAT_H

#include <weft/convert.h>

static bool is_float8(weft_dtype t)
{
	return t == WEFT_FP8E4M3 || t == WEFT_FP8E5M2 || t == WEFT_FP8E4M3FNUZ || t == WEFT_FP8E5M2FNUZ;
}

static weft_dtype draw_float8(struct maker *m)
{
	static const weft_dtype t[] = { WEFT_FP8E4M3, WEFT_FP8E5M2, WEFT_FP8E4M3FNUZ, WEFT_FP8E5M2FNUZ };

	return t[draw(m, 0, 3)];
}

static weft_dtype other_float8(struct maker *m, weft_dtype t)
{
	return is_float8(t) && chance(m, 65) ? t : draw_float8(m);
}

/*
 * Codes: mostly numbers about 1, so that sums are numbers too; now and then with
 * a few of all kinds in between, or nothing but them.
 */
static void fill_float(struct maker *m, weft_dtype t, void *data, int64_t n)
{
	int style = (int)draw(m, 0, 15), most_of = weft_dtype_bytes(t) == 1 ? 255 : 65535;
	double all = (double)draw(m, -64, 64) / 16;

	for (int64_t i = 0; i < n; i++) {
		uint64_t code = (uint64_t)draw_element(m, 0, most_of);
		double v = (double)draw_element(m, -256, 256) / 64;
		if (style == 1)
			v = all;
		if (style == 2)
			v = draw_element(m, 0, 7) ? 0 : v;
		if (style == 3)
			v = draw_element(m, 0, 1) ? -0.0 : ldexp(v, (int)draw_element(m, -12, 6));
		if (style > 1 && (style > 4 || draw_element(m, 0, 99)))
			code = weft_float_encode(t, v, true);
		if (weft_dtype_bytes(t) == 1)
			((uint8_t *)data)[i] = (uint8_t)code;
		else
			((uint16_t *)data)[i] = (uint16_t)code;
	}
}

static int float_const(struct maker *m, weft_dtype t, int rank, const int64_t *dim)
{
	int64_t n = 1;

	for (int i = 0; i < rank; i++)
		n *= dim[i];
	void *data = must(malloc((size_t)n * weft_dtype_bytes(t)));
	fill_float(m, t, data, n);
	return new_const(m, t, rank, dim, data);
}

static int cast_to(struct maker *m, int x, weft_dtype to)
{
	bool fnuz = to == WEFT_FP8E4M3FNUZ || to == WEFT_FP8E5M2FNUZ || tensor(m, x)->dtype == WEFT_FP8E4M3FNUZ ||
	            tensor(m, x)->dtype == WEFT_FP8E5M2FNUZ;
	weft_attr a = { .onnx = { .saturate = chance(m, 50) } };
	weft_tensor t = *tensor(m, x);

	if (fnuz || chance(m, 20) || (is_float8(t.dtype) && is_float8(to)))
		return emit(m, WEFT_OP_ONNX_CAST, &a, &x, 1, to, t.rank, t.dim);
	return emit(m, WEFT_OP_CAST, NULL, &x, 1, to, t.rank, t.dim);
}

static int as_float8(struct maker *m, int x)
{
	return is_float8(tensor(m, x)->dtype) ? x : cast_to(m, x, draw_float8(m));
}

static int as_half(struct maker *m, int x)
{
	return tensor(m, x)->dtype == WEFT_FP16 ? x : cast_to(m, x, WEFT_FP16);
}

/* Pools are TOSA's: its two encodings, and fp16. */
static int as_pooled(struct maker *m, int x, bool half)
{
	weft_dtype t = tensor(m, x)->dtype;

	if (t == WEFT_FP8E4M3 || t == WEFT_FP8E5M2 || (half && t == WEFT_FP16))
		return x;
	x = as_half(m, x);
	return half && chance(m, 50) ? x : cast_to(m, x, chance(m, 50) ? WEFT_FP8E4M3 : WEFT_FP8E5M2);
}

static double draw_limit(struct maker *m)
{
	static const double edges[] = { 0, -0.0, 6, 448, -448, 65504, -65504, INFINITY, -INFINITY };

	return chance(m, 60) ? edges[draw(m, 0, N_OF(edges) - 1)] : (double)draw(m, -1000, 1000) / 32;
}

static int float_clamp(struct maker *m, int x)
{
	double a = draw_limit(m), b = draw_limit(m);
	weft_tensor t = *tensor(m, x);
	weft_attr at = { .clamp = { .fmin = a < b ? a : b, .fmax = a < b ? b : a,
		.nan = chance(m, 5) ? WEFT_NAN_IGNORE : chance(m, 50) ? WEFT_NAN_PROPAGATE : WEFT_NAN_DEFAULT } };

	if (signbit(at.clamp.fmax) && !at.clamp.fmin)
		at.clamp.fmin = -0.0;
	return emit(m, WEFT_OP_CLAMP, &at, &x, 1, WEFT_FP16, t.rank, t.dim);
}

/* What networks have behind an fp16 result. */
static int float_tail(struct maker *m, int y)
{
	if (chance(m, 40))
		y = float_clamp(m, y);
	return chance(m, 65) ? cast_to(m, y, draw_float8(m)) : y;
}

static int float_convolve(struct maker *m, weft_opcode op, int x, const struct axis a[2], const int64_t w_dim[4], int64_t oc)
{
	x = as_float8(m, trim(m, x, a));
	weft_attr at = { .conv = {
		.pad = { (int)a[0].before, (int)a[0].after, (int)a[1].before, (int)a[1].after },
		.stride = { (int)a[0].stride, (int)a[1].stride }, .dilation = { (int)a[0].dilation, (int)a[1].dilation },
		.acc = WEFT_FP16, .log2_scale = chance(m, 60) ? 0 : chance(m, 80) ? (int)draw(m, -6, 4) : (int)draw(m, -32, 31),
	} };
	int64_t n = chance(m, 85) ? oc : 1;
	int w = float_const(m, other_float8(m, tensor(m, x)->dtype), 4, w_dim), b = float_const(m, WEFT_FP16, 1, &n);
	int64_t dim[4] = { tensor(m, x)->dim[0], a[0].out, a[1].out, oc };
	return float_tail(m, emit(m, op, &at, (int[]){ x, w, b }, 3, WEFT_FP16, 4, dim));
}

static int float_max_pool(struct maker *m, int x, const weft_attr *at, const int64_t dim[4])
{
	x = as_pooled(m, x, true);
	int y = emit(m, WEFT_OP_MAX_POOL2D, at, &x, 1, tensor(m, x)->dtype, 4, dim);

	return tensor(m, y)->dtype == WEFT_FP16 ? float_tail(m, y) : y;
}

static int make_float_average(struct maker *m, int x)
{
	static const int64_t k[] = { 1, 2, 2, 2, 3, 4, 4, 8 };
	weft_tensor t = *tensor(m, x);
	weft_attr at = { .pool = { .acc = WEFT_FP16 } };

	for (int i = 0; i < 2; i++) {
		int64_t kernel = least(chance(m, 20) ? t.dim[1 + i] : k[draw(m, 0, N_OF(k) - 1)], t.dim[1 + i]);
		int64_t stride = chance(m, 60) ? kernel : draw(m, 1, 3);
		int64_t before = chance(m, 70) ? 0 : draw(m, 0, kernel - 1), after = chance(m, 70) ? 0 : draw(m, 0, kernel - 1);
		if ((t.dim[1 + i] + before + after - kernel) % stride)
			return -1;
		at.pool.kernel[i] = (int)kernel;
		at.pool.stride[i] = (int)stride;
		at.pool.pad[2 * i] = (int)before;
		at.pool.pad[2 * i + 1] = (int)after;
		t.dim[1 + i] = (t.dim[1 + i] + before + after - kernel) / stride + 1;
	}
	if (weft_tensor_elements(&t) * at.pool.kernel[0] * at.pool.kernel[1] > m->max_macs / 4)
		return -1;
	begin(m, "AVERAGE_POOL_2D");
	x = as_pooled(m, x, chance(m, 15));
	return end(m, emit(m, WEFT_OP_AVG_POOL2D, &at, &x, 1, tensor(m, x)->dtype, 4, t.dim));
}

static int float_add(struct maker *m, int a, int b)
{
	begin(m, "ADD");
	a = as_half(m, a);
	b = as_half(m, b);
	weft_tensor t = *tensor(m, a);
	return end(m, float_tail(m, emit(m, WEFT_OP_ADD, NULL, (int[]){ a, b }, 2, WEFT_FP16, t.rank, t.dim)));
}

/* x as one matrix of `rows` by a constant one. */
static int make_float_matmul(struct maker *m, int x, int64_t rows, int64_t k, int64_t columns)
{
	weft_attr at = { .matmul = { .log2_scale = chance(m, 60) ? 0 : (int)draw(m, -6, 4) } };

	begin(m, "MATMUL");
	x = as_float8(m, x);
	x = emit(m, WEFT_OP_RESHAPE, NULL, &x, 1, tensor(m, x)->dtype, 3, (int64_t[]){ 1, rows, k });
	int b = float_const(m, other_float8(m, tensor(m, x)->dtype), 3, (int64_t[]){ 1, k, columns });
	int y = float_tail(m, emit(m, WEFT_OP_MATMUL, &at, (int[]){ x, b }, 2, WEFT_FP16, 3, (int64_t[]){ 1, rows, columns }));
	return end(m, emit(m, WEFT_OP_RESHAPE, NULL, &y, 1, tensor(m, y)->dtype, 4, (int64_t[]){ 1, rows, 1, columns }));
}

/* CASTs to and fro, and CLAMPs. */
static int make_float_cast(struct maker *m, int x)
{
	begin(m, "CAST");
	if (tensor(m, x)->dtype != WEFT_FP16)
		x = cast_to(m, x, WEFT_FP16);
	else
		x = cast_to(m, x, draw_float8(m));
	return end(m, x);
}

static int make_float_clamp(struct maker *m, int x)
{
	begin(m, "RELU");
	x = float_clamp(m, as_half(m, x));
	return end(m, chance(m, 70) ? cast_to(m, x, draw_float8(m)) : x);
}

#endif
