/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Casts of tensors by four sets of rules; include/weft/convert.h says which.
 *
 * Sources: ONNX Cast-23; TOSA 1.0 CAST; PopXL "Data types" (8-bit floating
 * point datatypes); OpenVINO FakeConvert-13 for the OpenVINO pair.
 */
#include <stdarg.h>
#include <stdio.h>

#include "../ops.h"
#include "cast.h"
#include "element.h"

#define T(t) (1u << (t))
#define FP8_OCP (T(WEFT_FP8E4M3) | T(WEFT_FP8E5M2))
#define FP8_FNUZ (T(WEFT_FP8E4M3FNUZ) | T(WEFT_FP8E5M2FNUZ))
#define TOSA_INTS (T(WEFT_INT8) | T(WEFT_INT16) | T(WEFT_INT32))
#define TOSA_FLOATS (T(WEFT_FP16) | T(WEFT_BF16) | T(WEFT_FP32))

static bool in(unsigned set, weft_dtype t)
{
	return (int)t < 32 && (set >> t & 1);
}

int weft_convert_fail(char *msg, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, WEFT_CONVERT_MSG, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

bool weft_cast_tosa_row(weft_dtype from, weft_dtype to)
{
	if (from == to)
		return false;
	if (from == WEFT_BOOL || to == WEFT_BOOL)
		return in(TOSA_INTS, from == WEFT_BOOL ? to : from);
	if (in(TOSA_INTS, from))
		return in(TOSA_INTS | TOSA_FLOATS, to);
	if (in(FP8_OCP, from))
		return in(TOSA_FLOATS, to);
	if (!in(TOSA_FLOATS, from))
		return false;
	if (in(TOSA_FLOATS, to))
		return from == WEFT_FP32 || to == WEFT_FP32;
	return in(TOSA_INTS | FP8_OCP, to);
}

static bool popxl_pair(weft_dtype from, weft_dtype to)
{
	const unsigned wide = T(WEFT_FP16) | T(WEFT_FP32) | T(WEFT_FP64);

	return (in(FP8_FNUZ, to) && in(wide, from)) || (in(FP8_FNUZ, from) && in(wide, to));
}

static bool openvino_pair(weft_dtype from, weft_dtype to)
{
	return (in(FP8_OCP, to) && in(TOSA_FLOATS, from)) || (in(FP8_OCP, from) && in(TOSA_FLOATS, to));
}

struct weft_cast_options weft_cast_options_default(enum weft_cast_rules rules)
{
	struct weft_cast_options o = { .rules = rules };

	o.saturate = rules == WEFT_CAST_ONNX || rules == WEFT_CAST_OPENVINO;
	return o;
}

/* ---- one element ---- */

static bool is_unsigned(weft_dtype t)
{
	return t == WEFT_BOOL || t == WEFT_UINT2 || t == WEFT_UINT4 || t == WEFT_UINT8 || t == WEFT_UINT16 ||
	       t == WEFT_UINT32 || t == WEFT_UINT64;
}

/* Bits of an integer type's value; how many of a byte or word mean something. */
static int int_bits(weft_dtype t)
{
	switch (t) {
	case WEFT_INT2: case WEFT_UINT2: return 2;
	case WEFT_INT4: case WEFT_UINT4: return 4;
	case WEFT_INT48: return 48;
	default: return 8 * (int)weft_dtype_bytes(t);
	}
}

static struct weft_real load(const weft_tensor *x, int64_t i)
{
	const struct weft_float_format *f = weft_float_format_of(x->dtype);
	const uint64_t bits = weft_load_bits(x, i);

	if (f)
		return weft_real_decode(f, bits);
	if (x->dtype == WEFT_BOOL)
		return weft_real_of_uint(bits != 0);
	if (is_unsigned(x->dtype))
		return weft_real_of_uint(int_bits(x->dtype) < 64 ? bits & (((uint64_t)1 << int_bits(x->dtype)) - 1) : bits);
	return weft_real_of_int(weft_wrap(bits, int_bits(x->dtype)));
}

static uint64_t to_int(const struct weft_cast_options *o, weft_dtype t, struct weft_real r, bool from_float)
{
	const int n = int_bits(t);
	uint64_t v;

	if (t == WEFT_BOOL)
		return r.kind != WEFT_REAL_FINITE || r.sig != 0;
	if (o->rules == WEFT_CAST_TOSA && from_float) /* rows: int8, int16, int32 */
		v = weft_real_to_int(r, WEFT_ROUND_EVEN, weft_int_min(t), (uint64_t)weft_int_max(t));
	else
		v = weft_real_wrap_int(r);
	if (is_unsigned(t))
		return n < 64 ? v & (((uint64_t)1 << n) - 1) : v;
	return (uint64_t)weft_wrap(v, n);
}

static unsigned encode_flags(const struct weft_cast_options *o)
{
	static const unsigned scale[] = { 0, WEFT_ENCODE_SCALE_DOWN, WEFT_ENCODE_SCALE_NEAREST };

	return (o->saturate ? WEFT_ENCODE_SATURATE : 0) | (o->fnuz_inf_max ? WEFT_ENCODE_FNUZ_INF_MAX : 0) | scale[o->scale_round];
}

static uint64_t convert(const struct weft_cast_options *o, weft_dtype to, struct weft_real r, bool from_float)
{
	const struct weft_float_format *f = weft_float_format_of(to);

	if (!f)
		return to_int(o, to, r, from_float);
	r.exp += o->log2_scale;
	return weft_real_encode(f, r, encode_flags(o));
}

/* ---- tensors ---- */

static int check_options(const weft_tensor *x, const weft_tensor *y, const struct weft_cast_options *o, char *msg)
{
	static const char *const names[] = { "ONNX", "TOSA", "PopXL", "OpenVINO" };
	bool row;

	switch (o->rules) {
	case WEFT_CAST_ONNX: row = true; break;
	case WEFT_CAST_TOSA: row = weft_cast_tosa_row(x->dtype, y->dtype); break;
	case WEFT_CAST_POPXL: row = popxl_pair(x->dtype, y->dtype); break;
	case WEFT_CAST_OPENVINO: row = openvino_pair(x->dtype, y->dtype); break;
	default: return weft_convert_fail(msg, "cast: rules %d are not known", (int)o->rules);
	}
	if (!row)
		return weft_convert_fail(msg, "cast: %s has no conversion from %s to %s", names[o->rules],
		                         weft_dtype_name(x->dtype), weft_dtype_name(y->dtype));
	if (o->rules == WEFT_CAST_TOSA && o->saturate)
		return weft_convert_fail(msg, "cast: TOSA's CAST does not saturate float8; CLAMP before it");
	if (o->rules == WEFT_CAST_POPXL ? o->log2_scale < -32 || o->log2_scale > 31 : o->log2_scale != 0)
		return weft_convert_fail(msg, "cast: log2_scale %d, must be %s", (int)o->log2_scale,
		                         o->rules == WEFT_CAST_POPXL ? "-32..31" : "0 but with PopXL's rules");
	if (o->fnuz_inf_max && o->rules != WEFT_CAST_ONNX)
		return weft_convert_fail(msg, "cast: fnuz_inf_max is ONNX's only");
	if (o->scale_round > WEFT_SCALE_NEAREST || (o->scale_round && o->rules != WEFT_CAST_ONNX))
		return weft_convert_fail(msg, "cast: scale_round %d, must be 0, or with ONNX's rules up to 2", o->scale_round);
	return 0;
}

int weft_convert_check(const char *what, const weft_tensor *t, char *msg)
{
	if (weft_dtype_bytes(t->dtype) == 0)
		return weft_convert_fail(msg, "%s: unknown type %d", what, (int)t->dtype);
	if (weft_tensor_bytes(t) >= PTRDIFF_MAX)
		return weft_convert_fail(msg, "%s: impossible shape", what);
	if (!t->data)
		return weft_convert_fail(msg, "%s: no data", what);
	return 0;
}

int weft_cast(const weft_tensor *x, weft_tensor *y, const struct weft_cast_options *o, char msg WEFT_ROOM(WEFT_CONVERT_MSG))
{
	const bool from_float = weft_is_float(x->dtype);
	const int64_t n = weft_tensor_elements(x);
	int err;

	if ((err = weft_convert_check("input", x, msg)) || (err = weft_convert_check("output", y, msg)) ||
	    (err = check_options(x, y, o, msg)))
		return err;
	if (!weft_same_shape(x, y))
		return weft_convert_fail(msg, "cast: output shape differs from input shape");
	for (int64_t i = 0; i < n; i++) {
		/* One type to itself is a copy, so that NaN keeps its payload. */
		if (x->dtype == y->dtype && x->dtype != WEFT_BOOL)
			weft_store_bits(y, i, weft_load_bits(x, i));
		else
			weft_store_bits(y, i, convert(o, y->dtype, load(x, i), from_float));
	}
	return 0;
}

/* ---- names and single values ---- */

int weft_dtype_of_name(const char *name, weft_dtype *t)
{
	static const struct {
		const char *name;
		weft_dtype t;
	} others[] = {
		{ "float", WEFT_FP32 }, { "double", WEFT_FP64 }, { "half", WEFT_FP16 },
		{ "float8_143", WEFT_FP8E4M3FNUZ }, { "float8_152", WEFT_FP8E5M2FNUZ },
		{ "f8e4m3", WEFT_FP8E4M3 }, { "f8e5m2", WEFT_FP8E5M2 },
		{ "fp8e4m3", WEFT_FP8E4M3 }, { "fp8e5m2", WEFT_FP8E5M2 },
	};

	for (weft_dtype d = WEFT_BOOL; d < WEFT_N_DTYPES; d++) {
		if (!strcmp(name, weft_dtype_name(d))) {
			*t = d;
			return 0;
		}
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!strcmp(name, others[i].name)) {
			*t = others[i].t;
			return 0;
		}
	}
	return -EINVAL;
}

double weft_float_decode(weft_dtype t, uint64_t bits)
{
	const struct weft_float_format *f = weft_float_format_of(t);

	return weft_real_to_double(f ? weft_real_decode(f, bits) : (struct weft_real){ .kind = WEFT_REAL_NAN });
}

uint64_t weft_float_encode(weft_dtype t, double v, bool saturate)
{
	const struct weft_float_format *f = weft_float_format_of(t);

	return f ? weft_real_encode(f, weft_real_of_double(v), saturate ? WEFT_ENCODE_SATURATE : 0) : 0;
}
