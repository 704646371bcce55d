/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PopXL's conv_pow2scaled and matmul_pow2scaled: as library calls and as operators
 * of a graph, .tosa and .weft, on golden, model and RTL. One program takes a new
 * log2_scale in every run. Expected results come from fp64 here: the operands' codes
 * are such that every sum is exact there.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/convert.h>
#include <weft/popxl.h>

#include "tests/support/level.h"
#include "tests/support/tensors.h"
#include "userlib/run/internal.h"

static const weft_dtype types[] = { WEFT_FP8E4M3FNUZ, WEFT_FP8E5M2FNUZ };
static const enum weft_device devices[] = { WEFT_DEVICE_GOLDEN, WEFT_DEVICE_MODEL, WEFT_DEVICE_RTL };
static const int32_t scales[] = { 0, -32, -7, -1, 3, 31 };

static uint64_t rng = 17;

/* Multiples of 1/8 between -4 and 4, and one NaN now and then where asked. */
static weft_tensor codes(weft_dtype t, bool nan, int rank, int64_t a, int64_t b, int64_t c, int64_t d)
{
	weft_tensor v = { .dtype = t, .rank = rank, .dim = { a, b, c, d } };
	int64_t n = weft_tensor_elements(&v);
	uint8_t *p = malloc((size_t)n);

	assert_non_null(p);
	for (int64_t i = 0; i < n; i++) {
		double x = (double)(int)(test_random(&rng) % 65 - 32) / 8;
		p[i] = nan && test_random(&rng) % 200 == 0 ? 0x80 : (uint8_t)weft_float_encode(t, x, true);
	}
	v.data = p;
	return v;
}

static double at(const weft_tensor *t, int64_t i)
{
	return weft_float_decode(t->dtype, ((const uint8_t *)t->data)[i]);
}

/* Sum times 2^scale: products round half up below 2^-28; beyond 2^19 infinite, as what is added then. */
struct sum { double v; int scale; };

static void add(struct sum *s, double a, double b)
{
	double p = ldexp(a * b, s->scale + 28);

	p = fabs(p) < 0x1p50 ? floor(p + 0.5) : p;
	if (p >= 0x1p47 || p < -0x1p47)
		p = copysign(INFINITY, p);
	s->v += p;
	if (s->v >= 0x1p47 || s->v < -0x1p47)
		s->v = copysign(INFINITY, s->v);
}

static uint16_t done(const struct sum *s)
{
	return isnan(s->v) ? 0x7e00 : (uint16_t)weft_float_encode(WEFT_FP16, ldexp(s->v, -28) + 0.0, false);
}

static void same(const weft_tensor *y, int64_t i, const struct sum *s, enum weft_device d)
{
	uint16_t got = ((const uint16_t *)y->data)[i], want = done(s);

	if (got != want)
		fail_msg("device %d, scale %d, element %lld: 0x%04x, expected 0x%04x", (int)d, s->scale, (long long)i, got, want);
}

static bool usable(enum weft_device d)
{
	static int have = -1;

	if (!weft_config_find("w16")->has_fp8)
		return d == WEFT_DEVICE_GOLDEN;
	if (have < 0)
		have = test_have_rtl("w16");
	return d != WEFT_DEVICE_RTL || have;
}

static void judge_matmul(const weft_tensor *a, const weft_tensor *b, const weft_tensor *y, int scale, enum weft_device d)
{
	int64_t h = a->dim[a->rank - 2], k = a->dim[a->rank - 1], w = b->dim[b->rank - 1];

	for (int64_t i = 0; i < h * w; i++) {
		struct sum s = { 0, scale };
		for (int64_t q = 0; q < k; q++)
			add(&s, at(a, i / w * k + q), at(b, q * w + i % w));
		same(y, i, &s, d);
	}
}

static void matmul_call(void **state)
{
	static const int64_t shape[][3] = { { 1, 1, 1 }, { 5, 17, 3 }, { 33, 40, 31 }, { 16, 300, 16 } };
	char msg[WEFT_MSG_LEN] = "";

	(void)state;
	for (int k = 0; k < 4 * 4; k++)
		for (int d = 0; d < 3; d++) {
			const int64_t *n = shape[k / 4];
			struct weft_session_options o = weft_session_options_default();
			weft_tensor a = codes(types[k & 1], k == 5, 2, n[0], n[1], 1, 1), b = codes(types[k >> 1 & 1], k == 6, 2, n[1], n[2], 1, 1), y;
			int32_t scale = scales[(k + d) % 6];
			o.device = devices[d];
			o.check = o.device != WEFT_DEVICE_GOLDEN;
			if (usable(o.device)) {
				if (weft_matmul_pow2scaled(&a, &b, scale, &o, &y, msg))
					fail_msg("%s", msg);
				assert_true(y.rank == 2 && y.dim[0] == n[0] && y.dim[1] == n[2] && y.dtype == WEFT_FP16);
				judge_matmul(&a, &b, &y, scale, o.device);
				weft_tensor_release(&y);
			}
			free(a.data);
			free(b.data);
		}
}

static void judge_conv(const weft_tensor *x, const weft_tensor *w, const struct weft_attr_conv *a, const weft_tensor *y,
                       int scale, enum weft_device d)
{
	const int64_t *xd = x->dim, *wd = w->dim, *yd = y->dim;

	for (int64_t i = 0; i < weft_tensor_elements(y); i++) {
		int64_t oc = i % yd[3], ox = i / yd[3] % yd[2], oy = i / yd[3] / yd[2] % yd[1], n = i / yd[3] / yd[2] / yd[1];
		struct sum s = { 0, scale };
		for (int64_t k = 0; k < wd[1] * wd[2]; k++) {
			int64_t iy = oy * a->stride[0] - a->pad[0] + k / wd[2] * a->dilation[0];
			int64_t ix = ox * a->stride[1] - a->pad[2] + k % wd[2] * a->dilation[1];
			for (int64_t c = 0; c < xd[3] && iy >= 0 && iy < xd[1] && ix >= 0 && ix < xd[2]; c++)
				add(&s, at(x, ((n * xd[1] + iy) * xd[2] + ix) * xd[3] + c), at(w, (oc * wd[1] * wd[2] + k) * wd[3] + c));
		}
		same(y, i, &s, d);
	}
}

static void conv_call(void **state)
{
	const struct weft_attr_conv a = { .pad = { 1, 0, 2, 1 }, .stride = { 2, 1 }, .dilation = { 1, 2 } };
	char msg[WEFT_MSG_LEN] = "";

	(void)state;
	for (int k = 0; k < 6; k++)
		for (int d = 0; d < 3; d++) {
			struct weft_session_options o = weft_session_options_default();
			weft_tensor x = codes(types[k & 1], k == 1, 4, 1 + k / 4, 8, 9, 1 + 7 * k), y;
			weft_tensor w = codes(types[k >> 1 & 1], k == 2, 4, 3 + 6 * k, 3, 3, x.dim[3]);
			o.device = devices[d];
			o.check = o.device != WEFT_DEVICE_GOLDEN;
			if (usable(o.device)) {
				if (weft_conv_pow2scaled(&x, &w, &a, scales[k], &o, &y, msg))
					fail_msg("%s", msg);
				assert_true(y.dim[1] == 4 && y.dim[2] == 8 && y.dim[3] == w.dim[0]);
				judge_conv(&x, &w, &a, &y, scales[k], o.device);
				weft_tensor_release(&y);
			}
			free(x.data);
			free(w.data);
		}
}

/* ---- a network ---- */

static int put(int **list, int *n, int t)
{
	*list = realloc(*list, ((size_t)*n + 1) * sizeof(int));
	assert_non_null(*list);
	return (*list)[(*n)++] = t;
}

/* matmul(x, b) with x and the scale as inputs, b a constant; CLAMP and a cast behind it. */
static weft_graph *network(const weft_tensor *x, const weft_tensor *b)
{
	weft_graph *g = weft_graph_new("pow2");
	weft_attr clamp = { .clamp = { .fmin = -64, .fmax = 64 } }, cast = { .onnx = { .saturate = true } };
	int in[3] = { weft_graph_tensor(g, "x", x->dtype, 3, x->dim),
		weft_graph_const(g, "b", b->dtype, 3, b->dim, memcpy(malloc(weft_tensor_bytes(b)), b->data, weft_tensor_bytes(b))),
		weft_graph_tensor(g, "scale", WEFT_INT32, 1, (int64_t[]){ 1 }) };
	int64_t dim[3] = { 1, x->dim[1], b->dim[2] };
	int y = weft_graph_tensor(g, "y", WEFT_FP16, 3, dim), z = weft_graph_tensor(g, "z", WEFT_FP16, 3, dim);
	int q = weft_graph_tensor(g, "q", types[1], 3, dim);

	g->tensors[put(&g->inputs, &g->n_inputs, in[0])].is_input = true;
	g->tensors[put(&g->inputs, &g->n_inputs, in[2])].is_input = true;
	g->tensors[put(&g->outputs, &g->n_outputs, q)].is_output = true;
	for (int i = 0; i < 3; i++)
		assert_int_equal(weft_graph_src(g, i, i ? i == 1 ? "CLAMP" : "CAST" : "MATMUL"), i);
	assert_true(weft_graph_op(g, WEFT_OP_POPXL_MATMUL_POW2SCALED, NULL, 0, in, 3, &y, 1) >= 0);
	assert_true(weft_graph_op(g, WEFT_OP_CLAMP, &clamp, 1, &y, 1, &z, 1) >= 0);
	assert_true(weft_graph_op(g, WEFT_OP_ONNX_CAST, &cast, 2, &z, 1, &q, 1) >= 0);
	return g;
}

static void run_all(const weft_net *net, const weft_tensor *x, const weft_tensor *b, enum weft_device d)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s;
	int32_t scale;
	weft_tensor in[2] = { *x, { .dtype = WEFT_INT32, .rank = 1, .dim = { 1 }, .data = &scale } }, y;

	o.device = d;
	o.check = d != WEFT_DEVICE_GOLDEN;
	if (weft_session_open(net, &o, &s, msg))
		fail_msg("%s", msg);
	for (int k = 0; k < 6; k++) {
		struct weft_report *r = NULL;
		scale = scales[k];
		if (weft_session_run(s, in, &y, &r, msg))
			fail_msg("%s", msg);
		for (int i = 0; d != WEFT_DEVICE_GOLDEN && i < r->n_ops; i++)
			assert_int_equal(r->ops[i].unit, WEFT_RUN_NPU);
		weft_report_free(r);
		for (int64_t i = 0; i < weft_tensor_elements(&y); i++) {
			struct sum sum = { 0, scale };
			for (int64_t q = 0; q < x->dim[2]; q++)
				add(&sum, at(x, i / b->dim[2] * x->dim[2] + q), at(b, q * b->dim[2] + i % b->dim[2]));
			double v = weft_float_decode(WEFT_FP16, done(&sum));
			v = v < -64 ? -64 : v > 64 ? 64 : v;
			assert_int_equal(((uint8_t *)y.data)[i], weft_float_encode(types[1], v, true));
		}
		weft_tensor_release(&y);
	}
	scale = 32;
	assert_int_equal(weft_session_run(s, in, &y, NULL, msg), -EINVAL);
	assert_non_null(strstr(msg, "log2_scale 32, must be -32..31"));
	scale = -33;
	assert_int_equal(weft_session_run(s, in, &y, NULL, msg), -EINVAL);
	weft_session_close(s);
}

/* The same network in memory, through .tosa, and compiled into .weft. */
static void network_forms(void **state)
{
	weft_tensor x = codes(types[0], false, 3, 1, 21, 50, 1), b = codes(types[1], false, 3, 1, 50, 19, 1);
	struct weft_net own = { .g = network(&x, &b) };
	char msg[WEFT_MSG_LEN] = "", note[WEFT_MSG_LEN] = "";
	weft_net *tosa, *weft;
	uint8_t *bytes;
	size_t n;

	(void)state;
	if (weft_graph_check(own.g, msg) || weft_net_convert(&own, false, &bytes, &n, note, msg) || weft_net_load(bytes, n, "pow2.tosa", &tosa, msg))
		fail_msg("%s", msg);
	assert_non_null(strstr(note, "POPXL_MATMUL_POW2SCALED"));
	free(bytes);
	if (weft_net_save(tosa, "w16", &bytes, &n, msg) || weft_net_load(bytes, n, "pow2.weft", &weft, msg))
		fail_msg("%s", msg);
	free(bytes);
	for (int d = 0; d < 3; d++) {
		if (!usable(devices[d]))
			continue;
		run_all(&own, &x, &b, devices[d]);
		run_all(tosa, &x, &b, devices[d]);
		run_all(weft, &x, &b, devices[d]);
	}
	weft_net_free(weft);
	weft_net_free(tosa);
	weft_graph_free((weft_graph *)own.g);
	free(x.data);
	free(b.data);
}

static void refuse(const weft_program *p)
{
	char msg[WEFT_MSG] = "";
	weft_program *again;
	uint8_t *file;
	size_t n;

	assert_int_equal(weft_program_write(p, &file, &n, msg), 0);
	assert_int_equal(weft_program_parse(file, n, &again, msg), -EINVAL);
	assert_non_null(strstr(msg, ".weft"));
	free(file);
}
#define BREAK(field, value) do { __typeof__(field) was_ = field; field = (value); refuse(p); field = was_; } while (0)

/* What a container says of scales and of weights that come late is not believed. */
static void late_bad(void **state)
{
	weft_tensor x = codes(types[0], false, 3, 1, 21, 50, 1), b = codes(types[1], false, 3, 1, 50, 19, 1);
	struct weft_compile_options o = { .config = "w16" };
	weft_graph *g = network(&x, &b);
	char msg[WEFT_MSG] = "";
	weft_program *p, *again;
	uint8_t *file;
	size_t n;

	(void)state;
	if (!weft_config_find("w16")->has_fp8)
		skip();
	/* The second matrix becomes an input. */
	free(g->tensors[1].t.data);
	g->tensors[1].t.data = NULL;
	g->tensors[put(&g->inputs, &g->n_inputs, 1)].is_input = true;
	assert_int_equal(weft_graph_check(g, msg), 0);
	assert_int_equal(weft_compile(g, &o, &p, msg), 0);
	assert_int_equal(p->n_packs, 1);
	assert_true(p->n_scales > 0);
	assert_int_equal(weft_program_write(p, &file, &n, msg), 0);
	assert_int_equal(weft_program_parse(file, n, &again, msg), 0);
	assert_int_equal(again->n_packs, 1);
	weft_program_free(again);
	free(file);
	BREAK(p->scales[0].step, -1);
	BREAK(p->scales[0].step, p->n_steps);
	BREAK(p->scales[0].word, p->n_words);
	BREAK(p->scales[0].tensor, 0);
	BREAK(p->scales[0].tensor, p->n_tensors);
	BREAK(p->packs[0].step, p->n_steps);
	BREAK(p->packs[0].tensor, -1);
	BREAK(p->packs[0].k, 0);
	BREAK(p->packs[0].k, 51);
	BREAK(p->packs[0].cols, UINT32_MAX);
	BREAK(p->packs[0].offset, p->arena_bytes);
	BREAK(p->packs[0].offset, UINT64_MAX);
	weft_program_free(p);
	weft_graph_free(g);
	free(x.data);
	free(b.data);
}

static void refused_bad(void **state)
{
	const struct weft_attr_conv a = { .stride = { 1, 1 }, .dilation = { 1, 1 } }, no_stride = { .dilation = { 1, 1 } };
	weft_tensor x = codes(types[0], false, 4, 1, 4, 4, 2), w = codes(types[0], false, 4, 3, 2, 2, 2), y = { 0 };
	weft_tensor m = codes(types[0], false, 2, 4, 4, 1, 1), e = codes(WEFT_FP8E5M2, false, 2, 4, 4, 1, 1);
	char msg[WEFT_MSG_LEN];

	(void)state;
	assert_int_equal(weft_conv_pow2scaled(&x, &w, &a, 32, NULL, &y, msg), -EINVAL);
	assert_int_equal(weft_conv_pow2scaled(&x, &w, &a, -33, NULL, &y, msg), -EINVAL);
	assert_int_equal(weft_conv_pow2scaled(&x, &w, &no_stride, 0, NULL, &y, msg), -EINVAL);
	assert_int_equal(weft_conv_pow2scaled(&x, &m, &a, 0, NULL, &y, msg), -EINVAL);
	assert_int_equal(weft_matmul_pow2scaled(&m, &x, 0, NULL, &y, msg), -EINVAL);
	assert_int_equal(weft_matmul_pow2scaled(&m, &e, 0, NULL, &y, msg), -EINVAL);
	assert_non_null(strstr(msg, "float8e5m2"));
	w.dim[3] = 1;
	assert_int_equal(weft_conv_pow2scaled(&x, &w, &a, 0, NULL, &y, msg), -EINVAL);
	assert_null(y.data);
	free(x.data);
	free(w.data);
	free(m.data);
	free(e.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matmul_call), cmocka_unit_test(conv_call), cmocka_unit_test(network_forms),
		cmocka_unit_test(late_bad), cmocka_unit_test(refused_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
