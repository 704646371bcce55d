/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of one element; floats through double, rounded once. */
#include "sim/golden/onnx/ref/ref.h"

static double square_root(double v) { return sqrt(v); }
static double sign(double v) { return v > 0 ? 1 : v < 0 ? -1 : v; }
static double negate(double v) { return -v; }
static double reciprocal(double v) { return 1 / v; }
static double relu(double v) { return v < 0 ? 0 : v; }
static double sigmoid(double v) { return v < 0 ? exp(v) / (1 + exp(v)) : 1 / (1 + exp(-v)); }
static double softplus(double v) { return v > 0 ? v + log1p(exp(-v)) : log1p(exp(v)); }
static double softsign(double v) { return v / (1 + fabs(v)); }
static double mish(double v) { return v * tanh(softplus(v)); }
static double hard_swish(double v) { return v * fmax(0, fmin(1, v / 6 + 0.5)); }
static double round_even(double v) { return nearbyint(v); }

static const struct { const char *name; double (*f)(double); } functions[] = {
	{ "Abs", fabs }, { "Acos", acos }, { "Acosh", acosh }, { "Asin", asin }, { "Asinh", asinh }, { "Atan", atan }, { "Atanh", atanh },
	{ "Ceil", ceil }, { "Cos", cos }, { "Cosh", cosh }, { "Erf", erf }, { "Exp", exp }, { "Floor", floor }, { "Log", log },
	{ "Neg", negate }, { "Reciprocal", reciprocal }, { "Relu", relu }, { "Round", round_even }, { "Sigmoid", sigmoid }, { "Sign", sign },
	{ "Sin", sin }, { "Sinh", sinh }, { "Softplus", softplus }, { "Softsign", softsign }, { "Sqrt", square_root }, { "Tan", tan },
	{ "Tanh", tanh }, { "Mish", mish }, { "HardSwish", hard_swish },
};

static int test(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const bool nan = !strcmp(r->name, "IsNaN");
	int err = ref_y(r, 0, WEFT_BOOL, x->rank, x->dim);

	if (err || r->shapes)
		return err;
	for (int64_t i = 0, n = REF_N(x); i < n; i++) {
		const double v = ref_f(x, i);
		ref_put_i(r->y[0], i, nan ? v != v : isinf(v) && (v < 0 ? r->a->i[0] != 0 : r->a->i[1] != 0));
	}
	return 0;
}

static int integers(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const bool is_unsigned = ref_unsigned(x->dtype);

	for (int64_t i = 0, n = REF_N(x); i < n; i++) {
		int64_t v = ref_i(x, i);
		if (!strcmp(r->name, "Abs"))
			v = !is_unsigned && v < 0 ? (int64_t)-(uint64_t)v : v;
		else if (!strcmp(r->name, "Neg"))
			v = (int64_t)-(uint64_t)v;
		else if (!strcmp(r->name, "Sign"))
			v = is_unsigned ? v != 0 : (v > 0) - (v < 0);
		else if (!strcmp(r->name, "Relu"))
			v = !is_unsigned && v < 0 ? 0 : v;
		else if (!strcmp(r->name, "Not"))
			v = !v;
		else if (!strcmp(r->name, "BitwiseNot"))
			v = ~v;
		else
			return ref_fail(r, -EINVAL, "of %s", weft_dtype_name(x->dtype));
		ref_put_i(r->y[0], i, v);
	}
	return 0;
}

int ref_unary(struct ref *r)
{
	const weft_tensor *x = r->x[0];

	if (!strcmp(r->name, "IsNaN") || !strcmp(r->name, "IsInf"))
		return test(r);
	int err = ref_y_like(r, 0, x);
	if (err || r->shapes)
		return err;
	if (!ref_floats(x->dtype))
		return integers(r);
	for (size_t k = 0; k < sizeof functions / sizeof functions[0]; k++) {
		if (strcmp(functions[k].name, r->name))
			continue;
		for (int64_t i = 0, n = REF_N(x); i < n; i++)
			ref_put_f(r->y[0], i, functions[k].f(ref_f(x, i)));
		return 0;
	}
	return ref_fail(r, -EINVAL, "of %s", weft_dtype_name(x->dtype));
}

static double gelu(double v, bool approximate)
{
	return approximate ? 0.5 * v * (1 + tanh(sqrt(M_2_PI) * (v + 0.044715 * v * v * v))) : 0.5 * v * (1 + erf(v * M_SQRT1_2));
}

static double shrink(double v, double lambda, double bias)
{
	return v < -lambda ? v + bias : v > lambda ? v - bias : 0;
}

/* a, b: the attributes alpha, and beta or gamma. */
static double function(const struct ref *r, double v)
{
	const double a = (double)r->a->f[0], b = (double)r->a->f[1];
	const char *name = r->name;

	if (!strcmp(name, "Elu"))
		return v < 0 ? a * expm1(v) : v;
	if (!strcmp(name, "Celu"))
		return fmax(0, v) + fmin(0, a * expm1(v / a));
	if (!strcmp(name, "Selu"))
		return b * (v > 0 ? v : a * expm1(v));
	if (!strcmp(name, "LeakyRelu"))
		return v < 0 ? a * v : v;
	if (!strcmp(name, "ThresholdedRelu"))
		return v > a ? v : 0;
	if (!strcmp(name, "HardSigmoid"))
		return fmax(0, fmin(1, a * v + b));
	if (!strcmp(name, "Swish"))
		return v * sigmoid(a * v);
	if (!strcmp(name, "Shrink"))
		return shrink(v, a, b);
	return gelu(v, r->a->i[0] == 1);
}

int ref_param_unary(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int err = ref_y_like(r, 0, x);

	if (err || r->shapes)
		return err;
	for (int64_t i = 0, n = REF_N(x); i < n; i++)
		ref_put_f(r->y[0], i, function(r, ref_f(x, i)));
	return 0;
}

/* com.microsoft's BiasGelu, FastGelu (the hyperbolic tangent's) and QuickGelu, x * sigmoid(alpha * x). A bias is added first. */
int ref_gelu(struct ref *r)
{
	const weft_tensor *x = r->x[0], *bias = r->n_x > 1 ? r->x[1] : NULL;
	const bool quick = *r->name == 'Q', fast = *r->name == 'F';
	int err = ref_fits(r, 1, x);

	err = err ? err : !ref_floats(x->dtype) ? ref_fail(r, -EINVAL, "of %s", weft_dtype_name(x->dtype)) : ref_y_like(r, 0, x);
	if (err || r->shapes)
		return err;
	for (int64_t i = 0, n = REF_N(x); i < n; i++) {
		int64_t at[WEFT_MAX_RANK];

		ref_split(i, x->rank, x->dim, at);
		const double v = ref_f(x, i) + (bias ? ref_f(bias, ref_at(bias, x->rank, at)) : 0);
		ref_put_f(r->y[0], i, quick ? v * sigmoid((double)r->a->f[0] * v) : gelu(v, fast));
	}
	return 0;
}
