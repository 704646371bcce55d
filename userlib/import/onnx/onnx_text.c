/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings. The graph has none: a Cast makes numbers of constant strings here, and
 * constant numbers may become strings on the way to such a Cast.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/convert.h>

#include "onnx_lower.h"

bool ox_is_text(const struct ox_value *v)
{
	return v->text || v->written;
}

/*
 * Sets *t to the shape of tensor p, a constant of strings, with dtype 0. Returns 0, -ENOTSUP if its
 * rank is above 8, or -EINVAL if a dimension is out of range or the number of strings is not the
 * number of elements.
 */
int ox_text_shape(struct ox *l, const onnx_tensor *p, weft_tensor *t)
{
	*t = (weft_tensor){ .rank = (int)p->n_dims };
	if (p->n_dims > WEFT_MAX_RANK)
		return ox_fail(l, -ENOTSUP, "strings of rank %zu", p->n_dims);
	for (int i = 0; i < WEFT_MAX_RANK; i++) {
		t->dim[i] = i < t->rank ? p->dims[i] : 1;
		if (t->dim[i] < 0 || t->dim[i] > INT32_MAX)
			return ox_fail(l, -EINVAL, "dimension %d is %lld", i, (long long)t->dim[i]);
	}
	if (weft_tensor_elements(t) != (int64_t)p->n_string_data)
		return ox_fail(l, -EINVAL, "%zu strings for %lld elements", p->n_string_data, (long long)weft_tensor_elements(t));
	return 0;
}

/*
 * Writes element i of v, a constant of strings, to text, which has WEFT_NUMBER_TEXT bytes with the
 * final 0. If v's strings stand for numbers (v->written), the number is formatted. Returns 0, or
 * -EINVAL if the string is too long for a number or contains a 0 byte, or the number cannot be
 * formatted.
 */
static int text_of(struct ox *l, const struct ox_value *v, int64_t i, char *text)
{
	if (v->text) {
		const ProtobufCBinaryData *s = &v->text->string_data[i];

		if (s->len >= WEFT_NUMBER_TEXT || (s->len && memchr(s->data, 0, s->len)))
			return ox_fail(l, -EINVAL, "string %lld is no number", (long long)i);
		if (s->len)
			memcpy(text, s->data, s->len);
		text[s->len] = 0;
		return 0;
	}
	const weft_tensor *t = ox_t(l, v->written);
	size_t n = weft_dtype_bytes(t->dtype);
	uint64_t bits = 0;
	memcpy(&bits, (const char *)t->data + (size_t)i * n, n);
	return weft_number_format(t->dtype, bits, text, WEFT_NUMBER_TEXT) ? ox_fail(l, -EINVAL, "element %lld", (long long)i) : 0;
}

/*
 * Adds a constant of type `to` to the graph with the numbers that v's strings state, as ONNX's Cast
 * reads them. Returns the graph tensor, -EINVAL if a string is no number, or another negative
 * errno.
 */
int ox_from_text(struct ox *l, struct ox_value *v, weft_dtype to)
{
	size_t n = weft_dtype_bytes(to);
	char *p = ox_alloc(l, weft_tensor_elements(&v->t), n), text[WEFT_NUMBER_TEXT];
	uint64_t bits;

	for (int64_t i = 0; p && i < weft_tensor_elements(&v->t); i++) {
		int err = text_of(l, v, i, text);
		if (!err && weft_number_parse(text, to, &bits))
			err = ox_fail(l, -EINVAL, "\"%.40s\" is no number", text);
		if (err) {
			free(p);
			return err;
		}
		memcpy(p + (size_t)i * n, &bits, n);
	}
	return ox_data(l, to, v->t.rank, v->t.dim, p);
}

/*
 * Makes y a value of strings, as ONNX's Cast writes the elements of x: x is a constant of numbers,
 * which y then refers to, or has strings already. y gets x's shape and dtype 0. Returns 0, -ENOTSUP
 * if x is not constant, or another negative errno (l->err if x is NULL).
 */
int ox_to_text(struct ox *l, struct ox_value *x, struct ox_value *y)
{
	if (!x)
		return l->err;
	if (!ox_is_text(x)) {
		int t = ox_get(l, x, NULL);
		if (t < 0)
			return t;
		if (!ox_t(l, t)->data)
			return ox_fail(l, -ENOTSUP, "strings of what is not constant");
		y->written = t;
	} else {
		y->text = x->text;
		y->written = x->written;
	}
	y->t = x->t;
	y->t.dtype = 0;
	return 0;
}
