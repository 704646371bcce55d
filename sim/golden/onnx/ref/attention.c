/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention and RotaryEmbedding.
 *
 *   q [B,Hq,Lq,E] or [B,Lq,Hq*E]   k, v alike with Hkv heads   mask, which broadcasts to [B,Hq,Lq,Lkv]
 *   y, present key and value [B,Hkv,Lkv,E], products of q and k [B,Hq,Lq,Lkv]
 *
 * softmax(softcap(q * k * scale + mask)) * v, sums in double; Hq is a multiple of Hkv.
 * Causal masks are aligned at the upper left before opset 24, behind the past since.
 */
#include <stdlib.h>

#include "sim/golden/onnx/ref/ref.h"

enum { CAUSAL, Q_HEADS, KV_HEADS, MODE };
enum { SCALE, SOFTCAP };

/* A tensor as [batch, heads, length, size]; flat: heads and size share the last dimension. */
struct heads { const weft_tensor *t; int64_t batch, heads, length, size; bool flat; };

static int heads_of(struct ref *r, const weft_tensor *t, int heads, struct heads *h)
{
	*h = (struct heads){ .t = t, .batch = t->dim[0], .flat = t->rank == 3 };
	if (t->rank == 4) {
		h->heads = t->dim[1];
		h->length = t->dim[2];
		h->size = t->dim[3];
		return 0;
	}
	if (t->rank != 3 || heads < 1 || t->dim[2] % heads)
		return ref_fail(r, -EINVAL, "rank %d, %d heads", t->rank, heads);
	h->heads = heads;
	h->length = t->dim[1];
	h->size = t->dim[2] / heads;
	return 0;
}

static int64_t place(const struct heads *h, int64_t b, int64_t head, int64_t i)
{
	return h->flat ? ((b * h->length + i) * h->heads + head) * h->size : ((b * h->heads + head) * h->length + i) * h->size;
}

struct attention {
	struct heads q, k, v, past_k, past_v;
	const weft_tensor *mask;
	int64_t past, total;
	double scale, softcap;
};

/* Element e of key or value i of a head: of the past first. */
static double cached(const struct attention *a, const struct heads *now, const struct heads *before, int64_t b, int64_t head, int64_t i, int64_t e)
{
	return i < a->past ? ref_f(before->t, place(before, b, head, i) + e) : ref_f(now->t, place(now, b, head, i - a->past) + e);
}

static double masked(const struct ref *r, const struct attention *a, int64_t b, int64_t head, int64_t i, int64_t k)
{
	const int64_t at[4] = { b, head, i, k };

	if (r->a->i[CAUSAL] && k > i + (r->a->opset >= 24 ? a->past : 0))
		return -INFINITY;
	if (!a->mask)
		return 0;
	const int64_t columns = a->mask->rank ? a->mask->dim[a->mask->rank - 1] : 1;
	if (k >= columns && columns != 1)
		return -INFINITY;
	const int64_t p = ref_at(a->mask, 4, at);
	return a->mask->dtype == WEFT_BOOL ? (ref_i(a->mask, p) ? 0 : -INFINITY) : ref_f(a->mask, p);
}

static void row(struct ref *r, const struct attention *a, int64_t b, int64_t head, int64_t i, double *s)
{
	const int64_t kv = head / (a->q.heads / a->k.heads), base = ((b * a->q.heads + head) * a->q.length + i) * a->total;
	const int mode = r->a->i[MODE];
	double top = -INFINITY, sum = 0;

	for (int64_t k = 0; k < a->total; k++) {
		double v = 0;
		for (int64_t e = 0; e < a->q.size; e++)
			v += ref_f(a->q.t, place(&a->q, b, head, i) + e) * cached(a, &a->k, &a->past_k, b, kv, k, e);
		const double raw = v * a->scale, biased = raw + masked(r, a, b, head, i, k);
		s[k] = a->softcap > 0 ? tanh(biased / a->softcap) * a->softcap : biased;
		if (r->n_y > 3 && mode < 3)
			ref_put_f(r->y[3], base + k, mode == 0 ? raw : mode == 1 ? biased : s[k]);
		top = fmax(top, s[k]);
	}
	for (int64_t k = 0; k < a->total; k++)
		sum += s[k] = top == -INFINITY ? 0 : exp(s[k] - top);
	for (int64_t k = 0; k < a->total; k++) {
		s[k] = sum > 0 ? s[k] / sum : 0;
		if (r->n_y > 3 && mode == 3)
			ref_put_f(r->y[3], base + k, s[k]);
	}
	const struct heads y = { NULL, a->q.batch, a->q.heads, a->q.length, a->v.size, a->q.flat };
	for (int64_t e = 0; e < a->v.size; e++) {
		double v = 0;
		for (int64_t k = 0; k < a->total; k++)
			v += s[k] * cached(a, &a->v, &a->past_v, b, kv, k, e);
		ref_put_f(r->y[0], place(&y, b, head, i) + e, v);
	}
}

static int state_shapes(struct ref *r, const struct attention *a)
{
	const int64_t b = a->q.batch, flat[] = { b, a->q.length, a->q.heads * a->v.size }, full[] = { b, a->q.heads, a->q.length, a->v.size };
	int err = ref_y(r, 0, a->q.t->dtype, a->q.flat ? 3 : 4, a->q.flat ? flat : full);

	err = err ? err : ref_y(r, 1, a->k.t->dtype, 4, (int64_t[]){ b, a->k.heads, a->total, a->k.size });
	err = err ? err : ref_y(r, 2, a->v.t->dtype, 4, (int64_t[]){ b, a->k.heads, a->total, a->v.size });
	return err ? err : ref_y(r, 3, a->q.t->dtype, 4, (int64_t[]){ b, a->q.heads, a->q.length, a->total });
}

static void write_present(struct ref *r, int k, const struct attention *a, const struct heads *now, const struct heads *before)
{
	for (int64_t i = 0, n = k < r->n_y ? REF_N(r->y[k]) : 0; i < n; i++) {
		int64_t at[4];
		ref_split(i, 4, r->y[k]->dim, at);
		ref_put_f(r->y[k], i, cached(a, now, before, at[0], at[1], at[2], at[3]));
	}
}

static int read_operands(struct ref *r, struct attention *a)
{
	const bool past = r->n_x > 4 && r->x[4];
	int err = heads_of(r, r->x[0], r->a->i[Q_HEADS], &a->q);

	err = err ? err : heads_of(r, r->x[1], r->a->i[KV_HEADS], &a->k);
	err = err ? err : heads_of(r, r->x[2], r->a->i[KV_HEADS], &a->v);
	if (!err && past)
		err = r->n_x > 5 && r->x[5] ? heads_of(r, r->x[4], 0, &a->past_k) : ref_fail(r, -EINVAL, "a past key without its value");
	if (!err && past)
		err = heads_of(r, r->x[5], 0, &a->past_v);
	if (err)
		return err;
	a->mask = r->n_x > 3 ? r->x[3] : NULL;
	a->past = past ? a->past_k.length : 0;
	a->total = a->past + a->k.length;
	if (a->v.batch != a->k.batch || (past && (a->past_k.batch != a->k.batch || a->past_v.batch != a->k.batch || a->past_v.heads != a->k.heads || a->past_v.size != a->v.size)))
		return ref_fail(r, -EINVAL, "batches differ");
	if (a->q.batch != a->k.batch || a->k.heads < 1 || a->q.heads % a->k.heads || a->v.heads != a->k.heads || a->q.size != a->k.size ||
	    a->v.length != a->k.length || (past && (a->past_k.heads != a->k.heads || a->past_v.length != a->past || a->past_k.size != a->k.size)))
		return ref_fail(r, -EINVAL, "queries, keys and values do not fit");
	if (r->n_x > 6 && r->x[6])
		return ref_fail(r, -ENOTSUP, "nonpad_kv_seqlen");
	const int64_t all[4] = { a->q.batch, a->q.heads, a->q.length, a->total };
	for (int d = 0; a->mask && d < a->mask->rank; d++) {
		const int64_t have = a->mask->dim[d], want = a->mask->rank > 4 ? 0 : all[d + 4 - a->mask->rank];
		if (have != 1 && have != want && !(d == a->mask->rank - 1 && have < want))
			return ref_fail(r, -EINVAL, "the mask does not fit");
	}
	a->scale = r->a->f[SCALE] == r->a->f[SCALE] ? (double)r->a->f[SCALE] : 1 / sqrt((double)a->q.size);
	a->softcap = (double)r->a->f[SOFTCAP];
	return 0;
}

int ref_attention(struct ref *r)
{
	struct attention a = { .past = 0 };
	int err = read_operands(r, &a);

	err = err ? err : state_shapes(r, &a);
	if (err || r->shapes)
		return err;
	double *s = ref_alloc(r, a.total, sizeof *s);
	if (!s)
		return -ENOMEM;
	for (int64_t b = 0; b < a.q.batch; b++)
		for (int64_t h = 0; h < a.q.heads; h++)
			for (int64_t i = 0; i < a.q.length; i++)
				row(r, &a, b, h, i, s);
	free(s);
	write_present(r, 1, &a, &a.k, &a.past_k);
	write_present(r, 2, &a, &a.v, &a.past_v);
	return 0;
}

/* ONNX: x, cos, sin, positions; com.microsoft: x, positions, cos, sin. */
int ref_rotary(struct ref *r)
{
	const bool ms = r->n_x > 3 && r->x[3] && !ref_floats(r->x[1]->dtype);
	const weft_tensor *x = r->x[0], *cosines = r->x[ms ? 2 : 1], *sines = r->x[ms ? 3 : 2], *positions = ms ? r->x[1] : r->n_x > 3 ? r->x[3] : NULL;
	struct heads h;
	const int heads = r->a->i[1] ? r->a->i[1] : x->rank == 3 && r->a->i[2] == 0 && cosines->rank && REF_N(cosines) ? (int)(x->dim[2] / (2 * cosines->dim[cosines->rank - 1])) : 0;
	int err = cosines->rank < 1 ? ref_fail(r, -EINVAL, "no angles") : heads_of(r, x, heads, &h);

	err = err ? err : ref_y_like(r, 0, x);
	if (err || r->shapes)
		return err;
	const int64_t turned = r->a->i[2] ? r->a->i[2] : h.size, half = turned / 2, width = cosines->dim[cosines->rank - 1];
	if (cosines->rank < 1 || REF_N(sines) != REF_N(cosines) || (positions && REF_N(positions) != 1 && REF_N(positions) != h.batch * h.length) || half < 0)
		return ref_fail(r, -EINVAL, "angles or positions do not fit");
	if (half > width || turned > h.size)
		return ref_fail(r, -EINVAL, "%lld angles for %lld elements", (long long)width, (long long)turned);
	memcpy(r->y[0]->data, x->data, weft_tensor_bytes(x));
	for (int64_t i = 0, n = h.batch * h.heads * h.length * half; i < n; i++) {
		const int64_t e = i % half, t = i / half % h.length, head = i / half / h.length % h.heads, b = i / half / h.length / h.heads;
		const int64_t p = !positions ? b * h.length + t : REF_N(positions) == 1 ? ref_add(ref_i(positions, 0), t) : ref_i(positions, b * h.length + t);
		if (p < 0 || p >= REF_N(cosines) / width)
			return ref_fail(r, -EINVAL, "position %lld", (long long)p);
		const int64_t base = place(&h, b, head, t), u = base + (r->a->i[0] ? 2 * e : e), v = r->a->i[0] ? u + 1 : u + half;
		const double c = ref_f(cosines, p * width + e), s = ref_f(sines, p * width + e);
		ref_put_f(r->y[0], u, c * ref_f(x, u) - s * ref_f(x, v));
		ref_put_f(r->y[0], v, s * ref_f(x, u) + c * ref_f(x, v));
	}
	return 0;
}
