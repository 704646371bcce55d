/* SPDX-License-Identifier: Apache-2.0 */
/* Types, shapes and constant data of file tensors. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/convert.h>

#include "tosa_lower.h"

/* The most elements of one tensor: a run has to hold them, and networks have fewer. */
#define MAX_ELEMENTS ((int64_t)1 << 28)

/*
 * Returns the graph's type for a type number of the file (enum tosa_type), or 0 if the number is
 * none of tensors' types.
 */
weft_dtype tosa_dtype(int type)
{
	static const weft_dtype types[TOSA_N_TYPES] = {
		[TOSA_BOOL] = WEFT_BOOL, [TOSA_INT4] = WEFT_INT4, [TOSA_INT8] = WEFT_INT8, [TOSA_INT16] = WEFT_INT16,
		[TOSA_INT32] = WEFT_INT32, [TOSA_INT48] = WEFT_INT48, [TOSA_FP32] = WEFT_FP32, [TOSA_FP16] = WEFT_FP16,
		[TOSA_BF16] = WEFT_BF16, [TOSA_FP8E4M3] = WEFT_FP8E4M3, [TOSA_FP8E5M2] = WEFT_FP8E5M2,
	};

	return type > 0 && type < TOSA_N_TYPES ? types[type] : 0;
}

/*
 * Sets *t to the type and shape that the file states for tensor number `tensor`; t->data is NULL,
 * and dimensions beyond the rank are 1. Returns 0; or, with a line in l->msg, -EINVAL if the type
 * is unknown, the rank is above 6, a dimension is below 1 or there are more than 2^28 elements, or
 * -ENOTSUP if the tensor is unranked.
 */
int tosa_declared(struct tosa_lower *l, int tensor, weft_tensor *t)
{
	const struct tosa_tensor *ft = &l->f.tensors[tensor];
	int64_t n = 1;

	*t = (weft_tensor){ .dtype = tosa_dtype(ft->type), .dim = { 1, 1, 1, 1, 1, 1, 1, 1 } };
	if (!t->dtype)
		return tosa_fail(l, -EINVAL, "tensor \"%.*s\" has type %d, at byte %zu", TOSA_SHOWN(ft->name), ft->type, ft->at);
	if (ft->unranked)
		return tosa_fail(l, -ENOTSUP, "tensor \"%.*s\" has no rank, at byte %zu",
		                 TOSA_SHOWN(ft->name), ft->at);
	if (ft->shape.n > TOSA_MAX_RANK)
		return tosa_fail(l, -EINVAL, "tensor \"%.*s\" has rank %u > %d, at byte %zu",
		                 TOSA_SHOWN(ft->name), (unsigned)ft->shape.n, TOSA_MAX_RANK, ft->at);
	t->rank = (int)ft->shape.n;
	for (int i = 0; i < t->rank; i++) {
		t->dim[i] = fb_i32_at(&l->f.b, &ft->shape, (uint32_t)i);
		if (t->dim[i] < 1 || t->dim[i] > MAX_ELEMENTS / n)
			return tosa_fail(l, -EINVAL, "tensor \"%.*s\": dimension %d is %lld (1 or more, %lld elements), at byte %zu",
			                 TOSA_SHOWN(ft->name), i, (long long)t->dim[i],
			                 (long long)MAX_ELEMENTS, ft->at);
		n *= t->dim[i];
	}
	return 0;
}

/*
 * Returns the bytes that n elements of type t take in the file, where two int4 share a byte and
 * int48 takes six.
 */
static uint64_t packed_bytes(weft_dtype t, uint64_t n)
{
	if (t == WEFT_INT4)
		return (n + 1) / 2;
	return n * (t == WEFT_INT48 ? 6 : weft_dtype_bytes(t));
}

/*
 * Copies n elements of type t from the file's bytes p to out in the graph's layout: int4 (two a
 * byte, the low half first) becomes one byte each, int48 (six bytes) eight bytes each, both
 * sign-extended; a bool becomes 0 or 1. Other types have the same bytes in both.
 */
static void unpack(weft_dtype t, const uint8_t *p, int64_t n, void *out)
{
	for (int64_t i = 0; t == WEFT_INT4 && i < n; i++) {
		int v = p[i / 2] >> (i % 2 ? 4 : 0) & 15;
		((int8_t *)out)[i] = (int8_t)(v >= 8 ? v - 16 : v);
	}
	for (int64_t i = 0; t == WEFT_INT48 && i < n; i++) {
		uint64_t v = 0;
		for (int k = 0; k < 6; k++)
			v |= (uint64_t)p[6 * i + k] << (8 * k);
		((int64_t *)out)[i] = (int64_t)(v << 16) >> 16;
	}
	for (int64_t i = 0; t == WEFT_BOOL && i < n; i++)
		((uint8_t *)out)[i] = p[i] != 0;
	if (t != WEFT_INT4 && t != WEFT_INT48 && t != WEFT_BOOL)
		memcpy(out, p, (size_t)n * weft_dtype_bytes(t));
}

/*
 * Sets *t to type, shape and data of the file's tensor number `tensor`, which has data; the caller
 * frees t->data, from malloc. The bytes that the data takes in memory are taken from l->room. The
 * file may pad the data to a multiple of 8 bytes. Returns 0; or, with t->data NULL and a line in
 * l->msg, -EINVAL if the data has another size, the room is used up, or type or shape are not
 * valid, -ENOTSUP if the tensor is unranked, or -ENOMEM.
 */
int tosa_const(struct tosa_lower *l, int tensor, weft_tensor *t)
{
	const struct tosa_tensor *ft = &l->f.tensors[tensor];
	int err = tosa_declared(l, tensor, t);

	if (err)
		return err;
	int64_t n = weft_tensor_elements(t);
	uint64_t want = packed_bytes(t->dtype, (uint64_t)n);
	/* Writers may round up to their alignment of 8. */
	if (ft->data_len != want && ft->data_len != (want + 7) / 8 * 8)
		return tosa_fail(l, -EINVAL, "constant \"%.*s\" has %zu bytes, not %llu, at byte %zu",
		                 TOSA_SHOWN(ft->name), ft->data_len, (unsigned long long)want, ft->at);
	l->room -= (int64_t)weft_tensor_bytes(t);
	if (l->room < 0)
		return tosa_fail(l, -EINVAL, "constants take more memory than a file of %zu bytes may", l->f.b.len);
	t->data = malloc(weft_tensor_bytes(t));
	if (!t->data)
		return tosa_fail(l, -ENOMEM, "out of memory");
	unpack(t->dtype, ft->data, n, t->data);
	return 0;
}

int tosa_shape_input(const struct tosa_lower *l, int shape)
{
	const struct tosa_block *k = &l->f.blocks[l->s.block];

	return shape >= k->shape && shape < k->shape + k->n_shapes ? l->gshape[shape] : -1;
}

double tosa_to_double(weft_dtype t, const void *p)
{
	uint64_t bits = 0;

	memcpy(&bits, p, weft_dtype_bytes(t));
	return weft_float_decode(t, bits);
}
