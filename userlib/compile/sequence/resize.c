/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFL_RESIZE_BILINEAR of int8 where lines repeat regularly, by the elementwise engine:
 * N lanes at a time instead of the alu's N/4 elements an operation.
 *
 * The input becomes int16. Along columns, then along rows, results are sums of two
 * neighbours times small whole weights: one node for each run of results whose
 * neighbours advance as they do, one in `times`. The second pass ends with the division
 * by both axes' sums of weights, D = 2^k, rounded half away from zero: sums are eight
 * times as large, so that RESCALE's second rounding, which adds or subtracts one of them
 * by the sign, decides ties and nothing else. Then int16 becomes int8 again.
 *
 * Source: sim/golden/tfl/tfl_resize_bilinear.c; include/spec/cmd.toml, post and elt.
 */
#include <errno.h>
#include <stdlib.h>

#include "tfl.h"
#include "sim/golden/tfl/tfl_resize.h"

#define FUNC(name) WEFT_ALU_FUNC_##name
#define TYPE(name) WEFT_ALU_A_TYPE_##name

#define ONE        1024        /* sum of an axis' weights as golden has them */
#define MOST_SUM   128         /* of the weights that are used: 128 times a byte is an int16 */
#define MOST_TIMES 8           /* results for each element: runs along an axis, each a node or more */
#define MOST_RUNS  64
#define WEIGHT_BITS 16         /* weights in multipliers */
#define SPARE      3           /* sums of the second pass are so many bits up */

/* Results first, first + times, ... of an axis: from neighbours at[0] + i and at[1] + i, i < n, with weights w; of an
 * axis of one element, all from that. */
struct run { int64_t first, n, at[2], w[2]; };

/* One axis. */
struct pass {
	int64_t in, out, times;
	int log2_sum;              /* of the weights */
	struct run run[MOST_RUNS];
	int n_runs;
};

/*
 * Returns the two neighbours of result o along axis a and their weights (of a sum of ONE). If both neighbours
 * are the same or the second has no weight, all weight goes to the first, and the second is the same element.
 */
static struct weft_tfl_tap tap(const struct weft_tfl_axis *a, int64_t o)
{
	struct weft_tfl_tap t = weft_tfl_resize_tap(a, o);

	if (t.at[0] == t.at[1] || !t.w[1]) {
		t.w[0] += t.w[1];
		t.w[1] = 0;
		t.at[1] = t.at[0];
	}
	return t;
}

/*
 * Put result o with neighbours and weights *t at the end of the axis' last run, if it is that run's next
 * result, p->times behind the one before, its weights are the same and its neighbours are each one element
 * on (or the same, if the input has one element); else begin another run with it. Returns false, with *p
 * unchanged, if that would be more than MOST_RUNS runs or a weight is negative.
 */
static bool add_result(struct pass *p, int64_t o, const struct weft_tfl_tap *t)
{
	struct run *r = p->n_runs ? &p->run[p->n_runs - 1] : NULL;

	int64_t on = p->in > 1 && r ? r->n : 0;

	if (r && o == r->first + r->n * p->times && t->at[0] == r->at[0] + on && t->at[1] == r->at[1] + on && t->w[0] == r->w[0] &&
	    t->w[1] == r->w[1]) {
		r->n++;
		return true;
	}
	if (p->n_runs == MOST_RUNS || t->w[0] < 0 || t->w[1] < 0)
		return false;
	p->run[p->n_runs++] = (struct run){ o, 1, { t->at[0], t->at[1] }, { t->w[0], t->w[1] } };
	return true;
}

/*
 * Set *p to axis a: its sizes, p->times (results for each element), its runs, and their weights divided by
 * the largest power of two that all have in common, of which log2_sum is the logarithm of the sum. Returns
 * false if the result is no whole multiple of the input or of more than MOST_TIMES times (an input of one
 * element may become any number), there are too many runs or a negative weight (add_result()), or weights
 * add up to more than MOST_SUM; *p then is undefined.
 */
static bool list_runs(struct pass *p, struct weft_tfl_axis a)
{
	int64_t unit = ONE;

	*p = (struct pass){ .in = a.in, .out = a.out, .times = a.in > 1 ? a.out / a.in : 1 };
	if (a.out % a.in || p->times > MOST_TIMES)
		return false;
	for (int64_t k = 0; k < p->times; k++)
		for (int64_t o = k; o < a.out; o += p->times) {
			struct weft_tfl_tap t = tap(&a, o);
			if (!add_result(p, o, &t))
				return false;
		}
	for (int i = 0; i < p->n_runs; i++)
		while (p->run[i].w[0] % unit || p->run[i].w[1] % unit)
			unit /= 2;
	for (int i = 0; i < p->n_runs; i++)
		for (int k = 0; k < 2; k++)
			p->run[i].w[k] /= unit;
	while ((unit << p->log2_sum) < ONE)
		p->log2_sum++;
	return ONE / unit <= MOST_SUM;
}

/*
 * Returns the view v restricted to n elements along dimension d, of which the first is number `at` and each
 * next one `step` elements farther (step 0: the same element again).
 */
static struct view part(const struct view *v, int d, int64_t at, int64_t n, int64_t step)
{
	struct view w = *v;

	w.off += at * w.step[d];
	w.dim[d] = n;
	w.step[d] *= step;
	return w;
}

/*
 * What a pass resizes: dimension d of the view `from`, into the view `to`. If log2_sum is not 0, sums are divided by
 * 2^log2_sum, rounded half away from zero.
 */
struct resized { int d, log2_sum; struct view from, to; };

/*
 * Add the elementwise int16 node of operator i that makes run r of axis p. The storages are pinned, and the node
 * that is added next must follow. Returns 1 or -ENOMEM.
 */
static int add_run(struct cc *cc, int i, const struct pass *p, const struct run *r, const struct resized *z)
{
	struct node *nd = new_node(cc, NODE_ELT, i, i);

	if (!nd)
		return -ENOMEM;
	nd->mode = WEFT_POST_MODE_INT16;
	nd->x = part(&z->from, z->d, r->at[0], r->n, p->in > 1);
	nd->r = part(&z->from, z->d, r->at[1], r->n, p->in > 1);
	nd->y = nd->dbg = part(&z->to, z->d, r->first, r->n, p->times);
	nd->x_t = nd->r_t = nd->y_tensor = -1;
	nd->add = true;
	nd->before = (int)(nd - cc->nodes) + 2;
	nd->post.y_min = nd->post.s_min = INT16_MIN;
	nd->post.y_max = nd->post.s_max = INT16_MAX;
	nd->post.pre_shift = z->log2_sum ? SPARE : 0;
	nd->post.a = (struct scale){ (uint32_t)r->w[0] << WEIGHT_BITS, WEIGHT_BITS, ROUND_TWICE };
	nd->post.b = (struct scale){ (uint32_t)r->w[1] << WEIGHT_BITS, WEIGHT_BITS, ROUND_TWICE };
	nd->post.s = (struct scale){ 1u << 30, 30 + (z->log2_sum ? SPARE + z->log2_sum : 0), ROUND_TWICE };
	cc->ten[nd->x.root].pinned = cc->ten[nd->y.root].pinned = true;
	return 1;
}

/*
 * Add one node of operator i for each run of axis p (add_run()), in the order of the runs. Returns 1, also if there
 * are no runs, or -ENOMEM.
 */
static int add_pass(struct cc *cc, int i, const struct pass *p, struct resized z)
{
	int err = 1;

	for (int k = 0; k < p->n_runs && err > 0; k++)
		err = add_run(cc, i, p, &p->run[k], &z);
	return err;
}

/*
 * Add a storage for int16 elements of these dimensions and return its dense view; the view's root is
 * negative if there is no memory.
 */
static struct view storage(struct cc *cc, const int64_t dim[4])
{
	return view_dense(cc_new_root(cc, dim[0] * dim[1] * dim[2] * dim[3] * 2), dim, 2);
}

/*
 * Match TFL_RESIZE_BILINEAR i of int8 to whole multiples as elementwise nodes: the input becomes int16 by a
 * loop nest, is resized along columns, then along rows, and becomes int8 again by another nest. Returns 1
 * if it was matched; 0 if it stands for uint8 (raw_uint8), its type is not int8, the configuration has no
 * int16, or list_runs() refuses an axis (no reason is set); or -ENOMEM.
 */
int match_tfl_resize_regular(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const struct weft_attr_tfl_resize *a = &o->attr.tfl_resize;
	const weft_tensor *x = &cc->g->tensors[o->in[0]].t, *y = &cc->g->tensors[o->out[0]].t;
	struct pass rows, columns;

	/* uint8 the framework computes in float32. */
	if (a->raw_uint8 || x->dtype != WEFT_INT8 || !cc->cfg->has_int16 ||
	    !list_runs(&rows, (struct weft_tfl_axis){ x->dim[1], y->dim[1], a->align_corners, a->half_pixel }) ||
	    !list_runs(&columns, (struct weft_tfl_axis){ x->dim[2], y->dim[2], a->align_corners, a->half_pixel }))
		return 0;
	const int64_t between[4] = { x->dim[0], x->dim[1], y->dim[2], x->dim[3] };
	struct view all[3] = { storage(cc, x->dim), storage(cc, between), storage(cc, y->dim) };
	if (all[0].root < 0 || all[1].root < 0 || all[2].root < 0)
		return -ENOMEM;
	struct loop_nest widen = { .func = FUNC(MOVE) }, narrow = { .func = FUNC(MOVE) };
	int64_t stride[WEFT_MAX_RANK];
	nest_over(cc, &widen, o->in[0]);
	widen.a = nest_view(cc, o->in[0], false, stride);
	widen.y = nest_storage(all[0].root, TYPE(INT16));
	nest_over(cc, &narrow, o->out[0]);
	narrow.a = nest_storage(all[2].root, TYPE(INT16));
	for (int d = 0; d < 4; d++) {
		widen.a.step[d] = stride[d];
		widen.y.step[d] = all[0].step[d];
		narrow.a.step[d] = all[2].step[d];
	}
	int err = nest_add_node(cc, i, &widen, false, false);
	if (err > 0)
		err = add_pass(cc, i, &columns, (struct resized){ 2, 0, all[0], all[1] });
	if (err > 0)
		err = add_pass(cc, i, &rows, (struct resized){ 1, columns.log2_sum + rows.log2_sum, all[1], all[2] });
	return err > 0 ? nest_add_node(cc, i, &narrow, true, true) : err;
}
