/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFLite files of one int16x8 operator each: what the NPU can do runs there,
 * and every tensor is golden's, on the model and on the RTL. Biases of 32 and
 * of 64 bits, which TFLite scales differently.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <weft/weft.h>

#include "../support/level.h"
#include "../support/tensors.h"
#include "../unit/tflite_build.h"

struct layer {
	const char *name;
	int code;
	int32_t h, w, c;
	int32_t oc;                /* depthwise: multiplier */
	int32_t kh, kw, stride, dilation;
	int padding, activation;
	int bias_type;             /* TFL_INT32, TFL_INT64; -1 none */
	bool pad;                  /* a PAD of one pixel before it */
};

static const struct layer layers[] = {
	{ "conv 1x1", TFL_CONV_2D, 9, 10, 24, 20, 1, 1, 1, 1, TFL_SAME, TFL_NONE, TFL_INT64, false },
	{ "conv 3x3, 32-bit bias", TFL_CONV_2D, 9, 10, 16, 33, 3, 3, 1, 1, TFL_SAME, TFL_RELU, TFL_INT32, false },
	{ "conv 3x3 behind PAD", TFL_CONV_2D, 9, 10, 16, 16, 3, 3, 2, 1, TFL_VALID, TFL_RELU6, TFL_INT64, true },
	{ "conv 5x4, dilated, no bias", TFL_CONV_2D, 14, 13, 3, 8, 5, 4, 1, 2, TFL_SAME, TFL_RELU_N1_TO_1, -1, false },
	{ "conv of few channels", TFL_CONV_2D, 30, 28, 2, 16, 3, 3, 2, 1, TFL_SAME, TFL_NONE, TFL_INT64, false },
	{ "depthwise 3x3", TFL_DEPTHWISE_CONV_2D, 11, 9, 40, 1, 3, 3, 1, 1, TFL_SAME, TFL_RELU, TFL_INT64, false },
	{ "depthwise 3x3, wide", TFL_DEPTHWISE_CONV_2D, 4, 150, 17, 1, 3, 3, 1, 1, TFL_SAME, TFL_NONE, TFL_INT64, false },
	{ "depthwise 3x2, stride 2, 32-bit bias", TFL_DEPTHWISE_CONV_2D, 11, 9, 7, 1, 3, 2, 2, 1, TFL_VALID, TFL_RELU, TFL_INT32, false },
	{ "depthwise 5x5", TFL_DEPTHWISE_CONV_2D, 11, 9, 18, 1, 5, 5, 1, 1, TFL_SAME, TFL_NONE, TFL_INT64, false },
	{ "depthwise, 3 a channel", TFL_DEPTHWISE_CONV_2D, 8, 9, 11, 3, 3, 3, 1, 1, TFL_SAME, TFL_NONE, TFL_INT64, false },
	{ "fully connected", TFL_FULLY_CONNECTED, 1, 1, 75, 34, 1, 1, 1, 1, 0, TFL_RELU, TFL_INT64, false },
	{ "fully connected, 32-bit bias", TFL_FULLY_CONNECTED, 1, 1, 260, 10, 1, 1, 1, 1, 0, TFL_NONE, TFL_INT32, false },
	{ "maximum", TFL_MAX_POOL_2D, 9, 10, 21, 0, 3, 2, 2, 1, TFL_SAME, TFL_RELU, -1, false },
	{ "average", TFL_AVERAGE_POOL_2D, 9, 10, 21, 0, 3, 3, 2, 1, TFL_SAME, TFL_NONE, -1, false },
	{ "average of all", TFL_AVERAGE_POOL_2D, 7, 7, 32, 0, 7, 7, 1, 1, TFL_VALID, TFL_RELU6, -1, false },
	{ "addition", TFL_ADD, 9, 10, 21, 0, 1, 1, 1, 1, 0, TFL_NONE, -1, false },
	{ "addition with RELU", TFL_ADD, 8, 8, 16, 0, 1, 1, 1, 1, 0, TFL_RELU, -1, false },
};

static int32_t extent(const struct layer *l, int32_t in, int32_t kernel)
{
	int32_t reach = (kernel - 1) * l->dilation + 1;

	in += l->pad ? 2 : 0;
	return l->padding == TFL_SAME ? (in + l->stride - 1) / l->stride : (in - reach) / l->stride + 1;
}

static void *random_bytes(uint64_t *rng, size_t n)
{
	uint8_t *p = malloc(n + 1);

	assert_non_null(p);
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)test_random(rng);
	return p;
}

/* Weights of -127..127, with a scale for each output channel where TFLite wants that. */
static int add_weights(struct tb *b, const struct layer *l, uint64_t *rng, int32_t out, void **data)
{
	bool dense = l->code == TFL_FULLY_CONNECTED, depthwise = l->code == TFL_DEPTHWISE_CONV_2D;
	int32_t dim4[4] = { depthwise ? 1 : out, l->kh, l->kw, depthwise ? out : l->c }, dim2[2] = { out, l->c };
	size_t n = (size_t)out * (size_t)(l->kh * l->kw) * (size_t)(depthwise ? 1 : l->c);
	int w = tb_add(b, TFL_INT8, dense ? 2 : 4, dense ? dim2 : dim4, 0.01f, 0);
	int8_t *p = *data = random_bytes(rng, n);

	for (size_t i = 0; i < n; i++)
		p[i] = (int8_t)(p[i] == -128 ? 0 : p[i]);
	tb_constant(b, w, p, n);
	if (dense)
		return w;
	b->tensor[w].axis = depthwise ? 3 : 0;
	b->tensor[w].n_scale = out;
	for (int32_t i = 0; i < out; i++)
		b->tensor[w].scale[i] = 0.001f * (float)(3 + test_random(rng) % 20);
	return w;
}

static int add_bias(struct tb *b, const struct layer *l, uint64_t *rng, int32_t out, void **data)
{
	size_t size = l->bias_type == TFL_INT64 ? 8 : 4;
	int i = tb_add(b, l->bias_type, 1, &out, 1, 0);

	*data = calloc((size_t)out, size);
	assert_non_null(*data);
	for (int32_t k = 0; k < out; k++) {
		int32_t v = (int32_t)(test_random(rng) % 20000001) - 10000000;
		if (size == 8)
			((int64_t *)*data)[k] = (int64_t)v * 64;
		else
			((int32_t *)*data)[k] = v;
	}
	tb_constant(b, i, *data, (size_t)out * size);
	return i;
}

static int add_pad(struct tb *b, const struct layer *l, int x)
{
	static const int32_t amount[8] = { 0, 0, 1, 1, 1, 1, 0, 0 };
	int pads = tb_add(b, TFL_INT32, 2, (int32_t[]){ 4, 2 }, 0, 0);
	int y = tb_add(b, TFL_INT16, 4, (int32_t[]){ 1, l->h + 2, l->w + 2, l->c }, 0.0009f, 0);
	struct tb_op *o = tb_op(b, TFL_PAD, OPTIONS_NONE);

	tb_constant(b, pads, amount, sizeof amount);
	o->n_in = 2;
	o->in[0] = x;
	o->in[1] = pads;
	o->n_out = 1;
	o->out[0] = y;
	return y;
}

static void window_options(struct tb_op *o, const struct layer *l)
{
	bool pool = l->code == TFL_MAX_POOL_2D || l->code == TFL_AVERAGE_POOL_2D;
	bool depthwise = l->code == TFL_DEPTHWISE_CONV_2D;

	/* Padding and strides have the same places in all three. */
	tb_option(o, CONV_PADDING, 1, l->padding);
	tb_option(o, CONV_STRIDE_W, 4, l->stride);
	tb_option(o, CONV_STRIDE_H, 4, l->stride);
	if (pool) {
		tb_option(o, POOL_FILTER_W, 4, l->kw);
		tb_option(o, POOL_FILTER_H, 4, l->kh);
		tb_option(o, POOL_ACTIVATION, 1, l->activation);
		return;
	}
	if (depthwise)
		tb_option(o, DW_MULTIPLIER, 4, l->oc);
	tb_option(o, depthwise ? DW_ACTIVATION : CONV_ACTIVATION, 1, l->activation);
	tb_option(o, depthwise ? DW_DILATION_W : CONV_DILATION_W, 4, l->dilation);
	tb_option(o, depthwise ? DW_DILATION_H : CONV_DILATION_H, 4, l->dilation);
}

static int options_of(const struct layer *l)
{
	switch (l->code) {
	case TFL_CONV_2D: return OPTIONS_CONV;
	case TFL_DEPTHWISE_CONV_2D: return OPTIONS_DEPTHWISE;
	case TFL_FULLY_CONNECTED: return OPTIONS_FULLY_CONNECTED;
	case TFL_ADD: return OPTIONS_ADD;
	default: return OPTIONS_POOL;
	}
}

static void add_operator(struct tb *b, const struct layer *l, uint64_t *rng, int x, void *data[2])
{
	bool sums = l->code == TFL_CONV_2D || l->code == TFL_DEPTHWISE_CONV_2D || l->code == TFL_FULLY_CONNECTED;
	int32_t out = l->code == TFL_DEPTHWISE_CONV_2D ? l->c * l->oc : sums ? l->oc : l->c;
	struct tb_op *o = tb_op(b, l->code, options_of(l));

	o->in[o->n_in++] = x;
	if (sums)
		o->in[o->n_in++] = add_weights(b, l, rng, out, &data[0]);
	if (l->bias_type >= 0)
		o->in[o->n_in++] = add_bias(b, l, rng, out, &data[1]);
	if (l->code == TFL_ADD) {
		b->in[b->n_in++] = tb_add(b, TFL_INT16, 4, b->tensor[x].dim, 0.0005f, 0);
		o->in[o->n_in++] = b->in[1];
		tb_option(o, ADD_ACTIVATION, 1, l->activation);
	} else if (l->code == TFL_FULLY_CONNECTED) {
		tb_option(o, FC_ACTIVATION, 1, l->activation);
	} else {
		window_options(o, l);
	}
	int32_t dim[4] = { 1, extent(l, l->h, l->kh), extent(l, l->w, l->kw), out }, flat[2] = { 1, out };
	bool dense = l->code == TFL_FULLY_CONNECTED;
	bool pool = l->code == TFL_MAX_POOL_2D || l->code == TFL_AVERAGE_POOL_2D;
	o->n_out = 1;
	o->out[0] = tb_add(b, TFL_INT16, dense ? 2 : 4, dense ? flat : dim, pool ? 0.0009f : 0.0011f, 0);
	b->out[b->n_out++] = o->out[0];
}

static weft_net *make_net(const struct layer *l, uint64_t *rng)
{
	struct tb *b = calloc(1, sizeof *b);
	void *data[2] = { NULL, NULL };
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net = NULL;
	size_t n;

	assert_non_null(b);
	int x = tb_add(b, TFL_INT16, l->code == TFL_FULLY_CONNECTED ? 2 : 4,
	               l->code == TFL_FULLY_CONNECTED ? (int32_t[]){ 1, l->c } : (int32_t[]){ 1, l->h, l->w, l->c }, 0.0009f, 0);
	b->in[b->n_in++] = x;
	if (l->pad)
		x = add_pad(b, l, x);
	add_operator(b, l, rng, x, data);
	uint8_t *file = tb_file(b, &n);
	if (weft_net_load(file, n, l->name, &net, msg))
		fail_msg("%s: %s", l->name, msg);
	free(file);
	free(data[0]);
	free(data[1]);
	free(b);
	return net;
}

static void run_inputs(const weft_net *net, weft_session *s, const struct layer *l, uint64_t *rng)
{
	weft_tensor in[2] = { 0 }, out = { 0 };
	struct weft_report *rep = NULL;
	char msg[WEFT_MSG_LEN] = "";

	for (int i = 0; i < weft_net_n_inputs(net); i++) {
		struct weft_port p;
		assert_int_equal(weft_net_input(net, i, &p), 0);
		in[i] = (weft_tensor){ .dtype = p.dtype, .rank = p.rank };
		memcpy(in[i].dim, p.dim, sizeof in[i].dim);
		in[i].data = random_bytes(rng, weft_tensor_bytes(&in[i]));
	}
	int err = weft_session_run(s, in, &out, &rep, msg);
	if (rep && rep->mismatches)
		fail_msg("%s: %s of %s: index %lld: expected %lld, got %lld", l->name, rep->first.tensor, rep->first.op_name,
		         (long long)rep->first.index, (long long)rep->first.expected, (long long)rep->first.got);
	if (err)
		fail_msg("%s: %s", l->name, msg);
	assert_true(rep->checked && rep->tensors >= 1 && rep->elements > 0);
	/* Results that are all alike would hide much. */
	const int16_t *y = out.data;
	int64_t n = weft_tensor_elements(&out), differ = 0;
	for (int64_t i = 1; i < n; i++)
		differ += y[i] != y[0];
	assert_int_equal(out.dtype, WEFT_INT16);
	assert_true(n < 2 || differ > 0);
	weft_report_free(rep);
	weft_tensor_release(&out);
	free(in[0].data);
	free(in[1].data);
}

static void run_layer(const struct layer *l, enum weft_device device)
{
	struct weft_session_options o = weft_session_options_default();
	struct weft_report *plan;
	char msg[WEFT_MSG_LEN] = "";
	uint64_t rng = 7;
	weft_session *s;
	weft_net *net = make_net(l, &rng);

	o.device = device;
	o.check = true;
	if (weft_session_open(net, &o, &s, msg) || weft_session_plan(s, &plan, msg))
		fail_msg("%s: %s", l->name, msg);
	for (int i = 0; i < plan->n_ops; i++)
		if (plan->ops[i].unit != WEFT_RUN_NPU && strcmp(plan->ops[i].reason, "part of what reads it"))
			fail_msg("%s: %s is on the host: %s", l->name, plan->ops[i].op, plan->ops[i].reason);
	assert_true(plan->n_ops > 0);
	weft_report_free(plan);
	for (int k = 0; k < 3; k++)
		run_inputs(net, s, l, &rng);
	weft_session_close(s);
	weft_net_free(net);
}

static void on_model(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
		run_layer(&layers[i], WEFT_DEVICE_MODEL);
}

static void on_rtl(void **state)
{
	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
		run_layer(&layers[i], WEFT_DEVICE_RTL);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(on_model), cmocka_unit_test(on_rtl) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
