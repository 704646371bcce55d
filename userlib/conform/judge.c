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
	double least_normal, greatest;   /* the least normal and the greatest finite number, both positive */
	int frac_bits;             /* bits of the fraction that are stored */
	bool has_inf;              /* the type has infinities */
};

/* Returns the properties of a float type that TOSA has; NULL for other types. */
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

/* Returns element i (row-major) of a float tensor as a double, which is exact. */
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

/*
 * Returns element i (row-major) of a tensor of 1-, 2-, 4- or 8-byte integers. Elements of 1 and 2 bytes
 * count as unsigned if is_unsigned is set, all others as signed.
 */
static int64_t integer(const weft_tensor *t, int64_t i, bool is_unsigned)
{
	switch (weft_dtype_bytes(t->dtype)) {
	case 1: return is_unsigned ? ((const uint8_t *)t->data)[i] : ((const int8_t *)t->data)[i];
	case 2: return is_unsigned ? ((const uint16_t *)t->data)[i] : ((const int16_t *)t->data)[i];
	case 4: return ((const int32_t *)t->data)[i];
	default: return ((const int64_t *)t->data)[i];
	}
}

/*
 * Writes to msg that element i is `got` where the reference is `want`. Returns 1, the result of a judge
 * that refuses.
 */
static int fail_at(int64_t i, double got, double want, char *msg)
{
	snprintf(msg, WEFT_JUDGE_MSG, "element %lld is %.17g, reference %.17g", (long long)i, got, want);
	return 1;
}

/* ---- integers ---- */

/*
 * Compares two integer tensors of the same shape and element size; for BOOL any nonzero byte is true.
 * Returns 0 if all elements are equal; otherwise 1, with the first that differs in msg.
 */
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

/*
 * Checks that every element of an integer tensor y lies between those of lo and hi, limits included;
 * elements of 1 and 2 bytes are unsigned if the judge says so. Returns 0, or 1 with the first element
 * that lies outside in msg.
 */
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
 * Returns the distance between neighbouring numbers of the format at v: the power of two that is at
 * most |v|, or the least normal number if that is greater, times 2^-frac_bits. For 0, infinity and NaN
 * it returns 0.
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
 * Says whether x lies in [ref - lo, ref + hi]. If ref is negative, both ref and x are negated first, so
 * that lo points towards zero. Limits beyond the format's greatest number count as infinite. Exceptions:
 * if ref is NaN, x must be NaN; if lo and hi are infinite, every x is right; in all formats but the 8-bit
 * ones (frac_bits above 3), where subnormals may be flushed, x = 0 is right if the lower limit is below
 * the least normal number; NaN is right if the format has no infinity and the upper limit is infinite.
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
 * Returns the absolute error that TOSA allows for one element in mode ABS_ERROR: 2^trunc(-frac_bits /
 * normal_divisor) times a magnitude times a factor; a normal_divisor that is not stated is 1. Normally
 * the magnitude is |ref| and the factor base_bound + bound; with bound_as_magnitude they are |bound| and
 * base_bound. The magnitude is at least the least normal number and, if lower_bound is stated, at least
 * lower_bound / factor. If the factor is not finite and the magnitude is 0, the error is 0. The result is
 * at least max_compare, if that is stated.
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

/*
 * Computes how far a result may lie from the reference ref towards zero (*lo) and away from it (*hi), by
 * the judge's mode. ULP: j->ulp units in the last place of ref; *lo has j->ulp_lower units if that is
 * stated. RELATIVE: the larger of max * scale and ulp_bound units. REDUCE_PRODUCT: |ref|, or the least
 * normal number if that is greater, times (1 + 2^-(frac_bits + 1))^n - 1. ABS_ERROR: abs_error(), the
 * only one that uses bound. In any other mode both are 0.
 */
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

/*
 * Judges x by the rule of mode FP_SPECIAL. Returns true if x and ref are both 0; if x is NaN and ref or bound
 * is, too; or if three properties of x and ref are the same: whether they are NaN, whether they are finite,
 * and their sign bits. Finite numbers of one sign thus pass whatever their values are.
 */
static bool special(double x, double ref, double bound)
{
	if ((ref == 0 && x == 0) || (isnan(x) && (isnan(ref) || isnan(bound))))
		return true;
	return !isnan(x) == !isnan(ref) && !isfinite(x) == !isfinite(ref) && !signbit(x) == !signbit(ref);
}

/*
 * Judges a float tensor y element by element against ref: in mode FP_SPECIAL by special(), otherwise by
 * within() with the limits of allowance(), which are 0 in modes EXACT, DOT_PRODUCT and RESCALE_INEXACT.
 * bound may be NULL; its elements are 0 then. Returns 0, or 1 with the first element that is outside in
 * msg.
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
 * Judges y, results of dot products, by TOSA's rule. The error of an element is its difference to ref,
 * divided by bound * 2^-(frac_bits + 1), or by the least normal number if that is greater. It may be at
 * most abs_bound, or 2 ksb if that is not stated, to either side. With v for variance_error_bound (1.6
 * ksb if not stated) and n for the number of y's elements, the sum of the squared errors may be at most
 * v * n and, in data sets 3 to 5 (j->s), the sum of the errors at most sqrt(10 * v * n) to either side.
 * Elements whose ref or bound is NaN, or whose bound is so large that overflow is allowed, are left out
 * of all this; but if ref is NaN, y's element must be NaN. If bound is 0, y's element and ref must be 0.
 * Returns 0, or 1 with the reason in msg.
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

/* Says whether both tensors have the same rank and dimensions. Types do not count. */
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
 * Judges result y by j. expected has the same shape and element size. ref and bound (each may be NULL)
 * are the FP64 reference and bound of modes with an allowance; without ref, expected in y's type is the
 * reference. In mode RESCALE_INEXACT with both of them in y's element size, they are the least and
 * greatest value allowed. Otherwise a y that is none of TOSA's float types must equal expected; in mode
 * DOT_PRODUCT with a bound the rule of judge_dot_product() holds, and all else is judged element by
 * element (judge_elements), where DOT_PRODUCT without a bound allows no difference. Returns 0 if the
 * result is allowed; 1 if it is not or a shape or element size differs, with one line in msg
 * (WEFT_JUDGE_MSG bytes).
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
