/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integer operators on two inputs: TOSA 1.0 sections 2.5.2 to 2.5.11.
 *
 *   BITWISE_AND, _OR, _XOR and the three shifts   int8, int16, int32
 *   LOGICAL_AND, _OR, _XOR                        bool
 *   INTDIV                                        int32
 *
 * Shapes broadcast. TOSA requires shifts of 0..width-1, a divisor other than
 * 0, and no -2^31/-1: here a shift outside is an error, so is a division by 0,
 * and the quotient 2^31 wraps. ARITHMETIC_RIGHT_SHIFT with round adds the last
 * bit that was shifted out.
 */
#include "elementwise.h"

static bool is_shift(weft_opcode op)
{
	return op == WEFT_OP_ARITHMETIC_RIGHT_SHIFT || op == WEFT_OP_LOGICAL_LEFT_SHIFT ||
	       op == WEFT_OP_LOGICAL_RIGHT_SHIFT;
}

static int check(const struct weft_call *c)
{
	static const struct weft_row rows[] = {
		{ { WEFT_INT32, WEFT_INT32 }, WEFT_INT32 },
		{ { WEFT_INT16, WEFT_INT16 }, WEFT_INT16 },
		{ { WEFT_INT8, WEFT_INT8 }, WEFT_INT8 },
		{ { WEFT_BOOL, WEFT_BOOL }, WEFT_BOOL },
	};
	int err;

	switch (c->op) {
	case WEFT_OP_LOGICAL_AND:
	case WEFT_OP_LOGICAL_OR:
	case WEFT_OP_LOGICAL_XOR:
		err = weft_check_rows(c, rows + 3, 1);
		break;
	case WEFT_OP_INTDIV:
		err = weft_check_rows(c, rows, 1);
		break;
	default:
		err = weft_check_rows(c, rows, 3);
		break;
	}
	return err ? err : weft_check_broadcast(c);
}

/* Every second operand is one that the operator takes. */
static int check_values(const struct weft_call *c)
{
	const weft_tensor *b = c->x[1];
	const int64_t n = weft_tensor_elements(b), top = 8 * (int64_t)weft_dtype_bytes(b->dtype) - 1;

	for (int64_t i = 0; i < n; i++) {
		int64_t v = weft_get(b, i);

		if (is_shift(c->op) && (v < 0 || v > top))
			return weft_call_fail(c, -EINVAL, "shift %lld is %lld, outside 0..%lld", (long long)i, (long long)v,
			                      (long long)top);
		if (c->op == WEFT_OP_INTDIV && v == 0)
			return weft_call_fail(c, -EINVAL, "divisor %lld is 0", (long long)i);
	}
	return 0;
}

/* bits: the operands' width; a and b are sign-extended. */
static int64_t combine(const struct weft_call *c, int bits, int64_t a, int64_t b)
{
	switch (c->op) {
	case WEFT_OP_BITWISE_AND:
	case WEFT_OP_LOGICAL_AND: return a & b;
	case WEFT_OP_BITWISE_OR:
	case WEFT_OP_LOGICAL_OR: return a | b;
	case WEFT_OP_BITWISE_XOR:
	case WEFT_OP_LOGICAL_XOR: return a ^ b;
	case WEFT_OP_INTDIV: return a / b;
	case WEFT_OP_LOGICAL_LEFT_SHIFT: return (int64_t)((uint64_t)a << b);
	case WEFT_OP_LOGICAL_RIGHT_SHIFT: return (int64_t)(((uint64_t)a & (((uint64_t)1 << bits) - 1)) >> b);
	default: return (a >> b) + (c->attr->shift.round && b > 0 ? (a >> (b - 1)) & 1 : 0);
	}
}

int weft_golden_bitwise(const struct weft_call *c)
{
	const int bits = 8 * (int)weft_dtype_bytes(c->x[0]->dtype);
	struct weft_walk w;
	int64_t o = 0;
	int err;

	if ((err = check(c)) || (err = check_values(c)))
		return err;
	w = weft_broadcast_walk(c);
	do {
		weft_put(c->y[0], o++, combine(c, bits, weft_get(c->x[0], w.off[0]), weft_get(c->x[1], w.off[1])));
	} while (weft_walk_next(&w));
	return 0;
}
