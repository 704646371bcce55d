/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which nodes are taken, that is, compute with quantised numbers, and inserts what that takes:
 * weights as constants behind DequantizeLinear, and a QuantizeLinear with a DequantizeLinear behind
 * each value that such nodes read or make.
 *
 * Products with constant weights are always taken. Sums of two tensors, averages and Concat are taken
 * if a product lies before or behind them, with only nodes in between that could be taken or move
 * elements; functions of one element only if a product lies behind them. Nodes that only move elements
 * are not changed.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include <weft/convert.h>

#include "userlib/import/onnx/onnx_exact_scale.h"
#include "quantize.h"

/*
 * Kinds of nodes: none of the following; only moves elements; product with constant weights; sum,
 * difference or product of two tensors; average over windows; Concat; function of one element.
 */
enum kind { OTHER, MOVE, PRODUCT, PAIR, AVERAGE, CONCAT, FUNCTION };

/* Says whether n is an operator of the list, which ends with NULL. */
static bool listed(const onnx_node *n, const char *const *list)
{
	for (; *list; list++)
		if (qz_is(n, *list))
			return true;
	return false;
}

/*
 * Says whether the node has exactly two operands, which are different fp32 tensors of the float
 * network, neither of them constant, with the same rank and number of elements.
 */
static bool two_tensors(struct qz *z, const onnx_node *n)
{
	struct qz_value *a = qz_value(z, qz_operand(n, 0)), *b = qz_value(z, qz_operand(n, 1));

	if (n->n_input != 2 || !a || !b || a == b || a->tensor < 0 || b->tensor < 0)
		return false;
	const weft_tensor *ta = &z->g->tensors[a->tensor].t, *tb = &z->g->tensors[b->tensor].t;
	return ta->rank == tb->rank && weft_tensor_elements(ta) == weft_tensor_elements(tb);
}

/*
 * Says whether a product has constant float32 weights of a form that can be quantised: for Conv any of
 * rank 2 or more; for MatMul a matrix; for Gemm a matrix, A not transposed, alpha and beta 1. The bias of
 * Conv and Gemm must be a float32 constant, or there is none; Gemm's is a list of one element for each
 * output. False also if a constant cannot be read.
 */
static bool constant_weights(struct qz *z, const onnx_node *n)
{
	weft_tensor t;

	if (!qz_floats(z, qz_operand(n, 1), &t) || t.rank < 2)
		return false;
	if (qz_is(n, "Conv"))
		return !*qz_operand(n, 2) || qz_floats(z, qz_operand(n, 2), &t);
	if (t.rank != 2)
		return false;
	if (qz_is(n, "MatMul"))
		return true;
	if (qz_integer(n, "transA", 0) || qz_real(n, "alpha", 1) != 1 || qz_real(n, "beta", 1) != 1)
		return false;
	int64_t outputs = t.dim[qz_integer(n, "transB", 0) ? 0 : 1];
	return !*qz_operand(n, 2) || (qz_floats(z, qz_operand(n, 2), &t) && t.rank == 1 && t.dim[0] == outputs);
}

/*
 * Returns what kind of node n is for the quantiser, given the type. MOVE with all types: Reshape,
 * Transpose and their like, Slice, Gather, MaxPool and others whose results are elements of the operand.
 * PRODUCT with all types: Conv, Gemm and MatMul that constant_weights() accepts. PAIR: Add and Sub with
 * int8 and int16x8, Mul with int8, if two_tensors() holds. AVERAGE, CONCAT and FUNCTION with int8; of
 * functions also Relu with int16x8. OTHER: all else, NULL, and nodes that have not exactly one result.
 */
static enum kind kind_of(struct qz *z, const onnx_node *n)
{
	static const char *const moves[] = { "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Identity", "Dropout", "Slice",
	                                     "MaxPool", "Gather", "DepthToSpace", "SpaceToDepth", NULL };
	static const char *const products[] = { "Conv", "Gemm", "MatMul", NULL };
	static const char *const pairs[] = { "Add", "Sub", NULL };
	static const char *const averages[] = { "AveragePool", "GlobalAveragePool", NULL };
	static const char *const functions[] = { "Relu", "Clip", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "Elu", "Selu",
	                                         "Softplus", "Gelu", NULL };
	bool bytes = z->o->type == WEFT_QUANTIZE_INT8;

	if (!n || n->n_output != 1)
		return OTHER;
	if (listed(n, moves))
		return MOVE;
	if (listed(n, products))
		return constant_weights(z, n) ? PRODUCT : OTHER;
	if (z->o->type == WEFT_QUANTIZE_FP8)
		return OTHER;
	if ((listed(n, pairs) || (bytes && qz_is(n, "Mul"))) && two_tensors(z, n))
		return PAIR;
	if (bytes && listed(n, averages))
		return AVERAGE;
	if (bytes && qz_is(n, "Concat"))
		return CONCAT;
	return listed(n, functions) && (bytes || qz_is(n, "Relu")) ? FUNCTION : OTHER;
}

/* ---- what is taken ---- */

/*
 * What is planned for a node: its kind; whether a product comes before it (from; itself, too) or behind
 * it (to), through nodes that are not OTHER; and whether it computes with quantised numbers.
 */
struct plan { uint8_t kind; bool from, to, taken; };

/* Returns the plan of the node that makes the value `name`; NULL if no node does. */
static struct plan *plan_of(struct qz *z, struct plan *p, const char *name)
{
	struct qz_value *v = qz_value(z, name);

	return v && v->maker >= 0 ? &p[v->maker] : NULL;
}

/*
 * Fills in from, to and taken of all nodes from their kinds. A product is taken; a function if a product
 * comes behind it (one at the end stays float, since its result would only be rounded once more); pairs,
 * averages and Concat if a product comes before or behind; moves and OTHER never. Both directions go
 * through any nodes that are not OTHER. The nodes must be sorted so that makers come first.
 */
static void spread(struct qz *z, struct plan *p)
{
	for (int i = 0; i < z->n_node; i++)
		for (size_t k = 0; p[i].kind && z->node[i] && k < z->node[i]->n_input; k++) {
			struct plan *before = plan_of(z, p, z->node[i]->input[k]);
			p[i].from = p[i].from || p[i].kind == PRODUCT || (before && before->kind && before->from);
		}
	for (int i = z->n_node - 1; i >= 0; i--)
		for (size_t k = 0; p[i].kind && z->node[i] && k < z->node[i]->n_input; k++) {
			struct plan *before = plan_of(z, p, z->node[i]->input[k]);
			if (before && before->kind)
				before->to = before->to || before->kind == PRODUCT || p[i].kind == PRODUCT || p[i].to;
		}
	for (int i = 0; i < z->n_node; i++) {
		/* A function behind which no product comes stays float: its result would only be rounded once more. */
		bool wanted = p[i].kind == FUNCTION ? p[i].to : p[i].from || p[i].to;
		p[i].taken = p[i].kind == PRODUCT || (p[i].kind > MOVE && wanted);
	}
}

/*
 * Returns the value whose elements v has, by going back from v through at most 1000 nodes of kind MOVE,
 * each time to operand 0. NULL if v is NULL or such a node's operand is no value.
 */
static struct qz_value *root(struct qz *z, struct plan *p, struct qz_value *v)
{
	for (int guard = 0; v && v->maker >= 0 && p[v->maker].kind == MOVE && guard < 1000; guard++)
		v = qz_value(z, qz_operand(z->node[v->maker], 0));
	return v;
}

/* Says whether v is a value that is not constant and of which finite numbers were seen. */
static bool activation(const struct qz_value *v)
{
	return v && v->tensor >= 0 && v->seen && v->init < 0;
}

/*
 * Returns the index of the node that limits node i's first result: a Relu, or a Clip whose limits are
 * constant, with one result, which is the only reader of that result. Returns i if there is none or the
 * result is an output of the network. No QuantizeLinear belongs between node i and its limiter.
 */
static int limiter(struct qz *z, int i)
{
	struct qz_value *v = qz_value(z, z->node[i]->output[0]);
	const onnx_node *r = v && v->n_uses == 1 && !v->is_output ? z->node[v->reader] : NULL;

	if (!r || (!qz_is(r, "Relu") && !qz_is(r, "Clip")) || r->n_output != 1)
		return i;
	for (size_t k = 1; k < r->n_input; k++)
		if (qz_value(z, r->input[k]) && qz_value(z, r->input[k])->init < 0)
			return i;
	return v->reader;
}

/*
 * Sets `paired` in the values behind which a QuantizeLinear and a DequantizeLinear are needed. For each
 * node that is taken these are its operands (all of PAIR and CONCAT, otherwise the first), traced back by
 * root(), and its first result, or that of its limiter() if it is no FUNCTION. If the node is itself the
 * limiter() of a taken node other than a FUNCTION, its operand is not marked. Constants and values of
 * which nothing was seen are never marked.
 */
static void mark(struct qz *z, struct plan *p)
{
	for (int i = 0; i < z->n_node; i++) {
		if (!z->node[i] || !p[i].taken)
			continue;
		struct qz_value *producer = qz_value(z, qz_operand(z->node[i], 0));
		bool limits = producer && producer->maker >= 0 && p[producer->maker].taken && p[producer->maker].kind != FUNCTION &&
		              limiter(z, producer->maker) == i;
		size_t operands = p[i].kind == PAIR || p[i].kind == CONCAT ? z->node[i]->n_input : 1;
		for (size_t k = 0; k < operands && !limits; k++) {
			struct qz_value *v = root(z, p, qz_value(z, z->node[i]->input[k]));
			if (activation(v))
				v->paired = true;
		}
		int last = p[i].kind == FUNCTION ? i : limiter(z, i);
		struct qz_value *y = qz_value(z, z->node[last]->output[0]);
		if (activation(y) && (last == i || p[i].kind != FUNCTION))
			y->paired = true;
	}
}

/* ---- scales ---- */

/* Returns ONNX's number of the type of quantised activations: int16, float8 E4M3 or int8. */
static int type_code(const struct qz *z)
{
	return z->o->type == WEFT_QUANTIZE_INT16X8 ? 5 : z->o->type == WEFT_QUANTIZE_FP8 ? 17 : 3;
}

/*
 * Returns the scale of a value, and in *zp its zero point, from its range lo..hi, which is widened to
 * hold 0 so that 0 is exact. int8: the width of the range / 255, with a zero point that puts lo at -128,
 * rounded and limited to -128..127. int16: the greatest magnitude / 32767. float8: the greatest magnitude
 * / 448, raised to a power of two, because the device's products have no other scale. The zero point of
 * both is 0. A scale of at most 1e-30 becomes 1/255.
 */
static float scale_of(const struct qz *z, const struct qz_value *v, int *zp)
{
	double lo = fmin(v->lo, 0), hi = fmax(v->hi, 0), top = fmax(-lo, hi);
	double s = z->o->type == WEFT_QUANTIZE_INT16X8 ? top / 32767 : z->o->type == WEFT_QUANTIZE_FP8 ? top / 448 : (hi - lo) / 255;

	*zp = 0;
	if (z->o->type == WEFT_QUANTIZE_FP8 && s > 1e-30)      /* powers of two: the device's products have no other scale */
		s = exp2(ceil(log2(s)));
	if (!(s > 1e-30))
		s = 1.0 / 255;
	if (z->o->type == WEFT_QUANTIZE_INT8) {
		double at = rint(-128 - lo / s);
		*zp = (int)fmax(-128, fmin(127, at));
	}
	return (float)s;
}

/*
 * Appends a node QuantizeLinear or DequantizeLinear (`type`) to the model: operands x, scale and zp,
 * result y, all names of values. Returns y; NULL if there is no memory or a name is NULL.
 */
static char *quantiser(struct qz *z, const char *type, char *x, char *scale, char *zp, char *y)
{
	char *in[3] = { x, scale, zp };

	return qz_add_node(z, type, NULL, in, 3, y) ? y : NULL;
}

/* ---- weights ---- */

/* A product's weights: what stands in the file, and what becomes of it. */
struct weights {
	weft_tensor t;                 /* type and shape of the weights */
	const float *w, *bias;         /* their numbers, and those of the bias; NULL if there is none */
	int axis;                      /* the dimension that counts output channels */
	int64_t inner, channels;       /* element i belongs to channel i / inner % channels */
	float *scale;                  /* by channel */
	uint8_t *codes;                /* the quantised weights, int8 or float8, one for each element of t */
	int32_t *bias_codes;           /* the quantised bias, by channel; 0 if there is none */
};

/*
 * Reads weights and bias of product n as floats into *w, allocates room for the codes, and chooses a
 * scale for each output channel: its greatest finite magnitude / 127, or 1 if that magnitude is at most
 * 1e-30. With float8 all channels have the same power of two, with which the greatest magnitude of the
 * whole tensor is at most 448. w->bias is NULL if there is no bias or it cannot be read. Returns 0;
 * -ENOMEM, also if the weights are no float32 constant; or -EINVAL with one line in the message for a
 * bias whose length is not the number of channels.
 */
static int read_weights(struct qz *z, const onnx_node *n, struct weights *w)
{
	const bool fp8 = z->o->type == WEFT_QUANTIZE_FP8;
	float top = 0;
	weft_tensor t;

	*w = (struct weights){ .axis = qz_is(n, "Conv") || (qz_is(n, "Gemm") && qz_integer(n, "transB", 0)) ? 0 : 1, .inner = 1 };
	w->w = qz_floats(z, qz_operand(n, 1), &w->t);
	if (!w->w)
		return -ENOMEM;
	w->channels = w->t.dim[w->axis];
	for (int d = w->axis + 1; d < w->t.rank; d++)
		w->inner *= w->t.dim[d];
	w->bias = *qz_operand(n, 2) ? qz_floats(z, qz_operand(n, 2), &t) : NULL;
	if (w->bias && weft_tensor_elements(&t) != w->channels)
		return qz_fail(z, -EINVAL, "%.40s: a bias of %lld elements for %lld channels", n->op_type, (long long)weft_tensor_elements(&t),
		               (long long)w->channels);
	float *s = w->scale = qz_alloc(z, (size_t)w->channels * sizeof *s);
	w->codes = qz_alloc(z, (size_t)weft_tensor_elements(&w->t));
	w->bias_codes = qz_alloc(z, (size_t)w->channels * sizeof *w->bias_codes);
	if (!s || !w->codes || !w->bias_codes)
		return -ENOMEM;
	for (int64_t i = 0; i < weft_tensor_elements(&w->t); i++) {
		int64_t c = i / w->inner % w->channels;
		s[c] = isfinite(w->w[i]) && fabsf(w->w[i]) > s[c] ? fabsf(w->w[i]) : s[c];
	}
	for (int64_t c = 0; c < w->channels; c++)
		top = s[c] > top ? s[c] : top;
	for (int64_t c = 0; c < w->channels; c++)              /* float8 has the range for one scale, of a power of two */
		s[c] = fp8 ? (float)exp2(ceil(log2((top > 1e-30f ? (double)top : 448) / 448))) : s[c] > 1e-30f ? s[c] / 127 : 1;
	return 0;
}

/*
 * Computes w->codes from the weights and w->scale: int8 rounded to the nearest (ties to even) and limited to
 * -127..127 (0 for what is not finite), or float8, saturating. If there is a bias, computes w->bias_codes in
 * units of x_scale (the operand's scale) times the channel's scale, rounded likewise and limited to
 * -2^30..2^30, 0 for what is not finite.
 */
static void encode(const struct qz *z, struct weights *w, float x_scale)
{
	for (int64_t i = 0; i < weft_tensor_elements(&w->t); i++) {
		double v = (double)w->w[i] / (double)w->scale[i / w->inner % w->channels];

		w->codes[i] = z->o->type == WEFT_QUANTIZE_FP8 ? (uint8_t)weft_float_encode(WEFT_FP8E4M3, v, true)
		                                              : (uint8_t)(int8_t)(isfinite(v) ? fmax(-127, fmin(127, rint(v))) : 0);
	}
	for (int64_t c = 0; w->bias && c < w->channels; c++) {
		double v = rint((double)w->bias[c] / (double)(x_scale * w->scale[c]));
		w->bias_codes[c] = (int32_t)fmax(-0x1p30, fmin(0x1p30, isfinite(v) ? v : 0));
	}
}

/*
 * For int8: raises w->scale of each channel for which no RESCALE rounds as ONNX does for every sum that
 * can occur (and 64 beyond at both ends), by the smallest float steps, at most 64, until one does: the
 * device then computes the layer with ONNX's bits. If none of the 64 does, the channel keeps the last
 * one. x and y are the values of the product's input and result. The codes must have been computed with
 * the old scales and are not computed anew. Returns 0 or -ENOMEM.
 */
static int settle(struct qz *z, struct weights *w, const struct qz_value *x, const struct qz_value *y)
{
	int x_zp, y_zp;
	float xs = scale_of(z, x, &x_zp), ys = scale_of(z, y, &y_zp);
	struct weft_onnx_ratio r;
	struct ox_factor f;
	struct { int64_t least, most; } *sum = qz_alloc(z, (size_t)w->channels * sizeof *sum);

	for (int64_t i = 0; sum && i < weft_tensor_elements(&w->t); i++) {
		int64_t c = i / w->inner % w->channels, v = (int8_t)w->codes[i];

		sum[c].least += v * (v > 0 ? -128 - x_zp : 127 - x_zp);
		sum[c].most += v * (v > 0 ? 127 - x_zp : -128 - x_zp);
	}
	for (int64_t c = 0; sum && c < w->channels; c++) {
		int64_t least = sum[c].least + w->bias_codes[c], most = sum[c].most + w->bias_codes[c];

		for (int i = 0; i < 64 && weft_onnx_ratio((double)xs, (double)w->scale[c], (double)ys, &r) &&
		                !ox_exact(&r, -128 - y_zp, 127 - y_zp, least - 64, most + 64, OX_HALF_UP, &f); i++)
			w->scale[c] = nextafterf(w->scale[c], INFINITY);
	}
	return sum ? 0 : -ENOMEM;
}

/*
 * Makes operand k of node n the result of a new DequantizeLinear of the constants named `codes` and
 * `scale` along dimension `axis`, which has `channels` elements. type is ONNX's number of the codes' type
 * (6, int32, has 4 bytes; others have 1); the new value is called as n's first result with `suffix`
 * behind it. The zero points are 0 and are written as constant CODES/zp, because ONNX Runtime fuses no
 * product without them. Returns 0, or -ENOMEM also if `codes` or `scale` is NULL.
 */
static int set_dequantised(struct qz *z, onnx_node *n, size_t k, const char *suffix, char *codes, char *scale, int type, int axis, int64_t channels)
{
	char *y = qz_text(z, n->output[0], suffix);
	const size_t bytes = (size_t)channels * (type == 6 ? 4 : 1);
	void *zeros = qz_alloc(z, bytes);
	char *zero = zeros ? qz_add_tensor(z, qz_text(z, codes ? codes : "", "/zp"), type, 1, &channels, zeros, bytes) : NULL;

	if (!codes || !scale || !zero || !y || !quantiser(z, "DequantizeLinear", codes, scale, zero, y) ||
	    qz_set_integer(z, z->node[z->n_node - 1], "axis", axis))
		return -ENOMEM;
	return qz_set_operand(z, n, k, y);
}

/*
 * Writes codes and scales of weights and bias into the model as constants named after n's result (/w,
 * /w/scale, /b, /b/scale), and lets product n read them through DequantizeLinear. The bias's scale is
 * x_scale times the channel's. With float8 the bias stays as it is. Returns 0, -ENOMEM, or -EINVAL with
 * one line in the message if no float32 above 0 holds a channel's scale of the bias.
 */
static int write_weights(struct qz *z, onnx_node *n, const struct weights *w, float x_scale)
{
	const bool fp8 = z->o->type == WEFT_QUANTIZE_FP8;
	char *base = n->output[0];
	float *s = qz_alloc(z, (size_t)w->channels * sizeof *s);
	char *x = qz_add_tensor(z, qz_text(z, base, "/w"), fp8 ? 17 : 3, w->t.rank, w->t.dim, w->codes, (size_t)weft_tensor_elements(&w->t));
	char *scale = qz_add_tensor(z, qz_text(z, base, "/w/scale"), 1, 1, &w->channels, w->scale, (size_t)w->channels * sizeof *s);
	int err = set_dequantised(z, n, 1, "/w/real", x, scale, fp8 ? 17 : 3, w->axis, w->channels);

	if (err || !w->bias || fp8)
		return err;
	if (!s)
		return -ENOMEM;
	for (int64_t c = 0; c < w->channels; c++) {
		s[c] = x_scale * w->scale[c];
		if (!(s[c] > 0) || isinf(s[c]))
			return qz_fail(z, -EINVAL, "%.60s: channel %lld: no float32 holds the scale of its bias, %g * %g", n->output[0], (long long)c,
			               (double)x_scale, (double)w->scale[c]);
	}
	x = qz_add_tensor(z, qz_text(z, base, "/b"), 6, 1, &w->channels, w->bias_codes, (size_t)w->channels * sizeof *w->bias_codes);
	scale = qz_add_tensor(z, qz_text(z, base, "/b/scale"), 1, 1, &w->channels, s, (size_t)w->channels * sizeof *s);
	return set_dequantised(z, n, 2, "/b/real", x, scale, 6, 0, w->channels);
}

/*
 * Quantises weights and bias of the product at node i, with the scale of its input (traced back by
 * root()) and, for int8 if values of its result were seen, after settle(). Counts it in z->n_products.
 * Returns 0; -ENOTSUP with one line in the message if no values were seen of its input; -EINVAL for a
 * bias of another length or without a scale; or -ENOMEM.
 */
static int product(struct qz *z, struct plan *p, int i)
{
	onnx_node *n = z->node[i];
	struct qz_value *x = root(z, p, qz_value(z, qz_operand(n, 0))), *y = qz_value(z, z->node[limiter(z, i)]->output[0]);
	struct weights w;
	int zp, err;

	if (!activation(x))
		return qz_fail(z, -ENOTSUP, "node %d %.40s: no values were seen of \"%.80s\"", i, n->op_type, qz_operand(n, 0));
	if ((err = read_weights(z, n, &w)))
		return err;
	float xs = scale_of(z, x, &zp);
	encode(z, &w, xs);
	if (z->o->type == WEFT_QUANTIZE_INT8 && activation(y)) {
		if ((err = settle(z, &w, x, y)))
			return err;
		encode(z, &w, xs);
	}
	z->n_products++;
	return write_weights(z, n, &w, xs);
}

/* ---- pairs ---- */

/*
 * Puts QuantizeLinear and DequantizeLinear behind value v, with the constants NAME/scale and NAME/zp;
 * between the two is NAME/q. The value keeps its name behind both, so that readers need not change; its
 * maker, which is among the first n_before nodes, then makes "NAME/float". If v is an input of the
 * network, its readers among these nodes read "NAME/real" instead. Returns 0 or -ENOMEM.
 */
static int pair(struct qz *z, struct qz_value *v, int n_before)
{
	int zp;
	float s = scale_of(z, v, &zp);
	int8_t byte = (int8_t)zp;
	int16_t wide = (int16_t)zp;
	bool is_16 = z->o->type == WEFT_QUANTIZE_INT16X8;
	char *name = qz_text(z, v->name, ""), *codes = qz_text(z, name ? name : "", "/q");
	char *scale = qz_add_tensor(z, qz_text(z, v->name, "/scale"), 1, 0, NULL, &s, sizeof s);
	char *zero = qz_add_tensor(z, qz_text(z, v->name, "/zp"), type_code(z), 0, NULL, is_16 ? (void *)&wide : (void *)&byte, is_16 ? 2 : 1);
	char *real = v->is_input ? name : qz_text(z, v->name, "/float"), *back = v->is_input ? qz_text(z, v->name, "/real") : name;

	if (!name || !codes || !scale || !zero || !real || !back)
		return -ENOMEM;
	for (int i = 0; i < n_before; i++)
		for (size_t k = 0; z->node[i] && k < (v->is_input ? z->node[i]->n_input : z->node[i]->n_output); k++) {
			char **at = v->is_input ? &z->node[i]->input[k] : &z->node[i]->output[k];
			if (!strcmp(*at, v->name))
				*at = v->is_input ? back : real;
		}
	return quantiser(z, "QuantizeLinear", real, scale, zero, codes) && quantiser(z, "DequantizeLinear", codes, scale, zero, back) ? 0 : -ENOMEM;
}

/*
 * Decides which nodes compute with quantised numbers, counts the products among them in z->n_products,
 * and writes QuantizeLinear, DequantizeLinear and quantised weights for them into the model; new nodes
 * stand behind all old ones. Ranges must have been found, z->g be the model's graph, and the nodes be
 * sorted. Returns 0 or a negative errno with one line in the message (-ENOTSUP if no values were seen of
 * a product's input).
 */
int qz_insert(struct qz *z)
{
	struct plan *p = qz_alloc(z, ((size_t)z->n_node + 1) * sizeof *p);
	int n = z->n_node, err = p ? 0 : -ENOMEM;

	for (int i = 0; i < n && !err; i++)
		p[i].kind = (uint8_t)kind_of(z, z->node[i]);
	if (!err) {
		spread(z, p);
		mark(z, p);
	}
	for (int i = 0; i < n && !err; i++)
		if (p[i].kind == PRODUCT)
			err = product(z, p, i);
	for (int i = 0; i < z->n_value && !err; i++)
		if (z->value[i].paired)
			err = pair(z, &z->value[i], n);
	return err;
}
