/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators on single elements of 8 bits. Each becomes a TABLE, which is filled
 * here with TFLite's own arithmetic for each of the 256 values. uint8 is taken
 * as int8: values and zero points both move by 128, so the formulas, which use
 * only their differences, stay the same (TANH and LOGISTIC of uint8 are computed
 * in float32). LEAKY_RELU, TANH and LOGISTIC take int16 as well.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "sim/golden/tfl/fixed_exp.h"
#include "sim/golden/golden.h"
#include "tflite_lower.h"

/* What the functions of one value below need. */
struct unary {
	struct tfl_quant x, y;         /* quantisation of operand and result */
	struct tfl_factor f[2];        /* factors, whose meaning each function has for itself */
	float alpha;                   /* LEAKY_RELU's slope */
	float (*real)(float, float);   /* the function of a real number and alpha, for operators computed in float32 */
	int16_t hard_m[2];             /* HARD_SWISH: multipliers for the result and the gate, Q0.15 */
	int hard_shift[2];             /* and their shifts to the left */
	int left, radius;              /* radius: TANH and LOGISTIC are at the end of their range from this |v| on */
};

/* Returns v limited to lo..hi. */
static int64_t clip(int64_t v, int64_t lo, int64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

/* Returns v times factor f, rounded twice as TFLite does. */
static int32_t scaled(int32_t v, const struct tfl_factor *f)
{
	return weft_apply_scale_32(v, f->multiplier, f->shift, true);
}

/* ---- one value each: v = q - zero point to the result less its zero point ---- */

/*
 * Returns LEAKY_RELU of v, a code less its zero point, in the result's units: v times f[0], or below 0
 * |v| or v times f[1], by the sign of alpha.
 */
static int64_t leaky_relu(const struct unary *u, int32_t v)
{
	return v < 0 ? scaled(u->alpha < 0 ? -v : v, &u->f[1]) : scaled(v, &u->f[0]);
}

/* Returns the magnitude of v, a code less its zero point, in the result's units. */
static int64_t absolute(const struct unary *u, int32_t v)
{
	return u->x.scale == u->y.scale ? abs(v) : scaled(abs(v), &u->f[0]);
}

/*
 * Returns tanh of v, an int8 code less its zero point, in units of 1/128 and -128..127, in TFLite's
 * fixed point with four integer bits; from u->radius on it is the end of the range.
 */
static int64_t hyperbolic(const struct unary *u, int32_t v)
{
	if (v <= -u->radius || v >= u->radius)
		return v < 0 ? -128 : 127;
	int32_t a = scaled(v, &u->f[0]);
	int32_t magnitude = a > 0 ? -a : a;
	int32_t r = a ? weft_ratio_1p(weft_exp_negative(5, magnitude)) : 0;

	return clip(weft_shift_right(a < 0 ? -r : r, 24), -128, 127);
}

/*
 * Returns the logistic function of v, an int8 code less its zero point, in units of 1/256 and
 * 0..255, in TFLite's fixed-point arithmetic; from u->radius on it is the end of the range.
 */
static int64_t logistic(const struct unary *u, int32_t v)
{
	if (v <= -u->radius || v >= u->radius)
		return v < 0 ? 0 : 255;
	int32_t a = scaled(v, &u->f[0]);
	int32_t r = weft_reciprocal_1p(weft_exp_negative(4, a > 0 ? -a : a));

	if (!a)
		r = 1 << 30;
	return clip(weft_shift_right(a < 0 ? INT32_MAX - r : r, 23), 0, 255);
}

/*
 * Returns the product of two Q0.15 numbers, rounded to nearest with halves up (towards +infinity, as TFLite
 * rounds here); -1 * -1 gives INT16_MAX.
 */
static int16_t mul_q15(int16_t a, int16_t b)
{
	int32_t ab = (int32_t)a * b;

	if (a == INT16_MIN && b == INT16_MIN)
		return INT16_MAX;
	return (int16_t)((ab + (ab >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15));
}

/* Returns v * 2^n, limited to the range of int16. */
static int16_t left16(int16_t v, int n)
{
	return (int16_t)clip((int64_t)v * ((int64_t)1 << n), INT16_MIN, INT16_MAX);
}

/*
 * Returns hard swish of v, an int8 code less its zero point, in the result's units (zero point not
 * added), in TFLite's 16-bit fixed-point arithmetic with the multipliers and shifts in u->hard_m and
 * u->hard_shift (0: the result's, 1: the gate's).
 */
static int64_t hard_swish(const struct unary *u, int32_t v)
{
	int16_t fine = (int16_t)(v * 128), y = mul_q15(fine, u->hard_m[0]), gate = fine;

	if (u->hard_shift[1] > 0)
		gate = left16(gate, u->hard_shift[1] - 1);
	gate = mul_q15(gate, u->hard_m[1]);
	if (u->hard_shift[1] > 0)
		gate = left16(gate, 1);
	if (u->hard_shift[1] < 0)
		gate = (int16_t)weft_shift_right(gate, -u->hard_shift[1]);
	gate = (int16_t)((gate + (1 << 15)) >> 1);
	int32_t product = (int32_t)gate * y / (1 << 15);
	return weft_shift_right((int16_t)product, -u->hard_shift[0]);
}

/*
 * Sets *multiplier and *shift so that 1/sqrt(v) is about multiplier * 2^(shift - 31), by Newton's
 * method in fixed point with three integer bits; a v of 1 or less gives INT32_MAX and 0.
 */
static void inverse_root(int32_t v, int32_t *multiplier, int *shift)
{
	const int32_t three_halves = 402653184, half_root_2 = 1518500250;
	int right = 11;

	*multiplier = INT32_MAX;
	*shift = 0;
	if (v <= 1)
		return;
	for (; v >= 1 << 29; right++)
		v /= 4;
	int pairs = (__builtin_clz((uint32_t)v) - 1) / 2 - 1;
	right -= pairs;
	v <<= 2 * pairs;
	int32_t half = weft_shift_right(v >> 1, 1), x = 1 << 28;
	for (int i = 0; i < 5; i++) {
		int32_t x3 = weft_shift_left(weft_mul_q31(weft_mul_q31(x, x), x), 6);
		x = weft_shift_left(weft_add_wrap(weft_mul_q31(three_halves, x), -weft_mul_q31(half, x3)), 3);
	}
	x = weft_mul_q31(x, half_root_2);
	*multiplier = right < 0 ? (int32_t)((uint32_t)x << -right) : x;
	*shift = right < 0 ? 0 : -right;
}

/*
 * Returns 1/sqrt of v, an int8 code less its zero point, in the result's units (zero point not
 * added). Values that are not above 0 give INT32_MAX; TFLite aborts on negative ones.
 */
static int64_t reciprocal_root(const struct unary *u, int32_t v)
{
	const int more = 20;
	int32_t m;
	int s;

	if (v <= 0)
		return INT32_MAX;
	inverse_root(v, &m, &s);
	int32_t root = weft_apply_scale_32(1, m, 31 - (s + more), true);
	struct tfl_factor f = { u->f[0].multiplier, (int8_t)(u->f[0].shift + more) };
	return f.shift > 62 ? 0 : scaled(root, &f);
}

/*
 * Returns the square root of v, a code less its zero point, in the result's units (zero point not
 * added), rounded towards 0 and at most 10^9. Negative values, on which TFLite aborts, give 0.
 */
static int64_t root(const struct unary *u, int32_t v)
{
	return v <= 0 ? 0 : (int64_t)fminf(1e9f, sqrtf(u->x.scale * (float)v) / u->y.scale);
}

/*
 * Returns u->real of v, a code less its zero point, computed in float32, in the result's units (zero point
 * not added), rounded with halves away from 0 and limited to +-10^9. Where u->real gives NaN, 10^9.
 */
static int64_t by_real(const struct unary *u, int32_t v)
{
	float inverse = 1.0f / u->y.scale, r = u->real(u->x.scale * (float)v, u->alpha);

	return (int64_t)fmaxf(-1e9f, fminf(1e9f, roundf(r * inverse)));
}

static float elu(float v, float alpha) { (void)alpha; return v < 0 ? (float)expm1((double)v) : v; }
static float exponential(float v, float alpha) { (void)alpha; return (float)exp((double)v); }

/* The logarithm of v, or -INFINITY if v is not above 0. */
static float logarithm(float v, float alpha) { (void)alpha; return v > 0 ? (float)log((double)v) : -INFINITY; }
static float tanh_of(float v, float alpha) { (void)alpha; return (float)tanh((double)v); }
static float logistic_of(float v, float alpha) { (void)alpha; return 1.0f / (1.0f + (float)exp(-(double)v)); }
/* Returns GELU of v by erfc, in float32; alpha is not used. */
static float gelu(float v, float alpha)
{
	(void)alpha;
	return 0.5f * v * erfcf(v * -(float)M_SQRT1_2);
}
/* Returns GELU of v by the approximation with tanh, in float32; alpha is not used. */
static float gelu_tanh(float v, float alpha)
{
	(void)alpha;
	return 0.5f * v * (1 + tanhf((float)M_2_SQRTPI * (float)M_SQRT1_2 * (v + 0.044715f * v * v * v)));
}

/* ---- factors ---- */

/*
 * Sets in *u alpha from the options of the LEAKY_RELU at hand, and the factors to the result for
 * values above 0, f[0], and below 0, f[1], which is that of |alpha|. Returns 0 or a negative errno.
 */
static int prepare_leaky_relu(struct tfl_lower *l, struct unary *u)
{
	int err = tfl_option_float(l, OPTIONS_LEAKY_RELU, LEAKY_RELU_ALPHA, 0, &u->alpha);

	if (!err)
		err = tfl_factor(l, (double)(u->x.scale / u->y.scale), &u->f[0]);
	return err ? err : tfl_factor(l, fabs((double)(u->x.scale * u->alpha / u->y.scale)), &u->f[1]);
}

/*
 * Sets in *u what the LOGISTIC or TANH at hand needs: the function in float32 (for uint8), and
 * factor and radius in fixed point (for int8). Returns 0, -EINVAL if the result does not have the
 * scale and zero point that TFLite fixes, or another negative errno.
 */
static int prepare_sigmoid(struct tfl_lower *l, struct unary *u)
{
	bool tanh = l->op->code == TFL_CODE_TANH;
	int err = tfl_need_range(l, &u->y, tanh ? 1.0f / 128 : 1.0f / 256, tanh ? 0 : -128);

	u->real = tanh ? tanh_of : logistic_of;
	if (err || (err = tfl_factor(l, (double)u->x.scale * (1 << 27), &u->f[0])))
		return err;
	int left = 31 - u->f[0].shift;
	u->radius = left < 0 ? INT32_MAX : (int)floor(15.0 * (1 << 27) / ldexp(1.0, left));
	return 0;
}

/* Sets *m to the multiplier of f as a rounded Q0.15 number, and *shift to its shift to the left. */
static void to_int16(const struct tfl_factor *f, int16_t *m, int *shift)
{
	*m = (int16_t)(f->multiplier >= INT32_MAX - (1 << 15) ? INT16_MAX : (f->multiplier + (1 << 15)) >> 16);
	*shift = 31 - f->shift;
}

/*
 * Sets in *u the 16-bit multipliers and shifts of HARD_SWISH for the result and the gate. Returns
 * 0, -ENOTSUP if the operand's scale is 128 times the result's or more, or another negative errno.
 */
static int prepare_hard_swish(struct tfl_lower *l, struct unary *u)
{
	float fine = 1.0f / 128 * u->x.scale;
	int err = tfl_factor(l, (double)(fine / u->y.scale), &u->f[0]);

	if (err || (err = tfl_factor(l, (double)(fine / (3.0f / 32768)), &u->f[1])))
		return err;
	for (int i = 0; i < 2; i++)
		to_int16(&u->f[i], &u->hard_m[i], &u->hard_shift[i]);
	if (u->hard_shift[0] > 0)
		return tfl_fail(l, -ENOTSUP, "scale %g above 128 times %g", (double)u->x.scale, (double)u->y.scale);
	return 0;
}

/*
 * Sets *f to the function that computes the operator at hand (GELU if it is none of those named
 * here) for one code, and in *u what that needs. Returns 0 or a negative errno.
 */
static int prepare(struct tfl_lower *l, struct unary *u, int64_t (**f)(const struct unary *, int32_t))
{
	int approximate = 0, err = 0;

	*f = by_real;
	switch (l->op->code) {
	case TFL_LEAKY_RELU:
		*f = leaky_relu;
		return prepare_leaky_relu(l, u);
	case TFL_CODE_TANH:
	case TFL_LOGISTIC:
		if (tfl_file_tensor(l, l->i_y)->type == TFL_INT8)
			*f = l->op->code == TFL_LOGISTIC ? logistic : hyperbolic;
		return prepare_sigmoid(l, u);
	case TFL_HARD_SWISH:
		*f = hard_swish;
		return prepare_hard_swish(l, u);
	case TFL_ABS:
		*f = absolute;
		return tfl_factor(l, (double)(u->x.scale / u->y.scale), &u->f[0]);
	case TFL_RSQRT:
		*f = reciprocal_root;
		return tfl_factor(l, 1.0 / (double)(sqrtf(u->x.scale) * u->y.scale), &u->f[0]);
	case TFL_LOG:
		u->real = logarithm;
		return 0;
	case TFL_SQRT:
		*f = root;
		return 0;
	case TFL_ELU:
		u->real = elu;
		return 0;
	case TFL_EXP:
		u->real = exponential;
		return 0;
	default:                   /* GELU */
		err = tfl_option(l, OPTIONS_GELU, GELU_APPROXIMATE, 1, 0, &approximate);
		u->real = approximate ? gelu_tanh : gelu;
		return err;
	}
}

/*
 * Emits LEAKY_RELU of int16 x as the operator's result: the positive and the negative part, one of
 * which is 0, are scaled each by itself and added. Sets factors and alpha in *u. Returns the
 * result's tensor, or a negative errno.
 */
static int leaky_relu16(struct tfl_lower *l, struct unary *u, int x)
{
	static const weft_opcode side[2] = { WEFT_OP_MAXIMUM, WEFT_OP_MINIMUM };
	struct tfl_factor one = { .multiplier = 1 << 30, .shift = 30 };
	weft_attr a = { .nan = { 0 } };
	int part[2], err = prepare_leaky_relu(l, u);
	int wide = err ? err : tfl_widen(l, x, 0, 0);

	if (wide < 0)
		return wide;
	weft_tensor t = l->g->tensors[wide].t;
	int z = tfl_number(l, "zero", WEFT_INT32, t.rank, 0);
	for (int i = 0; i < 2; i++) {
		struct tfl_rescale r = { .to = WEFT_INT32, .rounding = WEFT_DOUBLE_ROUND, .n = 1, .f = &u->f[i] };
		int y = z < 0 ? z : tfl_step(l, side[i], &a, (int[]){ wide, z }, 2, WEFT_INT32, t.rank, t.dim, false);
		if (y >= 0 && i == 1 && u->alpha < 0)
			y = tfl_step(l, WEFT_OP_SUB, NULL, (int[]){ z, y }, 2, WEFT_INT32, t.rank, t.dim, false);
		if (y < 0 || (part[i] = tfl_rescale(l, y, &r, false)) < 0)
			return y < 0 ? y : part[i];
	}
	int sum = tfl_step(l, WEFT_OP_ADD, NULL, part, 2, WEFT_INT32, t.rank, t.dim, false);
	return sum < 0 ? sum : tfl_requantise(l, sum, 1, &one, TFL_NONE, true);
}

/* ---- int16 ---- */

static float exp16(const struct tfl_function *f, float v) { (void)f; return exponential(v, 0); }
static float gelu16(const struct tfl_function *f, float v) { return f->param > 0 ? gelu_tanh(v, 0) : gelu(v, 0); }

/* For a v that is not above 0 both return param, which stands for the end of the result's range. */
static float log16(const struct tfl_function *f, float v) { return v > 0 ? logarithm(v, 0) : f->param; }
static float rsqrt16(const struct tfl_function *f, float v) { return v > 0 ? 1.0f / sqrtf(v) : f->param; }

/*
 * Emits ABS of int16 x, scaled to the result unless the scales are equal, as the operator's result.
 * Returns the result's tensor, or a negative errno.
 */
static int abs16(struct tfl_lower *l, struct unary *u, int x)
{
	struct tfl_factor f = { .multiplier = 1 << 30, .shift = 30 };
	int wide = tfl_widen(l, x, 0, 0), err = wide < 0 ? wide : 0;

	if (!err && u->x.scale != u->y.scale)
		err = tfl_factor(l, (double)(u->x.scale / u->y.scale), &f);
	if (err)
		return err;
	weft_tensor t = l->g->tensors[wide].t;
	int y = tfl_step(l, WEFT_OP_ABS, NULL, &wide, 1, WEFT_INT32, t.rank, t.dim, false);
	return y < 0 ? y : tfl_requantise(l, y, 1, &f, TFL_NONE, true);
}

/*
 * Emits SQRT of int16 x as the operator's result, by a lookup in all 65536 values, computed in
 * float32 and rounded towards 0. Negative values, on which TensorFlow Lite aborts, give 0. Returns
 * the result's tensor, or a negative errno.
 */
static int root16(struct tfl_lower *l, const struct unary *u, int x)
{
	int16_t *values = tfl_alloc(l, 65536, sizeof *values);

	if (!values)
		return l->err;
	for (int v = -32768; v < 32768; v++)
		values[v + 32768] = (int16_t)clip(root(u, v), INT16_MIN, INT16_MAX);
	return tfl_lookup_all(l, x, values, true);
}

/*
 * Emits the EXP, LOG, RSQRT or GELU at hand of int16 x as its result, by tfl_lut16(). Returns the
 * result's tensor, -ENOTSUP for other operators, which the runtime does not have for int16, or
 * another negative errno.
 */
static int function16(struct tfl_lower *l, const struct unary *u, int x)
{
	struct tfl_function f = { .of = exp16 };
	int approximate, err;

	switch (l->op->code) {
	case TFL_EXP:
		break;
	case TFL_LOG:
		f = (struct tfl_function){ .of = log16, .param = u->y.scale * -32768.0f };
		break;
	case TFL_RSQRT:
		f = (struct tfl_function){ .of = rsqrt16, .param = u->y.scale * 32767.0f };
		break;
	case TFL_GELU:
		if ((err = tfl_option(l, OPTIONS_GELU, GELU_APPROXIMATE, 1, 0, &approximate)))
			return err;
		f = (struct tfl_function){ .of = gelu16, .param = approximate ? 1 : 0 };
		break;
	default:
		return tfl_fail(l, -ENOTSUP, "the runtime has no kernel for int16");
	}
	return tfl_lut16(l, x, &f, u->x.scale, u->y.scale);
}

/*
 * Emits the operator at hand of int16 x, quantised as in *u, as its result: LEAKY_RELU and ABS by TOSA's
 * operators, LOGISTIC and TANH on the host, SQRT by a lookup, others by function16(). Returns the
 * result's tensor; -EINVAL if the result of LOGISTIC or TANH has another scale than 1/32768 or a zero
 * point; -ENOTSUP if the runtime does not have the operator for int16; or another negative errno.
 */
static int sixteen_bits(struct tfl_lower *l, struct unary *u, int x)
{
	weft_tensor t = l->g->tensors[x].t;
	weft_attr a = { .quant = { .x_scale = u->x.scale, .y_scale = u->y.scale } };
	int err;

	switch (l->op->code) {
	case TFL_LEAKY_RELU:
		return leaky_relu16(l, u, x);
	case TFL_CODE_TANH:
	case TFL_LOGISTIC:
		if ((err = tfl_need_range(l, &u->y, 1.0f / 32768, 0)))
			return err;
		return tfl_step(l, l->op->code == TFL_LOGISTIC ? WEFT_OP_TFL_LOGISTIC : WEFT_OP_TFL_TANH, &a, &x, 1, WEFT_INT16,
		                t.rank, t.dim, true);
	case TFL_ABS:
		return abs16(l, u, x);
	case TFL_SQRT:
		return root16(l, u, x);
	default:
		return function16(l, u, x);
	}
}

/*
 * Lowers functions of one quantised operand: of 8 bits to a TABLE with the results of all 256 codes, of
 * int16 by sixteen_bits(). Returns the result's tensor; -ENOTSUP if operand and result have different
 * types or the function is not supported for int16; -EINVAL if the result of LOGISTIC or TANH has not the
 * scale and zero point that TFLite fixes; or another negative errno.
 */
int tfl_lower_table(struct tfl_lower *l)
{
	struct unary u = { .alpha = 0 };
	int64_t (*f)(const struct unary *, int32_t), n = 256;
	int err = tfl_need_result(l, TFL_Q8_16, &u.y), x = err ? err : tfl_quant_value(l, 0, TFL_Q8_16, &u.x);

	if (x < 0)
		return x;
	if (u.x.t != u.y.t)
		return tfl_fail(l, -ENOTSUP, "%s into %s", weft_dtype_name(u.x.t), weft_dtype_name(u.y.t));
	if (u.x.t == WEFT_INT16)
		return sixteen_bits(l, &u, x);
	if ((err = prepare(l, &u, &f)))
		return err;
	int8_t *table = tfl_alloc(l, n, 1);
	if (!table)
		return l->err;
	for (int q = -128; q < 128; q++)
		table[q + 128] = (int8_t)clip(f(&u, q - u.x.zp) + u.y.zp, -128, 127);
	int t = tfl_data(l, "table", WEFT_INT8, 1, &n, table);
	weft_tensor s = l->g->tensors[x].t;
	return t < 0 ? t : tfl_step(l, WEFT_OP_TABLE, NULL, (int[]){ x, t }, 2, WEFT_INT8, s.rank, s.dim, true);
}
