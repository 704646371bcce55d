/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TensorFlow Lite's SOFTMAX, LOGISTIC and TANH as sequences of integer operations of
 * the alu, with the framework's bits for every input.
 *
 * Its fixed-point arithmetic in the alu's: the rounding product of two Q0.31 is MUL with
 * a shift of 31, since both round half up; a rounding shift right of what is not
 * negative is SHR with round, and of what may be, the same behind the addition of its
 * sign (-1 or 0), since the framework rounds halves away from zero.
 *
 * Source: sim/golden/tfl; include/spec/cmd.toml, alu.
 */
#include <errno.h>
#include <string.h>

#include "userlib/compile/match/match_table.h"
#include "tfl.h"
#include "sim/golden/tfl/fixed_exp.h"
#include "sim/golden/tfl/tfl_sigmoid16.h"
#include "sim/golden/tfl/tfl_softmax.h"
#include "sim/golden/tfl/tfl_softmax16.h"

#define FUNC(name) WEFT_ALU_FUNC_##name
#define TYPE(name) WEFT_ALU_A_TYPE_##name

/* Rows of int8 up to so many elements: the sum of their exponentials, 2^19 at most each, never wraps to 0. */
#define SOFTMAX8_MOST 8191
/* Rows of int16: the sum of their exponentials, below 2^15 each, stays below 2^31. */
#define SOFTMAX16_MOST 65535

/* Elements of a network's int64 result from which on the host widens it. Not measured. */
#define LONG_END 65536

/*
 * Elements of int16 from which on a function is looked up in a table of all its results, which is
 * loaded for it (128 KiB), instead of computed. An element costs 1.25 cycles then instead of about
 * 5.5 at N = 16; the load takes 16 384 cycles of slow memory.
 */
#define WORTH_A_TABLE 4096

/*
 * Adds a nest over rows (per_row: seq_row()) or over elements (seq_each()) and returns its result, of this
 * type.
 */
static struct nest_operand step(struct sequence *q, struct loop_nest s, bool per_row, int type)
{
	return per_row ? seq_row(q, s, type) : seq_each(q, s, type);
}

/*
 * Add the nests that compute 1/(1 + a) in Q0.31 for a in Q0.31, 0 to 2^31 - 1, for each row (per_row) or
 * each element: half of 2/(1 + a) by Newton's method in Q2.29, with the bits of weft_reciprocal_1p().
 * Returns the results as a value of int32; errors go to q->err.
 */
struct nest_operand seq_reciprocal(struct sequence *q, struct nest_operand a, bool per_row)
{
	/* a + 2^31, which is at least 2^31 and below 2^32 */
	struct nest_operand sum = step(q, seq_nest(FUNC(SUB), a, nest_number(INT32_MIN)), per_row, TYPE(UINT32));
	struct nest_operand half = step(q, seq_nest(FUNC(SHR), sum, nest_number(1)), per_row, TYPE(INT32));
	struct nest_operand x = step(q, seq_mul(half, nest_number(WEFT_NEWTON_32_17), 31), per_row, TYPE(INT32));

	x = step(q, seq_nest(FUNC(ADD), x, nest_number(WEFT_NEWTON_48_17)), per_row, TYPE(INT32));
	for (int i = 0; i < WEFT_NEWTON_STEPS; i++) {
		struct nest_operand p = step(q, seq_mul(half, x, 31), per_row, TYPE(INT32));
		struct nest_operand error = step(q, seq_nest(FUNC(RSUB), p, nest_number(1 << 29)), per_row, TYPE(INT32));
		struct nest_operand part = step(q, seq_mul(x, error, 31), per_row, TYPE(INT32));
		struct nest_operand more = step(q, seq_clamp(seq_nest(FUNC(SHL), part, nest_number(2)), INT32_MIN, INT32_MAX), per_row,
		                                TYPE(INT32));
		x = step(q, seq_nest(FUNC(ADD), x, more), per_row, TYPE(INT32));
	}
	return step(q, seq_clamp(seq_nest(FUNC(SHL), x, nest_number(1)), INT32_MIN, INT32_MAX), per_row, TYPE(INT32));
}

/* Bytes of the values that SOFTMAX needs at a time for each element: of int8 an exponential and what is made of it for the sum, of int16
 * two steps of what is made of a difference. */
#define SOFTMAX_BYTES 8

/*
 * Add the nests of TFL_SOFTMAX of int8 for one part of its result, of int8 or int16 (wide). The exponential of a difference
 * to the row's maximum is one of the 256 int32 at `table`; their sum's reciprocal is found once for each row. Returns 1 or a
 * negative errno.
 */
static int softmax8_part(struct sequence *q, struct nest_operand table, bool wide)
{
	const int drop = wide ? 15 : 23, lo = wide ? INT16_MIN : INT8_MIN;
	struct nest_operand x = seq_tensor(q, q->cc->g->ops[q->op].in[0]);
	struct nest_operand max = seq_fold(q, seq_nest(FUNC(RMAX), x, nest_number(0)), TYPE(INT8));
	struct nest_operand diff = seq_each(q, seq_nest(FUNC(SUB), x, max), TYPE(INT16));

	diff.zp = -255;
	struct nest_operand e = seq_each(q, seq_table(FUNC(LOOKUP), diff, table, 255), TYPE(INT32));
	struct nest_operand e12 = seq_each(q, seq_round(seq_nest(FUNC(SHR), e, nest_number(12))), TYPE(INT32));
	struct nest_operand sum = seq_fold(q, seq_nest(FUNC(SUM), e12, nest_number(0)), TYPE(INT32));
	struct nest_operand zeros = seq_row(q, seq_nest(FUNC(CLZ), sum, nest_number(0)), TYPE(UINT8));
	struct nest_operand norm = seq_row(q, seq_nest(FUNC(SHL), sum, zeros), TYPE(INT32));
	struct nest_operand part = seq_row(q, seq_nest(FUNC(XOR), norm, nest_number(INT32_MIN)), TYPE(INT32));
	struct nest_operand inverse = seq_reciprocal(q, part, true);
	/* The framework rounds the product at bit 31 and the result once more, as RESCALE does with shifts above 31. */
	struct nest_operand right = seq_row(q, seq_clamp(seq_nest(FUNC(RSUB), zeros, nest_number(31 + 12 + drop)), 31, 62), TYPE(UINT8));
	struct loop_nest last = seq_clamp(seq_round(seq_nest(FUNC(RESCALE), e, inverse)), lo, -1 - lo);
	last.c = right;
	last.y.zp = lo;
	return seq_end(q, last);
}

/*
 * Match TFL_SOFTMAX i of int8 (result int8 or int16) as nests, part by part (seq_cut()). Returns 1 if it was matched; 0
 * if rows have more than SOFTMAX8_MOST elements or the scale is negative, with the reason set; or a
 * negative errno.
 */
static int softmax8(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	struct sequence q = seq_begin(cc, i);
	int32_t exps[256];
	int err = 1;

	if (q.dim[q.n_dims - 1] > SOFTMAX8_MOST)
		return cc_reason(cc, i, "rows of more than %d elements", SOFTMAX8_MOST);
	if (!weft_softmax8_exps(&o->attr.tfl_softmax, exps))
		return cc_reason(cc, i, "a negative scale");
	const struct nest_operand table = seq_const(&q, exps, sizeof exps, TYPE(INT32));
	const struct cut c = seq_cut(&q, SOFTMAX_BYTES);
	for (int64_t k = 0; k < c.parts && err > 0; k++) {
		struct sequence part = seq_part(&q, &c, k);
		err = softmax8_part(&part, table, type_of(cc, o->out[0]) == WEFT_INT16);
	}
	return err;
}

/*
 * Add the nests that compute x / 2^n of int32 x, which may be negative, rounded to the nearest number,
 * halves away from zero. Returns the results as a value of int32, or with n = 0 x itself; errors go to
 * q->err.
 */
static struct nest_operand shift_right(struct sequence *q, struct nest_operand x, int n)
{
	if (!n)
		return x;
	struct nest_operand sign = seq_each(q, seq_nest(FUNC(SHR), x, nest_number(31)), TYPE(INT8));
	struct nest_operand sum = seq_each(q, seq_nest(FUNC(ADD), x, sign), TYPE(INT48));

	return seq_each(q, seq_round(seq_nest(FUNC(SHR), sum, nest_number(n))), TYPE(INT32));
}

/* The tables of SOFTMAX of int16, as constants of the program: exponentials and reciprocals. */
struct tables16 { struct nest_operand exps, inverses; };

/*
 * Add the nests of TFL_SOFTMAX of int16 for one part of its result: they find exponentials, and for each row the reciprocal of their
 * sum, by interpolation in tables; t says how differences are scaled. Returns 1 or a negative errno.
 */
static int softmax16_part(struct sequence *q, const struct weft_softmax16 *t, const struct tables16 *tables)
{
	struct nest_operand x = seq_tensor(q, q->cc->g->ops[q->op].in[0]);
	struct nest_operand max = seq_fold(q, seq_nest(FUNC(RMAX), x, nest_number(0)), TYPE(INT16));
	struct nest_operand diff = seq_each(q, seq_nest(FUNC(SUB), x, max), TYPE(INT32));

	if (t->left)
		diff = seq_each(q, seq_clamp(seq_nest(FUNC(SHL), diff, nest_number(t->left)), INT32_MIN, INT32_MAX), TYPE(INT32));
	struct nest_operand scaled = seq_each(q, seq_mul(diff, nest_number(t->multiplier), 31), TYPE(INT32));
	scaled = shift_right(q, scaled, t->right);
	/* -65535 becomes 0 and 0 65535; what is less counts as the former. */
	struct loop_nest place = seq_clamp(seq_nest(FUNC(ADD), scaled, nest_number(UINT16_MAX)), 0, UINT16_MAX);
	struct nest_operand at = seq_each(q, place, TYPE(UINT16));
	struct nest_operand fine = seq_each(q, seq_table(FUNC(INTERP), at, tables->exps, WEFT_SOFTMAX16_STEPS - 1), TYPE(INT32));
	struct nest_operand e = seq_each(q, seq_round(seq_nest(FUNC(SHR), fine, nest_number(7))), TYPE(INT32));
	struct nest_operand sum = seq_fold(q, seq_nest(FUNC(SUM), e, nest_number(0)), TYPE(INT32));
	struct nest_operand zeros = seq_row(q, seq_nest(FUNC(CLZ), sum, nest_number(0)), TYPE(UINT8));
	struct nest_operand left = seq_row(q, seq_nest(FUNC(SUB), zeros, nest_number(1)), TYPE(UINT8));
	struct nest_operand norm = seq_row(q, seq_nest(FUNC(SHL), sum, left), TYPE(INT32));
	struct loop_nest excess = seq_clamp(seq_round(seq_nest(FUNC(SHR), norm, nest_number(14))), 0, UINT16_MAX);
	excess.y.zp = -65536;
	at = seq_row(q, excess, TYPE(UINT16));
	fine = seq_row(q, seq_table(FUNC(INTERP), at, tables->inverses, WEFT_SOFTMAX16_STEPS - 1), TYPE(INT32));
	struct nest_operand inverse = seq_row(q, seq_round(seq_nest(FUNC(SHR), fine, nest_number(7))), TYPE(INT32));
	struct nest_operand right = seq_row(q, seq_nest(FUNC(RSUB), zeros, nest_number(31)), TYPE(UINT8));
	struct loop_nest last = seq_clamp(seq_nest(FUNC(RESCALE), e, inverse), 0, INT16_MAX);
	last.c = right;
	return seq_end(q, last);
}

/*
 * Match TFL_SOFTMAX i of int16 as nests, part by part (seq_cut()). Returns 1 if it was matched; 0 if rows have more than
 * SOFTMAX16_MOST elements, or the scale is negative or above 2^31, with the reason set; or a negative
 * errno.
 */
static int softmax16(struct cc *cc, int i)
{
	struct sequence q = seq_begin(cc, i);
	struct weft_softmax16 t;
	int err = 1;

	if (q.dim[q.n_dims - 1] > SOFTMAX16_MOST)
		return cc_reason(cc, i, "rows of more than %d elements", SOFTMAX16_MOST);
	if (!weft_softmax16_init(&t, &cc->g->ops[i].attr.tfl_softmax))
		return cc_reason(cc, i, "a negative scale, or one above 2^31");
	const struct tables16 tables = { .exps = seq_const(&q, t.exp, sizeof t.exp, TYPE(INT16)),
	                                 .inverses = seq_const(&q, t.reciprocal, sizeof t.reciprocal, TYPE(INT16)) };
	const struct cut c = seq_cut(&q, SOFTMAX_BYTES);
	for (int64_t k = 0; k < c.parts && err > 0; k++) {
		struct sequence part = seq_part(&q, &c, k);
		err = softmax16_part(&part, &t, &tables);
	}
	return err;
}

/*
 * Match TFL_LOGISTIC or TFL_TANH i of int16 as nests: interpolation between entries of a table of 1/(1 +
 * e^-x) for |x|, whose intervals have 2^bits steps (9 for LOGISTIC, 8 for TANH), then the sign. The table
 * is moved down by half of its unit, so that the sign is an exclusive or. Returns 1 or a negative errno.
 */
static int sigmoid16(struct cc *cc, int i, int bits)
{
	enum { LAST = WEFT_SIGMOID16_ENTRIES - 1 };
	const struct weft_gop *o = &cc->g->ops[i];
	bool is_tanh = o->op == WEFT_OP_TFL_TANH;
	int32_t base[LAST + 1], middle = is_tanh ? 1 << 23 : 1 << 24;
	struct sequence q = seq_begin(cc, i);
	struct weft_sigmoid16 s;
	uint16_t rise[LAST + 1];

	weft_sigmoid16_scale(&s, o->attr.quant.x_scale, is_tanh);
	for (int k = 0; k < LAST; k++) {
		base[k] = (s.table[k] << bits) - middle;
		rise[k] = (uint16_t)(s.table[k + 1] - s.table[k]);
	}
	base[LAST] = (is_tanh ? 0xFFFF << 8 : 0x7FFF << 10) - middle;
	rise[LAST] = 0;
	struct nest_operand lines = seq_const(&q, base, sizeof base, TYPE(INT32)), rises = seq_const(&q, rise, sizeof rise, TYPE(UINT16));
	struct nest_operand v = seq_each(&q, seq_mul(seq_tensor(&q, o->in[0]), nest_number(s.multiplier), s.shift), TYPE(INT32));
	struct loop_nest size = seq_clamp(seq_nest(FUNC(ABS), v, nest_number(0)), 0, LAST << bits);
	struct nest_operand u = seq_each(&q, size, TYPE(INT32));
	struct nest_operand at = seq_each(&q, seq_nest(FUNC(SHR), u, nest_number(bits)), TYPE(UINT8));
	struct nest_operand part = seq_each(&q, seq_nest(FUNC(AND), u, nest_number((1 << bits) - 1)), TYPE(UINT16));
	struct nest_operand slope = seq_each(&q, seq_table(FUNC(LOOKUP), at, rises, LAST), TYPE(UINT16));
	struct nest_operand up = seq_each(&q, seq_mul(part, slope, 0), TYPE(INT32));
	struct nest_operand line = seq_each(&q, seq_table(FUNC(LOOKUP), at, lines, LAST), TYPE(INT32));
	struct nest_operand r = seq_each(&q, seq_nest(FUNC(ADD), line, up), TYPE(INT32));
	struct nest_operand sign = seq_each(&q, seq_nest(FUNC(SHR), v, nest_number(31)), TYPE(INT8));
	struct nest_operand w = seq_each(&q, seq_nest(FUNC(XOR), r, sign), TYPE(INT32));
	struct loop_nest last = seq_round(seq_nest(FUNC(SHR), w, nest_number(is_tanh ? 8 : 10)));
	last.y.zp = is_tanh ? 0 : 1 << 14;
	return seq_end(&q, last);
}

/*
 * Returns whether operator i, a function of int16, shall be looked up in a table of all its results: the
 * result has at least WORTH_A_TABLE elements, and the usable scratchpad twice the table's bytes.
 */
static bool worth_a_table(const struct cc *cc, int i)
{
	const int64_t table = 65536 * 2;

	return weft_tensor_elements(&cc->g->tensors[cc->g->ops[i].out[0]].t) >= WORTH_A_TABLE && cc->sp_bytes >= 2 * table;
}

/*
 * Returns whether operator i only gives its operand another scale or type. True for TFL_DEQUANTIZE, a RESCALE
 * to unsigned, and operators that come from an operator of the source file named QUANTIZE, which importers
 * lower to several.
 */
static bool requantises(const struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];

	return o->op == WEFT_OP_TFL_DEQUANTIZE || (o->op == WEFT_OP_RESCALE && o->attr.rescale.y_unsigned) ||
	       (o->src >= 0 && !strcmp(cc->g->srcs[o->src].name, "QUANTIZE"));
}

/*
 * Returns whether everything that is made of tensor t is an output of the graph. Tensor t must be an output
 * or have a reader, and each reader must be a requantisation (requantises()), RESHAPE or IDENTITY whose
 * result leads out by the same rule.
 */
static bool leads_out(const struct cc *cc, int t)
{
	const struct cten *x = &cc->ten[t];
	bool out = cc->g->tensors[t].is_output || x->n_uses;

	for (int k = 0; k < x->n_uses && out; k++) {
		int i = cc->uses[x->first_use + k];
		const struct weft_gop *reader = &cc->g->ops[i];
		out = (requantises(cc, i) || reader->op == WEFT_OP_RESHAPE || reader->op == WEFT_OP_IDENTITY) && leads_out(cc, reader->out[0]);
	}
	return out;
}

/*
 * Leaves operator i to the host, together with each reader that requantises its result (requantises()) and
 * the readers of that result by the same rule. They become forbidden; one that was not forbidden before
 * gets the reason "at the network's end". Returns 0 or -ENOMEM.
 */
static int leave(struct cc *cc, int i)
{
	const struct cten *y = &cc->ten[cc->g->ops[i].out[0]];
	int err = cc->ops[i].forbidden ? 0 : cc_reason(cc, i, "at the network's end");

	cc->ops[i].forbidden = true;
	for (int k = 0; k < y->n_uses && !err; k++) {
		if (requantises(cc, cc->uses[y->first_use + k]))
			err = leave(cc, cc->uses[y->first_use + k]);
	}
	return err;
}

/*
 * Returns whether operator i is a TFL_CAST that writes an int64 output of the network of more than LONG_END
 * elements. The words that the device would write are twice what the host needs to read.
 */
static bool is_long_end(const struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];

	return o->op == WEFT_OP_TFL_CAST && type_of(cc, o->out[0]) == WEFT_INT64 && cc->g->tensors[o->out[0]].is_output &&
	       weft_tensor_elements(&cc->g->tensors[o->out[0]].t) > LONG_END;
}

/*
 * Leave to the host, in a network with a CONV2D, DEPTHWISE_CONV2D or MATMUL, every TFL_SOFTMAX whose result
 * only leads to outputs (leads_out()) and every cast to a long int64 output (is_long_end()), with what only
 * requantises their results: they become forbidden, with a reason. The host reads these results anyway, and
 * computes them in less time than the commands take. Other networks are left alone. Returns 0 or -ENOMEM.
 */
int tfl_leave_ends(struct cc *cc)
{
	bool products = false;
	int err = 0;

	for (int i = 0; i < cc->g->n_ops; i++) {
		weft_opcode op = cc->g->ops[i].op;
		products |= op == WEFT_OP_CONV2D || op == WEFT_OP_DEPTHWISE_CONV2D || op == WEFT_OP_MATMUL;
	}
	for (int i = 0; i < cc->g->n_ops && products && !err; i++)
		if (is_long_end(cc, i) || (cc->g->ops[i].op == WEFT_OP_TFL_SOFTMAX && leads_out(cc, cc->g->ops[i].out[0])))
			err = leave(cc, i);
	return err;
}

/*
 * Returns the command's type of integers for a cast, -1 where it has none: int64 is read as its low 48 bits,
 * and written as an int48, whose 8 bytes are those of an int64 of the same value.
 */
static int cast_type(weft_dtype t)
{
	return t == WEFT_INT64 ? TYPE(INT48) : weft_is_float(t) ? -1 : alu_type(t, false);
}

/*
 * Match TFL_CAST i between integers as a copy that keeps the low bits, as C does; int64 is read as its low
 * 48 bits and written as int48. Returns 1 if it was matched; 0 if one type is a float or unknown to the
 * command, the result is bool (a comparison) or both are int64, with the reason set; or a negative errno.
 */
static int cast(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	weft_dtype from = type_of(cc, o->in[0]), to = type_of(cc, o->out[0]);
	struct sequence q = seq_begin(cc, i);

	if (cast_type(from) < 0 || cast_type(to) < 0 || to == WEFT_BOOL || (from == WEFT_INT64 && to == WEFT_INT64))
		return cc_reason(cc, i, "%s to %s", weft_dtype_name(from), weft_dtype_name(to));
	struct nest_operand x = seq_tensor(&q, o->in[0]);
	x.type = cast_type(from);
	int err = seq_end(&q, seq_nest(FUNC(MOVE), x, nest_number(0)));
	if (err > 0)
		cc->nests[cc->n_nests - 1].y.type = cast_type(to);
	return err;
}

/*
 * Match operator i of TensorFlow Lite as nests: SOFTMAX; LOGISTIC and TANH, computed (sigmoid16()) if they
 * are int16 and worth_a_table() does not hold, which asks for WORTH_A_TABLE elements and room in the
 * scratchpad, else by a table; CAST; RESIZE_BILINEAR, by the elementwise engine if lines repeat regularly;
 * and REQUANTIZE. Returns 1 if it was matched, 0 if it is another operator (no reason is set) or cannot be
 * (the reason then is set), or a negative errno.
 */
int match_tfl(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	bool wide = type_of(cc, o->in[0]) == WEFT_INT16;
	int err;

	switch (o->op) {
	case WEFT_OP_TFL_SOFTMAX:
		return wide ? softmax16(cc, i) : softmax8(cc, i);
	case WEFT_OP_TFL_LOGISTIC:
	case WEFT_OP_TFL_TANH:
		if (!wide || worth_a_table(cc, i))
			return match_by_table(cc, i);
		return sigmoid16(cc, i, o->op == WEFT_OP_TFL_TANH ? 8 : 9);
	case WEFT_OP_TFL_CAST:
		return cast(cc, i);
	case WEFT_OP_TFL_RESIZE_BILINEAR:
		err = match_tfl_resize_regular(cc, i);
		return err ? err : match_tfl_resize(cc, i);
	case WEFT_OP_TFL_REQUANTIZE:
		return match_tfl_requantize(cc, i);
	default:
		return 0;
	}
}
