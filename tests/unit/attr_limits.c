/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of attributes and of zero points: a network of one operator passes, and with one
 * attribute just beyond its limit it is refused with the message that is stated here.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "userlib/graph/graph.h"

#define MAX_IN 13
#define I8 WEFT_INT8
#define I32 WEFT_INT32
#define F32 WEFT_FP32

struct shape { weft_dtype type; int64_t dim[6]; };

struct net {
	weft_opcode op;
	weft_attr a;
	struct shape in[MAX_IN + 1], out[2];
};

static int add(weft_graph *g, const struct shape *s, int i, bool input)
{
	char name[16];
	int rank = 0;

	snprintf(name, sizeof name, "%s%d", input ? "in" : "out", i);
	while (rank < 6 && s->dim[rank])
		rank++;
	int t = weft_graph_tensor(g, name, s->type, rank, s->dim);
	g->tensors[t].is_input = input;
	g->tensors[t].is_output = !input;
	return t;
}

static int check(const struct net *n, char *msg)
{
	weft_graph *g = weft_graph_new("test");
	int in[MAX_IN], out[2], n_in = 0, n_out = 0;

	*msg = '\0';
	for (; n_in < MAX_IN && n->in[n_in].type; n_in++)
		in[n_in] = add(g, &n->in[n_in], n_in, true);
	for (; n_out < 2 && n->out[n_out].type; n_out++)
		out[n_out] = add(g, &n->out[n_out], n_out, false);
	assert_true(weft_graph_op(g, n->op, &n->a, -1, in, n_in, out, n_out) >= 0);
	int err = weft_graph_check(g, msg);
	weft_graph_free(g);
	return err;
}

static void good(const struct net *n)
{
	char msg[WEFT_MSG];

	if (check(n, msg))
		fail_msg("%s", msg);
}

static void bad(const struct net *n, const char *change, const char *says)
{
	char msg[WEFT_MSG];
	const char *head = "operator 0 ";
	int err = check(n, msg);
	const char *p = strchr(msg, ':');

	if (err != -EINVAL || strncmp(msg, head, strlen(head)) || !p || strcmp(p + 2, says))
		fail_msg("%s %s: returned %d '%s', wanted '%s'", weft_op_name(n->op), change, err, msg, says);
}

/* The network as it is, then with a field that is beyond a limit. */
#define NET(...) struct net net = { __VA_ARGS__ }; good(&net)
#define BAD(change, says) do { struct net n = net; weft_attr *a = &n.a; (void)a; n.a.change; bad(&n, #change, says); } while (0)
#define GOOD(change) do { struct net n = net; n.a.change; good(&n); } while (0)

static void convolutions(void **state)
{
	static const weft_opcode ops[2] = { WEFT_OP_CONV2D, WEFT_OP_DEPTHWISE_CONV2D };

	(void)state;
	for (int i = 0; i < 2; i++) {
		NET(ops[i], { .conv = { { 0 }, { 1, 1 }, { 1, 1 }, 0, 0, I32, false, 0 } },
		    { { I8, { 1, 4, 4, 1 } }, { I8, { 1, 1, 1, 1 } }, { I32, { 1 } } }, { { I32, { 1, 4, 4, 1 } } });
		for (int k = 0; k < 4; k++) {
			char says[40];
			snprintf(says, sizeof says, "padding %d is -1 < 0", k);
			BAD(conv.pad[k] = -1, says);
		}
		BAD(conv.x_zp = 128, "input zero point 128 outside -128..127");
		BAD(conv.x_zp = -129, "input zero point -129 outside -128..127");
		BAD(conv.w_zp = 128, "weight zero point 128 outside -128..127");
	}
	NET(WEFT_OP_TRANSPOSE_CONV2D, { .conv = { { -1, 0, 0, 0 }, { 1, 1 }, { 1, 1 }, 0, 0, I32, false, 0 } },
	    { { I8, { 1, 4, 4, 1 } }, { I8, { 1, 2, 1, 1 } }, { I32, { 1 } } }, { { I32, { 1, 4, 4, 1 } } });
	BAD(conv.x_zp = 128, "input zero point 128 outside -128..127");
	BAD(conv.w_zp = 128, "weight zero point 128 outside -128..127");
}

static void convolutions_of_three(void **state)
{
	(void)state;
	NET(WEFT_OP_CONV3D, { .conv3d = { { 0 }, { 1, 1, 1 }, { 1, 1, 1 }, 0, 0, I32, false } },
	    { { I8, { 1, 2, 2, 2, 1 } }, { I8, { 1, 1, 1, 1, 1 } }, { I32, { 1 } } }, { { I32, { 1, 2, 2, 2, 1 } } });
	BAD(conv3d.x_zp = 128, "input zero point 128 outside -128..127");
	BAD(conv3d.w_zp = -129, "weight zero point -129 outside -128..127");
}

static void scaled_convolution(void **state)
{
	(void)state;
	NET(WEFT_OP_POPXL_CONV_POW2SCALED, { .conv = { { 0 }, { 1, 1 }, { 1, 1 }, 0, 0, 0, false, 0 } },
	    { { WEFT_FP8E4M3FNUZ, { 1, 4, 4, 1 } }, { WEFT_FP8E4M3FNUZ, { 1, 1, 1, 1 } }, { I32, { 1 } } },
	    { { WEFT_FP16, { 1, 4, 4, 1 } } });
	BAD(conv.pad[2] = -1, "padding 2 is -1 < 0");
	BAD(conv.x_zp = 1, "input zero point 1 outside 0..0");
	BAD(conv.w_zp = 1, "weight zero point 1 outside 0..0");
}

static void pools(void **state)
{
	(void)state;
	{
		NET(WEFT_OP_AVG_POOL2D, { .pool = { { 1, 1 }, { 1, 1 }, { 0 }, 0, 0, I32, 0 } }, { { I8, { 1, 2, 2, 1 } } },
		    { { I8, { 1, 2, 2, 1 } } });
		BAD(pool.x_zp = 128, "input zero point 128 outside -128..127");
		BAD(pool.y_zp = -129, "result zero point -129 outside -128..127");
		BAD(pool.nan = 4, "NaN mode 4 outside 0..3");
	}
	NET(WEFT_OP_MAX_POOL2D, { .pool = { { 1, 1 }, { 1, 1 }, { 0 }, 0, 0, 0, 2 } }, { { I8, { 1, 2, 2, 1 } } },
	    { { I8, { 1, 2, 2, 1 } } });
	BAD(pool.nan = 3, "NaN mode 3 is of float32, not of int8");
	BAD(pool.nan = 4, "NaN mode 4 outside 0..3");
	BAD(pool.nan = -1, "NaN mode -1 outside 0..3");
}

static void nan_modes(void **state)
{
	static const weft_opcode reduce[] = { WEFT_OP_REDUCE_MAX, WEFT_OP_REDUCE_MIN, WEFT_OP_REDUCE_SUM, WEFT_OP_REDUCE_PRODUCT };

	(void)state;
	for (size_t i = 0; i < sizeof reduce / sizeof *reduce; i++) {
		NET(reduce[i], { .axis = { 0, 2 } }, { { F32, { 2, 2 } } }, { { F32, { 1, 2 } } });
		BAD(axis.nan = 4, "NaN mode 4 outside 0..3");
		BAD(axis.nan = -1, "NaN mode -1 outside 0..3");
	}
	for (int i = 0; i < 2; i++) {
		NET(i ? WEFT_OP_MAXIMUM : WEFT_OP_MINIMUM, { .nan = { 2 } }, { { F32, { 2 } }, { F32, { 2 } } }, { { F32, { 2 } } });
		GOOD(nan.nan = 3);
		BAD(nan.nan = 4, "NaN mode 4 outside 0..3");
		BAD(nan.nan = -1, "NaN mode -1 outside 0..3");
	}
	for (int i = 0; i < 2; i++) {
		NET(i ? WEFT_OP_REDUCE_ALL : WEFT_OP_REDUCE_ANY, { .axis = { 0, 0 } }, { { WEFT_BOOL, { 2, 2 } } }, { { WEFT_BOOL, { 1, 2 } } });
		BAD(axis.nan = 4, "NaN mode 4 outside 0..3");
	}
	{
		NET(WEFT_OP_ARGMAX, { .axis = { 0, 2 } }, { { F32, { 2, 2 } } }, { { I32, { 2 } } });
		GOOD(axis.nan = 3);
		BAD(axis.nan = 4, "NaN mode 4 outside 0..3");
	}
	{
		NET(WEFT_OP_CONCAT, { .axis = { 0, 0 } }, { { I8, { 2 } } }, { { I8, { 2 } } });
		BAD(axis.nan = 4, "NaN mode 4 outside 0..3");
	}
	{
		NET(WEFT_OP_REVERSE, { .axis = { 0, 0 } }, { { I8, { 2 } } }, { { I8, { 2 } } });
		BAD(axis.nan = 4, "NaN mode 4 outside 0..3");
	}
	NET(WEFT_OP_CLAMP, { .clamp = { -1, 1, 0, 0, 2 } }, { { I8, { 2 } } }, { { I8, { 2 } } });
	BAD(clamp.nan = 3, "NaN mode 3 is of float32, not of int8");
	BAD(clamp.nan = 4, "NaN mode 4 outside 0..3");
	BAD(clamp.nan = -1, "NaN mode -1 outside 0..3");
}

static void zero_points(void **state)
{
	(void)state;
	{
		NET(WEFT_OP_NEGATE, { .negate = { 0, 0 } }, { { I8, { 2 } } }, { { I8, { 2 } } });
		BAD(negate.x_zp = 128, "input zero point 128 outside -128..127");
		BAD(negate.y_zp = 128, "result zero point 128 outside -128..127");
	}
	{
		NET(WEFT_OP_MATMUL, { .matmul = { 0, 0, 0 } }, { { I8, { 1, 2, 2 } }, { I8, { 1, 2, 2 } } }, { { I32, { 1, 2, 2 } } });
		BAD(matmul.a_zp = 128, "a zero point 128 outside -128..127");
		BAD(matmul.b_zp = 128, "b zero point 128 outside -128..127");
	}
	{
		NET(WEFT_OP_RESCALE, { .rescale = { true, 1, false, true, false, 200, 0 } },
		    { { I8, { 2 } }, { I32, { 1 } }, { I8, { 1 } } }, { { I8, { 2 } } });
		BAD(rescale.x_zp = 256, "input zero point 256 outside 0..255");
		BAD(rescale.y_zp = 200, "result zero point 200 outside -128..127");
	}
	{
		NET(WEFT_OP_RESCALE, { .rescale = { true, 1, false, false, true, 0, 200 } },
		    { { I8, { 2 } }, { I32, { 1 } }, { I8, { 1 } } }, { { I8, { 2 } } });
		BAD(rescale.y_zp = 256, "result zero point 256 outside 0..255");
	}
	{
		NET(WEFT_OP_RESCALE, { .rescale = { true, 1, false, false, false, 32767, -32768 } },
		    { { WEFT_INT16, { 2 } }, { I32, { 1 } }, { I8, { 1 } } }, { { WEFT_INT16, { 2 } } });
		BAD(rescale.x_zp = 32768, "input zero point 32768 outside -32768..32767");
		BAD(rescale.y_zp = -32769, "result zero point -32769 outside -32768..32767");
	}
	{
		NET(WEFT_OP_TFL_L2_NORMALIZATION, { .tfl_norm = { 0, 7 } }, { { I8, { 2 } } }, { { I8, { 2 } } });
		BAD(tfl_norm.x_zp = 128, "operand 0 zero point 128 outside -128..127");
	}
	{
		NET(WEFT_OP_TFL_LOGISTIC, { .quant = { 1, 0, 1, 0 } }, { { I8, { 2 } } }, { { I8, { 2 } } });
		BAD(quant.x_zp = 128, "operand 0 zero point 128 outside -128..127");
		BAD(quant.y_zp = 128, "result zero point 128 outside -128..127");
	}
	{
		NET(WEFT_OP_TFL_TANH, { .quant = { 1, 0, 1, 9 } }, { { WEFT_INT16, { 2 } } }, { { WEFT_INT16, { 2 } } });
		BAD(quant.x_zp = 1, "operand 0 zero point 1 outside 0..0");
	}
	{
		NET(WEFT_OP_TFL_DEQUANTIZE, { .quant = { 1, 0, 0, 999 } }, { { I8, { 2 } } }, { { F32, { 2 } } });
		BAD(quant.x_zp = 128, "operand 0 zero point 128 outside -128..127");
	}
	NET(WEFT_OP_TFL_QUANTIZE, { .quant = { 0, 999, 1, 0 } }, { { F32, { 2 } } }, { { I8, { 2 } } });
	BAD(quant.y_zp = 128, "result zero point 128 outside -128..127");
}

static void resize(void **state)
{
	(void)state;
	NET(WEFT_OP_RESIZE, { .resize = { 1, 1, 1, 1, 0, 0, 0, 0, WEFT_RESIZE_NEAREST } }, { { I8, { 1, 2, 2, 1 } } }, { { I8, { 1, 2, 2, 1 } } });
	BAD(resize.mode = 0, "mode 0 outside 1..2");
	BAD(resize.mode = 3, "mode 3 outside 1..2");
}

static void lstm(void **state)
{
	struct net net = { .op = WEFT_OP_TFL_LSTM, .out = { { I8, { 1, 2, 3 } } } };

	(void)state;
	net.in[0] = (struct shape){ I8, { 1, 2, 4 } };
	for (int i = 0; i < 4; i++) {
		net.in[1 + i] = (struct shape){ I8, { 3, 4 } };
		net.in[5 + i] = (struct shape){ I8, { 3, 3 } };
		net.in[9 + i] = (struct shape){ I32, { 3 } };
	}
	good(&net);
	BAD(tfl_lstm.x_zp = 128, "input zero point 128 outside -128..127");
	BAD(tfl_lstm.y_zp = 128, "result zero point 128 outside -128..127");
	BAD(tfl_lstm.cell_power = 1, "cell_power 1 outside -30..0");
	BAD(tfl_lstm.cell_power = -31, "cell_power -31 outside -30..0");
	BAD(tfl_lstm.cell_clip = -1, "cell_clip -1 outside 0..32767");
	BAD(tfl_lstm.cell_clip = 32768, "cell_clip 32768 outside 0..32767");
#define FACTOR(of, which) \
	BAD(tfl_lstm.of which.multiplier = -1, #of "'s multiplier -1 outside 0..2147483647"); \
	BAD(tfl_lstm.of which.shift = -32, #of "'s shift -32 outside -31..30"); \
	BAD(tfl_lstm.of which.shift = 31, #of "'s shift 31 outside -31..30")
	FACTOR(x_gate, [0]);
	FACTOR(x_gate, [3]);
	FACTOR(h_gate, [0]);
	FACTOR(h_gate, [3]);
	FACTOR(forget_cell, );
	FACTOR(input_cell, );
	FACTOR(hidden, );
}

static void pact(void **state)
{
	(void)state;
	{
		NET(WEFT_OP_ONNX_REQUANT_SHIFT, { .requant_shift = { 0, 1, 1 } }, { { I32, { 2 } }, { I32, { 2 } }, { I32, { 2 } } }, { { I32, { 2 } } });
		BAD(requant_shift.shift = -1, "shift -1 outside 0..62");
		BAD(requant_shift.shift = 63, "shift 63 outside 0..62");
		BAD(requant_shift.min = 2, "limits 2 to 1");
	}
	{
		NET(WEFT_OP_PACT_LAYER_NORM, { .requant_shift = { 0, 1, 1 } }, { { I32, { 2 } }, { I32, { 2 } }, { I32, { 2 } } }, { { I32, { 2 } } });
		BAD(requant_shift.shift = 63, "shift 63 outside 0..62");
		BAD(requant_shift.min = 2, "limits 2 to 1, 2 elements a row");
	}
	{
		NET(WEFT_OP_PACT_DIV, { .pact_div = { 1, 0, 1, false } }, { { I32, { 2 } }, { I32, { 2 } } }, { { I32, { 2 } } });
		BAD(pact_div.delta = 0, "delta 0 < 1");
		BAD(pact_div.eps = -1, "eps -1 < 0");
		BAD(pact_div.eta = 0, "eta 0 < 1");
		BAD(pact_div = ((struct weft_attr_pact_div){ 65536, 0, 65536, false }), "delta 65536 times eta 65536 beyond 32 bits");
	}
	{
		NET(WEFT_OP_PACT_SOFTMAX, { .pact_softmax = { 1, 1, 1, 2, 0 } }, { { I32, { 2 } } }, { { I32, { 2 } } });
		BAD(pact_softmax.a = 0, "a 0 outside 1..32768");
		BAD(pact_softmax.a = 32769, "a 32769 outside 1..32768");
		BAD(pact_softmax.b = 0, "b 0 outside 1..32768");
		BAD(pact_softmax.b = 32769, "b 32769 outside 1..32768");
		BAD(pact_softmax.log2 = 0, "log2 0 outside 1..32768");
		BAD(pact_softmax.log2 = 32769, "log2 32769 outside 1..32768");
		BAD(pact_softmax.n_levels = 1, "n_levels 1 outside 2..32768");
		BAD(pact_softmax.n_levels = 32769, "n_levels 32769 outside 2..32768");
		BAD(pact_softmax.c = -1, "c -1 outside 0..70368744177664");
		BAD(pact_softmax.c = 70368744177665, "c 70368744177665 outside 0..70368744177664");
		GOOD(pact_softmax.c = 70368744177664);
	}
	{
		NET(WEFT_OP_PACT_ITA_MAX, { .pact_ita_max = { 1, 1 } }, { { I32, { 4 } } }, { { I32, { 4 } } });
		BAD(pact_ita_max.group = 0, "group 0 < 1");
		BAD(pact_ita_max.group = 3, "groups of 3 in a row of 4");
		BAD(pact_ita_max.most = 0, "most 0 outside 1..255");
		BAD(pact_ita_max.most = 256, "most 256 outside 1..255");
	}
	NET(WEFT_OP_ONNX_CAST, { .onnx = { false, 0, 2 } }, { { I8, { 2 } } }, { { F32, { 2 } } });
	BAD(onnx.scale_round = -1, "scale_round -1 outside 0..2");
	BAD(onnx.scale_round = 3, "scale_round 3 outside 0..2");
}

/* ---- what attributes ask of each other and of shapes, with values that messages show ---- */

static void windows(void **state)
{
	(void)state;
	{
		NET(WEFT_OP_CONV2D, { .conv = { { 0 }, { 1, 1 }, { 1, 1 }, 0, 0, I32, false, 0 } },
		    { { I8, { 1, 4, 4, 1 } }, { I8, { 1, 1, 1, 1 } }, { I32, { 1 } } }, { { I32, { 1, 4, 4, 1 } } });
		BAD(conv.stride[0] = -2, "stride -2, dilation 1 < 1");
		BAD(conv.dilation[1] = -2, "stride 1, dilation -2 < 1");
	}
	{
		NET(WEFT_OP_TRANSPOSE_CONV2D, { .conv = { { 0 }, { 1, 1 }, { 1, 1 }, 0, 0, I32, false, 0 } },
		    { { I8, { 1, 4, 4, 1 } }, { I8, { 1, 2, 1, 1 } }, { I32, { 1 } } }, { { I32, { 1, 5, 4, 1 } } });
		BAD(conv.pad[0] = -2, "output padding <= -2");
		BAD(conv.pad[1] = -2, "output padding <= -2");
		BAD(conv.dilation[0] = 2, "dilation 2, not 1");
	}
	{
		NET(WEFT_OP_CONV3D, { .conv3d = { { 0 }, { 1, 1, 1 }, { 1, 1, 1 }, 0, 0, I32, false } },
		    { { I8, { 1, 2, 2, 2, 1 } }, { I8, { 1, 1, 1, 1, 1 } }, { I32, { 1 } } }, { { I32, { 1, 2, 2, 2, 1 } } });
		BAD(conv3d = ((struct weft_attr_conv3d){ { -1, 5 }, { 1, 1, 1 }, { 1, 1, 1 }, 0, 0, I32, false }),
		    "depth: pads -1, 5 < 0 or stride 1, dilation 1 < 1");
		BAD(conv3d = ((struct weft_attr_conv3d){ { 0, 0, 5, -1 }, { 1, 1, 1 }, { 1, 1, 1 }, 0, 0, I32, false }),
		    "height: pads 5, -1 < 0 or stride 1, dilation 1 < 1");
		BAD(conv3d.stride[2] = -3, "width: pads 0, 0 < 0 or stride -3, dilation 1 < 1");
		BAD(conv3d.dilation[2] = -3, "width: pads 0, 0 < 0 or stride 1, dilation -3 < 1");
	}
	NET(WEFT_OP_MAX_POOL2D, { .pool = { { 2, 2 }, { 1, 1 }, { 1, 0, 1, 0 }, 0, 0, 0, 0 } }, { { I8, { 1, 2, 2, 1 } } },
	    { { I8, { 1, 2, 2, 1 } } });
	BAD(pool.kernel[0] = -1, "kernel -1, stride 1 < 1");
	BAD(pool.stride[1] = -4, "kernel 2, stride -4 < 1");
	BAD(pool.pad[2] = -1, "padding -1 outside 0..1");
	BAD(pool.pad[2] = 2, "padding 2 outside 0..1");
}

static void layout(void **state)
{
	(void)state;
	{
		NET(WEFT_OP_PAD, { .pad = { { 1, 0 }, { 0, 1 }, 0, 0 } }, { { I8, { 2, 2 } } }, { { I8, { 3, 3 } } });
		BAD(pad.before[1] = -1, "padding of dimension 1 < 0");
		BAD(pad.after[0] = -1, "padding of dimension 0 < 0");
	}
	{
		NET(WEFT_OP_SLICE, { .slice = { { 1 } } }, { { I8, { 2 } } }, { { I8, { 1 } } });
		BAD(slice.start[0] = -1, "dimension 0: 1 from -1 is outside 2");
		BAD(slice.start[0] = 2, "dimension 0: 1 from 2 is outside 2");
	}
	NET(WEFT_OP_TRANSPOSE, { .perm = { { 1, 0 } } }, { { I8, { 2, 2 } } }, { { I8, { 2, 2 } } });
	BAD(perm.perm[0] = -1, "permutation entry 0 is -1");
	BAD(perm.perm[0] = 2, "permutation entry 0 is 2");
	BAD(perm.perm[1] = 1, "permutation entry 1 is 1");
}

static void arithmetic(void **state)
{
	(void)state;
	{
		NET(WEFT_OP_MUL, { .mul = { 63 } }, { { I32, { 2 } }, { I32, { 2 } } }, { { I32, { 2 } } });
		BAD(mul.shift = 64, "shift 64 for int32");
		BAD(mul.shift = -1, "shift -1 for int32");
	}
	{
		NET(WEFT_OP_CLAMP, { .clamp = { -1, 1, 0, 0, 0 } }, { { I8, { 2 } } }, { { I8, { 2 } } });
		BAD(clamp.max = 200, "limits -1..200 outside the type");
		BAD(clamp.min = -300, "limits -300..1 outside the type");
	}
	{
		NET(WEFT_OP_CLAMP, { .clamp = { 0, 0, -2, -1, 0 } }, { { F32, { 2 } } }, { { F32, { 2 } } });
		BAD(clamp.fmin = -0.5, "minimum above maximum");
		BAD(clamp.fmax = -3, "minimum above maximum");
	}
	{
		NET(WEFT_OP_CLAMP, { .clamp = { 0, 0, 1, 2, 0 } }, { { F32, { 2 } } }, { { F32, { 2 } } });
		BAD(clamp.fmin = 3, "minimum above maximum");
	}
	{
		NET(WEFT_OP_RESCALE, { .rescale = { true, WEFT_SINGLE_ROUND, false, false, false, 0, 0 } },
		    { { I8, { 0 } }, { I32, { 1 } }, { I8, { 1 } } }, { { I8, { 0 } } });
		for (int r = WEFT_SINGLE_ROUND; r <= WEFT_EVEN_ROUND; r++)
			GOOD(rescale.rounding = (weft_rounding)r);
		BAD(rescale.rounding = 9, "rounding 9 is none");
		BAD(rescale.per_channel = true, "per channel with rank 0");
		BAD(rescale = ((struct weft_attr_rescale){ .rounding = WEFT_DOUBLE_ROUND }), "two roundings with a 16-bit multiplier");
	}
	NET(WEFT_OP_RESCALE, { .rescale = { false, WEFT_SINGLE_ROUND, false, false, false, 0, 0 } },
	    { { WEFT_INT48, { 2 } }, { WEFT_INT16, { 1 } }, { I8, { 1 } } }, { { I8, { 2 } } });
	BAD(rescale.scale32 = true, "int48 with a 32-bit multiplier");
}

static void scales(void **state)
{
	(void)state;
	{
		NET(WEFT_OP_TFL_SOFTMAX, { .tfl_softmax = { 1, 2 } }, { { I8, { 2 } } }, { { I8, { 2 } } });
		BAD(tfl_softmax.x_scale = -1, "rank 1, scale -1, beta 2");
		BAD(tfl_softmax.beta = -1, "rank 1, scale 1, beta -1");
		BAD(tfl_softmax.beta = HUGE_VALF, "rank 1, scale 1, beta inf");
	}
	{
		NET(WEFT_OP_TFL_LOG_SOFTMAX, { .tfl_softmax = { 1, 0 } }, { { I8, { 2 } } }, { { I8, { 2 } } });
		BAD(tfl_softmax.x_scale = -1, "rank 1, scale -1");
	}
	{
		NET(WEFT_OP_TFL_L2_NORMALIZATION, { .tfl_norm = { 0, 7 } }, { { I8, { 2 } } }, { { I8, { 2 } } });
		GOOD(tfl_norm.left = 0);
		BAD(tfl_norm.left = 3, "rank 1, left 3");
	}
	{
		NET(WEFT_OP_TFL_LOGISTIC, { .quant = { 1, 0, 1, 0 } }, { { I8, { 2 } } }, { { I8, { 2 } } });
		BAD(quant.x_scale = -1, "scales -1 and 1");
		BAD(quant.y_scale = -2, "scales 1 and -2");
	}
	{
		NET(WEFT_OP_TFL_DEQUANTIZE, { .quant = { 1, 0, 0, 0 } }, { { I8, { 2 } } }, { { F32, { 2 } } });
		BAD(quant.x_scale = -1, "scale -1");
	}
	{
		NET(WEFT_OP_TFL_QUANTIZE, { .quant = { 0, 0, 1, 0 } }, { { F32, { 2 } } }, { { I8, { 2 } } });
		BAD(quant.y_scale = -2, "scale -2");
	}
	{
		NET(WEFT_OP_TFL_FUNCTION, { .tfl_function = { 7 } }, { { F32, { 2 } } }, { { F32, { 2 } } });
		BAD(tfl_function.function = 8, "function 8 outside 0..7");
		BAD(tfl_function.function = -1, "function -1 outside 0..7");
	}
	{
		NET(WEFT_OP_TFL_QUOTIENT, { .tfl_quotient = { 0, 0, 0, 1, 30 } }, { { I8, { 2 } }, { I8, { 2 } } }, { { I8, { 2 } } });
		BAD(tfl_quotient.a_zp = 128, "operand 0 zero point 128 outside -128..127");
		BAD(tfl_quotient.b_zp = 128, "operand 1 zero point 128 outside -128..127");
		BAD(tfl_quotient.y_zp = 128, "result zero point 128 outside -128..127");
		BAD(tfl_quotient.multiplier = -1, "multiplier -1 < 0");
		BAD(tfl_quotient.shift = 31, "shift 31 outside -31..30");
		BAD(tfl_quotient.shift = -32, "shift -32 outside -31..30");
	}
	{
		NET(WEFT_OP_ONNX_REQUANT, { .onnx = { false, WEFT_FP32, 0 } }, { { I32, { 1 } }, { F32, { 1 } }, { F32, { 1 } }, { F32, { 1 } }, { I8, { 1 } } },
		    { { I8, { 1 } } });
		GOOD(onnx.type = 0);
		BAD(onnx.type = WEFT_FP16, "product in float16");
	}
	{
		NET(WEFT_OP_ONNX_QUANTIZE, { .onnx = { false, WEFT_FP32, 0 } }, { { F32, { 2 } }, { F32, { 1 } }, { I8, { 1 } } }, { { I8, { 2 } } });
		BAD(onnx.type = I8, "quotient in int8");
	}
	{
		NET(WEFT_OP_ONNX_FAKE_CONVERT, { .onnx = { false, WEFT_FP8E5M2, 0 } }, { { F32, { 2 } }, { F32, { 1 } } }, { { F32, { 2 } } });
		GOOD(onnx.type = WEFT_FP8E4M3);
		BAD(onnx.type = I8, "to int8, not float8");
	}
	{
		NET(WEFT_OP_TFL_REQUANTIZE, { .quant = { .x_scale = 0.5f, .y_scale = 0.25f } }, { { I32, { 2 } }, { F32, { 1 } } }, { { I8, { 2 } } });
		BAD(quant.x_scale = -2, "scales -2 and 0.25");
		BAD(quant.y_scale = INFINITY, "scales 0.5 and inf");
	}
	{
		NET(WEFT_OP_TFL_RESIZE_BILINEAR, { .tfl_resize = { false, false, false } }, { { WEFT_INT16, { 1, 2, 2, 1 } } },
		    { { WEFT_INT16, { 1, 4, 4, 1 } } });
		BAD(tfl_resize.raw_uint8 = true, "operand 0 is int16, which has no row");
	}
	struct net node = { WEFT_OP_ONNX_NODE, { .onnx_node = { .kind = -1, .opset = 1, .n_in = 1 } }, { { F32, { 2 } } }, { { F32, { 2 } } } };
	bad(&node, "kind", "kind -1 < 0");
	node.a.onnx_node = (struct weft_attr_onnx_node){ .opset = 0, .n_in = 1 };
	bad(&node, "opset", "opset 0 < 1");
	node.a.onnx_node = (struct weft_attr_onnx_node){ .opset = 1, .n_in = 66 };
	bad(&node, "n_in", "n_in 66 outside 0..65");
	node.a.onnx_node = (struct weft_attr_onnx_node){ .opset = 1, .n_in = -1 };
	bad(&node, "n_in", "n_in -1 outside 0..65");
	struct net custom = { WEFT_OP_TFL_CUSTOM, { .tfl_custom = { .n_in = 17 } }, { { I8, { 1 } }, { I8, { 1 } } }, { { I8, { 2 } } } };
	bad(&custom, "n_in", "n_in 17 outside 0..16");
	custom.a.tfl_custom = (struct weft_attr_tfl_custom){ .absent = 65536 };
	bad(&custom, "absent", "absent 65536 outside 0..65535");
	custom.a.tfl_custom = (struct weft_attr_tfl_custom){ .unsigned_in = -1 };
	bad(&custom, "unsigned_in", "unsigned_in -1 outside 0..65535");
	custom.a.tfl_custom = (struct weft_attr_tfl_custom){ .unsigned_out = 256 };
	bad(&custom, "unsigned_out", "unsigned_out 256 outside 0..255");
	custom.a.tfl_custom = (struct weft_attr_tfl_custom){ .n_in = 0 };
	bad(&custom, "texts", "operands 0 and 1 are not constant int8 of rank 1 that end with 0");
	const struct net unknown = { WEFT_OP_VARIABLE_READ, { .variable = { 3 } }, { { 0 } }, { { I8, { 2 } } } };
	bad(&unknown, "variable 3", "variable 3 of 0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(convolutions), cmocka_unit_test(convolutions_of_three), cmocka_unit_test(scaled_convolution),
		cmocka_unit_test(pools), cmocka_unit_test(nan_modes), cmocka_unit_test(zero_points), cmocka_unit_test(resize),
		cmocka_unit_test(lstm), cmocka_unit_test(pact), cmocka_unit_test(windows), cmocka_unit_test(layout),
		cmocka_unit_test(arithmetic), cmocka_unit_test(scales),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
