/* SPDX-License-Identifier: Apache-2.0 */
/* The graph inside a container, so that a run can be checked without the model file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/compile/file/save_program.h"

#define TENSOR_MIN 24          /* bytes that a tensor takes at least */
#define OP_MIN     12
#define VAR_MIN    17

static void ints(struct io *io, int32_t *v, int n)
{
	for (int i = 0; i < n; i++)
		io_i32(io, &v[i]);
}

static void dtype(struct io *io, weft_dtype *t)
{
	int32_t v = (int32_t)*t;

	io_i32(io, &v);
	*t = (weft_dtype)v;
}

static void rescale(struct io *io, struct weft_attr_rescale *a)
{
	int32_t rounding = (int32_t)a->rounding;

	io_bool(io, &a->scale32);
	io_i32(io, &rounding);
	a->rounding = (weft_rounding)rounding;
	io_bool(io, &a->per_channel);
	io_bool(io, &a->x_unsigned);
	io_bool(io, &a->y_unsigned);
	io_i32(io, &a->x_zp);
	io_i32(io, &a->y_zp);
}

static void conv(struct io *io, struct weft_attr_conv *a)
{
	ints(io, a->pad, 4);
	ints(io, a->stride, 2);
	ints(io, a->dilation, 2);
	io_i32(io, &a->x_zp);
	io_i32(io, &a->w_zp);
	dtype(io, &a->acc);
	io_bool(io, &a->local_bound);
	io_i32(io, &a->log2_scale);
}

static void nan_mode(struct io *io, weft_nan_mode *m)
{
	int32_t v = (int32_t)*m;

	io_i32(io, &v);
	*m = (weft_nan_mode)v;
}

static void conv3d(struct io *io, struct weft_attr_conv3d *a)
{
	ints(io, a->pad, 6);
	ints(io, a->stride, 3);
	ints(io, a->dilation, 3);
	io_i32(io, &a->x_zp);
	io_i32(io, &a->w_zp);
	dtype(io, &a->acc);
	io_bool(io, &a->local_bound);
}

static void resize(struct io *io, struct weft_attr_resize *a)
{
	int32_t mode = (int32_t)a->mode;

	io_i32(io, &a->scale_y_n);
	io_i32(io, &a->scale_y_d);
	io_i32(io, &a->scale_x_n);
	io_i32(io, &a->scale_x_d);
	io_i32(io, &a->offset_y);
	io_i32(io, &a->offset_x);
	io_i32(io, &a->border_y);
	io_i32(io, &a->border_x);
	io_i32(io, &mode);
	a->mode = (weft_resize_mode)mode;
}

static void pool(struct io *io, struct weft_attr_pool *a)
{
	ints(io, a->kernel, 2);
	ints(io, a->stride, 2);
	ints(io, a->pad, 4);
	io_i32(io, &a->x_zp);
	io_i32(io, &a->y_zp);
	dtype(io, &a->acc);
	nan_mode(io, &a->nan);
}

static void pad(struct io *io, struct weft_attr_pad *a)
{
	ints(io, a->before, WEFT_MAX_RANK);
	ints(io, a->after, WEFT_MAX_RANK);
	io_i64(io, &a->value);
	io_f64(io, &a->fvalue);
}

static void clamp(struct io *io, struct weft_attr_clamp *a)
{
	io_i64(io, &a->min);
	io_i64(io, &a->max);
	io_f64(io, &a->fmin);
	io_f64(io, &a->fmax);
	nan_mode(io, &a->nan);
}

static void quant(struct io *io, struct weft_attr_quant *a)
{
	io_f32(io, &a->x_scale);
	io_i32(io, &a->x_zp);
	io_f32(io, &a->y_scale);
	io_i32(io, &a->y_zp);
}

static void factors(struct io *io, struct weft_tfl_factor *f, int n)
{
	for (int i = 0; i < n; i++) {
		io_i32(io, &f[i].multiplier);
		io_i32(io, &f[i].shift);
	}
}

static void lstm(struct io *io, struct weft_attr_tfl_lstm *a)
{
	io_bool(io, &a->time_major);
	io_i32(io, &a->x_zp);
	io_i32(io, &a->y_zp);
	io_i32(io, &a->cell_power);
	io_i32(io, &a->cell_clip);
	factors(io, a->x_gate, 4);
	factors(io, a->h_gate, 4);
	factors(io, &a->forget_cell, 1);
	factors(io, &a->input_cell, 1);
	factors(io, &a->hidden, 1);
}

void save_attributes(struct io *io, weft_opcode op, weft_attr *a)
{
	switch (op) {
	case WEFT_OP_CONV2D:
	case WEFT_OP_DEPTHWISE_CONV2D:
	case WEFT_OP_TRANSPOSE_CONV2D:
	case WEFT_OP_POPXL_CONV_POW2SCALED:
		conv(io, &a->conv);
		break;
	case WEFT_OP_AVG_POOL2D:
	case WEFT_OP_MAX_POOL2D:
		pool(io, &a->pool);
		break;
	case WEFT_OP_CONV3D:
		conv3d(io, &a->conv3d);
		break;
	case WEFT_OP_FFT2D:
	case WEFT_OP_RFFT2D:
		io_bool(io, &a->fft.inverse);
		io_bool(io, &a->fft.local_bound);
		break;
	case WEFT_OP_ARGMAX:
	case WEFT_OP_REDUCE_ALL:
	case WEFT_OP_REDUCE_ANY:
	case WEFT_OP_REDUCE_MAX:
	case WEFT_OP_REDUCE_MIN:
	case WEFT_OP_REDUCE_PRODUCT:
	case WEFT_OP_REDUCE_SUM:
	case WEFT_OP_CONCAT:
	case WEFT_OP_REVERSE:
		io_i32(io, &a->axis.axis);
		nan_mode(io, &a->axis.nan);
		break;
	case WEFT_OP_MAXIMUM:
	case WEFT_OP_MINIMUM:
		nan_mode(io, &a->nan.nan);
		break;
	case WEFT_OP_ARITHMETIC_RIGHT_SHIFT:
		io_bool(io, &a->shift.round);
		break;
	case WEFT_OP_NEGATE:
		io_i32(io, &a->negate.x_zp);
		io_i32(io, &a->negate.y_zp);
		break;
	case WEFT_OP_TILE:
		ints(io, a->tile.multiple, WEFT_MAX_RANK);
		break;
	case WEFT_OP_RESIZE:
		resize(io, &a->resize);
		break;
	case WEFT_OP_MATMUL:
		io_i32(io, &a->matmul.a_zp);
		io_i32(io, &a->matmul.b_zp);
		io_i32(io, &a->matmul.log2_scale);
		break;
	case WEFT_OP_CLAMP:
		clamp(io, &a->clamp);
		break;
	case WEFT_OP_MUL:
		io_i32(io, &a->mul.shift);
		break;
	case WEFT_OP_PAD:
		pad(io, &a->pad);
		break;
	case WEFT_OP_SLICE:
		for (int i = 0; i < WEFT_MAX_RANK; i++)
			io_i64(io, &a->slice.start[i]);
		break;
	case WEFT_OP_TRANSPOSE:
		ints(io, a->perm.perm, WEFT_MAX_RANK);
		break;
	case WEFT_OP_RESCALE:
		rescale(io, &a->rescale);
		break;
	case WEFT_OP_TFL_SOFTMAX:
		io_f32(io, &a->tfl_softmax.x_scale);
		io_f32(io, &a->tfl_softmax.beta);
		break;
	case WEFT_OP_TFL_L2_NORMALIZATION:
		io_i32(io, &a->tfl_norm.x_zp);
		io_i32(io, &a->tfl_norm.left);
		break;
	case WEFT_OP_TFL_LOG_SOFTMAX:
		io_f32(io, &a->tfl_softmax.x_scale);
		break;
	case WEFT_OP_TFL_RESIZE_BILINEAR:
		io_bool(io, &a->tfl_resize.align_corners);
		io_bool(io, &a->tfl_resize.half_pixel);
		io_bool(io, &a->tfl_resize.raw_uint8);
		break;
	case WEFT_OP_TFL_LSTM:
		lstm(io, &a->tfl_lstm);
		break;
	case WEFT_OP_TFL_LOGISTIC:
	case WEFT_OP_TFL_TANH:
	case WEFT_OP_TFL_QUANTIZE:
	case WEFT_OP_TFL_DEQUANTIZE:
		quant(io, &a->quant);
		break;
	case WEFT_OP_ONNX_QUANTIZE:
	case WEFT_OP_ONNX_CAST:
	case WEFT_OP_ONNX_FAKE_CONVERT:
		io_bool(io, &a->onnx.saturate);
		if (op != WEFT_OP_ONNX_CAST)
			dtype(io, &a->onnx.type);
		else
			io_i32(io, &a->onnx.scale_round);
		break;
	case WEFT_OP_ONNX_REQUANT_SHIFT:
	case WEFT_OP_PACT_LAYER_NORM:
		io_i32(io, &a->requant_shift.shift);
		io_i32(io, &a->requant_shift.min);
		io_i32(io, &a->requant_shift.max);
		break;
	case WEFT_OP_PACT_DIV:
		io_i32(io, &a->pact_div.delta);
		io_i32(io, &a->pact_div.eps);
		io_i32(io, &a->pact_div.eta);
		io_bool(io, &a->pact_div.truncate);
		break;
	case WEFT_OP_PACT_SOFTMAX:
		io_i32(io, &a->pact_softmax.a);
		io_i32(io, &a->pact_softmax.b);
		io_i32(io, &a->pact_softmax.log2);
		io_i32(io, &a->pact_softmax.n_levels);
		io_i64(io, &a->pact_softmax.c);
		break;
	case WEFT_OP_VARIABLE_READ:
	case WEFT_OP_VARIABLE_WRITE:
		io_i32(io, &a->variable.id);
		break;
	case WEFT_OP_PACT_ITA_MAX:
		io_i32(io, &a->pact_ita_max.group);
		io_i32(io, &a->pact_ita_max.most);
		break;
	default:
		break;
	}
}

/* Everything of a tensor but its name and data. */
static void tensor_head(struct io *io, struct weft_gtensor *t)
{
	dtype(io, &t->t.dtype);
	io_i32(io, &t->t.rank);
	if (t->t.rank < 0 || t->t.rank > WEFT_MAX_RANK)
		io_fail(io, "a tensor's rank is out of range");
	for (int i = 0; i < t->t.rank && !io->err; i++)
		io_i64(io, &t->t.dim[i]);
	io_bool(io, &t->q.present);
	if (t->q.present) {
		io_f64(io, &t->q.scale);
		io_i64(io, &t->q.zp);
	}
	io_bool(io, &t->is_input);
	io_bool(io, &t->is_output);
	io_bool(io, &t->internal);
}

/* Bytes of a constant; sizes are judged before they are trusted. */
static void tensor_data(struct io *io, weft_tensor *t)
{
	uint64_t n = t->data ? weft_tensor_bytes(t) : 0;
	bool has = t->data;

	io_bool(io, &has);
	if (!has)
		return;
	io_u64(io, &n);
	if (io->write) {
		io_raw(io, t->data, (size_t)n);
		return;
	}
	uint64_t want = weft_dtype_bytes(t->dtype);
	for (int i = 0; i < t->rank; i++) {
		if (t->dim[i] < 1 || (uint64_t)t->dim[i] > UINT32_MAX || want > UINT32_MAX) {
			io_fail(io, "a constant's shape is out of range");
			return;
		}
		want *= (uint64_t)t->dim[i];
	}
	if (!want || n != want || n > io->n - io->at)
		io_fail(io, "a constant has not the bytes of its shape");
	if (io->err)
		return;
	t->data = malloc((size_t)n);
	if (!t->data)
		io->err = -ENOMEM;
	else
		io_raw(io, t->data, (size_t)n);
}

static void write_tensor(struct io *io, struct weft_gtensor *t)
{
	io_string(io, &t->name);
	tensor_head(io, t);
	tensor_data(io, &t->t);
}

static void read_tensor(struct io *io, weft_graph *g)
{
	struct weft_gtensor t = { 0 };

	io_string(io, &t.name);
	tensor_head(io, &t);
	if (!io->err)
		tensor_data(io, &t.t);
	if (!io->err) {
		int i = weft_graph_tensor(g, t.name, t.t.dtype, t.t.rank, t.t.dim);
		if (i < 0) {
			io->err = i;
		} else {
			g->tensors[i].t.data = t.t.data;
			g->tensors[i].q = t.q;
			g->tensors[i].is_input = t.is_input;
			g->tensors[i].is_output = t.is_output;
			g->tensors[i].internal = t.internal;
			t.t.data = NULL;
		}
	}
	free(t.t.data);
	free(t.name);
}

static void op_io(struct io *io, struct weft_gop *o, int *in, int *out)
{
	int32_t code = (int32_t)o->op;

	io_i32(io, &code);
	o->op = (weft_opcode)code;
	io_i32(io, &o->src);
	io_count(io, &o->n_in, 4);
	io_count(io, &o->n_out, 4);
	if (o->n_in > WEFT_OP_MAX_INPUTS || o->n_out > WEFT_OP_MAX_OUTPUTS)
		io_fail(io, "an operator has too many operands");
	if (io->err)
		return;
	ints(io, in, o->n_in);
	ints(io, out, o->n_out);
	save_attributes(io, o->op, &o->attr);
}

static void read_op(struct io *io, weft_graph *g)
{
	struct weft_gop o = { 0 };
	int in[WEFT_OP_MAX_INPUTS], out[WEFT_OP_MAX_OUTPUTS];

	op_io(io, &o, in, out);
	if (io->err)
		return;
	int i = weft_graph_op(g, o.op, &o.attr, o.src, in, o.n_in, out, o.n_out);
	if (i == -EINVAL)
		io_fail(io, "an operator has no result");
	else if (i < 0)
		io->err = i;
}

static void list(struct io *io, int **v, int *n)
{
	io_count(io, n, 4);
	if (!io->write) {
		*v = calloc((size_t)*n + 1, sizeof **v);
		if (!*v)
			io->err = -ENOMEM;
	}
	if (!io->err)
		ints(io, *v, *n);
	else
		*n = 0;
}

static void sources(struct io *io, weft_graph *g)
{
	int n = g->n_srcs;

	io_count(io, &n, 12);
	for (int i = 0; i < n && !io->err; i++) {
		struct weft_gsrc s = { 0 };
		if (io->write)
			s = g->srcs[i];
		io_i32(io, &s.index);
		io_string(io, &s.name);
		io_i32(io, &s.out);
		if (io->write)
			continue;
		int k = io->err ? -1 : weft_graph_src(g, s.index, s.name);
		if (k >= 0)
			g->srcs[k].out = s.out;
		else if (!io->err)
			io->err = k;
		free(s.name);
	}
}

/* A value that outlives a run: name, type, shape, and what it is at first. */
static void variable(struct io *io, weft_graph *g, int i)
{
	struct weft_gtensor t = { 0 };

	if (io->write)
		t = (struct weft_gtensor){ .name = g->vars[i].name, .t = g->vars[i].t };
	io_string(io, &t.name);
	tensor_head(io, &t);
	if (!io->err)
		tensor_data(io, &t.t);
	if (io->write)
		return;
	if (!io->err) {
		int k = weft_graph_var(g, t.name, t.t.dtype, t.t.rank, t.t.dim, t.t.data);
		t.t.data = NULL;
		io->err = k < 0 ? k : 0;
	}
	free(t.t.data);
	free(t.name);
}

static void variables(struct io *io, weft_graph *g)
{
	int n = g->n_vars;

	io_count(io, &n, VAR_MIN);
	for (int i = 0; i < n && !io->err; i++)
		variable(io, g, i);
}

static void body(struct io *io, weft_graph *g)
{
	int n = g->n_tensors;

	variables(io, g);
	sources(io, g);
	io_count(io, &n, TENSOR_MIN);
	if (n > SAVE_MAX_TENSORS)
		io_fail(io, "more tensors than a container holds");
	for (int i = 0; i < n && !io->err; i++) {
		if (io->write)
			write_tensor(io, &g->tensors[i]);
		else
			read_tensor(io, g);
	}
	n = g->n_ops;
	io_count(io, &n, OP_MIN);
	if (n > SAVE_MAX_OPS)
		io_fail(io, "more operators than a container holds");
	for (int i = 0; i < n && !io->err; i++) {
		if (io->write)
			op_io(io, &g->ops[i], g->ops[i].in, g->ops[i].out);
		else
			read_op(io, g);
	}
	list(io, &g->inputs, &g->n_inputs);
	list(io, &g->outputs, &g->n_outputs);
}

void save_graph(struct io *io, weft_graph **g, char *msg)
{
	char *name = io->write ? (*g)->name : NULL;

	io_string(io, &name);
	if (io->write) {
		body(io, *g);
		return;
	}
	*g = io->err ? NULL : weft_graph_new(name);
	free(name);
	if (!*g) {
		if (!io->err)
			io->err = -ENOMEM;
		return;
	}
	body(io, *g);
	if (!io->err && io->at != io->n)
		io_fail(io, "bytes follow the graph");
	if (!io->err && weft_graph_check(*g, msg)) {
		io->err = -EINVAL;
		io->why = NULL;        /* msg says it */
	}
	if (io->err) {
		weft_graph_free(*g);
		*g = NULL;
	}
}
