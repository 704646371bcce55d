/* SPDX-License-Identifier: Apache-2.0 */
/* Fourier transforms of any length by their sums, windows, and mel filters; double, rounded once. */
#include "sim/golden/onnx/ref/ref.h"

static weft_dtype output_type(int32_t number)
{
	return number == 11 ? WEFT_FP64 : number == 10 ? WEFT_FP16 : number == 16 ? WEFT_BF16 : number == 1 ? WEFT_FP32 : 0;
}

/* Sum over n places of (re, im) * e^(sign * 2 pi i k j / length). */
static void term(double re, double im, int64_t k, int64_t j, int64_t length, double sign, double *sr, double *si)
{
	const double angle = sign * 2 * M_PI * (double)(k * j % length) / (double)length, c = cos(angle), s = sin(angle);

	*sr += re * c - im * s;
	*si += re * s + im * c;
}

/* x [...,1 or 2], along an axis: an attribute before opset 20, an operand since. */
int ref_dft(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const bool inverse = r->a->i[1], onesided = r->a->i[2];
	int64_t axis_given = r->a->opset < 20 ? 1 : -2, length;
	int err;

	if (r->a->i[0] != WEFT_ONNX_ABSENT)
		axis_given = r->a->i[0];
	if (r->n_x > 2 && r->x[2] && (err = ref_one(r, 2, &axis_given)) < 0)
		return err;
	const int axis = ref_axis(r, axis_given, x->rank);
	if (axis < 0 || x->rank < 2 || axis == x->rank - 1)
		return ref_fail(r, -EINVAL, "axis %lld", (long long)axis_given);
	length = x->dim[axis];
	if (r->n_x > 1 && r->x[1] && (err = ref_one(r, 1, &length)) < 0)
		return err;
	weft_tensor y = *x;
	y.dim[axis] = onesided ? length / 2 + 1 : length;
	y.dim[y.rank - 1] = 2;
	err = length < 1 || length > INT32_MAX || (x->dim[x->rank - 1] != 1 && x->dim[x->rank - 1] != 2) ? ref_fail(r, -EINVAL, "length %lld", (long long)length) : ref_y_like(r, 0, &y);
	if (err || r->shapes)
		return err;
	const int64_t parts = x->dim[x->rank - 1], n = x->dim[axis] < length ? x->dim[axis] : length;
	for (int64_t i = 0, all = REF_N(&y) / 2; i < all; i++) {
		int64_t at[WEFT_MAX_RANK];
		double sr = 0, si = 0;
		ref_split(2 * i, y.rank, y.dim, at);
		const int64_t k = at[axis];
		for (int64_t j = 0; j < n; j++) {
			at[axis] = j;
			at[y.rank - 1] = 0;
			const int64_t p = ref_at(x, x->rank, at);
			term(ref_f(x, p), parts == 2 ? ref_f(x, p + 1) : 0, k, j, length, inverse ? 1 : -1, &sr, &si);
		}
		ref_put_f(r->y[0], 2 * i, inverse ? sr / (double)length : sr);
		ref_put_f(r->y[0], 2 * i + 1, inverse ? si / (double)length : si);
	}
	return 0;
}

/* signal [B,L,1 or 2], step, window, frame length: [B,frames,bins,2]. */
int ref_stft(struct ref *r)
{
	const weft_tensor *x = r->x[0], *window = r->n_x > 2 ? r->x[2] : NULL;
	int64_t step, length = window ? REF_N(window) : 0;
	int err = ref_one(r, 1, &step);

	if (err >= 0 && r->n_x > 3 && r->x[3])
		err = ref_one(r, 3, &length);
	if (err < 0)
		return err;
	if (x->rank < 2 || x->rank > 3 || (x->rank == 3 && x->dim[2] != 1 && x->dim[2] != 2) || step < 1 || length < 1 || length > x->dim[1] || (window && REF_N(window) != length))
		return ref_fail(r, -EINVAL, "frames of %lld, step %lld", (long long)length, (long long)step);
	const int64_t frames = (x->dim[1] - length) / step + 1, bins = r->a->i[0] ? length / 2 + 1 : length, parts = x->rank == 3 ? x->dim[2] : 1;
	err = ref_y(r, 0, x->dtype, 4, (int64_t[]){ x->dim[0], frames, bins, 2 });
	if (err || r->shapes)
		return err;
	for (int64_t i = 0, all = REF_N(r->y[0]) / 2; i < all; i++) {
		const int64_t k = i % bins, f = i / bins % frames, b = i / bins / frames;
		double sr = 0, si = 0;
		for (int64_t j = 0; j < length; j++) {
			const int64_t p = (b * x->dim[1] + f * step + j) * parts;
			const double w = window ? ref_f(window, j) : 1;
			term(ref_f(x, p) * w, parts == 2 ? ref_f(x, p + 1) * w : 0, k, j, length, -1, &sr, &si);
		}
		ref_put_f(r->y[0], 2 * i, sr);
		ref_put_f(r->y[0], 2 * i + 1, si);
	}
	return 0;
}

/* HannWindow, HammingWindow, BlackmanWindow. */
int ref_window(struct ref *r)
{
	const weft_dtype t = output_type(r->a->i[1]);
	const bool hamming = !strncmp(r->name, "Ham", 3), blackman = *r->name == 'B';
	int64_t n;
	int err = ref_one(r, 0, &n);

	if (err < 0)
		return err;
	err = t ? ref_y(r, 0, t, 1, &n) : ref_fail(r, -ENOTSUP, "type %d", (int)r->a->i[1]);
	for (int64_t i = 0; !err && !r->shapes && i < n; i++) {
		const double at = 2 * M_PI * (double)i / (double)(r->a->i[0] ? n : n - 1), a = hamming ? 25.0 / 46 : blackman ? 0.42 : 0.5;
		ref_put_f(r->y[0], i, a - (hamming ? 1 - a : 0.5) * cos(at) + (blackman ? 0.08 * cos(2 * at) : 0));
	}
	return err;
}

/* Places of the filters' corners among the bins. */
static int64_t mel_bin(const double *v, int64_t bins, int64_t i)
{
	const double low = 2595 * log10(1 + v[2] / 700), high = 2595 * log10(1 + v[3] / 700);
	const double mel = (double)i * (high - low) / (double)(bins + 2) + low;

	const double bin = floor((v[0] + 1) * (700 * (pow(10, mel / 2595) - 1)) / v[1]);
	return fabs(bin) < 0x1p31 ? (int64_t)bin : -1;
}

int ref_mel(struct ref *r)
{
	const weft_dtype t = output_type(r->a->i[0]);
	double v[4];
	int err = 0;

	for (int k = 0; k < 5 && !err; k++) {
		err = ref_need_data(r, k);
		err = err ? err : ref_count(r, k, 1, true);
	}
	if (err)
		return err;
	const int64_t n = ref_i(r->x[0], 0), length = ref_i(r->x[1], 0);
	for (int k = 0; k < 4; k++)
		v[k] = ref_f(r->x[k + 1], 0);
	if (n < 0 || length < 0)
		return ref_fail(r, -EINVAL, "%lld bands, frames of %lld", (long long)n, (long long)length);
	err = t ? ref_y(r, 0, t, 2, (int64_t[]){ length / 2 + 1, n }) : ref_fail(r, -ENOTSUP, "type %d", (int)r->a->i[0]);
	if (err || r->shapes)
		return err;
	memset(r->y[0]->data, 0, weft_tensor_bytes(r->y[0]));
	for (int64_t i = 0; i < n; i++) {
		const int64_t lo = mel_bin(v, n, i), mid = mel_bin(v, n, i + 1), hi = mel_bin(v, n, i + 2);
		if (lo < 0 || mid < lo || hi < mid || hi > length / 2 + 1)
			return ref_fail(r, -EINVAL, "frequencies beyond the bins");
		for (int64_t j = lo; j <= mid && j <= length / 2; j++)
			ref_put_f(r->y[0], j * n + i, mid == lo ? 1 : (double)(j - lo) / (double)(mid - lo));
		for (int64_t j = mid; j < hi; j++)
			ref_put_f(r->y[0], j * n + i, (double)(hi - j) / (double)(hi - mid));
	}
	return 0;
}
