/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single operators whose size or shape is awkward: wider than the line buffer,
 * sums that do not fit the scratchpad, strides beyond the kernel, many
 * channels per channel, several images. Of int8 and of int16. And a chain of layers
 * of few pixels, which overlap channel by channel.
 */
#include "tests/unit/compile_run.h"

#include <errno.h>

static uint64_t rng = 99;

static int random_const(weft_graph *g, weft_dtype t, int rank, const int64_t *dim, int lo, int hi)
{
	weft_tensor shape = { .dtype = t, .rank = rank };
	for (int i = 0; i < WEFT_MAX_RANK; i++)
		shape.dim[i] = i < rank ? dim[i] : 1;
	size_t n = (size_t)weft_tensor_elements(&shape);
	uint8_t *p = calloc(n, weft_dtype_bytes(t));
	for (size_t i = 0; i < n; i++) {
		int64_t v = lo + (int64_t)(test_random(&rng) % (uint64_t)(hi - lo + 1));
		if (t == WEFT_INT48)
			((int64_t *)p)[i] = v * 256;
		else if (t == WEFT_INT32)
			((int32_t *)p)[i] = (int32_t)v;
		else if (t == WEFT_INT16)
			((int16_t *)p)[i] = (int16_t)v;
		else
			((int8_t *)p)[i] = (int8_t)v;
	}
	return weft_graph_const(g, "", t, rank, dim, p);
}

static int rescale(weft_graph *g, int x, int64_t channels, int shift, int y_zp)
{
	weft_attr a = { .rescale = { .scale32 = true, .rounding = WEFT_DOUBLE_ROUND, .per_channel = channels > 1, .y_zp = y_zp } };
	int mul = random_const(g, WEFT_INT32, 1, DIMS(channels), 1 << 30, 0x7fffffff);
	int sh = random_const(g, WEFT_INT8, 1, DIMS(channels), shift, shift + 1);
	weft_tensor t = g->tensors[x].t;
	int y = weft_graph_tensor(g, "y", WEFT_INT8, t.rank, t.dim);
	assert_true(weft_graph_op(g, WEFT_OP_RESCALE, &a, -1, (int[]){ x, mul, sh }, 3, &y, 1) >= 0);
	return y;
}

/* Sums of 48 bits to int16. */
static int rescale16(weft_graph *g, int x, int64_t channels, int shift)
{
	weft_attr a = { .rescale = { .rounding = WEFT_SINGLE_ROUND, .per_channel = channels > 1 } };
	int mul = random_const(g, WEFT_INT16, 1, DIMS(channels), 1 << 14, 0x7fff);
	int sh = random_const(g, WEFT_INT8, 1, DIMS(channels), shift, shift + 1);
	weft_tensor t = g->tensors[x].t;
	int y = weft_graph_tensor(g, "y", WEFT_INT16, t.rank, t.dim);
	assert_true(weft_graph_op(g, WEFT_OP_RESCALE, &a, -1, (int[]){ x, mul, sh }, 3, &y, 1) >= 0);
	return y;
}

static void as_output(weft_graph *g, int t)
{
	g->tensors[t].is_output = true;
	g->outputs = malloc(sizeof(int));
	g->outputs[0] = t;
	g->n_outputs = 1;
}

static int input(weft_graph *g, weft_dtype type, const int64_t *dim)
{
	int x = weft_graph_tensor(g, "x", type, 4, dim);
	g->tensors[x].is_input = true;
	g->inputs = malloc(sizeof(int));
	g->inputs[0] = x;
	g->n_inputs = 1;
	return x;
}

struct shape {
	const char *name;
	int64_t n, h, w, c;        /* input */
	int64_t oc;                /* depthwise: multiplier */
	int kh, kw, sy, sx, dy, dx, pad[4];
	bool depthwise;
};

static int64_t extent(int64_t in, int k, int s, int d, int before, int after)
{
	return (in - 1 + before + after - (int64_t)(k - 1) * d) / s + 1;
}

/* The same with as much more padding behind as the strides ask for. */
static struct shape exact(struct shape s)
{
	int64_t y = s.h - 1 + s.pad[0] + s.pad[1] - (int64_t)(s.kh - 1) * s.dy;
	int64_t x = s.w - 1 + s.pad[2] + s.pad[3] - (int64_t)(s.kw - 1) * s.dx;

	s.pad[1] += (int)((s.sy - y % s.sy) % s.sy);
	s.pad[3] += (int)((s.sx - x % s.sx) % s.sx);
	return s;
}

static weft_graph *conv_graph(const struct shape *given, weft_dtype type)
{
	weft_dtype sum = type == WEFT_INT8 ? WEFT_INT32 : WEFT_INT48;
	const struct shape fixed = exact(*given), *s = &fixed;
	weft_graph *g = weft_graph_new(s->name);
	int64_t oh = extent(s->h, s->kh, s->sy, s->dy, s->pad[0], s->pad[1]);
	int64_t ow = extent(s->w, s->kw, s->sx, s->dx, s->pad[2], s->pad[3]);
	int64_t oc = s->depthwise ? s->c * s->oc : s->oc;
	weft_attr a = { .conv = { .pad = { s->pad[0], s->pad[1], s->pad[2], s->pad[3] }, .stride = { s->sy, s->sx },
	                          .dilation = { s->dy, s->dx }, .x_zp = type == WEFT_INT8 ? -7 : 0, .w_zp = 3, .acc = sum } };
	int x = input(g, type, DIMS(s->n, s->h, s->w, s->c));
	int w = s->depthwise ? random_const(g, WEFT_INT8, 4, DIMS(s->kh, s->kw, s->c, s->oc), -128, 127)
	                     : random_const(g, WEFT_INT8, 4, DIMS(s->oc, s->kh, s->kw, s->c), -128, 127);
	int b = random_const(g, sum, 1, DIMS(oc), -100000, 100000);
	int acc = weft_graph_tensor(g, "acc", sum, 4, DIMS(s->n, oh, ow, oc));
	char msg[WEFT_MSG];

	assert_true(weft_graph_op(g, s->depthwise ? WEFT_OP_DEPTHWISE_CONV2D : WEFT_OP_CONV2D, &a, -1,
	                          (int[]){ x, w, b }, 3, &acc, 1) >= 0);
	as_output(g, type == WEFT_INT8 ? rescale(g, acc, oc, 40, 5) : rescale16(g, acc, oc, 24));
	if (weft_graph_check(g, msg))
		fail_msg("%s: %s", s->name, msg);
	return g;
}

static const char *why_not(const weft_graph *g, const struct weft_compile_options *o)
{
	static char text[256];
	char msg[WEFT_MSG];
	weft_program *p;

	assert_int_equal(weft_compile(g, o, &p, msg), 0);
	snprintf(text, sizeof text, "%s", p->ops[0].reason ? p->ops[0].reason : "runs on the device");
	weft_program_free(p);
	return text;
}

static void must_run(weft_graph *g, const char *name, const char *config, uint32_t limit)
{
	struct weft_compile_options o = { .config = config, .sp_limit = limit };
	weft_tensor *in = make_inputs(g, 3);
	char what[160];

	snprintf(what, sizeof what, "%s on %s, %u bytes", name, config, limit);
	if (!compile_run(g, &o, in, what))
		fail_msg("%s: nothing ran on the device: %s", what, why_not(g, &o));
	free_inputs(g, in);
}

static const struct shape shapes[] = {
	{ "wide depthwise", 1, 5, 700, 20, 1, 3, 3, 1, 1, 1, 1, { 1, 1, 1, 1 }, true },
	{ "wide depthwise, stride 2", 1, 7, 1201, 9, 1, 3, 3, 2, 2, 1, 1, { 1, 1, 1, 1 }, true },
	{ "depthwise 1x3", 1, 6, 30, 33, 1, 1, 3, 1, 1, 1, 1, { 0, 0, 1, 1 }, true },
	{ "depthwise 3x1", 1, 30, 6, 33, 1, 3, 1, 1, 2, 1, 1, { 2, 0, 0, 1 }, true },
	{ "depthwise 2x2", 1, 9, 9, 40, 1, 2, 2, 1, 1, 1, 1, { 0, 1, 1, 0 }, true },
	{ "depthwise 5x5", 1, 12, 13, 40, 1, 5, 5, 1, 1, 1, 1, { 2, 2, 2, 2 }, true },
	{ "depthwise 7x3, dilated", 1, 25, 13, 18, 1, 7, 3, 1, 2, 2, 3, { 4, 4, 2, 2 }, true },
	{ "depthwise, 3 per channel", 1, 9, 8, 21, 3, 3, 3, 1, 1, 1, 1, { 1, 1, 1, 1 }, true },
	{ "depthwise, 40 per channel", 1, 6, 6, 3, 40, 3, 3, 2, 2, 1, 1, { 1, 0, 1, 0 }, true },
	{ "depthwise of one channel", 1, 20, 20, 1, 8, 5, 4, 2, 2, 1, 1, { 2, 1, 1, 1 }, true },
	{ "depthwise, stride 16", 1, 49, 33, 17, 1, 3, 3, 16, 15, 1, 1, { 1, 1, 1, 1 }, true },
	{ "three images", 3, 9, 7, 19, 37, 3, 3, 1, 1, 1, 1, { 1, 1, 1, 1 }, false },
	{ "three images, depthwise", 3, 9, 7, 19, 1, 3, 3, 1, 1, 1, 1, { 1, 1, 1, 1 }, true },
	{ "many images, one pixel", 300, 1, 1, 40, 24, 1, 1, 1, 1, 1, 1, { 0, 0, 0, 0 }, false },
	{ "stride above the kernel", 1, 40, 50, 6, 10, 2, 3, 5, 7, 1, 1, { 0, 0, 1, 3 }, false },
	{ "dilated", 1, 30, 28, 5, 20, 3, 3, 1, 1, 5, 4, { 5, 5, 4, 4 }, false },
	{ "padding beyond the kernel", 1, 4, 4, 16, 16, 3, 3, 1, 1, 1, 1, { 9, 8, 7, 6 }, false },
	{ "kernel larger than the image", 1, 3, 4, 10, 12, 9, 11, 1, 1, 1, 1, { 4, 4, 5, 5 }, false },
	{ "few channels", 1, 40, 31, 3, 24, 5, 5, 2, 2, 1, 1, { 2, 2, 2, 2 }, false },
	{ "one channel", 1, 49, 10, 1, 64, 10, 4, 2, 2, 1, 1, { 4, 5, 1, 1 }, false },
	{ "one output channel", 1, 20, 20, 50, 1, 3, 3, 1, 1, 1, 1, { 1, 1, 1, 1 }, false },
	{ "one long row", 1, 1, 3000, 8, 8, 1, 9, 1, 3, 1, 1, { 0, 0, 4, 4 }, false },
	{ "one long column", 1, 3000, 1, 8, 8, 9, 1, 3, 1, 1, 1, { 4, 4, 0, 0 }, false },
	{ "long sum", 1, 1, 1, 30000, 20, 1, 1, 1, 1, 1, 1, { 0, 0, 0, 0 }, false },
	{ "long sum, 20 pixels", 1, 1, 20, 3000, 20, 1, 1, 1, 1, 1, 1, { 0, 0, 0, 0 }, false },
	{ "long sum, taps", 1, 6, 7, 700, 18, 5, 5, 1, 1, 1, 1, { 2, 2, 2, 2 }, false },
	{ "long sum, odd channels", 1, 6, 7, 333, 18, 5, 7, 1, 1, 1, 1, { 2, 2, 3, 3 }, false },
	{ "many output channels", 1, 3, 3, 40, 3000, 3, 3, 1, 1, 1, 1, { 1, 1, 1, 1 }, false },
	{ "a large layer", 1, 60, 60, 96, 80, 3, 3, 1, 1, 1, 1, { 1, 1, 1, 1 }, false },
};

static void convolve_all(weft_dtype type)
{
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i += test_in_part() ? 2 : 1) {
		weft_graph *g = conv_graph(&shapes[i], type);
		must_run(g, shapes[i].name, "w16", 0);
		must_run(g, shapes[i].name, "w16", 128 << 10);
		if (type == WEFT_INT8) {
			must_run(g, shapes[i].name, "w8", 0);
			must_run(g, shapes[i].name, "w32", 0);
		}
		/* Inputs and weights of a longer sum do not fit. */
		if (shapes[i].kh * shapes[i].kw * shapes[i].c < 2000)
			must_run(g, shapes[i].name, "w8", 24 << 10);
		weft_graph_free(g);
	}
}

/* A bias that needs 24 bits fits a record of 8 bytes, one that needs 25 does not; w8b has no such records. */
static void records(void **state)
{
	static const struct { int32_t bias; bool fits; } cases[] = {
		{ -(1 << 23), true }, { (1 << 23) - 1, true }, { -(1 << 23) - 1, false }, { 1 << 23, false },
	};
	const struct shape shape[] = {
		{ "conv records", 1, 6, 6, 20, 37, 3, 3, 1, 1, 1, 1, { 1, 1, 1, 1 }, false },
		{ "dw records", 1, 6, 6, 37, 1, 3, 3, 1, 1, 1, 1, { 1, 1, 1, 1 }, true },
	};

	(void)state;
	for (int i = 0; i < 16; i++) {
		weft_graph *g = conv_graph(&shape[i / 8], WEFT_INT8);
		bool fits = i % 2 && cases[i / 2 % 4].fits;
		uint64_t was[2] = { compile_run_records[0], compile_run_records[1] };
		((int32_t *)g->tensors[g->ops[0].in[2]].t.data)[36] = cases[i / 2 % 4].bias;
		must_run(g, shape[i / 8].name, i % 2 ? "w16" : "w8b", 0);
		assert_true(compile_run_records[fits] > was[fits]);
		assert_true(compile_run_records[!fits] == was[!fits]);
		weft_graph_free(g);
	}
}

/* Makes the weights of the graph's convolution such that each fits so many bits, less the zero point 3. */
static void narrow_weights(weft_graph *g, int bits)
{
	const weft_tensor *w = &g->tensors[g->ops[0].in[1]].t;
	int8_t *p = w->data;

	for (int64_t i = 0; i < weft_tensor_elements(w); i++) {
		int v = 3 + (bits ? p[i] >> (8 - bits) : 0);
		p[i] = (int8_t)(v > 127 ? 127 : v);
	}
}

/* Weights that fit fewer bits are loaded coded, where the configuration has that and the options do not forbid it. */
static void coded(void **state)
{
	static const struct { const char *config; int bits; bool plain, coded; } cases[] = {
		{ "w16", 4, false, true }, { "w8", 4, false, true }, { "w32", 4, false, true }, { "w16", 0, false, true },
		{ "w16", 7, false, true }, { "w16", 8, false, false }, { "w16", 4, true, false }, { "w8b", 4, false, false },
		{ "w4", 4, false, false },
	};
	const struct shape shape[] = {
		{ "one pixel, coded", 1, 1, 1, 200, 330, 1, 1, 1, 1, 1, 1, { 0, 0, 0, 0 }, false },
		{ "an image, coded", 1, 12, 9, 40, 90, 3, 3, 1, 1, 1, 1, { 1, 1, 1, 1 }, false },
		{ "more than the scratchpad has, coded", 1, 7, 7, 1024, 1024, 1, 1, 1, 1, 1, 1, { 0, 0, 0, 0 }, false },
	};

	(void)state;
	const size_t n_cases = sizeof cases / sizeof *cases;
	for (size_t i = 0; i < sizeof shape / sizeof *shape * n_cases; i++) {
		const size_t k = i % n_cases;
		struct weft_compile_options o = { .config = cases[k].config, .no_compress = cases[k].plain };
		weft_graph *g = conv_graph(&shape[i / n_cases], WEFT_INT8);
		weft_tensor *in = make_inputs(g, 3);
		uint64_t was = compile_run_coded;
		char what[160];

		narrow_weights(g, cases[k].bits);
		snprintf(what, sizeof what, "%s, %d bits on %s%s", shape[i / n_cases].name, cases[k].bits, cases[k].config, cases[k].plain ? ", plain" : "");
		assert_true(compile_run(g, &o, in, what) > 0);
		if ((compile_run_coded > was) != cases[k].coded)
			fail_msg("%s: %llu coded loads", what, (unsigned long long)(compile_run_coded - was));
		free_inputs(g, in);
		weft_graph_free(g);
	}
}

static void convolutions(void **state)
{
	(void)state;
	convolve_all(WEFT_INT8);
}

static void convolutions_int16(void **state)
{
	(void)state;
	convolve_all(WEFT_INT16);
}

enum number { KERNEL, STRIDE, DILATION, PADDING };

/* A convolution of one channel and one filter in which that number is n, along the columns or the rows, all others as small as they can be. */
static struct shape with_number(enum number which, bool columns, int n)
{
	struct shape s = { "window at its limits", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, { 0, 0, 0, 0 }, false };
	int64_t *in = columns ? &s.w : &s.h;
	int *kernel = columns ? &s.kw : &s.kh;

	switch (which) {
	case KERNEL:
		*in = *kernel = n;
		break;
	case STRIDE:
		*in = n + 1;
		*(columns ? &s.sx : &s.sy) = n;
		break;
	case DILATION:
		*in = n + 1;
		*kernel = 2;
		*(columns ? &s.dx : &s.dy) = n;
		break;
	case PADDING:
		*in = *kernel = 2;
		s.pad[columns ? 2 : 0] = n;
		break;
	}
	return s;
}

/* A window whose one large number is the most that a command's field takes runs on the device; with one more it is the host's work, which says why. */
static void windows_at_limits(void **state)
{
	static const struct { enum number which; int most; const char *why; } limit[] = {
		{ KERNEL, 4095, "kernel above 4095" },
		{ STRIDE, 8192, "stride or dilation above 8192" },
		{ DILATION, 8192, "stride or dilation above 8192" },
		{ PADDING, 16384, "padding above 16384" },
	};
	const struct weft_compile_options w8 = { .config = "w8" };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof limit / sizeof *limit; i++) {
		const bool columns = i & 1;
		struct shape s = with_number(limit[i / 2].which, columns, limit[i / 2].most);
		weft_graph *g = conv_graph(&s, WEFT_INT8);
		must_run(g, limit[i / 2].why, "w8", 0);
		weft_graph_free(g);
		s = with_number(limit[i / 2].which, columns, limit[i / 2].most + 1);
		g = conv_graph(&s, WEFT_INT8);
		if (!strstr(why_not(g, &w8), limit[i / 2].why))
			fail_msg("\"%s\" instead of \"%s\"", why_not(g, &w8), limit[i / 2].why);
		weft_graph_free(g);
	}
}

static weft_graph *pool_graph(weft_dtype type, bool average, int64_t n, int64_t h, int64_t w, int64_t c, int kh, int kw, int sy, int sx, const int pad[4])
{
	weft_graph *g = weft_graph_new("pool");
	weft_attr a = { .pool = { .kernel = { kh, kw }, .stride = { sy, sx }, .pad = { pad[0], pad[1], pad[2], pad[3] }, .acc = WEFT_INT32 } };
	int x = input(g, type, DIMS(n, h, w, c));
	int y = weft_graph_tensor(g, "y", type, 4,
	                          DIMS(n, extent(h, kh, sy, 1, pad[0], pad[1]), extent(w, kw, sx, 1, pad[2], pad[3]), c));
	char msg[WEFT_MSG];

	if (average && type == WEFT_INT8) {
		a.pool.x_zp = -9;
		a.pool.y_zp = 4;
	}
	assert_true(weft_graph_op(g, average ? WEFT_OP_AVG_POOL2D : WEFT_OP_MAX_POOL2D, &a, -1, &x, 1, &y, 1) >= 0);
	as_output(g, y);
	if (weft_graph_check(g, msg))
		fail_msg("pool: %s", msg);
	return g;
}

static void pool_all(weft_dtype type)
{
	static const struct { int64_t n, h, w, c; int kh, kw, sy, sx, pad[4]; } p[] = {
		{ 1, 8, 8, 64, 8, 8, 1, 1, { 0, 0, 0, 0 } },
		{ 1, 9, 11, 20, 3, 3, 2, 2, { 1, 1, 1, 1 } },
		{ 2, 9, 11, 5, 3, 3, 1, 1, { 1, 1, 1, 1 } },
		{ 1, 6, 6, 17, 5, 4, 1, 1, { 4, 4, 3, 3 } },
		{ 1, 100, 90, 40, 2, 2, 2, 2, { 0, 0, 0, 0 } },
		{ 1, 200, 200, 16, 60, 60, 10, 8, { 20, 20, 10, 10 } },
		{ 1, 400, 3, 16, 390, 3, 1, 1, { 0, 0, 0, 0 } },
		{ 1, 1, 70000, 1, 1, 3, 1, 1, { 0, 0, 1, 1 } },
	};

	for (size_t i = 0; i < sizeof p / sizeof *p; i++)
		for (int average = 0; average < 2; average++) {
			weft_graph *g = pool_graph(type, average, p[i].n, p[i].h, p[i].w, p[i].c, p[i].kh, p[i].kw, p[i].sy, p[i].sx, p[i].pad);
			char name[64];
			snprintf(name, sizeof name, "pool %zu", i);
			must_run(g, name, "w16", 0);
			must_run(g, name, "w16", (uint32_t)(64 << 10) * (uint32_t)weft_dtype_bytes(type));
			must_run(g, name, "w8", 0);
			weft_graph_free(g);
		}
}

static void pools(void **state)
{
	(void)state;
	pool_all(WEFT_INT8);
}

static void pools_int16(void **state)
{
	(void)state;
	pool_all(WEFT_INT16);
}

/*
 * An average over windows that overlap, of a table's result: the depthwise engine computes it, and pooling commands the
 * windows that the image cuts, so the table's result has to lie in the scratchpad.
 */
static void average_behind_table(void **state)
{
	static const int pad[4] = { 1, 1, 1, 1 };

	(void)state;
	for (int size = 3; size <= 5; size += 2) {
		weft_graph *g = weft_graph_new("average");
		weft_attr a = { .pool = { .kernel = { size, size }, .stride = { 1, 1 }, .acc = WEFT_INT32, .x_zp = -9, .y_zp = 4 } };
		int in[2] = { input(g, WEFT_INT8, DIMS(1, 9, 11, 20)), random_const(g, WEFT_INT8, 1, DIMS(256), -128, 127) };
		int x = weft_graph_tensor(g, "x", WEFT_INT8, 4, DIMS(1, 9, 11, 20));
		int y = weft_graph_tensor(g, "y", WEFT_INT8, 4, DIMS(1, extent(9, size, 1, 1, 1, 1), extent(11, size, 1, 1, 1, 1), 20));
		char msg[WEFT_MSG];

		memcpy(a.pool.pad, pad, sizeof pad);
		assert_true(weft_graph_op(g, WEFT_OP_TABLE, NULL, -1, in, 2, &x, 1) >= 0);
		assert_true(weft_graph_op(g, WEFT_OP_AVG_POOL2D, &a, -1, &x, 1, &y, 1) >= 0);
		as_output(g, y);
		if (weft_graph_check(g, msg))
			fail_msg("average of a table's result: %s", msg);
		must_run(g, "average of a table's result", "w16", 0);
		must_run(g, "average of a table's result", "w8", 0);
		weft_graph_free(g);
	}
}

/* What no device could hold is the host's work, found without ado. */
static void enormous(void **state)
{
	static const struct shape s[] = {
		{ "enormous image", 1, 40000, 40000, 1, 1, 3, 3, 1, 1, 1, 1, { 1, 1, 1, 1 }, false },
		{ "enormous row", 1, 1, 2000000000, 1, 1, 1, 1, 1, 1, 1, 1, { 0, 0, 0, 0 }, false },
		{ "enormous batch", 1000000000, 1, 1, 1, 1, 3, 3, 1, 1, 1, 1, { 1, 1, 1, 1 }, false },
		{ "enormous batch, depthwise", 500000, 3, 3, 100, 1, 3, 3, 1, 1, 1, 1, { 1, 1, 1, 1 }, true },
		{ "enormous channels", 1, 1, 1, 8000000, 1, 1, 1, 1, 1, 1, 1, { 0, 0, 0, 0 }, false },
		{ "enormous padding", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, { 30000, 0, 60000, 0 }, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof s / sizeof *s; i++) {
		weft_graph *g = conv_graph(&s[i], i % 2 ? WEFT_INT16 : WEFT_INT8);
		weft_program *p;
		char msg[WEFT_MSG];
		int err = weft_compile(g, NULL, &p, msg);
		if (err)
			fail_msg("%s: %s", s[i].name, msg);
		assert_true(p->n_steps > 0);
		assert_true(p->n_cmds < 1000000);
		weft_program_free(p);
		weft_graph_free(g);
	}
}

enum layer { POINTWISE, DEPTHWISE, STEM };

/*
 * Append a convolution of x to oc channels: of 1x1; depthwise of 3x3 with padding; or of 3x3 with strides 2, which halve even
 * rows and columns. Returns its int8 result.
 */
static int append(weft_graph *g, int x, int64_t oc, enum layer layer)
{
	const weft_tensor of = g->tensors[x].t;        /* a copy: the graph's tensors move as it grows */
	const int64_t *d = of.dim;
	int before = layer == DEPTHWISE ? 1 : 0, behind = layer == POINTWISE ? 0 : 1, stride = layer == STEM ? 2 : 1, k = layer == POINTWISE ? 1 : 3;
	weft_attr a = { .conv = { .pad = { before, behind, before, behind }, .stride = { stride, stride }, .dilation = { 1, 1 }, .x_zp = 5, .acc = WEFT_INT32 } };
	int w = random_const(g, WEFT_INT8, 4, layer == DEPTHWISE ? DIMS(k, k, d[3], 1) : DIMS(oc, k, k, d[3]), -127, 127);
	int b = random_const(g, WEFT_INT32, 1, DIMS(oc), -100000, 100000);
	int acc = weft_graph_tensor(g, "acc", WEFT_INT32, 4, DIMS(1, d[1] / stride, d[2] / stride, oc));

	assert_true(weft_graph_op(g, layer == DEPTHWISE ? WEFT_OP_DEPTHWISE_CONV2D : WEFT_OP_CONV2D, &a, -1, (int[]){ x, w, b }, 3, &acc, 1) >= 0);
	return rescale(g, acc, oc, 40, 5);
}

/* Returns the program of the graph, which must compile. */
static weft_program *compiled(const weft_graph *g)
{
	char msg[WEFT_MSG];
	weft_program *p;

	if (weft_compile(g, NULL, &p, msg))
		fail_msg("%s", msg);
	return p;
}

/* Returns the program's command that begins at word *at; *at becomes where the next one begins. */
static struct weft_cmd next_command(const weft_program *p, uint32_t *at)
{
	struct weft_cmd c;

	assert_int_equal(weft_cmd_decode(p->words + *at, p->n_words - *at, &c), WEFT_FAULT_NONE);
	*at += (uint32_t)c.h.n_words;
	return c;
}

/* Returns the bytes of the loads that the first convolution of the compiled graph waits for, those before them included. */
static int64_t loaded_first(const weft_graph *g)
{
	int64_t sum = 0, bytes[64] = { 0 };
	weft_program *p = compiled(g);
	uint32_t loads = 0;

	for (uint32_t at = 0; at < p->n_words; ) {
		const struct weft_cmd c = next_command(p, &at);
		if (c.h.op == WEFT_CMD_LOAD && loads < 64)
			bytes[loads++] = (int64_t)c.load.row_bytes * c.load.n1 * c.load.n2 * c.load.n3;
		if (c.h.op != WEFT_CMD_CONV)
			continue;
		for (int i = 0; i < c.h.wait[WEFT_UNIT_LD] && i < 64; i++)
			sum += bytes[i];
		break;
	}
	weft_program_free(p);
	return sum;
}

/* Returns how many commands with this opcode the compiled graph has. */
static int commands(const weft_graph *g, int op)
{
	weft_program *p = compiled(g);
	int n = 0;

	for (uint32_t at = 0; at < p->n_words; )
		n += next_command(p, &at).h.op == op;
	weft_program_free(p);
	return n;
}

/*
 * Depthwise layers that look their input up in a table, of so few pixels and so many channels that their weights come in
 * pieces: the commands for later channels read other weights, but the same table.
 */
static void depthwise_behind_table(void **state)
{
	static const struct { int64_t size, channels; } layers[] = { { 5, 1152 }, { 4, 2048 } };

	(void)state;
	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
		const int64_t *dim = DIMS(1, layers[i].size, layers[i].size, layers[i].channels);
		weft_graph *g = weft_graph_new("chain");
		int in[2] = { append(g, input(g, WEFT_INT8, dim), dim[3], DEPTHWISE), random_const(g, WEFT_INT8, 1, DIMS(256), -128, 127) };
		int x = weft_graph_tensor(g, "looked_up", WEFT_INT8, 4, dim);
		char msg[WEFT_MSG];

		assert_true(weft_graph_op(g, WEFT_OP_TABLE, NULL, -1, in, 2, &x, 1) >= 0);
		as_output(g, append(g, x, dim[3], DEPTHWISE));
		if (weft_graph_check(g, msg))
			fail_msg("%s", msg);
		assert_true(commands(g, WEFT_CMD_DW) > 2);        /* a command of each layer, and more for its pieces */
		must_run(g, "depthwise behind a table", "w16", 0);
		must_run(g, "depthwise behind a table", "w8", 0);
		weft_graph_free(g);
	}
}

/*
 * Of a 7x7 layer whose weights come in slots, channels are made one range after another. The depthwise layer behind it follows
 * range by range, so it takes several commands, none of which waits for the whole layer.
 */
static void channel_by_channel(void **state)
{
	weft_graph *g = weft_graph_new("chain");
	int x = input(g, WEFT_INT8, DIMS(1, 7, 7, 160));
	char msg[WEFT_MSG];

	(void)state;
	for (int i = 0; i < 3; i++)
		x = append(g, append(g, append(g, x, 960, POINTWISE), 960, DEPTHWISE), 160, POINTWISE);
	as_output(g, x);
	assert_int_equal(weft_graph_check(g, msg), 0);
	must_run(g, "chain", "w16", 0);
	assert_true(commands(g, WEFT_CMD_DW) > 3 * 2);
	weft_graph_free(g);
}

/*
 * Layers of large tensors run stripe by stripe. The first one begins with its weights and a few rows of the input, before the
 * weights of the others, which are needed later, and the rest of the first stripe.
 */
static void first_rows_first(void **state)
{
	weft_graph *g = weft_graph_new("stem");
	int x = append(g, input(g, WEFT_INT8, DIMS(1, 224, 224, 3)), 32, STEM);
	char msg[WEFT_MSG];

	(void)state;
	x = append(g, append(g, x, 32, DEPTHWISE), 96, POINTWISE);
	as_output(g, append(g, append(g, x, 96, DEPTHWISE), 24, POINTWISE));
	assert_int_equal(weft_graph_check(g, msg), 0);
	must_run(g, "stem", "w16", 0);
	assert_true(loaded_first(g) < 3 * 32 * 3 * 16 + 16 * 32 + 8 * 224 * 3);
	weft_graph_free(g);
}

/* Returns the results that the graph's convolutions make in all, compiled for that configuration. */
static int64_t convolved(const weft_graph *g, const char *config)
{
	struct weft_compile_options o = { .config = config };
	char msg[WEFT_MSG];
	weft_program *p;
	int64_t n = 0;

	if (weft_compile(g, &o, &p, msg))
		fail_msg("%s", msg);
	for (uint32_t at = 0; at < p->n_words; ) {
		const struct weft_cmd c = next_command(p, &at);
		if (c.h.op == WEFT_CMD_CONV)
			n += (int64_t)c.conv.post.ow * c.conv.post.oh * c.conv.post.oc;
	}
	weft_program_free(p);
	return n;
}

/* A layer whose input of more than 32 KiB comes in parts, at which the array works one after the other, makes each result once. */
static void input_in_parts(void **state)
{
	static const struct { const char *config; int64_t side, c, oc; } layer[] = {
		{ "w4", 7, 960, 160 }, { "w4", 7, 960, 320 }, { "w8", 14, 384, 64 }, { "w8", 14, 576, 96 }, { "w8", 14, 576, 160 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof layer / sizeof *layer; i++) {
		weft_graph *g = weft_graph_new("parts");
		int64_t side = layer[i].side;
		as_output(g, append(g, input(g, WEFT_INT8, DIMS(1, side, side, layer[i].c)), layer[i].oc, POINTWISE));
		assert_int_equal(convolved(g, layer[i].config), side * side * layer[i].oc);
		weft_graph_free(g);
	}
}

/* Append the operator, whose result has this shape and the type of its only operand x. Returns the result. */
static int append_move(weft_graph *g, int x, weft_opcode op, const weft_attr *a, const int64_t dim[4])
{
	int y = weft_graph_tensor(g, "moved", WEFT_INT8, 4, dim);

	assert_true(weft_graph_op(g, op, a, -1, &x, 1, &y, 1) >= 0);
	return y;
}

/*
 * A convolution of every second pixel, as NASNet has it: behind padding, two SLICEs and a pool of one pixel, with the
 * RESHAPE to the same shape that the importer of TensorFlow Lite writes behind the first SLICE. It reads the pixels where
 * they are, so nothing is copied; unless the RESHAPE exchanges rows and columns.
 */
static void every_second_behind_slices(void **state)
{
	static const struct { int before, after, first[2], second[2], kernel; bool turned; } c[] = {
		{ 0, 1, { 1, 1 }, { 0, 0 }, 1, false }, { 0, 1, { 1, 2 }, { 2, 1 }, 1, false }, { 1, 2, { 1, 2 }, { 1, 0 }, 1, false },
		{ 2, 3, { 0, 1 }, { 3, 2 }, 3, false }, { 0, 1, { 1, 2 }, { 2, 1 }, 1, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
		const int k = c[i].kernel, p = k / 2;
		int64_t d[4] = { 1, 14, 11, 20 }, half[4];
		weft_graph *g = weft_graph_new("every second");
		weft_attr pad = { .pad = { .before = { 0, c[i].before, c[i].before }, .after = { 0, c[i].after, c[i].after }, .value = -7 } };
		weft_attr first = { .slice = { { 0, c[i].first[0], c[i].first[1] } } }, second = { .slice = { { 0, c[i].second[0], c[i].second[1] } } };
		weft_attr pool = { .pool = { .kernel = { 1, 1 }, .stride = { 2, 2 }, .acc = WEFT_INT32 } };
		weft_attr conv = { .conv = { .pad = { p, p, p, p }, .stride = { 1, 1 }, .dilation = { 1, 1 }, .x_zp = -7, .acc = WEFT_INT32 } };
		int x = input(g, WEFT_INT8, d);
		char msg[WEFT_MSG];

		for (int j = 1; j < 3; j++)
			d[j] += c[i].before + c[i].after;
		x = append_move(g, x, WEFT_OP_PAD, &pad, d);
		for (int j = 1; j < 3; j++)
			d[j] -= c[i].first[j - 1];
		x = append_move(g, x, WEFT_OP_SLICE, &first, d);
		if (c[i].turned)
			memcpy(d, DIMS(1, d[2], d[1], d[3]), sizeof d);
		x = append_move(g, x, WEFT_OP_RESHAPE, NULL, d);
		for (int j = 1; j < 3; j++) {
			half[j] = (d[j] - c[i].second[j - 1] + 1) / 2;
			d[j] = 2 * half[j] - 1;
		}
		x = append_move(g, x, WEFT_OP_SLICE, &second, d);
		x = append_move(g, x, WEFT_OP_MAX_POOL2D, &pool, DIMS(1, half[1], half[2], 20));
		int sum = weft_graph_tensor(g, "sum", WEFT_INT32, 4, DIMS(1, half[1], half[2], 24));
		int in[3] = { x, random_const(g, WEFT_INT8, 4, DIMS(24, k, k, 20), -128, 127), random_const(g, WEFT_INT32, 1, DIMS(24), -1000, 1000) };
		assert_true(weft_graph_op(g, WEFT_OP_CONV2D, &conv, -1, in, 3, &sum, 1) >= 0);
		as_output(g, rescale(g, sum, 24, 40, 5));
		if (weft_graph_check(g, msg))
			fail_msg("%s", msg);
		if (c[i].turned)
			assert_true(commands(g, WEFT_CMD_ALU) > 0);
		else
			assert_int_equal(commands(g, WEFT_CMD_ALU), 0);
		must_run(g, "every second pixel", "w16", 0);
		must_run(g, "every second pixel", "w8", 0);
		weft_graph_free(g);
	}
}

/*
 * A maximum with padding of its own on one side, behind a PAD of the other side. The PAD's value counts there;
 * the maximum's own padding counts nothing, so that one command cannot do both.
 */
static void maximum_behind_pad(void **state)
{
	(void)state;
	for (int side = 0; side < 4; side++) {  /* of the maximum's padding: above, below, left, right */
		const int other = side ^ 1;
		const bool rows = side < 2;
		weft_graph *g = weft_graph_new("maximum");
		weft_attr pad = { .pad = { .value = 100 } };
		weft_attr pool = { .pool = { .kernel = { 3, 3 }, .stride = { 1, 1 }, .acc = WEFT_INT32 } };
		char msg[WEFT_MSG];

		(other & 1 ? pad.pad.after : pad.pad.before)[1 + other / 2] = 1;
		pool.pool.pad[side] = 1;
		int x = input(g, WEFT_INT8, DIMS(1, 8, 8, 20));
		x = append_move(g, x, WEFT_OP_PAD, &pad, DIMS(1, rows ? 9 : 8, rows ? 8 : 9, 20));
		as_output(g, append_move(g, x, WEFT_OP_MAX_POOL2D, &pool, DIMS(1, rows ? 8 : 6, rows ? 6 : 8, 20)));
		if (weft_graph_check(g, msg))
			fail_msg("%s", msg);
		must_run(g, "maximum behind PAD", "w16", 0);
		weft_graph_free(g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_at_limits), cmocka_unit_test(records), cmocka_unit_test(coded), cmocka_unit_test(convolutions), cmocka_unit_test(pools), cmocka_unit_test(average_behind_table),
		cmocka_unit_test(enormous),
		cmocka_unit_test(convolutions_int16), cmocka_unit_test(pools_int16), cmocka_unit_test(channel_by_channel),
		cmocka_unit_test(depthwise_behind_table), cmocka_unit_test(every_second_behind_slices),
		cmocka_unit_test(first_rows_first), cmocka_unit_test(input_in_parts), cmocka_unit_test(maximum_behind_pad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
