/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over a TFLite file: inputs, operators in the file's order, outputs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/graph/custom.h"
#include "tflite.h"
#include "tflite_host.h"
#include "tflite_lower.h"

/*
 * What the graph may take: ROOM_FIXED + ROOM_FACTOR * file. The file itself, its tables and the process
 * fit below 64 MB + 8 * file.
 */
#define ROOM_FIXED  ((int64_t)32 << 20)
#define ROOM_FACTOR 5
#define WORK_FIXED  0x1p26                 /* steps that the import may take to compute constants: so many, */
#define WORK_FACTOR 8                     /* and so many for each byte of the file */
#define MAX_DECLARED ((int64_t)1 << 30)   /* bytes of all computed values together */
#define MAX_PORTS 1024                    /* inputs, and outputs */

/* The lowering of each operator code; NULL: the operator is not supported. */
static int (*const lowerings[])(struct tfl_lower *) = {
	[TFL_ADD] = tfl_lower_add,
	[TFL_AVERAGE_POOL_2D] = tfl_lower_pool,
	[TFL_CONCATENATION] = tfl_lower_concat,
	[TFL_CONV_2D] = tfl_lower_conv,
	[TFL_DEPTHWISE_CONV_2D] = tfl_lower_depthwise,
	[TFL_DEPTH_TO_SPACE] = tfl_lower_space_depth,
	[TFL_DEQUANTIZE] = tfl_lower_dequantize,
	[TFL_FULLY_CONNECTED] = tfl_lower_fully_connected,
	[TFL_L2_NORMALIZATION] = tfl_lower_l2_norm,
	[TFL_LOGISTIC] = tfl_lower_table,
	[TFL_MAX_POOL_2D] = tfl_lower_pool,
	[TFL_MUL] = tfl_lower_mul,
	[TFL_CODE_RELU] = tfl_lower_relu,
	[TFL_CODE_RELU_N1_TO_1] = tfl_lower_relu,
	[TFL_CODE_RELU6] = tfl_lower_relu,
	[TFL_RESHAPE] = tfl_lower_reshape,
	[TFL_RESIZE_BILINEAR] = tfl_lower_resize_bilinear,
	[TFL_SOFTMAX] = tfl_lower_softmax,
	[TFL_SPACE_TO_DEPTH] = tfl_lower_space_depth,
	[TFL_SVDF] = tfl_lower_svdf,
	[TFL_CODE_TANH] = tfl_lower_table,
	[TFL_PAD] = tfl_lower_pad,
	[TFL_GATHER] = tfl_lower_gather,
	[TFL_BATCH_TO_SPACE] = tfl_lower_batch_to_space,
	[TFL_SPACE_TO_BATCH] = tfl_lower_space_to_batch,
	[TFL_TRANSPOSE] = tfl_lower_transpose,
	[TFL_MEAN] = tfl_lower_mean,
	[TFL_SUB] = tfl_lower_sub,
	[TFL_DIV] = tfl_lower_div,
	[TFL_SQUEEZE] = tfl_lower_reshape,
	[TFL_SEQUENCE_LSTM] = tfl_lower_sequence_lstm,
	[TFL_STRIDED_SLICE] = tfl_lower_strided_slice,
	[TFL_EXP] = tfl_lower_table,
	[TFL_SPLIT] = tfl_lower_split,
	[TFL_LOG_SOFTMAX] = tfl_lower_log_softmax,
	[TFL_CAST] = tfl_lower_cast,
	[TFL_PRELU] = tfl_lower_prelu,
	[TFL_MAXIMUM] = tfl_lower_extremum,
	[TFL_ARG_MAX] = tfl_lower_arg_max,
	[TFL_MINIMUM] = tfl_lower_extremum,
	[TFL_LOG] = tfl_lower_table,
	[TFL_LESS] = tfl_lower_compare,
	[TFL_GREATER] = tfl_lower_compare,
	[TFL_GREATER_EQUAL] = tfl_lower_compare,
	[TFL_LESS_EQUAL] = tfl_lower_compare,
	[TFL_EQUAL] = tfl_lower_compare,
	[TFL_NOT_EQUAL] = tfl_lower_compare,
	[TFL_SELECT] = tfl_lower_select,
	[TFL_SELECT_V2] = tfl_lower_select,
	[TFL_LOGICAL_OR] = tfl_lower_logical,
	[TFL_LOGICAL_AND] = tfl_lower_logical,
	[TFL_LOGICAL_NOT] = tfl_lower_logical,
	[TFL_PAD_V2] = tfl_lower_pad_v2,
	[TFL_SLICE] = tfl_lower_slice,
	[TFL_TRANSPOSE_CONV] = tfl_lower_transpose_conv,
	[TFL_TILE] = tfl_lower_tile,
	[TFL_EXPAND_DIMS] = tfl_lower_reshape,
	[TFL_SUM] = tfl_lower_reduce,
	[TFL_SQRT] = tfl_lower_sqrt,
	[TFL_RSQRT] = tfl_lower_table,
	[TFL_ARG_MIN] = tfl_lower_arg_max,
	[TFL_REDUCE_MAX] = tfl_lower_reduce,
	[TFL_PACK] = tfl_lower_pack,
	[TFL_UNPACK] = tfl_lower_unpack,
	[TFL_REDUCE_MIN] = tfl_lower_reduce,
	[TFL_FLOOR_DIV] = tfl_lower_floor_div,
	[TFL_FLOOR_MOD] = tfl_lower_floor_div,
	[TFL_RESIZE_NEAREST] = tfl_lower_resize_nearest,
	[TFL_LEAKY_RELU] = tfl_lower_table,
	[TFL_SQUARED_DIFFERENCE] = tfl_lower_squared_difference,
	[TFL_MIRROR_PAD] = tfl_lower_mirror_pad,
	[TFL_ABS] = tfl_lower_table,
	[TFL_SPLIT_V] = tfl_lower_split_v,
	[TFL_REVERSE] = tfl_lower_reverse,
	[TFL_GATHER_ND] = tfl_lower_gather_nd,
	[TFL_ELU] = tfl_lower_table,
	[TFL_QUANTIZE] = tfl_lower_quantize,
	[TFL_HARD_SWISH] = tfl_lower_table,
	[TFL_BATCH_MATMUL] = tfl_lower_batch_matmul,
	[TFL_BROADCAST_TO] = tfl_lower_broadcast_to,
	[TFL_READ_VARIABLE] = tfl_lower_read_variable,
	[TFL_GELU] = tfl_lower_table,
	[TFL_CODE_RELU_0_TO_1] = tfl_lower_relu,
};

/*
 * Writes operator o's name to name, which has a number of bytes: "CUSTOM:" and up to 40 bytes of its own
 * name for custom operators, the format's name for known ones, "STABLEHLO (code N)" for codes 162 to 209,
 * "code N" for others. Characters that are not printable become '?'.
 */
static void op_name(const struct tfl_op *o, char *name, size_t bytes)
{
	const char *known = tfl_code_name(o->code);

	if (o->code == TFL_CUSTOM)
		snprintf(name, bytes, "CUSTOM:%.*s", (int)(o->custom_len < 40 ? o->custom_len : 40), o->custom);
	else if (known)
		snprintf(name, bytes, "%s", known);
	else
		snprintf(name, bytes, o->code >= 162 && o->code <= 209 ? "STABLEHLO (code %d)" : "code %d", o->code);
	for (char *p = name; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
}

/*
 * Makes result k of the operator at hand, which has more than k, the result at hand: l->i_y is its
 * file tensor and l->y its type and shape. Open dimensions are those that follow from the operands;
 * if they cannot be told, those in the file. Returns 0, -EINVAL if the tensor has a value already, is
 * constant or out of range, or another negative errno.
 */
int tfl_result(struct tfl_lower *l, int k)
{
	int i = fb_i32_at(&l->m->b, &l->op->out, (uint32_t)k);
	if (i < 0 || i >= l->m->n_tensors)
		return tfl_fail(l, -EINVAL, "result: tensor %d of %d, at byte %zu", i, l->m->n_tensors, l->op->at);
	if (l->raw[i] >= 0 || l->seen[i] >= 0)
		return tfl_fail(l, -EINVAL, "result: tensor %d already has a value, at byte %zu", i, l->op->at);
	if (tfl_file_tensor(l, i)->data)
		return tfl_fail(l, -EINVAL, "result: tensor %d is constant, at byte %zu", i, l->op->at);
	l->i_y = i;
	int err = tfl_shape(l, i, &l->y);
	return err ? err : tfl_find_shape(l);
}

/*
 * Checks that the operator at hand has one result, or 1 to TFL_MAX_PARTS if it is SPLIT, SPLIT_V or UNPACK, 1 to
 * WEFT_CUSTOM_MAX_OUT if it is custom, 1 to 3 if it is NON_MAX_SUPPRESSION_V5, 1 to 4 if it is LSTM, or 1 or 2 if it is TOPK_V2,
 * NON_MAX_SUPPRESSION_V4 or a bidirectional LSTM or RNN, and makes the first the result at hand. Returns 0, -ENOTSUP
 * for another number, or the errno of tfl_result().
 */
static int check_results(struct tfl_lower *l)
{
	int code = l->op->code;
	uint32_t most = 1;

	if (code == TFL_SPLIT || code == TFL_SPLIT_V || code == TFL_UNPACK)
		most = TFL_MAX_PARTS;
	else if (code == TFL_CUSTOM)
		most = WEFT_CUSTOM_MAX_OUT;
	else if (code == TFL_NMS_V5)
		most = 3;
	else if (code == TFL_LSTM)
		most = 4;
	else if (code == TFL_TOPK || code == TFL_NMS_V4 || code == TFL_BI_LSTM || code == TFL_BI_RNN)
		most = 2;
	if (l->op->out.n >= 1 && l->op->out.n <= most)
		return tfl_result(l, 0);
	return most > 1 ? tfl_fail(l, -ENOTSUP, "%u results, not 1..%u, at byte %zu", (unsigned)l->op->out.n, (unsigned)most, l->op->at) :
	                  tfl_fail(l, -ENOTSUP, "%u results, not 1, at byte %zu", (unsigned)l->op->out.n, l->op->at);
}

/*
 * Says whether operator o, number i, can be left out for a backbone: it is custom, the file's last,
 * makes all outputs of the network, and the graph has an operator in front of it.
 */
static bool may_leave_out(const struct tfl_lower *l, const struct tfl_op *o, int i)
{
	uint32_t made = 0;

	if (o->code != TFL_CUSTOM || i != l->m->n_ops - 1 || !l->g->n_ops)
		return false;
	for (uint32_t k = 0; k < l->m->outputs.n; k++)
		for (uint32_t r = 0; r < o->out.n; r++)
			if (fb_i32_at(&l->m->b, &o->out, r) == fb_i32_at(&l->m->b, &l->m->outputs, k)) {
				made++;
				break;
			}
	return made == l->m->outputs.n;
}

/*
 * Leaves operator o, number i, out of the network: notes it in l->left_out and records it, by its name,
 * among the graph's sources. Returns 0 or -ENOMEM.
 */
static int leave_out(struct tfl_lower *l, const struct tfl_op *o, int i, const char *name)
{
	l->left_out = o;
	return weft_graph_src(l->g, i, name) < 0 ? tfl_fail(l, -ENOMEM, "out of memory") : 0;
}

/*
 * Returns the function that lowers the operator at hand, for an operator that nothing before has lowered, or NULL if it
 * is not supported. It is the first that there is of these: tfl_lower_put() for a CONCATENATION that puts a row in place; the
 * function for float32 operands (tfl_float_lowering()); that for operands of other types than usual (tfl_any_lowering()); that on the
 * host, or for a custom operator the caller's; the one in `lowerings`.
 */
static int (*find_lowering(struct tfl_lower *l))(struct tfl_lower *)
{
	const int n_known = sizeof lowerings / sizeof lowerings[0], code = l->op->code;
	int (*lower)(struct tfl_lower *) = tfl_is_put(l) ? tfl_lower_put : tfl_float_lowering(l);

	if (!lower)
		lower = tfl_any_lowering(l);
	if (!lower)
		lower = code == TFL_CUSTOM ? tfl_custom_lowering(l) : tfl_host_lowering(code);
	return lower || code < 0 || code >= n_known ? lower : lowerings[code];
}

/*
 * Writes a line to msg that the operator at hand, of that name, is not supported, and says if the network runs without
 * it (option backbone). Returns -ENOTSUP; l->err stays.
 */
static int refuse_op(const struct tfl_lower *l, const char *name)
{
	int n = l->i_sub ? snprintf(l->msg, WEFT_MSG, "subgraph %d ", l->i_sub) : 0;

	snprintf(l->msg + n, WEFT_MSG - (size_t)n, "operator %d %s: %s%s", l->i_op, name,
	         l->op->code == TFL_CUSTOM ? WEFT_CUSTOM_MISSING : "not supported",
	         may_leave_out(l, l->op, l->i_op) ? "; --backbone runs the network without it" : "");
	return -ENOTSUP;
}

/*
 * Emits the operator at hand, of that name, by function `lower`: checks its results, records it among the graph's
 * sources with its first result, and, if its operands are constant, replaces what was emitted by constants where
 * tfl_fold() does so. Returns 0 or a negative errno.
 */
static int emit_op(struct tfl_lower *l, int (*lower)(struct tfl_lower *), const char *name)
{
	int y, err = check_results(l);

	if (err)
		return err;
	struct tfl_mark before = tfl_mark(l);
	l->src = weft_graph_src(l->g, tfl_source_number(l), name);
	if (l->src < 0)
		return tfl_fail(l, -ENOMEM, "out of memory");
	y = lower(l);
	if (y < 0)
		return y;
	if ((err = tfl_fold(l, &before)))
		return err < 0 ? err : 0;
	l->g->srcs[l->src].out = y;
	return 0;
}

/*
 * Makes operator i of the file the operator at hand and lowers it into operators of the graph, by the first of these
 * that takes it: it is left out, if the caller asked for the backbone alone and may_leave_out() allows it;
 * variables, control flow, and complex tensors have lowerings of their own; results that are known now become
 * constants (tfl_fold_plain()); a SLICE whose sizes only the run knows is put off (tfl_defer_slice()); for all others
 * there is find_lowering(). Constant operands that the file has sparse are made whole before. Returns 0, -ENOTSUP
 * if the operator is not supported, or another negative errno.
 */
static int lower_op(struct tfl_lower *l, int i)
{
	const struct tfl_op *o = &l->m->ops[i];
	char name[64];
	int err;

	l->op = o;
	l->i_op = i;
	memset(l->used, 0, sizeof l->used);
	op_name(o, name, sizeof name);
	if (l->o.backbone && may_leave_out(l, o, i))
		return leave_out(l, o, i, name);
	if ((err = tfl_densify(l)))
		return err;
	if ((err = tfl_variable_op(l, name)) || (err = tfl_flow_op(l, name)) || (err = tfl_complex_op(l, name)) ||
	    (err = tfl_fold_plain(l)) || (err = tfl_defer_slice(l)))
		return err < 0 ? err : 0;
	int (*lower)(struct tfl_lower *) = find_lowering(l);
	return lower ? emit_op(l, lower, name) : refuse_op(l, name);
}

/*
 * Returns the file tensor that element i of a list of inputs or outputs names, or -EINVAL with a
 * line in msg if the index is out of range; `what` is "input" or "output" there.
 */
static int port(struct tfl_lower *l, const struct fb_vec *ports, const char *what, uint32_t i)
{
	int t = fb_i32_at(&l->m->b, ports, i);

	if (t >= 0 && t < l->m->n_tensors)
		return t;
	snprintf(l->msg, WEFT_MSG, "%s %u: tensor %d of %d, at byte %zu", what, (unsigned)i, t, l->m->n_tensors, ports->at);
	return -EINVAL;
}

/*
 * Writes a line to msg that input or output i (`what` says which), file tensor t, is refused, with
 * the reason why. Returns -EINVAL.
 */
static int refuse_port(struct tfl_lower *l, const char *what, uint32_t i, int t, const char *why)
{
	snprintf(l->msg, WEFT_MSG, "%s %u: tensor %d %s, at byte %zu", what, (unsigned)i, t, why,
	         tfl_file_tensor(l, t)->at);
	return -EINVAL;
}

/*
 * Sets the open dimensions of *shape, of input i and file tensor t, to what the caller's options say of that
 * input. If they say nothing, they stay as in the file, and an input that has open dimensions is counted in
 * l->n_open. Returns 0, or -EINVAL with a line in msg if the options give values, or another shape than the
 * file allows.
 */
static int bind(struct tfl_lower *l, uint32_t i, int t, weft_tensor *shape)
{
	const struct tfl_tensor *f = tfl_file_tensor(l, t);
	const struct weft_import_bound *given = weft_bound_find(l->o.bound, l->o.n_bound, f->name, strnlen(f->name, f->name_len));
	char why[100] = "only its shape can be given in .tflite";
	unsigned open = 0;

	for (uint32_t k = 0; f->signature.n == (uint32_t)shape->rank && k < f->signature.n; k++)
		open |= fb_i32_at(&l->m->b, &f->signature, k) < 0 ? 1u << k : 0;
	l->n_open += open && !given;
	if (!given || (!given->value->data && !weft_bound_shape(given->value, open, shape, why, sizeof why)))
		return 0;
	snprintf(l->msg, WEFT_MSG, "input %u \"%.60s\": %s", (unsigned)i, given->name, why);
	return -EINVAL;
}

/*
 * Checks that each entry of o.bound names an input of the file. Returns 0, or -EINVAL with a line
 * in msg.
 */
static int all_bound(struct tfl_lower *l)
{
	for (int i = 0; i < l->o.n_bound; i++) {
		bool found = false;

		for (uint32_t k = 0; k < l->m->inputs.n && !found; k++) {
			const struct tfl_tensor *f = tfl_file_tensor(l, fb_i32_at(&l->m->b, &l->m->inputs, k));
			found = weft_bound_find(&l->o.bound[i], 1, f->name, strnlen(f->name, f->name_len)) != NULL;
		}
		if (!found) {
			const char *first = l->g->n_inputs ? l->g->tensors[l->g->inputs[0]].name : "";
			snprintf(l->msg, WEFT_MSG, "no input \"%.60s\" to bind; the first of %d is \"%.60s\"", l->o.bound[i].name, l->g->n_inputs,
			         first);
			return -EINVAL;
		}
	}
	return 0;
}

/*
 * Makes input i of the file an input of the graph, with the shape that the caller gave where the file
 * leaves it open. Returns 0; -EINVAL if the index is out of range, the tensor is constant, int4 or an
 * input twice, or the options contradict the file; or another negative errno.
 */
static int add_input(struct tfl_lower *l, uint32_t i)
{
	int t = port(l, &l->m->inputs, "input", i), err;
	weft_tensor shape;

	if (t < 0)
		return t;
	if (tfl_file_tensor(l, t)->data)
		return refuse_port(l, "input", i, t, "is constant");
	if (l->raw[t] >= 0)
		return refuse_port(l, "input", i, t, "is an input twice");
	if ((err = tfl_shape(l, t, &shape)) || (err = bind(l, i, t, &shape)))
		return err;
	if (shape.dtype == WEFT_INT4)
		return refuse_port(l, "input", i, t, "is int4");
	int g = tfl_input(l, t, &shape);
	if (g < 0)
		return g;
	l->g->inputs[l->g->n_inputs++] = g;
	return 0;
}

/*
 * Returns the graph tensor for output i: g itself, or, if g is an input, a constant or an output already, a new one
 * that an IDENTITY of g gives, recorded in the graph as source "OUTPUT", since each output needs a tensor
 * of its own. Returns a negative errno after a failure.
 */
static int own_output(struct tfl_lower *l, uint32_t i, int g)
{
	const struct weft_gtensor *t = &l->g->tensors[g];

	if (!t->is_input && !t->is_output && !t->t.data)
		return g;
	l->src = weft_graph_src(l->g, l->m->n_ops + (int)i, "OUTPUT");
	if (l->src < 0)
		return tfl_fail(l, -ENOMEM, "out of memory");
	g = tfl_copy(l, g);
	if (g >= 0)
		l->g->srcs[l->src].out = g;
	return g;
}

/*
 * Makes the file tensor that element i of list `of` names an output of the graph: its tensor, or a copy of it
 * if that is a constant, an input or an output already, is marked and appended to the graph's outputs. Returns 0; -EINVAL if
 * the index is out of range, the tensor is complex64 or a constant of uint8, or nothing computes it; or another negative
 * errno.
 */
static int add_output(struct tfl_lower *l, const struct fb_vec *of, uint32_t i)
{
	int t = port(l, of, "output", i);

	if (t < 0)
		return t;
	int g = l->raw[t] >= 0 ? l->raw[t] : l->seen[t];
	if (tfl_file_tensor(l, t)->data && tfl_file_tensor(l, t)->type == TFL_UINT8)
		return refuse_port(l, "output", i, t, "is constant and uint8");
	if (tfl_file_tensor(l, t)->data && (g = tfl_value_of(l, t)) < 0)
		return g;
	if (tfl_file_tensor(l, t)->type == TFL_COMPLEX64)
		return refuse_port(l, "output", i, t, "is complex64; REAL, IMAG and COMPLEX_ABS make float32 of it");
	if (g < 0)
		return refuse_port(l, "output", i, t, "is computed by nothing");
	g = own_output(l, i, g);
	if (g < 0)
		return g;
	l->g->tensors[g].is_output = true;
	l->g->outputs[l->g->n_outputs++] = g;
	return 0;
}

int tfl_tables(struct tfl_lower *l)
{
	const size_t n = (size_t)l->m->n_tensors + 1;

	l->raw = malloc(n * sizeof *l->raw);
	l->seen = malloc(n * sizeof *l->seen);
	l->is_output = calloc(n, sizeof *l->is_output);
	l->late = calloc(n, sizeof *l->late);
	if (!l->raw || !l->seen || !l->is_output || !l->late)
		return tfl_fail(l, -ENOMEM, "out of memory");
	for (int i = 0; i < l->m->n_tensors; i++)
		l->raw[i] = l->seen[i] = -1;
	return 0;
}

/*
 * Frees l's tables by file tensor, the list l->codes, and what tfl_fold() keeps; *l itself and its graph
 * stay, and so do the pointers in *l. The tables may be partly allocated.
 */
void tfl_free_tables(struct tfl_lower *l)
{
	free(l->raw);
	free(l->seen);
	free(l->is_output);
	free(l->late);
	free(l->codes);
	tfl_fold_release(l);
}

/*
 * Lowers the operators of l's subgraph into its graph, in the file's order, up to the first that fails.
 * Afterwards no operator is at hand (l->op is NULL). Returns 0 or that operator's negative errno.
 */
int tfl_lower_all(struct tfl_lower *l)
{
	int err = 0;

	for (int i = 0; !err && i < l->m->n_ops; i++)
		err = lower_op(l, i);
	l->op = NULL;
	return err;
}

/*
 * Allocates the graph's lists of inputs and outputs and l's tables by file tensor, without values yet,
 * and notes which tensors are outputs. Returns 0; -EINVAL if there are more than MAX_PORTS of either or
 * no output, or an output names no tensor; or -ENOMEM; the caller frees everything.
 */
static int import_ports(struct tfl_lower *l)
{
	uint32_t n_in = l->m->inputs.n, n_out = l->m->outputs.n;

	if (n_in > MAX_PORTS || n_out > MAX_PORTS || !n_out) {
		snprintf(l->msg, WEFT_MSG, "%u inputs and %u outputs; at most %d, and at least one output", (unsigned)n_in,
		         (unsigned)n_out, MAX_PORTS);
		return -EINVAL;
	}
	l->g->inputs = calloc(n_in + 1u, sizeof *l->g->inputs);
	l->g->outputs = calloc(n_out, sizeof *l->g->outputs);
	if (!l->g->inputs || !l->g->outputs)
		return tfl_fail(l, -ENOMEM, "out of memory");
	int err = tfl_tables(l);
	if (err)
		return err;
	for (uint32_t i = 0; i < n_out; i++) {
		int t = port(l, &l->m->outputs, "output", i);
		if (t < 0)
			return t;
		l->is_output[t] = true;
	}
	return 0;
}

/*
 * Fills the empty graph l->g from the file: inputs, operators, outputs; removes float tensors that tables
 * have replaced and variables that nothing refers to, and checks the graph. If an operator was left out, its
 * operands, 1 to MAX_PORTS, are the outputs (-EINVAL if it has another number). Returns 0, or a negative
 * errno with the reason in l->msg; the caller frees everything.
 */
static int import(struct tfl_lower *l)
{
	int err = import_ports(l);

	for (uint32_t i = 0; !err && i < l->m->inputs.n; i++)
		err = add_input(l, i);
	if (!err)
		err = all_bound(l);
	if (!err)
		err = tfl_lower_all(l);
	const struct fb_vec *outputs = l->left_out ? &l->left_out->in : &l->m->outputs;
	if (!err && l->left_out && (outputs->n > MAX_PORTS || !outputs->n)) {
		snprintf(l->msg, WEFT_MSG, "the operator to be left out has %u operands", (unsigned)outputs->n);
		err = -EINVAL;
	}
	if (!err && l->left_out) {
		free(l->g->outputs);
		l->g->outputs = calloc(outputs->n, sizeof *l->g->outputs);
		err = l->g->outputs ? 0 : tfl_fail(l, -ENOMEM, "out of memory");
	}
	for (uint32_t i = 0; !err && i < outputs->n; i++)
		err = add_output(l, outputs, i);
	if (!err)
		err = tfl_codes_finish(l);
	tfl_variables_finish(l->g);
	return err ? err : weft_graph_check(l->g, l->msg);
}

/*
 * Imports a TensorFlow Lite file of len bytes held in memory with options o (NULL: all zero), as the header
 * says, and frees everything but the graph. If no runtime is chosen, it is LiteRT 2.3. Returns 0 with *g set,
 * or -EINVAL, -ENOTSUP or -ENOMEM with *g untouched and a line in msg.
 */
int weft_import_tflite_with(const void *data, size_t len, const char *name, const struct weft_tflite_options *o, weft_graph **g,
                            char msg[WEFT_MSG])
{
	const struct weft_tflite_options none = { 0 };
	struct tfl_model m, first;
	int err = tfl_read(&m, data, len, msg, WEFT_MSG);

	if (!err && o && o->signature) {
		first = m;
		err = tfl_read_signature(&m, &first, o->signature);
		tfl_release(&first);
	}
	if (err)
		return err;
	struct tfl_lower l = { .m = &m, .tensors = m.tensors, .msg = msg, .room = ROOM_FIXED + ROOM_FACTOR * (int64_t)len,
	                       .activations = MAX_DECLARED, .work = WORK_FIXED + WORK_FACTOR * (double)len, .o = o ? *o : none, .g = weft_graph_new(name) };
	if (!l.o.runtime)
		l.o.runtime = WEFT_RUNTIME_LITERT_2_3;
	if (!l.g) {
		snprintf(msg, WEFT_MSG, "out of memory");
		err = -ENOMEM;
	} else {
		l.g->runtime = l.o.runtime;
		err = import(&l);
	}
	if (err)
		weft_graph_free(l.g);
	else
		*g = l.g;
	tfl_free_tables(&l);
	tfl_release(&m);
	return err;
}

int weft_import_tflite(const void *data, size_t len, const char *name, weft_graph **g, char msg[WEFT_MSG])
{
	return weft_import_tflite_with(data, len, name, NULL, g, msg);
}
