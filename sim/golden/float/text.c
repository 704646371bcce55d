/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as text, as ONNX's Cast to and from string has them.
 *
 * The C library reads and writes decimal exactly, for fp64 and in whatever
 * direction the rounding mode says. A text that lies between two fp64 values is
 * taken as the odd one of them: rounding that to a format of at most 51 bits
 * gives what rounding the text itself would.
 */
#define _GNU_SOURCE             /* strtod_l() */
#include <ctype.h>
#include <errno.h>
#include <fenv.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <weft/convert.h>

#include "../dtype.h"

/* Characters that plain and scientific notation consist of; strtod() would take more. */
static bool is_number(const char *s)
{
	bool digits = false, point = false;

	s += *s == '+' || *s == '-';
	for (; isdigit((unsigned char)*s) || (*s == '.' && !point); s++) {
		digits = digits || *s != '.';
		point = point || *s == '.';
	}
	if (!digits || !*s)
		return digits;
	if (*s != 'e' && *s != 'E')
		return false;
	s += 1 + (s[1] == '+' || s[1] == '-');
	if (!isdigit((unsigned char)*s))
		return false;
	while (isdigit((unsigned char)*s))
		s++;
	return !*s;
}

static locale_t plain_locale(void)
{
	return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* The fp64 value, or of two neighbours the odd one. nearest: fp64 itself is wanted. */
static double to_double(const char *s, bool nearest, locale_t locale)
{
	int mode = fegetround();
	double v = strtod_l(s, NULL, locale);

	if (nearest)
		return v;
	fesetround(FE_DOWNWARD);
	double low = strtod_l(s, NULL, locale);
	fesetround(FE_UPWARD);
	double high = strtod_l(s, NULL, locale);
	fesetround(mode);
	if (low == high)
		return v;
	uint64_t bits;
	memcpy(&bits, &low, sizeof bits);
	return bits & 1 ? low : high;
}

static bool is_special(const char *s, double *v)
{
	if (!strcasecmp(s, "NaN"))
		*v = NAN;
	else if (!strcasecmp(s, "INF") || !strcasecmp(s, "+INF"))
		*v = INFINITY;
	else if (!strcasecmp(s, "-INF"))
		*v = -INFINITY;
	else
		return false;
	return true;
}

/* Towards zero, then the low bits, as of floats. */
static uint64_t whole(double v)
{
	if (!isfinite(v))
		return 0;
	v = fmod(trunc(v), 0x1p64);
	return v < 0 ? (uint64_t)0 - (uint64_t)-v : (uint64_t)v;
}

/* Digits alone hold more than fp64 does. */
static bool digits_only(const char *s)
{
	s += *s == '+' || *s == '-';
	for (; isdigit((unsigned char)*s); s++)
		;
	return !*s;
}

int weft_number_parse(const char *text, weft_dtype t, uint64_t *bits)
{
	const bool is_float = weft_is_float(t);
	double v;

	if (is_special(text, &v)) {
		*bits = is_float ? weft_float_encode(t, v, true) : whole(v);
		return 0;
	}
	if (!is_number(text))
		return -EINVAL;
	if (!is_float && digits_only(text)) {
		errno = 0;
		*bits = *text == '-' ? (uint64_t)strtoll(text, NULL, 10) : strtoull(text, NULL, 10);
	} else {
		locale_t locale = plain_locale();

		if (!locale)
			return -ENOMEM;
		v = to_double(text, t == WEFT_FP64, locale);
		*bits = is_float ? weft_float_encode(t, v, true) : whole(v);
		freelocale(locale);
	}
	if (t == WEFT_BOOL)
		*bits = *bits != 0;
	return 0;
}

/* m.mmm e x as plain notation; true if it fits. */
static bool plain(const char *scientific, char *text, size_t n)
{
	char digits[40];
	int n_digits = 0, exponent = atoi(strchr(scientific, 'e') + 1);
	size_t at = 0;

	for (const char *p = scientific; *p != 'e'; p++)
		if (isdigit((unsigned char)*p))
			digits[n_digits++] = *p;
	while (n_digits > 1 && digits[n_digits - 1] == '0')
		n_digits--;
	size_t need = (size_t)(abs(exponent) + n_digits) + 8;
	if (need > n)
		return false;
	if (*scientific == '-')
		text[at++] = '-';
	for (int i = exponent < 0 ? exponent : 0; i < n_digits || i <= exponent; i++) {
		if (i == exponent + 1)
			text[at++] = '.';
		text[at++] = i < 0 || i >= n_digits ? '0' : digits[i];
	}
	text[at] = 0;
	return true;
}

static int format_float(weft_dtype t, uint64_t bits, char *text, size_t n)
{
	const bool own = t == WEFT_FP16 || t == WEFT_FP32 || t == WEFT_FP64;
	double v = weft_float_decode(t, bits);
	char trial[64];
	uint64_t back;

	if (isnan(v) || isinf(v)) {
		snprintf(text, n, "%s", isnan(v) ? "NaN" : v > 0 ? "INF" : "-INF");
		return 0;
	}
	/* Of the smaller formats the value counts: 448, though 450 would read back as the same code. */
	if (!own) {
		t = WEFT_FP32;
		bits = weft_float_encode(t, v, false);
	}
	for (int precision = 0; precision <= 17; precision++) {
		snprintf(trial, sizeof trial, "%.*e", precision, v);
		char *comma = strchr(trial, ',');      /* another locale's point */
		if (comma)
			*comma = '.';
		if (!weft_number_parse(trial, t, &back) && back == bits)
			break;
	}
	return plain(trial, text, n) ? 0 : -ERANGE;
}

int weft_number_format(weft_dtype t, uint64_t bits, char *text, size_t n)
{
	if (weft_is_float(t))
		return format_float(t, bits, text, n);
	int width = 8 * (int)weft_dtype_bytes(t);
	bool is_signed = t == WEFT_INT2 || t == WEFT_INT4 || t == WEFT_INT8 || t == WEFT_INT16 || t == WEFT_INT32 || t == WEFT_INT48 ||
	                 t == WEFT_INT64;
	int64_t v = width < 64 ? (int64_t)(bits << (64 - width)) >> (64 - width) : (int64_t)bits;
	uint64_t u = width < 64 ? bits & (((uint64_t)1 << width) - 1) : bits;
	int wrote = is_signed ? snprintf(text, n, "%" PRId64, v) : snprintf(text, n, "%" PRIu64, u);
	return wrote < (int)n ? 0 : -ERANGE;
}
