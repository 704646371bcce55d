/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "fast.h"

bool weft_fast_has_int32(weft_dtype t)
{
	return t == WEFT_INT8 || t == WEFT_UINT8 || t == WEFT_INT16 || t == WEFT_UINT16 || t == WEFT_INT32;
}

#define LOAD(type) for (int64_t i = 0; i < n; i++) to[i] = ((const type *)t->data + first)[i]; break
/* Without restrict, a store of bytes could change *t for all that the compiler knows, and it would store one element at a time. */
#define STORE(type) { type *restrict to = (type *)t->data + first; for (int64_t i = 0; i < n; i++) to[i] = (type)from[i]; break; }

static FAST void load(const weft_tensor *t, int64_t first, int64_t n, int32_t *restrict to)
{
	switch (t->dtype) {
	case WEFT_INT8: LOAD(int8_t);
	case WEFT_UINT8: LOAD(uint8_t);
	case WEFT_INT16: LOAD(int16_t);
	case WEFT_UINT16: LOAD(uint16_t);
	default: memcpy(to, (const int32_t *)t->data + first, (size_t)n * sizeof(*to));
	}
}

static FAST void store(const weft_tensor *t, int64_t first, int64_t n, const int32_t *restrict from)
{
	switch (t->dtype) {
	case WEFT_INT8: STORE(int8_t)
	case WEFT_UINT8: STORE(uint8_t)
	case WEFT_INT16: STORE(int16_t)
	case WEFT_UINT16: STORE(uint16_t)
	default: memcpy((int32_t *)t->data + first, from, (size_t)n * sizeof(*from));
	}
}

void weft_fast_load(const weft_tensor *t, int64_t first, int64_t n, int32_t *to)
{
	load(t, first, n, to);
}

void weft_fast_store(const weft_tensor *t, int64_t first, int64_t n, const int32_t *from)
{
	store(t, first, n, from);
}
