/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that double. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ir.h"

int cc_grow(void **p, uint32_t n, uint32_t *cap, size_t elem)
{
	if (n < *cap)
		return 0;
	uint32_t want = *cap ? *cap * 2 : 16;
	void *q = want > *cap ? realloc(*p, (size_t)want * elem) : NULL;

	if (!q)
		return -ENOMEM;
	*p = q;
	*cap = want;
	return 0;
}

int blob_reserve(struct blob *b, uint64_t bytes, uint64_t align, uint64_t *off)
{
	uint64_t at = (b->n + align - 1) / align * align;

	if (at + bytes > UINT32_MAX)
		return -E2BIG;
	if (at + bytes > b->cap) {
		uint64_t cap = b->cap * 2 > at + bytes ? b->cap * 2 : at + bytes;
		uint8_t *p = realloc(b->p, cap);
		if (!p)
			return -ENOMEM;
		b->p = p;
		b->cap = cap;
	}
	memset(b->p + b->n, 0, at + bytes - b->n);
	b->n = at + bytes;
	*off = at;
	return 0;
}
