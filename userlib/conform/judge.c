/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: TOSA 1.0, sections 1.9 (precision) and the operators' requirements;
 * data/tosa_1_0/README.md for how conformance vectors state them.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <weft/convert.h>

#include "judge.h"

/* What the rules need to know of a float type. */
struct format {
	double least_normal, greatest;
	int frac_bits;
	bool has_inf;
};

/* Least normal number, largest number and fraction bits of a float type; NULL for others. */
static const struct format *format_of(weft_dtype t)
{
	static const struct format f32 = { 0x1p-126, 0x1.fffffep127, 23, true };
	static const struct format f16 = { 0x1p-14, 65504, 10, true };
	static const struct format bf16 = { 0x1p-126, 0x1.fep127, 7, true };
	static const struct format e4m3 = { 0x1p-6, 448, 3, false };
	static const struct format e5m2 = { 0x1p-14, 57344, 2, true };

	switch (t) {
	case WEFT_FP32: return &f32;
	case WEFT_FP16: return &f16;
	case WEFT_BF16: return &bf16;
	case WEFT_FP8E4M3: return &e4m3;
	case WEFT_FP8E5M2: return &e5m2;
	default: return NULL;
	}
}

int weft_judge_mode_of(const char *name)
{
	static const char *const names[WEFT_N_JUDGE_MODES] = {
		"EXACT", "ULP", "RELATIVE", "ABS_ERROR", "REDUCE_PRODUCT", "DOT_PRODUCT", "FP_SPECIAL", "RESCALE_INEXACT",
	};

	for (int i = 0; i < WEFT_N_JUDGE_MODES; i++)
		if (!strcmp(name, names[i]))
			return i;
	return -1;
}

/* ---- elements ---- */

/* Element i of a float tensor as a double, exactly. */
static double element(const weft_tensor *t, int64_t i)
{
	switch (t->dtype) {
	case WEFT_FP64: return ((const double *)t->data)[i];
	case WEFT_FP32: return (double)((const float *)t->data)[i];
	case WEFT_FP16:
	case WEFT_BF16: return weft_float_decode(t->dtype, ((const uint16_t *)t->data)[i]);
	default: return weft_float_decode(t->dtype, ((const uint8_t *)t->data)[i]);
	}
}

/* Element i of an integer tensor; 8- and 16-bit ones as unsigned if asked for. */
static int64_t integer(const weft_tensor *t, int64_t i, bool is_unsigned)
{
	switch (weft_dtype_bytes(t->dtype)) {
	case 1: return is_unsigned ? ((const uint8_t *)t->data)[i] : ((const int8_t *)t->data)[i];
	case 2: return is_unsigned ? ((const uint16_t *)t->data)[i] : ((const int16_t *)t->data)[i];
	case 4: return ((const int32_t *)t->data)[i];
	default: return ((const int64_t *)t->data)[i];
	}
}

static int fail_at(int64_t i, double got, double want, char *msg)
{
	snprintf(msg, WEFT_JUDGE_MSG, "element %lld is %.17g, reference %.17g", (long long)i, got, want);
	return 1;
}

/* ---- integers ---- */

/* Are all integers equal? Any nonzero byte is true for bool. 1 and a message at the first that is not. */
static int judge_exact_int(const weft_tensor *y, const weft_tensor *expected, char *msg)
{
	const int64_t n = weft_tensor_elements(y);

	for (int64_t i = 0; i < n; i++) {
		int64_t got = integer(y, i, false), want = integer(expected, i, false);
		if (y->dtype == WEFT_BOOL ? !got != !want : got != want) {
			snprintf(msg, WEFT_JUDGE_MSG, "element %lld is %lld, not %lld", (long long)i, (long long)got, (long long)want);
			return 1;
		}
	}
	return 0;
}

/* Does every element lie between those of lo and hi? 1 and a message at the first that does not. */
static int judge_between(const struct weft_judge *j, const weft_tensor *y, const weft_tensor *lo, const weft_tensor *hi,
                         char *msg)
{
	const int64_t n = weft_tensor_elements(y);

	for (int64_t i = 0; i < n; i++) {
		int64_t v = integer(y, i, j->unsigned_data), a = integer(lo, i, j->unsigned_data);
		int64_t b = integer(hi, i, j->unsigned_data);
		if (v < a || v > b) {
			snprintf(msg, WEFT_JUDGE_MSG, "element %lld is %lld, outside %lld..%lld", (long long)i, (long long)v, (long long)a,
			         (long long)b);
			return 1;
		}
	}
	return 0;
}

/* ---- floats ---- */

/*
 * The distance between neighbouring numbers of the format at v. Below the least normal number it
 * is that number's; for 0, infinity and NaN it is 0.
 */
static double ulp(const struct format *f, double v)
{
	int e;

	if (!isfinite(v) || v == 0)
		return 0;
	frexp(v, &e);
	return fmax(ldexp(1.0, e - 1), f->least_normal) * ldexp(1.0, -f->frac_bits);
}

/*
 * Does x lie in [ref - lo, ref + hi]? For a negative ref the interval is mirrored, so that lo
 * always points towards zero.
 */
static bool within(const struct format *f, double x, double ref, double lo, double hi)
{
	if (isnan(ref))
		return isnan(x);
	if (isinf(lo) && isinf(hi))
		return true;
	if (ref < 0) {
		ref = -ref;
		x = -x;
	}
	double top = ref + hi, bottom = ref - lo;
	if (top > f->greatest)
		top = INFINITY;
	if (bottom > f->greatest)
		bottom = INFINITY;
	else if (bottom < -f->greatest)
		bottom = -INFINITY;
	if (x >= bottom && x <= top)
		return true;
	/* Subnormals of all but the 8-bit types may be flushed. */
	if (f->frac_bits > 3 && bottom < f->least_normal && x == 0)
		return true;
	return !f->has_inf && isnan(x) && top == INFINITY;
}

/*
 * The absolute error that TOSA allows for one element in mode ABS_ERROR: 2^-(fraction bits) times
 * the magnitude times the bound.
 */
static double abs_error(const struct weft_judge *j, const struct format *f, double ref, double bound)
{
	double magnitude = j->bound_as_magnitude ? bound : ref, b = j->bound_as_magnitude ? 0 : bound;
	double divisor = j->normal_divisor > 0 ? j->normal_divisor : 1;

	b += j->base_bound;
	double v = fmax(fabs(magnitude), f->least_normal);
	if (j->lower_bound > 0)
		v = fmax(j->lower_bound / b, v);
	double e = exp2(trunc(-f->frac_bits / divisor)) * v * b;
	if (!isfinite(b) && magnitude == 0)
		e = 0;
	return j->max_compare > 0 ? fmax(e, j->max_compare) : e;
}

/* How far a result may lie below (*lo) and above (*hi) the reference in the judge's mode. */
static void allowance(const struct weft_judge *j, const struct format *f, double ref, double bound, double *lo, double *hi)
{
	*lo = *hi = 0;
	switch (j->mode) {
	case WEFT_JUDGE_ULP:
		*hi = ulp(f, ref) * j->ulp;
		*lo = ulp(f, ref) * (j->ulp_lower ? j->ulp_lower : j->ulp);
		break;
	case WEFT_JUDGE_RELATIVE:
		*lo = *hi = fmax(j->max * j->scale, j->ulp_bound * ulp(f, ref));
		break;
	case WEFT_JUDGE_REDUCE_PRODUCT:
		*lo = *hi = fmax(fabs(ref), f->least_normal) * (pow(1 + ldexp(1.0, -f->frac_bits - 1), j->n) - 1);
		break;
	case WEFT_JUDGE_ABS_ERROR:
		*lo = *hi = abs_error(j, f, ref, bound);
		break;
	default:
		break;
	}
}

static bool special(double x, double ref, double bound)
{
	if ((ref == 0 && x == 0) || (isnan(x) && (isnan(ref) || isnan(bound))))
		return true;
	return !isnan(x) == !isnan(ref) && !isfinite(x) == !isfinite(ref) && !signbit(x) == !signbit(ref);
}

/*
 * Judges a float tensor element by element against ref, with bound where the mode has one. 1 and a
 * message at the first element that is outside.
 */
static int judge_elements(const struct weft_judge *j, const struct format *f, const weft_tensor *y, const weft_tensor *ref,
                          const weft_tensor *bound, char *msg)
{
	const int64_t n = weft_tensor_elements(y);

	for (int64_t i = 0; i < n; i++) {
		double x = element(y, i), r = element(ref, i), b = bound ? element(bound, i) : 0, lo, hi;
		if (j->mode == WEFT_JUDGE_FP_SPECIAL) {
			if (!special(x, r, b))
				return fail_at(i, x, r, msg);
			continue;
		}
		allowance(j, f, r, b, &lo, &hi);
		if (!within(f, x, r, lo, hi))
			return fail_at(i, x, r, msg);
	}
	return 0;
}

/*
 * Judges results of a dot product by TOSA's rule: errors in units of the bound are limited one by
 * one, in their sum, and in the sum of their squares.
 */
static int judge_dot_product(const struct weft_judge *j, const struct format *f, const weft_tensor *y,
                             const weft_tensor *ref, const weft_tensor *bound, char *msg)
{
	const double limit = j->abs_bound > 0 ? j->abs_bound : 2 * j->ksb;
	const double variance = j->variance_error_bound > 0 ? j->variance_error_bound : 1.6 * j->ksb;
	const int64_t n = weft_tensor_elements(y);
	double sum = 0, squares = 0;

	for (int64_t i = 0; i < n; i++) {
		double x = element(y, i), r = element(ref, i), b = element(bound, i);
		if (isnan(r) && !isnan(x))
			return fail_at(i, x, r, msg);
		if (isnan(r) || isnan(b) ||
		    b * (1 + limit * ldexp(1.0, -1 - f->frac_bits)) >= f->greatest * (1 + ldexp(1.0, -f->frac_bits - 2)))
			continue;
		if (b == 0) {
			if (r != 0 || x != 0)
				return fail_at(i, x, r, msg);
			continue;
		}
		double err = (x - r) / fmax(b * ldexp(1.0, -1 - f->frac_bits), f->least_normal);
		if (!(fabs(err) <= limit))
			return fail_at(i, x, r, msg);
		sum += err;
		squares += err * err;
	}
	if (j->s >= 3 && j->s <= 5 && fabs(sum) > sqrt(10 * variance * (double)n)) {
		snprintf(msg, WEFT_JUDGE_MSG, "sum of errors %g > %g", fabs(sum), sqrt(10 * variance * (double)n));
		return 1;
	}
	if (squares > variance * (double)n) {
		snprintf(msg, WEFT_JUDGE_MSG, "sum of squared errors %g > %g", squares, variance * (double)n);
		return 1;
	}
	return 0;
}

/* Have both tensors the same shape? */
static bool same_form(const weft_tensor *a, const weft_tensor *b)
{
	if (a->rank != b->rank)
		return false;
	for (int i = 0; i < a->rank; i++)
		if (a->dim[i] != b->dim[i])
			return false;
	return true;
}

/*
 * Judges result y. expected is exact; ref and bound, if they are not NULL, belong to modes with an
 * allowance. 0: right; 1: wrong, and msg has one line.
 */
int weft_judge(const struct weft_judge *j, const weft_tensor *y, const weft_tensor *expected, const weft_tensor *ref,
               const weft_tensor *bound, char *msg)
{
	const struct format *f = format_of(y->dtype);

	if (!same_form(y, expected) || weft_dtype_bytes(y->dtype) != weft_dtype_bytes(expected->dtype) ||
	    (ref && !same_form(y, ref)) || (bound && !same_form(y, bound))) {
		snprintf(msg, WEFT_JUDGE_MSG, "shape or element size is not that of the reference");
		return 1;
	}
	if (j->mode == WEFT_JUDGE_RESCALE_INEXACT && ref && bound && weft_dtype_bytes(ref->dtype) == weft_dtype_bytes(y->dtype) &&
	    weft_dtype_bytes(bound->dtype) == weft_dtype_bytes(y->dtype))
		return judge_between(j, y, ref, bound, msg);
	if (!f)
		return judge_exact_int(y, expected, msg);
	weft_tensor typed = *expected;
	typed.dtype = y->dtype;
	if (!ref)
		ref = &typed;
	if (j->mode == WEFT_JUDGE_DOT_PRODUCT && bound)
		return judge_dot_product(j, f, y, ref, bound, msg);
	return judge_elements(j, f, y, ref, bound, msg);
}
