/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NON_MAX_SUPPRESSION_V4 and _V5: boxes by falling score, without those that
 * overlap a box taken before.
 *
 *   boxes [N,4] float32 (y1, x1, y2, x2, corners in any order)   scores [N] float32
 *   most one integer, constant; IoU and score thresholds, one float32 each
 *   sigma one float32 (V5): with sigma above 0 an overlap of IoU u makes a score s into
 *   s * exp(-0.5 * u * u / sigma), and the box waits its turn again
 *
 *   indices [most] int32, scores [most] float32, count [] int32; 0 behind the count
 *
 * A box is dropped if its IoU with a taken one reaches the threshold, or its score falls to or below the score
 * threshold. Without attribute `scores` the results are indices and count.
 *
 * Boxes wait in a heap, whose order of equal scores is part of the result (scores of 8 bits are equal often): the one that the
 * C++ library of GCC keeps in its priority_queue. As in the kernel, a box that was taken waits again; it then meets itself and is
 * dropped, but one without an area, whose IoU is 0, is taken anew until there are enough.
 *
 * Source: LiteRT, reference/non_max_suppression.h.
 */
#include <stdlib.h>

#include "sim/golden/onnx/tfl/ops.h"

enum { BOXES, SCORES, MOST, IOU, SCORE, SIGMA };
enum { WITH_SCORES };              /* the attribute */

/* A box that waits: its score now, and how many of the taken boxes it has been compared with. */
struct waiting { int64_t i, begin; float score; };

/* The boxes that wait: w[0] has the greatest score, and w[k] none below those of w[2 * k + 1] and w[2 * k + 2]. */
struct heap { struct waiting *w; int64_t n; };

/* The intersection of boxes a and b over their union, 0 if either has no area. */
static float overlap(const float *boxes, int64_t a, int64_t b)
{
	float lo[2][2], hi[2][2], area[2];
	const int64_t at[2] = { a, b };

	for (int k = 0; k < 2; k++) {
		const float *p = boxes + 4 * at[k];

		for (int d = 0; d < 2; d++) {
			lo[k][d] = fminf(p[d], p[d + 2]);
			hi[k][d] = fmaxf(p[d], p[d + 2]);
		}
		area[k] = (hi[k][0] - lo[k][0]) * (hi[k][1] - lo[k][1]);
		if (area[k] <= 0)
			return 0;
	}
	const float y = fmaxf(fminf(hi[0][0], hi[1][0]) - fmaxf(lo[0][0], lo[1][0]), 0);
	const float x = fmaxf(fminf(hi[0][1], hi[1][1]) - fmaxf(lo[0][1], lo[1][1]), 0);
	const float both = y * x;
	return both / (area[0] + area[1] - both);
}

/* Puts v into the empty place `at` of h, or as far above it as its score is greater than what is there. */
static void put_up(struct heap *h, int64_t at, struct waiting v)
{
	for (int64_t above = (at - 1) / 2; at > 0 && h->w[above].score < v.score; above = (at - 1) / 2) {
		h->w[at] = h->w[above];
		at = above;
	}
	h->w[at] = v;
}

/* Adds v to h, which has room for it. */
static void push(struct heap *h, struct waiting v)
{
	put_up(h, h->n++, v);
}

/* Takes the box of the greatest score out of h, which is not empty: the place goes down to a leaf, where the last box is put up from. */
static struct waiting pop(struct heap *h)
{
	const struct waiting top = h->w[0], last = h->w[--h->n];
	const int64_t n = h->n;
	int64_t at = 0;

	while (2 * at + 2 < n) {
		const int64_t below = 2 * at + 2 - (h->w[2 * at + 2].score < h->w[2 * at + 1].score);
		h->w[at] = h->w[below];
		at = below;
	}
	if (2 * at + 2 == n) {
		h->w[at] = h->w[2 * at + 1];
		at = 2 * at + 1;
	}
	if (n)
		put_up(h, at, last);
	return top;
}

/* What becomes of a box that was compared with the taken ones. */
enum fate { TAKEN, WAITS, DROPPED };

/*
 * Compares w with the taken boxes that it has not met yet, the last first, and lowers its score. Returns whether it is
 * taken, waits for its turn again, or is dropped.
 */
static enum fate meets(const struct ref *r, struct waiting *w, const int32_t *taken, int64_t n)
{
	const float *boxes = r->x[BOXES]->data, most = *(const float *)r->x[IOU]->data, least = *(const float *)r->x[SCORE]->data;
	const float sigma = r->n_x > SIGMA && r->x[SIGMA] ? *(const float *)r->x[SIGMA]->data : 0, before = w->score;

	for (int64_t k = n; k-- > w->begin;) {
		const float u = overlap(boxes, w->i, taken[k]);

		if (u >= most)
			return DROPPED;
		if (sigma > 0)
			w->score *= expf(-0.5f / sigma * u * u);
		if (w->score <= least)
			return DROPPED;
	}
	w->begin = n;
	if (w->score == before)
		return TAKEN;
	return w->score > least ? WAITS : DROPPED;           /* dropped also if the score is no number any more */
}

/* Chooses at most `most` boxes of the n: their indices and scores. Returns how many. w has room for n. */
static int32_t suppress(const struct ref *r, int64_t n, int64_t most, struct waiting *w, int32_t *taken, float *score)
{
	const float least = *(const float *)r->x[SCORE]->data;
	struct heap h = { w, 0 };
	int32_t count = 0;

	for (int64_t i = 0; i < n; i++) {
		const float s = ((const float *)r->x[SCORES]->data)[i];
		if (s > least)
			push(&h, (struct waiting){ i, 0, s });
	}
	most = most < h.n ? most : h.n;
	while (count < most && h.n) {
		struct waiting next = pop(&h);
		const enum fate fate = meets(r, &next, taken, count);
		if (fate == DROPPED)
			continue;
		if (fate == TAKEN) {
			taken[count] = (int32_t)next.i;
			score[count++] = next.score;
		}
		push(&h, next);
	}
	return count;
}

int tfl_non_max_suppression(struct ref *r)
{
	const weft_tensor *boxes = r->x[BOXES], *scores = r->x[SCORES];
	int64_t most;
	int err = ref_one(r, MOST, &most);

	for (int k = IOU; k < r->n_x && !err; k++)
		err = r->x[k] && (r->x[k]->dtype != WEFT_FP32 || weft_tensor_elements(r->x[k]) != 1) ? ref_fail(r, -EINVAL, "input %d is not one float32", k) : 0;
	if (err || boxes->dtype != WEFT_FP32 || scores->dtype != WEFT_FP32 || boxes->rank != 2 || boxes->dim[1] != 4 || scores->rank != 1 ||
	    scores->dim[0] != boxes->dim[0] || most < 0)
		return err ? err : ref_fail(r, -EINVAL, "boxes and scores do not fit");
	const bool with = r->a->i[WITH_SCORES] != 0;
	if ((err = ref_y(r, 0, WEFT_INT32, 1, &most)) || (with && (err = ref_y(r, 1, WEFT_FP32, 1, &most))) ||
	    (err = ref_y(r, 1 + with, WEFT_INT32, 0, NULL)) || r->shapes)
		return err;
	for (int k = 0; k < r->n_x && !err; k++)
		err = r->x[k] ? ref_need_data(r, k) : 0;
	const int64_t n = boxes->dim[0];
	struct waiting *w = err ? NULL : ref_alloc(r, n, sizeof *w);
	int32_t *taken = w ? ref_alloc(r, most, sizeof *taken) : NULL, count = 0;
	float *score = taken ? ref_alloc(r, most, sizeof *score) : NULL;
	if (score)
		count = suppress(r, n, most, w, taken, score);
	for (int64_t k = 0; score && k < most; k++) {
		ref_put_i(r->y[0], k, k < count ? taken[k] : 0);
		if (with && r->n_y > 1)
			ref_put_f(r->y[1], k, k < count ? (double)score[k] : 0);
	}
	if (score && r->n_y > 1 + with)
		ref_put_i(r->y[1 + with], 0, count);
	err = err ? err : score ? 0 : -ENOMEM;
	free(w);
	free(taken);
	free(score);
	return err;
}
