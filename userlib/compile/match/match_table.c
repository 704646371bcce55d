/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of one float8 or 16-bit element, as tables that the alu looks up: CASTs
 * that the post unit has not, CLAMP that ignores NaN. And what compares such
 * elements, by way of integers in the same order: ARGMAX, and MAX_POOL2D that
 * ignores NaN.
 *
 * Tables of operators are golden's own results, one for every code.
 * Source: TOSA 1.0, CAST, CLAMP, ARGMAX, MAX_POOL2D; include/spec/cmd.toml, alu.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/convert.h>

#include "match_alu.h"
#include "match_table.h"
#include "sim/golden/golden.h"

#define FUNC(name) WEFT_ALU_FUNC_##name
#define TYPE(name) WEFT_ALU_A_TYPE_##name

/* Every int32 from here on is infinity in fp16. */
#define FP16_BEYOND 65520

/*
 * Returns the storage `root` as an operand whose elements, of this type of the command, lie dense in tensor
 * t's shape. Its step along each of t's dimensions is set.
 */
struct nest_operand table_dense(const struct cc *cc, int root, int type, int t)
{
	const weft_tensor *x = &cc->g->tensors[t].t;
	struct nest_operand o = nest_storage(root, type);
	int64_t step = alu_bytes(type);

	for (int d = x->rank - 1; d >= 0; d--) {
		o.step[d] = step;
		step *= x->dim[d];
	}
	return o;
}

/*
 * Returns a new storage for as many elements of this type as tensor t has, as a dense operand with t's shape.
 * If there is no memory, the operand's root is negative.
 */
static struct nest_operand between(struct cc *cc, int type, int t)
{
	int root = cc_new_root(cc, weft_tensor_elements(&cc->g->tensors[t].t) * alu_bytes(type));

	return table_dense(cc, root, type, t);
}

/*
 * Returns tensor t as an operand with its steps, its elements (codes of floats) read as unsigned or signed
 * integers of their size; operators that make t are read through as nest_view() does.
 */
static struct nest_operand codes(const struct cc *cc, int t, bool is_unsigned)
{
	int64_t stride[WEFT_MAX_RANK];
	struct nest_operand o = nest_view(cc, t, is_unsigned, stride);

	memcpy(o.step, stride, sizeof stride);
	return o;
}

/* Returns the nest y = func(a, b) over the shape of operator i's first operand. The caller sets y. */
static struct loop_nest nest_of(const struct cc *cc, int i, int func, struct nest_operand a, struct nest_operand b)
{
	struct loop_nest s = { 0 };

	nest_over(cc, &s, cc->g->ops[i].in[0]);
	s.func = func;
	s.a = a;
	s.b = b;
	return s;
}

/*
 * Add the nest y = func(a, b) over the shape of operator i's first operand; it is an intermediate step,
 * which another node must follow. Returns 1, or -ENOMEM, also if there was no memory for the storage of a
 * or y (between()).
 */
static int apply(struct cc *cc, int i, int func, struct nest_operand a, struct nest_operand b, struct nest_operand y)
{
	struct loop_nest s = nest_of(cc, i, func, a, b);

	/* between() had no memory for a storage. */
	if (y.root < 0 || (a.root < 0 && a.t < 0))
		return -ENOMEM;
	s.y = y;
	return nest_add_node(cc, i, &s, false, false);
}

/*
 * Add the last nest of operator i: its result is a | b, with elements of this type of the command. Returns 1,
 * or -ENOMEM, also if there was no memory for the storage of a.
 */
static int apply_last_or(struct cc *cc, int i, struct nest_operand a, struct nest_operand b, int type)
{
	int y = cc->g->ops[i].out[0];
	struct loop_nest s = nest_of(cc, i, FUNC(OR), a, b);

	s.y = table_dense(cc, cc->ten[y].v.root, type, y);
	if (s.y.root < 0 || (a.root < 0 && a.t < 0))
		return -ENOMEM;
	return nest_add_node(cc, i, &s, true, true);
}

/*
 * Add the nest y = t[x] over the shape of operator i's first operand. `last` says that y is the operator's
 * result; otherwise another node must follow. Returns 1, -ENOMEM, or the errno that t->root is if the table
 * could not be made.
 */
int table_apply(struct cc *cc, int i, const struct table *t, struct nest_operand x, struct nest_operand y, bool last)
{
	struct loop_nest s;

	if (t->root < 0 || y.root < 0)
		return t->root < 0 ? t->root : -ENOMEM;
	memset(&s, 0, sizeof s);
	nest_over(cc, &s, cc->g->ops[i].in[0]);
	s.func = FUNC(LOOKUP);
	s.a = x;
	s.b = nest_storage(t->root, t->type);
	s.y = y;
	s.idx_step = alu_bytes(t->type);
	s.idx_last = t->n - 1;
	return nest_add_node(cc, i, &s, last, last);
}

/*
 * Let golden run operator i, which has one operand, on the codes from 0 to n - 1. *y is its result, n
 * elements whose data the caller frees in any case. Returns 0 or a negative errno.
 */
static int run_golden(const struct cc *cc, int i, int64_t n, weft_tensor *y)
{
	const struct weft_gop *o = &cc->g->ops[i];
	size_t size = weft_dtype_bytes(cc->g->tensors[o->in[0]].t.dtype);
	weft_tensor x = { .dtype = cc->g->tensors[o->in[0]].t.dtype, .rank = 1, .dim = { n } };
	const weft_tensor *px = &x;
	char msg[WEFT_GOLDEN_MSG];

	*y = (weft_tensor){ .dtype = cc->g->tensors[o->out[0]].t.dtype, .rank = 1, .dim = { n } };
	x.data = calloc((size_t)n, size);
	y->data = calloc((size_t)n, weft_dtype_bytes(y->dtype));
	int err = x.data && y->data ? 0 : -ENOMEM;
	for (int64_t k = 0; k < n && !err; k++)
		memcpy((uint8_t *)x.data + (size_t)k * size, &k, size);
	if (!err)
		err = weft_golden_run(o->op, &o->attr, &px, 1, &y, 1, true, msg);
	free(x.data);
	return err;
}

/*
 * Returns y's data, moved into the program's constants, as a table of y->dim[0] entries of this type of the
 * command. If err is not 0, the table's root is err; if there is no room, it is -ENOMEM or -E2BIG (too many
 * constants). y->data are freed in any case.
 */
static struct table keep(struct cc *cc, weft_tensor *y, int type, int err)
{
	int root = err ? err : nest_const(cc, y->data, (int64_t)weft_tensor_bytes(y));

	free(y->data);
	return (struct table){ root, type, y->dim[0] };
}

/* ---- operators on single elements ---- */

/*
 * Match operator i, which has one operand of up to 16 bits for each element, as a look-up in a table of
 * golden's results for all 256 or 65536 codes. Returns 1, -ENOMEM, -E2BIG (too many constants), or the
 * negative errno with which golden refuses the operator.
 */
int match_by_table(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	weft_dtype to = type_of(cc, o->out[0]);
	int64_t n = weft_dtype_bytes(type_of(cc, o->in[0])) == 1 ? 256 : 65536;
	weft_tensor y;
	int err = run_golden(cc, i, n, &y);
	struct table t = keep(cc, &y, alu_type(to, true), err);

	return table_apply(cc, i, &t, codes(cc, o->in[0], true), table_dense(cc, cc->ten[o->out[0]].v.root, t.type, o->out[0]), true);
}

/*
 * Add the nests of CAST i from a 16-bit float to int32. The table has the results of absolute values, 2^31
 * for those beyond int32; the sign is put back by an exclusive or and a subtraction, and the result clamped
 * to int32. Returns 1 or a negative errno.
 */
static int float_to_int32(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	int x = o->in[0];
	weft_tensor y;
	int err = run_golden(cc, i, 32768, &y);

	for (int64_t k = 0; k < y.dim[0] && !err; k++)
		if (((int32_t *)y.data)[k] == INT32_MAX)
			((uint32_t *)y.data)[k] = UINT32_C(1) << 31;
	struct table t = keep(cc, &y, TYPE(UINT32), err);
	struct nest_operand code = between(cc, TYPE(UINT16), x), value = between(cc, TYPE(UINT32), x);
	struct nest_operand sign = between(cc, TYPE(INT16), x), flipped = between(cc, TYPE(INT48), x);
	struct loop_nest s = { .func = FUNC(SUB) };
	nest_over(cc, &s, o->out[0]);
	s.a = flipped;
	s.b = sign;
	s.clamp = true;
	s.lo = INT32_MIN;
	s.hi = INT32_MAX;
	if ((err = apply(cc, i, FUNC(AND), codes(cc, x, true), nest_number(0x7fff), code)) < 0 ||
	    (err = table_apply(cc, i, &t, code, value, false)) < 0 ||
	    (err = apply(cc, i, FUNC(SHR), codes(cc, x, false), nest_number(15), sign)) < 0 ||
	    (err = apply(cc, i, FUNC(XOR), value, sign, flipped)) < 0)
		return err;
	return nest_add_node(cc, i, &s, true, true);
}

/*
 * Add the nests of CAST i from int32 to fp16. The table has the results of absolute values up to FP16_BEYOND,
 * which is infinity; larger ones are clamped to it, and the sign bit is put in last. Returns 1 or a negative
 * errno.
 */
static int int32_to_fp16(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	int x = o->in[0];
	weft_tensor y;
	int err = run_golden(cc, i, FP16_BEYOND + 1, &y);
	struct table t = keep(cc, &y, TYPE(UINT16), err);
	struct nest_operand size = between(cc, TYPE(UINT32), x), code = between(cc, TYPE(UINT16), x);
	struct nest_operand upper = between(cc, TYPE(INT16), x), sign = between(cc, TYPE(UINT16), x);
	struct loop_nest s = { .func = FUNC(ABS) };

	nest_over(cc, &s, x);
	s.a = codes(cc, x, false);
	s.y = size;
	s.clamp = true;
	s.hi = FP16_BEYOND;
	if (size.root < 0 || (err = nest_add_node(cc, i, &s, false, false)) < 0 || (err = table_apply(cc, i, &t, size, code, false)) < 0 ||
	    (err = apply(cc, i, FUNC(SHR), codes(cc, x, false), nest_number(16), upper)) < 0 ||
	    (err = apply(cc, i, FUNC(AND), upper, nest_number(0x8000), sign)) < 0)
		return size.root < 0 ? -ENOMEM : err;
	return apply_last_or(cc, i, code, sign, TYPE(UINT16));
}

/*
 * Add the nests of CAST i from a 16-bit float to fp32. The table has the results of absolute values; the sign
 * bit is shifted up by 16 bits and put in last. Returns 1 or a negative errno.
 */
static int float_to_fp32(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	int x = o->in[0];
	weft_tensor y;
	int err = run_golden(cc, i, 32768, &y);
	struct table t = keep(cc, &y, TYPE(UINT32), err);
	struct nest_operand code = between(cc, TYPE(UINT16), x), value = between(cc, TYPE(UINT32), x);
	struct nest_operand sign = between(cc, TYPE(UINT16), x), high = between(cc, TYPE(UINT32), x);

	if ((err = apply(cc, i, FUNC(AND), codes(cc, x, true), nest_number(0x7fff), code)) < 0 ||
	    (err = table_apply(cc, i, &t, code, value, false)) < 0 ||
	    (err = apply(cc, i, FUNC(AND), codes(cc, x, true), nest_number(0x8000), sign)) < 0 ||
	    (err = apply(cc, i, FUNC(SHL), sign, nest_number(16), high)) < 0)
		return err;
	return apply_last_or(cc, i, value, high, TYPE(UINT32));
}

/*
 * Add nests over operator i's integer operand x that compute |x| into `size`; the leading zeros of |x| as 32
 * bits into `up`; and |x|, shifted left so that its highest one is bit 31, then right by `shift` bits with
 * rounding to nearest even, into r. Returns 1 or -ENOMEM.
 */
static int normalise(struct cc *cc, int i, int shift, struct nest_operand size, struct nest_operand up, struct nest_operand r)
{
	int x = cc->g->ops[i].in[0], err;
	struct nest_operand m = between(cc, TYPE(UINT32), x), kept = between(cc, TYPE(UINT32), x), odd = between(cc, TYPE(UINT8), x);
	struct nest_operand sum = between(cc, TYPE(INT48), x), half = between(cc, TYPE(INT48), x);

	if ((err = apply(cc, i, FUNC(ABS), codes(cc, x, false), nest_number(0), size)) < 0 ||
	    (err = apply(cc, i, FUNC(CLZ), size, nest_number(0), up)) < 0 ||
	    (err = apply(cc, i, FUNC(SHL), size, up, m)) < 0 ||
	    (err = apply(cc, i, FUNC(SHR), m, nest_number(shift), kept)) < 0 ||
	    (err = apply(cc, i, FUNC(AND), kept, nest_number(1), odd)) < 0 ||
	    (err = apply(cc, i, FUNC(ADD), m, odd, sum)) < 0 ||
	    (err = apply(cc, i, FUNC(ADD), sum, nest_number((1 << (shift - 1)) - 1), half)) < 0)
		return err;
	return apply(cc, i, FUNC(SHR), half, nest_number(shift), r);
}

/*
 * Add the nests of CAST i from int16 or int32 to fp32 or bf16: the normalised value is added to the
 * exponent's field, so that rounding up to the next power of two carries into the exponent; 0 is selected
 * where x is 0, and the sign bit is put in last. Returns 1 or -ENOMEM.
 */
static int int_to_float(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	bool narrow = type_of(cc, o->out[0]) == WEFT_BF16;
	int x = o->in[0], fraction = narrow ? 7 : 23, err;
	struct nest_operand size = between(cc, TYPE(UINT32), x), up = between(cc, TYPE(UINT8), x), r = between(cc, TYPE(UINT32), x);
	struct nest_operand e = between(cc, TYPE(INT32), x), field = between(cc, TYPE(UINT32), x), bits = between(cc, TYPE(UINT32), x);
	struct nest_operand number = between(cc, TYPE(UINT32), x), sign = between(cc, TYPE(UINT32), x), low = between(cc, TYPE(UINT32), x);
	struct loop_nest s = { .func = FUNC(SELECT) };

	if ((err = normalise(cc, i, 31 - fraction, size, up, r)) < 0 ||
	    (err = apply(cc, i, FUNC(RSUB), up, nest_number(127 + 31 - 1), e)) < 0 ||
	    (err = apply(cc, i, FUNC(SHL), e, nest_number(fraction), field)) < 0 ||
	    (err = apply(cc, i, FUNC(ADD), r, field, bits)) < 0)
		return err;
	nest_over(cc, &s, x);
	s.a = bits;
	s.c = size;
	s.y = number;
	if (number.root < 0 || (err = nest_add_node(cc, i, &s, false, false)) < 0 ||
	    (err = apply(cc, i, FUNC(AND), codes(cc, x, false), nest_number(INT32_MIN), sign)) < 0 ||
	    (err = apply(cc, i, FUNC(SHR), sign, nest_number(narrow ? 16 : 0), low)) < 0)
		return number.root < 0 ? -ENOMEM : err;
	return apply_last_or(cc, i, number, low, narrow ? TYPE(UINT16) : TYPE(UINT32));
}

/*
 * Match CAST i between an integer and a float, or between floats: from 8 bits to anything, and between
 * 16-bit types, by one table; from 16-bit floats to int32 and fp32, and from int32 to fp16, by a table of
 * absolute values with the sign put in behind; from int16 and int32 to fp32 and bf16 by arithmetic. Returns
 * 1 if it was matched, 0 for other types (the reason then is set), or a negative errno.
 */
int match_cast_by_table(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	weft_dtype from = type_of(cc, o->in[0]), to = type_of(cc, o->out[0]);
	size_t n = weft_dtype_bytes(from), m = weft_dtype_bytes(to);

	if (n == 1 || (n == 2 && m <= 2))
		return match_by_table(cc, i);
	if (n == 2 && to == WEFT_INT32)
		return float_to_int32(cc, i);
	if (from == WEFT_INT32 && to == WEFT_FP16)
		return int32_to_fp16(cc, i);
	if ((from == WEFT_INT16 || from == WEFT_INT32) && (to == WEFT_FP32 || to == WEFT_BF16))
		return int_to_float(cc, i);
	if (n == 2 && to == WEFT_FP32)
		return float_to_fp32(cc, i);
	return cc_reason(cc, i, "%s to %s: no unit, and no table of a size for the scratchpad", weft_dtype_name(from), weft_dtype_name(to));
}

/* ---- in the order of integers ---- */

/*
 * Returns whether float type t has integer keys: integers of a code's size, in the order of the values, of
 * which the lowest and the highest are free for NaN. E4M3, E5M2, fp16 and bf16 have; FNUZ types and wider ones
 * have not.
 */
static bool has_keys(weft_dtype t)
{
	return t == WEFT_FP8E4M3 || t == WEFT_FP8E5M2 || t == WEFT_FP16 || t == WEFT_BF16;
}

/*
 * Returns the integer key of a code of float type t: keys are in the order of the values. Every NaN has
 * nan_key, +0 and positive codes their own bits. A negative code has minus its bits without the sign, so that
 * both zeros have key 0; with two_zeros it has one less, so that -0 has -1.
 */
static int64_t key_of(weft_dtype t, uint32_t code, int64_t nan_key, bool two_zeros)
{
	uint32_t sign = UINT32_C(1) << (8 * weft_dtype_bytes(t) - 1);
	int64_t size = code & (sign - 1);

	if (isnan(weft_float_decode(t, code)))
		return nan_key;
	return code & sign ? -size - two_zeros : size;
}

/*
 * Returns a tensor with one zeroed integer, of a code's size, for each of the 256 or 65536 codes of float
 * type t. Its data are NULL if there is no memory; the caller frees them.
 */
static weft_tensor of_codes(weft_dtype t)
{
	weft_tensor y = { .dtype = weft_dtype_bytes(t) == 1 ? WEFT_INT8 : WEFT_INT16, .rank = 1 };

	y.dim[0] = weft_dtype_bytes(t) == 1 ? 256 : 65536;
	y.data = calloc((size_t)y.dim[0], weft_dtype_bytes(t));
	return y;
}

/* Set entry k of a tensor of int8 or int16 to the low bits of v. */
static void set(weft_tensor *y, int64_t k, int64_t v)
{
	if (y->dtype == WEFT_INT8)
		((int8_t *)y->data)[k] = (int8_t)v;
	else
		((int16_t *)y->data)[k] = (int16_t)v;
}

/*
 * Make a constant table from the codes of float type t, which has_keys(), to their keys (key_of()). NaN has
 * the lowest key if nan_low is set, else the highest; two_zeros says that -0 and +0 have different keys. If
 * the table could not be made, its root is a negative errno.
 */
static struct table keys(struct cc *cc, weft_dtype t, bool nan_low, bool two_zeros)
{
	weft_tensor y = of_codes(t);
	int64_t n = y.dim[0];

	for (int64_t k = 0; k < n && y.data; k++)
		set(&y, k, key_of(t, (uint32_t)k, nan_low ? -n / 2 : n / 2 - 1, two_zeros));
	return keep(cc, &y, alu_type(y.dtype, false), y.data ? 0 : -ENOMEM);
}

/*
 * Make a constant table from keys back to the codes of float type t, which has_keys(), where the lowest key
 * means NaN and -0 has a key of its own. The code of a key stands in the entry with the key's low 8 or 16 bits
 * as number. If the table could not be made, its root is a negative errno.
 */
static struct table codes_of_keys(struct cc *cc, weft_dtype t)
{
	weft_tensor y = of_codes(t);
	int64_t n = y.dim[0], nan_key = -n / 2;

	for (int64_t k = 0; k < n && y.data; k++) {
		int64_t key = key_of(t, (uint32_t)k, nan_key, true);
		if (key != nan_key)
			set(&y, key & (n - 1), k);
	}
	if (y.data)
		set(&y, nan_key & (n - 1), (int64_t)weft_float_encode(t, NAN, false));
	return keep(cc, &y, alu_type(y.dtype, true), y.data ? 0 : -ENOMEM);
}

/*
 * Match ARGMAX i of floats: its operand's codes are looked up as integer keys in the order of their values,
 * then the alu finds the largest. NaN has the highest key, or if the operator ignores NaN the lowest; -0
 * and +0 have the same. Returns 1 if it was matched, 0 if the type has no keys (has_keys(); the reason then
 * is set), or a negative errno.
 */
int match_float_argmax(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	weft_dtype type = type_of(cc, o->in[0]);

	if (!has_keys(type))
		return cc_reason(cc, i, "no arithmetic of %s", weft_dtype_name(type));
	struct table t = keys(cc, type, o->attr.axis.nan == WEFT_NAN_IGNORE, false);
	struct nest_operand k = between(cc, t.type, o->in[0]);
	int err = table_apply(cc, i, &t, codes(cc, o->in[0], true), k, false);
	return err < 0 ? err : nest_fold(cc, i, FUNC(ARGMAX), k);
}

/*
 * Add a pooling node of operator i, MAX_POOL2D, that takes the maximum of integers from storage `from` to
 * storage `to`, as an intermediate step that another node must follow. Returns 1 or -ENOMEM.
 */
static int pool_keys(struct cc *cc, int i, int from, int to)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const struct weft_attr_pool *a = &o->attr.pool;
	const weft_tensor *x = &cc->g->tensors[o->in[0]].t, *y = &cc->g->tensors[o->out[0]].t;
	struct node *nd = new_node(cc, NODE_POOL, i, i);
	int64_t elem = (int64_t)weft_dtype_bytes(x->dtype);

	if (!nd)
		return -ENOMEM;
	nd->x = view_dense(from, x->dim, elem);
	nd->y = nd->dbg = view_dense(to, y->dim, elem);
	nd->x_t = nd->y_tensor = -1;
	set_pool_window(nd, a);
	nd->before = (int)(nd - cc->nodes) + 2;
	cc->ten[from].pinned = cc->ten[to].pinned = true;
	return 1;
}

/*
 * Match MAX_POOL2D i of floats that ignores NaN: codes become integer keys with NaN below all, the pooling
 * engine takes the maximum, and keys become codes again. It needs the alu, a type that has_keys(), and the
 * engine's int8 or int16 mode of the code's size. Returns 1 if it was matched, 0 if one of these is missing
 * (the reason then is set), or a negative errno.
 */
int match_pool_by_keys(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	weft_dtype type = type_of(cc, o->in[0]);

	if (!cc->has_alu || !has_keys(type) || !npu_int(cc, weft_dtype_bytes(type) == 1 ? WEFT_INT8 : WEFT_INT16))
		return cc_reason(cc, i, "NaN is ignored");
	struct table in = keys(cc, type, true, true), out = codes_of_keys(cc, type);
	struct nest_operand x = between(cc, in.type, o->in[0]), y = between(cc, in.type, o->out[0]);
	if (x.root < 0 || y.root < 0)
		return -ENOMEM;
	int err = table_apply(cc, i, &in, codes(cc, o->in[0], true), x, false);
	if (err > 0)
		err = pool_keys(cc, i, x.root, y.root);
	if (err < 0)
		return err;
	struct loop_nest s = { .func = FUNC(LOOKUP) };
	nest_over(cc, &s, o->out[0]);
	s.a = table_dense(cc, y.root, alu_type(type, true), o->out[0]);
	s.b = nest_storage(out.root, out.type);
	s.idx_step = alu_bytes(out.type);
	s.idx_last = out.n - 1;
	return out.root < 0 ? out.root : nest_add_node(cc, i, &s, true, true);
}
