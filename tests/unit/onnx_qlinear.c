/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QLinearConv against a plain loop over ONNX's definition: types, zero points
 * and scales per tensor and per channel, bias, groups, pads, auto_pad, strides
 * that do not divide, dilations, 1 to 3 dimensions; parameters constant, so
 * that RESCALE and the array take part, and as inputs. On golden and on the
 * functional model. Ties: scales have few bits in every third case. And QLinearAdd of operands of different ranks.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include <weft/weft.h>

#include "../support/level.h"
#include "../support/onnx_build.h"
#include "../support/short_of_memory.h"
#include "../support/tensors.h"
#include "userlib/export/tosa.h"
#include "userlib/run/internal.h"

struct conv {
	int n, x_type, w_type, y_type;         /* spatial dimensions; ONNX's 2: uint8, 3: int8 */
	int64_t batch, in[3], k[3], stride[3], dil[3], before[3], after[3], out[3];
	int64_t group, icg, ocg;
	int auto_pad;                          /* 0: pads; 1: VALID, 2: SAME_UPPER, 3: SAME_LOWER */
	bool kernel_given, channel_scale, channel_zp, bias, runtime;
	float xs, ys, ws[16];
	int xz, yz, wz[16];
	int32_t b[16];
	int x[4096], w[32768];
};

static const char *const pads[] = { "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER" };

static int value(uint64_t *r, int type)
{
	return (int)(test_random(r) & 255) - (type == 3 ? 128 : 0);
}

static float scale(uint64_t *r, bool power)
{
	float s = 1 + (float)test_below(r, 1 << 23) / (1 << 23);

	static const float few[] = { 1, 1, 1.5f, 1.25f, 1.75f };

	return ldexpf(power ? few[test_below(r, 5)] : s, -(int)test_below(r, 3));
}

static bool window(struct conv *c, int i)
{
	int64_t reach = (c->k[i] - 1) * c->dil[i] + 1;

	if (c->auto_pad >= 2) {
		c->out[i] = (c->in[i] + c->stride[i] - 1) / c->stride[i];
		int64_t p = (c->out[i] - 1) * c->stride[i] + reach - c->in[i];
		p = p < 0 ? 0 : p;
		c->before[i] = c->auto_pad == 2 ? p / 2 : p - p / 2;
		c->after[i] = p - c->before[i];
		return true;
	}
	if (c->auto_pad == 1)
		c->before[i] = c->after[i] = 0;
	int64_t span = c->in[i] + c->before[i] + c->after[i] - reach;
	c->out[i] = span / c->stride[i] + 1;
	return span >= 0;
}

static bool make(struct conv *c, uint64_t *r)
{
	bool power = test_below(r, 3) == 0;

	*c = (struct conv){ .n = 1 + (int)test_below(r, 3), .x_type = 2 + (int)test_below(r, 2), .w_type = 2 + (int)test_below(r, 2),
		.y_type = 2 + (int)test_below(r, 2), .batch = 1 + test_below(r, 2), .group = 1 + test_below(r, 3), .icg = 1 + test_below(r, 3),
		.ocg = 1 + test_below(r, 3), .auto_pad = (int)test_below(r, 4), .kernel_given = test_below(r, 2), .channel_scale = test_below(r, 2),
		.channel_zp = test_below(r, 2), .bias = test_below(r, 2), .runtime = test_below(r, 3) == 0 };
	for (int i = 0; i < 3; i++) {
		bool used = i < c->n;
		c->in[i] = used ? 1 + test_below(r, c->n == 3 ? 4 : 7) : 1;
		c->k[i] = used ? 1 + test_below(r, 3) : 1;
		c->stride[i] = used ? 1 + test_below(r, 3) : 1;
		c->dil[i] = used ? 1 + test_below(r, 2) : 1;
		c->before[i] = used ? test_below(r, 3) : 0;
		c->after[i] = used ? test_below(r, 3) : 0;
		if (!window(c, i))
			return false;
	}
	c->xs = scale(r, power);
	c->ys = scale(r, power) * ldexpf(1, 4 + (int)test_below(r, 5));
	c->xz = value(r, c->x_type);
	c->yz = value(r, c->y_type);
	for (int i = 0; i < 16; i++) {
		c->ws[i] = i && !c->channel_scale ? c->ws[0] : scale(r, power);
		c->wz[i] = i && !c->channel_zp ? c->wz[0] : test_below(r, 2) ? value(r, c->w_type) : c->w_type == 2 ? 128 : 0;
		c->b[i] = (int32_t)test_below(r, 100000) - 50000;
	}
	for (int i = 0; i < 4096; i++)
		c->x[i] = value(r, c->x_type);
	for (int i = 0; i < 8192; i++)
		c->w[i] = value(r, c->w_type);
	return true;
}

/* ---- the definition ---- */

static int64_t sum(const struct conv *c, int64_t b, int64_t o, const int64_t *at)
{
	int64_t acc = c->bias ? c->b[o] : 0, k[3];

	for (int64_t i = 0; i < c->icg; i++) {
		for (k[0] = 0; k[0] < c->k[0]; k[0]++)
			for (k[1] = 0; k[1] < c->k[1]; k[1]++)
				for (k[2] = 0; k[2] < c->k[2]; k[2]++) {
					int64_t ix = b * c->group * c->icg + o / c->ocg * c->icg + i, iw = o * c->icg + i;
					bool inside = true;

					for (int d = 0; d < 3; d++) {
						int64_t p = at[d] * c->stride[d] - c->before[d] + k[d] * c->dil[d];
						inside = inside && p >= 0 && p < c->in[d];
						ix = ix * c->in[d] + p;
						iw = iw * c->k[d] + k[d];
					}
					if (inside)
						acc += (int64_t)(c->x[ix] - c->xz) * (c->w[iw] - c->wz[o]);
				}
	}
	return acc;
}

/* long double holds sum * a * b exactly here (17 + 24 + 24 bits at most 65 needs care): ratio of exact products. */
static int quantised(const struct conv *c, int64_t acc, int64_t o)
{
	int ea, eb, ey;
	int64_t a = (int64_t)ldexp(frexp((double)c->xs, &ea), 24), b = (int64_t)ldexp(frexp((double)c->ws[o], &eb), 24);
	int64_t y = (int64_t)ldexp(frexp((double)c->ys, &ey), 24);
	__int128 num = (__int128)acc * a * b, den = y;
	int e = ea + eb - ey - 24;

	if (e < 0)
		den <<= -e;
	else
		num <<= e;
	__int128 q = num / den, rest = num % den;
	if (rest < 0) {
		q--;
		rest += den;
	}
	if (2 * rest > den || (2 * rest == den && (q & 1)))
		q++;
	q += c->yz;
	int lo = c->y_type == 3 ? -128 : 0;
	return q < lo ? lo : q > lo + 255 ? lo + 255 : (int)q;
}

/* ---- the model ---- */

static void param(struct ob *g, const struct conv *c, const char *name, int type, int rank, const int64_t *dim, const void *p, size_t n)
{
	if (c->runtime)
		ob_port(g, 11, name, type, rank, dim);
	else
		ob_tensor(g, name, type, rank, dim, p, n);
}

struct params { uint8_t w[32768], xz, yz, wz[16]; int64_t wdim[5], n_w, oc; };

static void bytes(const struct conv *c, struct params *p)
{
	p->oc = c->group * c->ocg;
	p->wdim[0] = p->oc;
	p->wdim[1] = c->icg;
	p->n_w = p->oc * c->icg;
	for (int i = 0; i < c->n; i++) {
		p->wdim[2 + i] = c->k[i];
		p->n_w *= c->k[i];
	}
	for (int64_t i = 0; i < p->n_w; i++)
		p->w[i] = (uint8_t)c->w[i];
	p->xz = (uint8_t)c->xz;
	p->yz = (uint8_t)c->yz;
	for (int i = 0; i < 16; i++)
		p->wz[i] = (uint8_t)c->wz[i];
}

static void attributes(struct ob *node, const struct conv *c)
{
	int64_t v[6];

	if (c->auto_pad)
		ob_attr_text(node, "auto_pad", pads[c->auto_pad]);
	for (int i = 0; i < c->n; i++) {
		v[i] = c->before[i];
		v[c->n + i] = c->after[i];
	}
	if (!c->auto_pad)
		ob_attr_ints(node, "pads", 2 * c->n, v);
	if (c->kernel_given)
		ob_attr_ints(node, "kernel_shape", c->n, c->k);
	ob_attr_ints(node, "strides", c->n, c->stride);
	ob_attr_ints(node, "dilations", c->n, c->dil);
	ob_attr_int(node, "group", c->group);
}

static void build(struct ob *model, const struct conv *c, const struct params *p)
{
	struct ob g = { 0 }, more = { 0 };
	int64_t dim[5] = { c->batch, c->group * c->icg, c->in[0], c->in[1], c->in[2] };
	int64_t y[5] = { c->batch, p->oc, c->out[0], c->out[1], c->out[2] };

	attributes(&more, c);
	ob_node(&g, "QLinearConv", c->bias ? "x xs xz w ws wz ys yz b" : "x xs xz w ws wz ys yz", "y", &more);
	ob_port(&g, 11, "x", c->x_type, 2 + c->n, dim);
	param(&g, c, "xs", 1, 0, NULL, &c->xs, 4);
	param(&g, c, "xz", c->x_type, 0, NULL, &p->xz, 1);
	param(&g, c, "w", c->w_type, 2 + c->n, p->wdim, p->w, (size_t)p->n_w);
	param(&g, c, "ws", 1, c->channel_scale, &p->oc, c->ws, c->channel_scale ? (size_t)p->oc * 4 : 4);
	param(&g, c, "wz", c->w_type, c->channel_zp, &p->oc, p->wz, c->channel_zp ? (size_t)p->oc : 1);
	param(&g, c, "ys", 1, 0, NULL, &c->ys, 4);
	param(&g, c, "yz", c->y_type, 0, NULL, &p->yz, 1);
	if (c->bias)
		param(&g, c, "b", 6, 1, &p->oc, c->b, (size_t)p->oc * 4);
	ob_port(&g, 12, "y", c->y_type, 2 + c->n, y);
	ob_model(model, &g, 10);
}

static void fill(weft_tensor *t, const char *name, const struct conv *c, struct params *p, uint8_t *x)
{
	const struct { const char *name; const void *p; } all[] = {
		{ "x", x }, { "xs", &c->xs }, { "xz", &p->xz }, { "w", p->w }, { "ws", c->ws }, { "wz", p->wz }, { "ys", &c->ys },
		{ "yz", &p->yz }, { "b", c->b },
	};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (!strcmp(all[i].name, name))
			t->data = (void *)(uintptr_t)all[i].p;
}

static void compare(const struct conv *c, const struct params *p, const weft_tensor *y, long id, int device)
{
	int64_t at[3], i = 0;

	for (int64_t b = 0; b < c->batch; b++)
		for (int64_t o = 0; o < p->oc; o++)
			for (at[0] = 0; at[0] < c->out[0]; at[0]++)
				for (at[1] = 0; at[1] < c->out[1]; at[1]++)
					for (at[2] = 0; at[2] < c->out[2]; at[2]++, i++) {
						int want = quantised(c, sum(c, b, o, at), o), got = (int)tensor_get(y, i);
						if (want != got)
							fail_msg("seed %ld device %d element %lld: %d, not %d", id, device, (long long)i, got, want);
					}
	assert_int_equal(i, weft_tensor_elements(y));
}

/* Of the last network: operators of the host's rounding, RESCALEs with ties to even, and convolutions. */
static int n_requants, n_even, n_convs;

static void count(const weft_graph *g)
{
	n_requants = n_even = n_convs = 0;
	for (int i = 0; i < g->n_ops; i++) {
		n_requants += g->ops[i].op == WEFT_OP_ONNX_REQUANT;
		n_convs += g->ops[i].op == WEFT_OP_CONV2D;
		n_even += g->ops[i].op == WEFT_OP_RESCALE && g->ops[i].attr.rescale.rounding == WEFT_EVEN_ROUND;
	}
}

/* RESCALE to even is none of TOSA's: CUSTOM in the file, and read back as what it was. */
static void exported(const weft_graph *g, long id)
{
	char custom[WEFT_MSG] = "", msg[WEFT_MSG_LEN] = "";
	const int even = n_even;
	uint8_t *out = NULL;
	weft_net *net = NULL;
	int n_custom = 0;
	size_t len = 0;

	assert_int_equal(weft_export_tosa(g, true, &out, &len, &n_custom, custom, msg), -ENOTSUP);
	if (weft_export_tosa(g, false, &out, &len, &n_custom, custom, msg) || weft_net_load(out, len, "exported", &net, msg))
		fail_msg("seed %ld: %s", id, msg);
	assert_int_equal(n_custom, even);
	assert_string_equal(custom, "RESCALE");
	count(net->g);
	assert_int_equal(n_even, even);
	weft_net_free(net);
	free(out);
}

static struct short_of_memory shortage = { .every = 211 };

static void one(const struct conv *c, long id)
{
	static uint8_t x[4096];
	static struct params p;
	struct ob model = { 0 };
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net = NULL;

	bytes(c, &p);
	for (int i = 0; i < 4096; i++)
		x[i] = (uint8_t)c->x[i];
	build(&model, c, &p);
	if (weft_net_load(model.p, model.n, "qlinear", &net, msg))
		fail_msg("seed %ld: %s", id, msg);
	short_of_memory(&shortage, model.p, model.n, "qlinear", NULL);
	count(net->g);
	if (n_even && !n_requants && c->group == 1 && c->x_type == 3 && c->y_type == 3)
		exported(net->g, id);
	for (int device = WEFT_DEVICE_GOLDEN; device <= WEFT_DEVICE_MODEL; device++) {
		struct weft_session_options o = weft_session_options_default();
		weft_tensor in[9] = { 0 }, y = { 0 };
		struct weft_port port;
		weft_session *s;

		o.device = (enum weft_device)device;
		o.check = device == WEFT_DEVICE_MODEL;
		for (int i = 0; i < weft_net_n_inputs(net); i++) {
			weft_net_input(net, i, &port);
			in[i] = (weft_tensor){ .dtype = port.dtype, .rank = port.rank };
			memcpy(in[i].dim, port.dim, sizeof port.dim);
			fill(&in[i], port.name, c, &p, x);
		}
		if (weft_session_open(net, &o, &s, msg) || weft_session_run(s, in, &y, NULL, msg))
			fail_msg("seed %ld device %d: %s", id, device, msg);
		compare(c, &p, &y, id, device);
		weft_tensor_release(&y);
		weft_session_close(s);
	}
	weft_net_free(net);
	free(model.p);
}

static void random_convs(void **state)
{
	static struct conv c;
	long n = test_count(300, 1500, 30000), done = 0;
	uint64_t first = test_seed(1);

	(void)state;
	for (long i = 0; done < n; i++) {
		uint64_t r = first + (uint64_t)i;

		test_random(&r);
		if (!make(&c, &r)) {
			assert_true(i < 100 * n + 100);
			continue;
		}
		one(&c, (long)first + i);
		done++;
	}
}

/*
 * Large sums. One multiplier holds the ratio of two scales of few bits; a channel or two tie on both sides of
 * zero. Of other ratios no multiplier rounds as ONNX does in some channels of some networks: where these are one or
 * two of these, they are convolved again, and rounded on the host.
 */
static void large_sums(void **state)
{
	static struct conv c;
	long n = test_count(20, 100, 2000), patched = 0;
	uint64_t first = test_seed(1);

	(void)state;
	for (long i = 0; i < n; i++) {
		uint64_t r = first + (uint64_t)i;
		const bool few = i % 2;

		test_random(&r);
		c = (struct conv){ .n = 2, .x_type = 2 + (int)test_below(&r, 2), .w_type = 3, .y_type = 2 + (int)test_below(&r, 2), .batch = 1,
			.in = { 2, few ? 4 : 1, 1 }, .k = { 1, 1, 1 }, .stride = { 1, 1, 1 }, .dil = { 1, 1, 1 },
			.out = { 2, few ? 4 : 1, 1 }, .group = 1, .icg = few ? 512 : 2048,
			.ocg = 16, .channel_scale = i % 8 != 0, .bias = true };
		c.xs = 1;
		c.ys = few ? 16384 : 65536 * scale(&r, false);
		c.xz = value(&r, c.x_type);
		c.yz = value(&r, c.y_type);
		for (int k = 0; k < 16; k++) {
			c.ws[k] = k && !c.channel_scale ? c.ws[0] : scale(&r, false);
			c.b[k] = (int32_t)test_below(&r, 100000) - 50000;
		}
		for (int k = 0; few && k < 2 && c.channel_scale; k++)
			c.ws[test_below(&r, 16)] = 0.5f;
		for (int k = 0; k < 4096; k++)
			c.x[k] = value(&r, c.x_type);
		for (int k = 0; k < 16 * c.icg; k++)
			c.w[k] = value(&r, c.w_type);
		one(&c, (long)first + i);
		patched += n_convs == 2 && n_requants == 1;
		assert_true(n_convs == 1 || (!few && c.channel_scale && n_requants == 1));
	}
	printf("%ld of %ld with channels computed again\n", patched, n);
	fflush(stdout);
	assert_true(patched > 0);
}

/* Every scale a power of two, or a few odd multiples of one: sums tie in each channel, and yet none is left to the host. */
static void ties(void **state)
{
	static struct conv c;
	long n = test_count(60, 300, 5000), even = 0;
	uint64_t first = test_seed(1);

	(void)state;
	for (long i = 0; i < n; i++) {
		uint64_t r = first + (uint64_t)i;

		test_random(&r);
		if (!make(&c, &r))
			continue;
		c.runtime = false;
		c.xs = ldexpf(1, -(int)test_below(&r, 4));
		c.ys = ldexpf(1, 3 + (int)test_below(&r, 6));
		for (int k = 0; k < 16; k++) {
			c.wz[k] = c.w_type == 2 ? 128 : 0;
			c.ws[k] = k && !c.channel_scale ? c.ws[0] : i % 3 ? scale(&r, true) : ldexpf(1, -(int)test_below(&r, 5));
		}
		one(&c, (long)first + i);
		even += n_even > 0;
		assert_int_equal(n_requants, 0);
	}
	printf("%ld of %ld with ties to even\n", even, n);
	fflush(stdout);
	assert_true(2 * even > n / 2);
}

/* QLinearAdd or QLinearMul of x and y to z: scales and zero points of the three, and the code that all elements of x and y have. */
struct pair { const char *op; float scales[3]; int8_t zeros[3], x, y; };

/* Computes p of two inputs of so many dimensions with golden. Returns the one code that all results are. */
static int code_of(const struct pair *p, int x_rank, int y_rank)
{
	static const int64_t dim[] = { 1, 3, 2 };
	static const char *const names[] = { "xs", "ys", "zs", "xz", "yz", "zz" };
	int8_t codes[2][6];
	struct weft_session_options o = weft_session_options_default();
	weft_tensor in[2] = { { .dtype = WEFT_INT8, .rank = x_rank, .data = codes[0] }, { .dtype = WEFT_INT8, .rank = y_rank, .data = codes[1] } }, z = { 0 };
	struct ob g = { 0 }, more = { 0 }, model = { 0 };
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net = NULL;
	weft_session *s;

	memset(codes[0], p->x, sizeof codes[0]);
	memset(codes[1], p->y, sizeof codes[1]);
	o.device = WEFT_DEVICE_GOLDEN;
	ob_text(&more, 7, "com.microsoft");
	ob_node(&g, p->op, "x xs xz y ys yz zs zz", "z", &more);
	for (int k = 0; k < 2; k++) {
		for (int d = 0; d < WEFT_MAX_RANK; d++)
			in[k].dim[d] = d < in[k].rank ? dim[3 - in[k].rank + d] : 1;
		ob_port(&g, 11, k ? "y" : "x", 3, in[k].rank, in[k].dim);
	}
	for (int k = 0; k < 3; k++) {
		ob_tensor(&g, names[k], 1, 0, NULL, &p->scales[k], 4);
		ob_tensor(&g, names[3 + k], 3, 0, NULL, &p->zeros[k], 1);
	}
	ob_port(&g, 12, "z", 3, x_rank > y_rank ? x_rank : y_rank, dim + 3 - (x_rank > y_rank ? x_rank : y_rank));
	ob_model(&model, &g, 10);
	if (weft_net_load(model.p, model.n, "ranks", &net, msg) || weft_session_open(net, &o, &s, msg) || weft_session_run(s, in, &z, NULL, msg))
		fail_msg("%d and %d dimensions: %s", x_rank, y_rank, msg);
	const int first = *(const int8_t *)z.data;
	for (int64_t i = 0; i < weft_tensor_elements(&z); i++)
		assert_int_equal(((const int8_t *)z.data)[i], first);
	weft_tensor_release(&z);
	weft_session_close(s);
	weft_net_free(net);
	free(model.p);
	return first;
}

/*
 * QLinearAdd has ONNX Runtime 1.31's order of fused additions whatever the ranks of its operands; each operation rounded by itself gives -70.
 */
static void ranks(void **state)
{
	const struct pair p = { "QLinearAdd", { 0.02f, 0.03f, 0.2f }, { 109, 125, -34 }, 24, -55 };

	(void)state;
	for (int x = 1; x <= 3; x++)
		for (int y = 1; y <= 3; y++)
			assert_int_equal(code_of(&p, x, y), -69);
}

/* If a result is too large for int32, infinite or NaN, its code is the lowest one. ONNX Runtime 1.31 gives the same codes on x86. */
static void no_int32(void **state)
{
	static const struct { struct pair p; int code; } c[] = {
		{ { "QLinearAdd", { 1.7e38f, 1e-38f, 0.5f }, { 0, 0, 3 }, 0, 1 }, 3 }, { { "QLinearAdd", { 1.7e38f, 1e-38f, 0.5f }, { 0, 0, 3 }, 1, 1 }, -128 },
		{ { "QLinearAdd", { 3e38f, 3e38f, 1e-30f }, { 0, 0, 3 }, 1, -1 }, -128 }, { { "QLinearMul", { 1.7e38f, 1e38f, 0.5f }, { 0, 0, 3 }, 1, 1 }, -128 },
		{ { "QLinearMul", { 1.7e38f, 1e38f, 0.5f }, { 0, 0, 3 }, 0, 1 }, -128 }, { { "QLinearMul", { 1e9f, 1e4f, 0.5f }, { 0, 0, 3 }, 1, 1 }, -128 },
		{ { "QLinearMul", { 1e2f, 1e4f, 0.5f }, { 0, 0, 3 }, 1, 1 }, 127 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
		const int code = code_of(&c[i].p, 2, 2);

		if (code != c[i].code)
			fail_msg("%s of codes %d and %d, case %zu: %d, not %d", c[i].p.op, c[i].p.x, c[i].p.y, i, code, c[i].code);
	}
}

/* What the networks of the tests above gave while memory ended. */
static void no_memory(void **state)
{
	(void)state;
	short_of_memory_judge(&shortage, test_in_part() ? 100 : 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(random_convs), cmocka_unit_test(large_sums), cmocka_unit_test(ties), cmocka_unit_test(ranks), cmocka_unit_test(no_int32), cmocka_unit_test(no_memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
