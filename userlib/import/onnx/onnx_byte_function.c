/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of one 8-bit element. Golden computes them, DequantizeLinear and
 * QuantizeLinear included, for all 256 codes. By the results such a function is no
 * operator at all, a CLAMP, a RESCALE or a TABLE.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_integer.h"
#include "onnx_qdq.h"

static const onnx_node *node(const struct ox *l, int i)
{
	return l->f.m->graph->node[i];
}

/* ---- scales ---- */

/*
 * Returns the value that stands for an absent zero point of type t (8 or 16 bits), a
 * constant scalar 0 that is made at the first call. Returns NULL after a failure.
 */
struct ox_value *ox_zero_of(struct ox *l, weft_dtype t)
{
	struct ox_value *v = &l->zeros[t == WEFT_UINT8 ? 0 : t == WEFT_INT8 ? 1 : t == WEFT_UINT16 ? 2 : 3];

	if (!v->n_forms) {
		int x = ox_ramp(l, t, 0, 0);
		if (x < 0)
			return NULL;
		*v = ox_held(l, "", x);
	}
	return v;
}

static const void *number(struct ox *l, struct ox_value *v)
{
	int x = ox_is_const_value(l, v) && weft_tensor_elements(&v->t) == 1 && v->t.rank <= 1 ? ox_get(l, v, NULL) : -1;

	return x < 0 ? NULL : ox_t(l, x)->data;
}

/* Returns element i of the array `data`, whose elements have type t: an integer of 8 or 16 bits, or float8, whose bits it returns. */
static int32_t code_at(const void *data, weft_dtype t, int i)
{
	switch (t) {
	case WEFT_INT8: return ((const int8_t *)data)[i];
	case WEFT_UINT16: return ((const uint16_t *)data)[i];
	case WEFT_INT16: return ((const int16_t *)data)[i];
	default: return ((const uint8_t *)data)[i];
	}
}

/*
 * Sets *q to a scale and a zero point of type t; a NULL zp stands for 0, for which a constant is
 * added to the graph. Returns true, or false if scale is absent, one of them is not constant or not
 * a single number (rank 0 or 1), the scale is no float32 or not a positive finite number, zp has another
 * type than t, or t is neither an integer of 8 or 16 bits nor float8; *q is then of no use. If t is float8, q->z has the
 * bits of the zero point.
 */
bool ox_q_read(struct ox *l, struct ox_value *scale, struct ox_value *zp, weft_dtype t, struct ox_q *q)
{
	zp = zp ? zp : ox_zero_of(l, t);
	const bool is_code = zp && zp->t.dtype == t && (ox_is_8_bit(zp) || ox_is_16_bit(zp) || weft_is_float8(t));
	const void *s = scale && scale->t.dtype == WEFT_FP32 ? number(l, scale) : NULL, *z = s && is_code ? number(l, zp) : NULL;

	if (!z)
		return false;
	*q = (struct ox_q){ .scale = scale, .zp = zp, .s = (double)*(const float *)s, .flip = ox_less(t) != 0 };
	q->z = code_at(z, t, 0);
	return isfinite(q->s) && q->s > 0;
}

/*
 * Sets *s to the integers from which v was dequantised, with scale and zero point. Returns false,
 * with *s undefined, if v is not the result of a DequantizeLinear of one constant scale and zero
 * point, perhaps with its elements moved.
 */
bool ox_side_of(struct ox *l, const struct ox_value *v, struct ox_side *s)
{
	if (v->carrier < 0 || v->depth || v->dq < 0)
		return false;
	const onnx_node *d = node(l, v->dq);
	s->v = &l->values[v->carrier];
	return ox_q_read(l, ox_operand(l, d, 1), ox_operand(l, d, 2), s->v->t.dtype, &s->q);
}

bool ox_dequantises_constant(struct ox *l, const struct ox_value *v)
{
	const struct ox_value *x = v->carrier < 0 && v->dq >= 0 && v->maker == v->dq ? ox_operand(l, node(l, v->dq), 0) : NULL;

	return x && ox_is_const_value(l, x);
}

/*
 * Sets *s to the integers from which v was dequantised, with scale and zero point. Returns true if
 * v is the result of a DequantizeLinear of one constant scale and zero point: of computed integers,
 * perhaps with elements moved behind it, or of a constant of 8 bits (with --requant rescale also of 16), then directly. Returns
 * false, with *s undefined, otherwise.
 */
bool ox_side_or_constant(struct ox *l, const struct ox_value *v, struct ox_side *s)
{
	if (v->carrier >= 0 || v->dq < 0 || v->maker != v->dq)
		return ox_side_of(l, v, s);
	const onnx_node *d = node(l, v->dq);
	s->v = ox_operand(l, d, 0);
	return s->v && ox_is_const_value(l, s->v) &&
	       (ox_is_8_bit(s->v) || (ox_is_16_bit(s->v) && l->o.requant == WEFT_ONNX_REQUANT_RESCALE)) &&
	       ox_q_read(l, ox_operand(l, d, 1), ox_operand(l, d, 2), s->v->t.dtype, &s->q);
}

int ox_side_in(struct ox *l, struct ox_value *v, const int8_t *perm)
{
	return ox_get_signed(l, v, perm);
}

int ox_centred(struct ox *l, const struct ox_side *s, const int8_t *perm)
{
	return ox_rescale(l, ox_side_in(l, s->v, perm), WEFT_INT32, (struct ox_factor){ 1 << 30, 30 }, ox_q_zp(&s->q), 0);
}

/*
 * Returns the graph tensor of v's integers in their signed form, int8 or int16, in an order of
 * dimensions in which v is held, and writes that order to perm (8 entries): that of the first form
 * that needs no flip of signs, else of the last form; a value that has no form yet is emitted in
 * the file's order. Returns a negative errno after a failure.
 */
int ox_side_tensor(struct ox *l, struct ox_value *v, int8_t *perm)
{
	int x = v->n_forms ? 0 : ox_get(l, v, NULL);

	if (x < 0)
		return x;
	const struct ox_form *f = &v->form[0];
	for (int i = 1; i < v->n_forms && f->flip != (ox_less(v->t.dtype) != 0); i++)
		f = &v->form[i];
	memcpy(perm, f->perm, WEFT_MAX_RANK);
	return ox_side_in(l, v, perm);
}

int ox_side_of_rank(struct ox *l, const struct ox_side *s, int rank, struct ox_value *held, struct ox_side *to)
{
	*to = *s;
	if (s->v->t.rank >= rank)
		return 0;
	int x = ox_to_rank(l, ox_side_in(l, s->v, NULL), rank);
	if (x < 0)
		return x;
	*held = ox_held(l, "", x);
	if (s->q.flip) {
		held->t.dtype = s->v->t.dtype;
		held->form[0].flip = true;
	}
	to->v = held;
	return 0;
}

/* ---- all codes ---- */

/*
 * Adds a new constant [256] with all codes of type t in ascending order: 0 to 255 if t is uint8,
 * else -128 to 127. Returns the graph tensor, or a negative errno.
 */
int ox_codes(struct ox *l, weft_dtype t)
{
	int8_t *p = ox_alloc(l, 256, 1);
	int64_t n = 256;

	for (int i = 0; p && i < 256; i++)
		p[i] = (int8_t)(t == WEFT_UINT8 ? i : i - 128);
	return ox_data(l, t, 1, &n, p);
}

/*
 * Emits the integers `codes` dequantised with q as float32, by ONNX_DEQUANTIZE, which for constants is
 * computed at once; signed codes of a q of an unsigned type are its signed form. Returns the graph tensor, or a negative errno;
 * negative codes are returned as they are.
 */
int ox_dequantised(struct ox *l, int codes, const struct ox_q *q)
{
	const int rank = codes < 0 ? 0 : ox_t(l, codes)->rank;
	const weft_dtype t = ox_signed(q->zp->t.dtype);
	const bool less = codes >= 0 && q->flip && ox_t(l, codes)->dtype == t;
	const int scale = ox_along(l, q->scale, rank, rank ? 1 : 0);
	const int in[3] = { codes, scale, less ? ox_ramp(l, t, rank, ox_q_zp(q)) : ox_along(l, q->zp, rank, rank ? 1 : 0) };

	return codes < 0 ? codes : ox_op(l, WEFT_OP_ONNX_DEQUANTIZE, NULL, in, 3, WEFT_FP32, rank, ox_t(l, codes)->dim);
}

/*
 * Quantises float x with q as QuantizeLinear does and writes the n codes, in their signed form, to
 * out. Returns true; or false, with out unchanged and perhaps a message in l->msg and l->err,
 * if x is negative or not constant, does not have n elements, or an operator cannot be made.
 */
bool ox_quantised(struct ox *l, int x, const struct ox_q *q, int32_t *out, int n)
{
	weft_attr a = { .onnx = { true, WEFT_FP32 } };

	if (x < 0)
		return false;
	int rank = ox_t(l, x)->rank;
	const int scale = ox_along(l, q->scale, rank, rank ? 1 : 0);
	const int in[3] = { x, scale, ox_along(l, q->zp, rank, rank ? 1 : 0) };
	int y = ox_op(l, WEFT_OP_ONNX_QUANTIZE, &a, in, 3, q->zp->t.dtype, rank, ox_t(l, x)->dim);
	const weft_tensor *t = y < 0 ? NULL : ox_t(l, y);
	if (!t || !t->data || weft_tensor_elements(t) != n)
		return false;
	for (int i = 0; i < n; i++)
		out[i] = code_at(t->data, t->dtype, i) - ox_less(t->dtype);
	return true;
}

/*
 * Lowers node i, which has at most 8 operands, on other operands: tensor x[k] stands for operand k
 * if it is not negative. y is the node's result in the table of values. All values and the
 * node at hand are as before afterwards. Returns the result's tensor, or a negative errno (-EINVAL
 * if the node gave none).
 */
int ox_apply_node(struct ox *l, int i, struct ox_value *y, const int *x)
{
	const onnx_node *n = node(l, i), *outer = l->n;
	struct ox_value *v[8] = { NULL }, kept[8], kept_y = *y;
	int i_outer = l->i_node, src = l->src, made = l->made;

	for (size_t k = 0; k < n->n_input; k++) {
		v[k] = ox_operand(l, n, k);
		if (!v[k] || x[k] < 0) {
			v[k] = NULL;
			continue;
		}
		kept[k] = *v[k];
	}
	for (size_t k = 0; k < n->n_input; k++)
		if (v[k])
			*v[k] = ox_held(l, kept[k].name, x[k]);
	*y = ox_blank(kept_y.name);
	int err = ox_lower_now(l, i), z = err ? err : y->n_forms ? y->form[0].tensor : -EINVAL;
	for (size_t k = n->n_input; k-- > 0;)
		if (v[k])
			*v[k] = kept[k];
	*y = kept_y;
	l->n = outer;
	l->i_node = i_outer;
	l->src = src;
	l->made = made;
	return z;
}

/*
 * Emits, as float32, value v computed anew from the integers `codes` in place of its carrier's: a
 * DequantizeLinear of the codes, then the nodes that lead from the carrier to v. Returns the graph
 * tensor; negative codes as they are; -ENOTSUP, without a message, if the DequantizeLinear's scale
 * or zero point is not one constant number; or another negative errno.
 */
int ox_apply(struct ox *l, struct ox_value *v, int codes)
{
	struct ox_side s;
	int x[8];

	if (codes < 0)
		return codes;
	if (!v->depth)
		return ox_side_of(l, v, &s) ? ox_dequantised(l, codes, &s.q) : -ENOTSUP;
	const onnx_node *n = node(l, v->maker);
	for (size_t k = 0; k < n->n_input; k++) {
		struct ox_value *in = ox_operand(l, n, k);

		x[k] = in && in->carrier >= 0 ? ox_apply(l, in, codes) : -1;
		if (in && in->carrier >= 0 && x[k] < 0)
			return x[k];
	}
	return ox_apply_node(l, v->maker, v, x);
}

/* ---- what it amounts to ---- */

/*
 * Emits x rescaled by factor f to type `to`, with zero point x_zp of x and y_zp of the result, by a
 * RESCALE that rounds ties to even if `even` is set (EVEN_ROUND), else up (SINGLE_ROUND). Returns
 * the graph tensor, or a negative errno; a negative x is returned as it is.
 */
int ox_rescale_even(struct ox *l, int x, weft_dtype to, struct ox_factor f, bool even, int32_t x_zp, int32_t y_zp)
{
	weft_attr a = { .rescale = { .scale32 = true, .rounding = even ? WEFT_EVEN_ROUND : WEFT_SINGLE_ROUND, .x_zp = x_zp, .y_zp = y_zp } };

	return ox_rescale_by(l, x, &a, f.mul, f.shift, to);
}

int ox_rescale(struct ox *l, int x, weft_dtype to, struct ox_factor f, int32_t x_zp, int32_t y_zp)
{
	return ox_rescale_even(l, x, to, f, false, x_zp, y_zp);
}

/*
 * Emits int8 or int16 x limited to lo..hi; x itself if its type has no other values. If x is the
 * result of a RESHAPE that keeps the last dimension, the CLAMP is put in front of it, since the
 * compiler joins neighbouring operators. Returns the graph tensor, or a negative errno; a negative
 * x is returned as it is.
 */
int ox_clamp_codes(struct ox *l, int x, int32_t lo, int32_t hi)
{
	weft_attr a = { .clamp = { .min = lo, .max = hi } };

	if (x < 0)
		return x;
	weft_tensor t = *ox_t(l, x);
	int64_t least = t.dtype == WEFT_INT16 ? INT16_MIN : INT8_MIN;
	if (lo <= least && hi >= -1 - least)
		return x;
	x = ox_before_reshape(l, x);
	return ox_reshape(l, ox_op(l, WEFT_OP_CLAMP, &a, &x, 1, t.dtype, ox_t(l, x)->rank, ox_t(l, x)->dim), t.rank, t.dim);
}

static int32_t clip(int64_t v, int32_t lo, int32_t hi)
{
	return (int32_t)(v < lo ? lo : v > hi ? hi : v);
}

/* Sets *lo and *hi to the least and the greatest of the 256 values f. */
static void limits(const int32_t *f, int32_t *lo, int32_t *hi)
{
	*lo = *hi = f[0];
	for (int i = 1; i < 256; i++) {
		*lo = f[i] < *lo ? f[i] : *lo;
		*hi = f[i] > *hi ? f[i] : *hi;
	}
}

/* Says whether f[i], for each of the 256 codes i - 128, is that code limited to lo..hi. */
static bool is_clamp(const int32_t *f, int32_t lo, int32_t hi)
{
	for (int i = 0; i < 256; i++)
		if (f[i] != clip(i - 128, lo, hi))
			return false;
	return true;
}

/*
 * Says whether f[i], for each of the 256 codes i - 128, is what RESCALE by r gives (ties to even or
 * up, zero points x_zp and y_zp), limited to lo..hi.
 */
static bool is_rescale(const int32_t *f, int32_t lo, int32_t hi, struct ox_factor r, bool even, int32_t x_zp, int32_t y_zp)
{
	for (int i = 0; i < 256; i++)
		if (f[i] != clip(ox_scaled(i - 128 - x_zp, r, even) + y_zp, lo, hi))
			return false;
	return true;
}

/*
 * Emits a TABLE of int8 x, a valid tensor: code i - 128 becomes f[i], which has to fit int8.
 * Returns the graph tensor, or a negative errno.
 */
static int table(struct ox *l, int x, const int32_t *f)
{
	int8_t *p = ox_alloc(l, 256, 1);

	for (int i = 0; p && i < 256; i++)
		p[i] = (int8_t)f[i];
	int in[2] = { x, ox_data(l, WEFT_INT8, 1, (int64_t[]){ 256 }, p) };
	return ox_op(l, WEFT_OP_TABLE, NULL, in, 2, WEFT_INT8, ox_t(l, x)->rank, ox_t(l, x)->dim);
}

static bool same_q(const struct ox_q *a, const struct ox_q *b)
{
	return a->s == b->s && a->z == b->z && a->zp->t.dtype == b->zp->t.dtype;
}

/*
 * Emits float x quantised with q by ONNX_QUANTIZE, in the signed form of q's type. Returns the graph
 * tensor, or a negative errno; a negative x is returned as it is.
 */
int ox_quantise(struct ox *l, int x, const struct ox_q *q)
{
	const weft_attr a = { .onnx = { true, WEFT_FP32 } };
	const weft_dtype to = ox_signed(q->zp->t.dtype);

	if (x < 0)
		return x;
	const int rank = ox_t(l, x)->rank;
	const int scale = ox_along(l, q->scale, rank, rank ? 1 : 0);
	const int in[3] = { x, scale, ox_ramp(l, to, rank, ox_q_zp(q)) };
	return in[1] < 0 || in[2] < 0 ? l->err : ox_op(l, WEFT_OP_ONNX_QUANTIZE, &a, in, 3, to, rank, ox_t(l, x)->dim);
}

/*
 * Quantises v, a function of values x of which x or the result has 16 bits, with q. Without a table, since one
 * would have 2^16 entries, that is done if v was dequantised from x with q's own parameters, or is a Relu of
 * such a value: x itself, or limited from below at the zero point. With --requant rescale any other function
 * is emitted in floats, in the order of dimensions in which x is held, so that the compiler finds nothing but
 * functions of one element between two tensors of integers. Returns 1 with y->tensor set; 0 if v is something
 * else; or a negative errno. y->perm is the caller's.
 */
static int map_16(struct ox *l, struct ox_value *v, const struct ox_q *q, int x, struct ox_coded *y)
{
	struct ox_side s;
	const onnx_node *n = v->depth ? node(l, v->maker) : NULL;
	struct ox_value *in = n ? ox_operand(l, n, 0) : v;

	if (in && (!n || ox_node_is(n, "Relu")) && ox_side_of(l, in, &s) && same_q(&s.q, q))
		return ox_coded_as(y, v->depth ? ox_clamp_codes(l, x, ox_q_zp(q), ox_q_high(q)) : x);
	if (l->o.requant != WEFT_ONNX_REQUANT_RESCALE)
		return 0;
	const int z = ox_quantise(l, ox_apply(l, v, x), q);
	if (z < 0 && !l->no_memory)
		l->err = 0;
	return z < 0 && !l->no_memory ? 0 : ox_coded_as(y, z);
}

/*
 * Emits int8 x with each code i - 128 replaced by f[i], 256 in all: x limited by a CLAMP, or
 * rescaled by a RESCALE, if that gives the same for all codes, else by a TABLE. `from` is x's
 * quantisation if f is nothing but a requantisation from it to q, else NULL and no RESCALE is
 * tried. Returns the graph tensor, or a negative errno.
 */
int ox_by_codes(struct ox *l, int x, const int32_t *f, const struct ox_q *from, const struct ox_q *q)
{
	struct ox_factor r;
	int32_t lo, hi;

	limits(f, &lo, &hi);
	if (is_clamp(f, lo, hi))
		return ox_clamp_codes(l, x, lo, hi);
	bool scaled = from && ox_nearest(from->s / q->s, 256, &r);
	for (int even = 0; scaled && even < 2; even++)
		if (is_rescale(f, -128, 127, r, even, ox_q_zp(from), ox_q_zp(q)))
			return ox_rescale_even(l, x, WEFT_INT8, r, even, ox_q_zp(from), ox_q_zp(q));
	return table(l, x, f);
}

/*
 * Makes the codes, quantised with q, of value v, a function of the integers of its carrier. Of an 8-bit
 * carrier the function is computed for all 256 codes and emitted as a CLAMP, a RESCALE or a TABLE of the
 * carrier (ox_by_codes()); where the carrier or q has 16 bits, by map_16(). Returns 1 with *y set, in an
 * order of dimensions in which the carrier is held; 0 if map_16() does not take v, or, with l->err cleared,
 * if the codes cannot be computed; or a negative errno.
 */
int ox_map(struct ox *l, struct ox_value *v, const struct ox_q *q, struct ox_coded *y)
{
	struct ox_value *c = &l->values[v->carrier];
	int x = ox_side_tensor(l, c, y->perm);
	struct ox_side s;
	int32_t f[256];

	if (x < 0)
		return x;
	if (ox_is_16_bit(c) || ox_is_16_bit(q->zp))
		return map_16(l, v, q, x, y);
	if (!ox_quantised(l, ox_apply(l, v, ox_codes(l, c->t.dtype)), q, f, 256)) {
		l->err = 0;
		return 0;
	}
	return ox_coded_as(y, ox_by_codes(l, x, f, ox_side_of(l, v, &s) ? &s.q : NULL, q));
}
