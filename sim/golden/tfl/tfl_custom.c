/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFL_CUSTOM: a custom operator of a .tflite file, which functions of the caller compute (weft/custom.h).
 *
 *   x[0], x[1]  the operator's name and its options: int8 [n], a zero behind each
 *   x[2..]      those of its operands that are there
 *   y           its results
 *
 * The graph has uint8 as int8, 128 less; the functions see uint8.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/golden/ops.h"
#include "tfl_custom.h"

/* A call with what it points to. */
struct frame {
	struct weft_custom_call c;
	weft_tensor in[WEFT_CUSTOM_MAX_IN], out[WEFT_CUSTOM_MAX_OUT];
	struct weft_quant in_quant[WEFT_CUSTOM_MAX_IN], out_quant[WEFT_CUSTOM_MAX_OUT];
};

const struct weft_custom_op *weft_custom_find(const struct weft_custom_table *t, const char *name)
{
	for (int i = 0; t && i < t->n_ops; i++)
		if (t->ops[i].name && t->ops[i].run && !strcmp(t->ops[i].name, name))
			return &t->ops[i];
	return NULL;
}

/* Says whether t is int8 [n] with data that ends with a zero, as name and options are. */
static bool is_text(const weft_tensor *t)
{
	return t->dtype == WEFT_INT8 && t->rank == 1 && t->dim[0] >= 1 && t->data && ((const char *)t->data)[t->dim[0] - 1] == 0;
}

/* Returns the quantisation of that scale, 0 for none, and zero point. */
static struct weft_quant quant_of(float scale, int32_t zp)
{
	return (struct weft_quant){ .present = scale != 0, .scale = scale, .zp = scale != 0 ? zp : 0 };
}

/*
 * Fills *f with name, options, operands (data as the graph has it) and quantisation of a call with
 * attributes a; results and message are not set. Returns NULL, or what is wrong with the call.
 */
static const char *fill(struct frame *f, const struct weft_attr_tfl_custom *a, const weft_tensor *const *x, int n_x, int n_y)
{
	int next = WEFT_CUSTOM_OWN;

	memset(f, 0, sizeof *f);
	if (n_x < WEFT_CUSTOM_OWN || !is_text(x[WEFT_CUSTOM_NAME]) || !is_text(x[WEFT_CUSTOM_OPTIONS]))
		return "operands 0 and 1 must be int8 of rank 1 that end with 0";
	if (a->n_in < 0 || a->n_in > WEFT_CUSTOM_MAX_IN || n_y < 1 || n_y > WEFT_CUSTOM_MAX_OUT)
		return "too many operands or results";
	f->c = (struct weft_custom_call){ .name = x[WEFT_CUSTOM_NAME]->data, .options = x[WEFT_CUSTOM_OPTIONS]->data,
	                                  .n_options = (size_t)x[WEFT_CUSTOM_OPTIONS]->dim[0] - 1, .in = f->in, .n_in = a->n_in,
	                                  .out = f->out, .n_out = n_y, .in_quant = f->in_quant, .out_quant = f->out_quant };
	for (int k = 0; k < a->n_in; k++) {
		if (a->absent >> k & 1)
			continue;
		if (next == n_x)
			return "an operand is missing";
		f->in[k] = *x[next++];
		f->in_quant[k] = quant_of(a->x_scale[k], a->x_zp[k]);
		if (a->unsigned_in >> k & 1)
			f->in[k].dtype = WEFT_UINT8;
	}
	for (int k = 0; k < n_y; k++)
		f->out_quant[k] = quant_of(a->y_scale[k], a->y_zp[k]);
	return next == n_x ? NULL : "an operand too many";
}

/* Turns n bytes from int8 to uint8, 128 more, or back. */
static void flip(uint8_t *to, const uint8_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i] ^ 0x80u;
}

/*
 * Gives operands that the file has as uint8 memory of their own with its values. Returns 0 or -ENOMEM; free_operands()
 * frees it in either case.
 */
static int copy_operands(struct frame *f, const struct weft_attr_tfl_custom *a)
{
	int err = 0;

	for (int k = 0; k < a->n_in; k++) {
		if (!(a->unsigned_in >> k & 1) || !f->in[k].data)
			continue;
		const size_t n = weft_tensor_bytes(&f->in[k]);
		uint8_t *p = err ? NULL : malloc(n);

		if (p)
			flip(p, f->in[k].data, n);
		else
			err = -ENOMEM;
		f->in[k].data = p;
	}
	return err;
}

static void free_operands(struct frame *f, const struct weft_attr_tfl_custom *a)
{
	for (int k = 0; k < a->n_in; k++)
		if (a->unsigned_in >> k & 1)
			free(f->in[k].data);
}

/* Calls one of the operator's functions and gives its errno; a positive number counts as -EINVAL. */
static int call(int (*function)(void *, const struct weft_custom_call *), void *user, struct frame *f, char *line, size_t n)
{
	f->c.msg = line;
	f->c.n_msg = n;
	line[0] = 0;
	int err = function(user, &f->c);
	line[n - 1] = 0;
	return err > 0 ? -EINVAL : err;
}

/*
 * Takes the shapes that the function left in f->out over into y. Returns NULL, or what is wrong with them.
 */
static const char *take_shapes(const struct frame *f, weft_tensor *y)
{
	for (int k = 0; k < f->c.n_out; k++) {
		const weft_tensor *t = &f->out[k];

		if (t->dtype != y[k].dtype || t->rank != y[k].rank)
			return "type or rank of a result changed";
		for (int i = 0; i < t->rank; i++)
			if (t->dim[i] < 1 || t->dim[i] > WEFT_DIM_MAX)
				return "a result's dimension is out of range";
		memcpy(y[k].dim, t->dim, sizeof y[k].dim);
	}
	return NULL;
}

int weft_custom_shapes(const struct weft_attr_tfl_custom *attr, const weft_tensor *const *x, int n_x, weft_tensor *y, int n_y,
                       char *msg, size_t n_msg)
{
	const struct weft_custom_op *of = attr->of;
	char line[WEFT_GOLDEN_MSG];
	struct frame f;
	const char *wrong = fill(&f, attr, x, n_x, n_y);
	int err = 0;

	if (!wrong && of->shapes) {
		memcpy(f.out, y, sizeof *y * (size_t)n_y);
		err = copy_operands(&f, attr);
		snprintf(line, sizeof line, "out of memory");
		err = err ? err : call(of->shapes, of->user, &f, line, sizeof line);
		free_operands(&f, attr);
		if (err)
			snprintf(msg, n_msg, "shapes: %s", *line ? line : strerror(-err));
		else
			wrong = take_shapes(&f, y);
	}
	if (wrong)
		snprintf(msg, n_msg, "shapes: %s", wrong);
	return wrong ? -EINVAL : err;
}

int weft_golden_tfl_custom(const struct weft_call *c)
{
	const struct weft_attr_tfl_custom *a = &c->attr->tfl_custom;
	char line[WEFT_GOLDEN_MSG] = "out of memory";
	struct frame f;
	const char *wrong = fill(&f, a, c->x, c->n_x, c->n_y);

	if (wrong)
		return weft_call_fail(c, -EINVAL, "%s", wrong);
	if (!a->of)
		return weft_call_fail(c, -ENOTSUP, "%.40s has no function; give one in weft_load_options.custom", f.c.name);
	for (int k = 0; k < c->n_y; k++) {
		f.out[k] = *c->y[k];
		if (a->unsigned_out >> k & 1)
			f.out[k].dtype = WEFT_UINT8;
	}
	int err = copy_operands(&f, a);
	err = err ? err : call(a->of->run, a->of->user, &f, line, sizeof line);
	free_operands(&f, a);
	for (int k = 0; !err && k < c->n_y; k++)
		if (a->unsigned_out >> k & 1)
			flip(c->y[k]->data, c->y[k]->data, weft_tensor_bytes(c->y[k]));
	return err ? weft_call_fail(c, err, "%.40s: %.90s", f.c.name, *line ? line : strerror(-err)) : 0;
}
