/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on the elements of two or more tensors, which broadcast as NumPy's do. */
#include "sim/golden/onnx/ref/ref.h"

enum op { ADD, SUB, MUL, DIV, POW, MOD, AND, OR, XOR, EQ, GT, GE, LT, LE, MAX, MIN };

static enum op op_of(const struct ref *r)
{
	static const struct { const char *name; enum op op; } names[] = {
		{ "Add", ADD }, { "Sub", SUB }, { "Mul", MUL }, { "Div", DIV }, { "Pow", POW }, { "Mod", MOD }, { "And", AND }, { "Or", OR },
		{ "Xor", XOR }, { "BitwiseAnd", AND }, { "BitwiseOr", OR }, { "BitwiseXor", XOR }, { "Equal", EQ }, { "Greater", GT },
		{ "GreaterOrEqual", GE }, { "Less", LT }, { "LessOrEqual", LE }, { "Max", MAX }, { "Min", MIN }, { "Sum", ADD }, { "Mean", ADD },
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(names[i].name, r->name))
			return names[i].op;
	return ADD;
}

/* Python's remainder has the divisor's sign, C's the dividend's. */
static double remainder_of(double a, double b, bool c)
{
	double v = fmod(a, b);

	return c || v == 0 || (v < 0) == (b < 0) ? v : v + b;
}

static double on_floats(const struct ref *r, enum op op, double a, double b)
{
	switch (op) {
	case ADD: return a + b;
	case SUB: return a - b;
	case MUL: return a * b;
	case DIV: return a / b;
	case POW: return pow(a, b);
	case MOD: return remainder_of(a, b, r->a->i[0]);
	case MAX: return a != a || b != b ? NAN : a > b ? a : b;
	case MIN: return a != a || b != b ? NAN : a < b ? a : b;
	default: return 0;
	}
}

/* a^b of integers, low bits; what a negative exponent gives is cut to an integer. */
static int64_t power(int64_t a, int64_t b)
{
	uint64_t v = 1, f = (uint64_t)a;

	if (b < 0)
		return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
	for (; b; b >>= 1, f *= f)
		v *= b & 1 ? f : 1;
	return (int64_t)v;
}

/* Quotients go towards zero. A divisor of 0 gives 0. */
static int64_t divide(int64_t a, int64_t b, bool is_unsigned)
{
	if (!b)
		return 0;
	if (is_unsigned)
		return (int64_t)((uint64_t)a / (uint64_t)b);
	return b == -1 ? (int64_t)-(uint64_t)a : a / b;
}

static int64_t modulo(int64_t a, int64_t b, bool is_unsigned, bool c)
{
	if (!b || (b == -1 && !is_unsigned))
		return 0;
	if (is_unsigned)
		return (int64_t)((uint64_t)a % (uint64_t)b);
	int64_t v = a % b;
	return c || !v || (v < 0) == (b < 0) ? v : v + b;
}

static bool above(int64_t a, int64_t b, bool is_unsigned)
{
	return is_unsigned ? (uint64_t)a > (uint64_t)b : a > b;
}

static int64_t on_integers(const struct ref *r, enum op op, int64_t a, int64_t b, bool is_unsigned)
{
	switch (op) {
	case ADD: return ref_add(a, b);
	case SUB: return ref_sub(a, b);
	case MUL: return ref_mul(a, b);
	case DIV: return divide(a, b, is_unsigned);
	case POW: return power(a, b);
	case MOD: return modulo(a, b, is_unsigned, r->a->i[0]);
	case AND: return a & b;
	case OR: return a | b;
	case XOR: return a ^ b;
	case MAX: return above(a, b, is_unsigned) ? a : b;
	case MIN: return above(a, b, is_unsigned) ? b : a;
	default: return 0;
	}
}

/* The shape that operands first..last broadcast to, of result 0. */
static int common(struct ref *r, int first, int last, weft_dtype t)
{
	int64_t dim[WEFT_MAX_RANK];
	int rank = 0, err = 0;

	for (int k = first; k <= last && !err; k++) {
		err = ref_need(r, k);
		err = err ? err : ref_broadcast(r, &rank, dim, r->x[k]);
	}
	return err ? err : ref_y(r, 0, t, rank, dim);
}

int ref_binary(struct ref *r)
{
	const weft_tensor *a = r->x[0], *b = r->x[1];
	const enum op op = op_of(r);
	int64_t at[WEFT_MAX_RANK];

	if (a->dtype != b->dtype && op != POW)
		return ref_fail(r, -EINVAL, "%s and %s", weft_dtype_name(a->dtype), weft_dtype_name(b->dtype));
	int err = common(r, 0, 1, a->dtype);
	if (err || r->shapes)
		return err;
	weft_tensor *y = r->y[0];
	const bool floats = ref_floats(a->dtype) || ref_floats(b->dtype);
	for (int64_t i = 0, n = REF_N(y); i < n; i++) {
		ref_split(i, y->rank, y->dim, at);
		const int64_t p = ref_at(a, y->rank, at), q = ref_at(b, y->rank, at);
		if (floats)
			ref_put_f(y, i, on_floats(r, op, ref_f(a, p), ref_f(b, q)));
		else
			ref_put_i(y, i, on_integers(r, op, ref_i(a, p), ref_i(b, q), ref_unsigned(a->dtype)));
	}
	return 0;
}

int ref_bit_shift(struct ref *r)
{
	const weft_tensor *a = r->x[0], *b = r->x[1];
	int64_t at[WEFT_MAX_RANK];
	int err = ref_unsigned(a->dtype) && a->dtype == b->dtype ? common(r, 0, 1, a->dtype) : ref_fail(r, -EINVAL, "%s", weft_dtype_name(a->dtype));

	if (err || r->shapes)
		return err;
	weft_tensor *y = r->y[0];
	for (int64_t i = 0, n = REF_N(y); i < n; i++) {
		ref_split(i, y->rank, y->dim, at);
		const uint64_t v = (uint64_t)ref_i(a, ref_at(a, y->rank, at)), by = (uint64_t)ref_i(b, ref_at(b, y->rank, at));
		ref_put_i(y, i, by > 63 ? 0 : (int64_t)(r->a->i[0] ? v >> by : v << by));
	}
	return 0;
}

static bool holds(enum op op, const weft_tensor *a, int64_t p, const weft_tensor *b, int64_t q)
{
	if (ref_floats(a->dtype)) {
		const double v = ref_f(a, p), w = ref_f(b, q);
		return op == EQ ? v == w : op == GT ? v > w : op == GE ? v >= w : op == LT ? v < w : v <= w;
	}
	const int64_t v = ref_i(a, p), w = ref_i(b, q);
	const bool u = ref_unsigned(a->dtype);
	return op == EQ ? v == w : op == GT ? above(v, w, u) : op == GE ? !above(w, v, u) : op == LT ? above(w, v, u) : !above(v, w, u);
}

int ref_compare(struct ref *r)
{
	const weft_tensor *a = r->x[0], *b = r->x[1];
	const enum op op = op_of(r);
	int64_t at[WEFT_MAX_RANK];
	int err = a->dtype == b->dtype ? common(r, 0, 1, WEFT_BOOL) : ref_fail(r, -EINVAL, "%s and %s", weft_dtype_name(a->dtype), weft_dtype_name(b->dtype));

	if (err || r->shapes)
		return err;
	weft_tensor *y = r->y[0];
	for (int64_t i = 0, n = REF_N(y); i < n; i++) {
		ref_split(i, y->rank, y->dim, at);
		((uint8_t *)y->data)[i] = holds(op, a, ref_at(a, y->rank, at), b, ref_at(b, y->rank, at));
	}
	return 0;
}

/* Max, Min, Sum, Mean: rounded after every operand. */
int ref_variadic(struct ref *r)
{
	const weft_dtype t = r->x[0]->dtype;
	const bool mean = !strcmp(r->name, "Mean");
	const enum op op = op_of(r);
	int64_t at[WEFT_MAX_RANK];
	int err = common(r, 0, r->n_x - 1, t);

	for (int k = 1; k < r->n_x && !err; k++)
		if (r->x[k]->dtype != t)
			err = ref_fail(r, -EINVAL, "%s and %s", weft_dtype_name(t), weft_dtype_name(r->x[k]->dtype));
	if (err || r->shapes)
		return err;
	weft_tensor *y = r->y[0];
	for (int64_t i = 0, n = REF_N(y); i < n; i++) {
		ref_split(i, y->rank, y->dim, at);
		int64_t p = ref_at(r->x[0], y->rank, at), w = ref_floats(t) ? 0 : ref_i(r->x[0], p);
		double v = ref_floats(t) ? ref_f(r->x[0], p) : 0;
		for (int k = 1; k < r->n_x; k++) {
			p = ref_at(r->x[k], y->rank, at);
			if (ref_floats(t))
				v = ref_round(t, on_floats(r, op, v, ref_f(r->x[k], p)));
			else
				w = on_integers(r, op, w, ref_i(r->x[k], p), ref_unsigned(t));
		}
		if (ref_floats(t))
			ref_put_f(y, i, mean ? v / r->n_x : v);
		else
			ref_put_i(y, i, mean ? w / r->n_x : w);
	}
	return 0;
}

int ref_where(struct ref *r)
{
	int64_t at[WEFT_MAX_RANK];
	int err = r->x[1]->dtype == r->x[2]->dtype ? common(r, 0, 2, r->x[1]->dtype) : ref_fail(r, -EINVAL, "operands of two types");

	if (err || r->shapes)
		return err;
	weft_tensor *y = r->y[0];
	for (int64_t i = 0, n = REF_N(y); i < n; i++) {
		ref_split(i, y->rank, y->dim, at);
		const weft_tensor *from = r->x[ref_i(r->x[0], ref_at(r->x[0], y->rank, at)) ? 1 : 2];
		ref_copy(y, i, from, ref_at(from, y->rank, at));
	}
	return 0;
}

int ref_prelu(struct ref *r)
{
	const weft_tensor *x = r->x[0], *slope = r->x[1];
	int64_t at[WEFT_MAX_RANK];
	int err = ref_fits(r, 1, x);

	err = err ? err : ref_y_like(r, 0, x);
	if (err || r->shapes)
		return err;
	for (int64_t i = 0, n = REF_N(x); i < n; i++) {
		ref_split(i, x->rank, x->dim, at);
		const int64_t q = ref_at(slope, x->rank, at);
		if (ref_floats(x->dtype))
			ref_put_f(r->y[0], i, ref_f(x, i) < 0 ? ref_f(x, i) * ref_f(slope, q) : ref_f(x, i));
		else
			ref_put_i(r->y[0], i, !ref_unsigned(x->dtype) && ref_i(x, i) < 0 ? ref_mul(ref_i(x, i), ref_i(slope, q)) : ref_i(x, i));
	}
	return 0;
}

/* Limits are attributes before opset 11, operands of one element since. The lower limit comes first. */
int ref_clip(struct ref *r)
{
	const weft_tensor *x = r->x[0], *lo = r->n_x > 1 ? r->x[1] : NULL, *hi = r->n_x > 2 ? r->x[2] : NULL;
	int err = ref_count(r, 1, 1, true);

	err = err ? err : ref_count(r, 2, 1, true);
	err = err ? err : ref_y_like(r, 0, x);

	if (err || r->shapes)
		return err;
	for (int64_t i = 0, n = REF_N(x); i < n; i++) {
		if (ref_floats(x->dtype)) {
			double v = ref_f(x, i), least = lo ? ref_f(lo, 0) : (double)r->a->f[0], most = hi ? ref_f(hi, 0) : (double)r->a->f[1];
			v = v < least ? least : v;
			ref_put_f(r->y[0], i, v > most ? most : v);
			continue;
		}
		const bool u = ref_unsigned(x->dtype);
		int64_t v = ref_i(x, i);
		v = lo && above(ref_i(lo, 0), v, u) ? ref_i(lo, 0) : v;
		ref_put_i(r->y[0], i, hi && above(v, ref_i(hi, 0), u) ? ref_i(hi, 0) : v);
	}
	return 0;
}
