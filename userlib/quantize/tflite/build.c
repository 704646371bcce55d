/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The new network: the file's operators in their order, each on integers or on float32, with QUANTIZE
 * and DEQUANTIZE where a tensor is needed in the other form.
 */
#include <errno.h>

#include "tflite_quantize.h"

/*
 * Adds an operator with room for n_in operands and n_out results, which the caller fills in. Returns
 * it, valid until the next one is added, or NULL without memory.
 */
static struct qt_op *add_op(struct qt *q, int code, int version, int n_in, int n_out)
{
	int32_t *io = qt_alloc(q, (size_t)(n_in + n_out) * sizeof *io);

	if (!io || qt_grow(q, &q->op, q->n_op, &q->cap_op, sizeof *q->op))
		return NULL;
	struct qt_op *o = &q->op[q->n_op++];
	*o = (struct qt_op){ .code = code, .version = version, .in = io, .n_in = n_in, .out = io + n_in, .n_out = n_out };
	return o;
}

/*
 * Adds an operator (QUANTIZE or DEQUANTIZE, by code and version) that makes new tensor y of new tensor
 * x. Returns 0 or -ENOMEM.
 */
static int add_move(struct qt *q, int code, int version, int x, int y)
{
	struct qt_op *o = add_op(q, code, version, 1, 1);

	if (!o)
		return -ENOMEM;
	o->in[0] = x;
	o->out[0] = y;
	return 0;
}

/*
 * Adds a new tensor, the integer form of the file's tensor t, with the scale and zero point of its
 * group. Nothing makes it yet. Returns its index, or -ENOMEM.
 */
static int add_integer(struct qt *q, int t)
{
	const struct qt_value *g = &q->value[qt_group(q, t)];
	const int i = qt_like(q, t, "/quantised", q->wide ? TFL_INT16 : TFL_INT8);

	return i < 0 || qt_set_scale(q, i, g->scale, g->zp) ? -ENOMEM : i;
}

/*
 * Returns the new tensor that is the integer form of the file's tensor t, which v->as_int notes. If there
 * is none yet, it adds one, and a QUANTIZE that makes it of the float form (as_float), which must be
 * there. -ENOMEM if memory is out.
 */
static int integer_of(struct qt *q, int t)
{
	struct qt_value *v = &q->value[t];

	if (v->as_int >= 0)
		return v->as_int;
	const int i = add_integer(q, t);
	if (i < 0 || add_move(q, TFL_QUANTIZE, q->wide ? 2 : 1, v->as_float, i))
		return -ENOMEM;
	return v->as_int = i;
}

/*
 * Returns the new tensor that is the file's tensor t in its own type (float32 also for constants of
 * float16), which as_float notes. If there is none yet, it adds one: the result of a DEQUANTIZE of the
 * integer form, if that is there, otherwise a constant or variable. -ENOMEM if memory is out.
 */
static int plain_of(struct qt *q, int t)
{
	struct qt_value *v = &q->value[t];

	if (v->as_float >= 0)
		return v->as_float;
	if (v->as_int < 0)
		return v->as_float = qt_plain(q, t);    /* a constant or variable */
	const int i = qt_like(q, t, "", TFL_FLOAT32);
	if (i < 0 || add_move(q, TFL_DEQUANTIZE, q->wide ? 3 : 2, v->as_int, i))
		return -ENOMEM;
	return v->as_float = i;
}

/*
 * Returns the new tensor for operand k, tensor t of the file, of integer operator o with rule r; not
 * for weights and bias of a product. Float32 becomes integers: constants with the scale of the results'
 * group if the rule asks for that, otherwise with the scale of their own range. Other types stay as
 * they are. -ENOMEM if memory is out.
 */
static int integer_operand(struct qt *q, const struct tfl_op *o, const struct qt_rule *r, int k, int t)
{
	float scale;
	int32_t zp;

	if (q->m.tensors[t].type != TFL_FLOAT32)
		return plain_of(q, t);
	if (!q->value[t].constant)
		return integer_of(q, t);
	if (r->kind == QT_SAME && (r->same >> (k < 31 ? k : 31) & 1)) {
		const struct qt_value *g = &q->value[qt_group(q, qt_result(q, o, 0))];
		return qt_activation(q, t, g->scale, g->zp);
	}
	qt_scale_of(q, q->value[t].range.lo, q->value[t].range.hi, &scale, &zp);
	return qt_activation(q, t, scale, zp);
}

/*
 * Sets in[] to the new tensors of all operands of integer operator o with rule r, -1 for absent ones, and
 * adds the constants and QUANTIZE operators that they need; weights and bias of a product come last.
 * Returns 0, -ENOMEM, or -EINVAL with one line in the message (qt_product).
 */
static int integer_operands(struct qt *q, const struct tfl_op *o, const struct qt_rule *r, int32_t *in)
{
	for (int k = 0; k < (int)o->in.n; k++) {
		const int t = qt_operand(q, o, k);
		const bool later = r->kind == QT_PRODUCT && (k == r->weights || k == r->bias);

		in[k] = t < 0 || later ? -1 : integer_operand(q, o, r, k, t);
		if (t >= 0 && !later && in[k] < 0)
			return in[k];
	}
	if (r->kind != QT_PRODUCT)
		return 0;
	int weights, bias;
	const int err = qt_product(q, o, r, q->value[qt_group(q, qt_operand(q, o, r->x))].scale, &weights, &bias);
	in[r->weights] = weights;
	if (r->bias < (int)o->in.n)
		in[r->bias] = bias;
	return err;
}

/*
 * Sets out[] to new tensors for the results of integer operator o, with their groups' scales, and notes
 * them in as_int. If the kernel states another scale or zero point than the group of the result has, it
 * also adds a tensor with the stated scale, *stated, which the caller lets the operator make and
 * requantises; otherwise *stated is -1. Returns 0 or -ENOMEM.
 */
static int integer_results(struct qt *q, const struct tfl_op *o, const struct qt_rule *r, int32_t *out, int *stated)
{
	*stated = -1;
	for (int k = 0; k < (int)o->out.n; k++) {
		const int t = qt_result(q, o, k);
		struct qt_value *v = &q->value[t];
		const struct qt_value *g = &q->value[qt_group(q, t)];

		out[k] = v->as_int = add_integer(q, t);
		if (out[k] < 0)
			return -ENOMEM;
		if (r->kind != QT_FIXED || (g->scale == r->scale[q->wide] && g->zp == r->zp[q->wide]))
			continue;
		*stated = qt_like(q, t, "/stated", q->wide ? TFL_INT16 : TFL_INT8);
		if (*stated < 0 || qt_set_scale(q, *stated, r->scale[q->wide], r->zp[q->wide]))
			return -ENOMEM;
	}
	return 0;
}

/*
 * Adds operator i of the file on integers, with what its operands need before it, the version of its
 * integer kernel and the file's options, and a QUANTIZE behind it if its kernel states another scale than
 * the result's group has. ADD and SUB of int16 are marked any_scale. Returns 0, -ENOMEM, or -EINVAL with
 * one line in the message (qt_product).
 */
static int integer_op(struct qt *q, int i)
{
	const struct tfl_op *from = &q->m.ops[i];
	const struct qt_rule *r = qt_rule(from->code);
	int32_t *in = qt_alloc(q, (from->in.n + 1) * sizeof *in);
	int stated, err = in ? integer_operands(q, from, r, in) : -ENOMEM;

	if (err)
		return err;
	const int n_in = (int)from->in.n, n_out = (int)from->out.n;
	struct qt_op *o = add_op(q, from->code, r->version[q->wide], n_in, n_out);
	if (!o)
		return -ENOMEM;
	const int at = q->n_op - 1;
	o->from = from;
	o->any_scale = q->wide && (from->code == TFL_ADD || from->code == TFL_SUB);
	for (int k = 0; k < n_in; k++)
		o->in[k] = in[k];
	if ((err = integer_results(q, from, r, o->out, &stated)) || stated < 0)
		return err;
	const int y = q->op[at].out[0];
	q->op[at].out[0] = stated;
	return add_move(q, TFL_QUANTIZE, q->wide ? 2 : 1, stated, y);
}

/*
 * Adds operator i of the file as it is, with its version and options, with a DEQUANTIZE before it for
 * operands that are integers so far, and notes its results in as_float. Returns 0 or -ENOMEM (also if it
 * has an absent result).
 */
static int plain_op(struct qt *q, int i)
{
	const struct tfl_op *from = &q->m.ops[i];
	const int n_in = (int)from->in.n, n_out = (int)from->out.n;
	int32_t *in = qt_alloc(q, (from->in.n + 1) * sizeof *in);

	if (!in)
		return -ENOMEM;
	for (int k = 0; k < n_in; k++) {
		const int t = qt_operand(q, from, k);
		in[k] = t < 0 ? -1 : plain_of(q, t);
		if (t >= 0 && in[k] < 0)
			return -ENOMEM;
	}
	struct qt_op *o = add_op(q, from->code, q->version[i], n_in, n_out);
	if (!o)
		return -ENOMEM;
	o->from = from;
	for (int k = 0; k < n_in; k++)
		o->in[k] = in[k];
	for (int k = 0; k < n_out; k++) {
		const int t = qt_result(q, from, k);
		const int y = t < 0 ? -1 : qt_like(q, t, "", q->m.tensors[t].type);
		if (y < 0)
			return -ENOMEM;
		o->out[k] = q->value[t].as_float = y;
	}
	return 0;
}

int qt_build(struct qt *q)
{
	int err = 0;

	for (uint32_t k = 0; k < q->m.inputs.n && !err; k++) {
		const int t = fb_i32_at(&q->m.b, &q->m.inputs, k), i = qt_like(q, t, "", q->m.tensors[t].type);
		q->value[t].as_float = i;
		err = i < 0 ? i : 0;
	}
	for (int i = 0; i < q->m.n_ops && !err; i++) {
		/* Weights of float16 are constants here, and their DEQUANTIZE is gone. */
		const int y = qt_result(q, &q->m.ops[i], 0);
		if (y >= 0 && q->value[y].constant)
			continue;
		err = q->integer[i] ? integer_op(q, i) : plain_op(q, i);
	}
	for (uint32_t k = 0; k < q->m.outputs.n && !err; k++) {
		const int i = plain_of(q, fb_i32_at(&q->m.b, &q->m.outputs, k));
		err = i < 0 ? i : 0;
	}
	return err;
}
