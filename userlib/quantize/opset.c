/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raises the float network to an opset (version of ONNX's operator set) that has QuantizeLinear and
 * DequantizeLinear of the types wanted: 13 for int8 by channel, 19 for float8, 21 for int16.
 *
 * Only nodes whose operator is defined otherwise in the newer opset are changed, as ONNX's version
 * converter does it. Attributes become operands: of Slice and TopK in opset 10, Clip and Pad 11,
 * Squeeze, Unsqueeze, Split and ReduceSum 13, other reductions 18. Upsample becomes Resize (10),
 * Dropout loses its ratio (12), Softmax, LogSoftmax and Hardmax get the axis that they meant (13),
 * Split says how many parts there are (18).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantize.h"

#define LEAST 7                /* the least opset that can be raised: earlier ones broadcast along an attribute's axis */

/* Returns the opset that has the quantisers of the wanted type. */
static int wanted_opset(const struct qz *z)
{
	return z->o->type == WEFT_QUANTIZE_INT16X8 ? 21 : z->o->type == WEFT_QUANTIZE_FP8 ? 19 : 13;
}

/* ---- attributes ---- */

/* Removes the attribute of that name from the node, if it has it. Returns 0 or -ENOMEM. */
static int drop(struct qz *z, onnx_node *n, const char *name)
{
	onnx_attribute **list = qz_alloc(z, (n->n_attribute + 1) * sizeof *list);
	size_t k = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < n->n_attribute; i++)
		if (!n->attribute[i]->name || strcmp(n->attribute[i]->name, name))
			list[k++] = n->attribute[i];
	n->attribute = list;
	n->n_attribute = k;
	return 0;
}

/* Returns the name RESULT/NAME of the constant that attribute `name` of node n becomes; NULL if there is no memory. */
static char *label(struct qz *z, const onnx_node *n, const char *name)
{
	const char *result = qz_text(z, n->output[0], "/");

	return result ? qz_text(z, result, name) : NULL;
}

/*
 * Turns an attribute that is a list of integers into operand k, a constant list of int64 called
 * RESULT/NAME, as later opsets want it, and removes the attribute. Returns 0, also without a change if
 * the node does not have it, or -ENOMEM.
 */
static int list_operand(struct qz *z, onnx_node *n, const char *name, size_t k)
{
	const onnx_attribute *a = qz_attribute(n, name);
	int64_t count = a ? (int64_t)a->n_ints : 0;

	if (!a)
		return 0;
	char *t = qz_add_tensor(z, label(z, n, name), 7, 1, &count, a->ints, (size_t)count * 8);
	return t ? (qz_set_operand(z, n, k, t) ? -ENOMEM : drop(z, n, name)) : -ENOMEM;
}

/*
 * Turns a float attribute into operand k, a constant float32 scalar called RESULT/NAME, as later opsets
 * want it, and removes the attribute. Returns 0, also without a change if the node does not have it, or
 * -ENOMEM.
 */
static int float_operand(struct qz *z, onnx_node *n, const char *name, size_t k)
{
	const onnx_attribute *a = qz_attribute(n, name);

	if (!a || !a->has_f)
		return 0;
	char *t = qz_add_tensor(z, label(z, n, name), 1, 0, NULL, &a->f, 4);
	return t ? (qz_set_operand(z, n, k, t) ? -ENOMEM : drop(z, n, name)) : -ENOMEM;
}

/*
 * Turns an integer attribute into operand k, a constant list of one int64 called RESULT/NAME, and removes
 * the attribute. Returns 0, also without a change if the node does not have it, or -ENOMEM.
 */
static int integer_operand(struct qz *z, onnx_node *n, const char *name, size_t k)
{
	const onnx_attribute *a = qz_attribute(n, name);
	const int64_t one = 1;

	if (!a || !a->has_i)
		return 0;
	char *t = qz_add_tensor(z, label(z, n, name), 7, 1, &one, &a->i, 8);
	return t ? (qz_set_operand(z, n, k, t) ? -ENOMEM : drop(z, n, name)) : -ENOMEM;
}

/* Adds a string attribute of that name and value to the node. Returns 0 or -ENOMEM. */
static int set_string(struct qz *z, onnx_node *n, const char *name, const char *v)
{
	if (qz_set_integer(z, n, name, 0))
		return -ENOMEM;
	onnx_attribute *a = n->attribute[n->n_attribute - 1];
	char *text = qz_text(z, v, "");
	a->has_i = false;
	a->has_s = true;
	a->type = 3;
	a->s = (ProtobufCBinaryData){ strlen(v), (uint8_t *)text };
	return text ? 0 : -ENOMEM;
}

/* Returns the rank of the graph's tensor of that name; -1 if there is none. */
static int rank_of(const struct qz *z, const char *name)
{
	for (int i = 0; i < z->g->n_tensors; i++)
		if (!strcmp(z->g->tensors[i].name, name))
			return z->g->tensors[i].t.rank;
	return -1;
}

/* ---- operators ---- */

/*
 * Turns Softmax, LogSoftmax or Hardmax of before opset 13 into today's form. They used to cut the
 * tensor into a matrix at the axis; now lines run along the axis. Both mean the same if it is the last
 * one: then the attribute becomes -1. Returns 0, -ENOMEM, or -ENOTSUP with one line in the message for
 * any other axis or an unknown rank.
 */
static int softmax(struct qz *z, onnx_node *n)
{
	const int rank = rank_of(z, n->output[0]);
	int64_t axis = qz_integer(n, "axis", 1);

	axis = axis < 0 && rank > 0 ? axis + rank : axis;
	if (rank < 0 || axis != rank - 1)
		return qz_fail(z, -ENOTSUP, "%.20s \"%.60s\": axis %lld of rank %d means another thing since opset 13; raise the opset to 13 before",
		               n->op_type, n->output[0], (long long)axis, rank);
	return drop(z, n, "axis") || qz_set_integer(z, n, "axis", -1) ? -ENOMEM : 0;
}

/*
 * Turns Upsample into a Resize of opset 11 that computes the same: asymmetric coordinates, nearest
 * element rounded down. Its scales, which are an attribute before opset 9 and operand 1 from then on,
 * become operand 2, and operand 1 becomes empty. Returns 0, or -ENOMEM also if there are no scales.
 */
static int upsample(struct qz *z, onnx_node *n)
{
	const onnx_attribute *s = qz_attribute(n, "scales");
	int64_t count = s ? (int64_t)s->n_floats : 0;
	char *scales = s ? qz_add_tensor(z, qz_text(z, n->output[0], "/scales"), 1, 1, &count, s->floats, (size_t)count * 4) : n->n_input > 1 ? n->input[1] : NULL;

	n->op_type = qz_text(z, "Resize", "");
	if (!n->op_type || !scales || qz_set_operand(z, n, 1, qz_text(z, "", "")) || qz_set_operand(z, n, 2, scales) || drop(z, n, "scales"))
		return -ENOMEM;
	return set_string(z, n, "coordinate_transformation_mode", "asymmetric") || set_string(z, n, "nearest_mode", "floor") ? -ENOMEM : 0;
}

/*
 * Turns Resize of opset 10 into that of opset 11: the scales, operand 1, become operand 2, operand 1
 * becomes empty, and attributes state what opset 10 always did (asymmetric coordinates, nearest element
 * rounded down). Returns 0; or -ENOMEM, also if there are no scales.
 */
static int resize_10(struct qz *z, onnx_node *n)
{
	char *scales = n->n_input > 1 ? n->input[1] : NULL;

	if (!scales || qz_set_operand(z, n, 1, qz_text(z, "", "")) || qz_set_operand(z, n, 2, scales))
		return -ENOMEM;
	return set_string(z, n, "coordinate_transformation_mode", "asymmetric") || set_string(z, n, "nearest_mode", "floor") ? -ENOMEM : 0;
}

/* Says whether n is an operator of the list, which ends with NULL. */
static bool any(const onnx_node *n, const char *const *names)
{
	for (; *names; names++)
		if (qz_is(n, *names))
			return true;
	return false;
}

/*
 * Rewrites one node, if its operator changed in one of the opsets up to 12 that are above the model's
 * (z->opset, 7 or later). Attributes of Slice and TopK (below opset 10), Clip and Pad (below 11) become
 * operands; Upsample (below 10) and Resize (at 10) become today's Resize; Dropout loses its ratio (below
 * 12), BatchNormalization `spatial` (below 9). Returns 0 or -ENOMEM.
 */
static int from_7_to_12(struct qz *z, onnx_node *n)
{
	int err = 0;

	if (z->opset < 10 && qz_is(n, "Slice")) {
		err = list_operand(z, n, "starts", 1);
		err = err ? err : list_operand(z, n, "ends", 2);
		return err ? err : list_operand(z, n, "axes", 3);
	}
	if (z->opset < 10 && qz_is(n, "TopK"))
		return integer_operand(z, n, "k", 1);
	if (z->opset < 10 && qz_is(n, "Upsample"))
		return upsample(z, n);
	if (z->opset == 10 && qz_is(n, "Resize"))
		return resize_10(z, n);
	if (z->opset < 11 && qz_is(n, "Clip")) {
		err = float_operand(z, n, "min", 1);
		return err ? err : float_operand(z, n, "max", 2);
	}
	if (z->opset < 11 && qz_is(n, "Pad")) {
		err = list_operand(z, n, "pads", 1);
		return err ? err : float_operand(z, n, "value", 2);
	}
	if (z->opset < 12 && qz_is(n, "Dropout"))
		return drop(z, n, "ratio");
	return z->opset < 9 && qz_is(n, "BatchNormalization") ? drop(z, n, "spatial") : 0;
}

/*
 * Rewrites one node, if its operator changed in opset 13 or 18 and the model's opset is below that one
 * and is raised to it or beyond; `to` is the opset that it is raised to, 13 or above. In 13, Softmax and
 * its like get the axis that they meant, and axes of Squeeze, Unsqueeze and ReduceSum and the parts of
 * Split become operand 1; in 18, axes of the other reductions, and a Split without parts gets
 * num_outputs. Returns 0, -ENOMEM, or -ENOTSUP with one line in the message for a Softmax along another
 * axis than the last.
 */
static int from_13(struct qz *z, onnx_node *n, int to)
{
	static const char *const soft[] = { "Softmax", "LogSoftmax", "Hardmax", NULL }, *const by_axes[] = { "Squeeze", "Unsqueeze", "ReduceSum", NULL };
	static const char *const reductions[] = { "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
	                                          "ReduceLogSumExp", "ReduceSumSquare", NULL };

	if (z->opset < 13 && any(n, soft))
		return softmax(z, n);
	if (z->opset < 13 && any(n, by_axes))
		return list_operand(z, n, "axes", 1);
	if (z->opset < 13 && qz_is(n, "Split")) {
		int err = list_operand(z, n, "split", 1);
		if (err)
			return err;
	}
	if (z->opset < 18 && to >= 18 && any(n, reductions))
		return list_operand(z, n, "axes", 1);
	if (z->opset < 18 && to >= 18 && qz_is(n, "Split") && n->n_input < 2)
		return qz_set_integer(z, n, "num_outputs", (int64_t)n->n_output);
	return 0;
}

/*
 * Sets the version of ONNX's own operator set to `to`, in a copy of the list of sets that z->set then is,
 * and z->opset. The file's list is not changed. Returns 0 or -ENOMEM.
 */
static int set_version(struct qz *z, int to)
{
	Weft__Onnx__OperatorSet **list = qz_alloc(z, (z->n_set + 1) * sizeof *list);

	for (size_t i = 0; list && i < z->n_set; i++) {
		const char *d = z->set[i]->domain;

		list[i] = z->set[i];
		if (d && *d && strcmp(d, "ai.onnx"))
			continue;
		Weft__Onnx__OperatorSet *s = qz_alloc(z, sizeof *s);
		if (!s)
			return -ENOMEM;
		*s = *z->set[i];
		s->has_version = true;
		s->version = to;
		list[i] = s;
	}
	z->set = list;
	z->opset = to;
	return list ? 0 : -ENOMEM;
}

/*
 * Returns 0, or -ENOTSUP with one line in the message if the node has graphs of its own, such as If's branches: what is in
 * them is not rewritten, and would mean another thing in the newer opset.
 */
static int without_graphs(struct qz *z, const onnx_node *n, int to)
{
	for (size_t i = 0; i < n->n_attribute; i++)
		if (n->attribute[i]->has_g)
			return qz_fail(z, -ENOTSUP, "%.20s \"%.60s\": what is in its graphs cannot be raised from opset %d to %d; raise the model before", n->op_type,
			               n->n_output ? n->output[0] : "", z->opset, to);
	return 0;
}

int qz_raise(struct qz *z)
{
	const int to = wanted_opset(z);

	if (z->opset >= to)
		return 0;
	if (z->opset < LEAST)
		return qz_fail(z, -ENOTSUP, "opset %d: QuantizeLinear needs %d, and operators changed too much before opset %d to raise it", z->opset, to, LEAST);
	for (int i = 0; i < z->n_node; i++) {
		onnx_node *n = z->node[i];
		int err = n ? without_graphs(z, n, to) : 0;

		if (!err && n && (!n->domain || !*n->domain || !strcmp(n->domain, "ai.onnx")))
			err = from_7_to_12(z, n);
		err = err || !n ? err : from_13(z, n, to);
		if (err)
			return err;
	}
	return set_version(z, to);
}
