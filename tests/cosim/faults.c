/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted faults: the check names the operator, the tensor and the first
 * element that is wrong, and the right count of them, as the geometry says.
 *
 * The graph is one convolution of ones whose sums are all 9 * CHANNELS_IN and
 * never negative, so that a stuck bit above them is simply added: PE (r, c)
 * makes pixels r, r+N, ... of channels c, c+N, ... wrong and no others, counted
 * in the order of the conv command, whose x may be the tensor's y.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <weft/gen/cmd.h>

#include "../support/level.h"
#include "../support/npz.h"
#include "userlib/run/internal.h"

#define CHANNELS_IN 16
#define CHANNELS_OUT 32
#define SIDE 8
#define PIXELS (SIDE * SIDE)
#define N 16
#define SUM (9 * CHANNELS_IN)  /* 144 */
#define MUL (1 << 30)
#define SHIFT 34               /* 144 / 16 = 9 */
#define RIGHT 9
#define TIMES 2                /* an output is compared in the scratchpad and again in memory */

static void *ones(size_t n, int8_t v)
{
	int8_t *p = malloc(n);

	assert_non_null(p);
	memset(p, v, n);
	return p;
}

static int add_const(weft_graph *g, const char *name, weft_dtype t, int64_t n, const void *from)
{
	size_t bytes = (size_t)n * weft_dtype_bytes(t);
	void *p = malloc(bytes);

	assert_non_null(p);
	memcpy(p, from, bytes);
	return weft_graph_const(g, name, t, 1, &n, p);
}

/* The input has a border of its own, so that every sum is whole. */
static weft_graph *one_conv(void)
{
	const int64_t xd[] = { 1, SIDE + 2, SIDE + 2, CHANNELS_IN }, wd[] = { CHANNELS_OUT, 3, 3, CHANNELS_IN };
	const int64_t yd[] = { 1, SIDE, SIDE, CHANNELS_OUT };
	const weft_attr conv = { .conv = { .stride = { 1, 1 }, .dilation = { 1, 1 }, .acc = WEFT_INT32 } };
	const weft_attr scale = { .rescale = { .scale32 = true, .rounding = WEFT_SINGLE_ROUND } };
	weft_graph *g = weft_graph_new("one convolution");

	assert_non_null(g);
	int x = weft_graph_tensor(g, "x", WEFT_INT8, 4, xd);
	int w = weft_graph_const(g, "w", WEFT_INT8, 4, wd, ones(CHANNELS_OUT * 9 * CHANNELS_IN, 1));
	int b = add_const(g, "b", WEFT_INT32, 1, &(int32_t){ 0 });
	int sums = weft_graph_tensor(g, "sums", WEFT_INT32, 4, yd);
	int m = add_const(g, "m", WEFT_INT32, 1, &(int32_t){ MUL });
	int s = add_const(g, "s", WEFT_INT8, 1, &(int8_t){ SHIFT });
	int y = weft_graph_tensor(g, "result", WEFT_INT8, 4, yd);
	int src = weft_graph_src(g, 0, "CONV_2D");
	g->tensors[x].is_input = g->tensors[y].is_output = g->tensors[sums].internal = true;
	g->inputs = malloc(sizeof(int));
	g->outputs = malloc(sizeof(int));
	assert_non_null(g->inputs);
	assert_non_null(g->outputs);
	g->inputs[g->n_inputs++] = x;
	g->outputs[g->n_outputs++] = y;
	assert_true(weft_graph_op(g, WEFT_OP_CONV2D, &conv, src, (int[]){ x, w, b }, 3, &sums, 1) >= 0);
	assert_true(weft_graph_op(g, WEFT_OP_RESCALE, &scale, src, (int[]){ sums, m, s }, 3, &y, 1) >= 0);
	g->srcs[src].out = y;
	return g;
}

struct bench {
	struct weft_net net;
	weft_session *s;
	weft_tensor in;
};

static void bench_open(struct bench *b)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";

	memset(b, 0, sizeof(*b));
	b->net.graph = one_conv();
	b->net.g = b->net.graph;
	if (weft_graph_check(b->net.g, msg))
		fail_msg("%s", msg);
	b->in = b->net.g->tensors[b->net.g->inputs[0]].t;
	b->in.data = ones(weft_tensor_bytes(&b->in), 1);
	o.device = WEFT_DEVICE_RTL;
	o.memory = WEFT_MEMORY_SRAM;
	o.check = true;
	if (weft_session_open(&b->net, &o, &b->s, msg))
		fail_msg("%s", msg);
}

static void bench_close(struct bench *b)
{
	weft_session_close(b->s);
	free(b->in.data);
	weft_graph_free(b->net.graph);
}

static struct weft_report *run(struct bench *b, int want)
{
	struct weft_report *rep = NULL;
	char msg[WEFT_MSG_LEN] = "";
	weft_tensor out = { 0 };
	int err = weft_session_run(b->s, &b->in, &out, &rep, msg);

	if (err != want)
		fail_msg("run: %d, not %d: %s", err, want, msg);
	assert_non_null(rep);
	if (!err)
		weft_tensor_release(&out);
	return rep;
}

static void clean(struct bench *b)
{
	const struct weft_plant none = { .kind = WEFT_PLANT_NONE };

	assert_int_equal(weft_dev_plant(b->s->dev, &none), 0);
	struct weft_report *rep = run(b, 0);
	assert_true(rep->checked);
	assert_int_equal(rep->mismatches, 0);
	assert_int_equal(rep->elements, TIMES * PIXELS * CHANNELS_OUT);
	assert_false(rep->first.found);
	assert_false(rep->first.bytes.found);
	weft_report_free(rep);
}

static void planted(struct bench *b, const struct weft_plant *p, int64_t index, int got, uint64_t count)
{
	assert_int_equal(weft_dev_plant(b->s->dev, p), 0);
	struct weft_report *rep = run(b, -EBADMSG);
	const struct weft_mismatch *f = &rep->first;

	if (!f->found || f->op != 0 || strcmp(f->op_name, "CONV_2D") || strcmp(f->tensor, "result") ||
	    f->index != index || f->expected != RIGHT || f->got != got || rep->mismatches != TIMES * count)
		fail_msg("expected operator 0 CONV_2D, tensor result, index %lld: %d, %d, in all %llu; "
		         "got operator %d %s, tensor %s, index %lld: %lld, %lld, in all %llu",
		         (long long)index, RIGHT, got, (unsigned long long)(TIMES * count), f->op, f->op_name ? f->op_name : "",
		         f->tensor ? f->tensor : "", (long long)f->index, (long long)f->expected, (long long)f->got,
		         (unsigned long long)rep->mismatches);
	assert_true(f->cmd >= 0);
	/* Beside golden, the model that runs along sees it in the bytes. */
	assert_true(f->bytes.found && f->bytes.in_sp);
	assert_int_equal((int8_t)f->bytes.expected, RIGHT);
	assert_int_equal((int8_t)f->bytes.got, got);
	weft_report_free(rep);
	clean(b);
}

static int clamped(int64_t v)
{
	return v > 127 ? 127 : v < -128 ? -128 : (int)v;
}

static int scaled(int64_t product)
{
	return clamped((product + (INT64_C(1) << (SHIFT - 1))) >> SHIFT);
}

/* ---- where the program computes what ---- */

struct place { uint32_t addr, cmd; };

/* Scratchpad address of an element of a tensor, and the command that puts it there. */
static struct place place_of(const weft_program *p, const char *tensor, int64_t element)
{
	for (uint32_t k = 0; k < p->n_cmds; k++)
		for (uint32_t i = 0; i < p->cmds[k].n_recs; i++) {
			const struct weft_prec *r = &p->recs[p->cmds[k].first_rec + i];
			if (strcmp(p->graph->tensors[r->tensor].name, tensor))
				continue;
			for (uint32_t y = 0; y < r->n_y; y++)
				for (uint32_t x = 0; x < r->n_x; x++) {
					int64_t first = (int64_t)(r->first + y * r->y_elems + x * r->x_elems);
					uint32_t addr = r->addr + y * r->y_bytes + x * r->x_bytes;
					if (element >= first && element < first + r->n_c)
						return (struct place){ (addr + (uint32_t)(element - first)) & 0xfffff, k };
				}
		}
	fail_msg("no record has element %lld of %s", (long long)element, tensor);
	return (struct place){ 0, 0 };
}

static struct weft_cmd_conv conv_at(const weft_program *p, uint32_t index)
{
	struct weft_cmd c;
	size_t at = 0;

	for (uint32_t i = 0; i <= index; i++, at += (size_t)c.h.n_words)
		assert_int_equal(weft_cmd_decode(p->words + at, p->n_words - at, &c), 0);
	assert_int_equal(c.h.op, WEFT_CMD_CONV);
	return c.conv;
}

struct pe { uint32_t row, col; };

/* The PE that sums up an element of a convolution's result. */
static struct pe pe_of(const weft_program *p, const char *tensor, int64_t element)
{
	struct place at = place_of(p, tensor, element);
	const struct weft_cmd_conv c = conv_at(p, at.cmd);
	uint32_t mask = 0xfffff;

	for (int32_t oy = 0; oy < c.post.oh; oy++)
		for (int32_t ox = 0; ox < c.post.ow; ox++) {
			uint32_t base = (uint32_t)(c.post.out_base + oy * c.post.out_y_stride + ox * c.post.out_x_stride);
			uint32_t ch = (at.addr - base) & mask;
			if (ch < (uint32_t)c.post.oc)
				return (struct pe){ (uint32_t)(oy * c.post.ow + ox) % N, ch % N };
		}
	fail_msg("command %u does not write element %lld of %s", at.cmd, (long long)element, tensor);
	return (struct pe){ 0, 0 };
}

/* First element that the PE, or where row is UINT32_MAX the lane, sums up, and how many. */
static int64_t first_of(const weft_program *p, uint32_t row, uint32_t col, uint64_t *count)
{
	int64_t first = -1;

	*count = 0;
	for (int64_t i = 0; i < PIXELS * CHANNELS_OUT; i++) {
		struct pe at = pe_of(p, "result", i);
		if (at.col != col || (row != UINT32_MAX && at.row != row))
			continue;
		first = first < 0 ? i : first;
		++*count;
	}
	return first;
}

static void test_pe(void **state)
{
	static const struct { uint32_t row, col, bit; } at[] = {
		{ 0, 0, 8 }, { 0, 15, 9 }, { 15, 0, 10 }, { 15, 15, 8 }, { 7, 3, 9 }, { 8, 12, 20 }, { 1, 14, 30 }, { 3, 7, 31 },
	};
	struct bench b;

	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	bench_open(&b);
	clean(&b);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		const struct weft_plant p = { .kind = WEFT_PLANT_PE, .row = at[i].row, .col = at[i].col, .bit = at[i].bit };
		int32_t sum = (int32_t)((UINT32_C(1) << at[i].bit) + SUM);
		uint64_t count;
		int64_t first = first_of(b.s->p, at[i].row, at[i].col, &count);
		assert_int_equal(count, PIXELS / N * (CHANNELS_OUT / N));
		planted(&b, &p, first, scaled((int64_t)sum * MUL), count);
	}
	bench_close(&b);
}

static void test_lane(void **state)
{
	/* The product is 144 * 2^30 = 9 * 2^34: bits 34 and 37 are set already. */
	static const struct { uint32_t lane, bit; } at[] = { { 0, 35 }, { 5, 36 }, { 15, 38 }, { 9, 39 }, { 12, 33 }, { 1, 60 } };
	struct bench b;

	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	bench_open(&b);
	clean(&b);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		const struct weft_plant p = { .kind = WEFT_PLANT_LANE, .lane = at[i].lane, .bit = at[i].bit };
		int64_t product = (int64_t)SUM * MUL | INT64_C(1) << at[i].bit;
		uint64_t count;
		int64_t first = first_of(b.s->p, UINT32_MAX, at[i].lane, &count);
		assert_int_equal(count, PIXELS * (CHANNELS_OUT / N));
		planted(&b, &p, first, scaled(product), count);
	}
	bench_close(&b);
}

static void test_scratchpad(void **state)
{
	static const struct { int64_t element; uint32_t bit; } at[] = {
		{ 0, 1 }, { 1, 2 }, { 37, 4 }, { PIXELS * CHANNELS_OUT - 1, 7 }, { 1000, 6 },
	};
	struct bench b;

	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	bench_open(&b);
	clean(&b);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		const struct weft_plant p = { .kind = WEFT_PLANT_SP, .addr = place_of(b.s->p, "result", at[i].element).addr, .bit = at[i].bit };
		planted(&b, &p, at[i].element, (int8_t)(RIGHT | 1 << at[i].bit), 1);
	}
	bench_close(&b);
}

/*
 * float8: a hand-made convolution of ones in E4M3FN, fp16 out, one pixel a row of
 * the array and one channel a column; the model beside the RTL sees the bytes.
 */
#define ONE 0x38
#define RIGHT_FP16 0x5880      /* 144 */
#define X_AT 0
#define W_AT 0x20000
#define P_AT 0x40000
#define Y_AT 0x60000

static size_t float_stream(uint64_t *words)
{
	static const struct { int32_t at, bytes, from; } loads[] = {
		{ X_AT, N * SUM, 0 }, { W_AT, N * SUM, 0 }, { P_AT, N * WEFT_PARAM_BYTES, N * SUM },
	};
	struct weft_cmd c;
	size_t n = 0;

	for (int i = 0; i < 3; i++) {
		weft_cmd_init(&c, WEFT_CMD_LOAD);
		c.load.window = WEFT_WIN_CONST;
		c.load.dram_off = loads[i].from;
		c.load.sp_addr = loads[i].at;
		c.load.row_bytes = loads[i].bytes;
		n += weft_cmd_encode(&c, words + n);
	}
	weft_cmd_init(&c, WEFT_CMD_CONV);
	c.h.wait[WEFT_UNIT_LD] = 3;
	c.conv.post.mode = 2;
	c.conv.post.out_fmt = 4;
	c.conv.post.y_min = (int16_t)0xfc00;
	c.conv.post.y_max = 0x7c00;
	c.conv.post.out_base = Y_AT;
	c.conv.post.out_x_stride = 2 * N;
	c.conv.post.ow = N;
	c.conv.post.oc = N;
	c.conv.ox_step = c.conv.run_len = SUM;
	c.conv.x_limit = N * SUM;
	c.conv.w_base = W_AT;
	c.conv.p_base = P_AT;
	n += weft_cmd_encode(&c, words + n);
	weft_cmd_init(&c, WEFT_CMD_STORE);
	c.h.wait[WEFT_UNIT_CV] = 1;
	c.load.window = WEFT_WIN_ARENA;
	c.load.sp_addr = Y_AT;
	c.load.row_bytes = 2 * N * N;
	n += weft_cmd_encode(&c, words + n);
	weft_cmd_init(&c, WEFT_CMD_END);
	return n + weft_cmd_encode(&c, words + n);
}

/* The first difference, and all results in fp16. */
static struct weft_cosim_diff float_run(weft_dev *dev, const struct weft_plant *p, uint16_t y[N][N])
{
	struct weft_window win[2] = { { .rd = true }, { .rd = true, .wr = true } };
	uint64_t words[6 * WEFT_CMD_MAX_WORDS];
	uint8_t data[N * SUM + N * WEFT_PARAM_BYTES] = { 0 };
	struct weft_job_result r;
	weft_job job;

	memset(data, ONE, N * SUM);
	assert_int_equal(weft_buf_alloc(dev, sizeof(data), &win[0].buf), 0);
	assert_int_equal(weft_buf_alloc(dev, 2 * N * N, &win[1].buf), 0);
	assert_int_equal(weft_buf_write(win[0].buf, 0, data, sizeof(data)), 0);
	assert_int_equal(weft_dev_plant(dev, p), 0);
	if (weft_submit(dev, words, float_stream(words), win, 2, &job))
		fail_msg("%s", weft_dev_error(dev));
	assert_int_equal(weft_wait(dev, job, WEFT_FOREVER, &r), 0);
	assert_int_equal(weft_buf_read(win[1].buf, 0, y, 2 * N * N), 0);
	weft_buf_free(win[0].buf);
	weft_buf_free(win[1].buf);
	return *weft_dev_cosim(dev);
}

static void test_float8(void **state)
{
	/* Units are 2^-28. Above the sum a bit is added to it; +-2^19 is infinite in fp16. */
	static const struct { struct weft_plant p; uint16_t got; } at[] = {
		{ { .kind = WEFT_PLANT_PE, .row = 0, .col = 0, .bit = 36 }, 0x5e40 },    /* 400 */
		{ { .kind = WEFT_PLANT_PE, .row = 15, .col = 15, .bit = 37 }, 0x6120 },  /* 656 */
		{ { .kind = WEFT_PLANT_PE, .row = 3, .col = 9, .bit = 46 }, 0x7c00 },
		{ { .kind = WEFT_PLANT_PE, .row = 12, .col = 2, .bit = 47 }, 0xfc00 },
		/* In each pass, below the significand's top: 144 | 8, 144 | 32. */
		{ { .kind = WEFT_PLANT_LANE, .lane = 0, .bit = 31 }, 0x58c0 },
		{ { .kind = WEFT_PLANT_LANE, .lane = 13, .bit = 33 }, 0x5980 },
		{ { .kind = WEFT_PLANT_SP, .addr = Y_AT + 2 * (5 * N + 7) + 1, .bit = 2 }, 0x5c80 },
	};
	const struct weft_plant none = { .kind = WEFT_PLANT_NONE };
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG] = "";
	uint16_t y[N][N];
	weft_dev *dev;

	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	o.kind = WEFT_DEV_RTL;
	o.memory = WEFT_MEMORY_SRAM;
	o.cosim = true;
	if (weft_dev_open(&o, &dev, msg))
		fail_msg("%s", msg);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		const struct weft_plant *p = &at[i].p;
		bool lane = p->kind == WEFT_PLANT_LANE, sp = p->kind == WEFT_PLANT_SP;
		uint32_t row = lane ? 0 : sp ? 5 : p->row, col = lane ? p->lane : sp ? 7 : p->col;
		assert_false(float_run(dev, &none, y).found);
		struct weft_cosim_diff d = float_run(dev, p, y);
		uint64_t first = Y_AT + 2 * (row * N + col) + !((RIGHT_FP16 ^ at[i].got) & 0xff);
		if (!d.found || !d.in_sp || d.cmd != 3 || d.addr != first)
			fail_msg("fault %zu: found %d, command %zu, address 0x%llx, not 0x%llx", i, d.found, d.cmd,
			         (unsigned long long)d.addr, (unsigned long long)first);
		for (uint32_t r = 0; r < N; r++)
			for (uint32_t c = 0; c < N; c++) {
				bool hit = c == col && (lane || r == row);
				if (y[r][c] != (hit ? at[i].got : RIGHT_FP16))
					fail_msg("fault %zu: pixel %u, channel %u is 0x%04x", i, r, c, y[r][c]);
			}
	}
	weft_dev_close(dev);
}

/* In a network from a file, with the fault as an option of the session. */
static weft_session *open_digits(const weft_net *net, const struct weft_plant *p)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s;

	o.device = WEFT_DEVICE_RTL;
	o.check = true;
	o.plant = *p;
	if (weft_session_open(net, &o, &s, msg))
		fail_msg("%s", msg);
	return s;
}

static void run_digits(weft_session *s, const weft_tensor *in, struct weft_report **rep, int want)
{
	char msg[WEFT_MSG_LEN] = "";
	weft_tensor out = { 0 };
	int err = weft_session_run(s, in, &out, rep, msg);

	if (err != want)
		fail_msg("digits: %d, not %d: %s", err, want, msg);
	weft_tensor_release(&out);
}

static void clean_digits(const weft_net *net, const weft_tensor *in)
{
	weft_session *s = open_digits(net, &(struct weft_plant){ .kind = WEFT_PLANT_NONE });
	struct weft_report *rep = NULL;

	run_digits(s, in, &rep, 0);
	assert_int_equal(rep->mismatches, 0);
	assert_true(rep->tensors >= 4);
	weft_report_free(rep);
	weft_session_close(s);
}

static void test_digits(void **state)
{
	const struct weft_plant plant = { .kind = WEFT_PLANT_PE, .row = 5, .col = 11, .bit = 24 };
	char msg[WEFT_MSG_LEN] = "";
	struct weft_report *rep = NULL;
	struct npz_array x;
	weft_net *net;

	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	if (weft_net_load_file("tests/models/digits_int8.tflite", &net, msg))
		fail_msg("%s", msg);
	assert_int_equal(npy_load("tests/models/digits_test_x.npy", &x), 0);
	weft_tensor in = { .dtype = WEFT_INT8, .rank = 4, .dim = { 1, 8, 8, 1, 1, 1, 1, 1 }, .data = x.data };
	clean_digits(net, &in);
	weft_session *s = open_digits(net, &plant);
	run_digits(s, &in, &rep, -EBADMSG);
	const struct weft_mismatch *f = &rep->first;
	assert_true(f->found);
	struct pe pe = f->op == 0 ? pe_of(s->p, f->tensor, f->index) : (struct pe){ 0, 0 };
	/* Which of the four pixel groups shows it first depends on the image. */
	if (f->op != 0 || strcmp(f->op_name, "CONV_2D") || pe.row != plant.row || pe.col != plant.col || f->got <= f->expected)
		fail_msg("digits: operator %d, tensor %s, index %lld (PE %u, %u): expected %lld, got %lld", f->op, f->tensor,
		         (long long)f->index, pe.row, pe.col, (long long)f->expected, (long long)f->got);
	weft_report_free(rep);
	weft_session_close(s);
	clean_digits(net, &in);
	weft_net_free(net);
	free(x.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pe), cmocka_unit_test(test_lane), cmocka_unit_test(test_scratchpad),
		cmocka_unit_test(test_float8), cmocka_unit_test(test_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
