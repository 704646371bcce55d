/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that the interpreter at hand has the layout of tflite_abi.h. What is wrong shows in counts that no
 * graph has, types and flags that do not exist, tensors whose bytes are not those of their shape, nodes that
 * name tensors which are not there.
 */
#include <errno.h>
#include <stdio.h>

#include "delegate.h"

#define MOST (1 << 22)         /* nodes, tensors */
#define MOST_DIMS 64
#define MOST_CODES 4096

/* Returns the bytes of an element of that type, 0 if they are not known or not whole. */
static size_t element_bytes(int type)
{
	switch (type) {
	case RT_UINT8: case RT_BOOL: case RT_INT8: return 1;
	case RT_INT16: case RT_FLOAT16: case RT_UINT16: case RT_BFLOAT16: return 2;
	case RT_FLOAT32: case RT_INT32: case RT_UINT32: return 4;
	case RT_INT64: case RT_COMPLEX64: case RT_FLOAT64: case RT_UINT64: return 8;
	default: return 0;
	}
}

/* Says whether a list is NULL, has a length outside 0..most, or has a number outside low..high. */
static bool ints_wrong(const struct rt_ints *v, int most, int low, int high)
{
	if (!v || v->n < 0 || v->n > most)
		return true;
	for (int i = 0; i < v->n; i++)
		if (v->v[i] < low || v->v[i] > high)
			return true;
	return false;
}

/*
 * Checks whether tensor t has values that no tensor has: an element type, a kind of memory or a type of
 * quantisation that is negative or not below its RT_..._MOST; a flag above 1; a number of dimensions outside
 * 0..MOST_DIMS, or a dimension below -1. A constant or a tensor in the arena, if its dimensions and its element
 * size are known, must have 0 bytes or those of its shape, which must fit a size_t; a dimension of -1 counts as
 * 0 there. Returns a string constant that names the first part that is wrong, or NULL if none is.
 */
static const char *tensor_wrong(const struct rt_tensor *t)
{
	size_t bytes = element_bytes(t->type);

	if (t->type < 0 || t->type >= RT_TYPES_MOST)
		return "type";
	if (t->allocation < 0 || t->allocation >= RT_ALLOCATIONS_MOST)
		return "kind of memory";
	if (t->data_is_stale > 1 || t->is_variable > 1)
		return "flags";
	if (t->quantization.type < 0 || t->quantization.type >= RT_QUANTIZATIONS_MOST)
		return "quantisation";
	if (t->dims && ints_wrong(t->dims, MOST_DIMS, -1, INT32_MAX))
		return "dimensions";
	if (!t->dims || !bytes || (t->allocation != RT_CONSTANT && t->allocation != RT_ARENA))
		return NULL;
	for (int i = 0; i < t->dims->n; i++)
		if (__builtin_mul_overflow(bytes, (size_t)(t->dims->v[i] < 0 ? 0 : t->dims->v[i]), &bytes))
			return "dimensions";
	return t->bytes && t->bytes != bytes ? "bytes" : NULL;
}

/*
 * Checks whether node n or its kernel k has values that no node of a graph with n_tensors tensors has: a list
 * of inputs or outputs that is missing, longer than MOST or names a tensor outside -1 (none) .. n_tensors - 1;
 * an operator code or version outside 0..MOST_CODES - 1; options for which options_of() returns -EINVAL.
 * Operators whose options it does not know pass. Returns a string constant that names the first part that is
 * wrong ("inputs", "outputs", "code", "version" or "options"), or NULL if none is.
 */
static const char *node_wrong(const struct rt_node *n, const struct rt_kernel *k, int n_tensors)
{
	struct file_options o;

	if (ints_wrong(n->inputs, MOST, -1, n_tensors - 1))
		return "inputs";
	if (ints_wrong(n->outputs, MOST, -1, n_tensors - 1))
		return "outputs";
	if (k->builtin_code < 0 || k->builtin_code >= MOST_CODES)
		return "code";
	if (k->version < 0 || k->version >= MOST_CODES)
		return "version";
	return options_of(&(struct op){ .code = k->builtin_code, .custom = k->custom_name, .n = *n }, &o) == -EINVAL ? "options" : NULL;
}

const char *layout_wrong(struct rt_context *rt, char words[static WEFT_MSG_LEN])
{
	struct rt_ints *plan;
	const char *what;

	if (!rt->execution_plan || !rt->report || !rt->node || !rt->replace || !rt->preview || (rt->n_tensors && !rt->tensors))
		return "a function that is not there";
	if (rt->n_tensors > MOST || rt->threads < -1 || rt->threads > MOST_CODES)
		return "counts";
	for (size_t i = 0; i < rt->n_tensors; i++) {
		if (!(what = tensor_wrong(&rt->tensors[i])))
			continue;
		snprintf(words, WEFT_MSG_LEN, "%s of tensor %zu", what, i);
		return words;
	}
	if (rt->execution_plan(rt, &plan) || ints_wrong(plan, MOST, 0, MOST))
		return "the list of nodes";
	for (int i = 0; i < plan->n; i++) {
		struct rt_node *n;
		struct rt_kernel *k;
		if (rt->node(rt, plan->v[i], &n, &k) || !n || !k)
			return "a node that is not there";
		if (!(what = node_wrong(n, k, (int)rt->n_tensors)))
			continue;
		snprintf(words, WEFT_MSG_LEN, "%s of node %d", what, i);
		return words;
	}
	return NULL;
}
