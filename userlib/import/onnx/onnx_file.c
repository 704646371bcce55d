/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an ONNX file by protobuf-c and makes our tensors of its tensors, also of data in other files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx.h"
#include "onnx_file.h"

/*
 * What protobuf-c may take. Together with the graph's share (onnx.c) it stays below 160 MB plus 8 times the
 * file.
 */
#define ROOM_FIXED  ((size_t)20 << 20)
#define ROOM_FACTOR 4

/* In front of each block stands its size, in so many bytes that the block is aligned. */
#define HEAD 16

/*
 * Allocates n bytes for the protobuf parser; data is the struct onnx_file. Takes n and the 16 bytes
 * of a header that records n from the file's room. Returns the block, which give() frees, or NULL
 * after setting out_of_room or no_memory in the file.
 */
static void *take(void *data, size_t n)
{
	struct onnx_file *f = data;

	if (n > f->room || f->room - n < HEAD) {
		f->out_of_room = true;
		return NULL;
	}
	char *p = malloc(n + HEAD);
	if (!p) {
		f->no_memory = true;
		return NULL;
	}
	f->room -= n + HEAD;
	memcpy(p, &n, sizeof n);
	return p + HEAD;
}

/*
 * Frees a block from take() and gives its bytes, with those of the header, back to the file's room;
 * data is the struct onnx_file. A NULL block is ignored.
 */
static void give(void *data, void *block)
{
	struct onnx_file *f = data;
	size_t n;

	if (!block)
		return;
	memcpy(&n, (char *)block - HEAD, sizeof n);
	f->room += n + HEAD;
	free((char *)block - HEAD);
}

/* Prepares f for a file of len bytes: the allocator, and the room that the parser may take. */
static void start(struct onnx_file *f, size_t len)
{
	f->allocator = (ProtobufCAllocator){ .alloc = take, .free = give, .allocator_data = f };
	f->room = ROOM_FIXED + ROOM_FACTOR * len;
	f->out_of_room = f->no_memory = false;
	f->len = len;
}

/*
 * Parses the len bytes of a model into f->m, which onnx_release() frees. Returns 0; -EINVAL if the
 * bytes are no model, the model has no graph, or parsing takes more memory than is allowed for len;
 * or -ENOMEM. After a failure one line is in msg (msg_bytes bytes) and nothing is left to free.
 */
int onnx_read(struct onnx_file *f, const void *data, size_t len, char *msg, size_t msg_bytes)
{
	start(f, len);
	f->m = weft__onnx__model__unpack(&f->allocator, len, data);
	if (f->m && f->m->graph)
		return 0;
	if (f->no_memory) {
		snprintf(msg, msg_bytes, "out of memory");
		onnx_release(f);
		return -ENOMEM;
	}
	if (f->out_of_room)
		snprintf(msg, msg_bytes, "onnx: reading takes more memory than allowed for a file of %zu bytes", len);
	else
		snprintf(msg, msg_bytes, f->m ? "onnx: the model has no graph" : "onnx: not a model in protocol buffers' format");
	onnx_release(f);
	return -EINVAL;
}

void onnx_release(struct onnx_file *f)
{
	if (f->m)
		weft__onnx__model__free_unpacked(f->m, &f->allocator);
	f->m = NULL;
	onnx_external_close(f);
}

static const struct { const char *name; weft_dtype t; } types[] = {
	{ "undefined", 0 }, { "float", WEFT_FP32 }, { "uint8", WEFT_UINT8 }, { "int8", WEFT_INT8 }, { "uint16", WEFT_UINT16 },
	{ "int16", WEFT_INT16 }, { "int32", WEFT_INT32 }, { "int64", WEFT_INT64 }, { "string", 0 }, { "bool", WEFT_BOOL },
	{ "float16", WEFT_FP16 }, { "double", WEFT_FP64 }, { "uint32", WEFT_UINT32 }, { "uint64", WEFT_UINT64 },
	{ "complex64", 0 }, { "complex128", 0 }, { "bfloat16", WEFT_BF16 }, { "float8e4m3fn", WEFT_FP8E4M3 },
	{ "float8e4m3fnuz", WEFT_FP8E4M3FNUZ }, { "float8e5m2", WEFT_FP8E5M2 }, { "float8e5m2fnuz", WEFT_FP8E5M2FNUZ },
	{ "uint4", WEFT_UINT4 }, { "int4", WEFT_INT4 }, { "float4e2m1", WEFT_FP4E2M1 }, { "float8e8m0", WEFT_FP8E8M0 },
	{ "uint2", WEFT_UINT2 }, { "int2", WEFT_INT2 },
};
#define N_TYPES ((int64_t)(sizeof types / sizeof types[0]))

weft_dtype onnx_dtype(int64_t type)
{
	return type > 0 && type < N_TYPES ? types[type].t : 0;
}

const char *onnx_dtype_name(int64_t type)
{
	return type >= 0 && type < N_TYPES ? types[type].name : "unknown";
}

/*
 * Sets *t to the type and shape of tensor p; no elements are read. Returns 0; -ENOTSUP if the type
 * is none of ours or the rank is above 8; or -EINVAL if a dimension or the number of elements is
 * out of range. After a failure msg (msg_bytes bytes) says why, without naming the tensor.
 */
int onnx_tensor_shape(const onnx_tensor *p, weft_tensor *t, char *msg, size_t msg_bytes)
{
	*t = (weft_tensor){ .dtype = onnx_dtype(p->data_type), .rank = (int)p->n_dims };
	if (!t->dtype) {
		snprintf(msg, msg_bytes, "type %d (%s) is not supported", p->data_type, onnx_dtype_name(p->data_type));
		return -ENOTSUP;
	}
	if (p->n_dims > WEFT_MAX_RANK) {
		snprintf(msg, msg_bytes, "rank %zu > %d", p->n_dims, WEFT_MAX_RANK);
		return -ENOTSUP;
	}
	for (int i = 0; i < WEFT_MAX_RANK; i++) {
		t->dim[i] = i < t->rank ? p->dims[i] : 1;
		if (t->dim[i] < 0 || t->dim[i] > INT32_MAX) {
			snprintf(msg, msg_bytes, "dimension %d is %lld", i, (long long)t->dim[i]);
			return -EINVAL;
		}
	}
	if (weft_tensor_elements(t) > INT32_MAX) {
		snprintf(msg, msg_bytes, "more than 2^31 elements");
		return -EINVAL;
	}
	return 0;
}

/* ---- data ---- */

/*
 * Returns the bits that raw_data spends on an element of type t: 2, 4, or 8 times its bytes. Below
 * 8 bits, several elements share a byte, the first in the lowest bits.
 */
static int packed_bits(weft_dtype t)
{
	switch (t) {
	case WEFT_UINT2: case WEFT_INT2: return 2;
	case WEFT_UINT4: case WEFT_INT4: case WEFT_FP4E2M1: return 4;
	default: return 8 * (int)weft_dtype_bytes(t);
	}
}

/* Writes to msg that `what` has `have` elements or bytes instead of `want`. Returns -EINVAL. */
static int wrong_size(char *msg, size_t msg_bytes, const char *what, uint64_t have, uint64_t want)
{
	snprintf(msg, msg_bytes, "%s has %llu elements or bytes, not %llu", what, (unsigned long long)have,
	         (unsigned long long)want);
	return -EINVAL;
}

/*
 * Unpacks the elements at p, of 2 or 4 bits each with the first in the lowest bits of a byte, into
 * t's data, which has one byte per element. Signed types are sign-extended.
 */
static void unpack_small(weft_tensor *t, const uint8_t *p, int bits)
{
	const int per_byte = 8 / bits, mask = (1 << bits) - 1;
	const bool is_signed = t->dtype == WEFT_INT4 || t->dtype == WEFT_INT2;
	int8_t *y = t->data;

	for (int64_t i = 0, n = weft_tensor_elements(t); i < n; i++) {
		int v = p[i / per_byte] >> (i % per_byte * bits) & mask;
		y[i] = (int8_t)(is_signed && v > mask / 2 ? v - mask - 1 : v);
	}
}

/*
 * Fills t's data from the n bytes p of raw_data, which are little-endian. Elements below 8 bits are
 * unpacked; for bool any byte other than 0 becomes 1. Returns 0, or -EINVAL with the reason in msg
 * (msg_bytes bytes) if n is not the tensor's size.
 */
static int from_raw(weft_tensor *t, const uint8_t *p, size_t n, char *msg, size_t msg_bytes)
{
	const int bits = packed_bits(t->dtype);
	const size_t want = bits < 8 ? ((size_t)weft_tensor_elements(t) * (size_t)bits + 7) / 8 : weft_tensor_bytes(t);

	if (n != want)
		return wrong_size(msg, msg_bytes, "raw_data", n, want);
	if (bits < 8)
		unpack_small(t, p, bits);
	else if (n)
		memcpy(t->data, p, n);
	for (size_t i = 0; t->dtype == WEFT_BOOL && i < n; i++)
		((uint8_t *)t->data)[i] = p[i] != 0;
	return 0;
}

/*
 * Fills t's data from the n numbers v of int32_data. Each is one element, cut to the element's
 * bytes, or, if elements have fewer than 8 bits, one byte of packed elements; for bool any number
 * other than 0 becomes 1. Returns 0, -EINVAL if n is not the number that t needs, or -ENOMEM; the
 * reason is then in msg (msg_bytes bytes).
 */
static int from_int32(weft_tensor *t, const int32_t *v, size_t n, char *msg, size_t msg_bytes)
{
	const int bits = packed_bits(t->dtype);
	const size_t elements = (size_t)weft_tensor_elements(t);

	if (bits < 8) {
		const size_t per_byte = 8 / (size_t)bits, want = (elements + per_byte - 1) / per_byte;

		if (n != want)
			return wrong_size(msg, msg_bytes, "int32_data", n, want);
		uint8_t *bytes = malloc(want + 1);
		if (!bytes) {
			snprintf(msg, msg_bytes, "out of memory");
			return -ENOMEM;
		}
		for (size_t i = 0; i < n; i++)
			bytes[i] = (uint8_t)v[i];
		unpack_small(t, bytes, bits);
		free(bytes);
		return 0;
	}
	if (n != elements)
		return wrong_size(msg, msg_bytes, "int32_data", n, elements);
	for (size_t i = 0; i < n; i++) {
		switch (weft_dtype_bytes(t->dtype)) {
		case 1: ((uint8_t *)t->data)[i] = (uint8_t)(t->dtype == WEFT_BOOL ? v[i] != 0 : v[i]); break;
		case 2: ((uint16_t *)t->data)[i] = (uint16_t)v[i]; break;
		default: ((int32_t *)t->data)[i] = v[i]; break;
		}
	}
	return 0;
}

/*
 * Fills t's data from the field of p in which ONNX keeps numbers of t's type: float_data,
 * double_data, int64_data, uint64_data (also for uint32), else int32_data. Returns 0, -EINVAL with
 * the reason in msg if the field has not as many numbers as t elements, or -ENOMEM.
 */
static int from_numbers(const onnx_tensor *p, weft_tensor *t, char *msg, size_t msg_bytes)
{
	const size_t n = (size_t)weft_tensor_elements(t);
	const void *data;
	size_t have;

	switch (t->dtype) {
	case WEFT_FP32: data = p->float_data; have = p->n_float_data; break;
	case WEFT_FP64: data = p->double_data; have = p->n_double_data; break;
	case WEFT_INT64: data = p->int64_data; have = p->n_int64_data; break;
	case WEFT_UINT64: data = p->uint64_data; have = p->n_uint64_data; break;
	case WEFT_UINT32:
		if (p->n_uint64_data != n)
			return wrong_size(msg, msg_bytes, "uint64_data", p->n_uint64_data, n);
		for (size_t i = 0; i < n; i++)
			((uint32_t *)t->data)[i] = (uint32_t)p->uint64_data[i];
		return 0;
	default: return from_int32(t, p->int32_data, p->n_int32_data, msg, msg_bytes);
	}
	if (have != n)
		return wrong_size(msg, msg_bytes, "data", have, n);
	if (n)
		memcpy(t->data, data, weft_tensor_bytes(t));
	return 0;
}

/* ---- external data ---- */

/*
 * Sets t->data, from malloc, to the elements in the file that p's external data names; elements
 * below 8 bits are unpacked, bools become 0 or 1. Returns 0, or -EINVAL or -ENOMEM with the reason
 * in msg; t->data may then be set and is the caller's to free.
 */
static int from_external(struct onnx_file *f, const onnx_tensor *p, weft_tensor *t, char *msg, size_t msg_bytes)
{
	const int bits = packed_bits(t->dtype);
	const bool as_is = bits >= 8 && t->dtype != WEFT_BOOL;
	const size_t n = bits < 8 ? ((size_t)weft_tensor_elements(t) * (size_t)bits + 7) / 8 : weft_tensor_bytes(t);
	void *bytes;
	int err = onnx_external_read(f, p, n, weft_tensor_bytes(t), &bytes, msg, msg_bytes);

	if (err)
		return err;
	if (as_is) {
		t->data = bytes;
		return 0;
	}
	t->data = calloc(1, weft_tensor_bytes(t) + 1);
	if (!t->data) {
		snprintf(msg, msg_bytes, "out of memory");
		err = -ENOMEM;
	}
	if (!err)
		err = from_raw(t, bytes, n, msg, msg_bytes);
	free(bytes);
	return err;
}

/* Says whether p's data is in a file of its own, so that the size of the model's file does not bound it. */
static bool external(const onnx_tensor *p)
{
	return p->data_location == 1;
}

/*
 * Reads type, shape and elements of tensor p into *t; the caller frees t->data, which is not NULL
 * even without elements. Elements below 8 bits get a byte each, bools are 0 or 1. Data that is in
 * the model's own file must not take more of these bytes than *room, from which they are taken;
 * data in a file of its own has the bound of onnx_external_read() instead. Returns 0; or, with the
 * reason in msg, -ENOTSUP for a type or rank that is not supported or data in segments, -EINVAL if
 * a dimension is out of range, the room is too small, the number of elements or bytes is wrong, or
 * onnx_external_read() says so (the file is not there, outside of the model's folder, too short or
 * cannot be read), or -ENOMEM. After a failure t->data is NULL and *room as it was.
 */
int onnx_tensor_data(struct onnx_file *f, const onnx_tensor *p, weft_tensor *t, int64_t *room, char *msg, size_t msg_bytes)
{
	int err = onnx_tensor_shape(p, t, msg, msg_bytes);

	if (err)
		return err;
	const int64_t bytes = (int64_t)weft_tensor_bytes(t);
	if (p->segment || (!external(p) && bytes > *room)) {
		snprintf(msg, msg_bytes, p->segment ? "data in segments" : "its data exceeds the memory allowed for the file");
		return p->segment ? -ENOTSUP : -EINVAL;
	}
	t->data = external(p) ? NULL : calloc(1, (size_t)bytes + 1);
	if (!t->data && !external(p)) {
		snprintf(msg, msg_bytes, "out of memory");
		return -ENOMEM;
	}
	if (external(p))
		err = from_external(f, p, t, msg, msg_bytes);
	else if (p->has_raw_data)
		err = from_raw(t, p->raw_data.data, p->raw_data.len, msg, msg_bytes);
	else
		err = from_numbers(p, t, msg, msg_bytes);
	if (err) {
		free(t->data);
		t->data = NULL;
	} else if (!external(p)) {
		*room -= bytes;
	}
	return err;
}

int weft_onnx_tensor(const void *data, size_t len, weft_tensor *t, char msg[WEFT_MSG])
{
	struct onnx_file f = { 0 };
	int64_t room = (int64_t)8 * (int64_t)len + 4096;

	start(&f, len);
	onnx_tensor *p = weft__onnx__tensor__unpack(&f.allocator, len, data);
	if (!p) {
		snprintf(msg, WEFT_MSG, f.no_memory ? "out of memory" : "onnx: not a tensor in protocol buffers' format");
		return f.no_memory ? -ENOMEM : -EINVAL;
	}
	int err = onnx_tensor_data(&f, p, t, &room, msg, WEFT_MSG);
	weft__onnx__tensor__free_unpacked(p, &f.allocator);
	return err;
}
