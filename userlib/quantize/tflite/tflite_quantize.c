/* SPDX-License-Identifier: Apache-2.0 */
/* weft_quantize_tflite(): reads the file, observes it, and lets the other files here do their work. */
#include "tflite_quantize.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/convert.h>

#include "userlib/import/tflite/tflite.h"

int qt_fail(struct qt *q, int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	quantize_line(q->msg, format, ap);
	va_end(ap);
	return err;
}

int qt_grow(struct qt *q, void *list, int n, int *cap, size_t size)
{
	if (n < *cap)
		return 0;
	void **at = list;
	const int more = 2 * *cap + 64;
	void *p = qt_alloc(q, (size_t)more * size);
	if (!p)
		return -ENOMEM;
	if (n)
		memcpy(p, *at, (size_t)n * size);
	*at = p;
	*cap = more;
	return 0;
}

void *qt_alloc(struct qt *q, size_t n)
{
	void *p = blocks_alloc(&q->blocks, n);

	if (!p)
		qt_fail(q, -ENOMEM, "out of memory");
	return p;
}

int qt_operand(const struct qt *q, const struct tfl_op *o, int k)
{
	return k < (int)o->in.n ? fb_i32_at(&q->m.b, &o->in, (uint32_t)k) : -1;
}

int qt_result(const struct qt *q, const struct tfl_op *o, int k)
{
	return k < (int)o->out.n ? fb_i32_at(&q->m.b, &o->out, (uint32_t)k) : -1;
}

/*
 * Reads the version of each operator of the file into q->version, an array from qt_alloc(); one that is
 * not stated is 1. Returns 0, -ENOMEM, or -EINVAL with one line in the message if the file is damaged.
 */
static int read_versions(struct qt *q)
{
	struct fb_vec codes, graphs, ops;
	struct fb_table root, graph, t;
	int64_t v;

	q->version = qt_alloc(q, ((size_t)q->m.n_ops + 1) * sizeof *q->version);
	if (!q->version)
		return -ENOMEM;
	if (fb_root(&q->m.b, &root) || fb_vector(&q->m.b, &root, MODEL_OPERATOR_CODES, 4, &codes) < 0 ||
	    fb_vector(&q->m.b, &root, MODEL_SUBGRAPHS, 4, &graphs) < 1 || fb_vector_table(&q->m.b, &graphs, 0, &graph) ||
	    fb_vector(&q->m.b, &graph, SUBGRAPH_OPERATORS, 4, &ops) < 0)
		return qt_fail(q, -EINVAL, "the lists of operators are not as the format has them");
	for (int i = 0; i < q->m.n_ops; i++) {
		if (fb_vector_table(&q->m.b, &ops, (uint32_t)i, &t) || fb_int(&q->m.b, &t, OP_CODE_INDEX, 4, false, 0, &v))
			return qt_fail(q, -EINVAL, "the lists of operators are not as the format has them");
		if (v >= codes.n || fb_vector_table(&q->m.b, &codes, (uint32_t)v, &t) || fb_int(&q->m.b, &t, 2, 4, true, 1, &v))
			return qt_fail(q, -EINVAL, "the lists of operators are not as the format has them");
		q->version[i] = (int)v;
	}
	return 0;
}

/*
 * Checks that all tensors that operators, inputs and outputs of the network name exist; only an operand
 * of an operator may be -1 (absent). Returns 0, or -EINVAL with one line in the message.
 */
static int check_tensors(struct qt *q)
{
	for (int i = 0; i < q->m.n_ops; i++) {
		const struct tfl_op *o = &q->m.ops[i];
		for (int k = 0; k < (int)(o->in.n + o->out.n); k++) {
			const int t = k < (int)o->in.n ? qt_operand(q, o, k) : qt_result(q, o, k - (int)o->in.n);
			if (t < (k < (int)o->in.n ? -1 : 0) || t >= q->m.n_tensors)
				return qt_fail(q, -EINVAL, "operator %d: tensor %d of %d", i, t, q->m.n_tensors);
		}
	}
	for (uint32_t k = 0; k < q->m.inputs.n + q->m.outputs.n; k++) {
		const int t = k < q->m.inputs.n ? fb_i32_at(&q->m.b, &q->m.inputs, k) : fb_i32_at(&q->m.b, &q->m.outputs, k - q->m.inputs.n);
		if (t < 0 || t >= q->m.n_tensors)
			return qt_fail(q, -EINVAL, "input or output: tensor %d of %d", t, q->m.n_tensors);
	}
	return 0;
}

/*
 * Checks that what the operators of the file say can be written again: none names other subgraphs, of which
 * nothing is read, and none has options with names or with lists of numbers of 8 bytes. Returns 0, or -ENOTSUP
 * with one line in the message.
 */
static int check_operators(struct qt *q)
{
	for (int i = 0; i < q->m.n_ops; i++) {
		const int code = q->m.ops[i].code;

		switch (code) {
		case TFL_WHILE: case TFL_IF: case TFL_CALL_ONCE: case TFL_STABLEHLO_CASE: case TFL_STABLEHLO_COMPOSITE: case TFL_STABLEHLO_SCATTER:
		case TFL_STABLEHLO_REDUCE_WINDOW:
			return qt_fail(q, -ENOTSUP, "operator %d %s: it names other subgraphs, which are not quantised", i, tfl_code_name(code));
		case TFL_VAR_HANDLE: case TFL_STABLEHLO_GATHER: case TFL_STABLEHLO_PAD:
			return qt_fail(q, -ENOTSUP, "operator %d %s: its options, names or lists, cannot be written again", i, tfl_code_name(code));
		default:
			break;
		}
	}
	return 0;
}

/*
 * Returns the n elements of float constant f as float32, in memory of qt_alloc(), with *err 0. NULL with *err
 * -ENOMEM, -ENOTSUP if the constant is sparse, or -EINVAL if it has another number of bytes, and one line in the message.
 */
static const float *elements(struct qt *q, const struct tfl_tensor *f, int64_t n, int *err)
{
	const size_t size = f->type == TFL_FLOAT32 ? 4 : 2;
	float *p;

	if (f->is_sparse) {
		*err = qt_fail(q, -ENOTSUP, "a sparse constant of %lld elements; only whole ones are quantised", (long long)n);
		return NULL;
	}
	if (f->data_len % size || f->data_len / size != (size_t)n) {
		*err = qt_fail(q, -EINVAL, "a float constant of %lld elements has %zu bytes", (long long)n, f->data_len);
		return NULL;
	}
	p = qt_alloc(q, (size_t)n * sizeof *p);
	*err = p ? 0 : -ENOMEM;
	for (int64_t k = 0; p && k < n; k++) {
		uint16_t half;
		if (size == 4) {
			memcpy(&p[k], f->data + 4 * k, 4);
		} else {
			memcpy(&half, f->data + 2 * k, 2);
			p[k] = (float)weft_float_decode(WEFT_FP16, half);
		}
	}
	return p;
}

/*
 * Makes q->value, an entry for each tensor of the file with its name, its number of elements, a group of
 * its own and, of a float32 or float16 constant, its elements as float32; and q->integer, all false.
 * Returns 0; -ENOMEM; -EINVAL if a float constant has not the bytes that its shape wants, a tensor has
 * more than 2^63 elements, or a tensor that is not float32 has a scale, so that the network is quantised
 * already; -ENOTSUP if a rank is above QT_MAX_RANK or a float constant is sparse; with one line in the message.
 */
static int list_values(struct qt *q)
{
	q->value = qt_alloc(q, ((size_t)q->m.n_tensors + 1) * sizeof *q->value);
	q->integer = qt_alloc(q, ((size_t)q->m.n_ops + 1) * sizeof *q->integer);
	if (!q->value || !q->integer)
		return -ENOMEM;
	for (int t = 0; t < q->m.n_tensors; t++) {
		const struct tfl_tensor *f = &q->m.tensors[t];
		const size_t n = strnlen(f->name, f->name_len);
		struct qt_value *v = &q->value[t];
		char *name = qt_alloc(q, n + 1);

		if (!name)
			return -ENOMEM;
		memcpy(name, f->name, n);
		*v = (struct qt_value){ .name = name, .group = t, .members = 1, .n = 1, .range = { .tensor = -1 }, .as_float = -1, .as_int = -1 };
		if (f->shape.n > QT_MAX_RANK)
			return qt_fail(q, -ENOTSUP, "tensor \"%.60s\": rank %u, at most %d", name, (unsigned)f->shape.n, QT_MAX_RANK);
		for (uint32_t d = 0; d < f->shape.n; d++)
			if (__builtin_mul_overflow(v->n, (int64_t)fb_i32_at(&q->m.b, &f->shape, d), &v->n))
				return qt_fail(q, -EINVAL, "tensor \"%.60s\" has more than 2^63 elements", name);
		const bool real = f->type == TFL_FLOAT32 || f->type == TFL_FLOAT16;
		int err = 0;
		if (real && f->data && v->n > 0 && !(v->constant = elements(q, f, v->n, &err)))
			return err;
		if (f->scale.n && f->type != TFL_FLOAT32)
			return qt_fail(q, -EINVAL, "tensor \"%.60s\" is %s with a scale: the network is quantised already", name, tfl_type_name(f->type));
	}
	return 0;
}

/*
 * Makes the result of each DEQUANTIZE of a float constant (of float16) a constant with the same
 * elements.
 */
static void widen_constants(struct qt *q)
{
	for (int i = 0; i < q->m.n_ops; i++) {
		const struct tfl_op *o = &q->m.ops[i];
		const int x = qt_operand(q, o, 0), y = qt_result(q, o, 0);
		if (o->code == TFL_DEQUANTIZE && x >= 0 && y >= 0 && q->value[x].constant)
			q->value[y].constant = q->value[x].constant;
	}
}

/*
 * Extends the range of each float constant to its least and greatest element; a range that nothing has been
 * seen in before becomes these.
 */
static void observe_constants(struct qt *q)
{
	for (int t = 0; t < q->m.n_tensors; t++) {
		struct qt_value *v = &q->value[t];
		for (int64_t k = 0; v->constant && k < v->n; k++) {
			v->range.lo = v->range.seen ? fmin(v->range.lo, (double)v->constant[k]) : (double)v->constant[k];
			v->range.hi = v->range.seen ? fmax(v->range.hi, (double)v->constant[k]) : (double)v->constant[k];
			v->range.seen = true;
		}
	}
}

/* A float32 tensor that the graph computes, to be found by its name. */
struct named { const char *name; int tensor; };

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/*
 * Sets all[t].tensor to the graph's float32 tensor that has the name of the file's tensor t and is no constant, or to -1
 * if there is none or more than one. Returns 0 or -ENOMEM.
 */
static int find_tensors(struct qt *q, const weft_graph *g, struct observed *all)
{
	struct named *of = qt_alloc(q, ((size_t)g->n_tensors + 1) * sizeof *of);
	size_t n = 0;

	if (!of)
		return -ENOMEM;
	for (int i = 0; i < g->n_tensors; i++)
		if (g->tensors[i].t.dtype == WEFT_FP32 && !g->tensors[i].t.data)
			of[n++] = (struct named){ g->tensors[i].name, i };
	qsort(of, n, sizeof *of, by_name);
	for (int t = 0; t < q->m.n_tensors; t++) {
		const struct named key = { q->value[t].name, -1 };
		const struct named *f = q->value[t].constant ? NULL : bsearch(&key, of, n, sizeof *of, by_name);
		const bool again = f && ((f > of && !by_name(f - 1, &key)) || (f + 1 < of + n && !by_name(f + 1, &key)));

		all[t].tensor = f && !again ? f->tensor : -1;
	}
	return 0;
}

/*
 * Runs the float network of the file over the samples and notes in q->value the range of each tensor that
 * is no float constant. Tensors are found by their names; of one whose name another tensor has, too,
 * nothing is seen, so that it stays float32. Returns 0 or a negative errno with one line in the message:
 * of importing the file, of golden, or of the samples.
 */
static int observe(struct qt *q, const void *data, size_t len)
{
	struct weft_import_bound bound[16];
	struct weft_tflite_options o = { .bound = bound };
	struct observed *all = qt_alloc(q, ((size_t)q->m.n_tensors + 1) * sizeof *all);
	weft_graph *g;
	int err = all ? 0 : -ENOMEM;

	for (int i = 0; i < q->o->n_bound; i++)
		bound[o.n_bound++] = (struct weft_import_bound){ q->o->bound[i].name, &q->o->bound[i].value };
	if (err || (err = weft_import_tflite_with(data, len, "float", &o, &g, q->msg)))
		return err;
	err = find_tensors(q, g, all);
	if (!err)
		err = weft_observe(g, q->o, all, q->m.n_tensors, q->msg);
	for (int t = 0; t < q->m.n_tensors && !err; t++)
		if (!q->value[t].constant)
			q->value[t].range = all[t];
	weft_graph_free(g);
	return err;
}

/*
 * Does all steps but reading the file: q->m is the file as it was read, data and len its bytes, which
 * are imported once more to run the float network. The new file is in *out and *len_out. Returns 0 or a
 * negative errno with one line in the message; -ENOTSUP if no operator becomes an integer one or
 * check_operators() refuses one. The caller frees q->blocks and q->m in any case.
 */
static int all_steps(struct qt *q, const void *data, size_t len, uint8_t **out, size_t *len_out)
{
	int err;

	if ((err = read_versions(q)) || (err = check_tensors(q)) || (err = check_operators(q)) || (err = list_values(q)))
		return err;
	widen_constants(q);
	if ((err = observe(q, data, len)))
		return err;
	observe_constants(q);
	qt_plan(q);
	if (!q->n_integer)
		return qt_fail(q, -ENOTSUP, "no operator on float32 has an integer kernel");
	return (err = qt_build(q)) ? err : qt_write(q, out, len_out);
}

int weft_quantize_tflite(const void *data, size_t len, const struct weft_quantize_options *o, uint8_t **out, size_t *len_out, char *msg)
{
	struct qt q = { .o = o, .wide = o->type == WEFT_QUANTIZE_INT16X8, .msg = msg };

	if (o->type == WEFT_QUANTIZE_FP8)
		return qt_fail(&q, -ENOTSUP, "fp8e4m3: .tflite has no such type; int8 or int16x8");
	int err = tfl_read(&q.m, data, len, msg, WEFT_MSG_LEN);
	if (err)
		return err;
	err = all_steps(&q, data, len, out, len_out);
	blocks_free(&q.blocks);
	tfl_release(&q.m);
	return err;
}
