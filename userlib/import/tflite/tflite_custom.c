/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowers custom operators for which the caller gave functions (weft/custom.h) to
 * TFL_CUSTOM: their name and options become constant operands, and the
 * quantisation of operands and results becomes attributes, so that a .weft
 * file of the network lacks the functions alone.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/golden/golden.h"
#include "sim/golden/tfl/tfl_custom.h"
#include "tflite_host.h"

/*
 * Adds a constant int8 [n + 1] of the n bytes of text and a zero behind them, whose name ends with suffix.
 * Returns its graph tensor, or a negative errno.
 */
static int text(struct tfl_lower *l, const char *suffix, const void *bytes, size_t n)
{
	const int64_t dim = (int64_t)n + 1;
	char *p = tfl_alloc(l, dim, 1);

	if (!p)
		return l->err;
	if (n)
		memcpy(p, bytes, n);
	p[n] = 0;
	return tfl_data(l, suffix, WEFT_INT8, 1, &dim, p);
}

/* Sets *scale and *zp to the quantisation of file tensor i, 0 if it has none or one for each channel. */
static void quantisation(struct tfl_lower *l, int i, float *scale, int32_t *zp)
{
	const struct tfl_tensor *f = tfl_file_tensor(l, i);

	*scale = f->scale.n == 1 ? fb_f32_at(&l->m->b, &f->scale, 0) : 0;
	*zp = f->scale.n == 1 && f->zero_point.n == 1 ? (int32_t)fb_i64_at(&l->m->b, &f->zero_point, 0) : 0;
}

/*
 * Fills in[] from its place WEFT_CUSTOM_OWN on (the places before are the name's and the options') with the
 * graph tensors of those operands of the operator at hand that are present, and notes in *a how many operands
 * there are, which are absent, which are uint8 in the file, and their scales and zero points. Returns the
 * place behind the last one, or a negative errno.
 */
static int operands(struct tfl_lower *l, struct weft_attr_tfl_custom *a, int *in)
{
	int n = WEFT_CUSTOM_OWN;

	a->n_in = (int32_t)l->op->in.n;
	for (int k = 0; k < a->n_in; k++) {
		if (!tfl_has(l, k)) {
			a->absent |= 1 << k;
			continue;
		}
		if ((in[n] = tfl_value(l, k)) < 0)
			return in[n];
		const int i = tfl_operand(l, k);
		quantisation(l, i, &a->x_scale[k], &a->x_zp[k]);
		if (tfl_file_tensor(l, i)->type == TFL_UINT8)
			a->unsigned_in |= 1 << k;
		n++;
	}
	return n;
}

/*
 * Fills *many with the results of the operator at hand: of the file's types, and of the shapes that its
 * function `shapes` gives for the operands in[0..n-1] (the file's if it has no such function). Notes in *a,
 * where no bit of unsigned_out is set yet, which results are uint8 in the file (int8 in *many), and the scale
 * and zero point of each. Returns 0; the errno with which the function refuses the operands; -EINVAL if it
 * changes a result's type or rank or gives a dimension out of range; or another negative errno.
 */
static int results(struct tfl_lower *l, struct weft_attr_tfl_custom *a, const int *in, int n, struct tfl_many *many)
{
	const weft_tensor *x[WEFT_CUSTOM_OWN + WEFT_CUSTOM_MAX_IN];
	char line[WEFT_GOLDEN_MSG];
	int err = 0;

	many->n = (int)l->op->out.n;
	for (int k = 0; k < many->n; k++) {
		if ((err = tfl_result(l, k)))
			return err;
		many->result[k] = k;
		many->t[k] = l->y;
		quantisation(l, l->i_y, &a->y_scale[k], &a->y_zp[k]);
		if (tfl_file_tensor(l, l->i_y)->type == TFL_UINT8) {
			a->unsigned_out |= 1 << k;
			many->t[k].dtype = WEFT_UINT8;
		}
	}
	for (int k = 0; k < n; k++)
		x[k] = &l->g->tensors[in[k]].t;
	err = weft_custom_shapes(a, x, n, many->t, many->n, line, sizeof line);
	for (int k = 0; k < many->n; k++)
		if (a->unsigned_out >> k & 1)
			many->t[k].dtype = WEFT_INT8;
	return err ? tfl_fail(l, err, "%.100s", line) : 0;
}

/*
 * Lowers the custom operator at hand, which the caller's table has. Returns the first result's tensor, -ENOTSUP if it
 * has more operands or results than weft/custom.h allows, or another negative errno.
 */
static int custom(struct tfl_lower *l)
{
	const struct tfl_op *o = l->op;
	weft_attr a = { .tfl_custom = { .of = tfl_custom_of(l) } };
	struct tfl_many many;
	int in[WEFT_CUSTOM_OWN + WEFT_CUSTOM_MAX_IN], n, err;

	if (o->in.n > WEFT_CUSTOM_MAX_IN || o->out.n > WEFT_CUSTOM_MAX_OUT)
		return tfl_fail(l, -ENOTSUP, "%u operands and %u results; at most %d and %d", (unsigned)o->in.n, (unsigned)o->out.n,
		                WEFT_CUSTOM_MAX_IN, WEFT_CUSTOM_MAX_OUT);
	in[WEFT_CUSTOM_NAME] = text(l, "name", o->custom, o->custom_len);
	in[WEFT_CUSTOM_OPTIONS] = in[WEFT_CUSTOM_NAME] < 0 ? -1 : text(l, "options", o->custom_options, o->n_custom_options);
	if (in[WEFT_CUSTOM_NAME] < 0 || in[WEFT_CUSTOM_OPTIONS] < 0)
		return l->err;
	if ((n = operands(l, &a.tfl_custom, in)) < 0)
		return n;
	if ((err = results(l, &a.tfl_custom, in, n, &many)) || (err = tfl_step_many(l, WEFT_OP_TFL_CUSTOM, &a, in, n, &many)))
		return err;
	return l->seen[fb_i32_at(&l->m->b, &o->out, 0)];
}

/*
 * Returns the functions of the operator at hand from the caller's table, or NULL if it is no custom operator,
 * its name is empty or has more than 255 bytes or a zero, or the table does not have it.
 */
const struct weft_custom_op *tfl_custom_of(const struct tfl_lower *l)
{
	char name[256];
	const struct tfl_op *o = l->op;

	if (o->code != TFL_CUSTOM || !o->custom_len || o->custom_len >= sizeof name || memchr(o->custom, 0, o->custom_len))
		return NULL;
	memcpy(name, o->custom, o->custom_len);
	name[o->custom_len] = 0;
	return weft_custom_find(l->o.custom, name);
}

int (*tfl_custom_lowering(const struct tfl_lower *l))(struct tfl_lower *)
{
	return tfl_custom_of(l) ? custom : NULL;
}
