/* SPDX-License-Identifier: Apache-2.0 */
/* The import of an ONNX model: constants, inputs, nodes (each behind the nodes that it reads), outputs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_lower.h"

/*
 * What the graph may take: ROOM_FIXED + ROOM_FACTOR * file. With onnx_file.c's share it stays below 160 MB
 * plus 8 times the file: 20 000 nodes of the shortest kind take 106 MB as they are counted here.
 */
#define ROOM_FIXED  ((int64_t)112 << 20)
#define ROOM_FACTOR 3
#define MAX_DECLARED ((int64_t)1 << 30)   /* bytes of all computed values together */
#define MAX_WORK     ((int64_t)1 << 26)   /* multiplications of all operators computed during import */
#define MAX_OPSET 28

static const struct { const char *name; ox_lowering *lower; } table[] = {
	{ "Abs", ox_unary_node }, { "Add", ox_elementwise }, { "And", ox_elementwise }, { "ArgMax", ox_argmax }, { "ArgMin", ox_argmax },
	{ "AveragePool", ox_pool }, { "BatchNormalization", ox_batch_norm }, { "BitwiseAnd", ox_elementwise },
	{ "BitwiseNot", ox_unary_node }, { "BitwiseOr", ox_elementwise }, { "BitwiseXor", ox_elementwise }, { "Cast", ox_cast_node },
	{ "Celu", ox_activation },
	{ "CastLike", ox_cast_node }, { "Ceil", ox_unary_node }, { "Clip", ox_clip }, { "Concat", ox_concat_node },
	{ "Constant", ox_constant }, { "ConstantOfShape", ox_constant_of_shape }, { "Conv", ox_conv }, { "ConvInteger", ox_conv_integer },
	{ "ConvTranspose", ox_conv_transpose }, { "Cos", ox_unary_node }, { "DepthToSpace", ox_depth_to_space },
	{ "DequantizeLinear", ox_dequantize }, { "Div", ox_elementwise }, { "Dropout", ox_identity },
	{ "DynamicQuantizeLinear", ox_dynamic_quantize }, { "Elu", ox_activation }, { "Equal", ox_compare }, { "Erf", ox_unary_node },
	{ "Exp", ox_unary_node }, { "Expand", ox_expand_node }, { "Flatten", ox_flatten }, { "Floor", ox_unary_node },
	{ "Gather", ox_gather }, { "GatherElements", ox_gather_elements }, { "GatherND", ox_gather_nd }, { "Gelu", ox_activation },
	{ "Gemm", ox_gemm }, { "GlobalAveragePool", ox_global_pool }, { "GlobalMaxPool", ox_global_pool }, { "Greater", ox_compare },
	{ "GreaterOrEqual", ox_compare }, { "GroupNormalization", ox_group_norm }, { "HardSigmoid", ox_activation }, { "HardSwish", ox_activation }, { "Identity", ox_identity }, { "If", ox_if },
	{ "InstanceNormalization", ox_group_norm }, { "LayerNormalization", ox_layer_norm }, { "LeakyRelu", ox_activation }, { "Less", ox_compare }, { "LessOrEqual", ox_compare },
	{ "Log", ox_unary_node }, { "LogSoftmax", ox_softmax }, { "LpNormalization", ox_lp_norm }, { "MatMul", ox_matmul }, { "MatMulInteger", ox_matmul_integer },
	{ "Max", ox_variadic }, { "MaxPool", ox_pool }, { "Mean", ox_variadic }, { "Min", ox_variadic }, { "Mish", ox_activation }, { "Mul", ox_elementwise },
	{ "Neg", ox_unary_node }, { "Not", ox_unary_node }, { "OptionalGetElement", ox_identity }, { "OptionalHasElement", ox_has_element }, { "Or", ox_elementwise }, { "PRelu", ox_prelu }, { "Pad", ox_pad_node },
	{ "Pow", ox_elementwise }, { "QLinearConv", ox_qlinear_conv }, { "QLinearMatMul", ox_qlinear_matmul },
	{ "QuantizeLinear", ox_quantize }, { "Range", ox_range }, { "Reciprocal", ox_unary_node }, { "ReduceL1", ox_reduce_node }, { "ReduceL2", ox_reduce_node },
	{ "ReduceLogSum", ox_reduce_node }, { "ReduceLogSumExp", ox_reduce_node }, { "ReduceMax", ox_reduce_node },
	{ "ReduceMean", ox_reduce_node }, { "ReduceMin", ox_reduce_node }, { "ReduceProd", ox_reduce_node }, { "ReduceSum", ox_reduce_node },
	{ "ReduceSumSquare", ox_reduce_node }, { "Relu", ox_unary_node }, { "Reshape", ox_reshape_node }, { "Resize", ox_resize },
	{ "Selu", ox_activation }, { "Shape", ox_shape }, { "Sigmoid", ox_unary_node }, { "Sin", ox_unary_node }, { "Size", ox_size },
	{ "Slice", ox_slice_node }, { "Softmax", ox_softmax }, { "Softplus", ox_activation }, { "Softsign", ox_activation }, { "SpaceToDepth", ox_space_to_depth },
	{ "Split", ox_split }, { "Sqrt", ox_unary_node }, { "Squeeze", ox_squeeze }, { "Sub", ox_elementwise }, { "Sum", ox_variadic },
	{ "Swish", ox_activation }, { "Tanh", ox_unary_node }, { "ThresholdedRelu", ox_activation }, { "Tile", ox_tile_node }, { "Transpose", ox_transpose_node },
	{ "Unsqueeze", ox_unsqueeze }, { "Upsample", ox_resize }, { "Where", ox_where }, { "Xor", ox_elementwise },
}, microsoft[] = {
	{ "DequantizeLinear", ox_dequantize }, { "DynamicQuantizeLSTM", ox_lstm_in_pairs }, { "DynamicQuantizeMatMul", ox_dynamic_matmul }, { "Gelu", ox_activation },
	{ "MatMulIntegerToFloat", ox_matmul_to_float }, { "QGemm", ox_qgemm }, { "QLinearAdd", ox_qlinear_binary },
	{ "QLinearAveragePool", ox_qlinear_average }, { "QLinearConcat", ox_qlinear_concat },
	{ "QLinearGlobalAveragePool", ox_qlinear_average }, { "QLinearLeakyRelu", ox_qlinear_unary }, { "QLinearMul", ox_qlinear_binary },
	{ "QLinearSigmoid", ox_qlinear_unary }, { "QLinearSoftmax", ox_qlinear_softmax }, { "QuantizeLinear", ox_quantize },
}, deeploy[] = {
	{ "ITAMax", ox_ita_max }, { "ITAPartialMax", ox_ita_max }, { "IntegerDiv", ox_integer_div }, { "IntegerMean", ox_integer_mean },
	{ "RequantShift", ox_requant_shift }, { "TrueIntegerDiv", ox_integer_div }, { "iGELU", ox_i_gelu },
	{ "iHardswish", ox_i_hard_swish }, { "iLayerNorm", ox_i_layer_norm }, { "iSoftmax", ox_i_softmax },
}, openvino[] = {
	{ "FakeConvert", ox_fake_convert },
};

#define FIND(list, wanted) do { \
	for (size_t i_ = 0; i_ < sizeof(list) / sizeof((list)[0]); i_++) \
		if (!strcmp((list)[i_].name, wanted)) \
			return (list)[i_].lower; \
} while (0)

/*
 * Returns the function that lowers node n, looked up by operator type in the list that the node's
 * domain selects: "ai.onnx" ONNX's own, "com.microsoft" Microsoft's, "PACTOps" or "ai.onnx.contrib"
 * Deeploy's, "org.openvinotoolkit" OpenVINO's. An empty domain searches the first three, in this
 * order. Returns NULL if no list searched has the type.
 */
static ox_lowering *lowering(const onnx_node *n)
{
	if (!*n->domain || !strcmp(n->domain, "ai.onnx"))
		FIND(table, n->op_type);
	if (!*n->domain || !strcmp(n->domain, "com.microsoft"))   /* some writers leave the domain out */
		FIND(microsoft, n->op_type);
	if (!*n->domain || !strcmp(n->domain, "PACTOps") || !strcmp(n->domain, "ai.onnx.contrib"))
		FIND(deeploy, n->op_type);
	if (!strcmp(n->domain, "org.openvinotoolkit"))
		FIND(openvino, n->op_type);
	return NULL;
}

/* ---- tables ---- */

/*
 * Allocates the empty table of values (l->values) and its hash table (l->hash, all places free, at
 * least twice as many), with room for every name in the graph, twice for results of nodes. Returns
 * 0, or after ox_fail() -ENOTSUP if these are more than 2^22, -EINVAL if they exceed l->room, or
 * -ENOMEM.
 */
static int tables(struct ox *l)
{
	const onnx_graph *g = l->f.m->graph;
	size_t n = g->n_initializer + g->n_input + g->n_output + 1;

	for (size_t i = 0; i < g->n_node; i++)   /* results may have a second value, without a name, that holds integers */
		n += g->node[i]->n_input + 2 * g->node[i]->n_output;
	if (n > 1 << 22)
		return ox_fail(l, -ENOTSUP, "more than 2^22 names");
	for (l->n_hash = 16; l->n_hash < 2 * n; l->n_hash *= 2)
		;
	l->cap_values = (int)n;
	l->values = ox_alloc(l, (int64_t)n, sizeof *l->values);
	l->hash = l->values ? ox_alloc(l, l->n_hash, sizeof *l->hash) : NULL;
	for (uint32_t i = 0; l->hash && i < l->n_hash; i++)
		l->hash[i] = -1;
	return l->hash ? 0 : l->err;
}

/*
 * Sets l->opset to the version of ONNX's own operator set that the model imports; it stays as it is
 * if the model imports none. Returns 0, or -ENOTSUP if the version is not 1 to MAX_OPSET or the
 * model defines functions of its own.
 */
static int opsets(struct ox *l)
{
	const onnx_model *m = l->f.m;

	for (size_t i = 0; i < m->n_opset_import; i++) {
		const char *domain = m->opset_import[i]->domain;

		if (*domain && strcmp(domain, "ai.onnx"))
			continue;
		int64_t v = m->opset_import[i]->version;
		if (v < 1 || v > MAX_OPSET)
			return ox_fail(l, -ENOTSUP, "onnx: opset %lld, 1 to %d are supported", (long long)v, MAX_OPSET);
		l->opset = (int)v;
	}
	if (m->n_functions)
		return ox_fail(l, -ENOTSUP, "onnx: functions of the model's own");
	return 0;
}

/* ---- values of the file ---- */

/*
 * Enters each of the graph's constants (initialisers) as a value with its type and shape; for
 * strings, with its shape only. The elements are read when they are first used. Returns 0; or,
 * after ox_fail(), -ENOTSUP if there are sparse constants or a type or rank is not supported,
 * -EINVAL if a name is there twice or a shape is malformed, or another negative errno.
 */
static int initialisers(struct ox *l)
{
	const onnx_graph *g = l->f.m->graph;

	if (g->n_sparse_initializer)
		return ox_fail(l, -ENOTSUP, "onnx: sparse constants");
	for (size_t i = 0; i < g->n_initializer; i++) {
		char why[160] = "";
		int v = ox_value_new(l, g->initializer[i]->name);
		if (v < 0)
			return v;
		if (l->values[v].init || l->values[v].text)
			return ox_fail(l, -EINVAL, "constant \"%.60s\" is there twice", g->initializer[i]->name);
		if (g->initializer[i]->data_type == ONNX_STRING) {
			l->values[v].text = g->initializer[i];
			if (ox_text_shape(l, g->initializer[i], &l->values[v].t) < 0)
				return l->err;
			continue;
		}
		int err = onnx_tensor_shape(g->initializer[i], &l->values[v].t, why, sizeof why);
		if (err)
			return ox_fail(l, err, "constant \"%.60s\": %s", g->initializer[i]->name, why);
		l->values[v].init = g->initializer[i];
	}
	return 0;
}

/*
 * Returns what the caller's options say of the input with this name: its entry in o.bound, else in
 * o.given, or NULL. Sets *constant: true if the entry of o.bound has data, or if the entry is one
 * of the first 64 of o.given and its bit in l->taken is set.
 */
static const weft_tensor *said(const struct ox *l, const char *name, bool *constant)
{
	const struct weft_import_bound *b = weft_bound_find(l->o.bound, l->o.n_bound, name, strlen(name));

	*constant = b && b->value->data;
	if (b)
		return b->value;
	b = weft_bound_find(l->o.given, l->o.n_given, name, strlen(name));
	*constant = b && b - l->o.given < 64 && l->taken >> (b - l->o.given) & 1;
	return b ? b->value : NULL;
}

/*
 * Returns the value whose shape the caller's options give for the input with this name, or NULL if
 * they give none. A value given as bare bytes (data without a type) has no shape.
 */
static const weft_tensor *said_shape(const struct ox *l, const char *name)
{
	bool constant;
	const weft_tensor *t = said(l, name, &constant);

	return t && (t->dtype || !t->data) ? t : NULL;
}

/*
 * Sets *t to the type and shape of graph input p. The shape is the file's, with open dimensions (no value, or
 * -1) taken from the caller's options; without such an option an open first dimension, the batch, is 1.
 * Returns 0, -EINVAL if file and options contradict each other or a dimension is out of range, or -ENOTSUP if
 * p is no tensor of a known type, has no shape in the file and none in the options, has rank above 8, another
 * open dimension, or more than 2^31 - 1 elements (-EINVAL if the options give a shape).
 */
static int port_shape(struct ox *l, const Weft__Onnx__Value *p, weft_tensor *t)
{
	const weft_tensor *given = said_shape(l, p->name);
	const Weft__Onnx__TensorType *type = p->type ? p->type->tensor_type : NULL;
	unsigned open = 0;
	char why[100];

	if (!type)
		return ox_fail(l, -ENOTSUP, "input \"%.60s\" is no tensor", p->name);
	*t = (weft_tensor){ .dtype = onnx_dtype(type->elem_type), .dim = { 1, 1, 1, 1, 1, 1, 1, 1 } };
	if (!t->dtype)
		return ox_fail(l, -ENOTSUP, "input \"%.60s\": type %s", p->name, onnx_dtype_name(type->elem_type));
	if (!type->shape && !given)
		return ox_fail(l, -ENOTSUP, "input \"%.60s\" has no shape", p->name);
	if (!type->shape) {
		t->rank = given->rank;
		memcpy(t->dim, given->dim, sizeof t->dim);
		return weft_bound_shape(given, ~0u, t, why, sizeof why) ? ox_fail(l, -EINVAL, "input \"%.60s\": %s", p->name, why) : 0;
	}
	if (type->shape->n_dim > WEFT_MAX_RANK)
		return ox_fail(l, -ENOTSUP, "input \"%.60s\": rank %zu", p->name, type->shape->n_dim);
	t->rank = (int)type->shape->n_dim;
	for (int i = 0; i < t->rank; i++) {
		const Weft__Onnx__Dimension *d = type->shape->dim[i];

		if (!d->has_dim_value || d->dim_value == -1)   /* some writers say it so */
			open |= 1u << i;
		t->dim[i] = open >> i & 1 ? 1 : d->dim_value;
		if ((open >> i & 1) && i > 0 && !given)     /* the first is the batch: 1 */
			return ox_fail(l, -ENOTSUP, "input \"%.60s\": dimension %d is open (\"%.20s\"); --bind gives the shape", p->name, i,
			               d->dim_param ? d->dim_param : "");
	}
	if (given && weft_bound_shape(given, open, t, why, sizeof why))
		return ox_fail(l, -EINVAL, "input \"%.60s\": %s", p->name, why);
	for (int i = 0; i < t->rank; i++) {
		if (t->dim[i] < 0 || t->dim[i] > INT32_MAX)
			return ox_fail(l, -EINVAL, "input \"%.60s\": dimension %d is %lld", p->name, i, (long long)t->dim[i]);
	}
	return weft_tensor_elements(t) > INT32_MAX ? ox_fail(l, -ENOTSUP, "input \"%.60s\" is too large", p->name) : 0;
}

/*
 * Adds a constant to the graph with a copy of the value's data, for input p that becomes constant.
 * Sets *t to its type and shape, without data: the value's, with the file's type if that has as
 * many bytes per element; or the file's, if the value is bare bytes (dtype 0), dim[0] of them.
 * Returns the tensor's index, -EINVAL if the number of bare bytes is not the input's, if a value with a type has another shape
 * than the file says or elements of another size, or if l->room is used up, or another negative errno.
 */
static int constant_input(struct ox *l, const Weft__Onnx__Value *p, const weft_tensor *value, weft_tensor *t)
{
	const weft_dtype type = p->type && p->type->tensor_type ? onnx_dtype(p->type->tensor_type->elem_type) : 0;

	if (type && value->dtype) {
		int err = port_shape(l, p, t);
		if (!err && value->rank != t->rank)      /* the one open size, which a shape without data may be */
			err = ox_fail(l, -EINVAL, "input \"%.60s\": its rank is %d, not %d", p->name, t->rank, value->rank);
		if (!err && weft_dtype_bytes(value->dtype) != weft_dtype_bytes(type))
			err = ox_fail(l, -EINVAL, "input \"%.60s\" is %s in the file, not %s", p->name, weft_dtype_name(type), weft_dtype_name(value->dtype));
		if (err)
			return err;
	}
	*t = *value;
	if (type && value->dtype != type && weft_dtype_bytes(value->dtype) == weft_dtype_bytes(type))
		t->dtype = type;              /* files of arrays have no name for some types */
	if (!value->dtype) {
		int err = port_shape(l, p, t);
		if (err)
			return err;
		if (weft_tensor_bytes(t) != (size_t)value->dim[0])
			return ox_fail(l, -EINVAL, "input \"%.60s\" has %zu bytes, not %lld", p->name, weft_tensor_bytes(t), (long long)value->dim[0]);
	}
	const size_t bytes = weft_tensor_bytes(t);
	void *data = ox_alloc(l, (int64_t)bytes, 1);
	if (data && bytes)
		memcpy(data, value->data, bytes);
	t->data = NULL;
	return ox_data(l, t->dtype, t->rank, t->dim, data);
}

/*
 * Enters graph input p as a value and adds a tensor for it: a constant if the caller's options make
 * it one, else an input of the graph (appended to g->inputs), whose bytes are taken from
 * l->activations. Inputs that have an initialiser, but for one of strings, are skipped. Returns 0;
 * or, after ox_fail(), -EINVAL if p is listed twice, its shape or type contradicts the options, or l->room is
 * used up, -ENOTSUP if the type or an open shape is not supported or all values together exceed 2^30 bytes, or -ENOMEM.
 */
static int input(struct ox *l, const Weft__Onnx__Value *p)
{
	bool constant;
	const weft_tensor *fixed = said(l, p->name, &constant);
	int v = ox_value_new(l, p->name), x;
	weft_tensor t;

	if (v < 0 || l->values[v].init)           /* before IR version 4 constants are listed, too */
		return v < 0 ? v : 0;
	if (l->values[v].t.dtype)
		return ox_fail(l, -EINVAL, "input \"%.60s\" is listed twice", p->name);
	if (constant) {
		x = constant_input(l, p, fixed, &t);
	} else {
		int err = port_shape(l, p, &t);
		if (err)
			return err;
		size_t bytes = weft_tensor_bytes(&t);
		if (bytes > (size_t)l->activations)
			return ox_fail(l, -ENOTSUP, "values of more than 2^30 bytes");
		l->activations -= (int64_t)bytes;
		l->room -= 3 * (int64_t)sizeof(struct weft_gtensor) + (int64_t)strlen(p->name) + 32;
		x = l->room < 0 ? ox_fail(l, -EINVAL, "the graph outgrows the memory allowed") : weft_graph_tensor(l->g, p->name, t.dtype, t.rank, t.dim);
		if (x >= 0) {
			l->g->tensors[x].is_input = true;
			l->g->inputs[l->g->n_inputs++] = x;
		}
	}
	if (x < 0)
		return x == -ENOMEM ? ox_fail(l, -ENOMEM, "out of memory") : x;
	l->values[v].t = t;
	l->values[v].n_forms = 1;
	l->values[v].form[0] = (struct ox_form){ .tensor = x, .perm = { 0, 1, 2, 3, 4, 5, 6, 7 } };
	return 0;
}

/*
 * Checks that each entry of o.bound names an input of the file. Returns 0, or -EINVAL after
 * ox_fail().
 */
static int all_bound(struct ox *l)
{
	const onnx_graph *g = l->f.m->graph;

	for (int i = 0; i < l->o.n_bound; i++) {
		size_t k = 0;

		while (k < g->n_input && strcmp(g->input[k]->name, l->o.bound[i].name))
			k++;
		if (k == g->n_input)
			return ox_fail(l, -EINVAL, "no input \"%.60s\" to bind; the first of %zu is \"%.60s\"", l->o.bound[i].name, k,
			               k ? g->input[0]->name : "");
	}
	return 0;
}

/*
 * Allocates g->inputs and makes the graph's inputs in the file's order, or constants of those that
 * the caller binds to a value. Returns 0, -EINVAL if the caller binds an input that the file does
 * not have, or another negative errno.
 */
static int inputs(struct ox *l)
{
	const onnx_graph *g = l->f.m->graph;

	l->g->inputs = ox_alloc(l, (int64_t)g->n_input, sizeof *l->g->inputs);
	if (!l->g->inputs || all_bound(l))
		return l->err;
	for (size_t i = 0; i < g->n_input; i++) {
		int err = input(l, g->input[i]);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Enters the results and operands of all nodes as values and notes for each which node makes it
 * (maker), how many operands of nodes read it (n_uses), and whether it is an output of the network;
 * empty names are skipped. Returns 0, -EINVAL if a value is computed twice (inputs and constants
 * but those of strings count as computed), or another negative errno.
 */
static int wires(struct ox *l)
{
	const onnx_graph *g = l->f.m->graph;

	for (size_t i = 0; i < g->n_node; i++) {
		for (size_t k = 0; k < g->node[i]->n_output; k++) {
			int v = *g->node[i]->output[k] ? ox_value_new(l, g->node[i]->output[k]) : 0;
			if (v < 0)
				return v;
			if (!*g->node[i]->output[k])
				continue;
			if (l->values[v].maker >= 0 || l->values[v].t.dtype)
				return ox_fail(l, -EINVAL, "\"%.60s\" is computed twice", l->values[v].name);
			l->values[v].maker = (int)i;
		}
		for (size_t k = 0; k < g->node[i]->n_input; k++) {
			int v = *g->node[i]->input[k] ? ox_value_new(l, g->node[i]->input[k]) : -1;
			if (v >= 0)
				l->values[v].n_uses++;
		}
	}
	for (size_t i = 0; i < g->n_output; i++) {
		int v = g->output[i]->name ? ox_value_find(l, g->output[i]->name) : -1;
		if (v >= 0)
			l->values[v].is_output = true;
	}
	return 0;
}

/* ---- nodes ---- */

/*
 * Makes node i of the file's graph the node at hand, without a record in the graph and without
 * tensors made yet.
 */
static void start(struct ox *l, int i)
{
	l->n = l->f.m->graph->node[i];
	l->i_node = i;
	l->src = -1;
	l->made = 0;
}

/*
 * Lowers the node at hand by the first of these that takes it: ox_runtime_form(), which gives it the runtime's
 * own form if the options ask for that; fn, if it is not NULL; ox_host(), which makes it a host operator. fn
 * does not take it if it returns -ENOTSUP: the node is legal but has no form in the graph's operators; -EINVAL
 * means that it is illegal. Where operands or results of the node are replaced (l->subst, l->results,
 * l->zero), ox_runtime_form() is left out, and so is ox_host() unless fn is NULL. If ox_host() fails too, the
 * message and the errno are fn's -ENOTSUP, or ox_host()'s own if fn is NULL or memory is out. Returns 0, a
 * positive value of fn, or a negative errno.
 */
static int lower_or_host(struct ox *l, ox_lowering *fn)
{
	char why[WEFT_MSG];
	const bool moved = l->results || l->subst[0] || l->subst[1] || l->zero;
	int err = moved ? 1 : ox_runtime_form(l);

	if (err <= 0)
		return err;
	err = fn ? fn(l) : -ENOTSUP;
	if (err != -ENOTSUP || (fn && moved))
		return err;
	memcpy(why, l->msg, sizeof why);
	int host = ox_host(l);
	if (!host || !fn || host == -ENOMEM)
		return host;
	memcpy(l->msg, why, sizeof why);
	l->err = err;
	return err;
}

/*
 * Makes node i the node at hand and lowers it at once, never deferring it; an operator that has no
 * lowering, or whose lowering does not take the node, becomes a host operator if there is a kernel
 * (the latter only if nothing replaces its operands or results, see lower_or_host()). Returns 0; or,
 * after ox_fail(), -EINVAL if the node has no first result (its name may be empty only if the operator
 * type has no lowering), -ENOTSUP if an attribute refers to another one by name or nothing takes the
 * node, or another negative errno.
 */
int ox_lower_now(struct ox *l, int i)
{
	start(l, i);
	ox_lowering *fn = lowering(l->n);
	if (!l->n->n_output || (!*l->n->output[0] && fn))
		return ox_fail(l, -EINVAL, "has no first result");
	for (size_t k = 0; k < l->n->n_attribute; k++)
		if (l->n->attribute[k]->ref_attr_name && *l->n->attribute[k]->ref_attr_name)
			return ox_fail(l, -ENOTSUP, "attributes by reference");
	int err = lower_or_host(l, fn);
	if (err < 0)
		return err;
	if (l->err == -ENOTSUP)          /* of a form that was tried before the one that holds */
		l->err = 0;
	return l->err;                   /* whoever went on behind another failure, as if an operand were absent, has failed */
}

/* Returns 0, or -EINVAL after ox_fail() if an operand of the node at hand has a name that nothing in the file has. */
static int check_names(struct ox *l)
{
	for (int k = 0; (size_t)k < l->n->n_input; k++) {
		const struct ox_value *v = ox_raw(l, k);
		if (ox_has(l, k) && (!v || (!v->t.dtype && v->maker < 0 && !ox_is_text(v))))
			return ox_fail(l, -EINVAL, "input %d, \"%.60s\", is not known here", k, l->n->input[k]);
	}
	return 0;
}

/*
 * Makes node i the node at hand and checks its operands' names and its constant scales; then defers it until a
 * reader asks for its result if ox_defer() does so, else lowers it. Returns 0, -EINVAL if a name is not known
 * or a scale is not finite and above 0, or another negative errno.
 */
int ox_lower_node(struct ox *l, int i)
{
	start(l, i);
	int deferred = check_names(l);
	if (!deferred)
		deferred = ox_check_scales(l);
	if (!deferred)
		deferred = ox_defer(l);
	return deferred ? (deferred < 0 ? deferred : 0) : ox_lower_now(l, i);
}

/*
 * Returns the index of the node that makes operand k of node i, or -1 if the operand is absent or
 * no node makes it.
 */
static int before(const struct ox *l, int i, size_t k)
{
	const char *name = l->f.m->graph->node[i]->input[k];
	int v = *name ? ox_value_find(l, name) : -1;

	return v < 0 ? -1 : l->values[v].maker;
}

/*
 * Fills order with the indices of all nodes, as many as the graph has: the file's order, but each
 * node behind those whose results it reads. The walk is depth first with a stack of its own, so
 * that deep graphs cannot overflow C's. Returns 0, -EINVAL if nodes form a cycle, or another
 * negative errno.
 */
static int sort(struct ox *l, int *order)
{
	enum { NEW, OPEN, DONE };
	const onnx_graph *g = l->f.m->graph;
	int n = (int)g->n_node, count = 0;
	int *stack = ox_alloc(l, n, sizeof *stack);
	size_t *next = stack ? ox_alloc(l, n, sizeof *next) : NULL;
	uint8_t *state = next ? ox_alloc(l, n, 1) : NULL;
	int err = state ? 0 : l->err;

	for (int i = 0; i < n && !err; i++) {
		int depth = 0;

		if (state[i] == NEW) {
			stack[depth++] = i;
			state[i] = OPEN;
		}
		while (depth && !err) {
			int at = stack[depth - 1];

			if (next[at] == g->node[at]->n_input) {
				state[at] = DONE;
				order[count++] = at;
				depth--;
				continue;
			}
			int m = before(l, at, next[at]++);
			if (m >= 0 && state[m] == OPEN)
				err = ox_fail(l, -EINVAL, "node %d needs its own result", at);
			else if (m >= 0 && state[m] == NEW) {
				stack[depth++] = m;
				state[m] = OPEN;
			}
		}
	}
	free(stack);
	free(next);
	free(state);
	return err;
}

/*
 * Lowers or defers all nodes in an order in which each comes after the nodes whose results it
 * reads. Returns 0 or a negative errno.
 */
static int nodes(struct ox *l)
{
	int n = (int)l->f.m->graph->n_node, *order = ox_alloc(l, n, sizeof *order);
	int err = order ? sort(l, order) : l->err;

	for (int i = 0; i < n && !err; i++)
		err = ox_lower_node(l, order[i]);
	free(order);
	return err;
}

/*
 * Fills the empty graph l->g (NULL: -ENOMEM) from the parsed file: constants, inputs, float weights that
 * become integers (ox_float_weights()), nodes, outputs; then removes what no output needs and checks the
 * graph. Returns 0 or a negative errno with the reason in l->msg; the caller frees everything, also the graph.
 */
static int import(struct ox *l)
{
	const onnx_graph *g = l->f.m->graph;
	int err;

	if (!l->g)
		return ox_fail(l, -ENOMEM, "out of memory");
	if ((err = tables(l)) || (err = opsets(l)) || (err = initialisers(l)) || (err = inputs(l)) || (err = wires(l)) || (err = ox_float_weights(l)))
		return err;
	err = nodes(l);
	l->n = NULL;
	l->src = -1;
	l->i_node = (int)g->n_node;
	if (err || (err = ox_outputs(l)) || (err = ox_sweep(l)))
		return err;
	return weft_graph_check(l->g, l->msg);
}

static char none[] = "";

static void swap(char **p, char *from, char *to)
{
	if (*p == from)
		*p = to;
}

/*
 * Replaces pointers to names in the model m that equal `from` by `to`: domains of opsets and nodes,
 * operator types, names of initialisers and inputs. After parsing, NULL is replaced by the empty
 * string, and before protobuf-c frees the model, the empty string by NULL.
 */
static void settle(onnx_model *m, char *from, char *to)
{
	onnx_graph *g = m->graph;

	for (size_t i = 0; i < m->n_opset_import; i++)
		swap(&m->opset_import[i]->domain, from, to);
	for (size_t i = 0; i < g->n_node; i++) {
		swap(&g->node[i]->op_type, from, to);
		swap(&g->node[i]->domain, from, to);
	}
	for (size_t i = 0; i < g->n_initializer; i++)
		swap(&g->initializer[i]->name, from, to);
	for (size_t i = 0; i < g->n_input; i++)
		swap(&g->input[i]->name, from, to);
}

/*
 * A ModelProto nearly always begins with the field ir_version, as none of the other formats does.
 * A text or a message follows, or model_version, whose tag this is.
 */
#define MODEL_VERSION 0x28

/*
 * Says whether the bytes could be an ONNX model: the first field is a plausible IR version and
 * the second is one of the model's.
 */
bool weft_onnx_is(const void *data, size_t len)
{
	const uint8_t *p = data;

	return len >= 4 && p[0] == 0x08 && p[1] >= 1 && p[1] < 64 && ((p[2] & 7) == 2 || p[2] == MODEL_VERSION);
}

/*
 * Imports the file once, with the inputs in `taken` (bit i stands for o->given[i]) as constants. Sets
 * *wanted, also after a failure, to the inputs, in the same bits, that have to be constant for lowerings to
 * succeed (unless there is no memory to begin with: it then keeps its value). Frees all but the graph.
 * Returns 0 with *g set, or a negative errno with *g untouched and a line in msg, as weft_import_onnx() does;
 * -ENOMEM also if any allocation failed on the way.
 */
static int attempt(const void *data, size_t len, const char *name, const struct weft_onnx_options *o, uint64_t taken, uint64_t *wanted,
                   weft_graph **g, char msg[WEFT_MSG])
{
	struct ox *l = calloc(1, sizeof *l);

	if (!l) {
		snprintf(msg, WEFT_MSG, "out of memory");
		return -ENOMEM;
	}
	l->msg = msg;
	l->opset = 1;
	l->taken = taken;
	if (o)
		l->o = *o;
	l->o.saturate = l->o.saturate && l->o.requant == WEFT_ONNX_REQUANT_RUNTIME;
	int err = onnx_read(&l->f, data, len, msg, WEFT_MSG);
	if (!err) {
		settle(l->f.m, NULL, none);
		l->f.folder = l->o.folder;
		l->room = ROOM_FIXED + ROOM_FACTOR * (int64_t)len + (int64_t)l->f.room;
		l->activations = MAX_DECLARED;
		l->work = MAX_WORK;
		l->g = weft_graph_new(name);
		if (l->g)
			l->g->requant = l->o.requant == WEFT_ONNX_REQUANT_RESCALE ? WEFT_REQUANT_RESCALE
			                : l->o.requant != WEFT_ONNX_REQUANT_RUNTIME ? WEFT_REQUANT_EXACT
			                : l->o.saturate ? WEFT_REQUANT_RUNTIME_AVX2 : WEFT_REQUANT_RUNTIME;
		err = import(l);
	}
	/* Who tries whether something can be done takes any failure for a no; this one is none. */
	if (l->no_memory || err == -ENOMEM) {
		snprintf(msg, WEFT_MSG, "out of memory");
		err = -ENOMEM;
	}
	if (err)
		weft_graph_free(l->g);
	else
		*g = l->g;
	*wanted = l->wanted;
	free(l->values);
	free(l->hash);
	ox_release_made(l);
	ox_release_branches(l);
	if (l->f.m)
		settle(l->f.m, none, NULL);
	onnx_release(&l->f);
	free(l);
	return err;
}

/*
 * Imports an ONNX file of len bytes held in memory into a new graph with that name; o may be NULL.
 * The first attempt takes no input of o->given as a constant; after a refusal (-ENOTSUP or -EINVAL)
 * that noted inputs which have to be constant, another attempt is made with these, until it
 * succeeds or no new input was noted. Returns 0 with *g set; or, with *g untouched and a line in
 * msg, -EINVAL if the file breaks a rule, contradicts o or needs more memory than is allowed for a
 * file of len bytes, -ENOTSUP if it uses what is not supported, or -ENOMEM.
 */
int weft_import_onnx(const void *data, size_t len, const char *name, const struct weft_onnx_options *o, weft_graph **g,
                     char msg[WEFT_MSG])
{
	uint64_t taken = 0, wanted = 0;
	int err = attempt(data, len, name, o, taken, &wanted, g, msg);

	while ((err == -ENOTSUP || err == -EINVAL) && wanted & ~taken) {
		taken |= wanted;
		err = attempt(data, len, name, o, taken, &wanted, g, msg);
	}
	return err;
}
