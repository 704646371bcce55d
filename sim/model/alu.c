/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alu: an integer operation on each element.
 *
 * Source: include/spec/cmd.toml, cmd.alu; the operations are TOSA 1.0's.
 */
#include <errno.h>

#include "state.h"

#define FUNC(name) WEFT_ALU_FUNC_##name
#define TYPE(name) WEFT_ALU_A_TYPE_##name   /* of all operands */

/* Place in the four dimensions. */
struct place { uint32_t i[4]; };

struct operand {
	uint32_t base, step[4];
	int32_t type;
};

static uint32_t type_bytes(int32_t t)
{
	static const uint8_t bytes[] = { 1, 2, 4, 8, 1, 2, 4 };

	return bytes[t];
}

static uint32_t address(const struct operand *o, const struct place *p)
{
	uint32_t at = o->base;

	for (int k = 0; k < 4; k++)
		at += p->i[k] * o->step[k];
	return at & SP_ADDR_MASK;
}

static int64_t widen(int32_t t, uint64_t v)
{
	switch (t) {
	case TYPE(INT8):
		return (int8_t)v;
	case TYPE(INT16):
		return (int16_t)v;
	case TYPE(INT32):
		return (int32_t)v;
	case TYPE(INT48):
		return wrap48(v);
	default:
		return (int64_t)v;
	}
}

static int get(struct weft_model *m, int32_t t, uint32_t at, int64_t *v)
{
	uint8_t raw[8];
	uint32_t n = t == TYPE(INT48) ? 6 : type_bytes(t);
	uint64_t bits = 0;
	int ret = model_read(m, at, raw, n);

	for (uint32_t i = n; !ret && i-- > 0; )
		bits = bits << 8 | raw[i];
	*v = widen(t, bits);
	return ret;
}

static int put(struct weft_model *m, int32_t t, uint32_t at, int64_t v)
{
	uint8_t raw[8];

	for (uint32_t i = 0; i < 8; i++)
		raw[i] = (uint8_t)((uint64_t)v >> (8 * i));
	return model_write(m, at, raw, type_bytes(t));
}

struct alu {
	struct weft_model *m;
	const struct weft_cmd_alu *c;
	struct operand a, b, x, out;          /* x is the third operand */
};

/* Operands that a function names. */
static bool uses_b(int32_t f)
{
	return (f >= FUNC(ADD) && f <= FUNC(MIN)) || (f >= FUNC(AND) && f <= FUNC(GE)) || f == FUNC(SELECT) || f == FUNC(RESCALE) || f == FUNC(SCATTER) || f == FUNC(DOT);
}

static bool uses_c(int32_t f)
{
	return f == FUNC(SELECT) || f == FUNC(RESCALE);
}

static int get_a(const struct alu *u, const struct place *p, int64_t *v)
{
	int ret = get(u->m, u->a.type, address(&u->a, p), v);

	*v = wrap48((uint64_t)(*v - u->c->a_zp));
	return ret;
}

static int get_b(const struct alu *u, const struct place *p, int64_t *v)
{
	int ret = 0;

	*v = u->c->b_value;
	if (!u->c->b_imm) {
		ret = get(u->m, u->b.type, address(&u->b, p), v);
		*v = wrap48((uint64_t)(*v - u->c->b_zp));
	}
	return ret;
}

static int get_c(const struct alu *u, const struct place *p, int64_t *v)
{
	*v = u->c->c_value;
	return u->c->c_imm ? 0 : get(u->m, u->x.type, address(&u->x, p), v);
}

/* lookup, interp: the element of b at an index. */
static int get_indexed(const struct alu *u, const struct place *p, int64_t index, int64_t *v)
{
	uint32_t at = address(&u->b, p) + (uint32_t)index * (uint32_t)u->c->idx_step;
	int ret = get(u->m, u->b.type, at & SP_ADDR_MASK, v);

	*v = wrap48((uint64_t)(*v - u->c->b_zp));
	return ret;
}

static int64_t clip_index(const struct alu *u, int64_t i)
{
	return i < 0 ? 0 : i > u->c->idx_last ? u->c->idx_last : i;
}

static int interpolate(const struct alu *u, const struct place *p, int64_t a, int64_t *v)
{
	uint32_t j = (uint32_t)a & 0xffff;
	int64_t i = clip_index(u, j >> 7), t0 = 0, t1 = 0;
	int ret = get_indexed(u, p, i, &t0);

	if (!ret)
		ret = get_indexed(u, p, i + 1, &t1);
	*v = t0 * 128 + (t1 - t0) * (int64_t)(j & 127);
	return ret;
}

static int64_t multiply(int64_t a, int64_t b, unsigned shift)
{
	/* Two int32: below 2^63 also with the rounding. */
	int64_t p = (int64_t)(int32_t)a * (int32_t)b;

	return shift ? (int64_t)((uint64_t)p + (UINT64_C(1) << (shift - 1))) >> shift : p;
}

static int64_t shift_right(int64_t a, unsigned n, bool round)
{
	int64_t v = a >> n;

	return round && n ? v + (a >> (n - 1) & 1) : v;
}

static int64_t zeros(uint32_t v)
{
	int64_t n = 32;

	for (; v; v >>= 1)
		n--;
	return n;
}

/* Not the post unit's: a shift of 0 shifts nothing, and the sum wraps in 64 bits. */
static int64_t rescale(const struct alu *u, int64_t a, int64_t b, int64_t c)
{
	const bool wide = u->a.type == TYPE(INT48);
	const int64_t v = wide ? a : (int32_t)a;
	const unsigned shift = (unsigned)c & 63;
	uint64_t sum = (uint64_t)(v * (wide ? (int16_t)b : (int32_t)b));

	if (!shift)
		return (int32_t)(uint32_t)sum;
	sum += UINT64_C(1) << (shift - 1);
	if (u->c->round && !u->c->even && shift > 31)
		sum += v >= 0 ? UINT64_C(1) << 30 : -(UINT64_C(1) << 30);
	const uint32_t up = (uint32_t)(uint64_t)((int64_t)sum >> shift);
	const bool tie = u->c->even && !(sum & ((UINT64_C(1) << shift) - 1));
	return (int32_t)(tie ? up & ~1u : up);
}

static int64_t combine(const struct alu *u, int64_t a, int64_t b, int64_t c)
{
	switch (u->c->func) {
	case FUNC(ADD):
		return a + b;
	case FUNC(SUB):
		return a - b;
	case FUNC(RSUB):
		return b - a;
	case FUNC(MUL):
		return multiply(a, b, (unsigned)u->c->shift);
	case FUNC(MAX):
		return a > b ? a : b;
	case FUNC(MIN):
		return a < b ? a : b;
	case FUNC(ABS):
		return a < 0 ? -a : a;
	case FUNC(AND):
		return a & b;
	case FUNC(OR):
		return a | b;
	case FUNC(XOR):
		return a ^ b;
	case FUNC(SHL):
		return (int64_t)((uint64_t)a << (b & 63));
	case FUNC(SHR):
		return shift_right(a, (unsigned)b & 63, u->c->round);
	case FUNC(EQ):
		return a == b;
	case FUNC(GT):
		return a > b;
	case FUNC(GE):
		return a >= b;
	case FUNC(SELECT):
		return c ? a : b;
	case FUNC(CLZ):
		return zeros((uint32_t)a);
	case FUNC(RESCALE):
		return rescale(u, a, b, c);
	default:
		return a;
	}
}

static int64_t finish(const struct alu *u, int64_t v)
{
	const struct weft_cmd_alu *c = u->c;

	v = wrap48((uint64_t)wrap48((uint64_t)v) + (uint64_t)(int64_t)c->out_zp);
	if (c->clamp) {
		v = v < c->lo ? c->lo : v;
		v = v > c->hi ? c->hi : v;
	}
	return v;
}

static int element(const struct alu *u, const struct place *p)
{
	int32_t f = u->c->func;
	uint32_t at = address(&u->out, p);
	int64_t a, b = 0, c = 0, v;
	int ret = get_a(u, p, &a);

	if (!ret && uses_b(f))
		ret = get_b(u, p, &b);
	if (!ret && uses_c(f))
		ret = get_c(u, p, &c);
	if (ret)
		return ret;
	v = combine(u, a, b, c);
	if (f == FUNC(LOOKUP))
		ret = get_indexed(u, p, clip_index(u, a), &v);
	else if (f == FUNC(INTERP))
		ret = interpolate(u, p, a, &v);
	if (f == FUNC(SCATTER))
		at += (uint32_t)clip_index(u, b) * (uint32_t)u->c->idx_step;
	return ret ? ret : put(u->m, u->out.type, at & SP_ADDR_MASK, finish(u, v));
}

/* What a reduction knows so far. */
static int64_t fold(int32_t f, int64_t acc, int64_t v)
{
	switch (f) {
	case FUNC(RMAX):
	case FUNC(ARGMAX):
		return v > acc ? v : acc;
	case FUNC(RMIN):
		return v < acc ? v : acc;
	case FUNC(RAND):
		return acc & v;
	case FUNC(ROR):
		return acc | v;
	default:
		return wrap48((uint64_t)acc + (uint64_t)v);
	}
}

/* One element of out from all along dimension 1. */
static int reduce(const struct alu *u, struct place p)
{
	int32_t f = u->c->func;
	int64_t acc = 0, best = 0, a, b = 0;
	uint32_t at;

	for (p.i[1] = 0; p.i[1] < (uint32_t)u->c->n1; p.i[1]++) {
		int ret = get_a(u, &p, &a);

		if (!ret && f == FUNC(DOT)) {
			ret = get_b(u, &p, &b);
			a = (int64_t)(int32_t)a * (int32_t)b;
		}
		if (ret)
			return ret;
		if (p.i[1] && a > acc)
			best = p.i[1];
		acc = p.i[1] ? fold(f, acc, a) : wrap48((uint64_t)a);
	}
	p.i[1] = 0;
	at = address(&u->out, &p);
	return put(u->m, u->out.type, at, finish(u, f == FUNC(ARGMAX) ? best : acc));
}

#define OPERAND(name) \
	(struct operand){ (uint32_t)c->name##_base, { (uint32_t)c->name##_s0, (uint32_t)c->name##_s1, \
			  (uint32_t)c->name##_s2, (uint32_t)c->name##_s3 }, c->name##_type }

int model_alu(struct weft_model *m, const struct weft_cmd *cmd)
{
	const struct weft_cmd_alu *c = &cmd->alu;
	struct alu u = { m, c, OPERAND(a), OPERAND(b), OPERAND(c), OPERAND(out) };
	bool reduces = c->func >= FUNC(SUM);
	struct place p;
	int ret = 0;

	for (p.i[3] = 0; !ret && p.i[3] < (uint32_t)c->n3; p.i[3]++)
	for (p.i[2] = 0; !ret && p.i[2] < (uint32_t)c->n2; p.i[2]++)
	for (p.i[1] = 0; !ret && p.i[1] < (reduces ? 1 : (uint32_t)c->n1); p.i[1]++)
	for (p.i[0] = 0; !ret && p.i[0] < (uint32_t)c->n0; p.i[0]++)
		ret = reduces ? reduce(&u, p) : element(&u, &p);
	return ret;
}
