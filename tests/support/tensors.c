/* SPDX-License-Identifier: Apache-2.0 */
#include "tensors.h"

#include <stdio.h>
#include <stdlib.h>

weft_tensor *tensor_new(weft_dtype dtype, int rank, const int64_t *dim)
{
	weft_tensor *t = calloc(1, sizeof(*t));

	if (t) {
		t->dtype = dtype;
		t->rank = rank;
		for (int d = 0; d < WEFT_MAX_RANK; d++)
			t->dim[d] = d < rank ? dim[d] : 1;
		t->data = calloc(1, weft_tensor_bytes(t) + 1);
	}
	if (!t || !t->data) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return t;
}

void tensor_free(weft_tensor *t)
{
	if (t)
		free(t->data);
	free(t);
}

void tensor_set(weft_tensor *t, int64_t i, int64_t v)
{
	switch (weft_dtype_bytes(t->dtype)) {
	case 1: ((int8_t *)t->data)[i] = (int8_t)v; break;
	case 2: ((int16_t *)t->data)[i] = (int16_t)v; break;
	case 4: ((int32_t *)t->data)[i] = (int32_t)v; break;
	default: ((int64_t *)t->data)[i] = v; break;
	}
}

int64_t tensor_get(const weft_tensor *t, int64_t i)
{
	switch (t->dtype) {
	case WEFT_UINT8: return ((uint8_t *)t->data)[i];
	case WEFT_UINT16: return ((uint16_t *)t->data)[i];
	default: break;
	}
	switch (weft_dtype_bytes(t->dtype)) {
	case 1: return ((int8_t *)t->data)[i];
	case 2: return ((int16_t *)t->data)[i];
	case 4: return ((int32_t *)t->data)[i];
	default: return ((int64_t *)t->data)[i];
	}
}

weft_tensor *tensor_fill(weft_tensor *t, const int64_t *v)
{
	for (int64_t i = 0; i < weft_tensor_elements(t); i++)
		tensor_set(t, i, v[i]);
	return t;
}

uint64_t test_random(uint64_t *state)
{
	/* SplitMix64 */
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint64_t test_below(uint64_t *state, uint64_t n)
{
	return test_random(state) % n;
}

weft_tensor *tensor_random(weft_tensor *t, uint64_t *state)
{
	for (int64_t i = 0; i < weft_tensor_elements(t); i++) {
		int64_t v = (int64_t)test_random(state);

		if (t->dtype == WEFT_BOOL)
			v &= 1;
		else if (t->dtype == WEFT_INT4)
			v = (v & 15) - 8;
		else if (t->dtype == WEFT_INT48)
			v >>= 16;
		tensor_set(t, i, v);
	}
	return t;
}
