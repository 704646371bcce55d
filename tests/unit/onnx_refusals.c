/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks of one ONNX node, each changed in one place at a time, where the format allows it but the operator may
 * not: another operator with the same operands and attributes; types, shapes and ranks of inputs and constants;
 * values of small constants; operands that are missing, absent or too many; attributes that are missing, of
 * another value, or another operator's; the version of the operator set. Each loads as a graph that passes the
 * check, or is refused with one line. The table's networks themselves have to load.
 *
 * WEFT_N: one in that many changes is tried; WEFT_SEED: with which the first begins.
 *
 * onnx_refusals --seeds DIR writes the table's networks into DIR, as seeds for the fuzz targets onnx and quantize: in DIR/onnx as
 * they are, in DIR/quantize those of floats behind a byte that chooses the type.
 */
#include "tests/support/odd_import.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <weft/file.h>

#include "tests/support/level.h"
#include "tests/support/short_of_memory.h"
#include "userlib/import/onnx/onnx.h"
#include "userlib/import/onnx/onnx_file.h"

#define N(a) (sizeof(a) / sizeof *(a))

/*
 * A node. Operands: a type (f float, h float16, b int8, u uint8, s int16, i int32, l int64, o bool), its dimensions,
 * none for a scalar; a capital is a constant, whose values may follow "="; "-" is an operand that is absent.
 * Attributes: NAME=VALUE; a value with a comma is a list of integers, one with a point a float, one with a letter a string.
 */
static const struct row { const char *op; int opset, n_out; const char *operands, *attributes; } rows[] = {
	{ "Abs", 13, 1, "f2,3", "" }, { "Add", 13, 1, "f2,3 f3", "" }, { "Add", 13, 1, "i2,3 I3", "" }, { "And", 13, 1, "o4 o4", "" },
	{ "ArgMax", 13, 1, "f2,3", "axis=1 keepdims=0" }, { "ArgMin", 13, 1, "f2,3", "axis=1" }, { "ArgMax", 13, 1, "b2,3", "axis=1" },
	{ "AveragePool", 13, 1, "f1,2,6,6", "kernel_shape=2,2 strides=2,2" }, { "AveragePool", 19, 1, "f1,2,6", "kernel_shape=3, pads=1,1 count_include_pad=1" },
	{ "BatchNormalization", 15, 1, "f1,2,3,3 F2 F2 F2 F2", "epsilon=0.001" }, { "BitwiseAnd", 18, 1, "i4 i4", "" }, { "BitwiseNot", 18, 1, "i4", "" },
	{ "Cast", 13, 1, "f4", "to=6" }, { "Cast", 13, 1, "i4", "to=1" }, { "CastLike", 15, 1, "f4 i1", "" }, { "Celu", 12, 1, "f4", "alpha=1.5" },
	{ "Clip", 13, 1, "f4 F=0 F=6", "" }, { "Clip", 13, 1, "b4 B=0 B=6", "" }, { "Concat", 13, 1, "f2,3 f2,3", "axis=0" }, { "ConstantOfShape", 13, 1, "L2=2,3", "" },
	{ "Conv", 13, 1, "f1,3,5,5 F4,3,3,3 F4", "kernel_shape=3,3 pads=1,1,1,1" }, { "Conv", 13, 1, "f1,4,5,5 F4,1,3,3", "group=4 strides=2,2" },
	{ "Conv", 13, 1, "f1,4,5 F4,2,3", "group=2" }, { "Conv", 13, 1, "f1,2,4,4,4 F3,2,2,2,2", "" }, { "Conv", 13, 1, "f1,2,8,8 F2,2,3,3 F2", "dilations=2,2 auto_pad=SAME_UPPER" },
	{ "ConvInteger", 13, 1, "u1,2,5,5 U2,2,3,3 U=3 U=1", "" }, { "ConvTranspose", 13, 1, "f1,2,4,4 F2,3,3,3 F3", "strides=2,2 pads=1,1,1,1 output_padding=1,1" },
	{ "Cos", 13, 1, "f4", "" }, { "DepthToSpace", 13, 1, "f1,8,2,2", "blocksize=2 mode=CRD" }, { "DequantizeLinear", 13, 1, "b4 F=0.5 B=1", "" },
	{ "DequantizeLinear", 13, 1, "b2,4 F4 B4", "axis=1" }, { "Div", 13, 1, "f4 f4", "" }, { "Div", 13, 1, "i4 I4", "" }, { "Dropout", 13, 1, "f4", "" },
	{ "DynamicQuantizeLinear", 13, 3, "f4", "" }, { "Elu", 13, 1, "f4", "alpha=0.5" }, { "Equal", 13, 1, "f4 f4", "" }, { "Erf", 13, 1, "f4", "" },
	{ "Exp", 13, 1, "f4", "" }, { "Expand", 13, 1, "f1,3 L2=2,3", "" }, { "Flatten", 13, 1, "f2,3,4", "axis=1" }, { "Floor", 13, 1, "f4", "" },
	{ "Gather", 13, 1, "f4,3 L2=0,1", "axis=0" }, { "Gather", 13, 1, "b4,3 i2", "axis=0" }, { "GatherElements", 13, 1, "f2,2 L2,2=0,0,1,0", "axis=1" },
	{ "GatherND", 13, 1, "f2,2 L2,2=0,0,1,1", "batch_dims=0" }, { "Gelu", 20, 1, "f4", "approximate=tanh" }, { "Gemm", 13, 1, "f2,3 F3,4 F4", "alpha=0.5 beta=2.0" },
	{ "Gemm", 13, 1, "f3,2 F4,3", "transA=1 transB=1" }, { "GlobalAveragePool", 13, 1, "f1,2,4,4", "" }, { "GlobalMaxPool", 13, 1, "f1,2,4,4", "" },
	{ "Greater", 13, 1, "f4 f4", "" }, { "GroupNormalization", 21, 1, "f1,4,2,2 F4 F4", "num_groups=2" }, { "HardSigmoid", 13, 1, "f4", "alpha=0.2 beta=0.5" },
	{ "HardSwish", 14, 1, "f4", "" }, { "Identity", 13, 1, "f4", "" }, { "InstanceNormalization", 13, 1, "f1,2,3,3 F2 F2", "epsilon=0.001" },
	{ "LayerNormalization", 17, 1, "f2,3 F3 F3", "axis=-1" }, { "LeakyRelu", 13, 1, "f4", "alpha=0.1" }, { "LessOrEqual", 16, 1, "f4 f4", "" }, { "Log", 13, 1, "f4", "" },
	{ "LogSoftmax", 13, 1, "f2,3", "axis=1" }, { "LpNormalization", 13, 1, "f2,3", "axis=1 p=2" }, { "MatMul", 13, 1, "f2,3 F3,4", "" }, { "MatMul", 13, 1, "f2,2,3 f1,3,4", "" },
	{ "MatMul", 13, 1, "f3 F3,4", "" }, { "MatMulInteger", 13, 1, "u2,3 U3,4 U=1 U=1", "" }, { "Max", 13, 1, "f4 f4", "" }, { "Max", 13, 1, "b4 b4", "" },
	{ "MaxPool", 13, 1, "f1,2,6,6", "kernel_shape=3,3 strides=2,2 ceil_mode=1" }, { "MaxPool", 13, 1, "b1,2,6,6", "kernel_shape=2,2 dilations=2,2" }, { "Mean", 13, 1, "f4 f4", "" },
	{ "Mish", 18, 1, "f4", "" }, { "Mul", 13, 1, "f4 F=2", "" }, { "Neg", 13, 1, "b4", "" }, { "Not", 13, 1, "o4", "" }, { "PRelu", 13, 1, "f1,2,3 F2,1", "" },
	{ "Pad", 13, 1, "f2,3 L4=1,0,0,1", "" }, { "Pad", 13, 1, "f2,3 L4=1,0,0,1", "mode=reflect" }, { "Pad", 18, 1, "b2,3 L2=1,1 B=3 L1=1", "" }, { "Pow", 13, 1, "f4 F=2", "" },
	{ "QLinearConv", 13, 1, "u1,2,5,5 F=0.5 U=3 U2,2,3,3 F=0.25 U=1 F=0.5 U=2 I2", "" }, { "QLinearMatMul", 13, 1, "u2,3 F=0.5 U=3 U3,4 F=0.25 U=1 F=0.5 U=2", "" },
	{ "QuantizeLinear", 13, 1, "f4 F=0.5 B=1", "" }, { "QuantizeLinear", 13, 1, "f2,4 F4 B4", "axis=1" }, { "Range", 13, 1, "L=0 L=5 L=1", "" }, { "Reciprocal", 13, 1, "f4", "" },
	{ "ReduceMean", 18, 1, "f2,3,4 L1=1", "keepdims=0" }, { "ReduceMean", 13, 1, "f2,3,4", "axes=1,2" }, { "ReduceSum", 13, 1, "f2,3,4 L1=1", "" }, { "ReduceMax", 13, 1, "b2,3", "axes=1," },
	{ "ReduceMax", 13, 1, "u2,3", "axes=1," }, { "ReduceProd", 13, 1, "f2,3", "axes=1," }, { "ReduceL1", 13, 1, "f2,3", "axes=1," }, { "ReduceL2", 13, 1, "f2,3", "axes=1," },
	{ "ReduceLogSumExp", 13, 1, "f2,3", "axes=1," }, { "ReduceSumSquare", 18, 1, "f2,3 L1=1", "noop_with_empty_axes=1" }, { "Relu", 13, 1, "f4", "" }, { "Relu", 14, 1, "b4", "" },
	{ "Reshape", 13, 1, "f2,6 L2=3,-1", "" }, { "Reshape", 14, 1, "f2,6 L2=0,6", "allowzero=0" }, { "Resize", 13, 1, "f1,1,4,4 - - L4=1,1,8,8", "mode=nearest" },
	{ "Resize", 13, 1, "b1,2,4,4 - F4=1,1,2,2", "mode=linear coordinate_transformation_mode=asymmetric" }, { "Resize", 13, 1, "u1,2,4,4 - - L4=1,2,8,6", "mode=nearest nearest_mode=floor" },
	{ "Resize", 18, 1, "f1,1,4,4 - - L2=8,6", "mode=linear axes=2,3" }, { "Resize", 10, 1, "f1,1,4,4 F4=1,1,2,2", "mode=nearest" }, { "Selu", 13, 1, "f4", "" }, { "Shape", 15, 1, "f2,3", "start=0 end=2" },
	{ "Sigmoid", 13, 1, "f4", "" }, { "Size", 13, 1, "f2,3", "" }, { "Slice", 13, 1, "f4,6 L1=1 L1=5 L1=1 L1=2", "" }, { "Slice", 9, 1, "f4,6", "starts=1, ends=3, axes=1," },
	{ "Softmax", 13, 1, "f2,3", "axis=1" }, { "Softmax", 9, 1, "f2,3,4", "axis=1" }, { "Softplus", 13, 1, "f4", "" }, { "Softsign", 13, 1, "f4", "" }, { "SpaceToDepth", 13, 1, "f1,2,4,4", "blocksize=2" },
	{ "Split", 13, 2, "f4,6 L2=2,4", "axis=1" }, { "Split", 18, 2, "f4,6", "axis=1 num_outputs=2" }, { "Sqrt", 13, 1, "f4", "" }, { "Squeeze", 13, 1, "f1,3 L1=0", "" }, { "Squeeze", 9, 1, "f1,3", "axes=0," },
	{ "Sub", 13, 1, "f4 f4", "" }, { "Sum", 13, 1, "f4 f4 f4", "" }, { "Tanh", 13, 1, "f4", "" }, { "ThresholdedRelu", 13, 1, "f4", "alpha=0.5" }, { "Tile", 13, 1, "f2,3 L2=2,1", "" },
	{ "Transpose", 13, 1, "f2,3,4", "perm=2,0,1" }, { "Unsqueeze", 13, 1, "f2,3 L1=0", "" }, { "Unsqueeze", 9, 1, "f2,3", "axes=0,3" }, { "Upsample", 9, 1, "f1,1,2,2 F4=1,1,2,2", "mode=nearest" },
	{ "Where", 13, 1, "o4 f4 f4", "" }, { "Xor", 13, 1, "o4 o4", "" },
	{ "QLinearAdd", 13, 1, "u4 F=0.5 U=3 u4 F=0.25 U=1 F=0.5 U=2", "" }, { "QLinearMul", 13, 1, "b4 F=0.5 B=3 B4 F=0.25 B=1 F=0.5 B=2", "" },
	{ "QLinearAveragePool", 13, 1, "b1,2,4,4 F=0.5 B=1 F=0.5 B=2", "kernel_shape=2,2" }, { "QLinearConcat", 13, 1, "F=0.5 U=2 u2,2 F=0.5 U=2 u2,2 F=0.25 U=1", "axis=1" },
	{ "QLinearGlobalAveragePool", 13, 1, "u1,2,4,4 F=0.5 U=1 F=0.5 U=2", "channels_last=0" }, { "QLinearLeakyRelu", 13, 1, "u4 F=0.5 U=1 F=0.5 U=2", "alpha=0.1" },
	{ "QLinearSigmoid", 13, 1, "b4 F=0.5 B=1 F=0.5 B=2", "" }, { "QLinearSoftmax", 13, 1, "u2,4 F=0.5 U=1 F=0.00390625 U=0", "opset=13 axis=1" },
	{ "QGemm", 13, 1, "u2,3 F=0.5 U=3 U3,4 F=0.25 U=1 - F=0.5 U=2", "" }, { "MatMulIntegerToFloat", 13, 1, "u2,3 U3,4 F=0.5 F=0.5 U=1 U=1", "" },
	{ "DynamicQuantizeMatMul", 13, 1, "f2,3 U3,4 F=0.5 U=1", "" },
};

/* Attributes of some operator, which others get too. */
static const char *const more[] = {
	"axis=0", "axis=-1", "axis=9", "axes=0,1", "axes=-1,", "axes=7,", "perm=0,1", "perm=1,1", "kernel_shape=2,2", "kernel_shape=9,9", "kernel_shape=3,", "strides=2,2", "strides=0,1",
	"pads=1,1,1,1", "pads=-1,0,0,0", "pads=1,1", "dilations=2,2", "dilations=0,1", "group=2", "group=3", "group=0", "auto_pad=SAME_UPPER", "auto_pad=SAME_LOWER", "auto_pad=VALID",
	"auto_pad=NOWHERE", "ceil_mode=1", "count_include_pad=1", "keepdims=0", "mode=linear", "mode=cubic", "mode=edge", "mode=reflect", "mode=wrap", "to=10", "to=3", "to=8", "to=16", "transA=1",
	"transB=1", "alpha=0.0", "alpha=-1.5", "beta=0.0", "epsilon=0.5", "num_outputs=3", "blocksize=3", "blocksize=0", "select_last_index=1", "noop_with_empty_axes=1", "p=1", "p=3", "output_dtype=1",
	"block_size=2", "saturate=0", "stash_type=16", "coordinate_transformation_mode=align_corners", "coordinate_transformation_mode=tf_crop_and_resize", "nearest_mode=ceil", "cubic_coeff_a=-0.5",
	"exclude_outside=1", "antialias=1", "keep_aspect_ratio_policy=not_larger", "batch_dims=1", "approximate=tanh", "training_mode=1", "output_shape=3,3", "output_padding=1,0", "channels_last=1",
	"allowzero=1", "start=1", "end=-1", "split=1,1", "scales=1,2", "storage_order=1", "num_groups=3", "opset=7", "direction=LEFT", "time_axis=1", "value_float=1.5", "value_ints=1,2", "value=1",
};

static const char letters[] = "fhbusilo";
static const int element[] = { 1, 10, 3, 2, 5, 6, 7, 9 };         /* TensorProto.DataType of each letter */
static const int width[] = { 4, 2, 1, 1, 2, 4, 8, 1 };

/* A network in structures of protobuf-c, with what they point to. */
enum { MAX_IN = 12, MAX_OUT = 3, MAX_ATTR = 8, MAX_DIM = 6, MAX_RAW = 1024 };

struct net {
	Weft__Onnx__Model model;
	Weft__Onnx__OperatorSet set[2], *sets[2];
	Weft__Onnx__Graph graph;
	Weft__Onnx__Node node, *nodes[1];
	Weft__Onnx__Attribute attr[MAX_ATTR], *attrs[MAX_ATTR];
	Weft__Onnx__Tensor tensor[MAX_IN], *tensors[MAX_IN];
	Weft__Onnx__Value value[MAX_IN], *in[MAX_IN], out[MAX_OUT], *outs[MAX_OUT];
	Weft__Onnx__Type type[MAX_IN];
	Weft__Onnx__TensorType kind[MAX_IN];
	Weft__Onnx__Shape shape[MAX_IN];
	Weft__Onnx__Dimension dim[MAX_IN][MAX_DIM], *dims[MAX_IN][MAX_DIM];
	int64_t size[MAX_IN][MAX_DIM], ints[MAX_ATTR][8];
	uint8_t raw[MAX_IN][MAX_RAW];
	char name[MAX_IN + MAX_OUT][8], text[MAX_ATTR][64], attr_name[MAX_ATTR][64];
	char *operands[MAX_IN + 2], *results[MAX_OUT];
	uint64_t at, every, first;
	struct odd_count count;
	long wrong;
	const char *row;
};

/* Puts one value of a type into raw data; float16 holds 1, 2 and the like, small integers. */
static void put_value(uint8_t *to, char letter, double v)
{
	const int64_t whole = (int64_t)v;
	const float f = (float)v;
	const uint16_t h = (uint16_t)(whole == 1 ? 0x3c00 : whole == 2 ? 0x4000 : 0);

	switch (letter) {
	case 'f': memcpy(to, &f, 4); break;
	case 'h': memcpy(to, &h, 2); break;
	default: memcpy(to, &whole, (size_t)width[strchr(letters, letter) - letters]);
	}
}

/* Input i of the graph or a constant, as the table spells it. Returns what follows. */
static const char *operand(struct net *n, const char *s, int i)
{
	const char letter = (char)tolower((unsigned char)*s);
	const bool constant = isupper((unsigned char)*s);
	int64_t elements = 1;
	int rank = 0, kind;

	if (*s == '-') {
		n->operands[i] = (char *)"";
		return s + 1;
	}
	kind = (int)(strchr(letters, letter) - letters);
	snprintf(n->name[i], sizeof n->name[i], "x%d", i);
	n->operands[i] = n->name[i];
	for (s++; isdigit((unsigned char)*s); rank++) {
		n->size[i][rank] = strtol(s, (char **)(uintptr_t)&s, 10);
		elements *= n->size[i][rank];
		s += *s == ',';
	}
	if (constant) {
		Weft__Onnx__Tensor *t = n->tensors[n->graph.n_initializer++] = &n->tensor[i];

		*t = (Weft__Onnx__Tensor)WEFT__ONNX__TENSOR__INIT;
		t->name = n->name[i];
		t->has_data_type = t->has_raw_data = true;
		t->data_type = element[kind];
		t->n_dims = (size_t)rank;
		t->dims = n->size[i];
		t->raw_data = (ProtobufCBinaryData){ (size_t)(elements * width[kind]), n->raw[i] };
		assert_true(t->raw_data.len <= MAX_RAW);
		for (int64_t k = 0; k < elements; k++) {
			double v = 1 + (double)(k % 2);

			if (*s == '=' || *s == ',')
				v = strtod(s + 1, (char **)(uintptr_t)&s);
			put_value(n->raw[i] + k * width[kind], letter, v);
		}
		return s;
	}
	Weft__Onnx__Value *v = n->in[n->graph.n_input++] = &n->value[i];
	*v = (Weft__Onnx__Value)WEFT__ONNX__VALUE__INIT;
	n->type[i] = (Weft__Onnx__Type)WEFT__ONNX__TYPE__INIT;
	n->kind[i] = (Weft__Onnx__TensorType)WEFT__ONNX__TENSOR_TYPE__INIT;
	n->shape[i] = (Weft__Onnx__Shape)WEFT__ONNX__SHAPE__INIT;
	v->name = n->name[i];
	v->type = &n->type[i];
	n->type[i].tensor_type = &n->kind[i];
	n->kind[i].has_elem_type = true;
	n->kind[i].elem_type = element[kind];
	n->kind[i].shape = &n->shape[i];
	n->shape[i].n_dim = (size_t)rank;
	n->shape[i].dim = n->dims[i];
	for (int k = 0; k < MAX_DIM; k++) {
		n->dim[i][k] = (Weft__Onnx__Dimension)WEFT__ONNX__DIMENSION__INIT;
		n->dim[i][k].has_dim_value = true;
		n->dim[i][k].dim_value = k < rank ? n->size[i][k] : 2;
		n->dims[i][k] = &n->dim[i][k];
	}
	return s;
}

/* Attribute i from NAME=VALUE. Returns what follows. */
static const char *attribute(struct net *n, const char *s, size_t i)
{
	Weft__Onnx__Attribute *a = n->attrs[i] = &n->attr[i];
	size_t name = strcspn(s, "="), len = strcspn(s + name + 1, " ");

	*a = (Weft__Onnx__Attribute)WEFT__ONNX__ATTRIBUTE__INIT;
	snprintf(n->attr_name[i], sizeof n->attr_name[i], "%.*s", (int)name, s);
	snprintf(n->text[i], sizeof n->text[i], "%.*s", (int)len, s + name + 1);
	a->name = n->attr_name[i];
	a->has_type = true;
	if (isalpha((unsigned char)*n->text[i])) {
		a->type = 3;
		a->has_s = true;
		a->s = (ProtobufCBinaryData){ len, (uint8_t *)n->text[i] };
	} else if (strchr(n->text[i], ',')) {
		a->type = 7;
		a->ints = n->ints[i];
		for (char *p = n->text[i]; *p && a->n_ints < 8; p += *p == ',')
			n->ints[i][a->n_ints++] = strtol(p, &p, 10);
	} else if (strchr(n->text[i], '.')) {
		a->type = 1;
		a->has_f = true;
		a->f = strtof(n->text[i], NULL);
	} else {
		a->type = 2;
		a->has_i = true;
		a->i = strtol(n->text[i], NULL, 10);
	}
	return s + name + 1 + len;
}

static void build(struct net *n, const struct row *r)
{
	const char *s = r->operands;

	n->model = (Weft__Onnx__Model)WEFT__ONNX__MODEL__INIT;
	n->graph = (Weft__Onnx__Graph)WEFT__ONNX__GRAPH__INIT;
	n->node = (Weft__Onnx__Node)WEFT__ONNX__NODE__INIT;
	n->model.has_ir_version = true;
	n->model.ir_version = 8;
	n->model.graph = &n->graph;
	n->model.opset_import = n->sets;
	n->model.n_opset_import = 2;
	for (int i = 0; i < 2; i++) {
		n->set[i] = (Weft__Onnx__OperatorSet)WEFT__ONNX__OPERATOR_SET__INIT;
		n->set[i].has_version = true;
		n->set[i].version = i ? 1 : r->opset;
		n->set[i].domain = (char *)(i ? "com.microsoft" : "");
		n->sets[i] = &n->set[i];
	}
	n->graph.name = (char *)"g";
	n->graph.node = n->nodes;
	n->graph.n_node = 1;
	n->graph.input = n->in;
	n->graph.initializer = n->tensors;
	n->graph.output = n->outs;
	n->nodes[0] = &n->node;
	n->node.op_type = (char *)(uintptr_t)r->op;
	n->node.input = n->operands;
	n->node.output = n->results;
	n->node.attribute = n->attrs;
	for (; *s; s += *s == ' ') {
		assert_true(n->node.n_input < MAX_IN);
		s = operand(n, s, (int)n->node.n_input++);
	}
	for (s = r->attributes; *s; s += *s == ' ')
		s = attribute(n, s, n->node.n_attribute++);
	for (int i = 0; i < r->n_out; i++) {
		snprintf(n->name[MAX_IN + i], sizeof n->name[0], "y%c", '0' + i);
		n->results[i] = n->name[MAX_IN + i];
		n->out[i] = (Weft__Onnx__Value)WEFT__ONNX__VALUE__INIT;
		n->out[i].name = n->results[i];
		n->outs[i] = &n->out[i];
	}
	n->node.n_output = n->graph.n_output = (size_t)r->n_out;
}

/* The network as it is now, as a file of *bytes bytes, which the caller frees. */
static uint8_t *packed(const struct net *n, size_t *bytes)
{
	*bytes = weft__onnx__model__get_packed_size(&n->model);
	uint8_t *file = malloc(*bytes);

	assert_non_null(file);
	weft__onnx__model__pack(&n->model, file);
	return file;
}

/* Loads the network as it is now. Returns the importer's error; msg gets its line. */
static int load(const struct net *n, weft_graph **g, char msg[WEFT_MSG])
{
	size_t bytes;
	uint8_t *file = packed(n, &bytes);
	int err = weft_import_onnx(file, bytes, "odd", NULL, g, msg);
	free(file);
	return err;
}

/* Judges the network as it is now, if it is this change's turn. */
static void try(struct net *n, const char *what, int64_t v)
{
	char msg[WEFT_MSG] = "", place[200];
	weft_graph *g = NULL;

	if (n->at++ % n->every != n->first)
		return;
	int err = load(n, &g, msg);
	snprintf(place, sizeof place, "%s, %s: %lld", n->row, what, (long long)v);
	n->wrong += !odd_judge(err, g, msg, place, &n->count);
}

/* Each of these values in place of a number. */
static void try_number(struct net *n, int64_t *at, const int64_t *v, size_t n_values, const char *what)
{
	const int64_t old = *at;

	for (size_t i = 0; i < n_values; i++) {
		*at = v[i];
		try(n, what, v[i]);
	}
	*at = old;
}

static void try_type(struct net *n, int32_t *at, const char *what)
{
	const int32_t old = *at;

	for (*at = 0; *at < 25; ++*at)
		try(n, what, *at);
	*at = old;
}

static void try_size(struct net *n, size_t *at, size_t most, const char *what)
{
	const size_t old = *at;

	for (*at = 0; *at <= most; ++*at)
		try(n, what, (int64_t)*at);
	*at = old;
}

static void change_operands(struct net *n)
{
	for (size_t i = 0; i < n->graph.n_input; i++) {
		Weft__Onnx__TensorType *t = n->in[i]->type->tensor_type;

		try_type(n, &t->elem_type, "type of an input");
		try_size(n, &t->shape->n_dim, MAX_DIM, "rank of an input");
		for (size_t k = 0; k < t->shape->n_dim; k++) {
			const int64_t d = t->shape->dim[k]->dim_value, dims[] = { 0, 1, 2, d + 1, d - 1, -1, 2 * d, 7, 1 << 20, INT64_MAX };

			try_number(n, &t->shape->dim[k]->dim_value, dims, N(dims), "dimension of an input");
		}
	}
	for (size_t i = 0; i < n->graph.n_initializer; i++) {
		Weft__Onnx__Tensor *t = n->tensors[i];
		const ProtobufCBinaryData raw = t->raw_data;

		try_type(n, &t->data_type, "type of a constant");
		/* Of another shape and with as many bytes as that takes. */
		for (size_t rank = 0; rank <= 4; rank++) {
			int64_t dims[] = { 1, 2, 1, 2 }, *old = t->dims;
			const size_t old_rank = t->n_dims;

			t->dims = dims;
			t->n_dims = rank;
			t->raw_data.len = (size_t)(rank < 2 ? 1 : rank < 4 ? 2 : 4) * (t->data_type == 7 ? 8u : t->data_type == 1 || t->data_type == 6 ? 4u : 1u);
			try(n, "shape of a constant", (int64_t)rank);
			t->dims = old;
			t->n_dims = old_rank;
			t->raw_data.len = raw.len;
		}
		for (size_t k = 0; k < t->n_dims; k++) {
			const int64_t d = t->dims[k], dims[] = { 0, d + 1, -1, INT64_MAX };

			try_number(n, &t->dims[k], dims, N(dims), "dimension of a constant");
		}
		for (size_t k = 0; t->data_type == 7 && 8 * (k + 1) <= raw.len; k++) {
			const int64_t words[] = { -1, 0, 1, 2, 3, -9, 100, INT64_MIN, INT64_MAX };

			for (size_t v = 0; v < N(words); v++) {
				int64_t old;

				memcpy(&old, raw.data + 8 * k, 8);
				memcpy(raw.data + 8 * k, &words[v], 8);
				try(n, "value of a constant", words[v]);
				memcpy(raw.data + 8 * k, &old, 8);
			}
		}
		for (size_t k = 0; t->data_type == 1 && k < 2 && 4 * (k + 1) <= raw.len; k++) {
			static const float values[] = { 0, -1, 1e30f, 1e-30f, (float)INFINITY, 0.3f };

			for (size_t v = 0; v < N(values); v++) {
				float old;

				memcpy(&old, raw.data + 4 * k, 4);
				memcpy(raw.data + 4 * k, &values[v], 4);
				try(n, "value of a constant", (int64_t)v);
				memcpy(raw.data + 4 * k, &old, 4);
			}
		}
	}
	for (size_t i = 0; i < n->node.n_input; i++) {
		char *old = n->operands[i];

		for (size_t k = 0; k < n->node.n_input + 2; k++) {
			n->operands[i] = k < n->node.n_input ? n->name[k] : k == n->node.n_input ? (char *)"" : (char *)"nobody";
			try(n, "operand", (int64_t)k);
		}
		n->operands[i] = old;
	}
	n->operands[n->node.n_input] = n->operands[0];
	n->operands[n->node.n_input + 1] = n->operands[0];
	try_size(n, &n->node.n_input, n->node.n_input + 2, "number of operands");
	try_size(n, &n->node.n_output, n->node.n_output, "number of results");
}

static void change_attributes(struct net *n)
{
	const int64_t values[] = { -1, 0, 1, 2, 3, 4, 9, -9, 100, INT64_MIN, INT64_MAX };
	const size_t count = n->node.n_attribute;

	for (size_t i = 0; i < count; i++) {
		Weft__Onnx__Attribute *a = n->attrs[i];
		const ProtobufCBinaryData s = a->s;
		const float f = a->f;

		n->attrs[i] = n->attrs[count - 1];
		n->node.n_attribute--;
		try(n, "without attribute", (int64_t)i);
		n->node.n_attribute++;
		n->attrs[i] = a;
		try_type(n, &a->type, "type of an attribute");
		if (a->has_i)
			try_number(n, &a->i, values, N(values), "attribute");
		for (size_t k = 0; k < a->n_ints; k++)
			try_number(n, &a->ints[k], values, N(values), "attribute");
		if (a->n_ints)
			try_size(n, &a->n_ints, 7, "length of an attribute");
		for (size_t k = 0; a->has_f && k < 4; k++) {
			a->f = (float[]){ 0, -1, (float)NAN, 1e30f }[k];
			try(n, "attribute", (int64_t)k);
		}
		a->f = f;
		a->s.len = s.len ? s.len - 1 : 0;
		try(n, "shorter string", 0);
		a->s = s;
	}
	for (size_t i = 0; i < N(more) && count < MAX_ATTR; i++) {
		attribute(n, more[i], count);
		n->node.n_attribute = count + 1;
		try(n, more[i], 0);
	}
	n->node.n_attribute = count;
}

static void change_node(struct net *n)
{
	static const char *const domains[] = { "com.microsoft", "PACTOps", "ai.onnx.contrib", "org.openvinotoolkit", "nowhere" };
	static const char *const deeploy[] = { "ITAMax", "ITAPartialMax", "IntegerDiv", "IntegerMean", "RequantShift", "TrueIntegerDiv", "iGELU", "iHardswish",
	                                       "iLayerNorm", "iSoftmax", "FakeConvert", "If", "Loop", "NonMaxSuppression", "TopK", "LSTM", "Einsum", "OptionalHasElement", "Nothing" };
	const int64_t versions[] = { 0, 1, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 23, 25, 99 };
	char *const op = n->node.op_type;

	for (size_t i = 0; i < N(rows) + N(deeploy); i++) {
		n->node.op_type = (char *)(uintptr_t)(i < N(rows) ? rows[i].op : deeploy[i - N(rows)]);
		try(n, n->node.op_type, 0);
	}
	n->node.op_type = op;
	for (size_t i = 0; i < N(domains); i++) {
		n->node.domain = (char *)(uintptr_t)domains[i];
		try(n, domains[i], 0);
	}
	n->node.domain = (char *)(uintptr_t)protobuf_c_empty_string;
	try_number(n, &n->set[0].version, versions, N(versions), "operator set");
}

static void onnx(void **state)
{
	static struct net n;
	struct net total = { .every = (uint64_t)test_every(17, 7, 1), .first = test_seed(0) };

	(void)state;
	total.first %= total.every;
	for (size_t i = 0; i < N(rows); i++) {
		char msg[WEFT_MSG] = "";
		weft_graph *g = NULL;

		n = (struct net){ .every = total.every, .first = total.first, .at = total.at, .count = total.count, .row = rows[i].op };
		build(&n, &rows[i]);
		if (load(&n, &g, msg)) {
			print_error("row %zu %s: %s\n", i, rows[i].op, msg);
			total.wrong++;
			continue;
		}
		weft_graph_free(g);
		change_operands(&n);
		change_attributes(&n);
		change_node(&n);
		total.at = n.at;
		total.count = n.count;
		total.wrong += n.wrong;
	}
	print_message("%zu networks, one in %d of %lld changes: %ld loaded, %ld refused, %ld wrong\n", N(rows), (int)total.every,
	              (long long)total.at, total.count.loaded, total.count.refused, total.wrong);
	assert_true(total.count.loaded > 0 && total.count.refused > 0);
	assert_int_equal(total.wrong, 0);
}

/* A QGemm whose bias has bytes in place of int32: once, four of them were read where one is. */
static void bias_of_bytes_bad(void **state)
{
	static const struct row bytes = { "QGemm", 13, 1, "u2,3 F=0.5 U=3 U3,4 F=0.25 U=1 U1 F=0.5 U=2", "" };
	static struct net n;
	char msg[WEFT_MSG] = "";
	weft_graph *g = NULL;

	(void)state;
	build(&n, &bytes);
	assert_int_equal(load(&n, &g, msg), -EINVAL);
}

/* The table's networks while memory ends. */
static void no_memory(void **state)
{
	static struct net n;
	struct short_of_memory s = { .every = (uint64_t)test_every(5, 3, 1) };

	(void)state;
	s.at = test_seed(0) % s.every;
	for (size_t i = 0; i < N(rows); i++) {
		size_t bytes;

		n = (struct net){ .row = rows[i].op };
		build(&n, &rows[i]);
		uint8_t *file = packed(&n, &bytes);
		short_of_memory(&s, file, bytes, rows[i].op, NULL);
		free(file);
	}
	short_of_memory_judge(&s, (long)N(rows));
}

/* Writes one of the table's networks; prefix: a byte in front of it, or -1. */
static void seed(const char *dir, const char *target, size_t row, int prefix, const uint8_t *p, size_t n)
{
	const uint8_t first = (uint8_t)prefix;
	const struct weft_piece pieces[] = { { &first, prefix >= 0 }, { p, n } };
	char path[512];

	snprintf(path, sizeof path, "%s/%s", dir, target);
	mkdir(path, 0777);
	snprintf(path, sizeof path, "%s/%s/%s.%zu", dir, target, rows[row].op, row);
	if (weft_file_write_pieces(path, pieces, 2))
		fail_msg("%s cannot be written", path);
}

static int write_seeds(const char *dir)
{
	static struct net n;

	mkdir(dir, 0777);
	for (size_t i = 0; i < N(rows); i++) {
		size_t bytes;

		n = (struct net){ .row = rows[i].op };
		build(&n, &rows[i]);
		uint8_t *file = packed(&n, &bytes);
		seed(dir, "onnx", i, -1, file, bytes);
		if (*rows[i].operands == 'f')
			seed(dir, "quantize", i, (int)(i % 3), file, bytes);
		free(file);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--seeds"))
		return write_seeds(argv[2]);
	const struct CMUnitTest tests[] = { cmocka_unit_test(onnx), cmocka_unit_test(bias_of_bytes_bad), cmocka_unit_test(no_memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
