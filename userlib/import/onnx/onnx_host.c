/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that become ONNX_NODE, which computes an operator on the host as ONNX's page
 * of it says: nodes that no lowering knows, and nodes whose types or options no
 * lowering takes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/golden/golden.h"
#include "sim/golden/onnx/ref/onnx_ref.h"
#include "onnx_lower.h"

/* ---- attributes ---- */

/*
 * Returns the index of the name s, of len bytes, in a list such as "a,b,c" (0 for the first), or -1
 * if it is not in the list. The list ends at a blank or at the end of the string.
 */
static int choice(const char *list, const char *s, size_t len)
{
	for (int k = 0;; k++) {
		const size_t n = strcspn(list, ", ");
		if (n == len && !memcmp(list, s, n))
			return k;
		if (list[n] != ',')
			return -1;
		list += n + 1;
	}
}

/*
 * Returns v, an integer attribute of a node, limited to -INT32_MAX..INT32_MAX. That is exact
 * enough, since the numbers beyond are ends of slices, which the tensor limits anyway.
 */
static int32_t whole(int64_t v)
{
	return (int32_t)(v < -INT32_MAX ? -INT32_MAX : v > INT32_MAX ? INT32_MAX : v);
}

/* Returns how many of the len bytes of a name, which nothing terminates, a message shows. */
static int shown(size_t len)
{
	return len < 40 ? (int)len : 40;
}

/*
 * Stores attribute n, a list of integers, floats or names of slot s, in a: the count, or
 * WEFT_ONNX_ABSENT if n is NULL, at a->i[s->i], then the elements behind it (floats at a->f[s->f]).
 * An integer is limited to +-INT32_MAX, and a name stored as its index in the slot's choices.
 * Returns 0, or -ENOTSUP if the list is longer than WEFT_ONNX_LIST (of floats
 * WEFT_ONNX_FLOAT_LIST) or a name is not among the choices; a is then written in part.
 */
static int list_attribute(struct ox *l, struct weft_attr_onnx_node *a, const struct weft_onnx_slot *s, const onnx_attribute *n)
{
	const size_t count = !n ? 0 : s->type == WEFT_ONNX_INTS ? n->n_ints : s->type == WEFT_ONNX_FLOATS ? n->n_floats : n->n_strings;
	const size_t most = s->type == WEFT_ONNX_FLOATS ? WEFT_ONNX_FLOAT_LIST : WEFT_ONNX_LIST;

	a->i[s->i] = n ? (int32_t)count : WEFT_ONNX_ABSENT;
	if (count > most)
		return ox_fail(l, -ENOTSUP, "attribute %s has %zu values, at most %zu", s->name, count, most);
	for (size_t k = 0; k < count; k++) {
		int32_t *to = &a->i[s->i + 1 + (int)k];

		if (s->type == WEFT_ONNX_INTS)
			*to = whole(n->ints[k]);
		if (s->type == WEFT_ONNX_FLOATS)
			a->f[s->f + (int)k] = n->floats[k];
		if (s->type == WEFT_ONNX_ENUMS && (*to = choice(s->choices, (const char *)n->strings[k].data, n->strings[k].len)) < 0)
			return ox_fail(l, -ENOTSUP, "attribute %s: \"%.*s\"", s->name, shown(n->strings[k].len), (const char *)n->strings[k].data);
	}
	return 0;
}

/*
 * Stores the attribute of the node at hand that slot s describes, or its default, in a: an integer,
 * limited to +-INT32_MAX, at a->i[s->i], a float at a->f[s->f], a name as its index in the slot's
 * choices (0 if absent), or a list (list_attribute()), for which the default is to be absent.
 * Strings and tensors are ignored. Returns 0, or -ENOTSUP if an integer is given as a string, a name
 * is not among the choices or a list is too long.
 */
static int attribute(struct ox *l, struct weft_attr_onnx_node *a, const struct weft_onnx_slot *s)
{
	const onnx_attribute *n = ox_attr(l, s->name);

	switch (s->type) {
	case WEFT_ONNX_INT:
		a->i[s->i] = n && n->has_i ? whole(n->i) : (int32_t)s->otherwise;
		return n && n->has_s ? ox_fail(l, -ENOTSUP, "attribute %s is a string", s->name) : 0;   /* Cast-1 names the type */
	case WEFT_ONNX_FLOAT:
		a->f[s->f] = n && n->has_f ? n->f : (float)s->otherwise;
		return 0;
	case WEFT_ONNX_ENUM:
		a->i[s->i] = n && n->has_s ? choice(s->choices, (const char *)n->s.data, n->s.len) : 0;
		return a->i[s->i] >= 0 ? 0 : ox_fail(l, -ENOTSUP, "attribute %s: \"%.*s\"", s->name, shown(n->s.len), (const char *)n->s.data);
	case WEFT_ONNX_INTS: case WEFT_ONNX_FLOATS: case WEFT_ONNX_ENUMS:
		return list_attribute(l, a, s, n);
	default:
		return 0;
	}
}

/*
 * Adds a new constant vector of type t with a copy of the n elements at p, of `size` bytes each.
 * Returns the graph tensor, or a negative errno.
 */
static int constant(struct ox *l, weft_dtype t, int64_t n, size_t size, const void *p)
{
	void *data = ox_alloc(l, n, size);

	if (data && n)
		memcpy(data, p, (size_t)n * size);
	return ox_data(l, t, 1, &n, data);
}

/*
 * Adds a new constant operand for the attribute of the node at hand that slot s describes: a string
 * as uint8 (also an empty one), a list as int64 or float32, a tensor as it is. Returns 1 with *x
 * set to the graph tensor; 0 if the node has no such attribute, or an empty list; or a negative
 * errno after ox_fail(), -ENOTSUP for strings in a list. *x then does not count.
 */
static int extra(struct ox *l, const struct weft_onnx_slot *s, int *x)
{
	const onnx_attribute *n = ox_attr(l, s->name);
	char why[160] = "";
	weft_tensor t;

	if (!n || (s->type != WEFT_ONNX_STRING && !n->n_ints && !n->n_floats && !n->n_strings && !n->t))
		return 0;
	if (s->type == WEFT_ONNX_STRING) {
		*x = constant(l, WEFT_UINT8, (int64_t)n->s.len, 1, n->s.data);
	} else if (n->n_ints) {
		*x = constant(l, WEFT_INT64, (int64_t)n->n_ints, 8, n->ints);
	} else if (n->n_floats) {
		*x = constant(l, WEFT_FP32, (int64_t)n->n_floats, 4, n->floats);
	} else if (!n->t) {
		return ox_fail(l, -ENOTSUP, "attribute %s: strings", s->name);
	} else {
		int err = onnx_tensor_data(&l->f, n->t, &t, &l->room, why, sizeof why);
		*x = err ? ox_fail(l, err, "attribute %s: %s", s->name, why) : ox_data(l, t.dtype, t.rank, t.dim, t.data);
	}
	return *x < 0 ? *x : 1;
}

/* ---- operands and results ---- */

/*
 * A call of ONNX_NODE: its attributes, n_in operands (in: tensors; from: the values that they hold, or
 * NULL for operands that were attributes), and the number of results.
 */
struct call { struct weft_attr_onnx_node a; int in[WEFT_ONNX_MAX_IN]; struct ox_value *from[WEFT_ONNX_MAX_IN]; int n_in, n_y; };

/*
 * Appends tensor x to the operands of call c, which has room; `from` is the value that it holds, or
 * NULL. Returns 0; a negative x is returned as it is and nothing is appended.
 */
static int add_operand(struct call *c, int x, struct ox_value *from)
{
	if (x < 0)
		return x;
	c->from[c->n_in] = from;
	c->in[c->n_in++] = x;
	return 0;
}

/*
 * Appends the operands of the node at hand to call c, sets c->a.n_in to their number without absent
 * ones at the end, and marks absent ones in between in c->a.absent (bit k is operand k). Returns 0,
 * -EINVAL if the kernel takes another number of operands, or another negative errno.
 */
static int operands(struct ox *l, struct call *c)
{
	int n = (int)l->n->n_input, least, most, out;

	weft_onnx_ref_arity(c->a.kind, &least, &most, &out);
	while (n > 0 && !ox_has(l, n - 1))
		n--;
	if (n < least || n > most)
		return ox_fail(l, -EINVAL, "%d inputs, %d to %d expected", n, least, most);
	for (int k = 0; k < n; k++) {
		struct ox_value *v = ox_optional(l, k);

		if (!v && ox_has(l, k))
			return l->err;
		if (!v)
			c->a.absent |= (int64_t)1 << k;
		else if (add_operand(c, ox_get(l, v, NULL), v))
			return l->err;
	}
	c->a.n_in = n;
	return 0;
}

/*
 * Stores the attributes of the node at hand in call c. Each string or tensor that the kernel knows
 * counts as one more operand in c->a.n_in: a new constant, or absent (a bit in c->a.absent) if
 * extra() finds none. Returns 0, -ENOTSUP if an attribute cannot be stored or there are too many
 * operands, or another negative errno.
 */
static int attributes(struct ox *l, struct call *c)
{
	struct weft_onnx_slot s;

	for (int k = 0; weft_onnx_ref_slot(c->a.kind, k, &s); k++) {
		if (s.type != WEFT_ONNX_STRING && s.type != WEFT_ONNX_TENSOR) {
			if (attribute(l, &c->a, &s))
				return l->err;
			continue;
		}
		int x = 0, given = extra(l, &s, &x);
		if (given < 0 || c->n_in == WEFT_ONNX_MAX_IN)
			return given < 0 ? given : ox_fail(l, -ENOTSUP, "too many operands");
		if (!given)
			c->a.absent |= (int64_t)1 << c->a.n_in;
		else if (add_operand(c, x, NULL))
			return l->err;
		c->a.n_in++;
	}
	return 0;
}

/* Returns the number of results of the node at hand, not counting absent ones at the end. */
static int results(const struct ox *l)
{
	int n = (int)l->n->n_output;

	while (n > 0 && !*l->n->output[n - 1])
		n--;
	return n;
}

/*
 * Emits call c, which has its operands but no attributes yet, with those of the node at hand, and sets out[k] to its result k. Constants are
 * computed at once. If the shape of a result depends on an operand that is not constant, that operand's inputs are noted by
 * ox_want(). Returns 0; or, after ox_fail(), -ENOTSUP if an attribute cannot be stored, there are too many operands, a shape depends on
 * such an operand, or finding a shape takes more steps than l->work has left, or what the kernel's check of shapes gives, or another
 * negative errno.
 */
static int emit(struct ox *l, struct call *c, int *out)
{
	const weft_tensor *x[WEFT_ONNX_MAX_IN];
	weft_tensor y[WEFT_ONNX_MAX_OUT];
	char line[WEFT_GOLDEN_MSG] = "";
	int which = -1;

	if (attributes(l, c))
		return l->err;
	for (int k = 0; k < c->n_in; k++)
		x[k] = ox_t(l, c->in[k]);
	if (!ox_work(l, weft_onnx_ref_work(&c->a, x, c->n_in, NULL, 0)))
		return ox_fail(l, -ENOTSUP, "finding the result's shape takes too many comparisons");
	int err = weft_onnx_ref_shapes(&c->a, x, c->n_in, y, c->n_y, &which, line);
	if (err == -EAGAIN && which >= 0 && c->from[which])
		ox_want(l, c->from[which]);
	if (err)
		return ox_fail(l, err == -EAGAIN ? -ENOTSUP : err, "%.150s", line);
	const weft_attr a = { .onnx_node = c->a };
	err = ox_op_many(l, WEFT_OP_ONNX_NODE, &a, c->in, c->n_in, y, c->n_y, out);
	return err < 0 ? err : 0;
}

/*
 * Lowers the node at hand to the host operator ONNX_NODE by the kernel of its name in that domain, and sets its results in the file's
 * order of dimensions. Returns 0; or, after ox_fail(), -ENOTSUP if there is no kernel for type and domain or there are too many
 * results, -EINVAL if the number of operands is wrong, or what emit() gives.
 */
int ox_host_in(struct ox *l, const char *domain)
{
	struct call c = { .a = { .kind = weft_onnx_ref_find(domain, l->n->op_type), .opset = l->opset }, .n_y = results(l) };
	int out[WEFT_ONNX_MAX_OUT];

	if (c.a.kind < 0)
		return ox_fail(l, -ENOTSUP, *l->n->domain ? "is not supported (domain %.60s)" : "is not supported", l->n->domain);
	if (c.n_y > WEFT_ONNX_MAX_OUT)
		return ox_fail(l, -ENOTSUP, "%d results", c.n_y);
	if (operands(l, &c))
		return l->err;
	int err = emit(l, &c, out);
	for (int k = 0; k < c.n_y && err >= 0; k++)
		err = ox_result(l, k, out[k], NULL, false);
	return err < 0 ? err : 0;
}

/*
 * Emits kernel number `kind` as ONNX_NODE on the n tensors x, with the attributes of the node at hand and one result. Returns the graph tensor,
 * or a negative errno; a negative tensor is a failure that was there before.
 */
static int host_of_tensors(struct ox *l, int kind, int opset, const int *x, int n)
{
	struct call c = { .a = { .kind = kind, .opset = opset, .n_in = n }, .n_y = 1 };
	int y = 0;

	for (int k = 0; k < n; k++)
		if (add_operand(&c, x[k], NULL))
			return l->err;
	return emit(l, &c, &y) ? l->err : y;
}

int ox_host_of_floats(struct ox *l, const char *name, int x)
{
	enum { SINCE = 19 };             /* the newest opset in which these differ */
	const bool own_order = l->o.requant == WEFT_ONNX_REQUANT_RUNTIME;

	return host_of_tensors(l, weft_onnx_ref_find(own_order ? "onnxruntime" : "", name), SINCE, &x, 1);
}

int ox_host_of(struct ox *l, const char *domain, const char *name, const int *x, int n)
{
	return host_of_tensors(l, weft_onnx_ref_find(domain, name), l->opset, x, n);
}

/* Lowers the node at hand as ONNX, or the domain that it names, defines it; results as of ox_host_in(). */
int ox_host(struct ox *l)
{
	return ox_host_in(l, l->n->domain);
}

/*
 * Says whether each operand that the node at hand has is float32, or int64 (sizes) if it is not operand 0, and
 * its attributes alpha and beta are absent or 1. Deferred nodes that make operands are lowered for that; if
 * that fails, returns false and leaves l->err set.
 */
static bool plain_floats(struct ox *l)
{
	for (int k = 0; k < (int)l->n->n_input; k++) {
		struct ox_value *v = ox_optional(l, k);

		if (ox_has(l, k) && (!v || (v->t.dtype != WEFT_FP32 && (!k || v->t.dtype != WEFT_INT64))))
			return false;
	}
	return ox_attr_f(l, "alpha", 1) == 1 && ox_attr_f(l, "beta", 1) == 1;
}

int ox_runtime_form(struct ox *l)
{
	const bool own = !*l->n->domain || !strcmp(l->n->domain, "ai.onnx");

	if (l->o.requant != WEFT_ONNX_REQUANT_RUNTIME || !own || weft_onnx_ref_find("onnxruntime", l->n->op_type) < 0)
		return 1;
	l->err = 0;
	const int err = plain_floats(l) ? ox_host_in(l, "onnxruntime") : l->err ? l->err : 1;
	if (err == -ENOTSUP)
		l->err = 0;              /* a form that is not known; the ordinary one may be */
	return err == -ENOTSUP ? 1 : err;
}
