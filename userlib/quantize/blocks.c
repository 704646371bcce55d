/* SPDX-License-Identifier: Apache-2.0 */
#include "blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

void *blocks_alloc(struct blocks *b, size_t n)
{
	if (b->n == b->cap) {
		const int cap = 2 * b->cap + 64;
		void **p = realloc(b->p, (size_t)cap * sizeof *p);

		if (!p) {
			b->failed = true;
			return NULL;
		}
		b->p = p;
		b->cap = cap;
	}
	void *p = calloc(1, n ? n : 1);
	if (p)
		b->p[b->n++] = p;
	else
		b->failed = true;
	return p;
}

void blocks_free(struct blocks *b)
{
	for (int i = 0; i < b->n; i++)
		free(b->p[i]);
	free(b->p);
	*b = (struct blocks){ 0 };
}

void quantize_line(char *msg, const char *format, va_list ap)
{
	vsnprintf(msg, WEFT_MSG_LEN, format, ap);
	for (unsigned char *p = (unsigned char *)msg; *p; p++)
		*p = *p < ' ' || *p == 127 ? '?' : *p;
}
