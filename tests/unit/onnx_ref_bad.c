/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ONNX's operators on the host with the operands and attributes that a hostile
 * file could give them: small tensors of any shape, attributes of awkward
 * numbers, elements at the ends of their types. A kernel that accepts the shapes has to compute, and may not read or
 * write beside its tensors. Most worth under SAN=1. WEFT_SEED and WEFT_N choose
 * the sequence and its length; 4 s. And what a file of some bytes could make it compute for ever.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/golden/golden.h"
#include "sim/golden/onnx/ref/onnx_ref.h"
#include "sim/golden/onnx/ref/ref.h"
#include "tests/support/level.h"
#include "tests/support/results.h"
#include "tests/support/tensors.h"

#define MOST 64                /* elements of an operand */
#define MOST_CALLS 1000        /* of a kernel for its line of the table, which ends with so many good ones */
#define GOOD_CALLS 60

static const int32_t words[] = { 0, 1, 1, 1, 2, 2, 3, 4, -1, -2, 5, 7, 20, 100, INT32_MAX, INT32_MIN + 1, INT32_MIN };
static const weft_dtype types[] = { WEFT_FP32, WEFT_FP32, WEFT_FP32, WEFT_INT64, WEFT_INT32, WEFT_UINT8, WEFT_INT8, WEFT_BOOL, WEFT_FP16, WEFT_FP64 };
/* Elements that a quarter of the tensors have among small ones. */
static const double floats[] = { INFINITY, -INFINITY, NAN, 1e308, -1e308, 1e18, 1e-320, -0.0, 0.5, 65504, 3e9 };
static const int64_t integers[] = { INT64_MIN, INT64_MAX, INT64_MIN + 1, INT32_MIN, INT32_MAX, 1 << 20, 0x8080808080808080, 255, -128 };
#define PICK(r, list) list[test_random(r) % (sizeof(list) / sizeof(list[0]))]

/*
 * Operands that fit together, for kernels that hardly ever accept others: of each the type (f float32, i int64,
 * d int32, u uint8) and the dimensions; and behind ";" attributes, where kernels need them.
 */
static const struct { const char *name, *x; } fits[] = {
	{ "LSTM", "f3.2.2 f1.8.2 f1.8.2 f1.16 d2 f1.2.2 f1.2.2 f1.6" }, { "GRU", "f3.2.2 f1.6.2 f1.6.2 f1.12 d2 f1.2.2" },
	{ "RNN", "f3.2.2 f1.2.2 f1.2.2 f1.4 d2 f1.2.2" }, { "DeformConv", "f1.2.3.3 f2.2.2.2 f1.8.2.2 f2 f1.4.2.2" },
	{ "Conv", "f1.2.3.3 f2.2.2.2 f2" }, { "ConvTranspose", "f1.2.3.3 f2.2.2.2 f2" }, { "ConvInteger", "u1.2.3.3 u2.2.2.2 u u2" },
	{ "AffineGrid", "f1.2.3 i4" }, { "RoiAlign", "f1.2.3.3 f2.4 i2" }, { "NonMaxSuppression", "f1.3.4 f1.2.3 i1 f1 f1" },
	{ "NonMaxSuppression", "f3.4 f3 i f f f" }, { "Attention", "f1.2.2.4 f1.2.3.4 f1.2.3.4 f2.3 f1.2.1.4 f1.2.1.4" },
	{ "TfIdfVectorizer", "i2.4 i2 i3 i4 f3" }, { "TreeEnsemble", "f2.2 i2 f2 f2 i1 i1 i1 i1 u1 f1 i1 i1 i1" },
	{ "STFT", "f1.8.1 i f4 i" }, { "BatchNormalization", "f2.2.2 f2 f2 f2 f2" }, { "GroupNormalization", "f2.2.2 f2 f2" },
	{ "MaxUnpool", "f1.1.2.2 i1.1.2.2 i4" }, { "Col2Im", "f1.4.4 i2 i2" }, { "EmbeddingSparse", "d2 d2.1 i1 f2 f3.2" },
	{ "RotaryEmbedding", "f1.2.2.4 f4.2 f4.2 i1.2" }, { "MaxPool", "f1.1.3.3" }, { "AveragePool", "f1.1.3.3" }, { "LpPool", "f1.1.3.3" },
	{ "MelWeightMatrix", "i i i f f" }, { "Gemm", "f2.3 f3.2 f2" }, { "LayerNormalization", "f2.4 f4 f4" }, { "ReduceWindow", "f2.3 f1" }, { "ReduceProd", "u2.3" },
	{ "Adagrad", "f1 i1 f2 f2 f2" }, { "Adam", "f1 i1 f2 f2 f2 f2" }, { "Momentum", "f1 i1 f2 f2 f2" }, { "Resize", "f1.1.2.2 f0 f4" }, { "NegativeLogLikelihoodLoss", "f2.8.2 i2.2 f8" }, { "SoftmaxCrossEntropyLoss", "f2.8.2 i2.2 f8" },
	{ "MatMulNBits", "f2.16 u4.1.8 f4 u4" }, { "SequenceRNN", "f2.2.2 f2.2 f2.2 f2 f2.2" },
	{ "SequenceRNN", "f2.2.2 f2.2 f2.2 f2 f7 f2.2.2 f2.2 f1.2.2" }, { "QLinearMatMul", "u2.2 f u u2.2 f u f u" },
	{ "Gather", "f3.4 i2.1;window=1 left_out=0 map=0 size=1,2 index_dim=1" }, { "Gather", "f3.4 i2.2" },
	{ "Scatter", "f3.4 i2.1 f2.2;window=1 left_out=0 map=0 index_dim=1 how=1" }, { "Scatter", "f3.3 i2.2 f2.2" },
	{ "ReduceWindow", "f2.3 f1;size=1,2 strides=1,1 base=1,2 dilations=1,1 low=0,1 high=0,0" },
	{ "ReduceWindow", "f3.4 f1;size=2,2 strides=1,2 base=1,1 dilations=2,1 low=0,1 high=0,1 how=4" },
	{ "MatMulNBits", "f2.16 u4.1.8 f4 u4;K=16 N=4 block_size=16" }, { "MatMulNBits", "f2.6 u3.2.4 f6;K=6 N=3 block_size=4 bits=8" },
	{ "MaxPool", "f1.2.4.3;kernel_shape=2,2 strides=2,1 pads=1,0,0,1" }, { "MaxPool", "f1.1.5;kernel_shape=2 dilations=2 ceil_mode=1" },
	{ "AveragePool", "f1.2.4.3;kernel_shape=3,2 strides=2,1 pads=1,0,0,1" }, { "AveragePool", "f1.1.5;kernel_shape=2 strides=2 ceil_mode=1" },
	{ "LpPool", "f1.2.4.3;kernel_shape=2,2 strides=2,1 pads=1,0,0,1" }, { "MaxUnpool", "f1.1.2.2 i1.1.2.2;kernel_shape=2,2 strides=2,2" },
	{ "Conv", "f1.2.4.3 f4.1.2.2 f4;group=2 pads=1,1,0,0 strides=2,1 dilations=1,2" }, { "ConvInteger", "u1.2.4.3 u4.1.2.2 u u4;group=2 pads=1,0,0,1" },
	{ "ConvTranspose", "f1.2.3.3 f2.2.2.2 f4;group=2 strides=2,1 dilations=1,2 pads=1,0,0,1" },
	{ "ConvTranspose", "f1.2.3 f2.1.3 f1;strides=2 output_padding=1" }, { "ConvTranspose", "f1.1.2.2 f1.1.2.2;output_shape=5,4 strides=2,2" },
	{ "DeformConv", "f1.2.4.4 f2.2.2.2 f1.8.3.3 f2 f1.4.3.3;pads=0,0,0,0" }, { "RoiAlign", "f2.2.4.4 f1.4 i1;output_height=2 output_width=3 sampling_ratio=2" },
	{ "GridSample", "f1.1.3.3 f1.2.2.2" }, { "GridSample", "f1.2.2.3.2 f1.1.2.2.3" }, { "Pad", "f2.3 i4 f" }, { "OneHot", "i2.2 d f2" },
	{ "ScatterElements", "f3.3 i2.2 f2.2" }, { "ScatterND", "f4.3 i2.1 f2.3" }, { "TensorScatter", "f1.4.2 f1.2.2 i1;axis=1" },
	{ "BitShift", "u4 u4" }, { "InstanceNormalization", "f1.2.3 f2 f2" }, { "GroupNormalization", "f2.4.2 f4 f4;num_groups=2" },
	{ "SkipLayerNormalization", "f1.2.4 f1.2.4 f4 f4 f4" }, { "SkipSimplifiedLayerNormalization", "f1.2.4 f1.2.4 f4 f4" }, { "ReverseSequence", "f3.2.2 i2" },
	{ "DequantizeLinear", "u2.3 f u" }, { "QuantizeLinear", "f2.3 f u" }, { "MatMul", "f2.3 f3.2" }, { "MatMul", "f2.2.3 f1.3.2" },
	{ "Attention", "f1.2.4 f1.3.4 f1.3.4 f2.3;q_num_heads=2 kv_num_heads=2" }, { "Attention", "f1.4.2.4 f1.2.3.4 f1.2.3.4;is_causal=1" },
	{ "RotaryEmbedding", "f1.2.8 i1 f4.2 f4.2;num_heads=2" }, { "RotaryEmbedding", "f1.2.2.4 f1.2.2 f1.2.2;interleaved=1" },
	{ "NonMaxSuppression", "f2.3.4 f2.2.3 i1 f1 f1" }, { "TopK", "f3.4 i1" }, { "TopK", "f;k=0" }, { "Det", "f2.3.3" }, { "Unique", "f6" }, { "Unique", "i3.2;axis=0" },
	{ "Where", "f2.3 f2.3 f3" }, { "Slice", "f3.4 i2 i2 i2 i2" }, { "CumSum", "f2.3 i" }, { "CumProd", "f2.3 i" }, { "DFT", "f1.4.1 i i" },
	/* longer than what a loop of the runtime's takes at once */
	{ "LayerNormalization", "f2.19 f19 f19" }, { "MatMul", "f3.37 f37.5" }, { "Gemm", "f5.21 f21.17 f17" }, { "Conv", "f1.5.6.6 f17.5.3.3 f17" },
	{ "GlobalAveragePool", "f1.3.5.5" }, { "AveragePool", "f1.9.4.4;kernel_shape=2,2" }, { "Erf", "f40" }, { "Softmax", "f2.37" }, { "Tanh", "f37" },
	{ "Sigmoid", "f37" }, { "InstanceNormalization", "f1.3.20 f3 f3" }, { "ConvTranspose", "f1.9.3.3 f9.5.2.2 f5" },
	{ "LSTM", "f3.2.9 f1.32.9 f1.32.8 f1.64;hidden_size=8" }, { "GRU", "f3.2.9 f1.24.9 f1.24.8 f1.48;hidden_size=8" }, { "Resize", "f1.1.2.2 f0 f4" },
	{ "GatherElements", "f3.3 i2.3" }, { "GatherND", "f2.2.2 i2.1" }, { "Split", "f4.3;num_outputs=2" }, { "Trilu", "f3.4 i" },
	{ "MatMulInteger", "u2.5 s5.3 u s3" }, { "MatMulInteger", "u2.2.5 s1.5.3 u s" },
	{ "ConvInteger", "u1.4.4.3 s4.2.2.2 u s4;group=2 pads=1,0,0,1" },
	{ "DynamicQuantizeLSTM", "f3.2.2 s1.2.8 s1.2.8 f1.16 d2 f1.2.2 f1.2.2 f1.6 f1 s1 f1 s1" }, { "DynamicQuantizeLSTM", "f3.2.2 u1.2.8 u1.2.8 f1.16 d2 f1.2.2 f1.2.2 f1.6 f1 u1 f1 u1" },
};

/* Returns the text of operands that fit kernel `name`, any of several, or NULL if the table has none. */
static const char *fitting(const char *name, uint64_t *r)
{
	const char *found = NULL;
	int n = 0;

	for (size_t i = 0; i < sizeof fits / sizeof fits[0]; i++)
		if (!strcmp(fits[i].name, name) && test_random(r) % (uint64_t)++n == 0)
			found = fits[i].x;
	return found;
}

/* Returns the number of operands in the text. */
static int words_of(const char *text)
{
	int n = 1;

	for (; *text && *text != ';'; text++)
		n += *text == ' ';
	return n;
}

/* Sets t's type and shape to those of the text, one dimension in sixteen off by one. Returns what follows it. */
static const char *shape_of(weft_tensor *t, const char *x, uint64_t *r)
{
	char *end;

	*t = (weft_tensor){ .dtype = *x == 'f' ? WEFT_FP32 : *x == 'i' ? WEFT_INT64 : *x == 'd' ? WEFT_INT32 : *x == 's' ? WEFT_INT8 : WEFT_UINT8, .dim = { 1, 1, 1, 1, 1, 1, 1, 1 } };
	for (x++; *x && *x != ' ' && *x != ';'; x = *end == '.' ? end + 1 : end) {
		t->dim[t->rank++] = strtol(x, &end, 10);
		if (test_random(r) % 16 == 0)
			t->dim[t->rank - 1] += !t->dim[t->rank - 1] || test_random(r) % 2 ? 1 : -1;
	}
	return *x == ' ' ? x + 1 : x;
}

/* Sets t's type and shape to any. */
static void any_shape(weft_tensor *t, uint64_t *r, int likely_rank)
{
	*t = (weft_tensor){ .dtype = PICK(r, types), .rank = test_random(r) % 3 ? likely_rank : (int)(test_random(r) % 6), .dim = { 1, 1, 1, 1, 1, 1, 1, 1 } };
	for (int d = 0; d < t->rank; d++)
		t->dim[d] = test_random(r) % 12 ? 1 + (int64_t)(test_random(r) % 3) : 0;
	if (weft_tensor_elements(t) > MOST)
		t->dim[0] = t->dim[1] = 1;
}

/* Data of exactly the tensor's bytes, so that a sanitizer sees what lies beside. */
static void fill(weft_tensor *t, uint64_t *r)
{
	const size_t n = (size_t)weft_tensor_elements(t), size = weft_dtype_bytes(t->dtype);
	const bool wild = test_random(r) % 4 == 0;
	t->data = malloc(n * size);
	for (size_t i = 0; i < n; i++) {
		const bool far = wild && test_random(r) % 3 == 0;
		const double v = far ? PICK(r, floats) : (double)(int)(test_random(r) % 7) - 2;
		const int64_t w = t->dtype == WEFT_BOOL ? v > 0 : far ? PICK(r, integers) : (int64_t)v;
		uint64_t bits = 0;
		const float f = (float)v;
		if (t->dtype == WEFT_FP64)
			memcpy(&bits, &v, 8);
		else if (t->dtype == WEFT_FP32)
			memcpy(&bits, &f, 4);
		else
			memcpy(&bits, &w, 8);
		memcpy((char *)t->data + i * size, &bits, size);
	}
}

/* Attributes, in a third of the calls as they are where a file has none, else awkward and likely; lists often have as many numbers as operand 0, whose rank is given, has dimensions, or as a window of it. */
static void attributes(struct weft_attr_onnx_node *a, int rank, uint64_t *r)
{
	const int32_t counts[] = { WEFT_ONNX_ABSENT, WEFT_ONNX_ABSENT, rank, rank > 2 ? rank - 2 : 1, rank > 2 ? 2 * (rank - 2) : 2 };
	const bool plain = test_random(r) % 3 == 0;
	struct weft_onnx_slot s;

	for (int k = 0; weft_onnx_ref_slot(a->kind, k, &s); k++) {
		const bool list = s.type == WEFT_ONNX_INTS || s.type == WEFT_ONNX_ENUMS;

		if (list && plain) {
			a->i[s.i] = WEFT_ONNX_ABSENT;
		} else if (list) {
			a->i[s.i] = test_random(r) % 8 ? PICK(r, counts) : (int32_t)(test_random(r) % (WEFT_ONNX_LIST + 1));
			for (int i = 1; i <= WEFT_ONNX_LIST; i++)
				a->i[s.i + i] = test_random(r) % 8 ? 1 + (int32_t)(test_random(r) % 2) : PICK(r, words);
		} else if (s.type == WEFT_ONNX_FLOAT) {
			a->f[s.f] = (float)(s.otherwise == s.otherwise ? s.otherwise : 1);
		} else if (s.type == WEFT_ONNX_INT || s.type == WEFT_ONNX_ENUM) {
			a->i[s.i] = plain || test_random(r) % 3 ? (int32_t)s.otherwise : PICK(r, words);
			if (s.type == WEFT_ONNX_ENUM)
				a->i[s.i] &= 1;
		}
	}
}

/* Sets the integer attribute of that name, a list too, to the numbers in `text`. Returns what follows them. */
static const char *set_attribute(struct weft_attr_onnx_node *a, const char *text)
{
	const size_t n = strcspn(text, "=");
	struct weft_onnx_slot s;
	int k = 0, count = 0;
	char *end;

	while (weft_onnx_ref_slot(a->kind, k, &s) && (strlen(s.name) != n || memcmp(s.name, text, n)))
		k++;
	const bool known = weft_onnx_ref_slot(a->kind, k, &s), list = known && (s.type == WEFT_ONNX_INTS || s.type == WEFT_ONNX_ENUMS);
	for (text += n; *text && *text != ' '; text = end) {
		const long v = strtol(text + 1, &end, 10);
		count++;
		if (known)
			a->i[s.i + (list ? count : 0)] = (int32_t)v;
	}
	if (list)
		a->i[s.i] = count;
	return *text ? text + 1 : text;
}

static void make(weft_tensor *t, uint64_t *r, int likely_rank)
{
	any_shape(t, r, likely_rank);
	fill(t, r);
}

/* 1 if the kernel accepted the call, which is added to the sum. */
static int one(int kind, uint64_t *r, struct results *sum)
{
	struct weft_attr_onnx_node a = { .kind = kind, .opset = test_random(r) % 2 ? 23 : 11 };
	weft_tensor t[WEFT_ONNX_MAX_IN], y[WEFT_ONNX_MAX_OUT], *py[WEFT_ONNX_MAX_OUT];
	const weft_tensor *x[WEFT_ONNX_MAX_IN];
	char msg[WEFT_GOLDEN_MSG] = "";
	int least, most, n_out, which;

	weft_onnx_ref_arity(kind, &least, &most, &n_out);
	const int rank = 1 + (int)(test_random(r) % 4);
	a.n_in = least + (int)(test_random(r) % 4);
	a.n_in = a.n_in > most + 12 ? most : a.n_in;
	const char *text = test_random(r) % 4 ? fitting(weft_onnx_ref_name(kind), r) : NULL, *more = text ? strchr(text, ';') : NULL;
	if (text && test_random(r) % 4)
		a.n_in = words_of(text);
	for (int k = 0; k < a.n_in; k++) {
		if (text && *text && *text != ';') {
			text = shape_of(&t[k], text, r);
			fill(&t[k], r);
			x[k] = &t[k];
			continue;
		}
		make(&t[k], r, rank);
		if (k && test_random(r) % 3) {           /* of one type, often of one shape, too */
			free(t[k].data);
			const bool same = test_random(r) % 2;
			make(&t[k], r, same ? t[0].rank : 1);
			if (same && test_random(r) % 2) {
				free(t[k].data);
				t[k] = t[0];
				t[k].data = malloc(weft_tensor_bytes(&t[0]));
				memcpy(t[k].data, t[0].data, weft_tensor_bytes(&t[0]));
			}
		}
		x[k] = &t[k];
	}
	attributes(&a, t[0].rank, r);
	for (more = more && test_random(r) % 8 ? more + 1 : ""; *more;)
		more = set_attribute(&a, more);
	const int n_y = 1 + (int)(test_random(r) % (uint64_t)(n_out < 4 ? n_out : 4));
	int err = weft_onnx_ref_shapes(&a, x, a.n_in, y, n_y, &which, msg);
	int64_t all = 0;
	for (int k = 0; k < n_y && !err; k++) {
		all += weft_tensor_elements(&y[k]);
		py[k] = &y[k];
	}
	if (!err && all < 1 << 16) {
		for (int k = 0; k < n_y; k++)
			y[k].data = calloc(1, weft_tensor_bytes(&y[k]) + (weft_tensor_bytes(&y[k]) == 0));
		err = weft_onnx_ref_run(&a, x, a.n_in, py, n_y, msg);
		results_add(sum, err, py, n_y);
		for (int k = 0; k < n_y; k++)
			free(y[k].data);
	} else {
		results_add(sum, err, py, 0);
	}
	assert_true(err <= 0);
	assert_true(!err == !*msg || err == 0);
	for (int k = 0; k < a.n_in; k++)
		free(t[k].data);
	return !err;
}

static int count_kinds(void)
{
	int kinds = 0;

	while (strcmp(weft_onnx_ref_name(kinds), "?"))
		kinds++;
	return kinds;
}

static void awkward(void **state)
{
	uint64_t r = test_seed(20261122);
	const long n = test_count(200, 400, 20000);
	const int kinds = count_kinds();
	struct results sum = { 0 };
	int taken = 0;

	(void)state;
	for (int kind = 0; kind < kinds; kind++)
		for (long i = 0; i < n; i++)
			taken += one(kind, &r, &sum);
	printf("%d operators, %ld calls each, %d accepted\n", kinds, n, taken);
	fflush(stdout);
	assert_true(taken > kinds * n / 50);
}

/* Every kernel's calls are of a sequence of its own, so that a new kernel or operand changes its line alone. */
static void results(void **state)
{
	struct results_table t;
	int bad = 0;

	(void)state;
	assert_true(results_open(&t, "tests/expected/onnx_ref.tsv", "WEFT_ONNX_REF"));
	for (int kind = 0, kinds = count_kinds(); kind < kinds; kind++) {
		const char *name = weft_onnx_ref_name(kind);
		struct results s = { 0 };
		int same = 0;

		for (int k = 0; k < kind; k++)
			same += !strcmp(weft_onnx_ref_name(k), name);
		uint64_t r = crc32((uLong)same + 20261123, (const Bytef *)name, (uInt)strlen(name));
		for (int i = 0; i < MOST_CALLS && s.good < GOOD_CALLS; i++)
			one(kind, &r, &s);
		bad += results_judge(&t, name, same, &s);
	}
	assert_true(results_close(&t));
	assert_int_equal(bad, 0);
}

/* Calls kernel `name` of a domain with operands x and the attributes in a. Returns what the shapes, or else the computation, gave. */
static int call(const char *domain, const char *name, struct weft_attr_onnx_node *a, const weft_tensor *const *x, int n_x)
{
	weft_tensor y[1], *py = y;
	char msg[WEFT_GOLDEN_MSG] = "";
	int which;

	a->kind = weft_onnx_ref_find(domain, name);
	a->opset = 22;
	a->n_in = n_x;
	int err = weft_onnx_ref_shapes(a, x, n_x, y, 1, &which, msg);
	if (err)
		return err;
	y[0].data = calloc(1, weft_tensor_bytes(&y[0]) + 1);
	err = weft_onnx_ref_run(a, x, n_x, &py, 1, msg);
	free(y[0].data);
	return err;
}

/* What would take years for some bytes of a file, or for a box that is no number, is refused or ends. */
static void endless(void **state)
{
	static float image[4] = { 1, 2, 3, 4 }, region[4] = { 0, 0, 1e30f, 1e30f };
	static int64_t batch, row[6] = { 1, 2, 3, 4, 5, 6 }, zero, grams[2] = { 1, 2 }, none, huge[2] = { INT64_MAX, -2 };
	static float f[2] = { 0, 1 };
	const weft_tensor x = { WEFT_FP32, 4, { 1, 1, 2, 2, 1, 1, 1, 1 }, image }, rois = { WEFT_FP32, 2, { 1, 4, 1, 1, 1, 1, 1, 1 }, region };
	const weft_tensor b = { WEFT_INT64, 1, { 1, 1, 1, 1, 1, 1, 1, 1 }, &batch }, t = { WEFT_INT64, 1, { 6, 1, 1, 1, 1, 1, 1, 1 }, row };
	const weft_tensor counts = { WEFT_INT64, 1, { 2, 1, 1, 1, 1, 1, 1, 1 }, (int64_t[]){ 0, 0 } }, indexes = { WEFT_INT64, 1, { 1, 1, 1, 1, 1, 1, 1, 1 }, &zero };
	const weft_tensor pool = { WEFT_INT64, 1, { 2, 1, 1, 1, 1, 1, 1, 1 }, grams }, n = { WEFT_INT64, 0, { 1, 1, 1, 1, 1, 1, 1, 1 }, &huge[0] };
	const weft_tensor length = { WEFT_INT64, 0, { 1, 1, 1, 1, 1, 1, 1, 1 }, &huge[1] }, rate = { WEFT_INT64, 0, { 1, 1, 1, 1, 1, 1, 1, 1 }, &none };
	const weft_tensor edge = { WEFT_FP32, 0, { 1, 1, 1, 1, 1, 1, 1, 1 }, f };
	struct weft_attr_onnx_node roi = { .i = { 0, 0, 1, 1, 0 }, .f = { 1 } }, skips = { .i = { 0, 2, INT32_MAX, 1 } }, mel = { .i = { 1 } };
	struct weft_attr_onnx_node average = { .i = { [1] = 2, 32768, 32768, [10] = WEFT_ONNX_ABSENT, [19] = WEFT_ONNX_ABSENT, [28] = 4, 32767, 32767, 32767, 32767 } };

	/* Two boxes whose overlap is no number: the first lowers the score of the second by it. */
	static float corners[8] = { 0, 0, INFINITY, 1, 0, 0, INFINITY, 1 }, scores[2] = { 2, 1 }, half = 0.5f, least;
	static int32_t two = 2;
	const weft_tensor boxes = { WEFT_FP32, 2, { 2, 4, 1, 1, 1, 1, 1, 1 }, corners }, s = { WEFT_FP32, 1, { 2, 1, 1, 1, 1, 1, 1, 1 }, scores };
	const weft_tensor count = { WEFT_INT32, 0, { 1, 1, 1, 1, 1, 1, 1, 1 }, &two }, iou = { WEFT_FP32, 0, { 1, 1, 1, 1, 1, 1, 1, 1 }, &half };
	const weft_tensor from = { WEFT_FP32, 0, { 1, 1, 1, 1, 1, 1, 1, 1 }, &least };
	struct weft_attr_onnx_node soft = { .i = { 1 } };

	(void)state;
	assert_int_equal(call("tflite", "NonMaxSuppression", &soft, (const weft_tensor *[]){ &boxes, &s, &count, &iou, &from, &iou }, 6), 0);
	assert_int_equal(call("", "RoiAlign", &roi, (const weft_tensor *[]){ &x, &rois, &b }, 3), -EINVAL);
	assert_int_equal(call("", "AveragePool", &average, (const weft_tensor *[]){ &x }, 1), -ENOTSUP);
	assert_int_equal(call("", "TfIdfVectorizer", &skips, (const weft_tensor *[]){ &t, &counts, &indexes, &pool }, 4), 0);
	assert_int_equal(call("", "MelWeightMatrix", &mel, (const weft_tensor *[]){ &n, &length, &rate, &edge, &edge }, 5), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(awkward), cmocka_unit_test(results), cmocka_unit_test(endless) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
