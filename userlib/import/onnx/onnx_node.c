/* SPDX-License-Identifier: Apache-2.0 */
/* Operands and attributes of the node at hand. */
#include <errno.h>
#include <string.h>

#include "onnx_lower.h"

bool ox_has(const struct ox *l, int k)
{
	return (size_t)k < l->n->n_input && *l->n->input[k];
}

/*
 * Returns the value that is operand k of the node at hand, or what l->subst puts in its place. If the node
 * that makes it was deferred, that node is lowered first. Returns NULL after ox_fail() if the operand is
 * absent (-EINVAL), not known (-EINVAL) or consists of strings (-ENOTSUP), or if lowering the deferred node
 * fails. The pointer holds until the table of values grows.
 */
struct ox_value *ox_in(struct ox *l, int k)
{
	if (!ox_has(l, k)) {
		ox_fail(l, -EINVAL, "input %d is missing", k);
		return NULL;
	}
	if (k < 2 && l->subst[k])
		return l->subst[k];
	int i = ox_value_find(l, l->n->input[k]);
	if (i >= 0 && ox_settle(l, &l->values[i]) < 0)
		return NULL;
	if (i < 0 || !l->values[i].t.dtype) {
		if (i >= 0 && ox_is_text(&l->values[i]))
			ox_fail(l, -ENOTSUP, "input %d, \"%.60s\": strings", k, l->n->input[k]);
		else
			ox_fail(l, -EINVAL, "input %d, \"%.60s\", is not known here", k, l->n->input[k]);
		return NULL;
	}
	return &l->values[i];
}

struct ox_value *ox_optional(struct ox *l, int k)
{
	return ox_has(l, k) ? ox_in(l, k) : NULL;
}

bool ox_is_const(struct ox *l, int k)
{
	struct ox_value *v = k < 2 && l->subst[k] ? l->subst[k] : ox_raw(l, k);

	return v && (v->carrier >= 0 || ox_settle(l, v) >= 0) && ox_is_const_value(l, v);
}

struct ox_value *ox_operand(const struct ox *l, const onnx_node *n, size_t k)
{
	int i = k < n->n_input && *n->input[k] ? ox_value_find(l, n->input[k]) : -1;

	return i < 0 ? NULL : &l->values[i];
}

struct ox_value *ox_raw(struct ox *l, int k)
{
	return ox_operand(l, l->n, (size_t)k);
}

bool ox_is_const_value(const struct ox *l, const struct ox_value *v)
{
	return v->init || (v->n_forms && ox_t(l, v->form[0].tensor)->data);
}

/*
 * Returns operand k of the node at hand as a constant tensor with its data, in the file's order of
 * dimensions; the graph owns it. Returns NULL after ox_fail() if the operand is absent (-EINVAL),
 * consists of strings or is not constant (-ENOTSUP), or cannot be read. If it is not constant, the
 * given inputs (o.given) from which it is computed are noted in l->wanted, so that another attempt
 * can make them constant.
 */
const weft_tensor *ox_const(struct ox *l, int k)
{
	struct ox_value *v = ox_in(l, k);

	if (!v)
		return NULL;
	if (!ox_is_const(l, k)) {
		ox_want(l, v);
		ox_fail(l, -ENOTSUP, "input %d, \"%.60s\", has to be constant", k, v->name);
		return NULL;
	}
	int x = ox_get(l, v, NULL);
	return x < 0 ? NULL : ox_t(l, x);
}

/*
 * Writes the elements of constant operand k, int32 or int64 of rank 0 or 1, to v, which has room
 * for max. Returns their count, -EINVAL if type or rank is another or there are more than max, or
 * the errno of ox_const().
 */
int ox_ints(struct ox *l, int k, int max, int64_t *v)
{
	const weft_tensor *t = ox_const(l, k);

	if (!t)
		return l->err;
	int64_t n = weft_tensor_elements(t);
	if ((t->dtype != WEFT_INT32 && t->dtype != WEFT_INT64) || t->rank > 1 || n > max)
		return ox_fail(l, -EINVAL, "input %d: %lld elements of %s, rank %d; at most %d of int32 or int64 in one dimension", k,
		               (long long)n, weft_dtype_name(t->dtype), t->rank, max);
	for (int64_t i = 0; i < n; i++)
		v[i] = t->dtype == WEFT_INT32 ? ((const int32_t *)t->data)[i] : ((const int64_t *)t->data)[i];
	return (int)n;
}

/*
 * Checks that operand k of the node at hand has a rank of min to max. Returns 0, -EINVAL if the
 * rank is lower or the operand is missing, -ENOTSUP if the rank is higher.
 */
int ox_need_rank(struct ox *l, int k, int min, int max)
{
	struct ox_value *v = ox_in(l, k);

	if (!v)
		return l->err;
	if (v->t.rank < min || v->t.rank > max)
		return ox_fail(l, v->t.rank < min ? -EINVAL : -ENOTSUP, "input %d has rank %d, not %d to %d", k, v->t.rank, min, max);
	return 0;
}

bool ox_node_is(const onnx_node *n, const char *type)
{
	return !strcmp(n->op_type, type);
}

bool ox_is(const struct ox *l, const char *type)
{
	return ox_node_is(l->n, type);
}

/* Returns the first attribute of node n with that name, or NULL if there is none. */
const onnx_attribute *ox_node_attr(const onnx_node *n, const char *name)
{
	for (size_t i = 0; i < n->n_attribute; i++)
		if (n->attribute[i]->name && !strcmp(n->attribute[i]->name, name))
			return n->attribute[i];
	return NULL;
}

const onnx_attribute *ox_attr(const struct ox *l, const char *name)
{
	return ox_node_attr(l->n, name);
}

int64_t ox_attr_of(const onnx_node *n, const char *name, int64_t otherwise)
{
	const onnx_attribute *a = ox_node_attr(n, name);

	return a && a->has_i ? a->i : otherwise;
}

int64_t ox_attr_i(const struct ox *l, const char *name, int64_t otherwise)
{
	return ox_attr_of(l->n, name, otherwise);
}

double ox_attr_f(const struct ox *l, const char *name, double otherwise)
{
	const onnx_attribute *a = ox_attr(l, name);

	return a && a->has_f ? (double)a->f : otherwise;
}

/*
 * Writes the integers of the attribute with that name of the node at hand to v, which has room for
 * max. Returns their count, 0 if the attribute is absent, or -EINVAL if there are more than max.
 */
int ox_attr_ints(struct ox *l, const char *name, int max, int64_t *v)
{
	const onnx_attribute *a = ox_attr(l, name);

	if (!a)
		return 0;
	if (a->n_ints > (size_t)max)
		return ox_fail(l, -EINVAL, "attribute %s has %zu values, at most %d fit", name, a->n_ints, max);
	for (size_t i = 0; i < a->n_ints; i++)
		v[i] = a->ints[i];
	return (int)a->n_ints;
}

/*
 * Says whether the attribute with that name of the node at hand is the string value. If there is no
 * such attribute, or it is no string, the answer is `absent`.
 */
bool ox_attr_is(const struct ox *l, const char *name, const char *value, bool absent)
{
	const onnx_attribute *a = ox_attr(l, name);

	if (!a || !a->has_s)
		return absent;
	return a->s.len == strlen(value) && !memcmp(a->s.data, value, a->s.len);
}

/*
 * Writes a list of integers to v, which has room for max: the attribute of that name if the node
 * has it, as in older opsets, or else constant operand k, where newer ones have it. Returns the
 * count, 0 if both are absent, -EINVAL if there are more than max or the operand is no list of
 * int32 or int64, -ENOTSUP if the operand is not constant, or another negative errno.
 */
int ox_list(struct ox *l, const char *name, int k, int max, int64_t *v)
{
	if (ox_attr(l, name))
		return ox_attr_ints(l, name, max, v);
	return ox_has(l, k) ? ox_ints(l, k, max, v) : 0;
}

int ox_axis(struct ox *l, int64_t axis, int rank)
{
	if (axis < -rank || axis >= rank)
		return ox_fail(l, -EINVAL, "axis %lld of rank %d", (long long)axis, rank);
	return (int)(axis < 0 ? axis + rank : axis);
}
