/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads an operator's attributes: from its attribute table, and from operands
 * that TOSA 1.0 has as compile-time constants (zero points, shapes, pads,
 * shifts). Where one of these is not constant (EXT-DYNAMIC), they all stay
 * operands of the graph's operator, and l->dynamic says so.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/golden/dtype.h"
#include "tosa_lower.h"
#include "userlib/graph/attr.h"

/* ---- fields of the attribute table ---- */

static int number(struct tosa_lower *l, int field, int bytes, int64_t *v)
{
	return fb_int(&l->f.b, &l->op->attr, field, bytes, bytes > 1, 0, v);
}

/*
 * Sets *v to an int32 field of the operator's attribute table, or to 0 if the field is absent.
 * Returns 0 or -EINVAL.
 */
static int i32_field(struct tosa_lower *l, int field, int32_t *v)
{
	int64_t n;
	int err = number(l, field, 4, &n);

	*v = (int32_t)n;
	return err;
}

/*
 * Sets *v to a bool field of the operator's attribute table: true for any byte other than 0, false
 * also if the field is absent. Returns 0 or -EINVAL.
 */
static int flag(struct tosa_lower *l, int field, bool *v)
{
	int64_t n;
	int err = number(l, field, 1, &n);

	*v = n != 0;
	return err;
}

/*
 * Copies a field of the operator's attribute table that is a list of exactly n int32 numbers to v.
 * `what` is the field's name in messages. Returns 0, or -EINVAL with a line in l->msg if the list
 * has another length (an absent field has length 0) or does not lie in the file.
 */
static int list(struct tosa_lower *l, int field, const char *what, int n, int32_t *v)
{
	struct fb_vec vec;
	int err = fb_vector(&l->f.b, &l->op->attr, field, 4, &vec);

	if (err < 0)
		return err;
	if (vec.n != (uint32_t)n)
		return tosa_fail(l, -EINVAL, "%s has %u numbers, not %d, at byte %zu", what, (unsigned)vec.n, n, l->op->at);
	for (int i = 0; i < n; i++)
		v[i] = fb_i32_at(&l->f.b, &vec, (uint32_t)i);
	return 0;
}

/*
 * Sets *e to an int32 field of the operator's attribute table that is an enumeration (0 if absent),
 * whose values low..high the graph shares with TOSA. `what` is the field's name in messages.
 * Returns 0, or -EINVAL if the value is none of these.
 */
static int enum_field(struct tosa_lower *l, int field, const char *what, int low, int high, int32_t *e)
{
	int64_t v;
	int err = number(l, field, 4, &v);

	if (!err && (v < low || v > high))
		err = tosa_fail(l, -EINVAL, "%s %lld is none, at byte %zu", what, (long long)v, l->op->at);
	*e = (int32_t)v;
	return err;
}

/*
 * Sets *acc to the graph's type (weft_dtype) for the accumulator type in a field of the operator's
 * attribute table, or to 0 for a number that is no type. Returns 0, or -EINVAL if the field is
 * absent or the type is not int32, int48, fp16 or fp32; *acc is set in either case.
 */
static int acc_field(struct tosa_lower *l, int field, int32_t *acc)
{
	int64_t v;
	int err = number(l, field, 4, &v);

	weft_dtype t = v > 0 && v < TOSA_N_TYPES ? tosa_dtype((int)v) : 0;
	if (!err && t != WEFT_INT32 && t != WEFT_INT48 && t != WEFT_FP16 && t != WEFT_FP32)
		err = tosa_fail(l, -EINVAL, "accumulator type %lld is none, at byte %zu", (long long)v, l->op->at);
	*acc = (int32_t)t;
	return err;
}

/* ---- constant operands ---- */

/*
 * Copies the bytes of file operand k, which has to be a tensor [1] of type t, to v, as many as t
 * has in memory. If the tensor is not constant, l->dynamic is set and v is filled with zeros.
 * `what` is the operand's name in messages. Returns 0, -EINVAL if the operand is a shape, a
 * variable, or of another type or shape, or another negative errno; v is then unchanged.
 */
static int scalar(struct tosa_lower *l, int k, const char *what, weft_dtype t, void *v)
{
	weft_tensor c;
	int i = l->in[k], err;

	if (i < 0)
		return tosa_fail(l, -EINVAL, "%s is a shape", what);
	if ((err = tosa_declared(l, i, &c)))
		return err;
	if (c.dtype != t || c.rank != 1 || c.dim[0] != 1)
		return tosa_fail(l, -EINVAL, "%s is %s of %lld elements and rank %d, not %s[1]", what, weft_dtype_name(c.dtype),
		                 (long long)weft_tensor_elements(&c), c.rank, weft_dtype_name(t));
	if (l->f.tensors[i].variable)
		return tosa_fail(l, -EINVAL, "%s is a variable", what);
	if (!l->f.tensors[i].data) {
		l->dynamic = true;
		memset(v, 0, weft_dtype_bytes(t));
		return 0;
	}
	if ((err = tosa_const(l, i, &c)))
		return err;
	memcpy(v, c.data, weft_dtype_bytes(t));
	free(c.data);
	return 0;
}

/*
 * Returns as int64 the integer or bool of type t at p. int8 and int16 are read as unsigned if
 * is_unsigned is set; int4 has a byte of its own in memory, int48 and all types not named here 8
 * bytes.
 */
static int64_t widen(weft_dtype t, const void *p, bool is_unsigned)
{
	switch (t) {
	case WEFT_BOOL: return *(const uint8_t *)p;
	case WEFT_INT4: return *(const int8_t *)p;
	case WEFT_INT8: return is_unsigned ? *(const uint8_t *)p : *(const int8_t *)p;
	case WEFT_INT16: return is_unsigned ? *(const uint16_t *)p : *(const int16_t *)p;
	case WEFT_INT32: return *(const int32_t *)p;
	default: return *(const int64_t *)p;
	}
}

/* Says whether the float of type t at p is zero, with either sign. */
static bool float_is_zero(weft_dtype t, const void *p)
{
	uint32_t v = 0;

	memcpy(&v, p, weft_dtype_bytes(t));
	return (v & ~(1u << (8 * weft_dtype_bytes(t) - 1))) == 0;
}

/*
 * Sets *zp to file operand k, the zero point of a tensor of type t, with or without a sign as
 * is_unsigned says. If the operand is not constant, *zp is 0 and l->dynamic is set. `what` is the
 * operand's name in messages. Returns 0, or -EINVAL if the value is not 0 although t is neither
 * int8 nor unsigned int16 (floats included), or another negative errno.
 */
static int zero_point(struct tosa_lower *l, int k, const char *what, weft_dtype t, bool is_unsigned, int32_t *zp)
{
	int64_t bytes[1] = { 0 };
	int err = scalar(l, k, what, t, bytes);

	*zp = 0;
	if (err)
		return err;
	if (weft_is_float(t))
		return float_is_zero(t, bytes) ? 0 : tosa_fail(l, -EINVAL, "%s is not 0", what);
	int64_t v = widen(t, bytes, is_unsigned);
	if (t != WEFT_INT8 && !(t == WEFT_INT16 && is_unsigned) && v)
		return tosa_fail(l, -EINVAL, "%s is %lld, must be 0 for %s", what, (long long)v, weft_dtype_name(t));
	*zp = (int32_t)v;
	return 0;
}

/*
 * Copies the values of file operand k, a shape, to v, which has room for max, and their number to
 * *n. If the shape is an input of the block at hand, l->dynamic is set and the values are 0. `what`
 * is the operand's name in messages. Returns 0, or -EINVAL with a line in l->msg if the operand is
 * a tensor, if the shape has more than max values, or if its values are neither in the file nor an
 * input. A shape of rank 0 gives *n = 0.
 */
static int shape(struct tosa_lower *l, int k, const char *what, int max, int64_t *v, int *n)
{
	if (l->in[k] >= 0)
		return tosa_fail(l, -EINVAL, "%s is no shape", what);
	const struct tosa_shape *s = &l->f.shapes[-1 - l->in[k]];
	if (s->rank > max)
		return tosa_fail(l, -EINVAL, "%s has %lld values, limit %d", what, (long long)s->rank, max);
	*n = (int)s->rank;
	if (tosa_shape_input(l, -1 - l->in[k]) >= 0) {
		l->dynamic = true;
		memset(v, 0, (size_t)*n * sizeof *v);
		return 0;
	}
	if (s->rank && !s->data.n)
		return tosa_fail(l, -EINVAL, "nothing gives %s values", what);
	for (int i = 0; i < *n; i++)
		v[i] = fb_i64_at(&l->f.b, &s->data, (uint32_t)i);
	return 0;
}

/*
 * Copies the values of file operand k, a shape of exactly `want` values that fit int32, to v. If
 * the shape is an input of the block, l->dynamic is set and the values are 0. `what` is the
 * operand's name in messages. Returns 0 or -EINVAL.
 */
static int shape_i32(struct tosa_lower *l, int k, const char *what, int want, int32_t *v)
{
	int64_t wide[2 * WEFT_MAX_RANK];
	int n, err = shape(l, k, what, 2 * WEFT_MAX_RANK, wide, &n);

	if (err)
		return err;
	if (n != want)
		return tosa_fail(l, -EINVAL, "%s has %d values, not %d", what, n, want);
	for (int i = 0; i < n; i++) {
		if (wide[i] < INT32_MIN || wide[i] > INT32_MAX)
			return tosa_fail(l, -EINVAL, "%s value %d is %lld, beyond 32 bits", what, i, (long long)wide[i]);
		v[i] = (int32_t)wide[i];
	}
	return 0;
}

/* ---- rows of the operator ---- */

/*
 * Reads a field of the operator's attribute table that holds one value of type t as bytes, perhaps
 * with padding up to 16 bytes: an integer into *i, a float into *f. `what` is the field's name in
 * messages. Returns 0, or -EINVAL if the number of bytes is wrong, if t is a float type other than
 * fp16, bf16 and fp32, or if the float is NaN.
 */
static int read_value(struct tosa_lower *l, int field, const char *what, weft_dtype t, int64_t *i, double *f)
{
	size_t bytes = weft_dtype_bytes(t);
	struct fb_vec v;
	int err = fb_vector(&l->f.b, &l->op->attr, field, 1, &v);

	if (err < 0)
		return err;
	if (v.n < bytes || v.n > 16)
		return tosa_fail(l, -EINVAL, "%s has %u bytes, not %zu, at byte %zu", what, (unsigned)v.n, bytes, l->op->at);
	if (weft_is_float(t)) {
		if (t != WEFT_FP16 && t != WEFT_BF16 && t != WEFT_FP32)
			return tosa_fail(l, -EINVAL, "%s: not a row of its table", weft_dtype_name(t));
		*f = tosa_to_double(t, l->f.b.p + v.at);
		if (isnan(*f))
			return tosa_fail(l, -EINVAL, "%s is not a number", what);
		return 0;
	}
	int64_t raw = 0;
	memcpy(&raw, l->f.b.p + v.at, bytes < 8 ? bytes : 8);
	*i = widen(t, &raw, false);
	return 0;
}

/*
 * Reads the name of a block from a field of the operator's attribute table and sets *sub to that
 * block's sub-graph, which is imported if it has not been yet. Returns 0 or a negative errno.
 */
static int read_block(struct tosa_lower *l, int field, struct weft_graph **sub)
{
	struct fb_vec v;
	int err = fb_vector(&l->f.b, &l->op->attr, field, 1, &v);

	if (err < 0)
		return err;
	return tosa_sub(l, (struct tosa_name){ v.n ? (const char *)l->f.b.p + v.at : "", v.n }, sub);
}

/*
 * Reads the field of the attribute table that row f describes into the place in *a that f names;
 * x[0] is the type and shape of operand 0, which gives ATTR_RANK lists their length and ATTR_VALUE
 * its type. A NaN mode may be 0 to 2. ATTR_ONES reads nothing and writes f->n ones; ATTR_BLOCK
 * imports the block that it names, if that has not been done yet. Returns 0, -EINVAL with a line in
 * l->msg if the field is malformed or out of its range, or what importing a block gives.
 */
static int read_field(struct tosa_lower *l, const struct attr_tosa_field *f, const weft_tensor *x, weft_attr *a)
{
	void *at = attr_at(a, f->at);

	switch ((enum attr_tosa_kind)f->kind) {
	case ATTR_LIST: return list(l, f->id, f->name, f->n == ATTR_RANK ? x->rank : f->n, at);
	case ATTR_FLAG: return flag(l, f->id, at);
	case ATTR_NUMBER: return i32_field(l, f->id, at);
	case ATTR_ENUM: return enum_field(l, f->id, f->name, f->low, f->high, at);
	case ATTR_TYPE: return acc_field(l, f->id, at);
	/* 0: a writer that leaves the default unsaid. */
	case ATTR_NAN: return enum_field(l, f->id, "NaN mode", 0, 2, at);
	case ATTR_VALUE: return read_value(l, f->id, f->name, x->dtype, at, attr_at(a, f->also));
	case ATTR_BLOCK: return read_block(l, f->id, at);
	case ATTR_ONES:
		for (int i = 0; i < f->n; i++)
			((int32_t *)at)[i] = 1;
		return 0;
	}
	return 0;
}

/*
 * Reads file operand k, a shape of `rank` pairs, into before[i] and after[i], the elements of
 * padding on each side of dimension i. If it is not constant, all are 0 and l->dynamic is set.
 * `what` is the operand's name in messages. Returns 0 or -EINVAL.
 */
static int read_pads(struct tosa_lower *l, int k, const char *what, int rank, int32_t *before, int32_t *after)
{
	int32_t both[2 * WEFT_MAX_RANK];
	int err = shape_i32(l, k, what, 2 * rank, both);

	for (int i = 0; i < rank && !err; i++) {
		before[i] = both[2 * i];
		after[i] = both[2 * i + 1];
	}
	return err;
}

/*
 * Reads file operand k, the one value of type t with which the operator fills: a float32 into
 * *fvalue, an integer or bool into *value, and any other float into *value as its unsigned bits. If
 * it is not constant, the value is 0 and l->dynamic is set. `what` is the operand's name in
 * messages. Returns 0 or a negative errno.
 */
static int read_fill(struct tosa_lower *l, int k, const char *what, weft_dtype t, int64_t *value, double *fvalue)
{
	int64_t bytes[1] = { 0 };
	int err = scalar(l, k, what, t, bytes);

	if (err)
		return err;
	if (t == WEFT_FP32)
		*fvalue = tosa_to_double(t, bytes);
	else if (weft_is_float(t))
		*value = widen(weft_dtype_bytes(t) == 1 ? WEFT_INT8 : WEFT_INT16, bytes, true);
	else
		*value = widen(t, bytes, false);
	return 0;
}

/*
 * Reads file operand k, where a slice of x begins, into start (one number for each dimension), and
 * checks that operand k + 1, the slice's size, is the result y's shape. If one of the two is not
 * constant, l->dynamic is set, and start is 0 if it is that one; of sizes nothing is compared if
 * l->dynamic is set, also by an earlier operand. Returns 0, or -EINVAL if a rank or a size is wrong,
 * or an operand is a tensor or a shape without values.
 */
static int read_part(struct tosa_lower *l, int k, const weft_tensor *x, const weft_tensor *y, int64_t *start)
{
	int64_t size[WEFT_MAX_RANK];
	int n_start, n_size, err;

	if ((err = shape(l, k, "start", TOSA_MAX_RANK, start, &n_start)) ||
	    (err = shape(l, k + 1, "size", TOSA_MAX_RANK, size, &n_size)))
		return err;
	if (n_start != x->rank || n_size != x->rank || y->rank != x->rank || x->rank < 1)
		return tosa_fail(l, -EINVAL, "ranks %d -> %d with %d starts and %d sizes", x->rank, y->rank, n_start, n_size);
	for (int i = 0; i < n_size && !l->dynamic; i++)
		if (size[i] != y->dim[i])
			return tosa_fail(l, -EINVAL, "size %d is %lld, result has %lld", i, (long long)size[i],
			                 (long long)y->dim[i]);
	return 0;
}

/*
 * Reads file operand k, a shape, and checks that the result y has it; nothing is kept. A single 0
 * stands for rank 0. Nothing is compared if the operator has an argument that is not constant
 * (l->dynamic). `what` is the operand's name in messages. Returns 0 or -EINVAL.
 */
static int read_result_shape(struct tosa_lower *l, int k, const char *what, const weft_tensor *y)
{
	int64_t v[WEFT_MAX_RANK];
	int n, err = shape(l, k, what, TOSA_MAX_RANK, v, &n);

	if (err || l->dynamic)
		return err;
	/* Writers state the empty shape as one 0, which is no dimension. */
	if (n == 1 && v[0] == 0)
		n = 0;
	for (int i = 0; i < n; i++)
		if (n != y->rank || v[i] != y->dim[i])
			return tosa_fail(l, -EINVAL, "result's shape is not the one that is asked");
	return n == y->rank ? 0 : tosa_fail(l, -EINVAL, "result has rank %d, not %d", y->rank, n);
}

/*
 * Reads the file operand number g->operand, which TOSA has as a compile-time constant, into the
 * places in *a that g names, in the form that g->kind says (zero point, int8 scalar, shape, slice,
 * pads, fill value); ATTR_RESULT_SHAPE is only compared with y's shape. x are the types and shapes
 * of the data operands, y that of the first result; they give the type or the length. If the
 * operand is not constant, zeros are written and l->dynamic is set. Returns 0 or a negative errno
 * with a line in l->msg.
 */
static int read_arg(struct tosa_lower *l, const struct attr_tosa_arg *g, const weft_tensor *x, const weft_tensor *y,
                    weft_attr *a)
{
	const weft_tensor *t = g->of == ATTR_RESULT ? y : g->of >= 0 ? &x[g->of] : x;
	const int n = g->n == ATTR_RANK ? x->rank : g->n, k = g->operand;
	void *at = g->at == ATTR_NONE ? NULL : attr_at(a, g->at), *also = g->also == ATTR_NONE ? NULL : attr_at(a, g->also);
	int8_t byte = 0;
	int err;

	switch ((enum attr_arg_kind)g->kind) {
	case ATTR_ZERO_POINT: return zero_point(l, k, g->name, t->dtype, also && *(const bool *)also, at);
	case ATTR_SCALAR:
		err = scalar(l, k, g->name, WEFT_INT8, &byte);
		*(int32_t *)at = byte;
		return err;
	case ATTR_SHAPE: return shape_i32(l, k, g->name, n, at);
	case ATTR_PART: return read_part(l, k, x, y, at);
	case ATTR_PADS: return read_pads(l, k, g->name, n, at, also);
	case ATTR_FILL: return read_fill(l, k, g->name, t->dtype, at, also);
	case ATTR_RESULT_SHAPE: return read_result_shape(l, k, g->name, y);
	}
	return 0;
}

/*
 * Fills *a with the attributes of the operator at hand, from its attribute table and then from the
 * operands that TOSA has as compile-time constants, in the order of the rows of attr_ops; places
 * that no row names stay as they are. x are the types and shapes of the data operands, y that of
 * the first result. Sets l->dynamic, which it never clears, if one of those operands is not
 * constant. Blocks that an attribute names are imported as sub-graphs. Returns 0 or a negative
 * errno with a line in l->msg.
 */
int tosa_attr(struct tosa_lower *l, const weft_tensor *x, const weft_tensor *y, weft_attr *a)
{
	const struct attr_op *o = &attr_ops[tosa_infos[l->op->code].op];
	int err = 0;

	for (int i = 0; i < o->n_tosa_field && !err; i++)
		err = read_field(l, &o->tosa_field[i], x, a);
	for (int i = 0; i < o->n_tosa_arg && !err; i++)
		err = read_arg(l, &o->tosa_arg[i], x, y, a);
	return err;
}
