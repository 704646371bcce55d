/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CMSIS-NN's single operators, whose expected outputs TensorFlow Lite made:
 * each goes through golden as the TOSA operators that it is lowered to, and
 * every element must match, in the plain loops and in the fast ones. The same
 * operators then are a graph, which runs on the RTL (else on the model) as far as
 * the NPU has them.
 *
 * A case is <name>.npz (arrays) and <name>.json (numbers). Which operator it
 * is follows from the keys and arrays that it has, not from its name.
 */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>
#include <cjson/cJSON.h>

#include "sim/golden/golden.h"
#include "tests/support/file.h"
#include "tests/support/level.h"
#include "tests/support/npz.h"
#include "tests/support/record_graph.h"
#include "tests/support/tensors.h"

enum kind { OTHER, CONV, GROUPED, DEPTHWISE, FULLY, AVG, MAX, ADD, MUL, EXTREME, MATMUL, PAD, SOFTMAX, N_KINDS };
static const char *const kind_names[N_KINDS] = {
	"other", "convolution", "grouped convolution", "depthwise", "fully connected",
	"average pool", "maximum pool", "add", "mul", "maximum, minimum", "matrix product", "pad", "softmax",
};
enum type { I8, I8_I4, I16, N_TYPES };
static const char *const type_names[N_TYPES] = { "int8", "int8 x int4", "int16" };

struct test_case {
	char name[200];
	cJSON *json;
	struct npz npz;
	enum kind kind;
	enum type type;
	bool mixed;                /* arrays of two generations of the same case */
};

static struct { int total, passed; } tally[N_KINDS][N_TYPES];
static struct { int cases; struct record_run run; } device[N_KINDS][N_TYPES];
static int n_left_out;
static char **names;
static int n_names;
static char dir[512];
static char why[WEFT_GOLDEN_MSG];
static bool fast;

/* ---- numbers and arrays of a case -------------------------------------- */

static const cJSON *item(const struct test_case *t, const char *key)
{
	const size_t n = strlen(t->name);

	for (const cJSON *j = t->json->child; j; j = j->next) {
		if (strncasecmp(j->string, t->name, n) == 0 && strcmp(j->string + n, key) == 0)
			return j;
	}
	return NULL;
}

/* key starts with "_", as in "_IN_CH" */
static bool has(const struct test_case *t, const char *key)
{
	const cJSON *j = item(t, key);

	return j && cJSON_IsNumber(j);
}

static int64_t num_or(const struct test_case *t, const char *key, int64_t otherwise)
{
	const cJSON *j = item(t, key);

	return j && cJSON_IsNumber(j) ? (int64_t)j->valuedouble : otherwise;
}

static int64_t num(const struct test_case *t, const char *key)
{
	if (!has(t, key))
		fail_msg("%s: no %s", t->name, key);
	return num_or(t, key, 0);
}

/* The first of these arrays that is there; a missing one ends the list. */
static const struct npz_array *array(const struct test_case *t, const char *const *list)
{
	char full[300];

	for (; *list; list++) {
		const struct npz_array *a;

		snprintf(full, sizeof(full), "%s_%s", t->name, *list);
		if ((a = npz_find(&t->npz, full)))
			return a;
	}
	return NULL;
}
#define ARRAY(t, ...) array(t, (const char *const[]){ __VA_ARGS__, NULL })

static const struct npz_array *input_of(const struct test_case *t)
{
	return ARRAY(t, "input", "input_tensor", "input1", "input_tensor_1", "lhs_input_tensor");
}

static const struct npz_array *expected_of(const struct test_case *t)
{
	const struct npz_array *a = ARRAY(t, "output_ref"), *b = ARRAY(t, "output");

	if (a && b && !t->mixed && a->n != num_or(t, "_DST_SIZE", a->n))
		return b;
	return a ? a : b;
}

static const struct npz_array *weights_of(const struct test_case *t)
{
	return ARRAY(t, "weights", "input_weights");
}

static const struct npz_array *bias_of(const struct test_case *t)
{
	if (t->mixed)
		return ARRAY(t, "biases");
	return ARRAY(t, "biases", "bias", "input_bias");
}

/* ---- tensors ------------------------------------------------------------ */

/* Elements of an array, or int4 pairs of bytes (low half first). */
static weft_tensor *load(const struct npz_array *a, weft_tensor *t)
{
	const int64_t n = weft_tensor_elements(t);

	if (a && a->n < n && t->dtype == WEFT_INT4) {
		assert_int_equal(a->n, (n + 1) / 2);
		for (int64_t i = 0; i < n; i++) {
			int64_t nibble = npz_int(a, i / 2) >> (4 * (i & 1)) & 15;

			tensor_set(t, i, nibble < 8 ? nibble : nibble - 16);
		}
		return t;
	}
	for (int64_t i = 0; a && i < n; i++) {
		assert_true(i < a->n);
		tensor_set(t, i, npz_int(a, i));
	}
	return t;
}

/* One operator; frees its inputs. NULL when golden refuses, or an input is NULL. */
static weft_tensor *run(weft_opcode op, const weft_attr *attr, weft_tensor *y,
                        weft_tensor *a, weft_tensor *b, weft_tensor *c)
{
	const weft_tensor *x[3] = { a, b, c };
	weft_tensor *out[1] = { y };
	int n = c ? 3 : b ? 2 : 1;

	if (!a || weft_golden_run(op, attr, x, n, out, 1, fast, why) != 0) {
		tensor_free(y);
		y = NULL;
	} else {
		record_op(op, attr, x, n, y);
	}
	for (int i = 0; i < n; i++)
		record_forget(x[i]);
	tensor_free(a);
	tensor_free(b);
	tensor_free(c);
	return y;
}

/* ---- the pieces that operators are lowered to --------------------------- */

static weft_tensor *like(const weft_tensor *t, weft_dtype dtype)
{
	return tensor_new(dtype, t->rank, t->dim);
}

struct scales { int n; const struct npz_array *mult, *shift; int32_t m; int s; };

/*
 * x scaled by m * 2^(s-31), as TensorFlow Lite does it: two roundings with a
 * 32-bit multiplier, one with a 16-bit multiplier behind a 64-bit sum.
 */
static weft_tensor *scale(weft_tensor *x, weft_dtype to, int32_t x_zp, int32_t y_zp,
                          const struct scales *k, bool scale32)
{
	weft_attr a = { .rescale = { .scale32 = scale32,
		.rounding = scale32 ? WEFT_DOUBLE_ROUND : WEFT_SINGLE_ROUND,
		.per_channel = k->n > 1, .x_zp = x_zp, .y_zp = y_zp } };
	weft_tensor *m, *s;

	if (!x)
		return NULL;
	m = TENSOR(scale32 ? WEFT_INT32 : WEFT_INT16, k->n);
	s = TENSOR(WEFT_INT8, k->n);
	for (int i = 0; i < k->n; i++) {
		int64_t mult = k->mult ? npz_int(k->mult, i) : k->m;
		int64_t shift = k->shift ? npz_int(k->shift, i) : k->s;

		tensor_set(m, i, scale32 ? mult : mult >= 0x7fff0000 ? 0x7fff : (mult + 0x8000) >> 16);
		tensor_set(s, i, (scale32 ? 31 : 15) - shift);
	}
	return run(WEFT_OP_RESCALE, &a, like(x, to), x, m, s);
}

/* An exact power of two: x * 2^left; also only a change of type. */
static weft_tensor *shift_up(weft_tensor *x, weft_dtype to, int32_t x_zp, int left)
{
	struct scales k = { .n = 1, .m = 1 << 30, .s = left + 1 };

	return scale(x, to, x_zp, 0, &k, true);
}

static weft_tensor *clamp(weft_tensor *x, int64_t min, int64_t max)
{
	weft_attr a = { .clamp = { .min = min, .max = max } };

	return x ? run(WEFT_OP_CLAMP, &a, like(x, x->dtype), x, NULL, NULL) : NULL;
}

/*
 * TOSA wants windows that fit exactly: padding after the image follows from
 * the output's size, and what a stride leaves over is sliced off.
 */
static weft_tensor *fit(weft_tensor *x, const int64_t out[2], const int32_t stride[2],
                        const int64_t span[2], int32_t pad[4])
{
	weft_attr a = { .slice = { .start = { 0 } } };
	int64_t dim[4] = { x->dim[0], x->dim[1], x->dim[2], x->dim[3] };
	bool cut = false;

	for (int i = 0; i < 2; i++) {
		int64_t after = (out[i] - 1) * stride[i] + span[i] - dim[1 + i] - pad[2 * i];

		if (after < 0) {
			dim[1 + i] += after;
			cut = true;
		}
		pad[2 * i + 1] = after < 0 ? 0 : (int32_t)after;
	}
	return cut ? run(WEFT_OP_SLICE, &a, tensor_new(x->dtype, 4, dim), x, NULL, NULL) : x;
}

/* ---- convolutions ------------------------------------------------------- */

struct conv {
	int64_t batches, in[2], in_ch, out_ch, kernel[2], out[2], filter_ch, mult;
	int32_t stride[2], dilation[2], pad[4], x_zp, w_zp, y_zp;
	int64_t min, max;
	struct scales scales;
};

static weft_dtype x_type(const struct test_case *t) { return t->type == I16 ? WEFT_INT16 : WEFT_INT8; }
static weft_dtype w_type(const struct test_case *t) { return t->type == I8_I4 ? WEFT_INT4 : WEFT_INT8; }
static weft_dtype acc_type(const struct test_case *t) { return t->type == I16 ? WEFT_INT48 : WEFT_INT32; }

static void read_conv(const struct test_case *t, struct conv *c)
{
	*c = (struct conv){
		.in = { num(t, "_INPUT_H"), num(t, "_INPUT_W") },
		.in_ch = num(t, "_IN_CH"), .out_ch = num(t, "_OUT_CH"),
		.kernel = { num(t, "_FILTER_Y"), num(t, "_FILTER_X") },
		.out = { num(t, "_OUTPUT_H"), num(t, "_OUTPUT_W") },
		.stride = { (int32_t)num(t, "_STRIDE_Y"), (int32_t)num(t, "_STRIDE_X") },
		.dilation = { (int32_t)num_or(t, "_DILATION_Y", 1), (int32_t)num_or(t, "_DILATION_X", 1) },
		.pad = { (int32_t)num(t, "_PAD_Y"), 0, (int32_t)num(t, "_PAD_X"), 0 },
		.x_zp = -(int32_t)num(t, "_INPUT_OFFSET"), .y_zp = (int32_t)num(t, "_OUTPUT_OFFSET"),
		.min = num(t, "_OUT_ACTIVATION_MIN"), .max = num(t, "_OUT_ACTIVATION_MAX"),
	};
	c->filter_ch = num_or(t, "_FILTER_CH", c->in_ch);
	c->mult = c->out_ch / c->in_ch;
	c->batches = input_of(t)->n / (c->in[0] * c->in[1] * c->in_ch);
	c->scales = (struct scales){ .n = (int)c->out_ch,
		.mult = ARRAY(t, "output_mult", "output_multiplier"), .shift = ARRAY(t, "output_shift") };
	assert_non_null(c->scales.mult);
	assert_non_null(c->scales.shift);
}

/*
 * Sum to output type. The rounding depends on the bias's width in the source:
 * int16 with a 32-bit bias scales with the full multiplier.
 */
static weft_tensor *finish(const struct test_case *t, weft_tensor *acc, int32_t y_zp,
                           const struct scales *k, int64_t min, int64_t max)
{
	const struct npz_array *bias = bias_of(t);
	const weft_dtype to = x_type(t);

	if (t->type == I16 && (!bias || bias->item_bytes == 4)) {
		struct scales one = { .n = 1, .m = 1 << 30, .s = 1 };

		acc = scale(scale(acc, WEFT_INT32, 0, 0, &one, false), to, 0, y_zp, k, true);
	} else if (y_zp != (int8_t)y_zp) {
		weft_tensor *sum = scale(acc, WEFT_INT32, 0, 0, k, true);
		weft_tensor *zp = sum ? TENSOR(WEFT_INT32, 1, 1, 1, 1) : NULL;

		if (!sum)
			return NULL;
		tensor_set(zp, 0, y_zp);
		acc = shift_up(run(WEFT_OP_ADD, NULL, like(sum, WEFT_INT32), sum, zp, NULL), to, 0, 0);
	} else {
		acc = scale(acc, to, 0, y_zp, k, t->type != I16);
	}
	return clamp(acc, min, max);
}

static weft_tensor *bias_tensor(const struct test_case *t, int64_t n)
{
	return load(bias_of(t), TENSOR(acc_type(t), n));
}

static weft_attr conv_attr(const struct test_case *t, const struct conv *c)
{
	return (weft_attr){ .conv = { .stride = { c->stride[0], c->stride[1] },
		.dilation = { c->dilation[0], c->dilation[1] },
		.pad = { c->pad[0], c->pad[1], c->pad[2], c->pad[3] },
		.x_zp = c->x_zp, .w_zp = c->w_zp, .acc = acc_type(t) } };
}

/* Channels first..first+n-1 of a tensor whose axis has more. */
static weft_tensor *part(const weft_tensor *x, int axis, int64_t first, int64_t n)
{
	weft_attr a = { .slice = { .start = { 0 } } };
	weft_tensor *copy = like(x, x->dtype);
	int64_t dim[WEFT_MAX_RANK];

	memcpy(copy->data, x->data, weft_tensor_bytes(x));
	memcpy(dim, x->dim, sizeof(dim));
	dim[axis] = n;
	a.slice.start[axis] = first;
	return run(WEFT_OP_SLICE, &a, tensor_new(x->dtype, x->rank, dim), copy, NULL, NULL);
}

/* Groups are one CONV2D each, joined by CONCAT. */
static weft_tensor *grouped(const struct test_case *t, const struct conv *c, weft_tensor *x,
                            weft_tensor *w, weft_tensor *bias)
{
	const int64_t groups = c->in_ch / c->filter_ch, each = c->out_ch / groups;
	const weft_attr a = conv_attr(t, c), join = { .axis = { .axis = 3 } };
	weft_tensor *all = NULL;

	for (int64_t g = 0; g < groups; g++) {
		weft_tensor *y = TENSOR(acc_type(t), c->batches, c->out[0], c->out[1], each);

		y = run(WEFT_OP_CONV2D, &a, y, part(x, 3, g * c->filter_ch, c->filter_ch),
		        part(w, 0, g * each, each), part(bias, 0, g * each, each));
		if (!y)
			break;
		all = !all ? y : run(WEFT_OP_CONCAT, &join, TENSOR(acc_type(t), c->batches, c->out[0],
		                     c->out[1], (g + 1) * each), all, y, NULL);
	}
	tensor_free(x);
	tensor_free(w);
	tensor_free(bias);
	return all;
}

static weft_tensor *convolve(const struct test_case *t, struct conv *c)
{
	const int64_t span[2] = { (c->kernel[0] - 1) * c->dilation[0] + 1,
	                          (c->kernel[1] - 1) * c->dilation[1] + 1 };
	weft_tensor *x = load(input_of(t), TENSOR(x_type(t), c->batches, c->in[0], c->in[1], c->in_ch));
	weft_tensor *bias = bias_tensor(t, c->out_ch), *w, *y;
	weft_attr a;

	x = fit(x, c->out, c->stride, span, c->pad);
	assert_non_null(x);
	a = conv_attr(t, c);
	if (t->kind == DEPTHWISE)
		w = TENSOR(w_type(t), c->kernel[0], c->kernel[1], c->in_ch, c->mult);
	else
		w = TENSOR(w_type(t), c->out_ch, c->kernel[0], c->kernel[1], c->filter_ch);
	load(weights_of(t), w);
	y = TENSOR(acc_type(t), c->batches, c->out[0], c->out[1], c->out_ch);
	if (t->kind == GROUPED) {
		tensor_free(y);
		y = grouped(t, c, x, w, bias);
	} else {
		y = run(t->kind == DEPTHWISE ? WEFT_OP_DEPTHWISE_CONV2D : WEFT_OP_CONV2D, &a, y, x, w, bias);
	}
	return finish(t, y, c->y_zp, &c->scales, c->min, c->max);
}

static weft_tensor *conv_case(const struct test_case *t)
{
	struct conv c;

	read_conv(t, &c);
	return convolve(t, &c);
}

/* As 1x1 CONV2D over a 1x1 image. */
static weft_tensor *fully_case(const struct test_case *t)
{
	const int64_t depth = num(t, "_ACCUMULATION_DEPTH"), oc = num(t, "_OUT_CH");
	struct conv c = { .batches = input_of(t)->n / depth, .in = { 1, 1 }, .out = { 1, 1 },
		.kernel = { 1, 1 }, .in_ch = depth, .filter_ch = depth, .out_ch = oc,
		.stride = { 1, 1 }, .dilation = { 1, 1 }, .x_zp = -(int32_t)num(t, "_INPUT_OFFSET"),
		.w_zp = -(int32_t)num_or(t, "_FILTER_OFFSET", 0), .y_zp = (int32_t)num(t, "_OUTPUT_OFFSET"),
		.min = num(t, "_OUT_ACTIVATION_MIN"), .max = num(t, "_OUT_ACTIVATION_MAX"),
		.scales = { .n = 1, .m = (int32_t)num_or(t, "_OUTPUT_MULTIPLIER", 0),
		            .s = (int)num_or(t, "_OUTPUT_SHIFT", 0) } };

	if (!has(t, "_OUTPUT_MULTIPLIER"))
		c.scales = (struct scales){ .n = (int)oc,
			.mult = ARRAY(t, "output_mult", "output_multiplier"), .shift = ARRAY(t, "output_shift") };
	return convolve(t, &c);
}

/* ---- the other operators ------------------------------------------------ */

static weft_tensor *pool_case(const struct test_case *t)
{
	const int64_t in[2] = { num(t, "_INPUT_H"), num(t, "_INPUT_W") }, ch = num(t, "_INPUT_C");
	const int64_t out[2] = { num(t, "_OUTPUT_H"), num(t, "_OUTPUT_W") };
	const int64_t span[2] = { num(t, "_FILTER_H"), num(t, "_FILTER_W") };
	const int64_t batches = input_of(t)->n / (in[0] * in[1] * ch);
	weft_attr a = { .pool = { .kernel = { (int32_t)span[0], (int32_t)span[1] },
		.stride = { (int32_t)num(t, "_STRIDE_H"), (int32_t)num(t, "_STRIDE_W") },
		.pad = { (int32_t)num(t, "_PADDING_H"), 0, (int32_t)num(t, "_PADDING_W"), 0 },
		.acc = WEFT_INT32 } };
	weft_tensor *x = load(input_of(t), TENSOR(x_type(t), batches, in[0], in[1], ch)), *y;

	x = fit(x, out, a.pool.stride, span, a.pool.pad);
	y = TENSOR(x_type(t), batches, out[0], out[1], ch);
	y = run(t->kind == AVG ? WEFT_OP_AVG_POOL2D : WEFT_OP_MAX_POOL2D, &a, y, x, NULL, NULL);
	return clamp(y, num(t, "_ACTIVATION_MIN"), num(t, "_ACTIVATION_MAX"));
}

static weft_tensor *add_case(const struct test_case *t)
{
	const int64_t n = num(t, "_DST_SIZE");
	const int left = (int)num(t, "_LEFT_SHIFT");
	const struct scales k1 = { .n = 1, .m = (int32_t)num(t, "_INPUT1_MULT"), .s = (int)num(t, "_INPUT1_SHIFT") };
	const struct scales k2 = { .n = 1, .m = (int32_t)num(t, "_INPUT2_MULT"), .s = (int)num(t, "_INPUT2_SHIFT") };
	const struct scales ky = { .n = 1, .m = (int32_t)num(t, "_OUTPUT_MULT"), .s = (int)num(t, "_OUTPUT_SHIFT") };
	weft_tensor *a = load(ARRAY(t, "input1"), TENSOR(x_type(t), n));
	weft_tensor *b = load(ARRAY(t, "input2"), TENSOR(x_type(t), n));
	weft_tensor *y = TENSOR(WEFT_INT32, n);

	a = scale(shift_up(a, WEFT_INT32, -(int32_t)num(t, "_INPUT1_OFFSET"), left), WEFT_INT32, 0, 0, &k1, true);
	b = scale(shift_up(b, WEFT_INT32, -(int32_t)num(t, "_INPUT2_OFFSET"), left), WEFT_INT32, 0, 0, &k2, true);
	y = run(WEFT_OP_ADD, NULL, y, a, b, NULL);
	y = scale(y, x_type(t), 0, (int32_t)num(t, "_OUTPUT_OFFSET"), &ky, true);
	return clamp(y, num(t, "_OUT_ACTIVATION_MIN"), num(t, "_OUT_ACTIVATION_MAX"));
}

static weft_tensor *mul_case(const struct test_case *t)
{
	const int64_t n = num(t, "_DST_SIZE");
	const struct scales k = { .n = 1, .m = (int32_t)num(t, "_OUTPUT_MULT"), .s = (int)num(t, "_OUTPUT_SHIFT") };
	const weft_attr no_shift = { .mul = { .shift = 0 } };
	weft_tensor *a = load(ARRAY(t, "input1"), TENSOR(x_type(t), n));
	weft_tensor *b = load(ARRAY(t, "input2"), TENSOR(x_type(t), n));
	weft_tensor *y = TENSOR(WEFT_INT32, n);

	a = shift_up(a, WEFT_INT32, -(int32_t)num(t, "_INPUT1_OFFSET"), 0);
	b = shift_up(b, WEFT_INT32, -(int32_t)num(t, "_INPUT2_OFFSET"), 0);
	y = run(WEFT_OP_MUL, &no_shift, y, a, b, NULL);
	y = scale(y, x_type(t), 0, (int32_t)num(t, "_OUTPUT_OFFSET"), &k, true);
	return clamp(y, num(t, "_OUT_ACTIVATION_MIN"), num(t, "_OUT_ACTIVATION_MAX"));
}

/* Both inputs have the output's quantisation, so values are compared as they are. */
static weft_tensor *extreme_case(const struct test_case *t)
{
	weft_tensor *a = TENSOR(x_type(t), num(t, "_BATCH_1"), num(t, "_HEIGHT_1"), num(t, "_WIDTH_1"), num(t, "_CHANNEL_1"));
	weft_tensor *b = TENSOR(x_type(t), num(t, "_BATCH_2"), num(t, "_HEIGHT_2"), num(t, "_WIDTH_2"), num(t, "_CHANNEL_2"));
	weft_tensor *y = TENSOR(WEFT_INT32, num(t, "_OUTPUT_BATCH"), num(t, "_OUTPUT_HEIGHT"),
	                         num(t, "_OUTPUT_WIDTH"), num(t, "_OUTPUT_CHANNEL"));
	weft_opcode op = strncasecmp(t->name, "minimum", 7) == 0 ? WEFT_OP_MINIMUM : WEFT_OP_MAXIMUM;

	load(ARRAY(t, "input_tensor_1"), a);
	load(ARRAY(t, "input_tensor_2"), b);
	a = run(WEFT_OP_CAST, NULL, like(a, WEFT_INT32), a, NULL, NULL);
	b = run(WEFT_OP_CAST, NULL, like(b, WEFT_INT32), b, NULL, NULL);
	y = run(op, NULL, y, a, b, NULL);
	return y ? run(WEFT_OP_CAST, NULL, like(y, x_type(t)), y, NULL, NULL) : NULL;
}

static weft_tensor *transposed(weft_tensor *x, bool really)
{
	const weft_attr a = { .perm = { .perm = { 0, 1, 3, 2 } } };

	if (!really)
		return x;
	return run(WEFT_OP_TRANSPOSE, &a, TENSOR(x->dtype, x->dim[0], x->dim[1], x->dim[3], x->dim[2]),
	           x, NULL, NULL);
}

/* Matrix i of a batch; an axis of 1 is used again for every index. */
static weft_tensor *matrix(const weft_tensor *x, int64_t batch, int64_t height)
{
	const int64_t dim[3] = { 1, x->dim[2], x->dim[3] };
	weft_tensor *b = part(x, 0, x->dim[0] == 1 ? 0 : batch, 1);
	weft_tensor *m = part(b, 1, x->dim[1] == 1 ? 0 : height, 1);

	tensor_free(b);
	return run(WEFT_OP_RESHAPE, NULL, tensor_new(x->dtype, 3, dim), m, NULL, NULL);
}

static weft_tensor *matmul_case(const struct test_case *t)
{
	const int64_t nb = num(t, "_OUTPUT_BATCH"), nh = num(t, "_OUTPUT_HEIGHT");
	const int64_t rows = num(t, "_OUTPUT_ROWS"), cols = num(t, "_OUTPUT_COLS");
	const struct scales k = { .n = 1, .m = (int32_t)num(t, "_OUTPUT_MULTIPLIER"), .s = (int)num(t, "_OUTPUT_SHIFT") };
	const weft_attr at = { .matmul = { .a_zp = -(int32_t)num(t, "_LHS_OFFSET"),
	                                   .b_zp = -(int32_t)num(t, "_RHS_OFFSET") } };
	const int64_t one[3] = { 1, rows, cols };
	weft_tensor *a = TENSOR(x_type(t), num(t, "_LHS_BATCH"), num(t, "_LHS_HEIGHT"), num(t, "_LHS_ROWS"), num(t, "_LHS_COLS"));
	weft_tensor *b = TENSOR(x_type(t), num(t, "_RHS_BATCH"), num(t, "_RHS_HEIGHT"), num(t, "_RHS_ROWS"), num(t, "_RHS_COLS"));
	weft_tensor *y = TENSOR(x_type(t), nb, nh, rows, cols);

	a = transposed(load(ARRAY(t, "lhs_input_tensor"), a), num(t, "_ADJ_X"));
	b = transposed(load(ARRAY(t, "rhs_input_tensor"), b), num(t, "_ADJ_Y"));
	for (int64_t i = 0; y && i < nb * nh; i++) {
		weft_tensor *m = run(WEFT_OP_MATMUL, &at, tensor_new(acc_type(t), 3, one),
		                     matrix(a, i / nh, i % nh), matrix(b, i / nh, i % nh), NULL);

		m = scale(m, x_type(t), 0, (int32_t)num(t, "_OUTPUT_OFFSET"), &k, t->type != I16);
		m = clamp(m, num(t, "_ACTIVATION_MIN"), num(t, "_ACTIVATION_MAX"));
		for (int64_t j = 0; m && j < rows * cols; j++)
			tensor_set(y, i * rows * cols + j, tensor_get(m, j));
		if (!m) {
			tensor_free(y);
			y = NULL;
		}
		tensor_free(m);
	}
	tensor_free(a);
	tensor_free(b);
	return y;
}

static weft_tensor *pad_case(const struct test_case *t)
{
	static const char axes[] = "NHWC";
	weft_attr a = { .pad = { .value = num(t, "_PAD_VALUE") } };
	int64_t in[4], out[4];
	weft_tensor *x;

	for (int d = 0; d < 4; d++) {
		char key[3][16];

		snprintf(key[0], sizeof(key[0]), "_INPUT_%c", axes[d]);
		snprintf(key[1], sizeof(key[1]), "_PRE_PAD_%c", axes[d]);
		snprintf(key[2], sizeof(key[2]), "_POST_PAD_%c", axes[d]);
		in[d] = num(t, key[0]);
		a.pad.before[d] = (int32_t)num(t, key[1]);
		a.pad.after[d] = (int32_t)num(t, key[2]);
		out[d] = in[d] + a.pad.before[d] + a.pad.after[d];
	}
	x = load(input_of(t), tensor_new(x_type(t), 4, in));
	return run(WEFT_OP_PAD, &a, tensor_new(x_type(t), 4, out), x, NULL, NULL);
}

/* The multiplier stands for beta * scale * 65535/10. */
static weft_tensor *softmax_case(const struct test_case *t)
{
	const double real = ldexp((double)num(t, "_INPUT_MULT"), (int)num(t, "_INPUT_LEFT_SHIFT") - 31);
	weft_attr a = { .tfl_softmax = { .x_scale = (float)(real * 10 / 65535), .beta = 1 } };
	weft_tensor *x = load(input_of(t), TENSOR(WEFT_INT16, num(t, "_NUM_ROWS"), num(t, "_ROW_SIZE")));

	return run(WEFT_OP_TFL_SOFTMAX, &a, tensor_new(WEFT_INT16, 2, x->dim), x, NULL, NULL);
}

/* ---- cases -------------------------------------------------------------- */

static bool packed_weights(const struct test_case *t)
{
	const struct npz_array *w = weights_of(t);
	int64_t n = has(t, "_ACCUMULATION_DEPTH") ? num(t, "_ACCUMULATION_DEPTH") * num(t, "_OUT_CH") :
	            num(t, "_FILTER_X") * num(t, "_FILTER_Y") * num(t, "_OUT_CH") *
	            (has(t, "_CH_MULT") ? 1 : num_or(t, "_FILTER_CH", num(t, "_IN_CH")));

	return w->n == (n + 1) / 2 && w->n != n;
}

static enum kind kind_of(const struct test_case *t)
{
	const bool weights = weights_of(t) && has(t, "_OUT_CH") && has(t, "_IN_CH") && input_of(t);

	if (has(t, "_PAD_X_WITH_OFFSET"))
		return OTHER; /* transposed convolution */
	if (weights && has(t, "_CH_MULT"))
		return DEPTHWISE;
	if (weights && has(t, "_ACCUMULATION_DEPTH"))
		return FULLY;
	if (weights && has(t, "_FILTER_X"))
		return num_or(t, "_FILTER_CH", num(t, "_IN_CH")) != num(t, "_IN_CH") ? GROUPED : CONV;
	if (has(t, "_INPUT_C") && has(t, "_FILTER_W"))
		return strncasecmp(t->name, "max", 3) == 0 ? MAX : AVG;
	if (ARRAY(t, "input1") && ARRAY(t, "input2"))
		return has(t, "_LEFT_SHIFT") ? ADD : has(t, "_OUTPUT_MULT") ? MUL : OTHER;
	if (ARRAY(t, "input_tensor_1") && ARRAY(t, "input_tensor_2") && has(t, "_BATCH_1"))
		return EXTREME;
	if (ARRAY(t, "lhs_input_tensor") && ARRAY(t, "rhs_input_tensor"))
		return MATMUL;
	if (has(t, "_NUM_ROWS") && input_of(t) && input_of(t)->item_bytes == 2)
		return SOFTMAX;
	return has(t, "_PRE_PAD_N") ? PAD : OTHER;
}

static void open_case(const char *name, struct test_case *t)
{
	char path[1024], *text;

	memset(t, 0, sizeof(*t));
	snprintf(t->name, sizeof(t->name), "%s", name);
	snprintf(path, sizeof(path), "%s/%s.npz", dir, name);
	if (npz_load(path, &t->npz) != 0)
		fail_msg("%s is unreadable", path);
	snprintf(path, sizeof(path), "%s/%s.json", dir, name);
	text = test_file(path, NULL);
	assert_non_null(text);
	t->json = cJSON_Parse(text);
	free(text);
	if (!t->json)
		fail_msg("%s is no JSON", path);
	t->kind = kind_of(t);
	if (t->kind == OTHER)
		return;
	t->mixed = ARRAY(t, "input_weights") && ARRAY(t, "weights");
	t->type = input_of(t)->item_bytes == 2 ? I16 : I8;
	if (weights_of(t) && packed_weights(t))
		t->type = I8_I4;
}

static void close_case(struct test_case *t)
{
	npz_free(&t->npz);
	cJSON_Delete(t->json);
}

/* Frees y. */
static bool equal(const struct test_case *t, weft_tensor *y, bool say)
{
	const struct npz_array *want = expected_of(t);
	bool same = y && weft_tensor_elements(y) == want->n;

	if (!say) {
		for (int64_t i = 0; same && i < want->n; i++)
			same = tensor_get(y, i) == npz_int(want, i);
	} else if (!y) {
		print_message("%s: %s\n", t->name, why);
	} else if (!same) {
		print_message("%s: %lld elements, expected %lld\n", t->name,
		              (long long)weft_tensor_elements(y), (long long)want->n);
	}
	for (int64_t i = 0; same && i < want->n; i++) {
		if (tensor_get(y, i) != npz_int(want, i)) {
			print_message("%s: element %lld is %lld, expected %lld%s\n", t->name, (long long)i,
			              (long long)tensor_get(y, i), (long long)npz_int(want, i),
			              fast ? " (fast)" : "");
			same = false;
		}
	}
	tensor_free(y);
	return same;
}

/*
 * The mixed int4 sets: their numbers belong to another generation than
 * weights, biases, output_mult, output_shift and output_ref. The output zero
 * point is 0 and the clamp is no tighter than the values that occur; shapes
 * that differ from what is stated are listed. The input zero point is 0 or
 * -128, which nothing states: one of them gives every element.
 */
static const struct {
	const char *name;
	int32_t dilation, pad;     /* both axes */
	int64_t in[2];             /* also the output's size; 0: as stated */
} mixed_sets[] = {
	{ "conv_3x3_dilation_5x5_input_int4", 2, 2, { 11, 9 } },
	{ "conv_2x3_dilation_int4", 2, 2, { 0 } },
};

static void correct_shapes(const struct test_case *t, struct conv *c)
{
	for (size_t i = 0; i < sizeof(mixed_sets) / sizeof(mixed_sets[0]); i++) {
		if (strcmp(t->name, mixed_sets[i].name) != 0)
			continue;
		for (int k = 0; k < 2; k++) {
			c->dilation[k] = mixed_sets[i].dilation;
			c->pad[2 * k] = mixed_sets[i].pad;
			if (mixed_sets[i].in[k])
				c->in[k] = c->out[k] = mixed_sets[i].in[k];
		}
		c->batches = input_of(t)->n / (c->in[0] * c->in[1] * c->in_ch);
	}
}

static bool mixed_set(const struct test_case *t)
{
	return t->kind == CONV && t->type == I8_I4 && t->mixed;
}

static weft_tensor *mixed_case(const struct test_case *t, int32_t x_zp)
{
	const struct npz_array *want = expected_of(t);
	struct conv c;

	read_conv(t, &c);
	correct_shapes(t, &c);
	c.x_zp = x_zp;
	c.y_zp = 0;
	c.min = c.max = npz_int(want, 0);
	for (int64_t i = 1; i < want->n; i++) {
		int64_t v = npz_int(want, i);

		c.min = v < c.min ? v : c.min;
		c.max = v > c.max ? v : c.max;
	}
	return convolve(t, &c);
}

static weft_tensor *run_case(const struct test_case *t)
{
	switch (t->kind) {
	case CONV:
	case GROUPED:
	case DEPTHWISE: return conv_case(t);
	case FULLY: return fully_case(t);
	case AVG:
	case MAX: return pool_case(t);
	case ADD: return add_case(t);
	case MUL: return mul_case(t);
	case EXTREME: return extreme_case(t);
	case MATMUL: return matmul_case(t);
	case PAD: return pad_case(t);
	case SOFTMAX: return softmax_case(t);
	default: return NULL;
	}
}

/* A case whose limits contradict each other is there to be refused. */
static bool contradictory(const struct test_case *t)
{
	return (has(t, "_ACTIVATION_MIN") && num(t, "_ACTIVATION_MIN") > num(t, "_ACTIVATION_MAX")) ||
	       (has(t, "_OUT_ACTIVATION_MIN") && num(t, "_OUT_ACTIVATION_MIN") > num(t, "_OUT_ACTIVATION_MAX"));
}

static enum weft_device best_device(void)
{
	static int have = -1;

	if (have < 0)
		have = test_have_rtl("w16");
	return have ? WEFT_DEVICE_RTL : WEFT_DEVICE_MODEL;
}

/* The recorded operators on the device, where there is a result. */
static weft_tensor *and_on_device(const struct test_case *t, weft_tensor *y)
{
	const char *bad = NULL;

	if (y) {
		struct record_run r = { 0 };
		bad = record_run(y, best_device(), &r);
		device[t->kind][t->type].run.npu_ops += r.npu_ops;
		device[t->kind][t->type].run.host_ops += r.host_ops;
		device[t->kind][t->type].cases += r.npu_ops > 0;
	}
	if (bad) {
		print_message("%s on the device: %s\n", t->name, bad);
		tensor_free(y);
		y = NULL;
	}
	return y;
}

/* MATMUL puts its results together by hand; int16 softmax is the host's. */
static bool recordable(const struct test_case *t)
{
	return t->kind != MATMUL && t->kind != SOFTMAX;
}

static bool passes(const struct test_case *t)
{
	if (contradictory(t)) {
		weft_tensor *y = run_case(t);
		bool refused = !y;

		tensor_free(y);
		return refused;
	}
	if (mixed_set(t))
		return equal(t, mixed_case(t, 0), false) || equal(t, mixed_case(t, -128), true);
	if (fast || !recordable(t))
		return equal(t, run_case(t), true);
	record_begin();
	bool good = equal(t, and_on_device(t, run_case(t)), true);
	record_end();
	return good;
}

/* All cases of one kind; fails if one differs. */
static void check_kind(enum kind kind)
{
	int n = 0, bad = 0;

	if (n_names == 0) {
		print_message("no data in %s\n", dir);
		skip();
	}
	for (int i = 0; i < n_names; i++) {
		struct test_case t;

		open_case(names[i], &t);
		n_left_out += t.kind == OTHER && kind == CONV;
		if (t.kind == kind) {
			bool good;

			fast = false;
			good = passes(&t);
			fast = true;
			good = passes(&t) && good;
			tally[kind][t.type].total++;
			tally[kind][t.type].passed += good;
			n++;
			bad += !good;
		}
		close_case(&t);
	}
	assert_int_not_equal(n, 0);
	assert_int_equal(bad, 0);
}

#define KIND_TEST(name, kind) static void name(void **state) { (void)state; check_kind(kind); }
KIND_TEST(convolution, CONV)
KIND_TEST(grouped_convolution, GROUPED)
KIND_TEST(depthwise, DEPTHWISE)
KIND_TEST(fully_connected, FULLY)
KIND_TEST(average_pool, AVG)
KIND_TEST(maximum_pool, MAX)
KIND_TEST(add, ADD)
KIND_TEST(mul, MUL)
KIND_TEST(maximum_minimum, EXTREME)
KIND_TEST(matrix_product, MATMUL)
KIND_TEST(pad, PAD)
KIND_TEST(softmax, SOFTMAX)

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int find_cases(void **state)
{
	struct dirent *e;
	DIR *d;

	(void)state;
	snprintf(dir, sizeof(dir), "%s/cmsis_nn", test_data());
	if (!(d = opendir(dir)))
		return 0;
	while ((e = readdir(d))) {
		size_t n = strlen(e->d_name);

		if (n < 5 || n > 190 || strcmp(e->d_name + n - 4, ".npz") != 0)
			continue;
		names = realloc(names, (size_t)(n_names + 1) * sizeof(*names));
		names[n_names++] = strndup(e->d_name, n - 4);
	}
	closedir(d);
	qsort(names, (size_t)n_names, sizeof(*names), by_name);
	return 0;
}

static int print_table(void **state)
{
	(void)state;
	for (int k = CONV; k < N_KINDS; k++) {
		for (int t = 0; t < N_TYPES; t++) {
			if (tally[k][t].total)
				printf("# %-20s %-12s %d/%d, %d of them on the NPU (%d operators, %d on the host)\n",
				       kind_names[k], type_names[t], tally[k][t].passed, tally[k][t].total,
				       device[k][t].cases, device[k][t].run.npu_ops, device[k][t].run.host_ops);
		}
	}
	printf("# other operators, not run here: %d of %d cases\n", n_left_out, n_names);
	for (int i = 0; i < n_names; i++)
		free(names[i]);
	free(names);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(convolution),
		cmocka_unit_test(grouped_convolution),
		cmocka_unit_test(depthwise),
		cmocka_unit_test(fully_connected),
		cmocka_unit_test(average_pool),
		cmocka_unit_test(maximum_pool),
		cmocka_unit_test(add),
		cmocka_unit_test(mul),
		cmocka_unit_test(maximum_minimum),
		cmocka_unit_test(matrix_product),
		cmocka_unit_test(pad),
		cmocka_unit_test(softmax),
	};

	return cmocka_run_group_tests(tests, find_cases, print_table);
}
