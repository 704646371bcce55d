/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QDQ graphs: what is folded into integers gives the bits of the float
 * operators. The same nodes are imported twice; in the second model the floats
 * between are outputs of the network, which keeps every node as it stands.
 * Averages have no such bits (float32 sums); a plain loop has their definition.
 * On golden and on the functional model, every tensor checked.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include <weft/weft.h>

#include "../support/level.h"
#include "../support/onnx_build.h"
#include "../support/short_of_memory.h"
#include "../support/tensors.h"

enum { C = 5, H = 6, W = 7, N = C * H * W };

struct q { float s; int z, type; };       /* ONNX's 2: uint8, 3: int8 */

static struct q scale(uint64_t *r)
{
	static const float few[] = { 0.5f, 0.25f, 1, 0.75f };
	struct q q = { .type = 2 + (int)test_below(r, 2) };

	q.s = test_below(r, 4) == 0 ? few[test_below(r, 4)] : 0.01f + (float)test_below(r, 1 << 20) / (1 << 23);
	q.z = (int)test_below(r, 256) - (q.type == 3 ? 128 : 0);
	if (test_below(r, 3) == 0)
		q.z = q.type == 3 ? 0 : 128;
	return q;
}

/* ---- models ---- */

static void parameters(struct ob *g, const char *s, const char *z, const struct q *q)
{
	int8_t byte = (int8_t)q->z;

	ob_tensor(g, s, 1, 0, NULL, &q->s, 4);
	ob_tensor(g, z, q->type, 0, NULL, &byte, 1);
}

static void number(struct ob *g, const char *name, float v)
{
	ob_tensor(g, name, 1, 0, NULL, &v, 4);
}

static void int64s(struct ob *g, const char *name, int n, const int64_t *v)
{
	int64_t dim = n;

	ob_tensor(g, name, 7, 1, &dim, v, (size_t)n * 8);
}

/* Adds a constant of n random floats from lo to hi. If 0 lies in this range, some of them are 0. */
static void floats(struct ob *g, const char *name, int n, double lo, double hi, uint64_t *r)
{
	int64_t dim = n;
	float v[C];

	for (int i = 0; i < n; i++)
		v[i] = lo <= 0 && test_below(r, 16) == 0 ? 0 : (float)(lo + (hi - lo) * (double)test_below(r, 1 << 20) / (1 << 20));
	ob_tensor(g, name, 1, 1, &dim, v, (size_t)n * sizeof *v);
}

/* Adds a dequantised constant c. It has one number for each place along one dimension of [1,C,H,W], other than the first one. */
static void along_one(struct ob *g, uint64_t *r)
{
	static const int64_t dims[3][3] = { { C, 1, 1 }, { H, 1 }, { W } };
	const int which = (int)test_below(r, 3);
	int8_t code[W];

	for (int i = 0; i < W; i++)
		code[i] = (int8_t)test_random(r);
	number(g, "cs", 0.001f + (float)test_below(r, 1 << 20) / (1 << 24));
	ob_tensor(g, "cz", 3, 0, NULL, &code[0], 1);
	ob_tensor(g, "cq", 3, 3 - which, dims[which], code, (size_t)dims[which][0]);
	ob_node(g, "DequantizeLinear", "cq cs cz", "c", NULL);
}

static const char *const kinds[] = {
	"same", "Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSwish", "Elu", "Clip", "silu", "add1", "Reshape", "Transpose", "MaxPool",
	"Slice", "Pad", "Flatten", "Gather", "Unsqueeze", "Split", "Concat", "Add", "Sub", "Mul", "AddRelu", "AddClip", "Expand",
	"BatchNormalization", "BatchRelu", "BatchReshaped", "MulChannels", "AddChannels", "SubChannels",
};
#define KINDS ((int)(sizeof kinds / sizeof kinds[0]))

/* From fa (and fb) to f; returns how many values stand between that may be outputs. */
static int operators(struct ob *g, const char *kind, const int64_t *shape, int64_t *out, int *rank, uint64_t *r)
{
	struct ob a = { 0 };

	memcpy(out, shape, 4 * sizeof *out);
	*rank = 4;
	if (!strcmp(kind, "same")) {
		ob_node(g, "Identity", "fa", "f", NULL);
	} else if (!strcmp(kind, "Clip")) {
		number(g, "lo", -0.3f);
		number(g, "hi", 1.1f);
		ob_node(g, "Clip", "fa lo hi", "f", NULL);
	} else if (!strcmp(kind, "silu")) {
		ob_node(g, "Sigmoid", "fa", "m", NULL);
		ob_node(g, "Mul", "fa m", "f", NULL);
	} else if (!strcmp(kind, "add1")) {
		number(g, "one", 0.37f);
		ob_node(g, "Add", "one fa", "f", NULL);
	} else if (!strcmp(kind, "Reshape")) {
		int64s(g, "to", 2, (int64_t[]){ C, H * W });
		ob_node(g, "Reshape", "fa to", "f", NULL);
		*rank = 2;
		out[0] = C;
		out[1] = H * W;
	} else if (!strcmp(kind, "Transpose")) {
		ob_attr_ints(&a, "perm", 4, (int64_t[]){ 0, 2, 3, 1 });
		ob_node(g, "Transpose", "fa", "f", &a);
		memcpy(out, (int64_t[]){ 1, H, W, C }, 4 * sizeof *out);
	} else if (!strcmp(kind, "MaxPool")) {
		ob_attr_ints(&a, "kernel_shape", 2, (int64_t[]){ 3, 2 });
		ob_attr_ints(&a, "strides", 2, (int64_t[]){ 2, 1 });
		ob_attr_ints(&a, "pads", 4, (int64_t[]){ 1, 0, 1, 1 });
		ob_node(g, "MaxPool", "fa", "f", &a);
		out[2] = 3;
		out[3] = W;
	} else if (!strcmp(kind, "Slice")) {
		int64s(g, "from", 2, (int64_t[]){ 1, 5 });
		int64s(g, "to", 2, (int64_t[]){ 4, -8 });
		int64s(g, "axes", 2, (int64_t[]){ 1, 2 });
		int64s(g, "steps", 2, (int64_t[]){ 2, -2 });
		ob_node(g, "Slice", "fa from to axes steps", "f", NULL);
		out[1] = 2;
		out[2] = 3;
	} else if (!strcmp(kind, "Pad")) {
		int64s(g, "pads", 8, (int64_t[]){ 0, 1, 2, 0, 0, 0, 1, 1 });
		ob_node(g, "Pad", "fa pads", "f", NULL);
		out[1] = C + 1;
		out[2] = H + 3;
		out[3] = W + 1;
	} else if (!strcmp(kind, "Flatten")) {
		ob_node(g, "Flatten", "fa", "f", NULL);
		*rank = 2;
		out[1] = N;
	} else if (!strcmp(kind, "Gather")) {
		int64s(g, "rows", 3, (int64_t[]){ 2, 0, 2 });
		ob_attr_int(&a, "axis", 2);
		ob_node(g, "Gather", "fa rows", "f", &a);
		out[2] = 3;
	} else if (!strcmp(kind, "Unsqueeze")) {
		int64s(g, "axes", 1, (int64_t[]){ 2 });
		ob_node(g, "Unsqueeze", "fa axes", "f", NULL);
		*rank = 5;
		memcpy(out, (int64_t[]){ 1, C, 1, H, W }, 5 * sizeof *out);
	} else if (!strcmp(kind, "Split")) {
		struct ob n = { 0 };
		int64s(g, "parts", 2, (int64_t[]){ 2, 4 });
		ob_attr_int(&a, "axis", 2);
		ob_text(&n, 1, "fa");
		ob_text(&n, 1, "parts");
		ob_text(&n, 2, "unused");
		ob_text(&n, 2, "f");
		ob_text(&n, 4, "Split");
		ob_bytes(&n, a.p, a.n);
		free(a.p);
		ob_sub(g, 1, &n);
		out[2] = 4;
	} else if (!strcmp(kind, "Expand")) {
		int64s(g, "to", 4, (int64_t[]){ 2, C, H, W });
		ob_node(g, "Expand", "fa to", "f", NULL);
		out[0] = 2;
	} else if (!strcmp(kind, "Concat")) {
		ob_attr_int(&a, "axis", 1);
		ob_node(g, test_below(r, 2) ? "Relu" : "Identity", "fb", "m", NULL);
		ob_node(g, "Concat", "fa m", "f", &a);
		out[1] = 2 * C;
	} else if (!strcmp(kind, "AddRelu")) {
		ob_node(g, "Add", "fa fb", "m", NULL);
		ob_node(g, "Relu", "m", "f", NULL);
	} else if (!strcmp(kind, "AddClip")) {
		number(g, "lo", 0);
		number(g, "hi", 6);
		ob_node(g, "Add", "fa fb", "m", NULL);
		ob_node(g, "Clip", "m lo hi", "f", NULL);
	} else if (!strncmp(kind, "Batch", 5)) {
		bool relu = !strcmp(kind, "BatchRelu"), reshaped = !strcmp(kind, "BatchReshaped");
		if (reshaped) {
			const int64_t rows[2] = { H * W, C }, line[3] = { 1, C, H * W };
			*rank = 2 + (int)test_below(r, 2);
			memcpy(out, *rank == 2 ? rows : line, (size_t)*rank * sizeof *out);
			int64s(g, "to", *rank, out);
			ob_node(g, "Reshape", "fa to", "x", NULL);
		}
		floats(g, "scale", C, -2, 2, r);
		floats(g, "bias", C, -3, 3, r);
		floats(g, "mean", C, -3, 3, r);
		floats(g, "var", C, 0.1, 3, r);
		ob_node(g, "BatchNormalization", reshaped ? "x scale bias mean var" : "fa scale bias mean var", relu ? "m" : "f", NULL);
		if (relu)
			ob_node(g, "Relu", "m", "f", NULL);
	} else if (strstr(kind, "Channels")) {
		const char op[] = { kind[0], kind[1], kind[2], 0 };
		along_one(g, r);
		ob_node(g, op, test_below(r, 2) ? "fa c" : "c fa", "f", NULL);
	} else if (!strcmp(kind, "Add") || !strcmp(kind, "Sub") || !strcmp(kind, "Mul")) {
		ob_node(g, kind, "fa fb", "f", NULL);
	} else {
		ob_node(g, kind, "fa", "f", NULL);
	}
	return 0;
}

/* Floats are outputs if kept. A convolution by one stands before the QDQ part, so that the device has neighbours. */
static void build(struct ob *model, const char *kind, const struct q *a, const struct q *b, const struct q *y, uint64_t r, bool kept)
{
	static const int64_t shape[4] = { 1, C, H, W };
	int64_t out[WEFT_MAX_RANK] = { 0 };
	struct ob g = { 0 };
	int rank;

	ob_port(&g, 11, "a", a->type, 4, shape);
	ob_port(&g, 11, "b", b->type, 4, shape);
	parameters(&g, "sa", "za", a);
	parameters(&g, "sb", "zb", b);
	parameters(&g, "sy", "zy", y);
	ob_node(&g, "DequantizeLinear", "a sa za", "fa", NULL);
	ob_node(&g, "DequantizeLinear", "b sb zb", "fb", NULL);
	operators(&g, kind, shape, out, &rank, &r);
	ob_node(&g, "QuantizeLinear", "f sy zy", "y", NULL);
	ob_port(&g, 12, "y", y->type, rank, out);
	if (kept) {
		ob_port(&g, 12, "f", 1, rank, out);
		ob_port(&g, 12, "fa", 1, 4, shape);
		ob_port(&g, 12, "fb", 1, 4, shape);
	}
	ob_model(model, &g, 19);
}

/* ---- runs ---- */

static struct short_of_memory shortage = { .every = 211 };

/* Loads the model, which it frees, and a share of the points at which memory may end. */
static weft_net *load(struct ob *model, long id)
{
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net = NULL;

	if (weft_net_load(model->p, model->n, "qdq", &net, msg))
		fail_msg("seed %ld: %s", id, msg);
	short_of_memory(&shortage, model->p, model->n, "qdq", NULL);
	free(model->p);
	*model = (struct ob){ 0 };
	return net;
}

static void run(weft_net *net, enum weft_device device, uint8_t *const *x, weft_tensor *y, long id)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	weft_tensor in[2] = { 0 };
	struct weft_port p;
	weft_session *s;

	o.device = device;
	o.check = device == WEFT_DEVICE_MODEL;
	for (int i = 0; i < weft_net_n_inputs(net); i++) {
		weft_net_input(net, i, &p);
		in[i] = (weft_tensor){ .dtype = p.dtype, .rank = p.rank, .data = x[i] };
		memcpy(in[i].dim, p.dim, sizeof p.dim);
	}
	if (weft_session_open(net, &o, &s, msg) || weft_session_run(s, in, y, NULL, msg))
		fail_msg("seed %ld device %d: %s", id, (int)device, msg);
	weft_session_close(s);
}

static void fill(uint8_t *p, int n, uint64_t *r)
{
	for (int i = 0; i < n; i++)
		p[i] = (uint8_t)test_random(r);
}

static void random_graphs(void **state)
{
	long n = test_count(520, 1560, 52000);
	uint64_t first = test_seed(1);

	(void)state;
	for (long i = 0; i < n; i++) {
		const char *kind = kinds[i % KINDS];
		uint8_t xa[N], xb[N], *x[2] = { xa, xb };
		uint64_t r = first + (uint64_t)i;
		weft_tensor want[4] = { 0 }, got[1] = { 0 };
		struct ob plain = { 0 }, kept = { 0 };
		struct q a, b, y;

		test_random(&r);
		a = scale(&r);
		b = scale(&r);
		y = test_below(&r, 3) ? scale(&r) : a;
		fill(xa, N, &r);
		fill(xb, N, &r);
		build(&plain, kind, &a, &b, &y, r, false);
		build(&kept, kind, &a, &b, &y, r, true);
		weft_net *whole = load(&kept, (long)first + i), *folded = load(&plain, (long)first + i);
		run(whole, WEFT_DEVICE_GOLDEN, x, want, (long)first + i);
		for (int d = WEFT_DEVICE_GOLDEN; d <= WEFT_DEVICE_MODEL; d++) {
			run(folded, (enum weft_device)d, x, got, (long)first + i);
			assert_int_equal(weft_tensor_elements(&got[0]), weft_tensor_elements(&want[0]));
			for (int64_t e = 0; e < weft_tensor_elements(&got[0]); e++)
				if (tensor_get(&got[0], e) != tensor_get(&want[0], e))
					fail_msg("seed %ld %s device %d element %lld: %d, not %d", (long)first + i, kind, d, (long long)e,
					         (int)tensor_get(&got[0], e), (int)tensor_get(&want[0], e));
			weft_tensor_release(&got[0]);
		}
		for (int k = 0; k < 4; k++)
			weft_tensor_release(&want[k]);
		weft_net_free(whole);
		weft_net_free(folded);
	}
}

/* ---- averages ---- */

struct pool { bool global, padding, ceil; int64_t k[2], stride[2], before[2], after[2], out[2]; };

/* The nearest integer to num / den * 2^e, ties to even. */
static int rounded(int64_t num, const struct q *a, const struct q *y, int64_t count)
{
	int ea, ey;
	int64_t ma = (int64_t)ldexp(frexp((double)a->s, &ea), 24), my = (int64_t)ldexp(frexp((double)y->s, &ey), 24);
	__int128 n = (__int128)num * ma, d = (__int128)my * count;

	if (ea > ey)
		n *= (__int128)1 << (ea - ey);
	else
		d *= (__int128)1 << (ey - ea);
	__int128 v = n / d, rest = n % d;
	if (rest < 0) {
		v--;
		rest += d;
	}
	v += 2 * rest > d || (2 * rest == d && (v & 1));
	v += y->z;
	int lo = y->type == 3 ? -128 : 0;
	return v < lo ? lo : v > lo + 255 ? lo + 255 : (int)v;
}

/*
 * Returns the average that an operator gives. With ceil_mode, a window may reach beyond the padding: QLinearAveragePool counts the
 * elements there as padding (`all`), and AveragePool does not count them.
 */
static int average(const struct pool *p, bool all, const uint8_t *x, const struct q *a, const struct q *y, int c, int64_t oy, int64_t ox)
{
	int64_t sum = 0, count = 0;

	for (int64_t ky = 0; ky < p->k[0]; ky++)
		for (int64_t kx = 0; kx < p->k[1]; kx++) {
			int64_t iy = oy * p->stride[0] - p->before[0] + ky, ix = ox * p->stride[1] - p->before[1] + kx;
			bool in = iy >= 0 && iy < H && ix >= 0 && ix < W, padded = iy < H + p->after[0] && ix < W + p->after[1];

			count += in || (p->padding && (all || padded));
			if (in)
				sum += (a->type == 3 ? (int8_t)x[(c * H + iy) * W + ix] : x[(c * H + iy) * W + ix]) - a->z;
		}
	return rounded(sum, a, y, count);
}

/*
 * The ways to write an average: a pool between DequantizeLinear and QuantizeLinear, one QLinear operator, or the first with a Flatten
 * behind the pool.
 */
enum written { BETWEEN, QLINEAR, FLATTENED, N_WRITTEN };

static void build_pool(struct ob *model, const struct pool *p, const struct q *a, const struct q *y, enum written how)
{
	static const int64_t shape[4] = { 1, C, H, W };
	int64_t out[4] = { 1, C, p->out[0], p->out[1] }, flat[2] = { 1, C * p->out[0] * p->out[1] };
	struct ob g = { 0 }, at = { 0 };

	ob_port(&g, 11, "a", a->type, 4, shape);
	parameters(&g, "sa", "za", a);
	parameters(&g, "sy", "zy", y);
	if (!p->global) {
		ob_attr_ints(&at, "kernel_shape", 2, p->k);
		ob_attr_ints(&at, "strides", 2, p->stride);
		ob_attr_ints(&at, "pads", 4, (int64_t[]){ p->before[0], p->before[1], p->after[0], p->after[1] });
		ob_attr_int(&at, "count_include_pad", p->padding);
		ob_attr_int(&at, "ceil_mode", p->ceil);
	}
	if (how == QLINEAR) {
		ob_text(&at, 7, "com.microsoft");
		ob_node(&g, p->global ? "QLinearGlobalAveragePool" : "QLinearAveragePool", "a sa za sy zy", "y", &at);
	} else {
		ob_node(&g, "DequantizeLinear", "a sa za", "fa", NULL);
		ob_node(&g, p->global ? "GlobalAveragePool" : "AveragePool", "fa", "f", &at);
		if (how == FLATTENED)
			ob_node(&g, "Flatten", "f", "r", NULL);
		ob_node(&g, "QuantizeLinear", how == FLATTENED ? "r sy zy" : "f sy zy", "y", NULL);
	}
	ob_port(&g, 12, "y", y->type, how == FLATTENED ? 2 : 4, how == FLATTENED ? flat : out);
	ob_model(model, &g, 19);
}

static struct pool random_pool(uint64_t *r)
{
	struct pool p = { .global = test_below(r, 3) == 0, .padding = test_below(r, 2), .ceil = test_below(r, 3) == 0 };

	for (int i = 0; i < 2; i++) {
		int64_t in = i ? W : H;
		p.k[i] = p.global ? in : 1 + (int64_t)test_below(r, 3);
		p.stride[i] = p.global ? 1 : 1 + test_below(r, 2);
		p.before[i] = p.global ? 0 : test_below(r, p.k[i]);
		p.after[i] = p.global ? 0 : test_below(r, p.k[i]);
		int64_t room = in + p.before[i] + p.after[i] - p.k[i];
		p.out[i] = (room + (p.ceil ? p.stride[i] - 1 : 0)) / p.stride[i] + 1;
		/* With ceil_mode, a window that would begin in the padding behind the image is left out. */
		p.out[i] -= (p.out[i] - 1) * p.stride[i] >= in + p.before[i];
	}
	p.padding = p.padding && !p.global;
	return p;
}

/* Returns how many operators of this kind the host computes. */
static int on_host(const weft_net *net, const char *kind)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	struct weft_report *r;
	weft_session *s;
	int n = 0;

	o.device = WEFT_DEVICE_MODEL;
	if (weft_session_open(net, &o, &s, msg) || weft_session_plan(s, &r, msg))
		fail_msg("%s", msg);
	for (int i = 0; i < r->n_ops; i++)
		n += r->ops[i].unit == WEFT_RUN_HOST && strstr(r->ops[i].op, kind);
	weft_report_free(r);
	weft_session_close(s);
	return n;
}

/* At one scale the device has a form of each, whatever the counts: of 6 x 6, or at edges of two, four or six elements. */
static void averages(void **state)
{
	long n = test_count(150, 600, 15000), host = 0;
	uint64_t first = test_seed(1);

	(void)state;
	for (long i = 0; i < n; i++) {
		uint8_t xa[N], *x[1] = { xa };
		uint64_t r = first + (uint64_t)i;
		struct ob model = { 0 };
		weft_tensor y = { 0 };

		test_random(&r);
		struct q qa = scale(&r), qy = test_below(&r, 2) ? qa : scale(&r);
		struct pool p = random_pool(&r);
		fill(xa, N, &r);
		enum written how = (enum written)(i % N_WRITTEN);
		build_pool(&model, &p, &qa, &qy, how);
		weft_net *net = load(&model, (long)first + i);
		if (qa.s == qy.s && on_host(net, "Average"))
			fail_msg("seed %ld: on the host", (long)first + i);
		host += on_host(net, "Average") != 0;
		for (int d = WEFT_DEVICE_GOLDEN; d <= WEFT_DEVICE_MODEL; d++) {
			run(net, (enum weft_device)d, x, &y, (long)first + i);
			for (int64_t e = 0; e < weft_tensor_elements(&y); e++) {
				int64_t ox = e % p.out[1], oy = e / p.out[1] % p.out[0], c = e / p.out[1] / p.out[0];
				int want = average(&p, how == QLINEAR, xa, &qa, &qy, (int)c, oy, ox);
				if (want != tensor_get(&y, e))
					fail_msg("seed %ld device %d element %lld: %d, not %d", (long)first + i, d, (long long)e, (int)tensor_get(&y, e), want);
			}
			weft_tensor_release(&y);
		}
		weft_net_free(net);
	}
	print_message("%ld of %ld on the host\n", host, n);
	assert_in_range(host, 0, n / 60);
}

/* ---- functions of each channel ---- */

/* The device computes nearly all of these functions. random_graphs() compares their codes with those of the float operators. */
static void functions_of_channels(void **state)
{
	long n = test_count(60, 200, 2000), host = 0;
	uint64_t first = test_seed(1);

	(void)state;
	for (long i = 0; i < n; i++) {
		uint64_t r = first + (uint64_t)i;
		struct ob model = { 0 };

		test_random(&r);
		struct q a = scale(&r), y = scale(&r);
		const char *kind = kinds[KINDS - 1 - i % 6];
		const char op[] = { kind[0], kind[1], kind[2], 0 };
		build(&model, kind, &a, &a, &y, r, false);
		weft_net *net = load(&model, (long)first + i);
		host += on_host(net, op) != 0;
		weft_net_free(net);
	}
	print_message("%ld of %ld on the host\n", host, n);
	assert_in_range(host, 0, n / 60);
}

/* ---- QLinearSigmoid and its kin, against the operators of which they are made ---- */

static const char *const made_of[] = { "Sigmoid", "LeakyRelu", "Softmax", "Concat" };

static void build_twin(struct ob *model, int kind, const struct q *a, const struct q *b, const struct q *y, bool apart)
{
	static const int64_t shape[4] = { 1, C, H, W };
	int64_t out[4] = { 1, kind == 3 ? 2 * C : C, H, W };
	struct ob g = { 0 }, n = { 0 };
	char name[32];

	ob_port(&g, 11, "a", a->type, 4, shape);
	ob_port(&g, 11, "b", b->type, 4, shape);
	parameters(&g, "sa", "za", a);
	parameters(&g, "sb", "zb", b);
	parameters(&g, "sy", "zy", y);
	if (apart) {
		ob_node(&g, "DequantizeLinear", "a sa za", "fa", NULL);
		ob_node(&g, "DequantizeLinear", "b sb zb", "fb", NULL);
		if (kind > 1)
			ob_attr_int(&n, "axis", 1);
		ob_node(&g, made_of[kind], kind == 3 ? "fa fb" : "fa", "f", kind > 1 ? &n : NULL);
		ob_node(&g, "QuantizeLinear", "f sy zy", "y", NULL);
		ob_port(&g, 12, "y", y->type, 4, out);
		ob_port(&g, 12, "f", 1, 4, out);
	} else {
		snprintf(name, sizeof name, "QLinear%s", made_of[kind]);
		ob_text(&n, 7, "com.microsoft");
		if (kind > 1)
			ob_attr_int(&n, "axis", 1);
		ob_node(&g, name, kind == 3 ? "sy zy a sa za b sb zb" : "a sa za sy zy", "y", &n);
		ob_port(&g, 12, "y", y->type, 4, out);
	}
	ob_model(model, &g, 19);
}

static void qlinear_twins(void **state)
{
	long n = test_count(48, 200, 4000);
	uint64_t first = test_seed(1);

	(void)state;
	for (long i = 0; i < n; i++) {
		uint8_t xa[N], xb[N], *x[2] = { xa, xb };
		uint64_t r = first + (uint64_t)i;
		weft_tensor want[2] = { 0 }, got[1] = { 0 };
		struct ob plain = { 0 }, apart = { 0 };

		test_random(&r);
		struct q a = scale(&r), b = scale(&r), y = scale(&r);
		y.type = b.type = a.type;
		fill(xa, N, &r);
		fill(xb, N, &r);
		build_twin(&plain, (int)(i % 4), &a, &b, &y, false);
		build_twin(&apart, (int)(i % 4), &a, &b, &y, true);
		weft_net *whole = load(&apart, (long)first + i), *twin = load(&plain, (long)first + i);
		run(whole, WEFT_DEVICE_GOLDEN, x, want, (long)first + i);
		for (int d = WEFT_DEVICE_GOLDEN; d <= WEFT_DEVICE_MODEL; d++) {
			run(twin, (enum weft_device)d, x, got, (long)first + i);
			assert_int_equal(weft_tensor_bytes(&got[0]), weft_tensor_bytes(&want[0]));
			if (memcmp(got[0].data, want[0].data, weft_tensor_bytes(&got[0])))
				fail_msg("seed %ld QLinear%s device %d differs", (long)first + i, made_of[i % 4], d);
			weft_tensor_release(&got[0]);
		}
		for (int k = 0; k < 2; k++)
			weft_tensor_release(&want[k]);
		weft_net_free(whole);
		weft_net_free(twin);
	}
}

/* ---- ConvTranspose, against QLinearConv of the image with zeros between its elements ---- */

enum { OC = 3, MOST_K = 4, MOST_STRIDE = 3 };

struct transposed {
	struct q x, y;
	bool by_channel;
	float w_scale[OC], bias_scale[OC];
	int32_t bias[OC];
	int8_t w[C * OC * MOST_K * MOST_K];
	int64_t k[2], stride[2], pads[4], grow[2], out[2];
};

static struct transposed random_transposed(uint64_t *r)
{
	struct transposed t = { .x = scale(r), .y = scale(r), .by_channel = test_below(r, 2) };

	for (int i = 0; i < OC; i++) {
		t.w_scale[i] = i && !t.by_channel ? t.w_scale[0] : 0.003f + (float)test_below(r, 1 << 20) / (1 << 26);
		t.bias_scale[i] = t.x.s * t.w_scale[i];
		t.bias[i] = (int32_t)test_below(r, 20001) - 10000;
	}
	for (int d = 0; d < 2; d++) {
		t.k[d] = 1 + test_below(r, MOST_K);
		t.stride[d] = 1 + test_below(r, MOST_STRIDE);
		t.pads[d] = test_below(r, t.k[d]);
		t.pads[2 + d] = test_below(r, t.k[d]);
		t.grow[d] = test_below(r, t.stride[d]);
		t.out[d] = ((d ? W : H) - 1) * t.stride[d] + t.k[d] + t.grow[d] - t.pads[d] - t.pads[2 + d];
	}
	fill((uint8_t *)t.w, (int)sizeof t.w, r);
	return t;
}

static void product_parameters(struct ob *g, const struct transposed *t)
{
	static const int64_t oc = OC;
	const int8_t zero = 0;

	parameters(g, "sa", "za", &t->x);
	parameters(g, "sy", "zy", &t->y);
	ob_tensor(g, "sw", 1, t->by_channel, &oc, t->w_scale, t->by_channel ? sizeof t->w_scale : 4);
	ob_tensor(g, "zw", 3, 0, NULL, &zero, 1);
	ob_tensor(g, "bias", 6, 1, &oc, t->bias, sizeof t->bias);
}

static void build_transposed(struct ob *model, const struct transposed *t)
{
	const int64_t shape[4] = { 1, C, H, W }, out[4] = { 1, OC, t->out[0], t->out[1] }, dim[4] = { C, OC, t->k[0], t->k[1] }, oc = OC;
	struct ob g = { 0 }, a = { 0 };

	ob_port(&g, 11, "a", t->x.type, 4, shape);
	product_parameters(&g, t);
	ob_tensor(&g, "w", 3, 4, dim, t->w, (size_t)(C * OC * t->k[0] * t->k[1]));
	ob_tensor(&g, "sb", 1, t->by_channel, &oc, t->bias_scale, t->by_channel ? sizeof t->bias_scale : 4);
	ob_node(&g, "DequantizeLinear", "a sa za", "fa", NULL);
	ob_attr_int(&a, "axis", 1);
	ob_node(&g, "DequantizeLinear", "w sw", "fw", &a);
	ob_attr_int(&a, "axis", 0);
	ob_node(&g, "DequantizeLinear", "bias sb", "fb", &a);
	ob_attr_ints(&a, "strides", 2, t->stride);
	ob_attr_ints(&a, "pads", 4, t->pads);
	ob_attr_ints(&a, "output_padding", 2, t->grow);
	ob_node(&g, "ConvTranspose", "fa fw fb", "f", &a);
	ob_node(&g, "QuantizeLinear", "f sy zy", "y", NULL);
	ob_port(&g, 12, "y", t->y.type, 4, out);
	ob_model(model, &g, 19);
}

/* The kernel backwards, channels exchanged. */
static void build_stuffed(struct ob *model, const struct transposed *t, const int64_t in[2])
{
	const int64_t shape[4] = { 1, C, in[0], in[1] }, out[4] = { 1, OC, t->out[0], t->out[1] }, dim[4] = { OC, C, t->k[0], t->k[1] };
	const int64_t pads[4] = { t->k[0] - 1 - t->pads[0], t->k[1] - 1 - t->pads[1], t->k[0] - 1 - t->pads[2] + t->grow[0],
	                          t->k[1] - 1 - t->pads[3] + t->grow[1] }, taps = t->k[0] * t->k[1];
	int8_t w[sizeof t->w];
	struct ob g = { 0 }, n = { 0 };

	for (int64_t c = 0; c < C; c++)
		for (int64_t m = 0; m < OC; m++)
			for (int64_t i = 0; i < taps; i++)
				w[(m * C + c) * taps + taps - 1 - i] = t->w[(c * OC + m) * taps + i];
	ob_port(&g, 11, "a", t->x.type, 4, shape);
	product_parameters(&g, t);
	ob_tensor(&g, "w", 3, 4, dim, w, (size_t)(C * OC * taps));
	ob_attr_ints(&n, "pads", 4, pads);
	ob_node(&g, "QLinearConv", "a sa za w sw zw sy zy bias", "y", &n);
	ob_port(&g, 12, "y", t->y.type, 4, out);
	ob_model(model, &g, 19);
}

static void conv_transpose(void **state)
{
	enum { MOST = C * (H * MOST_STRIDE) * (W * MOST_STRIDE) };
	long n = test_count(60, 300, 5000);
	uint64_t first = test_seed(1);

	(void)state;
	for (long i = 0; i < n; i++) {
		uint64_t r = first + (uint64_t)i;
		uint8_t x[N], wide[MOST], *in[1] = { x }, *in_wide[1] = { wide };
		struct ob plain = { 0 }, stuffed = { 0 };
		weft_tensor want[1] = { 0 }, got[1] = { 0 };

		test_random(&r);
		struct transposed t = random_transposed(&r);
		if (t.out[0] < 1 || t.out[1] < 1)
			continue;
		fill(x, N, &r);
		int64_t h = (H - 1) * t.stride[0] + 1, w = (W - 1) * t.stride[1] + 1;
		memset(wide, t.x.z, sizeof wide);
		for (int c = 0; c < C; c++)
			for (int y = 0; y < H; y++)
				for (int e = 0; e < W; e++)
					wide[(c * h + y * t.stride[0]) * w + e * t.stride[1]] = x[(c * H + y) * W + e];
		build_transposed(&plain, &t);
		build_stuffed(&stuffed, &t, (int64_t[]){ h, w });
		weft_net *a = load(&plain, (long)first + i), *b = load(&stuffed, (long)first + i);
		run(b, WEFT_DEVICE_GOLDEN, in_wide, want, (long)first + i);
		for (int d = WEFT_DEVICE_GOLDEN; d <= WEFT_DEVICE_MODEL; d++) {
			run(a, (enum weft_device)d, in, got, (long)first + i);
			assert_int_equal(weft_tensor_bytes(&got[0]), weft_tensor_bytes(&want[0]));
			if (memcmp(got[0].data, want[0].data, weft_tensor_bytes(&got[0])))
				fail_msg("seed %ld ConvTranspose device %d differs", (long)first + i, d);
			weft_tensor_release(&got[0]);
		}
		weft_tensor_release(&want[0]);
		weft_net_free(a);
		weft_net_free(b);
	}
}

/* ---- MatMul of two tensors, against QLinearMatMul ---- */

static void build_matmul(struct ob *model, const struct q *a, const struct q *b, const struct q *y, bool qdq)
{
	static const int64_t shape[4] = { 1, C, H, W }, out[4] = { 1, C, H, H }, perm[4] = { 0, 1, 3, 2 };
	struct ob g = { 0 }, at = { 0 };

	ob_port(&g, 11, "a", a->type, 4, shape);
	ob_port(&g, 11, "b", b->type, 4, shape);
	parameters(&g, "sa", "za", a);
	parameters(&g, "sb", "zb", b);
	parameters(&g, "sy", "zy", y);
	ob_attr_ints(&at, "perm", 4, perm);
	if (qdq) {
		ob_node(&g, "DequantizeLinear", "a sa za", "fa", NULL);
		ob_node(&g, "DequantizeLinear", "b sb zb", "fb", NULL);
		ob_node(&g, "Transpose", "fb", "ft", &at);
		ob_node(&g, "MatMul", "fa ft", "f", NULL);
		ob_node(&g, "QuantizeLinear", "f sy zy", "y", NULL);
	} else {
		ob_node(&g, "Transpose", "b", "t", &at);
		ob_node(&g, "QLinearMatMul", "a sa za t sb zb sy zy", "y", NULL);
	}
	ob_port(&g, 12, "y", y->type, 4, out);
	ob_model(model, &g, 19);
}

/* A double holds the sum times the scales well enough: other than powers of two they do not tie. */
static int product_of(const struct q *a, const struct q *b, const struct q *y, const uint8_t *xa, const uint8_t *xb)
{
	int lo = y->type == 3 ? -128 : 0, sum = 0;

	for (int k = 0; k < W; k++)
		sum += ((a->type == 3 ? (int8_t)xa[k] : xa[k]) - a->z) * ((b->type == 3 ? (int8_t)xb[k] : xb[k]) - b->z);
	double v = rint((double)sum * (double)a->s * (double)b->s / (double)y->s) + y->z;
	return v < lo ? lo : v > lo + 255 ? lo + 255 : (int)v;
}

static void matmul_of_tensors(void **state)
{
	long n = test_count(40, 200, 4000);
	uint64_t first = test_seed(1);

	(void)state;
	for (long i = 0; i < n; i++) {
		uint8_t xa[N], xb[N], *x[2] = { xa, xb };
		uint64_t r = first + (uint64_t)i;
		weft_tensor y[1] = { 0 };

		test_random(&r);
		struct q a = scale(&r), b = scale(&r), q = scale(&r);
		q.s *= 16;
		fill(xa, N, &r);
		fill(xb, N, &r);
		for (int form = 0; form < 4; form++) {
			struct ob m = { 0 };
			build_matmul(&m, &a, &b, &q, form & 1);
			weft_net *net = load(&m, (long)first + i);
			run(net, form & 2 ? WEFT_DEVICE_MODEL : WEFT_DEVICE_GOLDEN, x, y, (long)first + i);
			assert_int_equal(weft_tensor_elements(&y[0]), C * H * H);
			for (int e = 0; e < C * H * H; e++) {
				int c = e / (H * H), row = e / H % H, column = e % H;
				int want = product_of(&a, &b, &q, xa + (c * H + row) * W, xb + (c * H + column) * W);
				if (tensor_get(&y[0], e) != want)
					fail_msg("seed %ld form %d element %d: %d, not %d", (long)first + i, form, e, (int)tensor_get(&y[0], e), want);
			}
			weft_tensor_release(&y[0]);
			weft_net_free(net);
		}
	}
}

/* A batch of -1 is an open one, and Range of constants is a constant. */
static void open_batch_and_range(void **state)
{
	static const int64_t shape[2] = { -1, 4 }, out[2] = { 1, 4 }, zero = 0, four = 4, one = 1;
	float x[4] = { 0.5f, 0.5f, 0.5f, 0.5f };
	uint8_t *in[1] = { (uint8_t *)x };
	weft_tensor y[1] = { 0 };
	struct ob g = { 0 }, m = { 0 }, a = { 0 };

	(void)state;
	ob_port(&g, 11, "a", 1, 2, shape);
	ob_tensor(&g, "zero", 7, 0, NULL, &zero, 8);
	ob_tensor(&g, "four", 7, 0, NULL, &four, 8);
	ob_tensor(&g, "one", 7, 0, NULL, &one, 8);
	ob_node(&g, "Range", "zero four one", "r", NULL);
	ob_attr_int(&a, "to", 1);
	ob_node(&g, "Cast", "r", "f", &a);
	ob_node(&g, "Add", "a f", "y", NULL);
	ob_port(&g, 12, "y", 1, 2, out);
	ob_model(&m, &g, 19);
	weft_net *net = load(&m, 0);
	run(net, WEFT_DEVICE_GOLDEN, in, y, 0);
	assert_int_equal(weft_tensor_elements(&y[0]), 4);
	for (int i = 0; i < 4; i++)
		assert_true(((const float *)y[0].data)[i] == 0.5f + (float)i);
	weft_tensor_release(&y[0]);
	weft_net_free(net);
}

/*
 * Quantised on the host, averaged by the device, dequantised on the host and turned by the device:
 * all that the host does is at the network's edge.
 */
static void strict_edges(void **state)
{
	static const int64_t shape[4] = { 1, C, H, W }, out[4] = { 1, C, H - 1, W - 1 };
	struct weft_session_options o = weft_session_options_default();
	struct q q = { 0.05f, 120, 2 };
	struct ob g = { 0 }, m = { 0 }, at = { 0 };
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s;

	(void)state;
	ob_attr_ints(&at, "kernel_shape", 2, (int64_t[]){ 2, 2 });
	ob_port(&g, 11, "a", 1, 4, shape);
	parameters(&g, "s", "z", &q);
	ob_node(&g, "QuantizeLinear", "a s z", "qa", NULL);
	ob_node(&g, "DequantizeLinear", "qa s z", "fa", NULL);
	ob_node(&g, "AveragePool", "fa", "f", &at);
	ob_node(&g, "QuantizeLinear", "f s z", "qf", NULL);
	ob_node(&g, "DequantizeLinear", "qf s z", "y", NULL);
	ob_port(&g, 12, "y", 1, 4, out);
	ob_model(&m, &g, 19);
	weft_net *net = load(&m, 0);
	o.device = WEFT_DEVICE_MODEL;
	o.strict = true;
	if (weft_session_open(net, &o, &s, msg))
		fail_msg("%s", msg);
	weft_session_close(s);
	weft_net_free(net);
}

/*
 * One DequantizeLinear's scale is the result of a second, whose axis does not exist. The error's line names the
 * second one, although the importer looks at it only to get the first one's scale.
 */
static void names_the_scale_that_fails(void **state)
{
	static const int64_t shape[2] = { 2, 3 }, one = 1, two = 2;
	struct ob g = { 0 }, m = { 0 }, at = { 0 };
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net;

	(void)state;
	ob_attr_int(&at, "axis", 7);
	ob_port(&g, 11, "x", 3, 2, shape);
	ob_tensor(&g, "c", 3, 1, &one, (int8_t[]){ 3 }, 1);
	ob_tensor(&g, "cs", 1, 1, &two, (float[]){ 0.5f, 0.25f }, 8);
	ob_tensor(&g, "cz", 3, 1, &two, (int8_t[]){ 0, 0 }, 2);
	ob_node(&g, "DequantizeLinear", "c cs cz", "s", &at);
	ob_node(&g, "DequantizeLinear", "x s", "d", NULL);
	ob_node(&g, "Relu", "d", "y", NULL);
	ob_port(&g, 12, "y", 1, 2, shape);
	ob_model(&m, &g, 19);
	assert_true(weft_net_load(m.p, m.n, "qdq", &net, msg) < 0);
	if (!strstr(msg, "node 0 DequantizeLinear"))
		fail_msg("\"%s\" does not name node 0", msg);
	free(m.p);
}

/* What the networks of the tests above gave while memory ended. */
static void no_memory(void **state)
{
	(void)state;
	short_of_memory_judge(&shortage, test_in_part() ? 200 : 500);
}

/*
 * A bias of 5 with one scale or one element, where each output channel's weights have a scale of their own: 5, -3.5 by
 * 0.3, 0.8 and 5 more, in steps of 0.13. A fold that takes the first channel's scale for all adds 10 to the second.
 */
static void bias_of_one_scale(void **state)
{
	static const struct { const char *what; bool gemm, floats; int64_t n; } cases[] = {
		{ "Conv, one scale", false, false, 2 }, { "Gemm, one element", true, false, 1 }, { "Gemm, one float", true, true, 1 },
	};
	static const int64_t image[4] = { 1, 1, 1, 2 }, kernel[4] = { 2, 1, 1, 1 }, rows[2] = { 2, 1 }, columns[2] = { 1, 2 }, two = 2;
	static const int64_t made[4] = { 1, 2, 1, 2 }, product[2] = { 2, 2 };
	static const int8_t w[2] = { 3, 4 }, by_channel[4] = { 50, 30, 69, 17 }, by_row[4] = { 50, 69, 30, 17 };
	static const float w_scale[2] = { 0.1f, 0.2f }, bias_scale = 0.05f, five = 5;
	static const int32_t bias[2] = { 100, 100 };
	int8_t x[2] = { 10, -7 };
	uint8_t *in[1] = { (uint8_t *)x };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const bool gemm = cases[i].gemm;
		struct weft_load_options o = weft_load_options_default();
		struct ob g = { 0 }, a = { 0 }, model = { 0 };
		weft_tensor y[1] = { 0 };
		char msg[WEFT_MSG_LEN] = "";
		weft_net *net;

		o.requant_rescale = cases[i].floats;
		ob_port(&g, 11, "a", 3, gemm ? 2 : 4, gemm ? rows : image);
		parameters(&g, "sa", "za", &(struct q){ .s = 0.5f, .type = 3 });
		parameters(&g, "sy", "zy", &(struct q){ .s = 0.13f, .type = 3 });
		ob_tensor(&g, "w", 3, gemm ? 2 : 4, gemm ? columns : kernel, w, sizeof w);
		ob_tensor(&g, "sw", 1, 1, &two, w_scale, sizeof w_scale);
		number(&g, "sb", bias_scale);
		if (cases[i].floats)
			ob_tensor(&g, "fb", 1, 1, &cases[i].n, &five, sizeof five);
		else
			ob_tensor(&g, "b", 6, 1, &cases[i].n, bias, (size_t)cases[i].n * 4);
		ob_node(&g, "DequantizeLinear", "a sa za", "fa", NULL);
		ob_attr_int(&a, "axis", gemm ? 1 : 0);
		ob_node(&g, "DequantizeLinear", "w sw", "fw", &a);
		if (!cases[i].floats)
			ob_node(&g, "DequantizeLinear", "b sb", "fb", NULL);
		ob_node(&g, gemm ? "Gemm" : "Conv", "fa fw fb", "f", NULL);
		ob_node(&g, "QuantizeLinear", "f sy zy", "y", NULL);
		ob_port(&g, 12, "y", 3, gemm ? 2 : 4, gemm ? product : made);
		ob_model(&model, &g, 19);
		if (weft_net_load_with(model.p, model.n, "bias", &o, &net, msg))
			fail_msg("%s: %s", cases[i].what, msg);
		run(net, WEFT_DEVICE_GOLDEN, in, y, (long)i);
		if (memcmp(y[0].data, gemm ? by_row : by_channel, 4))
			fail_msg("%s: %d %d %d %d", cases[i].what, ((int8_t *)y[0].data)[0], ((int8_t *)y[0].data)[1], ((int8_t *)y[0].data)[2],
			         ((int8_t *)y[0].data)[3]);
		weft_tensor_release(&y[0]);
		weft_net_free(net);
		free(model.p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(random_graphs), cmocka_unit_test(averages), cmocka_unit_test(functions_of_channels), cmocka_unit_test(qlinear_twins),
	                                    cmocka_unit_test(conv_transpose), cmocka_unit_test(matmul_of_tensors), cmocka_unit_test(open_batch_and_range),
	                                    cmocka_unit_test(names_the_scale_that_fails), cmocka_unit_test(bias_of_one_scale),
	                                    cmocka_unit_test(strict_edges), cmocka_unit_test(no_memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
