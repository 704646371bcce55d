/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products, Einsum and determinants: floats summed in double and rounded once, integers with wrapping sums. */
#include <stdlib.h>

#include "sim/golden/onnx/ref/ref.h"

struct matrix ref_matrix_of(const weft_tensor *t, bool second)
{
	const int r = t->rank;

	if (r == 1)
		return (struct matrix){ t, second ? t->dim[0] : 1, second ? 1 : t->dim[0], 0 };
	return r ? (struct matrix){ t, t->dim[r - 2], t->dim[r - 1], r - 2 } : (struct matrix){ .t = t };
}

int ref_product_shape(struct ref *r, const struct matrix *a, const struct matrix *b, int *rank, int64_t *dim, int *batch)
{
	weft_tensor lead_a = *a->t, lead_b = *b->t;
	int err;

	if (a->t->rank < 1 || b->t->rank < 1 || a->columns != b->rows)
		return ref_fail(r, -EINVAL, "%lld columns by %lld rows", (long long)a->columns, (long long)b->rows);
	lead_a.rank = a->batch;
	lead_b.rank = b->batch;
	*rank = 0;
	if ((err = ref_broadcast(r, rank, dim, &lead_a)) || (err = ref_broadcast(r, rank, dim, &lead_b)))
		return err;
	*batch = *rank;
	if (*rank + 2 > WEFT_MAX_RANK)
		return ref_fail(r, -ENOTSUP, "rank %d", *rank + 2);
	if (a->t->rank > 1)
		dim[(*rank)++] = a->rows;
	if (b->t->rank > 1)
		dim[(*rank)++] = b->columns;
	return 0;
}

int64_t ref_matrix_at(const struct matrix *m, int batch, const int64_t *at)
{
	weft_tensor lead = *m->t;

	lead.rank = m->batch;
	return ref_at(&lead, batch, at) * m->rows * m->columns;
}

/* Numbers less their zero points: one, or one for each row (a) or column (b). */
struct zero { const weft_tensor *t; };

static int64_t zero_of(const struct zero *z, int64_t line, const struct matrix *m, int64_t base)
{
	if (!z->t)
		return 0;
	const int64_t n = REF_N(z->t);
	if (n <= 1)
		return n ? ref_i(z->t, 0) : 0;
	return ref_i(z->t, (base / (m->rows * m->columns) * (n > REF_N(m->t) / (m->rows * m->columns) ? m->rows : 1) + line) % n);
}

typedef void write_sum(struct ref *r, int64_t to, int64_t row, int64_t column, double v, int64_t w);

static int products(struct ref *r, const struct matrix *a, const struct matrix *b, const struct zero *za, const struct zero *zb, weft_dtype t,
                    write_sum *write)
{
	int64_t dim[WEFT_MAX_RANK + 2], at[WEFT_MAX_RANK];
	int rank = 0, batch = 0, err = ref_product_shape(r, a, b, &rank, dim, &batch);

	err = err ? err : ref_y(r, 0, t, rank, dim);
	if (err || r->shapes)
		return err;
	const bool floats = ref_floats(a->t->dtype);
	int64_t n = 1;
	for (int d = 0; d < batch; d++)
		n *= dim[d];
	for (int64_t m = 0; m < n; m++) {
		ref_split(m, batch, dim, at);
		const int64_t pa = ref_matrix_at(a, batch, at), pb = ref_matrix_at(b, batch, at);
		for (int64_t i = 0; i < a->rows; i++)
			for (int64_t j = 0; j < b->columns; j++) {
				double v = 0;
				int64_t w = 0;
				for (int64_t k = 0; k < a->columns; k++) {
					if (floats)
						v += ref_f(a->t, pa + i * a->columns + k) * ref_f(b->t, pb + k * b->columns + j);
					else
						w = ref_add(w, ref_mul(ref_sub(ref_i(a->t, pa + i * a->columns + k), zero_of(za, i, a, pa)),
						                       ref_sub(ref_i(b->t, pb + k * b->columns + j), zero_of(zb, j, b, pb))));
				}
				write(r, (m * a->rows + i) * b->columns + j, i, j, v, w);
			}
	}
	return 0;
}

static void write_plain(struct ref *r, int64_t to, int64_t row, int64_t column, double v, int64_t w)
{
	(void)row;
	(void)column;
	if (ref_floats(r->y[0]->dtype))
		ref_put_f(r->y[0], to, v);
	else
		ref_put_i(r->y[0], to, w);
}

int ref_matmul(struct ref *r)
{
	const struct matrix a = ref_matrix_of(r->x[0], false), b = ref_matrix_of(r->x[1], true);
	const struct zero none = { NULL };

	if (r->x[0]->dtype != r->x[1]->dtype)
		return ref_fail(r, -EINVAL, "%s by %s", weft_dtype_name(r->x[0]->dtype), weft_dtype_name(r->x[1]->dtype));
	return products(r, &a, &b, &none, &none, r->x[0]->dtype, write_plain);
}

int ref_matmul_integer(struct ref *r)
{
	const struct matrix a = ref_matrix_of(r->x[0], false), b = ref_matrix_of(r->x[1], true);
	const struct zero za = { r->n_x > 2 ? r->x[2] : NULL }, zb = { r->n_x > 3 ? r->x[3] : NULL };

	return products(r, &a, &b, &za, &zb, WEFT_INT32, write_plain);
}

/* The scale's element for a row or column. */
static double scale_of(const weft_tensor *t, int64_t line)
{
	return ref_f(t, REF_N(t) <= 1 ? 0 : line % REF_N(t));
}

/* float32(sum) * float32(a_scale * b_scale / y_scale), to even, plus the zero point, saturated. */
static void write_quantised(struct ref *r, int64_t to, int64_t row, int64_t column, double v, int64_t w)
{
	const weft_tensor *y_scale = r->x[6], *zp = r->x[7];
	const double s = scale_of(r->x[1], row) * scale_of(r->x[4], column) / scale_of(y_scale, column);

	(void)v;
	ref_put_f(r->y[0], to, nearbyint((double)w * s) + (double)ref_i(zp, REF_N(zp) == 1 ? 0 : column % REF_N(zp)));
}

/* Operands: a, a_scale, a_zp, b, b_scale, b_zp, y_scale, y_zp. */
int ref_qlinear_matmul(struct ref *r)
{
	const struct matrix a = ref_matrix_of(r->x[0], false), b = ref_matrix_of(r->x[3], true);
	const struct zero za = { r->x[2] }, zb = { r->x[5] };

	for (int k = 1; k < 8; k++)
		if (!REF_N(r->x[k]))
			return ref_fail(r, -EINVAL, "input %d has no elements", k);
	if (ref_floats(r->x[0]->dtype))
		return ref_fail(r, -ENOTSUP, "of %s", weft_dtype_name(r->x[0]->dtype));
	return products(r, &a, &b, &za, &zb, r->x[7]->dtype, write_quantised);
}

int ref_gemm(struct ref *r)
{
	const weft_tensor *a = r->x[0], *b = r->x[1], *c = r->n_x > 2 ? r->x[2] : NULL;
	const int ta = r->a->i[0] != 0, tb = r->a->i[1] != 0;

	if (a->rank != 2 || b->rank != 2 || a->dim[!ta] != b->dim[tb])
		return ref_fail(r, -EINVAL, "matrices do not fit");
	const int64_t m = a->dim[ta], k = a->dim[!ta], n = b->dim[!tb];
	int err = ref_fits(r, 2, &(weft_tensor){ .rank = 2, .dim = { m, n } });

	err = err ? err : ref_y(r, 0, a->dtype, 2, (int64_t[]){ m, n });
	for (int64_t i = 0; !err && !r->shapes && i < m * n; i++) {
		double v = 0;
		int64_t w = 0;
		for (int64_t p = 0; p < k; p++) {
			const int64_t ia = ta ? p * m + i / n : i / n * k + p, ib = tb ? i % n * k + p : p * n + i % n;
			v += ref_floats(a->dtype) ? ref_f(a, ia) * ref_f(b, ib) : 0;
			w = ref_floats(a->dtype) ? 0 : ref_add(w, ref_mul(ref_i(a, ia), ref_i(b, ib)));
		}
		const int64_t at[2] = { i / n, i % n };
		const double alpha = (double)r->a->f[0], beta = (double)r->a->f[1];
		if (ref_floats(a->dtype))
			ref_put_f(r->y[0], i, alpha * v + (c ? beta * ref_f(c, ref_at(c, 2, at)) : 0));
		else
			ref_put_i(r->y[0], i, ref_add(ref_cut(alpha * (double)w), c ? ref_cut(beta * (double)ref_i(c, ref_at(c, 2, at))) : 0));
	}
	return err;
}

/* ---- com.microsoft MatMulNBits: weights [N, blocks, bytes] of 2, 4 or 8 bits with a scale for each block ---- */

static int64_t packed(const weft_tensor *t, int64_t i, int bits)
{
	const uint8_t *p = t->data;

	return p[i * bits / 8] >> (i * bits % 8) & ((1 << bits) - 1);
}

static double weight(const struct ref *r, int64_t n, int64_t k, int64_t blocks)
{
	const int bits = r->a->i[2];
	const int64_t block = r->a->i[3], at = k / block;
	const weft_tensor *zp = r->n_x > 3 ? r->x[3] : NULL;
	const int64_t row_bytes = (blocks * bits + 7) / 8;
	double z = 1 << (bits - 1);

	if (zp && ref_floats(zp->dtype))
		z = ref_f(zp, n * blocks + at);
	else if (zp)
		z = (double)packed(&(weft_tensor){ .data = (uint8_t *)zp->data + n * row_bytes }, at, bits);
	const int64_t code = packed(&(weft_tensor){ .data = (uint8_t *)r->x[1]->data + (n * blocks + at) * (block * bits / 8) }, k % block, bits);
	return ref_round(r->x[2]->dtype, ((double)code - z) * ref_f(r->x[2], n * blocks + at));
}

/*
 * Does ONNX Runtime multiply codes of 8 bits of x by those of the weights? It does with accuracy_level 4, for float32; not by weights of
 * 2 bits in blocks of 16.
 */
static bool input_has_codes(const struct ref *r)
{
	return r->a->i[4] == 4 && r->x[0]->dtype == WEFT_FP32 && (r->a->i[2] != 2 || r->a->i[3] > 16);
}

/* x [rows][k] as it is multiplied: as it is, or as the numbers of int8 codes, -127 to 127, with a scale for each block of a row. */
static void input(const struct ref *r, int64_t rows, int64_t k, double *to)
{
	const int64_t block = input_has_codes(r) ? r->a->i[3] : k;

	for (int64_t i = 0; i < rows * k; i++)
		to[i] = ref_f(r->x[0], i);
	for (int64_t row = 0; input_has_codes(r) && row < rows; row++)
		for (int64_t from = 0; from < k; from += block) {
			double *p = to + row * k + from;
			const int64_t n = from + block < k ? block : k - from;
			float most = 0;
			for (int64_t i = 0; i < n; i++)
				most = fmaxf(most, fabsf((float)p[i]));
			const float scale = most / 127, inverse = scale > 0 ? 1 / scale : 0;
			for (int64_t i = 0; i < n; i++)
				p[i] = (double)rintf((float)p[i] * inverse) * (double)scale;
		}
}

int ref_matmul_nbits(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const int64_t k = r->a->i[0], n = r->a->i[1], bits = r->a->i[2], block = r->a->i[3];
	weft_tensor y = *x;

	if (x->rank < 1 || k < 1 || n < 1 || block < 1 || (bits != 2 && bits != 4 && bits != 8) || x->dim[x->rank - 1] != k || block * bits % 8 || r->x[1]->dtype != WEFT_UINT8)
		return ref_fail(r, -EINVAL, "K %lld, N %lld, %lld bits, blocks of %lld", (long long)k, (long long)n, (long long)bits, (long long)block);
	const int64_t blocks = (k + block - 1) / block;
	if (REF_N(r->x[1]) != n * blocks * block * bits / 8 || REF_N(r->x[2]) != n * blocks || (r->n_x > 4 && r->x[4]))
		return ref_fail(r, r->n_x > 4 && r->x[4] ? -ENOTSUP : -EINVAL, "weights or scales do not fit, or g_idx is given");
	y.dim[y.rank - 1] = n;
	int err = ref_count(r, 5, n, false);
	if (!err && r->n_x > 3 && r->x[3] && REF_N(r->x[3]) < (ref_floats(r->x[3]->dtype) ? n * blocks : n * ((blocks * bits + 7) / 8)))
		err = ref_fail(r, -EINVAL, "zero points do not fit");
	err = err ? err : ref_y_like(r, 0, &y);
	if (err || r->shapes)
		return err;
	const int64_t m = REF_N(x) / k;
	double *row = ref_alloc(r, (1 + m) * k, sizeof *row), *a = row + k;
	if (!row)
		return -ENOMEM;
	input(r, m, k, a);
	for (int64_t j = 0; j < n; j++) {
		for (int64_t p = 0; p < k; p++)
			row[p] = weight(r, j, p, blocks);
		for (int64_t i = 0; i < m; i++) {
			double v = r->n_x > 5 && r->x[5] ? ref_f(r->x[5], j) : 0;
			for (int64_t p = 0; p < k; p++)
				v += a[i * k + p] * row[p];
			ref_put_f(r->y[0], i * n + j, v);
		}
	}
	free(row);
	return 0;
}

int ref_det(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const int64_t n = x->rank >= 2 ? x->dim[x->rank - 1] : 0;
	int err = x->rank < 2 || x->dim[x->rank - 2] != n ? ref_fail(r, -EINVAL, "not square") : ref_y(r, 0, x->dtype, x->rank - 2, x->dim);

	if (err || r->shapes)
		return err;
	double *m = ref_alloc(r, n * n, sizeof *m);
	if (!m)
		return -ENOMEM;
	for (int64_t b = 0, all = REF_N(r->y[0]); b < all; b++) {
		double det = 1;
		for (int64_t i = 0; i < n * n; i++)
			m[i] = ref_f(x, b * n * n + i);
		for (int64_t c = 0; c < n && det != 0; c++) {
			int64_t p = c;
			for (int64_t i = c + 1; i < n; i++)
				p = fabs(m[i * n + c]) > fabs(m[p * n + c]) ? i : p;
			for (int64_t k = 0; p != c && k < n; k++) {
				const double t = m[p * n + k];
				m[p * n + k] = m[c * n + k];
				m[c * n + k] = t;
			}
			det *= p == c ? m[c * n + c] : -m[c * n + c];
			for (int64_t i = c + 1; i < n && det != 0; i++)
				for (int64_t k = n - 1; k >= c; k--)
					m[i * n + k] -= m[i * n + c] / m[c * n + c] * m[c * n + k];
		}
		ref_put_f(r->y[0], b, det);
	}
	free(m);
	return 0;
}

/* ---- Einsum ---- */

#define MAX_LABELS 26

/* Labels of each operand and of the result; "..." becomes labels of its own, aligned at the end. */
struct sum { char in[8][2 * WEFT_MAX_RANK + 1], out[2 * WEFT_MAX_RANK + 1]; int n, dots; int64_t size[128]; };

static int put_term(struct ref *r, const char *p, size_t len, int rank, int *dots, char *to)
{
	int letters = 0, k = 0;
	bool open = false;

	for (size_t i = 0; i < len; i++) {
		if (p[i] != ' ' && p[i] != '.' && !((p[i] | 32) >= 'a' && (p[i] | 32) <= 'z'))
			return ref_fail(r, -EINVAL, "the equation has characters that are no letters");
		letters += p[i] != ' ' && p[i] != '.';
	}
	if (rank >= 0)
		*dots = rank - letters;
	if (*dots < 0 || letters + *dots > WEFT_MAX_RANK)
		return ref_fail(r, -EINVAL, "the equation does not fit rank %d", rank);
	for (size_t i = 0; i < len; i++) {
		if (p[i] == '.' && !open)
			for (int d = 0; d < *dots; d++)
				to[k++] = (char)('0' + 8 - *dots + d);
		open = p[i] == '.';
		if (p[i] != '.' && p[i] != ' ')
			to[k++] = p[i];
	}
	to[k] = 0;
	return rank >= 0 && k != rank ? ref_fail(r, -EINVAL, "the equation does not fit rank %d", rank) : 0;
}

/* Without "->": labels that occur once, sorted; what "..." stands for comes first. */
static void implicit(struct sum *s)
{
	int count[128] = { 0 }, k = 0;

	for (int i = 0; i < s->n; i++)
		for (const char *p = s->in[i]; *p; p++)
			count[(int)*p]++;
	for (int c = '0'; c < 128 && k < 2 * WEFT_MAX_RANK; c++)
		if (count[c] && (c < '9' || count[c] == 1))
			s->out[k++] = (char)c;
	s->out[k] = 0;
}

static int parse(struct ref *r, struct sum *s)
{
	const weft_tensor *text = r->x[r->n_x - 1];
	const char *p = text->data, *end = p ? p + REF_N(text) : p, *arrow = NULL;
	int err = ref_need_data(r, r->n_x - 1);

	*s = (struct sum){ .n = r->n_x - 1 };
	for (int c = 0; c < 128; c++)
		s->size[c] = -1;             /* no such label */
	for (const char *q = p; !err && q + 1 < end; q++)
		arrow = q[0] == '-' && q[1] == '>' && !arrow ? q : arrow;
	for (int i = 0; !err && i < s->n; i++) {
		const char *q = p;
		int dots;
		while (q < end && q != arrow && *q != ',')
			q++;
		err = i < 8 ? put_term(r, p, (size_t)(q - p), r->x[i]->rank, &dots, s->in[i]) : ref_fail(r, -ENOTSUP, "more than 8 operands");
		s->dots = !err && dots > s->dots && memchr(p, '.', (size_t)(q - p)) ? dots : s->dots;
		p = q < end && q != arrow ? q + 1 : q;
	}
	if (!err && arrow)
		err = put_term(r, arrow + 2, (size_t)(end - arrow - 2), -1, &s->dots, s->out);
	else if (!err)
		implicit(s);
	for (int i = 0; !err && i < s->n; i++)
		for (int d = 0; s->in[i][d]; d++) {
			int64_t *size = &s->size[s->in[i][d] & 127];
			if (*size >= 0 && *size != 1 && r->x[i]->dim[d] != 1 && *size != r->x[i]->dim[d])
				return ref_fail(r, -EINVAL, "dimensions of %c differ", s->in[i][d]);
			*size = *size == 0 || *size > 1 ? *size : r->x[i]->dim[d];
		}
	return err;
}

/* The element of operand i at a value for each label. */
static double element(const struct ref *r, const struct sum *s, int i, const int64_t *value)
{
	int64_t p = 0;

	for (int d = 0; s->in[i][d]; d++)
		p = p * r->x[i]->dim[d] + (r->x[i]->dim[d] == 1 ? 0 : value[s->in[i][d] & 127]);
	return ref_f(r->x[i], p);
}

int ref_einsum(struct ref *r)
{
	struct sum s;
	int64_t dim[2 * WEFT_MAX_RANK], inner[128], value[128] = { 0 };
	int err = parse(r, &s), rank = 0, n_inner = 0;
	char label[128];

	for (; !err && s.out[rank]; rank++)
		dim[rank] = s.size[s.out[rank] & 127];
	err = err ? err : rank > WEFT_MAX_RANK ? ref_fail(r, -ENOTSUP, "rank %d", rank) : ref_y(r, 0, r->x[0]->dtype, rank, dim);
	if (err || r->shapes)
		return err;
	for (int c = 0; c < 128; c++)
		if (s.size[c] >= 0 && !strchr(s.out, c)) {
			label[n_inner] = (char)c;
			inner[n_inner++] = s.size[c];
		}
	int64_t sums = 1;
	for (int k = 0; k < n_inner; k++)
		sums *= inner[k];
	for (int64_t i = 0, n = REF_N(r->y[0]); i < n; i++) {
		int64_t at[128];
		double v = 0;
		ref_split(i, rank, dim, at);
		for (int d = 0; d < rank; d++)
			value[s.out[d] & 127] = at[d];
		for (int64_t k = 0; k < sums; k++) {
			double f = 1;
			ref_split(k, n_inner, inner, at);
			for (int d = 0; d < n_inner; d++)
				value[(int)label[d]] = at[d];
			for (int o = 0; o < s.n; o++)
				f *= element(r, &s, o, value);
			v += f;
		}
		ref_put_f(r->y[0], i, v);
	}
	return 0;
}
