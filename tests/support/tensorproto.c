/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protocol buffers' wire format: a key (field << 3 | kind) and a value; kind 0
 * is a varint, 2 a length and bytes. Fields of TensorProto: dims = 1,
 * data_type = 2, int32_data = 5, raw_data = 9.
 */
#include "tensorproto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensors.h"

struct span { const uint8_t *p, *end; };

struct message {
	int rank, type;
	int64_t dim[WEFT_MAX_RANK];
	struct span raw, ints;
};

static int varint(struct span *s, uint64_t *v)
{
	*v = 0;
	for (int shift = 0; s->p < s->end && shift < 64; shift += 7) {
		uint8_t b = *s->p++;

		*v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return 0;
	}
	return -1;
}

static int add_dim(struct message *m, uint64_t v)
{
	if (m->rank == WEFT_MAX_RANK || v > INT32_MAX)
		return -1;
	m->dim[m->rank++] = (int64_t)v;
	return 0;
}

static int bytes_field(struct message *m, int field, struct span body)
{
	uint64_t v;

	if (field == 9)
		m->raw = body;
	else if (field == 5)
		m->ints = body;
	while (field == 1 && body.p < body.end) {
		if (varint(&body, &v) || add_dim(m, v))
			return -1;
	}
	return 0;
}

static int one_field(struct message *m, struct span *s)
{
	uint64_t key, v;

	if (varint(s, &key) || ((key & 7) != 0 && (key & 7) != 2) || varint(s, &v))
		return -1;
	if ((key & 7) == 0) {
		if (key >> 3 == 2)
			m->type = (int)v;
		return key >> 3 == 1 ? add_dim(m, v) : 0;
	}
	if (v > (uint64_t)(s->end - s->p))
		return -1;
	s->p += v;
	return bytes_field(m, (int)(key >> 3), (struct span){ s->p - v, s->p });
}

/* ONNX's TensorProto.DataType. */
static weft_dtype dtype_of(int type)
{
	static const weft_dtype types[] = {
		[1] = WEFT_FP32, [2] = WEFT_UINT8, [3] = WEFT_INT8, [4] = WEFT_UINT16, [5] = WEFT_INT16, [6] = WEFT_INT32,
		[7] = WEFT_INT64, [9] = WEFT_BOOL, [10] = WEFT_FP16, [11] = WEFT_FP64, [12] = WEFT_UINT32, [13] = WEFT_UINT64,
		[16] = WEFT_BF16, [17] = WEFT_FP8E4M3, [18] = WEFT_FP8E4M3FNUZ, [19] = WEFT_FP8E5M2, [20] = WEFT_FP8E5M2FNUZ,
		[21] = WEFT_UINT4, [22] = WEFT_INT4, [23] = WEFT_FP4E2M1, [24] = WEFT_FP8E8M0, [25] = WEFT_UINT2, [26] = WEFT_INT2,
	};

	return type > 0 && type < (int)(sizeof(types) / sizeof(types[0])) ? types[type] : 0;
}

/* Bits of an element as raw_data packs it: several to a byte, lowest bits first. */
static int packed_bits(weft_dtype t)
{
	switch (t) {
	case WEFT_UINT2: case WEFT_INT2: return 2;
	case WEFT_UINT4: case WEFT_INT4: case WEFT_FP4E2M1: return 4;
	default: return 8 * (int)weft_dtype_bytes(t);
	}
}

static int fill_raw(weft_tensor *t, struct span raw)
{
	const int64_t n = weft_tensor_elements(t);
	const int bits = packed_bits(t->dtype), per_byte = bits < 8 ? 8 / bits : 1, mask = (1 << bits % 8) - 1;

	if (bits >= 8) {
		if ((size_t)(raw.end - raw.p) != weft_tensor_bytes(t))
			return -1;
		memcpy(t->data, raw.p, weft_tensor_bytes(t));
		return 0;
	}
	if (raw.end - raw.p != (n + per_byte - 1) / per_byte)
		return -1;
	for (int64_t i = 0; i < n; i++) {
		int v = raw.p[i / per_byte] >> (i % per_byte * bits) & mask;

		if ((t->dtype == WEFT_INT4 || t->dtype == WEFT_INT2) && v > mask / 2)
			v -= mask + 1;
		tensor_set(t, i, v);
	}
	return 0;
}

static int fill_ints(weft_tensor *t, struct span ints)
{
	uint64_t v;

	for (int64_t i = 0; i < weft_tensor_elements(t); i++) {
		if (varint(&ints, &v))
			return -1;
		tensor_set(t, i, (int64_t)v);
	}
	return ints.p == ints.end ? 0 : -1;
}

static weft_tensor *build(const struct message *m)
{
	weft_tensor *t;

	if (!dtype_of(m->type))
		return NULL;
	t = tensor_new(dtype_of(m->type), m->rank, m->dim);
	if (m->raw.p ? fill_raw(t, m->raw) : fill_ints(t, m->ints)) {
		tensor_free(t);
		return NULL;
	}
	return t;
}

weft_tensor *tensorproto_load(const char *path)
{
	static uint8_t file[1 << 20];
	FILE *f = fopen(path, "rb");
	struct message m = { 0 };
	size_t n;

	if (!f)
		return NULL;
	n = fread(file, 1, sizeof(file), f);
	fclose(f);
	for (struct span s = { file, file + n }; s.p < s.end;) {
		if (one_field(&m, &s))
			return NULL;
	}
	return build(&m);
}
