/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operators become integer ones, and which scale each tensor has.
 *
 * An operator becomes one if it has an integer kernel, all its computed operands and results are
 * float32 and had finite elements, and the weights and bias of a product are constant. Tensors that have
 * to share a scale form a group, whose range is that of all its tensors.
 */
#include <errno.h>
#include <float.h>
#include <math.h>

#include "tflite_quantize.h"

/* Ranges narrower than this would need scales that are no normal float32 once they are multiplied. */
#define LEAST_RANGE 1e-9

int qt_group(struct qt *q, int t)
{
	while (q->value[t].group != t)
		t = q->value[t].group = q->value[q->value[t].group].group;
	return t;
}

/* Makes range a, lo..hi, contain range b, and sets a->seen; does nothing if b was never seen. */
static void widen(struct observed *a, const struct observed *b)
{
	if (!b->seen)
		return;
	a->lo = a->seen ? fmin(a->lo, b->lo) : b->lo;
	a->hi = a->seen ? fmax(a->hi, b->hi) : b->hi;
	a->seen = true;
}

/*
 * Makes one group of the groups of tensors a and b, if they are not one: a's first tensor stays the first
 * one, its range is widened to hold both, and it counts the members of both.
 */
static void join(struct qt *q, int a, int b)
{
	a = qt_group(q, a);
	b = qt_group(q, b);
	if (a == b)
		return;
	widen(&q->value[a].range, &q->value[b].range);
	q->value[b].group = a;
	q->value[a].members += q->value[b].members;
}

/* Says whether operand k of an operator with rule r has to have the scale of its results. */
static bool is_same(const struct qt_rule *r, int k)
{
	return r->kind == QT_SAME && (r->same >> (k < 31 ? k : 31) & 1);
}

/*
 * Says whether tensor t can hold integers in place of float32: it is float32, and a constant or a value
 * that had finite elements in the samples (others do not count).
 */
static bool can_be_integer(const struct qt *q, int t)
{
	return q->m.tensors[t].type == TFL_FLOAT32 && (q->value[t].constant || q->value[t].range.seen);
}

/*
 * Says whether operand k, tensor t, of an operator suits its integer kernel (rule r). If it is float32: a
 * product's input must be computed and have had finite elements in the samples, its weights and bias
 * must be constant, and an operand of any other kernel must be constant or have had finite elements.
 * Operands that are no float32, such as axes and extents, stay as they are: they must be constant, no
 * weights, and not share the results' scale (unless all operands do). So a product's input passes here
 * if it is a constant of integers; becomes_integer() refuses the product, since no operand is computed.
 */
static bool operand_suits(const struct qt *q, const struct qt_rule *r, int k, int t)
{
	if (q->m.tensors[t].type != TFL_FLOAT32)
		return q->m.tensors[t].data && (r->kind != QT_PRODUCT || k != r->weights) && !(is_same(r, k) && r->same != 0xffffffffu);
	if (r->kind == QT_PRODUCT && k == r->x)
		return !q->value[t].constant && can_be_integer(q, t);
	if (r->kind == QT_PRODUCT)
		return q->value[t].constant != NULL;
	return can_be_integer(q, t);
}

/*
 * Says whether operator o of the file becomes an integer one: there is a kernel for the type of
 * activations, all operands that are present suit it (operand_suits), at least one of them is computed
 * float32, and all results are present, float32, computed, and had finite elements in the samples.
 */
static bool becomes_integer(const struct qt *q, const struct tfl_op *o)
{
	const struct qt_rule *r = qt_rule(o->code);
	bool computed = false;

	if (!r || !r->version[q->wide])
		return false;
	for (int k = 0; k < (int)o->in.n; k++) {
		const int t = qt_operand(q, o, k);
		if (t < 0)
			continue;
		if (!operand_suits(q, r, k, t))
			return false;
		computed |= q->m.tensors[t].type == TFL_FLOAT32 && !q->value[t].constant;
	}
	for (int k = 0; k < (int)o->out.n; k++) {
		const int t = qt_result(q, o, k);
		if (t < 0 || q->value[t].constant || !can_be_integer(q, t))
			return false;
	}
	return computed;
}

/*
 * If the rule of operator o, which has an integer kernel, is QT_SAME: makes one group of its results and
 * of those float32 operands that have to share their scale. A constant joins no group, since it is
 * quantised where it is used; the group's range is widened by its elements instead. Operands that are no
 * floats are left alone, and with any other rule nothing happens.
 */
static void join_same(struct qt *q, const struct tfl_op *o)
{
	const struct qt_rule *r = qt_rule(o->code);
	const int first = qt_result(q, o, 0);

	for (int k = 0; r->kind == QT_SAME && k < (int)o->out.n; k++)
		join(q, first, qt_result(q, o, k));
	for (int k = 0; k < (int)o->in.n; k++) {
		const int t = qt_operand(q, o, k);
		if (t >= 0 && is_same(r, k) && q->m.tensors[t].type == TFL_FLOAT32 && !q->value[t].constant)
			join(q, first, t);
		else if (t >= 0 && is_same(r, k) && q->value[t].constant)
			widen(&q->value[qt_group(q, first)].range, &q->value[t].range);
	}
}

/* Elements below this mask a value: a softmax makes 0 of it. */
#define MASKED (-1000.0)
#define NEGLIGIBLE 12.0        /* exp(-12) is less than half a step of a softmax's result of 16 bits */

/*
 * Says whether constant v has an element that masks another value, which is one of at most MASKED. Sets *least
 * to the least of its elements above MASKED, or to 0 if none of these is below 0.
 */
static bool masks(const struct qt_value *v, double *least)
{
	bool masked = false;

	*least = 0;
	for (int64_t k = 0; k < v->n; k++) {
		if ((double)v->constant[k] > MASKED)
			*least = fmin(*least, (double)v->constant[k]);
		else
			masked = true;
	}
	return masked;
}

/*
 * Bounds a mask in operator o, an ADD or SELECT of tensors m and x. Attention adds a mask of -1e9 or less
 * to what a softmax must not see, or selects such a number in its place; a scale that reached so far
 * would leave nothing of the other values. If m is a constant with an element of at most MASKED, and x is
 * computed and its range known, the result's lo is raised to `least`: x's lo, plus for ADD the least
 * element of m above MASKED (0 if none is negative), minus NEGLIGIBLE. m's lo is raised to `least`, too, for
 * ADD to `least` minus x's hi; of several operators that raise it, the one that asks for the lowest lo counts.
 * Otherwise nothing changes.
 */
static void bound_mask(struct qt *q, const struct tfl_op *o, int m, int x)
{
	struct observed *mask = &q->value[m].range, *y = &q->value[qt_result(q, o, 0)].range;
	const struct observed *other = &q->value[x].range;
	double unmasked;

	if (!q->value[m].constant || !masks(&q->value[m], &unmasked) || !other->seen || q->value[x].constant)
		return;
	const bool adds = o->code == TFL_ADD;
	const double least = other->lo + (adds ? unmasked : 0) - NEGLIGIBLE, own = adds ? least - other->hi : least;
	mask->lo = mask->lo > MASKED ? fmin(mask->lo, own) : fmax(mask->lo, own);
	y->lo = fmax(y->lo, least);
}

/*
 * Bounds the masks (bound_mask) among the two summands of operator o, an ADD, or the two values of a
 * SELECT or SELECT_V2. Nothing happens for other operators, or if one of the two is absent.
 */
static void bound_masks(struct qt *q, const struct tfl_op *o)
{
	const bool selects = o->code == TFL_SELECT || o->code == TFL_SELECT_V2;
	const int a = qt_operand(q, o, selects), b = qt_operand(q, o, selects + 1);

	if ((!selects && o->code != TFL_ADD) || a < 0 || b < 0)
		return;
	bound_mask(q, o, a, b);
	bound_mask(q, o, b, a);
}

void qt_scale_of(const struct qt *q, double lo, double hi, float *scale, int32_t *zp)
{
	lo = fmin(lo, 0);
	hi = fmax(hi, 0);
	if (hi - lo < LEAST_RANGE)
		hi = lo + 1;
	if (q->wide) {
		*scale = (float)(fmax(-lo, hi) / 32767);
		*zp = 0;
		return;
	}
	*scale = (float)((hi - lo) / 255);
	const double z = -128 - lo / (double)*scale;
	*zp = (int32_t)fmin(127, fmax(-128, round(z)));
}

void qt_plan(struct qt *q)
{
	for (int i = 0; i < q->m.n_ops; i++)
		bound_masks(q, &q->m.ops[i]);
	for (int i = 0; i < q->m.n_ops; i++) {
		q->integer[i] = becomes_integer(q, &q->m.ops[i]);
		q->n_integer += q->integer[i];
	}
	for (int i = 0; i < q->m.n_ops; i++)
		if (q->integer[i])
			join_same(q, &q->m.ops[i]);
	for (int t = 0; t < q->m.n_tensors; t++) {
		struct qt_value *v = &q->value[t];
		if (v->range.seen)
			qt_scale_of(q, v->range.lo, v->range.hi, &v->scale, &v->zp);
	}
	/* A kernel that states its result's scale does so for the result's group, unless others share it. */
	for (int i = 0; i < q->m.n_ops; i++) {
		const struct qt_rule *r = q->integer[i] ? qt_rule(q->m.ops[i].code) : NULL;
		const int y = r && r->kind == QT_FIXED ? qt_result(q, &q->m.ops[i], 0) : -1;
		if (y >= 0 && q->value[qt_group(q, y)].members == 1) {
			q->value[y].scale = r->scale[q->wide];
			q->value[y].zp = r->zp[q->wide];
		}
	}
}
