/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of float8 and fp16 that take several steps on the device: averages of
 * any window, NaN ignored, ARGMAX, CASTs by table, broadcasts, TRANSPOSE_CONV2D,
 * CONV3D, MATMUL of batches. Every bit as golden has it, for random codes of all
 * kinds; and nothing of it on the host.
 */
#include <math.h>

#include <weft/convert.h>

#include "tests/unit/compile_run.h"

struct shape { weft_dtype type; int rank; int64_t dim[6]; };

struct one {
	weft_opcode op;
	weft_attr attr;
	struct shape x[3], y;
	int n_x;
	unsigned is_const;         /* mask of operands */
};

static uint64_t seed = 1;

static int64_t draw(int64_t lo, int64_t hi)
{
	return lo + (int64_t)(test_random(&seed) % (uint64_t)(hi - lo + 1));
}

/* Small ones, all over the range, halves between two floats, near powers of two; of both signs. */
static uint64_t any_int32(int64_t i)
{
	uint32_t v;

	switch (i % 4) {
	case 0: v = (uint32_t)i; break;
	case 1: v = (uint32_t)i * 196563; break;
	case 2: v = (uint32_t)i << (i >> 8 & 15); break;
	default: v = (UINT32_C(1) << (i >> 2 & 31)) + (uint32_t)(i >> 7 & 7) - 3; break;
	}
	return i & 1024 ? -v : v;
}

/* Numbers about 1, now and then a code of any kind; all codes in turn where `any`. */
static void fill(weft_tensor *t, bool any)
{
	int64_t n = weft_tensor_elements(t);
	size_t size = weft_dtype_bytes(t->dtype);

	t->data = calloc((size_t)n + 1, size);
	for (int64_t i = 0; i < n; i++) {
		uint64_t code = any ? size == 4 ? any_int32(i) : (uint64_t)i : (uint64_t)draw(0, INT32_MAX);
		if (!any && t->dtype >= WEFT_FP8E4M3 && t->dtype <= WEFT_FP64 && draw(0, 199))
			code = weft_float_encode(t->dtype, (double)draw(-256, 256) / 64, true);
		memcpy((char *)t->data + (size_t)i * size, &code, size);
	}
}

/*
 * Adds o's operands to the graph, with random values (`any`: of every kind, as fill() takes it). in[] become their tensors,
 * data[] the values of those that are inputs. Returns how many these are.
 */
static int add_operands(weft_graph *g, const struct one *o, bool any, int *in, weft_tensor *data)
{
	int n = 0;

	for (int k = 0; k < o->n_x; k++) {
		bool is_const = o->is_const >> k & 1;
		in[k] = run_tensor(g, o->x[k].type, o->x[k].rank, o->x[k].dim, !is_const, false);
		weft_tensor t = g->tensors[in[k]].t;
		fill(&t, any);
		if (is_const)
			g->tensors[in[k]].t.data = t.data;
		else
			data[n++] = t;
	}
	return n;
}

/* Frees the n inputs' values, and the constants' among o's operands. */
static void free_operands(weft_graph *g, const struct one *o, const int *in, weft_tensor *data, int n)
{
	for (int k = 0; k < n; k++)
		free(data[k].data);
	for (int k = 0; k < o->n_x; k++)
		if (o->is_const >> k & 1) {
			free(g->tensors[in[k]].t.data);
			g->tensors[in[k]].t.data = NULL;
		}
}

/* Elements that the device made. */
static uint64_t run(const struct one *o, bool any, const char *config)
{
	weft_graph *g = weft_graph_new("one");
	struct weft_compile_options c = { .config = config, .of_model = true };
	weft_tensor data[3];
	int in[3], out, n = 0;
	char what[100];

	n = add_operands(g, o, any, in, data);
	out = run_tensor(g, o->y.type, o->y.rank, o->y.dim, false, true);
	int src = weft_graph_src(g, 0, weft_op_name(o->op));
	assert_int_equal(weft_graph_op(g, o->op, &o->attr, src, in, o->n_x, &out, 1), 0);
	snprintf(what, sizeof what, "%s of %s on %s", weft_op_name(o->op), weft_dtype_name(o->x[0].type), config);
	uint64_t made = compile_run(g, &c, data, what);
	free_operands(g, o, in, data, n);
	weft_graph_free(g);
	return made;
}

static void all_on_device(const struct one *o, bool any)
{
	static const char *const configs[] = { "w16", "w8", "w32" };
	weft_tensor y = { .dtype = o->y.type, .rank = o->y.rank };

	memcpy(y.dim, o->y.dim, sizeof o->y.dim);
	for (int k = 0; k < 3; k++) {
		uint64_t made = run(o, any, configs[k]);
		/* Tables of 128 KB do not fit the small scratchpad. */
		if (k == 1 && made == 0 && weft_dtype_bytes(o->x[0].type) > 1 && o->op != WEFT_OP_ADD)
			continue;
		if (made != (uint64_t)weft_tensor_elements(&y))
			fail_msg("%s of %s on %s: the device made %llu elements of %lld", weft_op_name(o->op), weft_dtype_name(o->x[0].type),
			         configs[k], (unsigned long long)made, (long long)weft_tensor_elements(&y));
	}
}

static weft_dtype any_float8(void)
{
	return draw(0, 1) ? WEFT_FP8E4M3 : WEFT_FP8E5M2;
}

/* Windows along y and x with padding of which the output's size comes out whole. */
static void draw_pool(struct one *o, weft_dtype t, int most)
{
	*o = (struct one){ .n_x = 1, .x = { { t, 4, { draw(1, 2), 0, 0, draw(1, 20) } } }, .attr = { .pool = { .acc = WEFT_FP16 } } };
	o->y = o->x[0];
	for (int i = 0; i < 2; i++) {
		int64_t kernel = draw(1, most), stride = draw(1, 3), before = draw(0, kernel - 1), after = draw(0, kernel - 1), n = draw(1, 7);
		while ((n - 1) * stride + kernel - before - after < 1)
			n++;
		o->attr.pool.kernel[i] = (int)kernel;
		o->attr.pool.stride[i] = (int)stride;
		o->attr.pool.pad[2 * i] = (int)before;
		o->attr.pool.pad[2 * i + 1] = (int)after;
		o->x[0].dim[1 + i] = (n - 1) * stride + kernel - before - after;
		o->y.dim[1 + i] = n;
	}
}

static void averages(void **state)
{
	struct one o;

	(void)state;
	for (int k = 0; k < 25; k++) {
		draw_pool(&o, any_float8(), 4);
		o.op = WEFT_OP_AVG_POOL2D;
		all_on_device(&o, k % 5 == 0);
	}
	/* Too large a window, and too many sizes of windows: the host's. */
	o = (struct one){ WEFT_OP_AVG_POOL2D, { .pool = { .kernel = { 64, 33 }, .stride = { 1, 1 }, .acc = WEFT_FP16 } },
	                  { { WEFT_FP8E5M2, 4, { 1, 64, 40, 2 } } }, { WEFT_FP8E5M2, 4, { 1, 1, 8, 2 } }, 1, 0 };
	assert_int_equal(run(&o, false, "w16"), 0);
	o = (struct one){ WEFT_OP_AVG_POOL2D, { .pool = { .kernel = { 1, 12 }, .stride = { 1, 1 }, .pad = { 0, 0, 11, 0 }, .acc = WEFT_FP16 } },
	                  { { WEFT_FP8E4M3, 4, { 1, 1, 40, 2 } } }, { WEFT_FP8E4M3, 4, { 1, 1, 40, 2 } }, 1, 0 };
	assert_int_equal(run(&o, false, "w16"), 0);
}

static void maxima_without_nan(void **state)
{
	struct one o;

	(void)state;
	for (int k = 0; k < 12; k++) {
		draw_pool(&o, k % 4 ? any_float8() : WEFT_FP16, 3);
		o.op = WEFT_OP_MAX_POOL2D;
		o.attr.pool.nan = WEFT_NAN_IGNORE;
		all_on_device(&o, k % 3 == 0);
	}
	/* Windows that hold nothing but NaN, of either sign. */
	o = (struct one){ WEFT_OP_MAX_POOL2D, { .pool = { .kernel = { 1, 1 }, .stride = { 1, 1 }, .nan = WEFT_NAN_IGNORE } },
	                  { { WEFT_FP8E5M2, 4, { 1, 16, 16, 1 } } }, { WEFT_FP8E5M2, 4, { 1, 16, 16, 1 } }, 1, 0 };
	all_on_device(&o, true);
}

static void argmax(void **state)
{
	static const weft_dtype types[] = { WEFT_FP8E4M3, WEFT_FP8E5M2, WEFT_FP16 };

	(void)state;
	for (int k = 0; k < 18; k++) {
		weft_dtype t = types[k % 3];
		struct one o = { WEFT_OP_ARGMAX, { .axis = { .axis = k % 2, .nan = k % 4 < 2 ? WEFT_NAN_PROPAGATE : WEFT_NAN_IGNORE } },
		                 { { t, 2, { draw(1, 9), draw(1, 30) } } }, { WEFT_INT32, 1, { 0 } }, 1, 0 };
		o.y.dim[0] = o.x[0].dim[1 - k % 2];
		all_on_device(&o, k < 6);
	}
}

/* Every code of 8 and 16 bits; of int32 the whole range in steps. */
static void casts(void **state)
{
	static const weft_dtype pairs[][2] = {
		{ WEFT_INT8, WEFT_FP16 }, { WEFT_INT16, WEFT_FP16 }, { WEFT_INT32, WEFT_FP16 }, { WEFT_FP16, WEFT_INT8 },
		{ WEFT_FP16, WEFT_INT16 }, { WEFT_FP16, WEFT_INT32 }, { WEFT_BF16, WEFT_INT32 }, { WEFT_FP16, WEFT_FP8E4M3 },
		{ WEFT_FP16, WEFT_FP8E5M2 }, { WEFT_BF16, WEFT_FP8E4M3 }, { WEFT_FP8E4M3, WEFT_FP16 }, { WEFT_FP8E5M2, WEFT_BF16 },
		{ WEFT_FP8E4M3, WEFT_FP32 }, { WEFT_INT8, WEFT_FP32 }, { WEFT_INT16, WEFT_FP32 }, { WEFT_INT32, WEFT_FP32 },
		{ WEFT_INT32, WEFT_BF16 }, { WEFT_INT16, WEFT_BF16 }, { WEFT_FP16, WEFT_FP32 }, { WEFT_BF16, WEFT_FP32 },
	};

	(void)state;
	for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
		int64_t n = weft_dtype_bytes(pairs[k][0]) == 1 ? 256 : 65536;
		struct one o = { WEFT_OP_CAST, { .axis = { 0 } }, { { pairs[k][0], 1, { n } } }, { pairs[k][1], 1, { n } }, 1, 0 };
		all_on_device(&o, true);
	}
}

static void clamps_without_nan(void **state)
{
	struct one o = { WEFT_OP_CLAMP, { .clamp = { .fmin = -2.5, .fmax = 1000, .nan = WEFT_NAN_IGNORE } },
	                 { { WEFT_FP16, 1, { 65536 } } }, { WEFT_FP16, 1, { 65536 } }, 1, 0 };

	(void)state;
	all_on_device(&o, true);
}

static void sums_of_other_shapes(void **state)
{
	(void)state;
	for (int k = 0; k < 12; k++) {
		struct one o = { .op = WEFT_OP_ADD, .n_x = 2, .y = { WEFT_FP16, (int)draw(1, 5), { 0 } } };
		for (int d = 0; d < o.y.rank; d++)
			o.y.dim[d] = draw(1, 9);
		o.x[0] = o.x[1] = o.y;
		for (int d = 0; d < o.y.rank; d++)
			if (draw(0, 1))
				o.x[draw(0, 1)].dim[d] = 1;
		all_on_device(&o, k == 0);
	}
}

/* Weights constant, or not; bias always, as constants of either shape. */
static void transposed(void **state)
{
	(void)state;
	for (int k = 0; k < 16; k++) {
		weft_dtype t = any_float8();
		struct one o = { .op = WEFT_OP_TRANSPOSE_CONV2D, .n_x = 3, .is_const = k % 4 ? 6 : 4 };
		int64_t ic = draw(1, 20), oc = draw(1, 20);
		o.x[0] = (struct shape){ t, 4, { draw(1, 2), draw(1, 6), draw(1, 6), ic } };
		o.x[1] = (struct shape){ t, 4, { oc, draw(1, 4), draw(1, 4), ic } };
		o.x[2] = (struct shape){ WEFT_FP16, 1, { draw(0, 1) ? oc : 1 } };
		o.y = (struct shape){ WEFT_FP16, 4, { o.x[0].dim[0], 0, 0, oc } };
		o.attr.conv.acc = WEFT_FP16;
		for (int i = 0; i < 2; i++) {
			int64_t kernel = o.x[1].dim[1 + i], stride = draw(1, 3);
			o.attr.conv.stride[i] = (int)stride;
			o.attr.conv.dilation[i] = 1;
			o.attr.conv.pad[2 * i] = (int)draw(1 - kernel, 2);
			o.attr.conv.pad[2 * i + 1] = (int)draw(0, 2);
			o.y.dim[1 + i] = (o.x[0].dim[1 + i] - 1) * stride + o.attr.conv.pad[2 * i] + o.attr.conv.pad[2 * i + 1] + kernel;
		}
		if (o.y.dim[1] > 0 && o.y.dim[2] > 0)
			all_on_device(&o, false);
	}
}

static void conv3d(void **state)
{
	(void)state;
	for (int k = 0; k < 16; k++) {
		weft_dtype t = any_float8();
		struct one o = { .op = WEFT_OP_CONV3D, .n_x = 3, .is_const = k % 4 ? 6 : 4 };
		int64_t ic = draw(1, 10), oc = draw(1, 20);
		o.x[0] = (struct shape){ t, 5, { draw(1, 2), 0, 0, 0, ic } };
		o.x[1] = (struct shape){ t, 5, { oc, draw(1, 3), draw(1, 3), draw(1, 3), ic } };
		o.x[2] = (struct shape){ WEFT_FP16, 1, { draw(0, 1) ? oc : 1 } };
		o.y = (struct shape){ WEFT_FP16, 5, { o.x[0].dim[0], 0, 0, 0, oc } };
		o.attr.conv3d.acc = WEFT_FP16;
		for (int i = 0; i < 3; i++) {
			int64_t dilation = draw(1, 2), stride = draw(1, 2), before = draw(0, 1), after = draw(0, 1), n = draw(2, 5);
			/* Padded depth takes weights that are known to be finite. */
			if (!i)
				before = after = 0;
			o.attr.conv3d.dilation[i] = (int)dilation;
			o.attr.conv3d.stride[i] = (int)stride;
			o.attr.conv3d.pad[2 * i] = (int)before;
			o.attr.conv3d.pad[2 * i + 1] = (int)after;
			o.x[0].dim[1 + i] = (n - 1) * stride + (o.x[1].dim[1 + i] - 1) * dilation + 1 - before - after;
			o.y.dim[1 + i] = n;
		}
		if (o.x[0].dim[1] > 0 && o.x[0].dim[2] > 0 && o.x[0].dim[3] > 0)
			all_on_device(&o, false);
	}
}

static void batches(void **state)
{
	(void)state;
	for (int k = 0; k < 16; k++) {
		weft_dtype t = any_float8();
		int64_t n = draw(1, 5), h = draw(1, 20), c = draw(1, 40), w = draw(1, 20);
		struct one o = { .op = WEFT_OP_MATMUL, .n_x = 2, .is_const = k % 2 ? 2 : 0,
		                 .x = { { t, 3, { n, h, c } }, { t, 3, { n, c, w } } }, .y = { WEFT_FP16, 3, { n, h, w } } };
		/* A single matrix from outside is packed by the host before the run, which this test does not do. */
		if (n > 1 || o.is_const)
			all_on_device(&o, k == 1);
	}
}

/*
 * ADD of an operator's fp16 result and another tensor, where the operator becomes several nodes of which each
 * makes a part of the result: the addition must not join one of them as if that made all of it.
 */
static void sum_behind(const struct one *o)
{
	weft_graph *g = weft_graph_new("sum");
	struct weft_compile_options c = { .config = "w16", .of_model = true };
	weft_tensor data[3];
	int in[3], both[2], out, n = 0;

	n = add_operands(g, o, false, in, data);
	both[0] = run_tensor(g, o->y.type, o->y.rank, o->y.dim, false, false);
	both[1] = run_tensor(g, o->y.type, o->y.rank, o->y.dim, true, false);
	data[n] = g->tensors[both[1]].t;
	fill(&data[n++], false);
	out = run_tensor(g, o->y.type, o->y.rank, o->y.dim, false, true);
	int src = weft_graph_src(g, 0, weft_op_name(o->op));
	assert_int_equal(weft_graph_op(g, o->op, &o->attr, src, in, o->n_x, &both[0], 1), 0);
	assert_int_equal(weft_graph_op(g, WEFT_OP_ADD, &(weft_attr){ 0 }, src, both, 2, &out, 1), 1);
	assert_true(compile_run(g, &c, data, "an addition behind parts") > 0);
	free_operands(g, o, in, data, n);
	weft_graph_free(g);
}

static void sums_behind_parts(void **state)
{
	(void)state;
	struct one o = { .op = WEFT_OP_TRANSPOSE_CONV2D, .n_x = 3, .is_const = 6, .attr = { .conv = { .acc = WEFT_FP16, .stride = { 2, 2 }, .dilation = { 1, 1 } } },
	                 .x = { { WEFT_FP8E4M3, 4, { 1, 3, 4, 5 } }, { WEFT_FP8E4M3, 4, { 7, 2, 2, 5 } }, { WEFT_FP16, 1, { 7 } } },
	                 .y = { WEFT_FP16, 4, { 1, 6, 8, 7 } } };
	struct one m = { .op = WEFT_OP_MATMUL, .n_x = 2, .is_const = 2,
	                 .x = { { WEFT_FP8E4M3, 3, { 3, 9, 10 } }, { WEFT_FP8E4M3, 3, { 3, 10, 11 } } }, .y = { WEFT_FP16, 3, { 3, 9, 11 } } };

	sum_behind(&o);
	sum_behind(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(averages), cmocka_unit_test(maxima_without_nan), cmocka_unit_test(argmax), cmocka_unit_test(casts),
		cmocka_unit_test(clamps_without_nan), cmocka_unit_test(sums_of_other_shapes), cmocka_unit_test(transposed),
		cmocka_unit_test(conv3d), cmocka_unit_test(batches), cmocka_unit_test(sums_behind_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
