/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes are deferred until a reader asks for their result, and how; onnx_qdq.h says why. */
#include <errno.h>
#include <string.h>

#include "onnx_integer.h"
#include "onnx_qdq.h"

/* The most nodes in a row, each a function of one element, that one table is made of. */
#define MAX_DEPTH 6

/*
 * How a node can be deferred: it only moves elements, it is a function of single elements, it is a
 * product with weights, it averages elements, it normalises rows, or it computes another linear function in each
 * channel.
 */
enum kind { NONE, MOVE, FUNCTION, PRODUCT, AVERAGE, NORMALISE, CHANNELS };

static const struct { const char *name; enum kind kind; } table[] = {
	{ "Abs", FUNCTION }, { "Add", FUNCTION }, { "AveragePool", AVERAGE }, { "BatchNormalization", CHANNELS }, { "Ceil", FUNCTION }, { "Celu", FUNCTION }, { "Clip", FUNCTION },
	{ "Conv", PRODUCT }, { "ConvTranspose", PRODUCT }, { "Cos", FUNCTION }, { "DepthToSpace", MOVE }, { "Div", FUNCTION }, { "Dropout", MOVE },
	{ "Elu", FUNCTION }, { "Erf", FUNCTION }, { "Exp", FUNCTION }, { "Expand", MOVE }, { "Flatten", MOVE }, { "Floor", FUNCTION },
	{ "Gather", MOVE }, { "GatherElements", MOVE }, { "Gelu", FUNCTION }, { "Gemm", PRODUCT }, { "GlobalAveragePool", AVERAGE }, { "GroupNormalization", NORMALISE },
	{ "HardSigmoid", FUNCTION }, { "HardSwish", FUNCTION }, { "Identity", MOVE }, { "InstanceNormalization", NORMALISE }, { "LayerNormalization", NORMALISE }, { "LeakyRelu", FUNCTION }, { "Log", FUNCTION },
	{ "MatMul", PRODUCT }, { "Max", FUNCTION }, { "MaxPool", MOVE }, { "Min", FUNCTION }, { "Mish", FUNCTION }, { "Mul", FUNCTION }, { "Neg", FUNCTION },
	{ "PRelu", FUNCTION }, { "Pad", MOVE }, { "Pow", FUNCTION }, { "Reciprocal", FUNCTION }, { "ReduceMax", MOVE },
	{ "ReduceMean", AVERAGE }, { "ReduceMin", MOVE }, { "ReduceSum", AVERAGE }, { "Relu", FUNCTION }, { "Reshape", MOVE }, { "Selu", FUNCTION },
	{ "Sigmoid", FUNCTION }, { "Sin", FUNCTION }, { "Slice", MOVE }, { "Softmax", NORMALISE }, { "Softplus", FUNCTION }, { "Softsign", FUNCTION }, { "SpaceToDepth", MOVE },
	{ "Split", MOVE }, { "Sqrt", FUNCTION }, { "Squeeze", MOVE }, { "Sub", FUNCTION }, { "Sum", FUNCTION }, { "Swish", FUNCTION },
	{ "Tanh", FUNCTION }, { "ThresholdedRelu", FUNCTION }, { "Tile", MOVE }, { "Transpose", MOVE }, { "Unsqueeze", MOVE },
};

/* Says whether node n has an attribute of that name whose string is value. */
static bool says(const onnx_node *n, const char *name, const char *value)
{
	const onnx_attribute *a = ox_node_attr(n, name);

	return a && a->s.len == strlen(value) && !memcmp(a->s.data, value, a->s.len);
}

/*
 * Returns how Resize node n can be deferred: MOVE if it takes nearest neighbours, AVERAGE if it
 * interpolates linearly without antialias and exclude_outside, else NONE. A resize that crops is
 * NONE, because it replaces what lies outside by another number.
 */
static enum kind resize_kind(const onnx_node *n)
{
	if (says(n, "coordinate_transformation_mode", "tf_crop_and_resize"))
		return NONE;
	if (says(n, "mode", "linear"))
		return ox_attr_of(n, "antialias", 0) || ox_attr_of(n, "exclude_outside", 0) ? NONE : AVERAGE;
	return !ox_node_attr(n, "mode") || says(n, "mode", "nearest") ? MOVE : NONE;
}

/*
 * Returns how node n can be deferred, which its type alone says but for Resize (resize_kind()):
 * MOVE if it only moves or chooses elements, as Reshape, Gather and MaxPool do; FUNCTION if it is
 * computed element by element; PRODUCT; AVERAGE; NORMALISE (Softmax, LayerNormalization and its kin); CHANNELS
 * (BatchNormalization); or NONE.
 */
static enum kind kind_of(const onnx_node *n)
{
	if (ox_node_is(n, "Resize"))
		return resize_kind(n);
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (ox_node_is(n, table[i].name))
			return table[i].kind;
	return NONE;
}

bool ox_is_function(const onnx_node *n)
{
	return kind_of(n) == FUNCTION;
}

/* What belongs to the node at hand (struct ox), kept while another node is lowered. */
struct place { const onnx_node *n; int i_node, src, made; struct ox_value *subst[2], *results; const double *zero; };

/*
 * Returns all that belongs to the node at hand and clears what replaces its operands and results,
 * so that another node can be lowered in between. back() restores it.
 */
static struct place leave(struct ox *l)
{
	struct place p = { l->n, l->i_node, l->src, l->made, { l->subst[0], l->subst[1] }, l->results, l->zero };

	l->subst[0] = l->subst[1] = l->results = NULL;
	l->zero = NULL;
	return p;
}

/* Makes the node whose state leave() returned in *p the node at hand again. */
static void back(struct ox *l, const struct place *p)
{
	l->n = p->n;
	l->i_node = p->i_node;
	l->src = p->src;
	l->made = p->made;
	l->subst[0] = p->subst[0];
	l->subst[1] = p->subst[1];
	l->results = p->results;
	l->zero = p->zero;
}

/*
 * Lowers the node that makes v if that node was deferred and v has neither a tensor nor an
 * initialiser yet; v waits for it no longer (v->pending is -1), even if that fails. Returns 0, also
 * if nothing had to be done, with the node at hand as before; or a negative errno, after which the
 * node at hand is the one that failed, so that messages name it.
 */
int ox_settle(struct ox *l, struct ox_value *v)
{
	if (v->pending < 0 || v->n_forms || v->init)
		return 0;
	struct place p = leave(l);
	int node = v->pending;

	v->pending = -1;
	int err = ox_lower_now(l, node);
	if (!err)                        /* a failure is told of the node that failed */
		back(l, &p);
	return err;
}

/* Returns the value that is result k of the node at hand, or NULL if the node has no such result. */
static struct ox_value *result(struct ox *l, size_t k)
{
	return k < l->n->n_output && *l->n->output[k] ? &l->values[ox_value_find(l, l->n->output[k])] : NULL;
}

/* Says whether one node alone reads v, and v is no output of the network. */
static bool private(const struct ox_value *v)
{
	return v && !v->is_output && v->n_uses == 1;
}

/*
 * Says whether a QuantizeLinear behind v may fold the node that makes it: v is no output of the network, and
 * one node alone reads it. With --requant rescale several nodes may read it, each of which folds that node by itself.
 */
static bool may_fold(const struct ox *l, const struct ox_value *v)
{
	return private(v) || (v && !v->is_output && l->o.requant == WEFT_ONNX_REQUANT_RESCALE);
}

/* ---- DequantizeLinear ---- */

/*
 * Says whether zero point zp is a constant single byte 0, the only zero point that float8 may have.
 */
static bool no_offset(struct ox *l, struct ox_value *zp)
{
	int x = ox_is_const_value(l, zp) && weft_tensor_elements(&zp->t) == 1 ? ox_get(l, zp, NULL) : -1;

	return x >= 0 && weft_dtype_bytes(ox_t(l, x)->dtype) == 1 && !*(const uint8_t *)ox_t(l, x)->data;
}

/*
 * Defers the DequantizeLinear at hand, of ONNX's or Microsoft's domain, until a reader asks for its floats,
 * since readers can use the codes instead: if its operand is constant; or if it has 8 or 16 bits,
 * one constant scale and zero point, and a float32 result (with --requant rescale also a float8 type
 * with one scale and a zero point of 0). Without --requant rescale a node whose result is an output is not
 * deferred. If the operand is not constant, it becomes the result's carrier, and the result's type and shape
 * are set. Deferred nodes that make the operand, scale or zero point are lowered, also if 0 is returned in the
 * end. Returns 1 if the node is
 * deferred; 0 if it has to be lowered now; or the negative errno of a failure to lower what makes operand,
 * scale or zero point, with the node at hand that failed.
 */
static int defer_dequantize(struct ox *l)
{
	struct ox_value *x = ox_raw(l, 0), *y = result(l, 0), *scale = ox_raw(l, 1), *zp = ox_raw(l, 2);
	struct ox_q q;

	if (!x || !y || (y->is_output && l->o.requant != WEFT_ONNX_REQUANT_RESCALE) ||
	    (l->n->domain && *l->n->domain && strcmp(l->n->domain, "ai.onnx") && strcmp(l->n->domain, "com.microsoft")))
		return 0;
	if (!x->init && ox_settle(l, x) < 0)
		return l->err;
	if (x->init || (x->n_forms && ox_is_const_value(l, x))) {   /* weights: whoever multiplies by them looks for them here */
		y->pending = y->dq = l->i_node;
		return 1;
	}
	if (!x->t.dtype || !scale || ox_attr_i(l, "output_dtype", 1) != 1)
		return 0;
	if (ox_settle(l, scale) < 0 || (zp && ox_settle(l, zp) < 0))
		return l->err;
	bool float8 = weft_is_float8(x->t.dtype) && l->o.requant == WEFT_ONNX_REQUANT_RESCALE;
	if (float8 ? scale->t.dtype != WEFT_FP32 || weft_tensor_elements(&scale->t) != 1 || (zp && !no_offset(l, zp))
	           : (!ox_is_8_bit(x) && !ox_is_16_bit(x)) ||
	             !ox_q_read(l, scale, zp, x->t.dtype, &q))
		return 0;
	y->pending = y->dq = l->i_node;
	y->carrier = (int)(x - l->values);
	y->depth = 0;
	y->t = x->t;
	y->t.dtype = WEFT_FP32;
	return 1;
}

/* ---- operators that move elements ---- */

/*
 * Sets *to to value v as signed integers: if v is unsigned, its type is that of its signed form and its forms are those
 * that are signed. Returns a tensor of these integers, or a negative errno.
 */
static int signed_value(struct ox *l, struct ox_value *v, struct ox_value *to)
{
	int8_t perm[WEFT_MAX_RANK];
	int x = ox_side_tensor(l, v, perm);

	*to = *v;
	to->n_forms = 0;
	if (!ox_less(v->t.dtype)) {
		to->n_forms = v->n_forms;
		return x;
	}
	to->t.dtype = ox_signed(v->t.dtype);
	for (int i = 0; i < v->n_forms; i++)
		if (v->form[i].flip) {
			to->form[to->n_forms] = v->form[i];
			to->form[to->n_forms++].flip = false;
		}
	return x;
}

/* Turns v, the signed form of uint8 or uint16 codes, into those codes: the type changes, and its forms are marked as signed. */
static void unsigned_value(struct ox_value *v)
{
	v->t.dtype = ox_unsigned(v->t.dtype);
	for (int i = 0; i < v->n_forms; i++)
		v->form[i].flip = true;
}

/*
 * Lowers the node at hand with operand 0 replaced by the integers `from` (in their signed form),
 * and writes its results to the values to[0], to[1], ..., unsigned again if `from` is; zero is the
 * code for which Pad's value 0 stands. Returns 1; 0 with l->err cleared if the lowering does not
 * take such operands (-ENOTSUP); or 0 if `from` is operand 1, too. The node at hand is then as
 * before. After another negative errno, which is returned, it is not restored.
 */
static int move(struct ox *l, struct ox_value *from, struct ox_value *to, double zero)
{
	struct ox_value x;
	int node = l->i_node, err;

	if (l->n->n_input > 1 && ox_raw(l, 1) == from)
		return 0;
	struct place p = leave(l);
	if (signed_value(l, from, &x) < 0)
		return l->err;
	l->subst[0] = &x;
	l->results = to;
	l->zero = &zero;
	err = ox_lower_now(l, node);
	if (err && err != -ENOTSUP)
		return err;
	back(l, &p);
	l->err = 0;
	if (err)
		return 0;
	for (size_t k = 0; k < l->n->n_output; k++)
		if (ox_less(from->t.dtype))
			unsigned_value(&to[k]);
	return 1;
}

/*
 * Sets s->v to v's carrier, or to NULL if v has none; the zero point in s->q is 0. Returns whether
 * v was dequantised directly from float8.
 */
static bool float8_side(struct ox *l, const struct ox_value *v, struct ox_side *s)
{
	weft_dtype t = v->carrier >= 0 && !v->depth ? l->values[v->carrier].t.dtype : 0;

	*s = (struct ox_side){ .v = v->carrier >= 0 ? &l->values[v->carrier] : NULL };
	return weft_is_float8(t);
}

/*
 * Emits the integers x, quantised with q and held as its `perm` says, moved by node i, which ox_moves() takes.
 * Returns 1 with *y set, 0 if the lowering of the node does not take them, or a negative errno.
 */
int ox_move_codes(struct ox *l, int i, const struct ox_coded *x, const struct ox_q *q, struct ox_coded *y)
{
	struct ox_value from = ox_held(l, "", x->tensor), to = ox_blank("");
	const onnx_node *outer = l->n;
	const int i_outer = l->i_node;

	memcpy(from.form[0].perm, x->perm, sizeof from.form[0].perm);
	for (int k = 0; k < from.t.rank; k++)
		from.t.dim[x->perm[k]] = ox_t(l, x->tensor)->dim[k];
	l->n = l->f.m->graph->node[i];
	l->i_node = i;
	int done = move(l, &from, &to, ox_q_zp(q));
	if (done < 0)
		return done;
	l->n = outer;
	l->i_node = i_outer;
	if (done > 0) {
		y->tensor = to.form[0].tensor;
		memcpy(y->perm, to.form[0].perm, sizeof y->perm);
	}
	return done;
}

/* Says whether node n has one result (Dropout also two) and only moves elements of its operand 0, or takes the largest or least of them. */
bool ox_moves(const onnx_node *n)
{
	return (n->n_output == 1 || ox_node_is(n, "Dropout")) && kind_of(n) == MOVE;
}

/*
 * Defers the node at hand, which only moves elements of v, if v is the result of a deferred node other than a
 * DequantizeLinear. A QuantizeLinear behind it can then fold both nodes, by moving the codes of v (ox_move_codes()). The node
 * is deferred if may_fold() holds of v and of the result, and if v is less than MAX_DEPTH nodes deep, but not with
 * --requant runtime, since the runtime computes v in floats if no QuantizeLinear stands right behind it. Returns whether it
 * is deferred.
 */
static bool defer_move_behind(struct ox *l, const struct ox_value *v)
{
	struct ox_value *y = result(l, 0);

	if (l->o.requant == WEFT_ONNX_REQUANT_RUNTIME || !ox_moves(l->n) || v->pending < 0 || v->n_forms || v->init || (v->dq >= 0 && !v->depth) ||
	    v->depth >= MAX_DEPTH || !may_fold(l, v) || !may_fold(l, y))
		return false;
	y->pending = l->i_node;
	y->depth = v->depth + 1;
	return true;
}

/* Says whether the node at hand gathers elements of operand 0 at places that are computed. */
static bool gathers(struct ox *l)
{
	return (ox_is(l, "Gather") || ox_is(l, "GatherElements") || ox_is(l, "GatherND")) && !ox_is_const(l, 1);
}

/*
 * Says whether the node at hand gathers elements at computed places from v, and v is dequantised from a
 * constant of 8 or 16 bits with one scale and zero point, as a table of embeddings is. Sets *s to
 * those integers then.
 */
static bool table_of(struct ox *l, const struct ox_value *v, struct ox_side *s)
{
	const onnx_node *d = ox_dequantises_constant(l, v) && gathers(l) ? l->f.m->graph->node[v->dq] : NULL;

	s->v = d ? ox_operand(l, d, 0) : NULL;
	return s->v && (ox_is_8_bit(s->v) || ox_is_16_bit(s->v)) && ox_attr_of(d, "output_dtype", 1) == 1 &&
	       ox_q_read(l, ox_operand(l, d, 1), ox_operand(l, d, 2), s->v->t.dtype, &s->q);
}

/*
 * Lowers the node at hand, which only moves elements, on the codes of operand 0 if that is a dequantised
 * value (also of float8, or table_of() holds), and makes its float results deferred with the moved codes, new
 * values without a name, as carriers. For other values the node itself may be deferred (defer_move_behind()).
 * Returns 1 if one of both is done, 0 if the node has to be lowered otherwise, also if the table of values
 * has no room, or a negative errno.
 */
static int defer_move(struct ox *l)
{
	struct ox_value *v = ox_raw(l, 0);
	int n = (int)l->n->n_output, first = l->n_values;
	struct ox_side s;

	if (!v || (!ox_side_of(l, v, &s) && !float8_side(l, v, &s) && !table_of(l, v, &s)) || l->n_values + n > l->cap_values)
		return v && defer_move_behind(l, v);
	for (int k = 0; k < n; k++)
		l->values[first + k] = ox_blank("");
	int done = move(l, s.v, &l->values[first], ox_q_zp(&s.q));
	if (done <= 0)
		return done;
	l->n_values += n;
	for (int k = 0; k < n; k++) {
		struct ox_value *y = result(l, (size_t)k);

		if (!y)
			continue;
		y->pending = l->i_node;
		y->carrier = first + k;
		y->depth = 0;
		y->dq = v->dq;
		y->t = l->values[first + k].t;
		y->t.dtype = WEFT_FP32;
	}
	return 1;
}

/*
 * Lowers the node at hand, which only moves elements and has at most 4 results, on the signed form of operand 0
 * if that is uint8 or uint16 and held so first, or a constant from which elements are gathered at computed places, so
 * that the results are held so, too; their types, shapes and forms are set. Returns 1 if that is done, 0
 * if the node has to be lowered otherwise, or a negative errno.
 */
static int move_signed(struct ox *l)
{
	struct ox_value *v = ox_raw(l, 0), to[4];

	const bool from_table = v && gathers(l) && (v->init || (v->n_forms && ox_is_const_value(l, v)));
	if (!v || !ox_less(v->t.dtype) || (!from_table && (!v->n_forms || !v->form[0].flip)) || l->n->n_output > 4)
		return 0;
	for (int k = 0; k < 4; k++)
		to[k] = ox_blank("");
	int done = move(l, v, to, -ox_less(v->t.dtype));
	for (size_t k = 0; done > 0 && k < l->n->n_output; k++) {
		struct ox_value *y = result(l, k);

		if (!y)
			continue;
		y->t = to[k].t;
		y->n_forms = to[k].n_forms;
		memcpy(y->form, to[k].form, sizeof y->form);
		y->flat = to[k].flat;
	}
	return done;
}

/* ---- functions of one element ---- */

/* Says whether v is a constant of one element and of at most `rank` dimensions. */
static bool one_element(const struct ox *l, const struct ox_value *v, int rank)
{
	return ox_is_const_value(l, v) && v->t.rank <= rank && weft_tensor_elements(&v->t) == 1;
}

/*
 * Defers the Relu, or Clip with constant limits, at hand if its operand is the result of a deferred
 * node, such as a product, an average or a sum of two, but no function of a single dequantised
 * value, and if may_fold() holds of both that operand and the node's result. Of two such nodes in a row only the first is
 * deferred. Deferred nodes that make the limits are lowered, also if 0 is returned in the end. Returns 1 if the node is
 * deferred, or 0 if it has to be lowered now.
 */
static int defer_behind(struct ox *l)
{
	struct ox_value *v = ox_raw(l, 0), *y = result(l, 0);
	bool relu = ox_is(l, "Relu");

	if ((!relu && !ox_is(l, "Clip")) || !v || v->pending < 0 || v->carrier >= 0 || v->depth || !may_fold(l, v) || !may_fold(l, y))
		return 0;
	for (size_t k = 1; k < l->n->n_input; k++)
		if (ox_has(l, (int)k) && !ox_is_const(l, (int)k))
			return 0;
	y->pending = l->i_node;
	y->depth = 1;
	return 1;
}

/*
 * Defers the Add, Sub, Sum or Mul at hand if it has two operands that were dequantised from
 * different integers, each with one constant scale and zero point (ox_side_of()), and its result has
 * one reader and is no output; that reader may be a QuantizeLinear that folds all of them. Returns 1
 * if the node is deferred, or 0 if it has to be lowered now.
 */
static int defer_pair(struct ox *l)
{
	struct ox_value *a = ox_raw(l, 0), *b = ox_raw(l, 1), *y = result(l, 0);
	struct ox_side s;

	if (l->n->n_input != 2 || (!ox_is(l, "Add") && !ox_is(l, "Sub") && !ox_is(l, "Mul") && !ox_is(l, "Sum")))
		return 0;
	if (!a || !b || !may_fold(l, y) || a->carrier < 0 || b->carrier < 0 || a->carrier == b->carrier || !ox_side_of(l, a, &s) ||
	    !ox_side_of(l, b, &s))
		return 0;
	y->pending = l->i_node;
	return 1;
}

/*
 * Says whether the node at hand is an Add, Sub or Mul of a dequantised value and of a dequantised
 * constant with several elements (with --requant rescale and int16 also with one), in either order, and may_fold() holds of
 * its result. A QuantizeLinear behind it may fold such a node.
 */
static bool is_constant_pair(struct ox *l)
{
	struct ox_value *a = ox_raw(l, 0), *b = ox_raw(l, 1), *y = result(l, 0);
	struct ox_side s, c;

	if (l->n->n_input != 2 || !a || !b || !may_fold(l, y) || (!ox_is(l, "Add") && !ox_is(l, "Sub") && !ox_is(l, "Mul")) ||
	    (a->carrier < 0) == (b->carrier < 0) || !ox_side_or_constant(l, a->carrier < 0 ? b : a, &s) ||
	    !ox_side_or_constant(l, a->carrier < 0 ? a : b, &c))
		return false;
	return weft_tensor_elements(&c.v->t) > 1 || (l->o.requant == WEFT_ONNX_REQUANT_RESCALE && ox_is_16_bit(s.v));
}

/*
 * Says whether v, a value between a DequantizeLinear and a QuantizeLinear, may get codes of its own
 * (ox_between()), so that a node that reads it may wait as well: --requant rescale is set, v is a function of
 * codes or another node that waits, less than MAX_DEPTH nodes deep, and no output.
 */
static bool waits(const struct ox *l, const struct ox_value *v)
{
	return l->o.requant == WEFT_ONNX_REQUANT_RESCALE && v->pending >= 0 && !v->n_forms && !v->init && v->depth < MAX_DEPTH && may_fold(l, v) &&
	       (v->carrier >= 0 ? v->depth > 0 && l->values[v->carrier].t.dtype < WEFT_FP8E4M3 : v->dq < 0);
}

/*
 * Says whether v may get codes, of its own or the importer's (ox_between()): it has a carrier that is not of
 * float8, or waits() holds.
 */
static bool gets_codes(const struct ox *l, const struct ox_value *v)
{
	return v && v->depth < MAX_DEPTH && (v->carrier >= 0 ? l->values[v->carrier].t.dtype < WEFT_FP8E4M3 : waits(l, v));
}

/*
 * Defers the node at hand, with --requant rescale, if it is a function of one value that waits for another
 * node than a DequantizeLinear, but no Relu or Clip; or the quotient, sum, difference or product of two
 * values that get codes, of which one waits so; of a quotient, the second is no function of the codes of the
 * first. may_fold() has to hold of the result. Returns whether it is deferred.
 */
static bool defer_between(struct ox *l)
{
	struct ox_value *a = ox_raw(l, 0), *b = ox_raw(l, 1), *y = result(l, 0), *of = ox_function_of(l, l->n);
	const bool divides = ox_is(l, "Div");

	if (l->o.requant != WEFT_ONNX_REQUANT_RESCALE || !a || !may_fold(l, y) || a->depth >= MAX_DEPTH ||
	    (b && b->depth >= MAX_DEPTH) || ox_is(l, "Relu") || ox_is(l, "Clip"))
		return false;
	if (of ? of->carrier >= 0 || !waits(l, of)
	       : l->n->n_input != 2 || (!divides && !ox_is(l, "Add") && !ox_is(l, "Sub") && !ox_is(l, "Mul")) || !gets_codes(l, a) || !gets_codes(l, b) ||
	             (divides ? b->carrier >= 0 && a->carrier == b->carrier : a->carrier >= 0 && b->carrier >= 0))
		return false;
	y->pending = l->i_node;
	y->depth = 1 + (b && b->depth > a->depth ? b->depth : a->depth);
	return true;
}

/*
 * Defers the node at hand, with --requant rescale, if it is a PRelu of a value that gets_codes() holds of, with constant slopes,
 * more than one, and may_fold() holds of its result. Returns whether it is deferred.
 */
static bool defer_sloped(struct ox *l)
{
	struct ox_value *a = ox_raw(l, 0), *y = result(l, 0);

	if (l->o.requant != WEFT_ONNX_REQUANT_RESCALE || !ox_is(l, "PRelu") || !gets_codes(l, a) || !may_fold(l, y) || !ox_is_const(l, 1) ||
	    weft_tensor_elements(&ox_raw(l, 1)->t) < 2)
		return false;
	y->pending = l->i_node;
	y->depth = 1 + a->depth;
	return true;
}

/*
 * Defers the node at hand if its result is a function of the elements of one dequantised value of 8 bits,
 * with single constants as other operands, at most 8 operands and at most MAX_DEPTH such nodes in a row (for
 * 16 bits, one Relu without --requant rescale), so that a QuantizeLinear behind it can become a table; the
 * result then has that value's carrier, type and shape. A sum, difference or product with a dequantised
 * constant of several elements (is_constant_pair()) is deferred without a carrier. Nodes of two dequantised
 * values are left to defer_pair(), nodes of none to defer_behind(). Constant operands that wait for a node
 * are lowered, also if 0 is returned in the end. A value dequantised from float8 is not deferred. Returns 1
 * if the node is deferred, 0 if it has to be lowered now, or a negative errno.
 */
static int defer_function(struct ox *l)
{
	struct ox_value *y = result(l, 0), *of = NULL;
	int depth = 0;

	if (defer_between(l) || defer_sloped(l))
		return 1;

	for (size_t k = 0; k < l->n->n_input && k < 8; k++) {
		struct ox_value *v = ox_raw(l, (int)k);

		if (v && v->carrier >= 0 && !of)
			of = v;
		if (v && v->carrier >= 0 && of && v->carrier != of->carrier)
			return defer_pair(l);
		if (v && v->carrier >= 0 && v->depth > depth)
			depth = v->depth;
	}
	if (!of)
		return defer_behind(l);
	if (is_constant_pair(l)) {
		y->pending = l->i_node;
		return 1;
	}
	const struct ox_value *carried = &l->values[of->carrier];
	if (carried->t.dtype >= WEFT_FP8E4M3)
		return 0;
	bool relu_only = ox_is_16_bit(carried) && l->o.requant != WEFT_ONNX_REQUANT_RESCALE;   /* no tables of 2^16 */
	if (!y || depth + 1 > (relu_only ? 1 : MAX_DEPTH) || l->n->n_input > 8 || (relu_only && !ox_is(l, "Relu")))
		return 0;
	for (size_t k = 0; k < l->n->n_input; k++) {
		struct ox_value *v = ox_raw(l, (int)k);

		if (!v || v->carrier >= 0)
			continue;
		if (v->dq < 0 && v->pending >= 0)      /* a sum, say */
			return 0;
		if (ox_settle(l, v) < 0)
			return l->err;
		if (!one_element(l, v, of->t.rank))
			return 0;
	}
	y->pending = l->i_node;
	y->carrier = of->carrier;
	y->depth = depth + 1;
	y->dq = -1;
	y->t = of->t;
	return 1;
}

/* ---- sums ---- */

/*
 * Defers the node at hand, of kind PRODUCT, AVERAGE, NORMALISE or CHANNELS, if operand 0 is a dequantised value or, but
 * for products, CHANNELS and Resize, waits() holds of it (for PRODUCT also of float8, and ox_foldable() has to be true,
 * which lowers nodes that make constants) and its only result has one reader and is no output; that reader
 * may be a QuantizeLinear that folds both. Returns 1 if the node is deferred, or 0 if it has to be lowered
 * now.
 */
static int defer_sum(struct ox *l, enum kind kind)
{
	struct ox_value *v = ox_raw(l, 0), *y = result(l, 0);
	struct ox_side s;

	if (!v || !may_fold(l, y) || l->n->n_output != 1)
		return 0;
	const bool behind = kind != PRODUCT && kind != CHANNELS && !ox_is(l, "Resize") && waits(l, v);
	if ((!behind && !ox_side_of(l, v, &s) && !(kind == PRODUCT && float8_side(l, v, &s))) || (kind == PRODUCT && !ox_foldable(l, l->n)))
		return 0;
	y->pending = l->i_node;
	y->depth = behind ? v->depth + 1 : 0;
	return 1;
}

/*
 * Defers the Concat or Where at hand if each of its operands (of Where, the two that it chooses from) is a
 * dequantised value, a function of one, a dequantised constant or, of Where, a constant of floats, none of
 * them of float8, but not all are constants, and if its result has one reader and is no output; that reader
 * may be a QuantizeLinear that folds both. Returns 1 if the node is deferred, or 0 if it has to be lowered
 * now.
 */
static int defer_join(struct ox *l)
{
	const bool where = ox_is(l, "Where");
	struct ox_value *y = result(l, 0);
	bool any = false;

	if (!may_fold(l, y) || (where && l->n->n_input != 3))
		return 0;
	for (size_t k = where; k < l->n->n_input; k++) {
		struct ox_value *v = ox_raw(l, (int)k);

		if (!v || (v->carrier < 0 && !ox_dequantises_constant(l, v) && !(where && v->t.dtype == WEFT_FP32 && ox_is_const_value(l, v))) ||
		    (v->carrier >= 0 && l->values[v->carrier].t.dtype >= WEFT_FP8E4M3))
			return 0;
		any = any || v->carrier >= 0;
	}
	if (!any)
		return 0;
	y->pending = l->i_node;
	return 1;
}

/*
 * Defers the node at hand if a QuantizeLinear behind it may fold it, or lowers it on integers if it
 * only moves elements; nodes of other domains than ONNX's are left alone, but for DequantizeLinear,
 * and nodes that normalise rows are deferred only with --requant rescale. Returns 1 if nothing is
 * left to do now, 0 if the node has to be lowered (also if it has no first result), or a negative
 * errno.
 */
int ox_defer(struct ox *l)
{
	if (l->n->n_output == 0 || !result(l, 0))
		return 0;
	if (ox_is(l, "DequantizeLinear"))
		return defer_dequantize(l);
	if (*l->n->domain && strcmp(l->n->domain, "ai.onnx"))
		return 0;
	if (ox_is(l, "Concat") || ox_is(l, "Where"))
		return defer_join(l);
	enum kind kind = kind_of(l->n);
	if (kind == MOVE) {
		int done = defer_move(l);
		return done ? done : move_signed(l);
	}
	if (kind == FUNCTION && l->n->n_output == 1)
		return defer_function(l);
	if (kind == NORMALISE && l->o.requant != WEFT_ONNX_REQUANT_RESCALE)
		return 0;
	return kind == PRODUCT || kind == AVERAGE || kind == NORMALISE || kind == CHANNELS ? defer_sum(l, kind) : 0;
}
