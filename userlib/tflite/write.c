/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes of the interpreter as a .tflite file in memory. Fields and their numbers are those of
 * userlib/import/tflite/tflite.fbs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "delegate.h"
#include "userlib/export/fb_write.h"

/* A part that is being written. */
struct writer {
	struct rt_context *rt;
	const struct part *p;
	bool open;                 /* the shapes of what the nodes make are open, see part_write() */
	int *local;                /* by the interpreter's tensor: its number in the file plus 1; 0: none */
	int *tensors, n_tensors;   /* in the file's order */
	struct fbw w;
};

/*
 * Writes a table with these n fields, to which the offset at `slot` leads, and sets slots[] to the
 * place of each field. Returns the table's place in the file.
 */
static size_t table(struct writer *x, size_t slot, const struct fbw_field *f, int n, size_t *slots)
{
	size_t at = fbw_table(&x->w, f, n, slots);

	fbw_link(&x->w, slot, at);
	return at;
}

/* Writes a list of n numbers of `bytes` bytes each, to which the offset at `slot` leads. */
static void numbers(struct writer *x, size_t slot, const void *v, int n, size_t bytes)
{
	size_t at = fbw_vector(&x->w, v, (uint32_t)n, bytes, bytes < 4 ? 4 : bytes);

	fbw_link(&x->w, slot, at);
}

/*
 * Writes a list of n offsets, still empty, to which the offset at `slot` leads. Returns the place of
 * the first of the n.
 */
static size_t offsets(struct writer *x, size_t slot, int n)
{
	size_t at = fbw_offsets(&x->w, (uint32_t)n);

	fbw_link(&x->w, slot, at);
	return at + 4;
}

/*
 * Gives each of the listed tensors that has no number in the file yet the next one: appends it to
 * x->tensors and notes the number plus 1 in x->local. Those left out (-1) are skipped.
 */
static void number_tensors(struct writer *x, const struct rt_ints *list)
{
	for (int i = 0; i < list->n; i++) {
		int t = list->v[i];
		if (t < 0 || x->local[t])
			continue;
		x->tensors[x->n_tensors++] = t;
		x->local[t] = x->n_tensors;
	}
}

/*
 * Writes a list of n tensors, given by the interpreter's numbers, with those of the file (-1 for those
 * left out), to which the offset at `slot` leads. Returns 0 or -ENOMEM.
 */
static int tensor_list(struct writer *x, size_t slot, const int *list, int n)
{
	int32_t *v = calloc((size_t)n + 1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (int i = 0; i < n; i++)
		v[i] = list[i] < 0 ? -1 : x->local[list[i]] - 1;
	numbers(x, slot, v, n, 4);
	free(v);
	return 0;
}

/*
 * Writes the scales, zero points and quantised dimension of a tensor that has them, as the table to
 * which the offset at `slot` leads. Returns 0 or -ENOMEM.
 */
static int quantization(struct writer *x, size_t slot, const struct rt_tensor *t)
{
	const struct rt_affine *q = t->quantization.params;
	const struct fbw_field f[] = { { 2, 0, 0 }, { 3, 0, 0 }, { 6, 4, q->dimension } };
	int n = q->zero_point ? q->zero_point->n : 0;
	size_t slots[3];
	int64_t *zero = calloc((size_t)n + 1, sizeof(*zero));

	if (!zero)
		return -ENOMEM;
	for (int i = 0; i < n; i++)
		zero[i] = q->zero_point->v[i];
	table(x, slot, f, 3, slots);
	numbers(x, slots[0], q->scale->v, q->scale->n, 4);
	numbers(x, slots[1], zero, n, 8);
	free(zero);
	return 0;
}

/* Says whether a tensor of the interpreter is an input of the part. */
static bool is_input(const struct writer *x, int tensor)
{
	for (int i = 0; i < x->p->n_in; i++)
		if (x->p->in[i] == tensor)
			return true;
	return false;
}

/*
 * Writes to v the shape of a tensor that a part makes, with -1 for each open dimension: as the
 * network's file states it, or, if it states none and x->open is set, with all but the last open, which
 * counts channels. Returns how many numbers that are; 0, if neither holds or the rank is above
 * WEFT_MAX_RANK: no dimension is open.
 */
static int signature(const struct writer *x, const struct rt_tensor *t, int32_t v[static WEFT_MAX_RANK])
{
	bool said = t->signature && t->signature->n == t->dims->n;

	if ((!said && !x->open) || t->dims->n > WEFT_MAX_RANK)
		return 0;
	for (int i = 0; i < t->dims->n; i++)
		v[i] = said ? t->signature->v[i] : i < t->dims->n - 1 ? -1 : t->dims->v[i];
	return t->dims->n;
}

/*
 * Writes tensor i of the file, to which the offset at `slot` leads: shape, type, name, quantisation if it
 * has scales, and open dimensions (signature()) if it is computed and no input of the part. A state is marked as a
 * variable, and its name is the interpreter's number of the tensor, by which that variable is found. A constant's
 * buffer is number i + 1, that of others 0. Returns 0 or -ENOMEM.
 */
static int tensor(struct writer *x, size_t slot, int i)
{
	const struct rt_tensor *t = &x->rt->tensors[x->tensors[i]];
	const struct rt_affine *q = t->quantization.type == RT_AFFINE ? t->quantization.params : NULL;
	bool quantised = q && q->scale && q->scale->n;
	struct fbw_field f[7] = { { 0, 0, 0 }, { 1, 1, file_type(t->type) }, { 2, 4, is_constant(t) ? i + 1 : 0 }, { 3, 0, 0 } };
	int n = 4, n_open = 0;
	int32_t open[WEFT_MAX_RANK];
	const struct rt_ints *dims = x->p->shapes && x->p->shapes[x->tensors[i]] ? x->p->shapes[x->tensors[i]] : t->dims;
	size_t slots[7];
	char number[16];

	/* The shapes of inputs and constants are what they are. */
	if (!is_constant(t) && !t->is_variable && !is_input(x, x->tensors[i]))
		n_open = signature(x, t, open);
	if (n_open)
		f[n++] = (struct fbw_field){ 7, 0, 0 };
	if (t->is_variable)
		f[n++] = (struct fbw_field){ 5, 1, 1 };
	if (quantised)
		f[n++] = (struct fbw_field){ 4, 0, 0 };
	table(x, slot, f, n, slots);
	if (n_open)
		numbers(x, slots[4], open, n_open, 4);
	numbers(x, slots[0], dims->v, dims->n, 4);
	snprintf(number, sizeof(number), "%d", x->tensors[i]);
	fbw_link(&x->w, slots[3], fbw_string(&x->w, t->is_variable ? number : t->name ? t->name : ""));
	return quantised ? quantization(x, slots[n - 1], t) : 0;
}

/*
 * Writes operator i of the part with its tensors and options, to which the offset at `slot` leads; its
 * code is number i. Returns 0, -ENOMEM, or -ENOTSUP or -EINVAL if options_of() does.
 */
static int operator(struct writer *x, size_t slot, int i)
{
	const struct rt_node *n = &x->p->ops[i].n;
	struct fbw_field f[] = { { 0, 4, i }, { 1, 0, 0 }, { 2, 0, 0 }, { 3, 1, 0 }, { 4, 0, 0 } }, of[8];
	struct file_options o;
	size_t slots[5], ignored[8];
	int err = options_of(&x->p->ops[i], &o);

	if (err)
		return err;
	f[3].value = o.type;
	table(x, slot, f, o.type ? 5 : 3, slots);
	err = tensor_list(x, slots[1], n->inputs->v, n->inputs->n);
	if (!err)
		err = tensor_list(x, slots[2], n->outputs->v, n->outputs->n);
	for (int k = 0; k < o.n; k++)
		of[k] = (struct fbw_field){ o.field[k].id, o.field[k].bytes, o.field[k].value };
	if (o.list && o.n_list)
		of[o.n++] = (struct fbw_field){ 0, 0, 0 };
	if (o.type)
		table(x, slots[4], of, o.n, ignored);
	if (o.list && o.n_list)
		numbers(x, ignored[o.n - 1], o.list, o.n_list, 4);
	return err;
}

/*
 * Writes the graph, with tensors and operators, to which the offset at `slot` leads. Returns 0 or a
 * negative errno as operator().
 */
static int subgraph(struct writer *x, size_t slot)
{
	const struct fbw_field f[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 }, { 3, 0, 0 } };
	size_t slots[4], at;
	int err;

	table(x, slot, f, 4, slots);
	at = offsets(x, slots[0], x->n_tensors);
	err = tensor_list(x, slots[1], x->p->in, x->p->n_in);
	if (!err)
		err = tensor_list(x, slots[2], x->p->out, x->p->n_out);
	for (int i = 0; !err && i < x->n_tensors; i++)
		err = tensor(x, at + 4 * (size_t)i, i);
	at = offsets(x, slots[3], x->p->n);
	for (int i = 0; !err && i < x->p->n; i++)
		err = operator(x, at + 4 * (size_t)i, i);
	return err;
}

/*
 * Writes the list of operator codes, to which the offset at `slot` leads: one for each operator of the
 * part.
 */
static void codes(struct writer *x, size_t slot)
{
	size_t at = offsets(x, slot, x->p->n), ignored[3];

	for (int i = 0; i < x->p->n; i++) {
		const struct op *op = &x->p->ops[i];
		const struct fbw_field f[] = { { 0, 1, op->code < 127 ? op->code : 127 }, { 2, 4, op->version }, { 3, 4, op->code } };
		table(x, at + 4 * (size_t)i, f, 3, ignored);
	}
}

/*
 * Writes the list of buffers, to which the offset at `slot` leads: number i + 1 has the bytes of tensor i
 * if it is constant and has 1 to 2^32 - 2 bytes. The first and all others are empty.
 */
static void buffers(struct writer *x, size_t slot)
{
	size_t at = offsets(x, slot, x->n_tensors + 1), data;
	const struct fbw_field f[] = { { 0, 0, 0 } };

	for (int i = 0; i <= x->n_tensors; i++) {
		const struct rt_tensor *t = i ? &x->rt->tensors[x->tensors[i - 1]] : NULL;
		bool full = t && is_constant(t) && t->bytes && t->bytes < UINT32_MAX;
		table(x, at + 4 * (size_t)i, f, full, &data);
		if (full)
			fbw_link(&x->w, data, fbw_vector(&x->w, t->data, (uint32_t)t->bytes, 1, 8));
	}
}

/*
 * Numbers the part's tensors and writes the whole file to x->w. Returns 0 or a negative errno as
 * operator().
 */
static int file(struct writer *x)
{
	const struct fbw_field f[] = { { 0, 4, 3 }, { 1, 0, 0 }, { 2, 0, 0 }, { 4, 0, 0 } };
	size_t slots[4];

	for (int i = 0; i < x->p->n; i++) {
		number_tensors(x, x->p->ops[i].n.inputs);
		number_tensors(x, x->p->ops[i].n.outputs);
	}
	fbw_begin(&x->w, "TFL3");
	table(x, 0, f, 4, slots);
	codes(x, slots[1]);
	int err = subgraph(x, offsets(x, slots[2], 1));
	buffers(x, slots[3]);
	return err ? err : x->w.failed ? -ENOMEM : 0;
}

/*
 * Writes a part's nodes, with the tensors that they name and their constants, as a .tflite file. If
 * `open` is set, the shapes of what the nodes make are open but for the last dimension: they follow from
 * those of the inputs. Returns 0 with *len bytes from malloc in *out; or, with one line in msg and no
 * output, -ENOMEM, or -ENOTSUP or -EINVAL for an operator whose options cannot be written.
 */
int part_write(struct rt_context *rt, const struct part *p, bool open, uint8_t **out, size_t *len, char msg[static WEFT_MSG_LEN])
{
	struct writer x = { .rt = rt, .p = p, .open = open };
	int err = -ENOMEM;

	x.local = calloc(rt->n_tensors + 1, sizeof(*x.local));
	x.tensors = calloc(rt->n_tensors + 1, sizeof(*x.tensors));
	if (x.local && x.tensors)
		err = file(&x);
	free(x.local);
	free(x.tensors);
	if (err) {
		free(x.w.p);
		snprintf(msg, WEFT_MSG_LEN, err == -ENOMEM ? "not enough memory" : "an operator that cannot be written");
		return err;
	}
	*out = x.w.p;
	*len = x.w.n;
	return 0;
}

/*
 * Writes a part as part_write() does (`open` as there), and loads it as a network with the bits of the
 * runtime that the part's options name. Returns 0 with the network in *net, or a negative errno of
 * part_write() or weft_net_load_with() with one line in msg.
 */
int part_load(struct rt_context *rt, const struct part *p, bool open, weft_net **net, char msg[static WEFT_MSG_LEN])
{
	struct weft_load_options o = weft_load_options_default();
	uint8_t *bytes;
	size_t len;
	int err = part_write(rt, p, open, &bytes, &len, msg);

	if (err)
		return err;
	o.runtime = p->weft.options.runtime;
	err = weft_net_load_with(bytes, len, "part.tflite", &o, net, msg);
	free(bytes);
	return err;
}
