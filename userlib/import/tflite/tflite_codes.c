/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Float32 islands: DEQUANTIZE of 8 bits, functions of one element, QUANTIZE to
 * 8 bits. Golden computes the values of all 256 codes along with the operators,
 * and the QUANTIZE becomes a TABLE, which the device does. Float tensors that
 * nothing reads then are taken out of the graph. (ONNX's nodes wait for their
 * QuantizeLinear and may become more than a TABLE, so onnx_byte_function.c
 * computes codes only then, as constants of the graph.)
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/golden/golden.h"
#include "tflite_lower.h"

#define CODES 256
#define MAX_FLOATS 1024        /* that are followed */

/* A float32 tensor of the graph that is a function of the codes of an int8 one, root; v[code + 128] is its value. */
struct tfl_codes {
	int tensor, root;
	float v[CODES];
};

/*
 * Returns the entry of l->codes for that float tensor of the graph, the last one if there are several, or
 * NULL.
 */
static const struct tfl_codes *find(const struct tfl_lower *l, int tensor)
{
	for (int i = l->n_codes; i--;)
		if (l->codes[i].tensor == tensor)
			return &l->codes[i];
	return NULL;
}

/* Returns a tensor of CODES elements of type t in one dimension, whose memory is data. */
static weft_tensor row(weft_dtype t, void *data)
{
	return (weft_tensor){ .dtype = t, .rank = 1, .dim = { CODES, 1, 1, 1, 1, 1, 1, 1 }, .data = data };
}

/*
 * Computes op with attributes a by the golden model on a row of CODES elements x of type `from`,
 * and writes the results, of type `to`, to y; MUL takes x as both operands. Returns 0 or a negative
 * errno.
 */
static int compute(struct tfl_lower *l, weft_opcode op, const weft_attr *a, weft_dtype from, const void *x, weft_dtype to, void *y)
{
	weft_tensor in = row(from, (void *)(uintptr_t)x), out = row(to, y), *result = &out;
	const weft_tensor *operands[2] = { &in, &in };
	char line[WEFT_GOLDEN_MSG] = "";
	int err = weft_golden_run(op, a, operands, op == WEFT_OP_MUL ? 2 : 1, &result, 1, true, line);

	return err ? tfl_fail(l, err, "%.180s", line) : 0;
}

/*
 * Sets *c to a new entry of l->codes for float tensor y, a function of the codes of int8 tensor root;
 * the caller fills in its values. *c is NULL if MAX_FLOATS entries are in use, and after a failure. Returns 0, or what
 * tfl_alloc() gave. Pointers to entries do not hold over the call.
 */
static int add(struct tfl_lower *l, int y, int root, struct tfl_codes **c)
{
	*c = NULL;
	if (l->n_codes == MAX_FLOATS)
		return 0;
	if (l->n_codes == l->cap_codes) {
		int cap = l->cap_codes ? 2 * l->cap_codes : 16;
		struct tfl_codes *p = tfl_alloc(l, cap, sizeof *p);
		if (!p)
			return l->err;
		if (l->codes)
			memcpy(p, l->codes, (size_t)l->n_codes * sizeof *p);
		free(l->codes);
		l->codes = p;
		l->cap_codes = cap;
	}
	l->codes[l->n_codes] = (struct tfl_codes){ .tensor = y, .root = root };
	*c = &l->codes[l->n_codes++];
	return 0;
}

/*
 * Notes that float tensor y is x dequantised by TFL_DEQUANTIZE with attributes a, with the values of all
 * 256 codes, if x is int8. Returns y, also if nothing is noted because x has another type or MAX_FLOATS
 * tensors are followed already; or a negative errno. A negative y is returned as it is.
 */
int tfl_codes_begin(struct tfl_lower *l, const weft_attr *a, int x, int y)
{
	int8_t code[CODES];

	if (y < 0 || l->g->tensors[x].t.dtype != WEFT_INT8)
		return y;
	struct tfl_codes *c;
	int err = add(l, y, x, &c);
	for (int i = 0; i < CODES; i++)
		code[i] = (int8_t)(i - 128);
	if (c)
		err = compute(l, WEFT_OP_TFL_DEQUANTIZE, a, WEFT_INT8, code, WEFT_FP32, c->v);
	return err ? err : y;
}

/*
 * Notes that float tensor y is a function of the codes of an 8-bit tensor, with the values of all 256
 * codes, if x is noted as one; y is operator op of x (MUL: of x and x) with attributes a. Returns y, also if
 * nothing is noted because x is none or MAX_FLOATS tensors are followed already; or a negative errno. A negative y
 * is returned as it is.
 */
int tfl_codes_next(struct tfl_lower *l, weft_opcode op, const weft_attr *a, int x, int y)
{
	const struct tfl_codes *from = y < 0 ? NULL : find(l, x);
	float v[CODES];

	if (!from)
		return y;
	int err = compute(l, op, a, WEFT_FP32, from->v, WEFT_FP32, v);
	struct tfl_codes *c = NULL;
	if (!err)
		err = add(l, y, from->root, &c);
	if (c)
		memcpy(c->v, v, sizeof v);
	return err ? err : y;
}

/*
 * Emits the quantisation (TFL_QUANTIZE with attributes a) of float tensor x as a TABLE of the 8-bit
 * tensor of whose codes x is a function, as the operator's result. Returns 1 if it did, 0 if x is
 * no such function, or a negative errno.
 */
int tfl_codes_end(struct tfl_lower *l, const weft_attr *a, int x)
{
	const struct tfl_codes *c = find(l, x);
	int64_t n = CODES;

	if (!c)
		return 0;
	int8_t *table = tfl_alloc(l, n, 1);
	if (!table)
		return l->err;
	int err = compute(l, WEFT_OP_TFL_QUANTIZE, a, WEFT_FP32, c->v, WEFT_INT8, table);
	if (err) {
		free(table);
		return err;
	}
	int root = c->root, t = tfl_data(l, "table", WEFT_INT8, 1, &n, table);
	weft_tensor s = l->g->tensors[root].t;
	int y = t < 0 ? t : tfl_step(l, WEFT_OP_TABLE, NULL, (int[]){ root, t }, 2, WEFT_INT8, s.rank, s.dim, true);
	return y < 0 ? y : 1;
}

/*
 * Removes the operator that makes tensor t if nothing reads t and it is no output, then that of an
 * internal operand which nobody else reads (the last one, if there are several), and so on. uses[i] is
 * the number of readers of tensor i and is updated.
 */
static void take_out(struct tfl_lower *l, int *uses, int t)
{
	weft_graph *g = l->g;

	while (t >= 0 && !uses[t] && !g->tensors[t].is_output && g->tensors[t].producer >= 0) {
		const struct weft_gop *o = &g->ops[g->tensors[t].producer];
		int next = -1;

		for (int k = 0; k < o->n_in; k++)
			if (!--uses[o->in[k]] && g->tensors[o->in[k]].internal)
				next = o->in[k];
		tfl_remove_op(l, g->tensors[t].producer, 0);
		t = next;
	}
}

/*
 * Removes the operators that made noted float tensors which nothing reads any more, the last first,
 * so that whole chains go; their tensors stay. Returns 0 or -ENOMEM.
 */
int tfl_codes_finish(struct tfl_lower *l)
{
	weft_graph *g = l->g;
	int *uses = l->n_codes ? calloc((size_t)g->n_tensors + 1, sizeof *uses) : NULL;

	if (!l->n_codes)
		return 0;
	if (!uses)
		return tfl_fail(l, -ENOMEM, "out of memory");
	for (int i = 0; i < g->n_ops; i++)
		for (int k = 0; k < g->ops[i].n_in; k++)
			uses[g->ops[i].in[k]]++;
	for (int i = l->n_codes; i--;)
		take_out(l, uses, l->codes[i].tensor);
	free(uses);
	return 0;
}
