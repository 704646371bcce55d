/* SPDX-License-Identifier: Apache-2.0 */
/* What the lowerings of single operators share: operands, options, constants, and emission into the graph. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tflite_lower.h"

/*
 * Writes the formatted message to l->msg, in front of it the number of the subgraph if that is not 0, and the
 * index and name of the operator at hand if there is one; and sets l->err to err. Returns err, a negative
 * errno.
 */
int tfl_fail(struct tfl_lower *l, int err, const char *format, ...)
{
	int n = 0;
	va_list ap;

	l->err = err;
	if (l->i_sub)
		n = snprintf(l->msg, WEFT_MSG, "subgraph %d ", l->i_sub);
	const char *name = l->op ? tfl_code_name(l->op->code) : NULL;
	if (name)
		n += snprintf(l->msg + n, WEFT_MSG - (size_t)n, "operator %d %s: ", l->i_op, name);
	else if (l->op)
		n += snprintf(l->msg + n, WEFT_MSG - (size_t)n, "operator %d code %d: ", l->i_op, l->op->code);
	va_start(ap, format);
	vsnprintf(l->msg + n, WEFT_MSG - (size_t)n, format, ap);
	va_end(ap);
	return err;
}

/* Notes that memory is out, in l->msg and l->err. Returns -ENOMEM. */
static int no_memory(struct tfl_lower *l)
{
	return tfl_fail(l, -ENOMEM, "out of memory");
}

/* ---- operands ---- */

bool tfl_has(const struct tfl_lower *l, int k)
{
	return (uint32_t)k < l->op->in.n && fb_i32_at(&l->m->b, &l->op->in, (uint32_t)k) != -1;
}

/*
 * Returns the index of the file tensor that is operand k of the operator at hand, or -EINVAL if the
 * operand is absent or its index is out of range.
 */
int tfl_operand(struct tfl_lower *l, int k)
{
	if (!tfl_has(l, k))
		return tfl_fail(l, -EINVAL, "operand %d is missing, at byte %zu", k, l->op->at);
	int i = fb_i32_at(&l->m->b, &l->op->in, (uint32_t)k);
	if (i < 0 || i >= l->m->n_tensors)
		return tfl_fail(l, -EINVAL, "operand %d: tensor %d of %d, at byte %zu", k, i, l->m->n_tensors, l->op->at);
	return i;
}

const struct tfl_tensor *tfl_file_tensor(const struct tfl_lower *l, int i)
{
	return &l->m->tensors[i];
}

/*
 * Says whether operand k of the operator at hand is present and a constant of the file, or one that
 * was computed before the run.
 */
bool tfl_is_const(const struct tfl_lower *l, int k)
{
	if (!tfl_has(l, k))
		return false;
	int i = fb_i32_at(&l->m->b, &l->op->in, (uint32_t)k);
	return i >= 0 && i < l->m->n_tensors && l->m->tensors[i].data;
}

/*
 * Returns the graph's type, as operators see it, for the file's type (enum tfl_type): uint8 is
 * int8, a type that is not supported 0.
 */
static weft_dtype type_of(int tfl)
{
	switch (tfl) {
	case TFL_INT8:
	case TFL_UINT8:
		return WEFT_INT8;
	case TFL_FLOAT32:
		return WEFT_FP32;
	case TFL_FLOAT16:
		return WEFT_FP16;
	case TFL_INT32:
		return WEFT_INT32;
	case TFL_INT64:
		return WEFT_INT64;
	case TFL_INT16:
		return WEFT_INT16;
	case TFL_INT4:
		return WEFT_INT4;
	case TFL_BOOL:
		return WEFT_BOOL;
	case TFL_FLOAT64:
		return WEFT_FP64;
	case TFL_UINT16:
		return WEFT_UINT16;
	case TFL_UINT32:
		return WEFT_UINT32;
	case TFL_UINT64:
		return WEFT_UINT64;
	default:
		return 0;
	}
}

int64_t tfl_type_min(weft_dtype t)
{
	return t == WEFT_INT8 ? INT8_MIN : t == WEFT_INT16 ? INT16_MIN : INT32_MIN;
}

/*
 * Returns the dimensions that file tensor i has now: those of its tensor in the graph, if that has the rank
 * which the file says; else those that were found for a constant. Both may differ from the file's where the
 * file leaves them open. Returns NULL if those in the file apply.
 */
static const int64_t *extents(const struct tfl_lower *l, int i)
{
	int g = !l->raw ? -1 : l->raw[i] >= 0 ? l->raw[i] : l->seen[i];

	if (g < 0 || l->g->tensors[g].t.rank != (int)tfl_file_tensor(l, i)->shape.n)
		return tfl_file_tensor(l, i)->dim;
	return l->g->tensors[g].t.dim;
}

/*
 * Sets *t to type and shape of file tensor i as operators see it, without data; open dimensions are those
 * found before, dimensions behind the rank are 1. Returns 0, -ENOTSUP if its type is not supported, it is
 * a variable or has custom quantisation, or -EINVAL if its rank is above TFL_MAX_RANK, a dimension is
 * below 1 or there are more than INT32_MAX elements.
 */
int tfl_shape(struct tfl_lower *l, int i, weft_tensor *t)
{
	const struct tfl_tensor *f = tfl_file_tensor(l, i);
	const int64_t *now = extents(l, i);
	int64_t n = 1;

	memset(t, 0, sizeof *t);
	t->dtype = type_of(f->type);
	if (!t->dtype)
		return tfl_fail(l, -ENOTSUP, "tensor %d: type %s is not supported, at byte %zu", i, tfl_type_name(f->type), f->at);
	if (f->shape.n > TFL_MAX_RANK)
		return tfl_fail(l, -EINVAL, "tensor %d: rank %u > %d, at byte %zu", i, (unsigned)f->shape.n, TFL_MAX_RANK,
		                f->at);
	if (f->is_variable || f->has_custom_quant)
		return tfl_fail(l, -ENOTSUP, "tensor %d: variables, and custom or blockwise quantisation, are not supported", i);
	t->rank = (int)f->shape.n;
	for (int k = 0; k < WEFT_MAX_RANK; k++) {
		t->dim[k] = k >= t->rank ? 1 : now ? now[k] : fb_i32_at(&l->m->b, &f->shape, (uint32_t)k);
		if (t->dim[k] < 1 || t->dim[k] > INT32_MAX / n)
			return tfl_fail(l, -EINVAL, "tensor %d: dimension %d is %lld; 1 or more, %d elements in all, at byte %zu",
			                i, k, (long long)t->dim[k], INT32_MAX, f->at);
		n *= t->dim[k];
	}
	return 0;
}

/*
 * Returns the set to which a file's type belongs: TFL_Q8, TFL_Q16 or TFL_Q32, or 0 for other types.
 */
static unsigned quant_type(int tfl)
{
	switch (tfl) {
	case TFL_INT8:
	case TFL_UINT8:
		return TFL_Q8;
	case TFL_INT16:
		return TFL_Q16;
	case TFL_INT32:
		return TFL_Q32;
	default:
		return 0;
	}
}

/*
 * Checks that zp is a zero point that file tensor i may have: within the range of its type for int8
 * and uint8, and also for int16 and int32 if `types` includes TFL_QZP, else 0. Returns 0 or
 * -EINVAL.
 */
static int check_zp(struct tfl_lower *l, int i, unsigned types, int64_t zp)
{
	const struct tfl_tensor *f = tfl_file_tensor(l, i);
	int64_t low = f->type == TFL_UINT8 ? 0 : tfl_type_min(type_of(f->type));
	int64_t high = f->type == TFL_UINT8 ? 255 : -1 - low;

	if (quant_type(f->type) != TFL_Q8 && !(types & TFL_QZP))
		low = high = 0;
	if (zp >= low && zp <= high)
		return 0;
	return tfl_fail(l, -EINVAL, "tensor %d: zero point %lld outside %lld..%lld, at byte %zu", i, (long long)zp,
	                (long long)low, (long long)high, f->zero_point.at);
}

/*
 * Sets *q to the type, scale and zero point of file tensor i as operators see it (128 less for uint8);
 * the tensor has one of each, and a missing zero point is 0. `types` is the set of types that the
 * operator takes. The result at hand needs a scale above 0; another tensor may have 0, or none, which
 * counts as 0. Returns 0; -ENOTSUP if the type is not in the set; or -EINVAL if there are several scales
 * or zero points, the scale is negative or not finite, or the zero point out of range; a negative i, an operand
 * that is absent, is returned as it is.
 */
int tfl_quant(struct tfl_lower *l, int i, unsigned types, struct tfl_quant *q)
{
	if (i < 0)
		return i;
	const struct tfl_tensor *f = tfl_file_tensor(l, i);
	if (!(quant_type(f->type) & types))
		return tfl_fail(l, -ENOTSUP, "tensor %d is %s: only %s here%s", i,
		                tfl_type_name(f->type),
		                !(types & TFL_Q16) ? "int8 and uint8" : !(types & TFL_Q8) ? "int16" : "int8, uint8 and int16",
		                f->type == TFL_FLOAT32 || f->type == TFL_FLOAT16 ? "; quantise the network first" : "");
	const bool none = !f->scale.n && i != l->i_y;    /* TensorFlow Lite takes 0 for it */
	if ((f->scale.n != 1 && !none) || f->zero_point.n > 1)
		return tfl_fail(l, -EINVAL, "tensor %d: %u scales and %u zero points, not 1, at byte %zu", i,
		                (unsigned)f->scale.n, (unsigned)f->zero_point.n, f->at);
	float scale = none ? 0 : fb_f32_at(&l->m->b, &f->scale, 0);
	int64_t zp = f->zero_point.n ? fb_i64_at(&l->m->b, &f->zero_point, 0) : 0;
	if (!isfinite(scale) || !(i == l->i_y ? scale > 0 : scale >= 0))
		return tfl_fail(l, -EINVAL, "tensor %d: scale %g, finite and above 0 wanted, at byte %zu", i, (double)scale, f->scale.at);
	int err = check_zp(l, i, types, zp);
	if (err)
		return err;
	q->t = type_of(f->type);
	q->scale = scale;
	q->zp = (int32_t)zp - (f->type == TFL_UINT8 ? 128 : 0);
	return 0;
}

/*
 * Returns a copy, which the caller frees, of the elements of constant file tensor i in the graph's
 * layout, for type and shape *t: uint8 less 128, int4 one to a byte. If an int4 is -8, which TOSA's
 * int4 does not have, t->dtype becomes int8. Returns NULL after tfl_fail() if the data does not
 * have the shape's size or memory is out.
 */
void *tfl_copy_const(struct tfl_lower *l, int i, weft_tensor *t)
{
	const struct tfl_tensor *f = tfl_file_tensor(l, i);
	int64_t n = weft_tensor_elements(t);
	size_t elem = weft_dtype_bytes(t->dtype);
	size_t want = t->dtype == WEFT_INT4 ? (size_t)(n + 1) / 2 : (size_t)n * elem;

	if (f->data_len != want) {
		tfl_fail(l, -EINVAL, "tensor %d: %zu bytes of data, shape wants %zu, at byte %zu", i, f->data_len, want, f->at);
		return NULL;
	}
	int8_t *p = tfl_alloc(l, n, elem);
	if (!p)
		return NULL;
	if (t->dtype != WEFT_INT4) {
		memcpy(p, f->data, want);
		for (int64_t k = 0; f->type == TFL_UINT8 && k < n; k++)
			p[k] = (int8_t)(f->data[k] - 128);
		return p;
	}
	for (int64_t k = 0; k < n; k++) {
		int v = (f->data[k / 2] >> (k % 2 * 4)) & 15;
		p[k] = (int8_t)(v > 7 ? v - 16 : v);
		if (p[k] == -8)          /* outside TOSA's int4 */
			t->dtype = WEFT_INT8;
	}
	return p;
}

/*
 * Returns tensor f's name, up to its first NUL, as a C string that the caller frees, or NULL after
 * tfl_fail().
 */
static char *own_name(struct tfl_lower *l, const struct tfl_tensor *f)
{
	size_t n = strnlen(f->name, f->name_len);
	char *s = tfl_alloc(l, (int64_t)n + 1, 1);

	if (s) {
		memcpy(s, f->name, n);
		s[n] = 0;
	}
	return s;
}

/*
 * Copies the scale and the zero point, less zp_less, of file tensor i to graph tensor `tensor`, for
 * readers of the graph. Does nothing if the file tensor does not have exactly one scale and at most
 * one zero point.
 */
static void note_quant(struct tfl_lower *l, int i, int tensor, int zp_less)
{
	const struct tfl_tensor *f = tfl_file_tensor(l, i);

	if (f->scale.n != 1 || f->zero_point.n > 1)
		return;
	struct weft_quant *q = &l->g->tensors[tensor].q;
	q->present = true;
	q->scale = fb_f32_at(&l->m->b, &f->scale, 0);
	/* judged only where an operator uses it, so any number; it then wraps */
	q->zp = (int64_t)((uint64_t)(f->zero_point.n ? fb_i64_at(&l->m->b, &f->zero_point, 0) : 0) - (uint64_t)zp_less);
}

/*
 * Adds constant file tensor i, whose type and shape are in *t, to the graph under its own name, with its
 * data as tfl_copy_const() gives them (uint8 less 128), and with its scale and zero point if it has one
 * scale (note_quant()); those of weights with a scale for each channel are not noted. t->dtype may become
 * int8 for an int4 of -8. Which graph tensor stands for i (l->seen) is left to the caller. Returns the
 * graph tensor, -EINVAL if the data have another size than the shape, or another negative errno.
 */
static int add_const(struct tfl_lower *l, int i, weft_tensor *t)
{
	char *name = own_name(l, tfl_file_tensor(l, i));
	void *data = name ? tfl_copy_const(l, i, t) : NULL;

	if (!data) {
		free(name);
		return l->err;
	}
	int c = tfl_tensor(l, name, t->dtype, t->rank, t->dim);
	free(name);
	if (c < 0) {
		free(data);
		return c;
	}
	l->g->tensors[c].t.data = data;
	note_quant(l, i, c, tfl_file_tensor(l, i)->type == TFL_UINT8 ? 128 : 0);
	return c;
}

/*
 * Adds constant operand k of the operator at hand to the graph in the given shape, which has as
 * many elements; each call adds another tensor. Returns the graph tensor, -ENOTSUP if the operand is
 * not constant, -EINVAL if the shape does not fit, or another negative errno.
 */
int tfl_const_as(struct tfl_lower *l, int k, int rank, const int64_t *dim)
{
	weft_tensor t;
	int i = tfl_operand(l, k);
	int err = i < 0 ? i : tfl_shape(l, i, &t);

	if (err)
		return err;
	if (!tfl_is_const(l, k))
		return tfl_fail(l, -ENOTSUP, "operand %d is not constant", k);
	int64_t n = weft_tensor_elements(&t), m = 1;
	t.rank = rank;
	for (int d = 0; d < WEFT_MAX_RANK; d++) {
		t.dim[d] = d < rank ? dim[d] : 1;
		m *= t.dim[d];
	}
	if (n != m)
		return tfl_fail(l, -EINVAL, "operand %d has %lld elements, not %lld", k, (long long)n, (long long)m);
	return add_const(l, i, &t);
}

/*
 * Appends operator op with attributes attr (NULL: none) and n_in operands to the graph; its result
 * is tensor y. Takes its memory from l->room. Returns y, -EINVAL if the room is used up, or
 * -ENOMEM.
 */
static int emit(struct tfl_lower *l, weft_opcode op, const weft_attr *attr, const int *in, int n_in, int y)
{
	l->room -= 3 * (int64_t)sizeof(struct weft_gop) + 4 * n_in + 64;
	if (l->room < 0)
		return tfl_fail(l, -EINVAL, "the graph outgrows the memory allowed for a file of %zu bytes", l->m->b.len);
	int i = weft_graph_op(l->g, op, attr, l->src, in, n_in, &y, 1);
	return i < 0 ? no_memory(l) : y;
}

/*
 * Returns the name "<name of file tensor i>/<suffix>", with the count behind it if that is 2 or
 * more, as a string that the caller frees, or NULL after tfl_fail().
 */
static char *below(struct tfl_lower *l, int i, const char *suffix, int count)
{
	const struct tfl_tensor *f = tfl_file_tensor(l, i);
	size_t n = strnlen(f->name, f->name_len);
	char *s = tfl_alloc(l, (int64_t)(n + strlen(suffix)) + 8, 1);

	if (!s)
		return NULL;
	memcpy(s, f->name, n);
	if (count > 1)
		snprintf(s + n, strlen(suffix) + 8, "/%s%d", suffix, count);
	else
		snprintf(s + n, strlen(suffix) + 8, "/%s", suffix);
	return s;
}

/*
 * Takes the bytes of a graph tensor from l->activations, the 1 GiB that all computed values may
 * take together. Nothing is allocated; the limit bounds the later stages. Returns the tensor, or
 * -EINVAL if there are not as many left.
 */
static int declare(struct tfl_lower *l, int tensor)
{
	size_t bytes = weft_tensor_bytes(&l->g->tensors[tensor].t);

	if (bytes > (size_t)l->activations)
		return tfl_fail(l, -EINVAL, "tensors so far exceed 1 GiB");
	l->activations -= (int64_t)bytes;
	return tensor;
}

/*
 * Emits a RESCALE that makes tensor y of x, 128 less if x is uint8, 128 more if it is int8. Returns
 * y, or a negative errno.
 */
static int flip_sign(struct tfl_lower *l, int x, int y)
{
	bool from = l->g->tensors[x].t.dtype == WEFT_UINT8;
	weft_attr a = { .rescale = { .scale32 = true, .rounding = WEFT_SINGLE_ROUND, .x_unsigned = from,
	                             .y_unsigned = !from, .x_zp = from ? 128 : 0, .y_zp = from ? 0 : 128 } };
	int im = tfl_number(l, "multiplier", WEFT_INT32, 1, 1 << 30), is = im < 0 ? im : tfl_number(l, "shift", WEFT_INT8, 1, 30);

	return is < 0 ? is : emit(l, WEFT_OP_RESCALE, &a, (int[]){ x, im, is }, 3, y);
}

/*
 * Adds a tensor "<name>/int8" to the graph with the int8 form, 128 less, of uint8 file tensor i, which the
 * graph has as uint8, and the RESCALE that computes it. Its zero point is 128 less, too, and its bytes are
 * taken from l->activations. That it stands for i (l->seen) is left to the caller to note. Returns that
 * tensor, or a negative errno.
 */
static int int8_image(struct tfl_lower *l, int i)
{
	const weft_tensor *t = &l->g->tensors[l->raw[i]].t;
	char *name = below(l, i, "int8", 0);
	int64_t dim[WEFT_MAX_RANK];

	if (!name)
		return l->err;
	memcpy(dim, t->dim, sizeof dim);    /* the array of tensors may move */
	int y = tfl_tensor(l, name, WEFT_INT8, t->rank, dim);
	free(name);
	if (y < 0 || (y = declare(l, y)) < 0)
		return y;
	l->g->tensors[y].internal = true;
	note_quant(l, i, y, 128);
	return flip_sign(l, l->raw[i], y);
}

/*
 * Returns the graph tensor of file tensor i as operators see it (uint8 as int8). A constant is added
 * to the graph, and uint8 turned into int8, at the first call. Returns -EINVAL if nothing before
 * computes it, -ENOTSUP if its shape is known only when the network runs, or another negative errno.
 */
int tfl_value_of(struct tfl_lower *l, int i)
{
	weft_tensor t;

	if (l->seen[i] < 0) {
		int err = tfl_shape(l, i, &t), v;
		if (err)
			return err;
		if (l->raw[i] >= 0)
			v = int8_image(l, i);
		else if (tfl_file_tensor(l, i)->data)
			v = add_const(l, i, &t);
		else if (l->late[i])
			return tfl_fail(l, -ENOTSUP, "tensor %d: its shape is known only when the network runs", i);
		else
			return tfl_fail(l, -EINVAL, "nothing before computes tensor %d, at byte %zu", i, l->op ? l->op->at : 0);
		if (v < 0)
			return v;
		l->seen[i] = v;
	}
	return l->seen[i];
}

/*
 * Returns the graph tensor of operand k of the operator at hand, as tfl_value_of(), or -EINVAL if
 * the operand is absent.
 */
int tfl_value(struct tfl_lower *l, int k)
{
	int i = tfl_operand(l, k);

	if (i >= 0 && l->seen[i] < 0 && l->raw[i] < 0 && !l->late[i] && !tfl_file_tensor(l, i)->data)
		return tfl_fail(l, -EINVAL, "operand %d: nothing before computes tensor %d, at byte %zu", k, i, l->op->at);
	return i < 0 ? i : tfl_value_of(l, i);
}

int tfl_quant_value(struct tfl_lower *l, int k, unsigned types, struct tfl_quant *q)
{
	int i = tfl_operand(l, k);
	int err = i < 0 ? i : tfl_quant(l, i, types, q);

	return err ? err : tfl_value(l, k);
}

int tfl_need_result(struct tfl_lower *l, unsigned types, struct tfl_quant *q)
{
	return tfl_quant(l, l->i_y, types, q);
}

/*
 * Returns element k of a constant file tensor of little-endian signed integers of elem bytes each: 1, 2, 4 or 8.
 */
int64_t tfl_int_at(const struct tfl_tensor *f, size_t elem, int64_t k)
{
	uint64_t v = 0;

	for (size_t i = 0; i < elem; i++)
		v |= (uint64_t)f->data[(size_t)k * elem + i] << (8 * i);
	return elem == 1 ? (int8_t)(uint8_t)v : elem == 2 ? (int16_t)(uint16_t)v : elem == 4 ? (int32_t)(uint32_t)v : (int64_t)v;
}

/*
 * Writes the elements of constant operand k, int8, int16, int32 or int64 of any shape, to v, which has room for max.
 * Returns their count, which is at least 1. Returns -EINVAL if the operand is absent, its type is another
 * that is supported, it has more elements, or its data have another size; -ENOTSUP if it is not constant; or
 * what tfl_shape() gives, which is -ENOTSUP for a type or tensor that is not supported.
 */
int tfl_ints(struct tfl_lower *l, int k, int max, int64_t *v)
{
	weft_tensor t;
	int i = tfl_operand(l, k);
	int err = i < 0 ? i : tfl_shape(l, i, &t);

	if (err)
		return err;
	const struct tfl_tensor *f = tfl_file_tensor(l, i);
	if (!f->data)
		return tfl_fail(l, -ENOTSUP, "operand %d is not constant", k);
	int64_t n = weft_tensor_elements(&t);
	if ((t.dtype != WEFT_INT8 && t.dtype != WEFT_INT16 && t.dtype != WEFT_INT32 && t.dtype != WEFT_INT64) || f->type == TFL_UINT8 || n > max)
		return tfl_fail(l, -EINVAL, "operand %d: %lld elements of %s; at most %d of int8, int16, int32 or int64", k, (long long)n,
		                weft_dtype_name(t.dtype), max);
	if (f->data_len != (size_t)n * weft_dtype_bytes(t.dtype))
		return tfl_fail(l, -EINVAL, "tensor %d: %zu bytes of data for %lld elements, at byte %zu", i, f->data_len,
		                (long long)n, f->at);
	for (int64_t e = 0; e < n; e++)
		v[e] = tfl_int_at(f, weft_dtype_bytes(t.dtype), e);
	return (int)n;
}

bool tfl_is_empty(const struct tfl_lower *l, int k)
{
	const int i = tfl_has(l, k) ? fb_i32_at(&l->m->b, &l->op->in, (uint32_t)k) : -1;

	if (i < 0 || i >= l->m->n_tensors || l->raw[i] >= 0 || l->seen[i] >= 0)
		return false;
	const struct tfl_tensor *f = tfl_file_tensor(l, i);
	return !f->data_len && f->shape.n == 1 && fb_i32_at(&l->m->b, &f->shape, 0) == 0;
}

int tfl_axes(struct tfl_lower *l, int k, int max, int64_t *v)
{
	return tfl_is_empty(l, k) ? 0 : tfl_ints(l, k, max, v);
}

int tfl_axis_set(struct tfl_lower *l, int k, int rank, unsigned *set)
{
	int64_t v[16];
	int n = tfl_axes(l, k, 16, v);

	*set = 0;
	for (int i = 0; i < n; i++) {
		if (v[i] < -rank || v[i] >= rank)
			return tfl_fail(l, -EINVAL, "axis %lld of rank %d", (long long)v[i], rank);
		*set |= 1u << (v[i] < 0 ? v[i] + rank : v[i]);
	}
	return n < 0 ? n : 0;
}

/*
 * Sets *b to a reader of the options of the operator at hand. Returns whether the operator has
 * options of that type.
 */
static bool options(const struct tfl_lower *l, int type, struct fb *b)
{
	*b = l->m->b;
	b->what = "operator";
	b->index = l->i_op;
	b->msg = l->msg;
	return l->op->has_options && l->op->options_type == type;
}

int tfl_option_float(struct tfl_lower *l, int type, int field, float absent_value, float *value)
{
	struct fb b;

	*value = absent_value;
	return options(l, type, &b) ? fb_float(&b, &l->op->options, field, absent_value, value) : 0;
}

/*
 * Sets *value to a field, a signed integer of a number of bytes, of the options of the operator at hand, or
 * to absent_value if the field or the options are absent or the options are of another type (enum in
 * tflite_ids.h) than `type`. Returns 0, or -EINVAL if the field lies outside its table.
 */
int tfl_option(struct tfl_lower *l, int type, int field, int bytes, int absent_value, int *value)
{
	int64_t v = absent_value;
	struct fb b;

	*value = absent_value;
	if (!options(l, type, &b))
		return 0;
	int err = fb_int(&b, &l->op->options, field, bytes, true, absent_value, &v);
	*value = (int)v;
	return err;
}

/*
 * Writes a field of the options of the operator at hand that is a list of int32 to v, which has room for max.
 * Returns their count; 0 if the field or the options are absent or the options are of another type than
 * `type`; or -EINVAL if the list lies outside the file, or has more than max, of which the first max are written.
 */
int tfl_option_ints(struct tfl_lower *l, int type, int field, int max, int64_t *v)
{
	struct fb_vec list;
	struct fb b;

	if (!options(l, type, &b))
		return 0;
	int err = fb_vector(&b, &l->op->options, field, 4, &list);
	if (err < 0)
		return err;
	for (uint32_t k = 0; k < list.n && k < (uint32_t)max; k++)
		v[k] = fb_i32_at(&l->m->b, &list, k);
	return list.n > (uint32_t)max ? tfl_fail(l, -EINVAL, "%u numbers in an option, not %d", (unsigned)list.n, max) : (int)list.n;
}

/* ---- building ---- */

/*
 * Adds to the graph a constant of type t with one element, integer v cut to the type's bytes, and
 * `rank` dimensions of 1. It is named after the result at hand and suffix. Returns the graph
 * tensor, or a negative errno.
 */
int tfl_number(struct tfl_lower *l, const char *suffix, weft_dtype t, int rank, int64_t v)
{
	static const int64_t dim[WEFT_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	void *p = tfl_alloc(l, 1, weft_dtype_bytes(t));

	if (!p)
		return l->err;
	memcpy(p, &v, weft_dtype_bytes(t));
	return tfl_data(l, suffix, t, rank, dim, p);
}

/*
 * Allocates n elements of `bytes` bytes each, not zeroed, and takes n * bytes from l->room, the
 * bytes that the graph may still take. The caller frees the block with free(). Returns NULL after
 * tfl_fail() if the room is too small or memory is out; l->err then has the errno.
 */
void *tfl_alloc(struct tfl_lower *l, int64_t n, size_t bytes)
{
	if (n < 0 || n > l->room / (int64_t)bytes) {
		tfl_fail(l, -EINVAL, "%lld more bytes exceed the memory allowed for a file of %zu bytes",
		         (long long)(n * (int64_t)bytes), l->m->b.len);
		return NULL;
	}
	l->room -= n * (int64_t)bytes;
	void *p = malloc(n ? (size_t)n * bytes : 1);
	if (!p)
		no_memory(l);
	return p;
}

/*
 * Adds a tensor of the given name (copied), type and shape to the graph and takes its bookkeeping
 * from l->room. Returns the graph tensor, -EINVAL if the room is used up, or -ENOMEM.
 */
int tfl_tensor(struct tfl_lower *l, const char *name, weft_dtype t, int rank, const int64_t *dim)
{
	l->room -= 3 * (int64_t)sizeof(struct weft_gtensor) + (int64_t)strlen(name) + 32;
	if (l->room < 0)
		return tfl_fail(l, -EINVAL, "the graph outgrows the memory allowed for a file of %zu bytes", l->m->b.len);
	int i = weft_graph_tensor(l->g, name, t, rank, dim);
	return i < 0 ? no_memory(l) : i;
}

/*
 * Adds a constant of the given type and shape, named after the result at hand and suffix and marked
 * internal, to the graph. It takes over data, from tfl_alloc(), which is freed after a failure. Returns
 * the graph tensor, or a negative errno.
 */
int tfl_data(struct tfl_lower *l, const char *suffix, weft_dtype t, int rank, const int64_t *dim, void *data)
{
	char *name = below(l, l->i_y, suffix, 0);
	int i = name ? tfl_tensor(l, name, t, rank, dim) : l->err;

	free(name);
	if (i < 0) {
		free(data);
		return i;
	}
	l->g->tensors[i].t.data = data;
	l->g->tensors[i].internal = true;
	return i;
}

/*
 * Adds a tensor of the given type and shape for an intermediate result of operator op, named after
 * the result at hand and op in lower case, with a number from the second one of that kind on. Its
 * bytes are taken from l->activations. Returns the graph tensor, or a negative errno.
 */
static int new_internal(struct tfl_lower *l, weft_opcode op, weft_dtype t, int rank, const int64_t *dim)
{
	char small[32];
	const char *from = weft_op_name(op);
	size_t n = 0;

	for (; from[n] && n < sizeof small - 1; n++)
		small[n] = (char)tolower((unsigned char)from[n]);
	small[n] = 0;
	if (l->used[op] < 255)
		l->used[op]++;
	char *name = below(l, l->i_y, small, l->used[op]);
	if (!name)
		return l->err;
	int i = tfl_tensor(l, name, t, rank, dim);
	free(name);
	if (i < 0)
		return i;
	l->g->tensors[i].internal = true;
	return declare(l, i);
}

/*
 * Adds a tensor of type t for the result at hand, with its shape in l->y and the file's name and, if
 * that is one scale, quantisation (with the zero point less 128 where uint8 becomes int8). Its bytes
 * are taken from l->activations. Returns the graph tensor, or a negative errno.
 */
static int new_result(struct tfl_lower *l, weft_dtype t)
{
	char *name = own_name(l, tfl_file_tensor(l, l->i_y));

	if (!name)
		return l->err;
	int i = tfl_tensor(l, name, t, l->y.rank, l->y.dim);
	free(name);
	if (i < 0)
		return i;
	note_quant(l, l->i_y, i, t == WEFT_INT8 && tfl_file_tensor(l, l->i_y)->type == TFL_UINT8 ? 128 : 0);
	return declare(l, i);
}

/*
 * Checks that t, rank and dim are the type and shape of the result at hand, l->y; uint8 passes for
 * int8. Dimensions that the file leaves open are set in l->y to those in dim. Returns 0 or -EINVAL.
 */
static int need_result_shape(struct tfl_lower *l, weft_dtype t, int rank, const int64_t *dim)
{
	if (t != l->y.dtype && !(t == WEFT_UINT8 && l->y.dtype == WEFT_INT8))
		return tfl_fail(l, -EINVAL, "tensor %d: file says %s, operator gives %s", l->i_y, weft_dtype_name(l->y.dtype),
		                weft_dtype_name(t));
	if (rank != l->y.rank)
		return tfl_fail(l, -EINVAL, "tensor %d: file says rank %d, operator gives %d", l->i_y, l->y.rank, rank);
	for (int i = 0; i < rank; i++)
		if (tfl_is_open(l, i))
			l->y.dim[i] = dim[i];
		else if (dim[i] != l->y.dim[i])
			return tfl_fail(l, -EINVAL, "tensor %d: file says dimension %d is %lld, operator gives %lld", l->i_y, i,
			                (long long)l->y.dim[i], (long long)dim[i]);
	return 0;
}

/*
 * Emits operator op, whose result of type t is the result at hand, and notes it as that file
 * tensor's value. If the file has it as uint8, op gives int8 and it is an output of the network, it
 * is turned back to uint8 behind op. Returns the tensor that has the file's name, or a negative
 * errno.
 */
static int last_step(struct tfl_lower *l, weft_opcode op, const weft_attr *attr, const int *in, int n_in, weft_dtype t)
{
	int i = l->i_y, y;
	bool back = tfl_file_tensor(l, i)->type == TFL_UINT8 && t == WEFT_INT8 && l->is_output[i];

	y = back ? new_internal(l, op, t, l->y.rank, l->y.dim) : new_result(l, t);
	if (y < 0 || (y = emit(l, op, attr, in, n_in, y)) < 0)
		return y;
	*(t == WEFT_UINT8 ? &l->raw[i] : &l->seen[i]) = y;
	if (!back)
		return y;
	int z = new_result(l, WEFT_UINT8);
	if (z < 0 || (z = flip_sign(l, y, z)) < 0)
		return z;
	return l->raw[i] = z;
}

/*
 * Emits operator op with attributes attr (NULL: none), n_in operands and one result of the given
 * type and shape: the result at hand if `last` is set, whose type and shape have to be the file's,
 * else an intermediate tensor. Returns the result's graph tensor, or a negative errno. No operand
 * may be negative.
 */
int tfl_step(struct tfl_lower *l, weft_opcode op, const weft_attr *attr, const int *in, int n_in,
             weft_dtype t, int rank, const int64_t *dim, bool last)
{
	if (!last) {
		int y = new_internal(l, op, t, rank, dim);
		return y < 0 ? y : emit(l, op, attr, in, n_in, y);
	}
	int err = need_result_shape(l, t, rank, dim);
	return err ? err : last_step(l, op, attr, in, n_in, t);
}

/*
 * Emits operator op with attributes attr, the operands in *t and two intermediate results of the types and shapes in *t,
 * whose graph tensors y receives. Returns 0, -EINVAL if the graph outgrows l->room, or another negative
 * errno; y may then be written in part.
 */
int tfl_step_two(struct tfl_lower *l, weft_opcode op, const weft_attr *attr, const struct tfl_two *t, int y[2])
{
	for (int k = 0; k < 2; k++)
		if ((y[k] = new_internal(l, op, t->type[k], t->rank[k], t->dim[k])) < 0)
			return y[k];
	l->room -= 3 * (int64_t)sizeof(struct weft_gop) + 80 + 4 * t->n_in;
	if (l->room < 0)
		return tfl_fail(l, -EINVAL, "the graph outgrows the memory allowed for a file of %zu bytes", l->m->b.len);
	int i = weft_graph_op(l->g, op, attr, l->src, t->in, t->n_in, y, 2);
	return i < 0 ? no_memory(l) : 0;
}

/* The graph tensors that an operator of several results makes. back: that one is an intermediate int8 tensor, of which uint8 is made behind the operator. */
struct results { int y[WEFT_OP_MAX_OUTPUTS]; bool back[WEFT_OP_MAX_OUTPUTS]; };

/*
 * Takes leading dimensions of 1 off the result at hand if the shape of *t is left then. The runtime does not use the file's shape but
 * the operator's own, and the converter writes such dimensions for a NON_MAX_SUPPRESSION_V4 of one image.
 */
static void drop_leading_ones(struct tfl_lower *l, const weft_tensor *t)
{
	const int more = l->y.rank - t->rank;
	bool same = more > 0;

	for (int i = 0; i < l->y.rank && same; i++)
		same = l->y.dim[i] == (i < more ? 1 : t->dim[i - more]);
	if (!same)
		return;
	l->y.rank = t->rank;
	for (int i = 0; i < WEFT_MAX_RANK; i++)
		l->y.dim[i] = i < t->rank ? t->dim[i] : 1;
}

/*
 * Adds the tensors to the graph that operator op makes for those results of the operator at hand that `many` lists,
 * notes them as these file tensors' values (l->seen) and in *r. The result at hand is one of them afterwards.
 * Returns 0; -EINVAL if the file gives a result another type or shape, or it has a value already; or another negative
 * errno.
 */
static int new_results(struct tfl_lower *l, weft_opcode op, const struct tfl_many *many, struct results *r)
{
	for (int k = 0; k < many->n; k++) {
		const weft_tensor *t = &many->t[k];
		int err = tfl_result(l, many->result[k]);

		if (!err)
			drop_leading_ones(l, t);
		if (err || (err = need_result_shape(l, t->dtype, t->rank, t->dim)))
			return err;
		r->back[k] = tfl_file_tensor(l, l->i_y)->type == TFL_UINT8 && l->is_output[l->i_y];
		r->y[k] = r->back[k] ? new_internal(l, op, t->dtype, t->rank, t->dim) : new_result(l, t->dtype);
		if (r->y[k] < 0)
			return r->y[k];
		l->seen[l->i_y] = r->y[k];
	}
	return 0;
}

/*
 * Makes result k of the operator at hand the result at hand and emits it, a uint8 output of the network, from its
 * int8 form, graph tensor y. It is noted in l->raw. Returns 0 or a negative errno.
 */
static int back_to_unsigned(struct tfl_lower *l, int k, int y)
{
	l->i_y = fb_i32_at(&l->m->b, &l->op->out, (uint32_t)k);
	l->y = l->g->tensors[y].t;
	int z = new_result(l, WEFT_UINT8);
	if (z < 0 || (z = flip_sign(l, y, z)) < 0)
		return z;
	l->raw[l->i_y] = z;
	return 0;
}

/*
 * Emits operator op with attributes attr and n_in operands, whose results are those results of the operator at hand
 * that many->result[] lists, with the types and shapes in many->t. They are noted as these file tensors' values, and a
 * uint8 result that is an output of the network is turned back to uint8. Which of them is the result at hand
 * afterwards is not defined. Returns 0; -EINVAL if the file gives a result another type or shape, if it has a value
 * already, or if the graph outgrows l->room; or another negative errno.
 */
int tfl_step_many(struct tfl_lower *l, weft_opcode op, const weft_attr *attr, const int *in, int n_in, const struct tfl_many *many)
{
	struct results r;
	int err = new_results(l, op, many, &r);

	if (err)
		return err;
	l->room -= 3 * (int64_t)sizeof(struct weft_gop) + 4 * (n_in + many->n) + 64;
	if (l->room < 0)
		return tfl_fail(l, -EINVAL, "the graph outgrows the memory allowed for a file of %zu bytes", l->m->b.len);
	if (weft_graph_op(l->g, op, attr, l->src, in, n_in, r.y, many->n) < 0)
		return no_memory(l);
	for (int k = 0; k < many->n && !err; k++)
		if (r.back[k])
			err = back_to_unsigned(l, many->result[k], r.y[k]);
	return err;
}

bool tfl_is_float(const struct tfl_lower *l, int k)
{
	int i = tfl_has(l, k) ? fb_i32_at(&l->m->b, &l->op->in, (uint32_t)k) : -1;

	return i >= 0 && i < l->m->n_tensors && l->m->tensors[i].type == TFL_FLOAT32;
}

/*
 * Adds a tensor for file tensor i with the given type and shape to the graph, marked as an input, with the
 * file's name and, if that is one scale, quantisation. In the outermost graph a uint8 tensor stays uint8 and
 * is noted in l->raw only: its first reader makes the int8 value. Another type is noted in l->raw and as the
 * file tensor's value, l->seen. In a sub-graph uint8 becomes int8, and l->seen alone is set. Its bytes are
 * taken from l->activations. Returns the graph tensor, or a negative errno.
 */
int tfl_input(struct tfl_lower *l, int i, const weft_tensor *shape)
{
	bool is_unsigned = tfl_file_tensor(l, i)->type == TFL_UINT8 && !l->parent;
	char *name = own_name(l, tfl_file_tensor(l, i));

	if (!name)
		return l->err;
	int g = tfl_tensor(l, name, is_unsigned ? WEFT_UINT8 : shape->dtype, shape->rank, shape->dim);
	free(name);
	if (g < 0 || (g = declare(l, g)) < 0)
		return g;
	l->g->tensors[g].is_input = true;
	note_quant(l, i, g, l->parent && tfl_file_tensor(l, i)->type == TFL_UINT8 ? 128 : 0);
	l->raw[i] = l->parent ? -1 : g;
	if (!is_unsigned)
		l->seen[i] = g;
	return g;
}

/*
 * Emits an IDENTITY of graph tensor x; the result has the same name, type, shape and quantisation.
 * Returns the new tensor, or a negative errno.
 */
int tfl_copy(struct tfl_lower *l, int x)
{
	const struct weft_gtensor *t = &l->g->tensors[x];
	weft_tensor shape = t->t;
	struct weft_quant q = t->q;
	char *name = tfl_alloc(l, (int64_t)strlen(t->name) + 1, 1);

	if (!name)
		return l->err;
	memcpy(name, t->name, strlen(t->name) + 1);
	int y = tfl_tensor(l, name, shape.dtype, shape.rank, shape.dim);
	free(name);
	if (y < 0 || (y = declare(l, y)) < 0)
		return y;
	l->g->tensors[y].q = q;
	return emit(l, WEFT_OP_IDENTITY, NULL, &x, 1, y);
}

int tfl_add_int(struct tfl_lower *l, int x, int64_t v, bool last)
{
	weft_tensor t = l->g->tensors[x].t;
	int c = tfl_number(l, "constant", WEFT_INT32, t.rank, v);

	return c < 0 ? c : tfl_step(l, WEFT_OP_ADD, NULL, (int[]){ x, c }, 2, WEFT_INT32, t.rank, t.dim, last);
}

/*
 * Emits graph tensor x in the given shape, which has as many elements, by a RESHAPE; x itself if it
 * has that shape. Returns the graph tensor, or a negative errno; a negative x is returned as it is.
 */
int tfl_reshape(struct tfl_lower *l, int x, int rank, const int64_t *dim)
{
	if (x < 0)
		return x;
	const weft_tensor *t = &l->g->tensors[x].t;
	bool same = t->rank == rank;
	for (int i = 0; same && i < rank; i++)
		same = t->dim[i] == dim[i];
	return same ? x : tfl_step(l, WEFT_OP_RESHAPE, NULL, &x, 1, t->dtype, rank, dim, false);
}
